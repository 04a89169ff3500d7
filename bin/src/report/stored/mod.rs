//! A result within its own document: what `show` needs to show it again as its run did, in every format.
//!
//! The last member of a document is a list: a checksum of the document; then the sentences, tables, pictures and samples
//! of the result, in their order. `parts` has the form of each, `values` reads the values back from the other members.
//! If a document was edited after the run, its sentences and its values may not belong together, and the checksum shows
//! it.

mod item;
mod parts;
mod values;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use latency_core::json::{Layout, Writer};

use self::item::{Item, write_list};
use self::parts::Stored;
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
        write_list(&mut json.writer, &stored(shown.entries()))?;
        json.end()
    },
    ..JSON_LINES
};

/// A document that keeps how it was shown.
#[derive(Debug)]
pub enum Restored {
    /// The result as it was written.
    Whole(Shown),
    /// It was edited since.
    Changed,
}

/// Reads a document; `records` is the key of its rows. Returns `None` for text that does not keep how it was shown, or not
/// in the form of this version.
pub fn restored(text: &[u8], records: &str) -> Option<Restored> {
    let (mut shown, kept) = values::read(text, records)?;
    let (sum, parts) = kept.items().split_first()?;
    if sum.text() != checksum(shown.entries(), parts) {
        return Some(Restored::Changed);
    }
    parts.iter().for_each(|part| shown.push(ShownPart::restore(part)));
    // Parts in another form would be stored differently.
    let again = stored(shown.entries());
    (again.first().map(Item::text) == Some(sum.text())).then_some(Restored::Whole(shown))
}

/// Returns the content of the member.
fn stored(entries: &[ShownPart]) -> Vec<Item> {
    let mut parts = Vec::new();
    let mut metrics: Vec<&str> = Vec::new();
    for entry in entries {
        let mut part = entry.store();
        if let ShownPart::Metric(metric, ..) = entry {
            // The meaning of a metric is in its first sample.
            if let (true, Item::List(fields)) = (metrics.contains(&metric.name), &mut part)
                && let Some(of) = fields.get_mut(1)
            {
                *of = (metric.name, "").store();
            }
            metrics.push(metric.name);
        }
        if !part.is_nothing() {
            parts.push(part);
        }
    }
    let sum = checksum(entries, &parts);
    parts.insert(0, Item::Text(sum));
    parts
}

/// Returns the checksum of values and of the other parts: FNV-1a of their text on one line.
fn checksum(entries: &[ShownPart], parts: &[Item]) -> String {
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
    let _ = write_list(&mut Writer::new(&mut sum as &mut dyn Write, Layout::OneLine), parts);
    format!("{:016x}", sum.0)
}
