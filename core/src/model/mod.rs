//! The memory hierarchy read out of a curve of latency against working set.
//!
//! Every model here has the same form,
//!
//! ```text
//! L(S) = l1 + sum over levels k of  D_k * m_k(S)
//! ```
//!
//! where `l1` is the latency of the innermost level, `D_k >= 0` the step from level k to
//! the next one out, and `m_k` the share of accesses that miss in level k. The models
//! differ in `m_k` alone:
//!
//! | model | `m_k(S)`, `x = S / C_k` | right for |
//! | --- | --- | --- |
//! | classic | 0 up to `C_k`, then `1 - 1/x` | what remains resident is a random share of the working set |
//! | Hill | `x^s / (1 + x^s)`, a stair in log S | cyclic chains in real caches: `s` takes up policy and page colour |
//! | laws | of least-recently-used and random replacement, [`law`] | a cyclic chain in caches that follow one |
//!
//! The classic form is the mixture over levels by share of the working set: with
//! `D_k = l_(k+1) - l_k` it reads `[min(S,C1) l1 + (min(S,C2) - min(S,C1)) l2 + …] / S`.
//! For given capacities and shapes the latencies are a small non-negative linear problem, so
//! that only capacities and shapes are searched ("variable projection").
//!
//! Nothing here measures or asks the system; it sees points and says what they support.
//! A translation buffer's step looks like a cache's; [`translation`] tells them apart.
//! [`refine`] says which size to measure next, [`edge`] finds the first level exactly.
//!
//! # References
//!
//! The mixture: S. Slotin, "Algorithms for Modern Hardware", chapter "Memory Latency";
//! M. Mesiti, "Introduction to performance engineering" (Julia course), which fits it.
//! The projection: G. Golub, V. Pereyra, "The differentiation of pseudo-inverses and
//! nonlinear least squares problems whose variables separate" (1973).

mod curve;
pub mod edge;
mod fit;
pub mod law;
mod least_squares;
pub mod refine;
mod robust;
mod search;
mod select;
mod simplex;
mod stairs;
pub mod translation;
mod uncertainty;
mod workspace;

use core::fmt;

pub use fit::{Estimate, Fit, FitKind, Level, TranslationStep};
pub use select::{fit_classic, fit_classic_fixed, fit_hill, fit_laws};
pub use workspace::Workspace;

/// The most points that one fit takes.
pub const MAX_POINTS: usize = 512;

/// The most levels, without the memory behind them, that one fit returns.
pub const MAX_LEVELS: usize = 6;

/// One measured point of a curve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Point {
    /// The working set in bytes.
    pub working_set: f64,
    /// The latency of one access, in any unit: the fit answers in the same one.
    pub latency: f64,
    /// How far repeated measurements of the point lie apart, as a share of its latency;
    /// 0 if not known. Points that scatter count for less.
    pub spread: f64,
}

impl Point {
    /// A point whose spread is not known.
    #[must_use]
    pub const fn new(working_set: f64, latency: f64) -> Self {
        Self { working_set, latency, spread: 0.0 }
    }
}

/// How many levels a fit has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelCount {
    /// Just so many, whether or not the points support them.
    Exactly(usize),
    /// As many as the points support: the smallest Bayesian information criterion among
    /// the numbers at which every level is [resolved](Level::resolved).
    Chosen,
}

/// Why points could not be fitted.
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
        /// How many there were.
        found: usize,
    },
    /// A working set or latency that is not a positive number within reason (1e-9 to 1e18),
    /// or a spread that is not a number from 0 up.
    InvalidPoint {
        /// The position of the first such point.
        index: usize,
    },
    /// A given capacity or reach that is not a positive number within reason.
    InvalidCapacity {
        /// The position of the first such capacity; 0 for a reach.
        index: usize,
    },
    /// More than [`MAX_LEVELS`] levels were asked for.
    TooManyLevels {
        /// How many were asked for.
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
            FitError::TooManyLevels { found } => {
                write!(out, "{found} levels are too many (at most {MAX_LEVELS})")
            }
        }
    }
}

/// Whether a size or latency is one that the arithmetic can carry: products and ratios of
/// a few hundred such numbers neither overflow nor vanish.
fn is_reasonable(value: f64) -> bool {
    (1e-9..=1e18).contains(&value)
}
