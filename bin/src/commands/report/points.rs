//! Saved points: their values and units.

use crate::analysis::traffic::bytes_per_line;
use crate::result::row::Row;

/// Returns the value of a point: nanoseconds, or GB/s for traffic.
pub fn value(row: &Row) -> f64 {
    let ns = row.sample.nanoseconds;
    row.traffic().map_or(ns, |kind| bytes_per_line(kind) / ns)
}

/// The unit of values of several kinds.
pub const SEVERAL: &str = "ns or GB/s";

/// Returns the unit of all values of a file; [`SEVERAL`] if they are of several kinds.
pub fn unit(rows: &[Row]) -> &'static str {
    match rows.iter().filter(|row| row.traffic().is_some()).count() {
        0 => "ns",
        count if count == rows.len() => "GB/s",
        _ => SEVERAL,
    }
}
