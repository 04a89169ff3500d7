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
use latency_core::json::{Event, Layout, Writer};
use latency_core::{Estimate, Interval};

use self::parts::{Stored, is_bounded, write_parts};
use super::document::{ENDS, Field, Part, Value};
use super::format::Format;
use super::json::{self, JSON_LINES, Json};
use super::shown::{Shown, ShownPart};
use super::tree::{JsonTree, JsonValue};

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
    let tree = JsonTree::of(text).ok()?;
    let mut values = Values { records, shown: Shown::new(), fields: Vec::new() };
    let mut members = tree.root().members();
    let stored = loop {
        match members.next()? {
            (key, stored) if key == SHOWN => break stored,
            (key, value) => values.member(&key, value)?,
        }
    };
    let sum = read_parts(&mut values.shown, stored)?;
    // Nothing follows the last member.
    members.next().is_none().then_some((values.shown, sum))
}

/// Reads the last member; returns the checksum, or `None` for another value.
fn read_parts(shown: &mut Shown, stored: JsonValue<'_>) -> Option<String> {
    let mut parts = stored.items();
    let sum = parts.next()?.string()?;
    let (mut metrics, mut last) = (0, "");
    for part in parts.map(ShownPart::restore) {
        if let ShownPart::Metric(metric, ..) = part {
            metrics += usize::from(metric.name != last);
            last = metric.name;
        }
        if is_bounded(&part) && metrics <= MOST_METRICS {
            shown.push(part);
        }
    }
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
struct Values<'r> {
    /// The key of the rows.
    records: &'r str,
    /// The values, and what else was added.
    shown: Shown,
    /// The fields that were seen, each once.
    fields: Vec<&'static Field>,
}

impl Values<'_> {
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

    /// Reads a member of an object.
    fn member(&mut self, key: &str, value: JsonValue<'_>) -> Option<()> {
        let field = self.field(key, false);
        if self.fields.len() > MOST_FIELDS {
            return None;
        }
        let list = if key == self.records { Part::Records(field) } else { Part::List(field) };
        self.value(field, [Part::Object(field), list], value)?;
        self.join();
        Some(())
    }

    /// Reads a value of a field, which is the part `object` or `list` if it contains others. Counts have no point, and
    /// measured numbers have one.
    fn value(
        &mut self,
        field: &'static Field,
        [object, list]: [Part; 2],
        value: JsonValue<'_>,
    ) -> Option<()> {
        let last = match value.event() {
            Event::BeginObject => {
                self.shown.begin(object);
                for (key, member) in value.members() {
                    self.member(&key, member)?;
                }
                ShownPart::End
            }
            Event::BeginArray => {
                self.shown.begin(list);
                for item in value.items() {
                    self.value(field, [Part::Item, Part::List(field)], item)?;
                }
                ShownPart::End
            }
            Event::Null => ShownPart::Value(field, Value::None),
            Event::Bool(flag) => ShownPart::Value(field, Value::Flag(flag)),
            Event::Number(number) => {
                ShownPart::Value(field, value.count().map_or(Value::Real(number), Value::Count))
            }
            Event::String(text) => ShownPart::Value(field, Value::Word(text.chars().collect())),
            _ => return None,
        };
        self.shown.push(last);
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
