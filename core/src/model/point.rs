//! The points of a curve, and the reasons why points cannot be fitted.

use core::fmt;

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
    #[must_use]
    pub const fn new(working_set: f64, latency: f64) -> Self {
        Self { working_set, latency, spread: 0.0 }
    }
}

/// The reason why points could not be fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FitError {
    /// There are fewer different working sets than the model has parameters.
    TooFewPoints {
        /// The number of different working sets that the model needs.
        needed: usize,
        /// The number of different working sets among the points.
        found: usize,
    },
    /// More than [`MAX_POINTS`] points.
    TooManyPoints {
        /// The number of points.
        found: usize,
    },
    /// A working set or latency is outside the valid range (1e-9 to 1e18), or a spread is negative
    /// or not a number.
    InvalidPoint {
        /// The position of the first invalid point.
        index: usize,
    },
    /// A given capacity or reach is outside the valid range.
    InvalidCapacity {
        /// The position of the first invalid capacity; 0 for a reach.
        index: usize,
    },
    /// The caller stopped the search.
    Stopped,
    /// More than [`MAX_LEVELS`] levels were requested.
    TooManyLevels {
        /// The number of levels that were requested.
        found: usize,
    },
}

impl fmt::Display for FitError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            FitError::TooFewPoints { needed, found } => {
                write!(out, "{found} different working sets are too few (the model needs {needed})")
            }
            FitError::TooManyPoints { found } => {
                write!(out, "{found} points are too many (at most {MAX_POINTS})")
            }
            FitError::InvalidPoint { index } => {
                write!(out, "point {} has no positive, finite size and latency", index + 1)
            }
            FitError::InvalidCapacity { index } => {
                write!(out, "capacity {} is not a positive, finite size", index + 1)
            }
            FitError::Stopped => {
                out.write_str("interrupted; `latency-bench fit FILE` fits the points of a saved result")
            }
            FitError::TooManyLevels { found } => {
                write!(out, "{found} levels are too many (at most {MAX_LEVELS})")
            }
        }
    }
}

/// Returns true if a size or latency is in the valid range, in which the intermediate products and
/// ratios neither overflow nor underflow.
pub(super) fn is_reasonable(value: f64) -> bool {
    (1e-9..=1e18).contains(&value)
}
