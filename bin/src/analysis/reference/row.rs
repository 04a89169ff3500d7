//! The rows of the table of published figures.

use core::fmt::{self, Display};

use latency_core::decimal::Trimmed;

use super::list::contains;
use super::quantity::PublishedQuantity;
use super::stated::{NONE, Stated};

/// Figures of one quantity, in one range.
#[derive(Clone, Copy, Debug)]
pub struct Usual {
    /// The smallest and the largest figure, in tenths.
    pub tenths: (u16, u16),
    /// The quantity.
    pub quantity: PublishedQuantity,
    /// The conditions and the sources.
    pub stated: Stated,
}

impl Usual {
    /// Returns the smallest and the largest figure.
    #[must_use]
    pub fn ends(&self) -> [f64; 2] {
        [self.tenths.0, self.tenths.1].map(|tenths| f64::from(tenths) / 10.0)
    }

    /// Returns the range that has the figures of both.
    #[must_use]
    pub fn and(&self, other: &Usual) -> Usual {
        let ((low, high), (least, most)) = (self.tenths, other.tenths);
        Usual { tenths: (low.min(least), high.max(most)), stated: self.stated.and(other.stated), ..*self }
    }
}

impl Display for Usual {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [low, high] = self.ends();
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

/// Makes a range; its ends are in tenths.
pub const fn range(
    quantity: PublishedQuantity,
    low: u16,
    high: u16,
    conditions: Stated,
    sources: Stated,
) -> Usual {
    assert!(0 < low && low <= high);
    Usual { tenths: (low, high), quantity, stated: conditions.and(sources) }
}

/// Makes a fact, which is a whole number and has no conditions.
pub const fn fact(quantity: PublishedQuantity, figure: u16, source: Stated) -> Usual {
    range(quantity, figure * 10, figure * 10, NONE, source)
}

/// The word of the names of all processors.
pub const ANY_NAME: &str = "";
/// All steppings.
pub const ANY_STEPPING: (u16, u16) = (0, 0x0f);

/// The first and the last model of each range.
pub type Models = &'static [(u16, u16)];

/// The figures of a core or a platform, and the processors that have it.
#[derive(Clone, Copy, Debug)]
pub struct PublishedRow {
    /// The name of the core or platform.
    pub name: &'static str,
    /// A word of the names of its processors.
    word: &'static str,
    family: u16,
    models: Models,
    /// The first and the last stepping.
    steppings: (u16, u16),
    /// True if it is the efficiency core of its models, which may have performance cores, too.
    pub is_small: bool,
    /// The figures.
    pub figures: &'static [Usual],
}

impl PublishedRow {
    /// Returns the family and each model.
    #[cfg(test)]
    pub fn models(&self) -> impl Iterator<Item = (u16, u16)> + '_ {
        self.models.iter().flat_map(|(first, last)| *first..=*last).map(|model| (self.family, model))
    }

    /// Returns whether it is of a processor with this name, family, model and stepping.
    #[must_use]
    pub fn has(&self, brand: &[u8], (family, model, stepping): (u16, u16, u16)) -> bool {
        self.family == family
            && self.models.iter().any(|(first, last)| (*first..=*last).contains(&model))
            && (self.steppings.0..=self.steppings.1).contains(&stepping)
            && (self.word == ANY_NAME || contains(brand, self.word.as_bytes()))
    }
}

/// Makes the row of a core: its name, family and models.
pub const fn core(
    name: &'static str,
    family: u16,
    models: Models,
    figures: &'static [Usual],
) -> PublishedRow {
    PublishedRow { name, word: ANY_NAME, family, models, steppings: ANY_STEPPING, is_small: false, figures }
}

/// Makes the row of an efficiency core: its name, family and models.
pub const fn small_core(
    name: &'static str,
    family: u16,
    models: Models,
    figures: &'static [Usual],
) -> PublishedRow {
    PublishedRow { is_small: true, ..core(name, family, models, figures) }
}

/// Makes the row of a platform: its name, a word of its processors' names, their family, models and steppings, and its
/// ranges.
pub const fn platform(
    name: &'static str,
    word: &'static str,
    family: u16,
    models: Models,
    steppings: (u16, u16),
    figures: &'static [Usual],
) -> PublishedRow {
    PublishedRow { name, word, family, models, steppings, is_small: false, figures }
}
