//! The range of the drawn values, and the values of an axis that get a tick.
//!
//! They are round: 1, 2 or 5 times a power of ten, or powers of two for quantities that come in powers of two. This
//! module does not compute their labels or their places.

use alloc::vec::Vec;

use latency_core::math::{ceil, exp2, floor, log2};

use crate::chart::{Unit, is_drawable};

const ROUND: DecadeDigits = DecadeDigits(&[1.0, 2.0, 5.0]);
/// The round numbers for axes of a decade or less: 1, 2 and 5 alone would give three ticks or fewer.
const FINE: DecadeDigits = DecadeDigits(&[1.0, 2.0, 3.0, 5.0, 7.0]);
/// The minimum number of ticks with which a logarithmic axis is easy to read.
const FEW: i64 = 4;
/// Possible distances of ticks on an axis of powers of two, in octaves. Four octaves give 16 KiB, 256 KiB, 4 MiB; ten
/// give 1 KiB, 1 MiB, 1 GiB.
const OCTAVES: [i64; 5] = [1, 2, 4, 10, 20];
/// The error up to which a value counts as a round one, as a fraction of the value or of the step.
const TOLERANCE: f64 = 1e-9;
/// Largest exponent of ten that is used; the range of a double is only a little larger.
const DECADES: i64 = 300;

/// Returns multiples of a round step. If the range is a single value, returns that value.
pub fn linear(range: AxisRange, most: usize, unit: &Unit) -> Vec<f64> {
    if range.low >= range.high {
        return Vec::from([range.low]);
    }
    // Each name has a tick.
    let most = if matches!(unit, Unit::Names(_)) { usize::MAX } else { most };
    let step = step_for(range.high - range.low, most, unit);
    let first = ceil(step.index(range.low) - TOLERANCE) as i64;
    let last = floor(step.index(range.high) + TOLERANCE) as i64;
    let mut ticks = Vec::new();
    (first..=last).for_each(|index| ticks.push(step.multiple(index as f64)));
    ticks
}

/// Returns powers of two for amounts and counts, and else round numbers of each decade. If the range is a single
/// value, returns that value.
///
/// Up to twice `most` round numbers are kept, because the next step, one per decade, gives too few.
pub fn logarithmic(range: AxisRange, most: usize, unit: &Unit) -> Vec<f64> {
    if range.low >= range.high {
        return Vec::from([range.low]);
    }
    let most = most.max(2) as i64;
    // Powers of two have no digits.
    let (first, last, stride, digits) = if matches!(unit, Unit::Bytes | Unit::Count) {
        // No double has a binary exponent outside this range; the logarithm of zero is infinite.
        const EXPONENTS: core::ops::RangeInclusive<i64> = -1100..=1100;
        let within = |index: f64| (index as i64).clamp(*EXPONENTS.start(), *EXPONENTS.end());
        let first = within(ceil(log2(range.low) - TOLERANCE));
        let last = within(floor(log2(range.high) + TOLERANCE));
        let fits = |stride: &i64| (last - first) / stride < most;
        (first, last, OCTAVES.into_iter().find(fits).unwrap_or(100), None)
    } else {
        let indices = |digits: DecadeDigits| (digits.index_above(range.low), digits.index_below(range.high));
        let (first, last) = indices(ROUND);
        let decades = (last - first).unsigned_abs() / ROUND.per_decade().unsigned_abs() + 1;
        if last - first + 1 < FEW {
            let (first, last) = indices(FINE);
            (first, last, 1, Some(FINE))
        } else if last - first >= 2 * most {
            (first, last, decades.div_ceil(most as u64) as i64 * ROUND.per_decade(), Some(ROUND))
        } else {
            (first, last, 1, Some(ROUND))
        }
    };
    let (mut ticks, mut index) = (Vec::new(), first + (-first).rem_euclid(stride));
    while index <= last {
        ticks.push(digits.map_or_else(|| exp2(index as f64), |digits| digits.step(index).multiple(1.0)));
        index += stride;
    }
    ticks
}

/// A distance of ticks: `digit` × 10^`decade`, kept apart so that 3 × 0.1 is 0.3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TickStep {
    digit: f64,
    decade: i64,
}

impl TickStep {
    fn multiple(self, index: f64) -> f64 {
        scaled(index * self.digit, self.decade)
    }

    fn index(self, value: f64) -> f64 {
        value / self.multiple(1.0)
    }

    /// Returns the next multiple at or below a value.
    pub fn below(self, value: f64) -> f64 {
        self.multiple(floor(self.index(value) + TOLERANCE))
    }

    /// Returns the next multiple at or above a value.
    pub fn above(self, value: f64) -> f64 {
        self.multiple(ceil(self.index(value) - TOLERANCE))
    }
}

/// Returns the smallest round step with which `most` steps or fewer span a range.
pub fn step_for(span: f64, most: usize, unit: &Unit) -> TickStep {
    let least = span / most.max(1) as f64;
    // An empty range has no step of its own.
    if least.is_nan() || least < f64::MIN_POSITIVE {
        return TickStep { digit: 1.0, decade: 0 };
    }
    match unit {
        Unit::Bytes => TickStep { digit: exp2(ceil(log2(least.max(1.0))).min(1000.0)), decade: 0 },
        // Counts are whole, and so are their steps.
        Unit::Count | Unit::Names(_) => ROUND.step(ROUND.index_above(least.max(1.0))),
        Unit::Plain(_) | Unit::Prefixed(_) => ROUND.step(ROUND.index_above(least)),
    }
}

/// Returns the next round number at or below a positive value.
pub fn round_below(value: f64) -> f64 {
    ROUND.step(ROUND.index_below(value)).multiple(1.0)
}

/// Returns the next round number at or above a positive value.
pub fn round_above(value: f64) -> f64 {
    ROUND.step(ROUND.index_above(value)).multiple(1.0)
}

/// The numbers of each decade that are ticks. The index of a tick counts all of them in order; the number 1 has index
/// 0.
#[derive(Clone, Copy, Debug)]
struct DecadeDigits(&'static [f64]);

impl DecadeDigits {
    fn per_decade(self) -> i64 {
        self.0.len() as i64
    }

    fn step(self, index: i64) -> TickStep {
        let digit = self.0.get(index.rem_euclid(self.per_decade()) as usize).copied().unwrap_or(1.0);
        TickStep { digit, decade: index.div_euclid(self.per_decade()) }
    }

    fn index_below(self, value: f64) -> i64 {
        // The search goes upwards, so it begins a decade lower to be safe.
        let decade = floor(log2(value) / core::f64::consts::LOG2_10) as i64;
        let mut index = (decade.clamp(-DECADES, DECADES) - 1) * self.per_decade();
        let limit = DECADES * self.per_decade();
        while index < limit && self.step(index + 1).multiple(1.0) <= value * (1.0 + TOLERANCE) {
            index += 1;
        }
        index
    }

    fn index_above(self, value: f64) -> i64 {
        let below = self.index_below(value);
        let exact = self.step(below).multiple(1.0) >= value * (1.0 - TOLERANCE);
        below + i64::from(!exact)
    }
}

/// Returns `value` times 10^`decade`, correctly rounded: powers of ten up to 10^22 are exact doubles, and their
/// inverses are not, so negative powers are divisions.
fn scaled(value: f64, decade: i64) -> f64 {
    let power = (0..decade.unsigned_abs()).fold(1.0, |power, _| power * 10.0);
    if decade < 0 { value / power } else { value * power }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    const NANOSECONDS: &Unit = &Unit::Plain("ns");

    #[test]
    fn linear_ticks_are_round() {
        let ticks = |low, high, most| linear(AxisRange { low, high }, most, NANOSECONDS);
        assert_eq!(ticks(0.0, 120.0, 6), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0, 120.0]);
        assert_eq!(ticks(0.0, 0.6, 6), [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]);
        assert_eq!(ticks(3.0, 48.0, 5), [10.0, 20.0, 30.0, 40.0]);
        assert_eq!(ticks(-30.0, 70.0, 5), [-20.0, 0.0, 20.0, 40.0, 60.0]);
    }

    #[test]
    fn ticks_of_counts_are_whole_and_of_bytes_powers_of_two() {
        let range = AxisRange { low: 0.0, high: 3.0 };
        assert_eq!(linear(range, 8, &Unit::Count), [0.0, 1.0, 2.0, 3.0]);
        let range = AxisRange { low: 0.0, high: 1000.0 };
        assert_eq!(linear(range, 4, &Unit::Bytes), [0.0, 256.0, 512.0, 768.0]);
    }

    #[test]
    fn logarithmic_ticks_thin_out() {
        let ticks = |low, high, most| logarithmic(AxisRange { low, high }, most, NANOSECONDS);
        assert_eq!(ticks(1.0, 200.0, 4), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0]);
        assert_eq!(ticks(60.0, 480.0, 8), [70.0, 100.0, 200.0, 300.0]);
        assert_eq!(ticks(0.5, 2000.0, 4), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(ticks(1.0, 1e12, 5), [1.0, 1e3, 1e6, 1e9, 1e12]);
        let ticks = |low, high, most| logarithmic(AxisRange { low, high }, most, &Unit::Bytes);
        assert_eq!(ticks(24.0, 400.0, 8), [32.0, 64.0, 128.0, 256.0]);
        assert_eq!(ticks(16.0, 2e6, 8), [16.0, 256.0, 4096.0, 65536.0, 1_048_576.0]);
        assert_eq!(ticks(48.0, 48.0, 8), [48.0]);
    }

    #[test]
    fn round_numbers_enclose_a_value() {
        for (value, below, above) in
            [(1.0, 1.0, 1.0), (1.6, 1.0, 2.0), (0.3, 0.2, 0.5), (999.0, 500.0, 1000.0)]
        {
            assert_eq!((round_below(value), round_above(value)), (below, above), "{value}");
        }
    }
}
