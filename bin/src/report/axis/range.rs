//! The smallest and the largest of the drawn values.

use crate::report::chart::is_drawable;

/// The smallest and the largest of some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AxisRange {
    /// The smallest.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

/// A receiver of values, one after another.
pub type Each<'e> = &'e mut dyn FnMut(f64);

impl AxisRange {
    /// Returns the range of the drawable values that `visit` passes on; `None` if there are none.
    pub fn of(visit: &mut dyn FnMut(Each<'_>)) -> Option<Self> {
        let mut range = None;
        visit(&mut |value| {
            if is_drawable(value) {
                let Self { low, high } = range.unwrap_or(Self { low: value, high: value });
                range = Some(Self { low: low.min(value), high: high.max(value) });
            }
        });
        range
    }

    /// Returns whether a value lies in the range, ends included.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}
