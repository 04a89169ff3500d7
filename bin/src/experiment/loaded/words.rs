//! Words for levels of a load.

use core::fmt::{self, Display};

use latency_core::decimal::Trimmed;

use crate::report::figures::Digits;

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
