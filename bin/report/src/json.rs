//! JSON: every value, object and list, as one object. Sentences, tables and pictures are for people;
//! [`stored`](super::stored) keeps them in a member of their own.

use core::fmt::{self, Write};

use latency_core::json::{Layout, Writer};

use super::document::{ENDS, Field, Part, Value};
use super::figures::{PRECISE, decimals};
use super::format::{Format, Purpose};
use super::shown::ShownPart;

/// One object on one line, so that the results of many runs make one file.
pub const JSON_LINES: Format = Format {
    name: "jsonl",
    extension: "jsonl",
    purpose: Purpose::Document,
    write: |out, _, shown| write(out, Layout::OneLine, &mut shown.entries().iter()),
};

/// Writes parts of a result as one object, in the layout of a format.
pub(super) fn write(
    out: &mut dyn Write,
    layout: Layout,
    entries: &mut dyn Iterator<Item = &ShownPart>,
) -> fmt::Result {
    let mut json = Json::begin(out, layout)?;
    json.entries(entries)?;
    json.end()
}

/// A document that is being written.
pub struct Json<'o> {
    /// The writer, within the outermost object.
    pub writer: Writer<&'o mut dyn Write>,
}

impl<'o> Json<'o> {
    /// Begins a document.
    pub fn begin(out: &'o mut dyn Write, layout: Layout) -> Result<Json<'o>, fmt::Error> {
        let mut writer = Writer::new(out, layout);
        writer.begin_object()?;
        Ok(Json { writer })
    }

    /// Writes the values among some parts.
    pub fn entries(&mut self, entries: &mut dyn Iterator<Item = &ShownPart>) -> fmt::Result {
        for entry in entries {
            self.entry(entry)?;
        }
        Ok(())
    }

    /// Ends the document.
    pub fn end(mut self) -> fmt::Result {
        self.writer.end_object()?;
        self.writer.finish()?.write_char('\n')
    }

    /// Writes the key of a member of an object with an ending; members of lists have none.
    fn key(&mut self, field: &Field, ending: &str) -> fmt::Result {
        if self.writer.in_object() {
            self.writer.key(&format!("{}{ending}", field.key))?;
        }
        Ok(())
    }

    fn value(&mut self, value: &Value) -> fmt::Result {
        match value {
            Value::None => self.writer.null(),
            Value::Flag(flag) => self.writer.bool(*flag),
            Value::Count(count) => self.writer.u64(*count),
            Value::Real(number) => self.writer.decimal(*number, decimals(*number, PRECISE)),
            Value::Estimate(estimate) => self.value(&estimate.value.into()),
            Value::Word(word) => self.writer.string(word),
            Value::Raw(bytes) => self.writer.bytes(bytes),
        }
    }

    fn entry(&mut self, entry: &ShownPart) -> fmt::Result {
        match entry {
            ShownPart::Value(field, value) if field.has_interval => {
                let endings = ["", ENDS[0], ENDS[1]].into_iter().zip(value.parts());
                endings.into_iter().try_for_each(|(ending, value)| {
                    self.key(field, ending)?;
                    self.value(&value)
                })
            }
            ShownPart::Value(field, value) => {
                self.key(field, "")?;
                self.value(value)
            }
            ShownPart::Named(name, value) => {
                self.writer.key(name)?;
                self.value(value)
            }
            ShownPart::Begin(Part::Object(field)) => {
                self.key(field, "")?;
                self.writer.begin_object()
            }
            ShownPart::Begin(Part::List(field) | Part::Records(field)) => {
                self.key(field, "")?;
                self.writer.begin_array()
            }
            ShownPart::Begin(Part::Item) => self.writer.begin_object(),
            ShownPart::End if self.writer.in_object() => self.writer.end_object(),
            ShownPart::End => self.writer.end_array(),
            _ => Ok(()),
        }
    }
}
