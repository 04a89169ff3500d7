//! The points of a run, sorted by where their working set lies, and what they say together.

use core::fmt::Write;

use latency_core::text::Text;

use crate::analysis::lanes::{regions, Region};
use crate::analysis::window::{conclude, Conclusion};
use crate::experiment::facts::Report;

/// The points in the cache, if there are any, and those in memory.
#[derive(Clone, Copy)]
pub struct View<'r, 'a> {
    /// Those in the cache.
    pub floor: Option<Region<'r, 'a>>,
    /// Those in memory, or in the larger cache.
    pub memory: Region<'r, 'a>,
    /// What they say; `None` where the larger working set lies in caches.
    pub found: Option<Conclusion>,
}

impl<'r, 'a> View<'r, 'a> {
    /// Sorts the points of a report; `None` where nothing was measured.
    pub fn of(report: &Report<'r, 'a>) -> Option<View<'r, 'a>> {
        let mut regions = regions(report.outcomes);
        let (floor, memory) = match (regions.next()?, regions.next()) {
            (floor, Some(memory)) => (Some(floor), memory),
            (memory, None) => (None, memory),
        };
        let is_memory = report.machine.reaches_memory(memory.size);
        let found = is_memory.then(|| conclude(floor, memory, &report.extra.reach));
        Some(View { floor, memory, found })
    }

    /// Where the larger working set lies.
    pub fn place(&self) -> Text<32> {
        let mut text = Text::EMPTY;
        // It is shorter than the text.
        let _ = match self.found {
            Some(_) => text.write_str("memory"),
            None => write!(text, "{}", self.memory.size),
        };
        text
    }
}
