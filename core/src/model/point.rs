//! The points of a curve, and the reasons why points cannot be fitted.

use crate::messages;

/// Maximum number of points of a fit.
pub const MAX_POINTS: usize = 512;

/// Maximum number of levels of a fit, without the memory.
pub const MAX_LEVELS: usize = 6;

/// One measured point of a curve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Point {
    /// The working set in bytes.
    pub working_set: f64,
    /// The latency of one access, in any unit; the fit returns latencies in the same unit.
    pub latency: f64,
    /// The spread of repeated measurements of the point, as a share of its latency; 0 if unknown.
    /// Points with a larger spread have less weight.
    pub spread: f64,
}

impl Point {
    /// Returns a point of unknown spread.
    pub const fn new(working_set: f64, latency: f64) -> Self {
        Self { working_set, latency, spread: 0.0 }
    }
}

messages! {
    /// The reason why points could not be fitted.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FitError {
        /// There are fewer different working sets than the model has parameters.
        TooFewPoints { needed: usize, found: usize } =>
            "{found} different working sets are too few (the model needs {needed})";
        /// More than [`MAX_POINTS`] points.
        TooManyPoints { found: usize } => "{found} points are too many (at most {MAX_POINTS})";
        /// A working set or latency is outside the valid range (1e-9 to 1e18), or a spread is negative or not a number.
        /// `index` is the position of the first invalid point.
        InvalidPoint { index: usize } => "point {number} has no positive, finite size and latency";
            where number = index + 1;
        /// A given capacity or reach is outside the valid range. `index` is the position of the first invalid capacity,
        /// and 0 for a reach.
        InvalidCapacity { index: usize } => "capacity {number} is not a positive, finite size";
            where number = index + 1;
        /// The caller stopped the search.
        Stopped => "interrupted; `latency-bench fit FILE` fits the points of a saved result";
        /// More than [`MAX_LEVELS`] levels were requested.
        TooManyLevels { found: usize } => "{found} levels are too many (at most {MAX_LEVELS})";
    }
}

/// Returns true if a size or latency is in the valid range, in which the intermediate products and
/// ratios neither overflow nor underflow.
pub(super) fn is_reasonable(value: f64) -> bool {
    (1e-9..=1e18).contains(&value)
}
