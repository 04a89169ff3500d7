//! Rates and other estimates for people, with their interval or half of its width.

use core::fmt::{self, Display};

use latency_core::stats::Interval;

use crate::report::figures::{Digits, decimals};
use latency_core::stats::Estimate;

/// Bytes in a gigabyte, the unit for people.
pub const GIGA: f64 = 1e9;

/// Bytes per second, shown in gigabytes per second.
pub struct Gigabytes(pub f64);

impl Display for Gigabytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        Digits(self.0 / GIGA).fmt(out)
    }
}

/// Returns a rate in gigabytes per second; NaN without a rate.
pub fn gigabytes(rate: Option<Estimate>) -> Gigabytes {
    Gigabytes(rate.map_or(f64::NAN, |rate| rate.value))
}

/// Half of an interval's width, if there is an interval.
pub struct Half(pub Option<Estimate>);

impl Display for Half {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.and_then(|rate| rate.interval) {
            Some(interval) => {
                let half = (interval.high - interval.low) / 2.0 / GIGA;
                write!(out, "±{:.*}", decimals(half, 1), half)
            }
            None => out.write_str("-"),
        }
    }
}

/// An interval of bandwidths, or an approximate value without one. Ends that look alike are shown as one number.
pub struct Within(pub Estimate);

impl Display for Within {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Relative width below which both ends may have the same three digits.
        const CLOSE: f64 = 0.005;
        let Estimate { value, interval } = self.0;
        match interval {
            None => out.write_str("about ")?,
            Some(Interval { low, high }) if high - low > CLOSE * high => {
                return write!(out, "{} to {} GB/s", Gigabytes(low), Gigabytes(high));
            }
            Some(_) => {}
        }
        write!(out, "{} GB/s", Gigabytes(value))
    }
}

/// Writes a share in whole percent.
pub fn percent(share: f64) -> impl Display {
    fmt::from_fn(move |out| write!(out, "{:.0}%", share * 100.0))
}

/// Writes an estimate with half of the width of its interval: `164 ± 12`.
pub fn plus_minus(estimate: Estimate) -> impl Display {
    fmt::from_fn(move |out| {
        write!(out, "{}", Digits(estimate.value))?;
        match estimate.interval {
            Some(interval) => {
                let half = (interval.high - interval.low) / 2.0;
                write!(out, " ± {:.*}", decimals(half, 2), half)
            }
            None => Ok(()),
        }
    })
}
