//! JSON: every value, object and list, as one object. Sentences, tables and pictures are for people.

use core::fmt::{self, Write};

use latency_core::json::{Layout, Writer};

use super::document::{Describe, Document, Field, Part, Value};
use super::figures::{decimals, PRECISE};
use super::format::{Format, Purpose};

/// One object over several lines.
pub const JSON: Format = Format {
    name: "json",
    extension: "json",
    purpose: Purpose::Document,
    write: |out, _, describe| write(out, Layout::Lines, false, describe),
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
    let mut json = Json { writer, in_page, depth: [Container::Object; MOST_DEPTH], level: 0, failed: Ok(()) };
    describe(&mut json);
    json.failed?;
    json.writer.end_object()?;
    json.writer.finish()?.write_char('\n')
}

/// The maximum depth of nested parts in a result.
const MOST_DEPTH: usize = 12;

/// The object or list that values are written into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Container {
    Object,
    List,
}

struct Json<'o> {
    writer: Writer<&'o mut dyn Write>,
    in_page: bool,
    depth: [Container; MOST_DEPTH],
    level: usize,
    failed: fmt::Result,
}

impl Json<'_> {
    fn container(&self) -> Container {
        self.depth.get(self.level).copied().unwrap_or(Container::Object)
    }

    /// Writes, unless an earlier write failed.
    fn keep(&mut self, write: impl FnOnce(&mut Self) -> fmt::Result) {
        if self.failed.is_ok() {
            self.failed = write(self);
        }
    }

    /// Members of objects have keys; those of lists have none.
    fn key(&mut self, field: &'static Field) -> fmt::Result {
        match self.container() {
            Container::Object => self.writer.key(field.key()).map(drop),
            Container::List => Ok(()),
        }
    }

    fn open(&mut self, container: Container) -> fmt::Result {
        self.level += 1;
        *self.depth.get_mut(self.level).ok_or(fmt::Error)? = container;
        match container {
            Container::Object => self.writer.begin_object(),
            Container::List => self.writer.begin_array(),
        }
    }

    fn write(&mut self, value: Value<'_>) -> fmt::Result {
        match value {
            Value::None => self.writer.null(),
            Value::Flag(flag) => self.writer.bool(flag),
            Value::Count(count) => self.writer.u64(count),
            Value::Real(number) => self.writer.decimal(number, decimals(number, PRECISE)),
            Value::Interval(interval) => {
                self.writer.begin_array()?;
                self.write(Value::Real(interval.low))?;
                self.write(Value::Real(interval.high))?;
                self.writer.end_array()
            }
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

    fn value(&mut self, field: &'static Field, value: Value<'_>) {
        self.keep(|json| {
            json.key(field)?;
            json.write(value)
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
                json.key(field)?;
                json.open(Container::Object)
            }
            Part::List(field) | Part::Records(field) => {
                json.key(field)?;
                json.open(Container::List)
            }
            Part::Item => json.open(Container::Object),
        });
    }

    fn end(&mut self) {
        self.keep(|json| {
            let container = json.container();
            json.level = json.level.checked_sub(1).ok_or(fmt::Error)?;
            match container {
                Container::Object => json.writer.end_object(),
                Container::List => json.writer.end_array(),
            }
        });
    }
}
