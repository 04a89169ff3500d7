//! A result within its own document: what `show` needs to show it again as its run did, in every format.
//!
//! The last member of a document is a list: a checksum of the document; then the sentences, tables, pictures and samples
//! of the result, in their order. `parts` has the form of each, `values` reads the values back from the other members.
//! If a document was edited after the run, its sentences and its values may not belong together, and the checksum shows
//! it.

mod parts;
mod values;

use alloc::format;
use alloc::string::String;
use core::fmt::{self, Write};

use latency_core::json::{Event, Layout, Writer};

use self::parts::{PartSource, write_parts};
use self::values::Values;
use super::format::Format;
use super::json::{self, JSON_LINES, Json};
use super::shown::{Shown, ShownPart};

/// The key of the member.
const SHOWN: &str = "shown";

/// One object over several lines, with everything that shows the result again.
pub const JSON: Format = Format {
    name: "json",
    extension: "json",
    write: |out, _, shown| {
        let mut json = Json::begin(out, Layout::Lines)?;
        json.entries(shown.entries())?;
        json.writer.key(SHOWN)?;
        json.writer.begin_array()?;
        json.writer.string(&checksum(shown.entries()))?;
        write_parts(&mut json.writer, shown.entries());
        json.writer.end_array()?;
        json.end()
    },
    ..JSON_LINES
};

/// A document that keeps how it was shown.
#[derive(Debug)]
pub enum Restored {
    /// The result as it was written.
    Whole(Shown),
    /// It was edited since, or has the form of another version.
    Changed,
}

/// Reads a document; `records` is the key of its rows. Returns `None` for text that does not keep how it was shown.
pub fn restored(text: &[u8], records: &str) -> Option<Restored> {
    let mut values = Values::new(text, records);
    let mut sum = None;
    if values.reader.next_event().ok()? != Event::BeginObject {
        return None;
    }
    loop {
        match values.reader.next_event().ok()? {
            Event::EndObject => break,
            Event::Key(name) if name.chars().eq(SHOWN.chars()) => sum = read_parts(&mut values),
            Event::Key(name) => values.member(name)?,
            _ => return None,
        }
    }
    Some(match checksum(values.shown.entries()) == sum? {
        true => Restored::Whole(values.shown),
        false => Restored::Changed,
    })
}

/// Reads the member behind its name; returns the checksum, or `None` for another value.
fn read_parts(values: &mut Values<'_>) -> Option<String> {
    let begun = values.reader.next_event().ok()?;
    let (Event::BeginArray, Event::String(sum)) = (begun, values.reader.next_event().ok()?) else {
        return None;
    };
    let mut source = PartSource::new(&mut values.reader);
    while !source.is_at_end() {
        values.shown.push(source.restored());
    }
    source.end();
    Some(sum.chars().collect())
}

/// Returns the checksum of a result: FNV-1a of its values and its other parts, as text on one line.
fn checksum(entries: &[ShownPart]) -> String {
    struct Checksum(u64);
    impl Write for Checksum {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            let next = |sum: u64, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            self.0 = text.bytes().fold(self.0, next);
            Ok(())
        }
    }
    let mut sum = Checksum(0xcbf2_9ce4_8422_2325);
    // The sum of a text cannot fail.
    let _ = json::write(&mut sum, Layout::OneLine, entries);
    let mut writer = Writer::new(&mut sum as &mut dyn Write, Layout::OneLine);
    let _ = writer.begin_array();
    write_parts(&mut writer, entries);
    format!("{:016x}", sum.0)
}
