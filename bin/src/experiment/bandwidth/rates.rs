//! Rates as people read them: in GB/s, with half of their interval.

use core::fmt;

use latency_core::decimal::Decimal;

use crate::analysis::traffic::Rate;
use crate::report::figures::{decimals, Digits};

/// Bytes in the unit that people use.
pub const GIGA: f64 = 1e9;

/// Writes a rate in gigabytes.
pub fn gigabytes(rate: Option<Rate>) -> Digits {
    Digits(rate.map_or(f64::NAN, |rate| rate.value / GIGA))
}

/// Half of an interval's width, where there is one.
pub struct Half(pub Option<Rate>);

impl fmt::Display for Half {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.and_then(|rate| rate.interval) {
            Some(interval) => {
                let half = (interval.high - interval.low) / 2.0 / GIGA;
                write!(out, "+-{:.*}", decimals(half, 1), Decimal(half))
            }
            None => out.write_str("-"),
        }
    }
}
