//! The rows of the table of published figures.

use core::fmt::{self, Display};

use latency_core::decimal::Trimmed;

use super::list::contains;
use super::quantity::PublishedQuantity;
use super::stated::Stated;

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
        let ends = [low.parse().ok()?, high.parse().ok()?];
        Some(Usual { ends, quantity, stated: words.try_fold(Stated::default(), Stated::with)? })
    }

    /// Returns the range that has the figures of both.
    #[must_use]
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
        match self.stated.has_conditions() {
            true => write!(out, " ({})", self.stated.conditions()),
            false => Ok(()),
        }
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
