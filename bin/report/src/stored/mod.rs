//! A result within its own document: what `show` needs to show it again as its run did, in every format.
//!
//! The last member of a document is a list: a checksum of the document; then the sentences, tables, pictures and
//! samples of the result, in their order. `parts` has the form of each; the values are read back from the other
//! members. If a document was edited after the run, its sentences and its values may not belong together, and the
//! checksum shows it.

mod parts;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use latency_core::hash::Fnv;
use latency_core::json::{Event, Layout, Reader, Str, Writer};
use latency_core::{Estimate, Interval};

use self::parts::{PartSource, is_bounded, write_parts};
use super::document::{ENDS, Field, Part, Value};
use super::format::Format;
use super::json::{self, JSON_LINES, Json};
use super::shown::{Shown, ShownPart};

/// The key of the member.
const SHOWN: &str = "shown";
/// Maximum number of changes from one metric to another: those of seven thousand points with nine metrics each.
const MOST_METRICS: usize = 1 << 16;

/// One object over several lines, with everything that shows the result again.
pub const JSON: Format = Format {
    name: "json",
    extension: "json",
    write: |out, _, shown| {
        let mut json = Json::begin(out, Layout::Lines)?;
        json.entries(&mut shown.entries().iter())?;
        json.writer.key(SHOWN)?;
        json.writer.begin_array()?;
        json.writer.string(&checksum(shown.entries()).ok_or(fmt::Error)?)?;
        write_parts(&mut json.writer, shown.entries());
        json.writer.end_array()?;
        json.end()
    },
    ..JSON_LINES
};

/// A document that keeps how it was shown.
#[derive(Debug)]
pub enum Restored {
    /// The result as its run showed it.
    Whole(Shown),
    /// It was edited since, or has the form of another version.
    Changed,
}

/// Reads a document; `records` is the key of its rows. Returns `None` for text that does not keep how it was shown.
pub fn restored(text: &[u8], records: &str) -> Option<Restored> {
    let (shown, sum) = read(text, records)?;
    Some(if checksum(shown.entries()) == Some(sum) { Restored::Whole(shown) } else { Restored::Changed })
}

/// Reads a document whatever its checksum is, and the checksum.
pub fn read(text: &[u8], records: &str) -> Option<(Shown, String)> {
    // Other files are as large, and have as many keys.
    let key = b"\"shown\":";
    if !text.windows(key.len()).any(|part| part == key) {
        return None;
    }
    let mut values = Values::new(text, records);
    if values.reader.next_event().ok()? != Event::BeginObject {
        return None;
    }
    loop {
        match values.reader.next_event().ok()? {
            Event::Key(name) if name == SHOWN => break,
            Event::Key(name) => values.member(name)?,
            _ => return None,
        }
    }
    let sum = read_parts(&mut values)?;
    // Nothing follows the last member.
    let _end_of_object = values.reader.next_event().ok().filter(|event| *event == Event::EndObject)?;
    (values.reader.next_event().ok()? == Event::End).then_some((values.shown, sum))
}

/// Reads the member behind its name; returns the checksum, or `None` for another value.
fn read_parts(values: &mut Values<'_>) -> Option<String> {
    let begun = values.reader.next_event().ok()?;
    let (Event::BeginArray, Event::String(sum)) = (begun, values.reader.next_event().ok()?) else {
        return None;
    };
    let mut source = PartSource::new(&mut values.reader);
    let (mut metrics, mut last) = (0, "");
    while !source.is_at_end() {
        let part = source.restored();
        if let ShownPart::Metric(metric, ..) = part {
            metrics += usize::from(metric.name != last);
            last = metric.name;
        }
        if is_bounded(&part) && metrics <= MOST_METRICS {
            values.shown.push(part);
        }
    }
    source.end();
    Some(sum.chars().collect())
}

/// Returns the checksum of a result: FNV-1a of its values and its other parts, as text on one line.
///
/// Returns `None` for parts that do not form a document.
fn checksum(entries: &[ShownPart]) -> Option<String> {
    let mut sum = Fnv::EMPTY;
    json::write(&mut sum, Layout::OneLine, &mut entries.iter()).ok()?;
    let mut writer = Writer::new(&mut sum as &mut dyn Write, Layout::OneLine);
    writer.begin_array().ok()?;
    write_parts(&mut writer, entries);
    writer.end_array().ok()?;
    Some(format!("{:016x}", sum.0))
}

/// Maximum number of different names of members: three times those of this program.
const MOST_FIELDS: usize = 2048;

/// The values of a document, as far as they were read.
struct Values<'t> {
    text: &'t [u8],
    /// The rest of the text.
    reader: Reader<'t>,
    /// The key of the rows.
    records: &'t str,
    /// The values, and what else was added.
    shown: Shown,
    /// The fields that were seen, each once.
    fields: Vec<&'static Field>,
}

impl<'t> Values<'t> {
    /// Returns no values of a document yet.
    fn new(text: &'t [u8], records: &'t str) -> Values<'t> {
        Values { text, reader: Reader::new(text), records, shown: Shown::new(), fields: Vec::new() }
    }

    fn next(&mut self) -> Option<Event<'t>> {
        self.reader.next_event().ok()
    }

    /// Returns the field of a key.
    fn field(&mut self, key: &str, has_interval: bool) -> &'static Field {
        let is_own = |field: &&&Field| field.key == key && field.has_interval == has_interval;
        match self.fields.iter().find(is_own) {
            Some(field) => field,
            None => {
                let field = Field::new(String::from(key).leak(), has_interval, "");
                let field: &'static Field = Box::leak(Box::new(field));
                self.fields.push(field);
                field
            }
        }
    }

    /// Reads a member of an object behind its name.
    fn member(&mut self, name: Str<'_>) -> Option<()> {
        let key: String = name.chars().collect();
        let field = self.field(&key, false);
        if self.fields.len() > MOST_FIELDS {
            return None;
        }
        match self.next()? {
            Event::BeginObject => self.object(Part::Object(field)),
            Event::BeginArray if key == self.records => self.list(Part::Records(field), field),
            Event::BeginArray => self.list(Part::List(field), field),
            event => {
                self.single(field, event)?;
                self.join();
                Some(())
            }
        }
    }

    /// Reads the members of an object behind its beginning.
    fn object(&mut self, part: Part) -> Option<()> {
        self.shown.begin(part);
        loop {
            match self.next()? {
                Event::Key(name) => self.member(name)?,
                Event::EndObject => break,
                _ => return None,
            }
        }
        self.shown.end();
        Some(())
    }

    /// Reads the items of a list behind its beginning.
    fn list(&mut self, part: Part, field: &'static Field) -> Option<()> {
        self.shown.begin(part);
        loop {
            match self.next()? {
                Event::BeginObject => self.object(Part::Item)?,
                Event::BeginArray => self.list(Part::List(field), field)?,
                Event::EndArray => break,
                event => self.single(field, event)?,
            }
        }
        self.shown.end();
        Some(())
    }

    /// Adds a value that is not a container. Counts have no point, and measured numbers have one.
    fn single(&mut self, field: &'static Field, event: Event<'_>) -> Option<()> {
        let digits = self.text.get(self.reader.begun()..self.reader.offset())?;
        let value = match event {
            Event::Null => Value::None,
            Event::Bool(flag) => Value::Flag(flag),
            Event::Number(number) if digits.contains(&b'.') => Value::Real(number),
            Event::Number(number) => {
                let count = core::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
                count.map_or(Value::Real(number), Value::Count)
            }
            Event::String(text) => Value::Word(text.chars().collect()),
            _ => return None,
        };
        self.shown.value(field, value);
        Some(())
    }

    /// Makes one value of the last three entries if they are a number and both ends of its interval.
    fn join(&mut self) {
        let [.., ShownPart::Value(field, value), ShownPart::Value(low, least), ShownPart::Value(high, most)] =
            self.shown.entries()
        else {
            return;
        };
        let is_end = |end: &Field, ending| end.key.strip_suffix(ending) == Some(field.key);
        if !is_end(low, ENDS[0]) || !is_end(high, ENDS[1]) {
            return;
        }
        let number = |value: &Value| match value {
            Value::Real(number) => Some(*number),
            Value::None => Some(f64::NAN),
            _ => None,
        };
        let (Some(value), Some(low), Some(high)) = (number(value), number(least), number(most)) else {
            return;
        };
        let interval = Some(Interval { low, high }).filter(|ends| !ends.low.is_nan() || !ends.high.is_nan());
        let field = self.field(field.key, true);
        self.shown.remove_last(3);
        self.shown.value(field, Value::Estimate(Estimate { value, interval }));
    }
}
