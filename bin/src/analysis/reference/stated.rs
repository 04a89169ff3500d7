//! The conditions and the sources of a published figure, as sets.
//!
//! The quotes, the full addresses and the dates of reading are in `tests/fixtures/reference/evidence.tsv`.

use core::fmt::Display;

use latency_core::text::joined;

/// The conditions, one a line: the word of each in the table of figures, and its text.
const CONDITIONS: &str = include_str!("conditions.txt");

/// The sources, one a line: the word of each in the table of figures, and its address.
const SOURCES: &str = include_str!("sources.txt");

/// A set of conditions and sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stated {
    conditions: u32,
    sources: u32,
}

impl Stated {
    /// Adds the condition or source with a word; returns `None` if there is none.
    pub fn with(self, word: &str) -> Option<Stated> {
        let bit = |table| rows(table).position(|(known, _)| known == word).map(|place| 1 << place);
        match (bit(CONDITIONS), bit(SOURCES)) {
            (None, None) => None,
            (condition, source) => Some(Stated {
                conditions: self.conditions | condition.unwrap_or(0),
                sources: self.sources | source.unwrap_or(0),
            }),
        }
    }

    /// Returns the conditions and sources of both.
    #[must_use]
    pub const fn and(self, other: Stated) -> Stated {
        Stated { conditions: self.conditions | other.conditions, sources: self.sources | other.sources }
    }

    /// Returns whether there are conditions.
    pub const fn has_conditions(self) -> bool {
        self.conditions != 0
    }

    /// Returns whether some figures are of virtual machines.
    pub fn is_virtual(self) -> bool {
        Stated::default().with("VIRTUAL").is_some_and(|guest| self.conditions & guest.conditions != 0)
    }

    /// Returns the number of sources.
    pub const fn sources(self) -> u32 {
        self.sources.count_ones()
    }

    /// Shows the conditions.
    pub fn conditions(self) -> impl Display {
        texts(CONDITIONS, self.conditions, ", ")
    }

    /// Shows the addresses of the sources.
    pub fn addresses(self) -> impl Display {
        texts(SOURCES, self.sources, " ")
    }
}

/// Returns the words of a table, each with its text.
fn rows(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> + Clone {
    table.lines().filter_map(|line| line.split_once(' '))
}

/// Shows the texts of a table that are in a set.
fn texts(table: &'static str, set: u32, next: &'static str) -> impl Display {
    let own = rows(table).enumerate().filter(move |(bit, _)| set >> bit & 1 == 1);
    joined("", next, own.map(|(_, (_, text))| text))
}
