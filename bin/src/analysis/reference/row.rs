//! The rows of the table of published figures: their quantities, their conditions and sources as sets, and the words by
//! which people name a processor.
//!
//! The quotes, the full addresses and the dates of reading are in `tests/fixtures/reference/evidence.tsv`.

use alloc::vec::Vec;
use core::fmt::{self, Display};

use latency_core::{Trimmed, decimal};

use super::quantity::PublishedQuantity;
use latency_report::chart::vector;
use latency_report::lists::joined;

/// Figures of one quantity, in one range.
#[derive(Clone, Copy, Debug)]
pub struct Usual {
    /// The smallest and the largest figure.
    pub ends: [f64; 2],
    /// The quantity.
    pub quantity: PublishedQuantity,
    /// The conditions and the sources.
    pub stated: Stated,
}

impl Usual {
    /// Reads a line: the word of the quantity, the figure or the ends of its range, and the words of what is stated.
    fn read(line: &str) -> Option<Usual> {
        let mut words = line.split(' ');
        let quantity = PublishedQuantity::called(words.next()?)?;
        let range = words.next()?;
        let (low, high) = range.split_once('-').unwrap_or((range, range));
        let ends = [decimal::read(low.as_bytes())?, decimal::read(high.as_bytes())?];
        Some(Usual { ends, quantity, stated: words.try_fold(Stated::default(), Stated::with)? })
    }

    /// Returns the range that has the figures of both.
    pub fn and(&self, other: &Usual) -> Usual {
        let ([low, high], [least, most]) = (self.ends, other.ends);
        Usual { ends: [low.min(least), high.max(most)], stated: self.stated.and(other.stated), ..*self }
    }
}

impl Display for Usual {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [low, high] = self.ends;
        write!(out, "{} {:.1}", self.quantity.name(), Trimmed(low))?;
        if low < high {
            write!(out, " to {:.1}", Trimmed(high))?;
        }
        write!(out, " {}", self.quantity.unit())?;
        if self.stated.conditions != 0 { write!(out, " ({})", self.stated.conditions()) } else { Ok(()) }
    }
}

/// Published facts of cores, which hold for every machine that has the core, and published ranges of server platforms with
/// their conditions. A figure is here only if a source states it: tests/fixtures/reference/evidence.tsv has the quotes.
/// A parameter of a compiler's scheduler does not give the size of a reorder buffer.
///
/// A line with a sign of equality has the name of a core or a platform, its family, and its models; behind them a word of
/// the names of its processors, and their steppings, if others have the same models. These numbers are hexadecimal. The
/// family of a core of another instruction set is its implementer, and the model is its part number.
///
/// Each other line has a quantity, its figure or range, without an allowance, and the conditions and sources.
const FIGURES: &str = include_str!("figures.txt");

/// The figures of a core or a platform, and the processors that have it.
#[derive(Clone, Copy, Debug)]
pub struct PublishedRow {
    /// The name of the core or platform.
    pub name: &'static str,
    family: u16,
    /// The ranges of models.
    models: &'static str,
    /// A word of the names of its processors; empty for all.
    word: &'static str,
    /// The first and the last stepping.
    steppings: (u16, u16),
    /// True if it is the efficiency core of its models, which may have performance cores, too.
    pub is_small: bool,
}

/// Returns all cores, then all platforms.
pub fn rows() -> impl Iterator<Item = PublishedRow> {
    FIGURES.lines().filter_map(PublishedRow::read)
}

/// Returns the figures of all cores and platforms that `is_wanted` accepts, each with the name.
pub fn figures(
    is_wanted: &dyn Fn(&PublishedRow) -> bool,
) -> impl Iterator<Item = (&'static str, Usual)> + Clone {
    let mut wanted = None;
    FIGURES.lines().filter_map(move |line| match PublishedRow::read(line) {
        Some(row) => {
            wanted = is_wanted(&row).then_some(row.name);
            None
        }
        None => Some((wanted?, Usual::read(line)?)),
    })
}

impl PublishedRow {
    /// Reads a line with a core or platform.
    fn read(line: &'static str) -> Option<PublishedRow> {
        let mut parts = line.strip_prefix('=')?.split(';').map(str::trim_ascii);
        let (kind, name, family, models) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        Some(PublishedRow {
            name,
            family: span(family)?.0,
            models,
            word: parts.next().unwrap_or_default(),
            steppings: parts.next().and_then(span).unwrap_or((0, u16::MAX)),
            is_small: kind == "small core",
        })
    }

    /// Returns the family and each model.
    #[cfg(test)]
    pub fn models(&self) -> impl Iterator<Item = (u16, u16)> + '_ {
        let spans = self.models.split(' ').filter_map(span);
        spans.flat_map(|(first, last)| first..=last).map(|model| (self.family, model))
    }

    /// Returns whether it is of a processor with this name, family, model and stepping.
    pub fn has(&self, brand: &[u8], (family, model, stepping): (u16, u16, u16)) -> bool {
        let holds = |(first, last): (u16, u16), number| (first..=last).contains(&number);
        self.family == family
            && self.models.split(' ').filter_map(span).any(|models| holds(models, model))
            && holds(self.steppings, stepping)
            && (self.word.is_empty() || contains(brand, self.word.as_bytes()))
    }
}

/// Reads a hexadecimal number, or the first and the last one of a range.
pub(super) fn span(text: &str) -> Option<(u16, u16)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((u16::from_str_radix(first, 16).ok()?, u16::from_str_radix(last, 16).ok()?))
}

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
        let bit = |table| texts_of_table(table).position(|(known, _)| known == word).map(|place| 1 << place);
        match (bit(CONDITIONS), bit(SOURCES)) {
            (None, None) => None,
            (condition, source) => Some(Stated {
                conditions: self.conditions | condition.unwrap_or(0),
                sources: self.sources | source.unwrap_or(0),
            }),
        }
    }

    /// Returns the conditions and sources of both.
    pub const fn and(self, other: Stated) -> Stated {
        Stated { conditions: self.conditions | other.conditions, sources: self.sources | other.sources }
    }

    /// Returns whether some figures are of virtual machines.
    pub fn is_virtual(self) -> bool {
        Stated::default().with("VIRTUAL").is_some_and(|guest| self.conditions & guest.conditions != 0)
    }

    /// Returns the number of sources.
    pub const fn sources(self) -> u32 {
        self.sources.count_ones()
    }

    /// Returns the conditions as text.
    pub fn conditions(self) -> impl Display {
        texts(CONDITIONS, self.conditions, ", ")
    }

    /// Returns the addresses of the sources as text.
    pub fn addresses(self) -> impl Display {
        texts(SOURCES, self.sources, " ")
    }
}

/// Returns the words of a table, each with its text.
fn texts_of_table(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> + Clone {
    table.lines().filter_map(|line| line.split_once(' '))
}

/// Returns the texts of a table that are in a set, joined.
fn texts(table: &'static str, set: u32, next: &'static str) -> impl Display {
    let own = texts_of_table(table).enumerate().filter(move |(bit, _)| set >> bit & 1 == 1);
    joined("", next, own.map(|(_, (_, text))| text))
}

/// Short names that people use, each with a name of the table.
const SHORT: [(&str, &str); 12] = [
    ("skx", "Skylake-SP"),
    ("clx", "Cascade Lake-SP"),
    ("icx", "Ice Lake-SP"),
    ("spr", "Sapphire Rapids"),
    ("emr", "Emerald Rapids"),
    ("gnr", "Granite Rapids"),
    ("hsw", "Haswell"),
    ("bdw", "Broadwell"),
    ("adl", "Alder Lake"),
    ("rpl", "Raptor Lake"),
    ("altra", "Ampere Altra"),
    ("znver", "Zen"),
];

/// Returns the letters and digits of a text, in small letters.
fn plain(text: &[u8]) -> Vec<u8> {
    vector(text.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase))
}

/// Returns whether a name has a word as people type it: with or without spaces and hyphens, or by its short name.
pub fn is_called(name: &[u8], word: &[u8]) -> bool {
    let name = plain(name);
    let has = |word: &[u8]| !word.is_empty() && contains(&name, word);
    let short = SHORT.iter().find_map(|(short, full)| {
        let (begin, rest) = word.split_at_checked(short.len())?;
        let is_short = begin.eq_ignore_ascii_case(short.as_bytes()) && rest.iter().all(u8::is_ascii_digit);
        is_short.then(|| [&plain(full.as_bytes()), rest].concat())
    });
    has(&plain(word)) || short.is_some_and(|long| has(&long))
}

/// Returns whether a name contains a word, in small or large letters.
pub fn contains(name: &[u8], word: &[u8]) -> bool {
    name.windows(word.len().max(1)).any(|part| part.eq_ignore_ascii_case(word))
}
