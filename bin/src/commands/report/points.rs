//! Saved points: their values, units and distinguishing fields.

use crate::analysis::traffic::bytes_per_line;
use crate::result::row::{Row, FIELDS};

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

/// Returns the fields that distinguish the points of a file, one bit for each.
pub fn differing(rows: &[Row]) -> u32 {
    let differs =
        |field: &usize| rows.windows(2).any(|two| matches!(two, [one, other] if !one.agrees(other, *field)));
    (0..FIELDS.len()).filter(differs).fold(0, |all, field| all | 1 << field)
}
