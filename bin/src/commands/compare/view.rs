//! The data that `compare` shows about the two sides.

use latency_core::text::Text;

use crate::analysis::comparison::{Comparison, DifferingPart, Files, Join};
use crate::error::Regression;
use crate::options::Options;
use crate::saved;

/// The name of the trust among the conditions, and the words for a side without a poor result.
pub const TRUST: &str = "trust";
pub const NOT_POOR: &str = "not poor";

/// A condition that differs between the sides.
#[derive(Clone, Copy)]
pub struct Differs {
    /// Its name for programs.
    pub what: &'static str,
    /// Its name for people.
    pub words: &'static str,
    /// Its values on both sides.
    pub sides: [Text<128>; 2],
    /// True if it forbids a verdict.
    pub blocks: bool,
}

/// The data that `compare` shows about the two sides.
pub struct ComparisonView<'v> {
    /// The files of both sides.
    pub files: Files<'v>,
    /// The paths of both sides.
    pub paths: [&'v [&'v [u8]]; 2],
    /// The experiment of both sides; empty if it is unknown.
    pub experiment: &'v str,
    /// The comparison.
    pub comparison: &'v Comparison,
    /// The conditions that differ.
    pub differs: &'v [Differs],
    /// True if there is a verdict: the conditions are alike, or the user forces one.
    pub judged: bool,
    /// The median of the ratios B/A.
    pub median: f64,
    /// The options.
    pub options: &'v Options<'v>,
    /// Number of points of each side that are left out because they lack the requested value.
    pub without: [usize; 2],
    /// Number of values of other quantities in the first file of each side, which are left out.
    pub left_out: [usize; 2],
    /// True if memory without address translation is compared.
    pub of_memory: bool,
    /// The fields by which points are joined.
    pub join: Join,
    /// For each side, true if a point tells memory and address translation apart.
    pub parts_of: [bool; 2],
    /// The outcome, if B is slower.
    pub regression: Option<Regression>,
    /// The median difference of the faster points, if there are any.
    pub faster_by: Option<f64>,
    /// The median difference of the points without a verdict.
    pub others_by: Option<f64>,
    /// The parts that are slower and faster.
    pub parts: [&'v [DifferingPart<'v>]; 2],
}

/// Returns the name of the first file of a side.
pub fn first_name(paths: &[&[u8]]) -> Text<256> {
    saved::shown(paths.first().copied().unwrap_or_default())
}
