//! A result within its own document: what `show` needs to show it again as its run did, in every format.
//!
//! The last member of a document is a list: a checksum of the document; then the sentences, tables, pictures and samples
//! of the result, in their order, each as a list that begins with its kind. The values of a document are read back from its
//! other members. If they or the sentences were edited after the run, these may not belong together, and the checksum
//! shows it.

mod item;
mod read;
mod write;

pub use read::{Restored, restored};
pub use write::JSON;

use alloc::format;
use alloc::string::String;
use core::fmt::{self, Write};

use latency_core::json::{Layout, Writer};

use item::Item;

use super::json;
use super::shown::ShownPart;

/// The key of the member.
const SHOWN: &str = "shown";

/// The kinds of parts that are not sentences; a sentence begins with the name of its role.
mod kind {
    pub const TABLE: &str = "table";
    pub const CHART: &str = "chart";
    pub const MATRIX: &str = "matrix";
    pub const METRIC: &str = "metric";
    pub const ATTRIBUTE: &str = "attribute";
}

/// The kinds of series.
mod series {
    pub const POINTS: &str = "points";
    pub const SCATTER: &str = "scatter";
    pub const MODEL: &str = "model";
}

/// The kinds of marks.
mod mark {
    pub const LINE: &str = "line";
    pub const TICK: &str = "tick";
    pub const AREA: &str = "area";
}

/// The kinds of units.
mod unit {
    pub const BYTES: &str = "bytes";
    pub const COUNT: &str = "count";
    pub const PLAIN: &str = "plain";
    pub const PREFIXED: &str = "prefixed";
    pub const NAMES: &str = "names";
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
    let mut writer = Writer::new(&mut sum as &mut dyn Write, Layout::OneLine);
    let _ = item::write_list(&mut writer, parts);
    format!("{:016x}", sum.0)
}
