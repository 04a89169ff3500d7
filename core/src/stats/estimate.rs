//! A number with its uncertainty, and the uncertainty of a ratio of two numbers.

use super::{Interval, Summary};
use crate::math::sqrt;

/// A value and its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// The 95 % interval; `None` if there are too few samples, or if the samples do not bound the value.
    pub interval: Option<Interval>,
}

/// The side of 1 on which a ratio lies, to the extent that its interval determines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Above: the whole interval lies above 1, and the value exceeds 1 by more than the relevant factor.
    Above,
    /// Below: the whole interval lies below 1, and the value is below 1 by more than the relevant factor.
    Below,
    /// Near: the whole interval differs from 1 by no more than the relevant factor.
    Near,
    /// Open: the interval allows several of these answers, or there is no interval.
    Open,
}

impl Estimate {
    /// Returns an estimate for an exactly known value.
    pub const fn exact(value: f64) -> Estimate {
        Estimate { value, interval: Some(Interval { low: value, high: value }) }
    }

    /// Returns the interval; if there is none, the interval of all numbers.
    pub fn bounds(&self) -> Interval {
        self.interval.unwrap_or(Interval { low: f64::NEG_INFINITY, high: f64::INFINITY })
    }

    /// Returns half of the width of the interval, as a fraction of the value.
    pub fn half(&self) -> Option<f64> {
        let half = self.interval.map(|Interval { low, high }| (high - low) / 2.0 / self.value);
        half.filter(|half| half.is_finite())
    }

    /// Returns the side of 1 on which a ratio lies; a difference by less than the factor `near` does not count.
    ///
    /// Every printed sentence with a comparison (faster, slower, equal, worthwhile) is derived from this result, so
    /// that a sentence never contradicts the printed interval.
    pub fn side(self, near: f64) -> Side {
        let Some(Interval { low, high }) = self.interval else { return Side::Open };
        match () {
            () if low * near >= 1.0 && high <= near => Side::Near,
            () if low > 1.0 && self.value >= near => Side::Above,
            () if high < 1.0 && self.value * near <= 1.0 => Side::Below,
            () => Side::Open,
        }
    }

    /// Returns the ratio of two independent estimates; `None` if the ratio is not a number.
    ///
    /// The relative distances from the value to the ends of the interval, for the numerator and for the reciprocal of
    /// the denominator, are combined as the square root of the sum of their squares.
    ///
    /// # References
    ///
    /// Zou & Donner, "Construction of confidence limits about effect measures: a general approach" (2008).
    pub fn over(self, other: Estimate) -> Option<Estimate> {
        let value = self.value / other.value;
        let combined = |one: f64, two: f64| sqrt(one * one + two * two);
        let interval = self.interval.zip(other.interval).map(|(mine, theirs)| {
            let down = combined(1.0 - mine.low / self.value, 1.0 - other.value / theirs.high);
            let up = combined(mine.high / self.value - 1.0, other.value / theirs.low - 1.0);
            Interval { low: value * (1.0 - down).max(0.0), high: value * (1.0 + up) }
        });
        value.is_finite().then_some(Estimate { value, interval })
    }

    /// Returns the difference to another value, with the widest interval that both intervals allow.
    #[must_use]
    pub fn less(self, other: Estimate) -> Estimate {
        let ends = self.interval.zip(other.interval);
        let interval =
            ends.map(|(own, other)| Interval { low: own.low - other.high, high: own.high - other.low });
        Estimate { value: self.value - other.value, interval }
    }

    /// Returns the estimate multiplied by `share`.
    #[must_use]
    pub fn scaled(self, share: f64) -> Estimate {
        let of = |Interval { low, high }| Interval { low: low * share, high: high * share };
        Estimate { value: self.value * share, interval: self.interval.map(of) }
    }

    /// Returns true if this estimate is larger and the intervals do not overlap; if an interval is missing, true if
    /// the value is larger by more than a ninth.
    pub fn is_beyond(self, other: Estimate) -> bool {
        /// Minimum ratio of two values without intervals, such as the bandwidth of half of all cores and of all cores,
        /// for the first to be larger beyond doubt.
        const SHOWN: f64 = 1.0 / 0.9;
        match (self.interval, other.interval) {
            (Some(own), Some(others)) => own.low > others.high,
            _ => self.value > SHOWN * other.value,
        }
    }
}

/// Converts a summary to its median, with the interval if there are enough samples.
impl From<Summary> for Estimate {
    fn from(summary: Summary) -> Estimate {
        Estimate { value: summary.median, interval: summary.interval }
    }
}

impl From<f64> for Estimate {
    fn from(value: f64) -> Estimate {
        Estimate { value, interval: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn estimate(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { value, interval: Some(Interval { low, high }) }
    }

    #[test]
    fn a_ratio_is_less_certain_than_either_of_its_parts() {
        let ratio = estimate(200.0, 194.0, 206.0).over(estimate(100.0, 100.0 / 1.04, 100.0 / 0.96)).unwrap();
        let Interval { low, high } = ratio.interval.unwrap();
        assert_eq!(ratio.value, 2.0);
        assert!((low - 1.9).abs() < 1e-9 && (high - 2.1).abs() < 1e-9, "{low} {high}");
        // A time is never negative, even if the other estimate is very uncertain.
        let ratio = estimate(200.0, 10.0, 390.0).over(estimate(100.0, 50.0, 900.0)).unwrap();
        assert!(ratio.interval.unwrap().low >= 0.0);
        // An exact denominator adds no uncertainty.
        let ratio = estimate(200.0, 190.0, 220.0).over(estimate(100.0, 100.0, 100.0)).unwrap();
        let Interval { low, high } = ratio.interval.unwrap();
        assert!((low - 1.9).abs() < 1e-9 && (high - 2.2).abs() < 1e-9, "{low} {high}");
    }

    #[test]
    fn a_ratio_needs_two_intervals_for_an_interval_and_a_valid_divisor() {
        let known = estimate(2.0, 1.0, 3.0);
        assert_eq!(known.over(4.0.into()), Some(Estimate { value: 0.5, interval: None }));
        assert_eq!(known.over(0.0.into()), None);
        assert_eq!(known.over(f64::NAN.into()), None);
    }

    proptest! {
        // A statement about a ratio is true for every value in the ratio's interval.
        #[test]
        fn no_side_is_contradicted_by_its_interval(
            value in 0.2..5.0,
            (down, up) in (0.0..0.9, 0.0..4.0),
            near in 1.0..1.5,
            has_interval: bool,
        ) {
            let interval = Interval { low: value * (1.0 - down), high: value * (1.0 + up) };
            let ratio = Estimate { value, interval: has_interval.then_some(interval) };
            match ratio.side(near) {
                Side::Above => prop_assert!(has_interval && interval.low > 1.0),
                Side::Below => prop_assert!(has_interval && interval.high < 1.0),
                Side::Near => prop_assert!(has_interval && interval.low * near >= 1.0 && interval.high <= near),
                Side::Open => {}
            }
        }

        // The inverse ratio of the same two times lies on the other side.
        #[test]
        fn sides_change_with_the_order_of_the_two_times(
            (one, other) in (1.0..200.0, 1.0..200.0),
            (first, second) in (0.0..0.2, 0.0..0.2),
        ) {
            let of = |value: f64, half: f64| Estimate {
                value,
                interval: Some(Interval { low: value * (1.0 - half), high: value * (1.0 + half) }),
            };
            let (one, other) = (of(one, first), of(other, second));
            let sides = one.over(other).unwrap().side(1.02);
            let swapped = other.over(one).unwrap().side(1.02);
            let contradict = matches!(sides, Side::Above) && matches!(swapped, Side::Above | Side::Near)
                || matches!(sides, Side::Below) && matches!(swapped, Side::Below | Side::Near);
            prop_assert!(!contradict, "{sides:?} and {swapped:?}");
        }
    }

    #[test]
    fn a_ratio_without_an_interval_is_open() {
        assert_eq!(Estimate::from(40.0).side(1.02), Side::Open);
        let broken = Interval { low: f64::NAN, high: f64::NAN };
        assert_eq!(Estimate { value: 40.0, interval: Some(broken) }.side(1.02), Side::Open);
    }
}
