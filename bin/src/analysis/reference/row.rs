//! The rows of the table of published figures.

use core::fmt::{self, Display};

use latency_core::decimal::Trimmed;

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

/// A range in few bytes: 14 bits for each end, and 4 for the quantity.
#[derive(Clone, Copy, Debug)]
pub struct Compact(pub u32, pub Stated);

/// Makes a range; its ends are in tenths.
pub const fn range(
    quantity: PublishedQuantity,
    low: u32,
    high: u32,
    conditions: Stated,
    sources: Stated,
) -> Compact {
    assert!(0 < low && low <= high && high < 1 << 14 && quantity.0 < 16);
    Compact(low | high << 14 | (quantity.0 as u32) << 28, conditions.and(sources))
}

/// Makes a fact, which is a whole number and has no conditions.
pub const fn fact(quantity: PublishedQuantity, figure: u32, source: Stated) -> Compact {
    range(quantity, figure * 10, figure * 10, NONE, source)
}

/// A word of the names of a platform's processors: its position in [`WORDS`].
pub type BrandWord = u8;

/// The words.
pub const WORDS: &str = "|Xeon|EPYC|Amazon|NVIDIA|Altra";
pub const ALL: BrandWord = 0;
pub const XEON: BrandWord = 1;
pub const EPYC: BrandWord = 2;
pub const AMAZON: BrandWord = 3;
pub const NVIDIA: BrandWord = 4;
pub const ALTRA: BrandWord = 5;
/// All steppings.
pub const ANY_STEPPING: u8 = 0x0f;

/// The first and the last model of each range.
pub type Models = &'static [(u16, u16)];

/// A row of the source text: the name, a word of its processors' names, family, models, steppings and figures.
#[derive(Clone, Copy)]
pub struct PublishedRow(pub &'static str, pub BrandWord, pub u8, pub Models, pub u8, pub &'static [Compact]);

/// Makes the row of a core: its name, family and models.
pub const fn core(name: &'static str, family: u8, models: Models, facts: &'static [Compact]) -> PublishedRow {
    PublishedRow(name, ALL, family, models, ANY_STEPPING, facts)
}

/// Makes the row of a platform: its name, a word of its processors' names, their family, their models, their first and
/// last stepping in the halves of a byte, and its ranges.
pub const fn platform(
    name: &'static str,
    word: BrandWord,
    family: u8,
    models: Models,
    steppings: u8,
    ranges: &'static [Compact],
) -> PublishedRow {
    PublishedRow(name, word, family, models, steppings, ranges)
}
