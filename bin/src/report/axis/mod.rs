//! Maps values to places on an axis and back, for every kind of picture.
//!
//! A place is a fraction of the axis from 0 to 1. The picture turns it into pixels or columns. The chart knows the
//! meaning of the values.

mod label;
mod plane;
mod range;
mod ticks;

pub use label::{AxisLabel, Title, ValueWithUnit};
pub use plane::Plane;
pub use range::AxisRange;
pub use ticks::Ticks;

use super::chart::{ChartPoint, Scale, Unit};
use latency_core::math::{exp2, log2};
use ticks::{round_above, round_below, step_for};

/// The smallest ratio of the largest to the smallest value at which a linear scale would hide the small values.
const LOGARITHMIC_FROM: f64 = 8.0;

/// The mapping from values to fractions.
#[derive(Clone, Copy, Debug)]
enum Mapping<'a> {
    Linear,
    Logarithmic,
    Ordinal(&'a [ChartPoint]),
}

/// An axis with its range.
#[derive(Clone, Copy, Debug)]
pub struct Mapped<'a> {
    mapping: Mapping<'a>,
    range: AxisRange,
    unit: Unit<'a>,
    most_ticks: usize,
}

impl<'a> Mapped<'a> {
    /// Makes a horizontal axis that is exactly as wide as its values, with about `most_ticks` ticks or fewer. An
    /// ordinal scale puts the points of `ordinal` at equal distances.
    #[must_use]
    pub fn horizontal(
        range: AxisRange,
        scale: Scale,
        unit: Unit<'a>,
        ordinal: &'a [ChartPoint],
        most_ticks: usize,
    ) -> Self {
        let mapping = match scale {
            Scale::Ordinal if ordinal.len() > 1 => Mapping::Ordinal(ordinal),
            _ => mapping_of(range, scale),
        };
        Self { mapping, range, unit, most_ticks: most_ticks.max(2) }
    }

    /// Makes a vertical axis. A linear one begins at zero; each ends at a round number.
    #[must_use]
    pub fn vertical(range: AxisRange, scale: Scale, unit: Unit<'a>, most_ticks: usize) -> Self {
        let most_ticks = most_ticks.max(2);
        let mapping = mapping_of(range, scale);
        let range = match mapping {
            Mapping::Logarithmic => AxisRange { low: round_below(range.low), high: round_above(range.high) },
            _ => {
                let (low, high) = (range.low.min(0.0), range.high.max(0.0));
                let step = step_for(high - low, most_ticks, unit);
                AxisRange { low: step.below(low), high: step.above(high) }
            }
        };
        // If all values are zero, the axis would have no height.
        let range = if range.low < range.high { range } else { AxisRange { low: 0.0, high: 1.0 } };
        Self { mapping, range, unit, most_ticks }
    }

    /// Returns the place of a value, from 0 at the low end to 1 at the high end. A value beyond the axis gets the
    /// nearer end.
    #[must_use]
    pub fn fraction(&self, value: f64) -> f64 {
        let AxisRange { low, high } = self.range;
        let part = match self.mapping {
            Mapping::Linear => (value - low) / (high - low),
            Mapping::Logarithmic => log2(value / low) / log2(high / low),
            Mapping::Ordinal(points) => ordinal_fraction(points, value),
        };
        // If the axis has only one value, the value is in the middle.
        if part.is_nan() {
            0.5
        } else {
            part.clamp(0.0, 1.0)
        }
    }

    /// Returns the value at a place; the inverse of [`Mapped::fraction`].
    #[must_use]
    pub fn value(&self, fraction: f64) -> f64 {
        let AxisRange { low, high } = self.range;
        match self.mapping {
            Mapping::Linear => low + (high - low) * fraction,
            Mapping::Logarithmic => low * exp2(log2(high / low) * fraction),
            Mapping::Ordinal(points) => {
                let position = fraction.clamp(0.0, 1.0) * (points.len() - 1) as f64;
                let index = (position as usize).min(points.len().saturating_sub(2));
                match points.get(index..) {
                    Some([before, after, ..]) => before.x + (after.x - before.x) * (position - index as f64),
                    _ => low,
                }
            }
        }
    }

    /// Returns whether a value lies on the axis.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.range.contains(value)
    }

    /// Returns the values that get a label, in ascending order.
    #[must_use]
    pub fn ticks(&self) -> Ticks<'a> {
        match self.mapping {
            Mapping::Linear => Ticks::linear(self.range, self.most_ticks, self.unit),
            Mapping::Logarithmic => Ticks::logarithmic(self.range, self.most_ticks, self.unit),
            Mapping::Ordinal(points) => Ticks::ordinal(points, self.most_ticks),
        }
    }

    /// Returns the label of a value.
    #[must_use]
    pub fn label(&self, value: f64) -> AxisLabel {
        AxisLabel::new(value, self.unit)
    }
}

fn mapping_of<'a>(range: AxisRange, scale: Scale) -> Mapping<'a> {
    let possible = range.low > 0.0;
    let wide = range.high / range.low >= LOGARITHMIC_FROM;
    match scale {
        Scale::Logarithmic if possible => Mapping::Logarithmic,
        Scale::Auto if possible && wide => Mapping::Logarithmic,
        _ => Mapping::Linear,
    }
}

/// Interpolates the place of a value linearly between the two nearest points of an ordinal scale.
fn ordinal_fraction(points: &[ChartPoint], value: f64) -> f64 {
    let last = points.len().saturating_sub(1) as f64;
    let after = points.iter().position(|point| point.x >= value).unwrap_or(points.len());
    let position = match after.checked_sub(1).and_then(|before| points.get(before..)) {
        Some([before, after_it, ..]) => (after - 1) as f64 + (value - before.x) / (after_it.x - before.x),
        Some(_) => last,
        None => 0.0,
    };
    position / last
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UNIT: Unit = Unit::Plain("ns");

    fn axis(low: f64, high: f64, scale: Scale) -> Mapped<'static> {
        Mapped::horizontal(AxisRange { low, high }, scale, UNIT, &[], 8)
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
            for scale in [Scale::Linear, Scale::Logarithmic, Scale::Auto, Scale::Ordinal] {
                let horizontal = Mapped::horizontal(range, scale, UNIT, &[], 8);
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

    #[test]
    fn ordinal_places_are_equally_far_apart() {
        let points = [1.0, 2.0, 12.0, 64.0].map(|x| ChartPoint::new(x, 1.0));
        let range = AxisRange { low: 1.0, high: 64.0 };
        let axis = Mapped::horizontal(range, Scale::Ordinal, Unit::Count, &points, 8);
        let third = 1.0 / 3.0;
        for (value, fraction) in
            [(1.0, 0.0), (2.0, third), (7.0, 1.5 * third), (12.0, 2.0 * third), (64.0, 1.0)]
        {
            assert!((axis.fraction(value) - fraction).abs() < 1e-12, "{value}");
            assert!((axis.value(fraction) - value).abs() < 1e-9, "{value}");
        }
        assert_eq!((axis.fraction(0.0), axis.fraction(100.0)), (0.0, 1.0));
    }
}
