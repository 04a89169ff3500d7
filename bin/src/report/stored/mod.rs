//! A result within its own document: what `show` needs to show it again as its run did, in every format.
//!
//! The last member of a document is a list: a checksum of the document; then the sentences, tables, pictures and samples
//! of the result, in their order. `parts` has the form of each, `values` reads the values back from the other members.
//! If a document was edited after the run, its sentences and its values may not belong together, and the checksum shows
//! it.

mod parts;
mod values;

use alloc::string::String;
use core::fmt::{self, Write};

use latency_core::hash::Fnv;
use latency_core::json::{Event, Layout, Writer};

use self::parts::{PartSource, is_bounded, write_parts};
use self::values::Values;
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
        json.entries(shown.entries())?;
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
    Some(match checksum(shown.entries()) == Some(sum) {
        true => Restored::Whole(shown),
        false => Restored::Changed,
    })
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
    json::write(&mut sum, Layout::OneLine, entries).ok()?;
    let mut writer = Writer::new(&mut sum as &mut dyn Write, Layout::OneLine);
    writer.begin_array().ok()?;
    write_parts(&mut writer, entries);
    writer.end_array().ok()?;
    Some(format!("{:016x}", sum.0))
}
