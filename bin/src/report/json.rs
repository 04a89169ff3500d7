//! JSON: every value, object and list, as one object. Sentences, tables and pictures are for people.

use core::fmt::{self, Write};

use latency_core::json::{Layout, Writer};
use latency_core::text::Text;

use super::document::{Describe, Document, ENDS, Field, Part, Value};
use super::figures::{PRECISE, decimals};
use super::format::{Format, Purpose};

/// One object over several lines.
pub const JSON: Format = Format {
    name: "json",
    extension: "json",
    purpose: Purpose::Document,
    write: |out, _, describe| write(out, Layout::Lines, false, describe),
};

/// The same object on one line, so that the results of many runs make one file.
pub const JSON_LINES: Format = Format {
    name: "jsonl",
    extension: "jsonl",
    write: |out, _, describe| write(out, Layout::OneLine, false, describe),
    ..JSON
};

/// Writes a description as one object, in the layout of a format. `in_page` is true for JSON within a page, which also
/// has the pictures.
pub(super) fn write(
    out: &mut dyn Write,
    layout: Layout,
    in_page: bool,
    describe: Describe<'_>,
) -> fmt::Result {
    let mut writer = Writer::new(out, layout);
    writer.begin_object()?;
    let mut json = Json { writer, in_page, failed: Ok(()) };
    describe(&mut json);
    json.failed?;
    json.writer.end_object()?;
    json.writer.finish()?.write_char('\n')
}

struct Json<'o> {
    writer: Writer<&'o mut dyn Write>,
    in_page: bool,
    failed: fmt::Result,
}

impl Json<'_> {
    /// Calls `write`, unless an earlier write failed, and keeps its error.
    fn keep(&mut self, write: impl FnOnce(&mut Self) -> fmt::Result) {
        if self.failed.is_ok() {
            self.failed = write(self);
        }
    }

    /// Writes the key of a member of an object with an ending; members of lists have none.
    fn key(&mut self, field: Field, ending: &str) -> fmt::Result {
        if self.writer.in_object() {
            self.writer.key(Text::<64>::of(format_args!("{}{ending}", field.key)).as_str())?;
        }
        Ok(())
    }

    fn write(&mut self, value: Value<'_>) -> fmt::Result {
        match value {
            Value::None => self.writer.null(),
            Value::Flag(flag) => self.writer.bool(flag),
            Value::Count(count) => self.writer.u64(count),
            Value::Real(number) => self.writer.decimal(number, decimals(number, PRECISE)),
            Value::Estimate(estimate) => self.write(estimate.value.into()),
            Value::Word(word) => self.writer.string(word),
            Value::Raw(bytes) => self.writer.bytes(bytes),
            Value::Shown(shown) => self.writer.display(shown),
        }
    }
}

impl Document for Json<'_> {
    fn wants_pictures(&self) -> bool {
        self.in_page
    }

    fn value(&mut self, field: Field, value: Value<'_>) {
        self.keep(|json| {
            let endings = ["", ENDS[0], ENDS[1]].into_iter().zip(value.parts());
            endings.take(if field.has_interval { 3 } else { 1 }).try_for_each(|(ending, value)| {
                json.key(field, ending)?;
                json.write(value)
            })
        });
    }

    fn named(&mut self, name: &str, value: Value<'_>) {
        self.keep(|json| {
            json.writer.key(name)?;
            json.write(value)
        });
    }

    fn begin(&mut self, part: Part) {
        self.keep(|json| match part {
            Part::Object(field) => {
                json.key(*field, "")?;
                json.writer.begin_object()
            }
            Part::List(field) | Part::Records(field) => {
                json.key(*field, "")?;
                json.writer.begin_array()
            }
            Part::Item => json.writer.begin_object(),
        });
    }

    fn end(&mut self) {
        self.keep(|json| match json.writer.in_object() {
            true => json.writer.end_object(),
            false => json.writer.end_array(),
        });
    }
}
