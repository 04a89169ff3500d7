//! Maps values to places on an axis and back, for every kind of picture.
//!
//! A place is a fraction of the axis from 0 to 1. The picture turns it into pixels or columns. Only the chart uses the
//! meaning of the values.

mod label;
mod plane;
mod range;
mod ticks;

pub use label::{AxisLabel, Title, ValueWithUnit};
use latency_core::math::ToReal;
pub use plane::Plane;
pub use range::AxisRange;

use super::chart::{Scale, Unit};
use super::figures::rounded;
use alloc::vec::Vec;
use core::fmt::Display;
use latency_core::math::{exp2, log2};
use ticks::{round_above, round_below, step_for};

/// The smallest ratio of the largest to the smallest value at which a linear scale would hide the small values.
const LOGARITHMIC_FROM: f64 = 8.0;
/// The share of a fitted axis below the smallest value from which on it does not start at zero.
const WASTED: f64 = 1.0 / 3.0;

/// An axis with its range.
#[derive(Clone, Copy, Debug)]
pub struct Mapped<'a> {
    logarithmic: bool,
    range: AxisRange,
    /// The unit of its values.
    pub unit: &'a Unit,
    most_ticks: usize,
}

impl<'a> Mapped<'a> {
    /// Makes a horizontal axis that is exactly as wide as its values, with about `most_ticks` ticks or fewer.
    pub fn horizontal(range: AxisRange, scale: Scale, unit: &'a Unit, most_ticks: usize) -> Self {
        let logarithmic = is_logarithmic(range, scale, unit);
        Self { logarithmic, range: named(unit).unwrap_or(range), unit, most_ticks: most_ticks.max(2) }
    }

    /// Makes a vertical axis. A linear one begins at zero, unless it is fitted; each ends at a round number.
    pub fn vertical(range: AxisRange, scale: Scale, unit: &'a Unit, most_ticks: usize) -> Self {
        let most_ticks = most_ticks.max(2);
        let logarithmic = is_logarithmic(range, scale, unit);
        let range = if let Some(named) = named(unit) {
            named
        } else if logarithmic {
            AxisRange { low: round_below(range.low), high: round_above(range.high) }
        } else {
            let cut = scale == Scale::Fitted && range.low > range.high * WASTED;
            let (low, high) = (if cut { range.low } else { range.low.min(0.0) }, range.high.max(0.0));
            let step = step_for(high - low, most_ticks, unit);
            AxisRange { low: step.below(low), high: step.above(high) }
        };
        // If all values are zero, the axis would have no height.
        let range = if range.low < range.high { range } else { AxisRange { low: 0.0, high: 1.0 } };
        Self { logarithmic, range, unit, most_ticks }
    }

    /// Returns the place of a value, from 0 at the low end to 1 at the high end. A value beyond the axis gets the
    /// nearer end.
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
    pub fn value(&self, fraction: f64) -> f64 {
        let AxisRange { low, high } = self.range;
        match self.logarithmic {
            false => low + (high - low) * fraction,
            true => low * exp2(log2(high / low) * fraction),
        }
    }

    /// Returns whether a value lies on the axis.
    pub fn contains(&self, value: f64) -> bool {
        self.range.contains(value)
    }

    /// Returns the values that get a label, in ascending order.
    pub fn ticks(&self) -> Vec<f64> {
        let ticks = if self.logarithmic { ticks::logarithmic } else { ticks::linear };
        ticks(self.range, self.most_ticks, self.unit)
    }

    /// Returns the width of the widest label.
    pub fn widest(&self, width: &dyn Fn(&dyn Display) -> f64) -> f64 {
        self.ticks().into_iter().fold(0.0, |widest, tick| f64::max(widest, width(&self.label(tick))))
    }

    /// Returns the label of each tick and of the high end of the axis, and its place. Places, widths and the `gap` between
    /// two labels are columns or pixels; labels are centred at their places, and may reach to `right`. A label without
    /// room is left out, but not that of the end.
    pub fn labels(
        &self,
        [length, right, gap]: [f64; 3],
        width: &dyn Fn(&dyn Display) -> f64,
    ) -> Vec<(AxisLabel<'a>, f64)> {
        let (high, ticks) = (self.range.high, self.ticks());
        let is_end = named(self.unit).is_none() && high > self.range.low;
        // An end between two round numbers is written with three digits.
        let end = match self.unit {
            Unit::Plain(_) | Unit::Prefixed(_) if ticks.last() != Some(&high) => rounded(high, 3),
            _ => high,
        };
        let end = self.label(end);
        let wide = width(&end);
        let limit = if is_end { (length - wide / 2.0).min(right - wide) - gap } else { f64::INFINITY };
        let (mut free, mut labels) = (f64::NEG_INFINITY, Vec::new());
        for tick in ticks.into_iter().filter(|tick| !is_end || *tick < high) {
            let (label, place) = (self.label(tick), length * self.fraction(tick));
            let half = width(&label) / 2.0;
            if place - half >= free && place + half <= limit {
                free = place + half + gap;
                labels.push((label, place));
            }
        }
        if is_end {
            labels.push((end, length));
        }
        labels
    }

    /// Returns the label of a value.
    pub fn label(&self, value: f64) -> AxisLabel<'a> {
        AxisLabel(value, self.unit)
    }
}

/// Returns the range of named values, each in the middle of its own part of the axis.
fn named(unit: &Unit) -> Option<AxisRange> {
    match unit {
        Unit::Names(names) => Some(AxisRange { low: -0.5, high: names.len().real() - 0.5 }),
        _ => None,
    }
}

fn is_logarithmic(range: AxisRange, scale: Scale, unit: &Unit) -> bool {
    let wide = range.high / range.low >= LOGARITHMIC_FROM;
    range.low > 0.0 && named(unit).is_none() && (scale == Scale::Logarithmic || scale == Scale::Auto && wide)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UNIT: &Unit = &Unit::Plain("ns");

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
                    prop_assert!(axis.ticks().len() < 100);
                }
            }
        }
    }

    #[test]
    fn the_end_of_an_axis_is_labelled() {
        let labels = |low, high, unit: &Unit| {
            let axis = Mapped::horizontal(AxisRange { low, high }, Scale::Auto, unit, 6);
            let width = |shown: &dyn Display| crate::report::figures::width(shown) as f64;
            let labels = axis.labels([60.0, 60.0, 2.0], &width);
            let labels = labels.into_iter().map(|(label, place)| (std::format!("{label}"), place.round()));
            let labels: Vec<_> = labels.collect();
            std::format!("{labels:?}")
        };
        assert_eq!(
            labels(0.0, 8.0, &Unit::Count),
            r#"[("0", 0.0), ("2", 15.0), ("4", 30.0), ("6", 45.0), ("8", 60.0)]"#
        );
        let sizes = labels(16384.0, 128.0 * 1048576.0, &Unit::Bytes);
        assert!(sizes.ends_with(r#"("16 MiB", 46.0), ("128 MiB", 60.0)]"#), "{sizes}");
        let odd = labels(0.0, 113.2468, UNIT);
        assert!(odd.ends_with(r#"("100", 53.0), ("113", 60.0)]"#), "{odd}");
        let names = labels(0.0, 1.0, &Unit::Names(["a", "b"].map(Into::into).into()));
        assert_eq!(names, r#"[("a", 15.0), ("b", 45.0)]"#);
    }

    #[test]
    fn a_wide_range_is_logarithmic_and_a_narrow_one_starts_at_zero() {
        let wide = Mapped::vertical(AxisRange { low: 1.6, high: 118.0 }, Scale::Auto, UNIT, 6);
        assert_eq!(wide.range, AxisRange { low: 1.0, high: 200.0 });
        let narrow = Mapped::vertical(AxisRange { low: 85.0, high: 118.0 }, Scale::Auto, UNIT, 6);
        assert_eq!(narrow.range, AxisRange { low: 0.0, high: 120.0 });
        let fitted = |low| Mapped::vertical(AxisRange { low, high: 118.0 }, Scale::Fitted, UNIT, 6).range.low;
        assert_eq!((fitted(35.0), fitted(85.0)), (0.0, 80.0));
        let nothing = Mapped::vertical(AxisRange { low: 0.0, high: 0.0 }, Scale::Auto, UNIT, 6);
        assert_eq!(nothing.range, AxisRange { low: 0.0, high: 1.0 });
    }
}
