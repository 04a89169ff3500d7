//! A number with its uncertainty, and what becomes of that in a ratio.

use latency_core::math::sqrt;
use latency_core::stats::{Interval, Summary};

use crate::result::Outcome;

/// A value and its 95 % confidence interval, where there were enough rounds for one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Its interval.
    pub interval: Option<Interval>,
}

impl Estimate {
    /// Returns the latency of a point; `None` where it was not measured.
    #[must_use]
    pub fn of(outcome: &Outcome<'_>) -> Option<Estimate> {
        outcome.result.as_ref().ok().map(|measured| measured.series.nanoseconds.into())
    }

    /// Returns the ratio of two independent estimates; `None` where it is no number.
    ///
    /// The relative distances to the ends of the one interval and of the other's reciprocal are combined as the
    /// square root of the sum of their squares.
    ///
    /// # References
    ///
    /// Zou & Donner, "Construction of confidence limits about effect measures: a general approach" (2008).
    #[must_use]
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
}

impl Estimate {
    /// Returns whether this is larger beyond both intervals; where one of them is missing, by a ninth of the other.
    #[must_use]
    pub fn is_beyond(self, other: Estimate) -> bool {
        /// Half of all cores that deliver more than this times as much as all are beyond doubt.
        const SHOWN: f64 = 1.0 / 0.9;
        match (self.interval, other.interval) {
            (Some(own), Some(others)) => own.low > others.high,
            _ => self.value > SHOWN * other.value,
        }
    }
}

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

    fn estimate(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { value, interval: Some(Interval { low, high }) }
    }

    #[test]
    fn a_ratio_is_less_certain_than_either_of_its_parts() {
        let ratio = estimate(200.0, 194.0, 206.0).over(estimate(100.0, 100.0 / 1.04, 100.0 / 0.96)).unwrap();
        let Interval { low, high } = ratio.interval.unwrap();
        assert_eq!(ratio.value, 2.0);
        assert!((low - 1.9).abs() < 1e-9 && (high - 2.1).abs() < 1e-9, "{low} {high}");
        // However uncertain the other is, a time is no less than nothing.
        let ratio = estimate(200.0, 10.0, 390.0).over(estimate(100.0, 50.0, 900.0)).unwrap();
        assert!(ratio.interval.unwrap().low >= 0.0);
        // Nothing is added where one part is certain.
        let ratio = estimate(200.0, 190.0, 220.0).over(estimate(100.0, 100.0, 100.0)).unwrap();
        let Interval { low, high } = ratio.interval.unwrap();
        assert!((low - 1.9).abs() < 1e-9 && (high - 2.2).abs() < 1e-9, "{low} {high}");
    }

    #[test]
    fn without_an_interval_there_is_none_and_over_nothing_there_is_no_ratio() {
        let known = estimate(2.0, 1.0, 3.0);
        assert_eq!(known.over(4.0.into()), Some(Estimate { value: 0.5, interval: None }));
        assert_eq!(known.over(0.0.into()), None);
        assert_eq!(known.over(f64::NAN.into()), None);
    }
}
