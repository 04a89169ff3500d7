//! Values that may be absent, and with how many decimals numbers are written.

use core::fmt::{self, Write};

use latency_core::json::Writer;
use latency_core::stats::Interval;

/// Decimals of times and cycles.
pub const DECIMALS: usize = 3;

/// A document under way.
pub type Json<'o> = Writer<&'o mut dyn Write>;

/// Writes the value, or null.
///
/// # Errors
///
/// Those of the writer.
pub fn optional(json: &mut Json<'_>, value: Option<f64>, digits: usize) -> fmt::Result {
    match value {
        Some(value) => json.decimal(value, digits),
        None => json.null(),
    }
}

/// Writes both ends, or null.
///
/// # Errors
///
/// Those of the writer.
pub fn interval(json: &mut Json<'_>, interval: Option<Interval>) -> fmt::Result {
    match interval {
        Some(interval) => {
            json.begin_array()?;
            json.decimal(interval.low, DECIMALS)?;
            json.decimal(interval.high, DECIMALS)?;
            json.end_array()
        }
        None => json.null(),
    }
}
