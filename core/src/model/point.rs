//! The points of a curve, and the reasons why some cannot be fitted.

use core::fmt;

/// Maximum number of points of a fit.
pub const MAX_POINTS: usize = 512;

/// Maximum number of levels of a fit, without the memory behind them.
pub const MAX_LEVELS: usize = 6;

/// One measured point of a curve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Point {
    /// The working set in bytes.
    pub working_set: f64,
    /// The latency of one access, in any unit: the fit uses the same one.
    pub latency: f64,
    /// The spread of repeated measurements of the point, as a share of its latency;
    /// 0 if unknown. Points that scatter have less weight.
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
    /// Fewer different working sets than the model has parameters.
    TooFewPoints {
        /// The different working sets that the model needs.
        needed: usize,
        /// The different working sets among the points.
        found: usize,
    },
    /// More than [`MAX_POINTS`] points.
    TooManyPoints {
        /// The number of points.
        found: usize,
    },
    /// A working set or latency that is not a positive number within reason (1e-9 to 1e18),
    /// or a spread that is not a number from 0 up.
    InvalidPoint {
        /// The position of the first invalid point.
        index: usize,
    },
    /// A given capacity or reach that is not a positive number within reason.
    InvalidCapacity {
        /// The position of the first invalid capacity; 0 for a reach.
        index: usize,
    },
    /// The caller stopped the search.
    Stopped,
    /// More than [`MAX_LEVELS`] levels were asked for.
    TooManyLevels {
        /// The number of levels asked for.
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

/// Returns whether a size or latency is within reason: products and ratios of
/// a few hundred of these numbers neither overflow nor vanish.
pub(super) fn is_reasonable(value: f64) -> bool {
    (1e-9..=1e18).contains(&value)
}
