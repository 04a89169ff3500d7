//! Saved points: the value of each, its unit, and what tells one from another.

use crate::analysis::traffic::bytes_per_line;
use crate::result::row::{Row, FIELDS};

/// The value of a point: nanoseconds, or GB/s where it is traffic.
pub fn value(row: &Row) -> f64 {
    let ns = row.sample.nanoseconds;
    row.traffic().map_or(ns, |kind| bytes_per_line(kind) / ns)
}

/// The unit of values of several kinds.
pub const SEVERAL: &str = "ns or GB/s";

/// The unit of all values of a file; none where they are of several kinds.
pub fn unit(rows: &[Row]) -> &'static str {
    match rows.iter().filter(|row| row.traffic().is_some()).count() {
        0 => "ns",
        count if count == rows.len() => "GB/s",
        _ => SEVERAL,
    }
}

/// The fields that tell the points of a file apart, one bit for each.
pub fn differing(rows: &[Row]) -> u32 {
    let differs =
        |field: &usize| rows.windows(2).any(|two| matches!(two, [one, other] if !one.agrees(other, *field)));
    (0..FIELDS.len()).filter(differs).fold(0, |all, field| all | 1 << field)
}
