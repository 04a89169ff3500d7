//! How rates of traffic are written for people.

use core::fmt::{self, Display};

use latency_core::decimal::Trimmed;
use latency_core::stats::Interval;

use crate::analysis::estimate::Estimate;
use crate::report::figures::Digits;

/// Bytes in the unit that people use.
pub const GIGA: f64 = 1e9;

/// An interval of bandwidths, or about where it is. What differs less than is shown is one number.
pub struct Within(pub Estimate);

impl Display for Within {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Three digits of such ends may be the same.
        const CLOSE: f64 = 0.005;
        match self.0.interval {
            None => write!(out, "about {} GB/s", Digits(self.0.value / GIGA)),
            Some(Interval { low, high }) if high - low > CLOSE * high => {
                write!(out, "{} to {} GB/s", Digits(low / GIGA), Digits(high / GIGA))
            }
            Some(_) => write!(out, "{} GB/s", Digits(self.0.value / GIGA)),
        }
    }
}

/// A multiple of the lowest latency of a curve: `2 x idle`, or of nanoseconds where idle memory is slower than that.
pub struct Multiple(pub f64, pub Option<f64>);

impl Display for Multiple {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(lowest) => write!(out, "{} x {} ns", Trimmed(self.0), Digits(lowest)),
            None => write!(out, "{} x idle", Trimmed(self.0)),
        }
    }
}

/// A number of cores as the subject of "deliver".
pub struct CoresDeliver(pub u32);

impl Display for CoresDeliver {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => out.write_str("1 core delivers"),
            count => write!(out, "{count} cores deliver"),
        }
    }
}
