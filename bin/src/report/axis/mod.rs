//! Maps values to places on an axis and back, for every kind of picture.
//!
//! A place is a fraction of the axis from 0 to 1. The picture turns it into pixels or columns. Only the chart uses the
//! meaning of the values.

mod label;
mod plane;
mod range;
mod ticks;

pub use label::{AxisLabel, Title, ValueWithUnit};
pub use plane::Plane;
pub use range::AxisRange;

use super::chart::{Scale, Unit};
use latency_core::math::{exp2, log2};
use ticks::{Ticks, round_above, round_below, step_for};

/// The smallest ratio of the largest to the smallest value at which a linear scale would hide the small values.
const LOGARITHMIC_FROM: f64 = 8.0;

/// An axis with its range.
#[derive(Clone, Copy, Debug)]
pub struct Mapped<'a> {
    logarithmic: bool,
    range: AxisRange,
    unit: Unit<'a>,
    most_ticks: usize,
}

impl<'a> Mapped<'a> {
    /// Makes a horizontal axis that is exactly as wide as its values, with about `most_ticks` ticks or fewer.
    #[must_use]
    pub fn horizontal(range: AxisRange, scale: Scale, unit: Unit<'a>, most_ticks: usize) -> Self {
        Self { logarithmic: is_logarithmic(range, scale), range, unit, most_ticks: most_ticks.max(2) }
    }

    /// Makes a vertical axis. A linear one begins at zero; each ends at a round number.
    #[must_use]
    pub fn vertical(range: AxisRange, scale: Scale, unit: Unit<'a>, most_ticks: usize) -> Self {
        let most_ticks = most_ticks.max(2);
        let logarithmic = is_logarithmic(range, scale);
        let range = if logarithmic {
            AxisRange { low: round_below(range.low), high: round_above(range.high) }
        } else {
            let (low, high) = (range.low.min(0.0), range.high.max(0.0));
            let step = step_for(high - low, most_ticks, unit);
            AxisRange { low: step.below(low), high: step.above(high) }
        };
        // If all values are zero, the axis would have no height.
        let range = if range.low < range.high { range } else { AxisRange { low: 0.0, high: 1.0 } };
        Self { logarithmic, range, unit, most_ticks }
    }

    /// Returns the place of a value, from 0 at the low end to 1 at the high end. A value beyond the axis gets the
    /// nearer end.
    #[must_use]
    pub fn fraction(&self, value: f64) -> f64 {
        let AxisRange { low, high } = self.range;
        let part = match self.logarithmic {
            false => (value - low) / (high - low),
            true => log2(value / low) / log2(high / low),
        };
        // If the axis has only one value, the value is in the middle.
        if part.is_nan() { 0.5 } else { part.clamp(0.0, 1.0) }
    }

    /// Returns the value at a place; the inverse of [`Mapped::fraction`].
    #[must_use]
    pub fn value(&self, fraction: f64) -> f64 {
        let AxisRange { low, high } = self.range;
        match self.logarithmic {
            false => low + (high - low) * fraction,
            true => low * exp2(log2(high / low) * fraction),
        }
    }

    /// Returns whether a value lies on the axis.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.range.contains(value)
    }

    /// Returns the values that get a label, in ascending order.
    pub fn ticks(&self) -> impl Iterator<Item = f64> + use<> {
        let ticks = if self.logarithmic { Ticks::logarithmic } else { Ticks::linear };
        ticks(self.range, self.most_ticks, self.unit).values()
    }

    /// Returns the label of a value.
    #[must_use]
    pub fn label(&self, value: f64) -> AxisLabel<'a> {
        AxisLabel(value, self.unit)
    }
}

fn is_logarithmic(range: AxisRange, scale: Scale) -> bool {
    let wide = range.high / range.low >= LOGARITHMIC_FROM;
    range.low > 0.0 && (scale == Scale::Logarithmic || scale == Scale::Auto && wide)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UNIT: Unit = Unit::Plain("ns");

    fn axis(low: f64, high: f64, scale: Scale) -> Mapped<'static> {
        Mapped::horizontal(AxisRange { low, high }, scale, UNIT, 8)
    }

    proptest! {
        #[test]
        fn value_undoes_fraction(low in 1e-3f64..1e3, ratio in 1.01f64..1e9, place in 0.0f64..1.0) {
            for scale in [Scale::Linear, Scale::Logarithmic, Scale::Auto] {
                let axis = axis(low, low * ratio, scale);
                prop_assert!((axis.fraction(axis.value(place)) - place).abs() < 1e-6);
            }
        }

        #[test]
        fn a_fraction_is_never_off_the_axis(
            low in prop::num::f64::NORMAL, high in prop::num::f64::NORMAL, value in prop::num::f64::ANY
        ) {
            let Some(range) = AxisRange::of(&mut |value| [low, high].into_iter().for_each(value)) else { return Ok(()) };
            for scale in [Scale::Linear, Scale::Logarithmic, Scale::Auto] {
                let horizontal = Mapped::horizontal(range, scale, UNIT, 8);
                let vertical = Mapped::vertical(range, scale, UNIT, 8);
                for axis in [horizontal, vertical] {
                    prop_assert!((0.0..=1.0).contains(&axis.fraction(value)));
                    prop_assert!(axis.ticks().take(100).count() < 100);
                }
            }
        }
    }

    #[test]
    fn a_wide_range_is_logarithmic_and_a_narrow_one_starts_at_zero() {
        let wide = Mapped::vertical(AxisRange { low: 1.6, high: 118.0 }, Scale::Auto, UNIT, 6);
        assert_eq!(wide.range, AxisRange { low: 1.0, high: 200.0 });
        let narrow = Mapped::vertical(AxisRange { low: 85.0, high: 118.0 }, Scale::Auto, UNIT, 6);
        assert_eq!(narrow.range, AxisRange { low: 0.0, high: 120.0 });
        let nothing = Mapped::vertical(AxisRange { low: 0.0, high: 0.0 }, Scale::Auto, UNIT, 6);
        assert_eq!(nothing.range, AxisRange { low: 0.0, high: 1.0 });
    }
}
