//! The smallest and the largest of what is drawn.

use crate::report::chart::is_drawable;

/// The smallest and the largest of some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The smallest.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

impl Range {
    /// The range of the drawable values; `None` where there are none.
    pub fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        values.filter(|&value| is_drawable(value)).fold(None, |range, value| match range {
            None => Some(Self { low: value, high: value }),
            Some(Self { low, high }) => Some(Self { low: low.min(value), high: high.max(value) }),
        })
    }

    /// Whether a value lies in it, ends included.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}
