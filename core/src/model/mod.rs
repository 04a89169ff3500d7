//! The memory hierarchy from a curve of latency against working set.
//!
//! There are three ways to read the curve, from the simplest to the one with the strongest assumptions:
//!
//! * [`plateau`]: the latency of a level is the median of the points on its flat part.
//! * [`fit_stair`]: steps with the places and shapes that follow the points best. It gives the size of each level,
//!   and decides the number of levels.
//! * [`fit_mixture`] and [`fit_reported`]: the mean of the levels' latencies, weighted by the share of the working set
//!   in each level, with free sizes and with the sizes that the system reports.
//!
//! The stair and the mixture have one form:
//!
//! ```text
//! L(S) = l1 + sum over levels k of  D_k * m_k(S)
//! ```
//!
//! Here `l1` is the latency of the innermost level, `D_k >= 0` the step from level k to the next outer level, and
//! `m_k` the share of accesses that miss in level k. The two models differ only in `m_k`:
//!
//! | model | `m_k(S)`, `x = S / C_k` | valid for |
//! | --- | --- | --- |
//! | mixture | 0 up to `C_k`, then `1 - 1/x` | the resident part is a random share of the working set |
//! | stair | a [`curve::Law`]: a place, a width and a shape | a cyclic chain in a cache |
//!
//! With `D_k = l_(k+1) - l_k` the mixture reads `[min(S,C1) l1 + (min(S,C2) - min(S,C1)) l2 + …] / S`.
//! For given capacities and shapes the latencies are a small non-negative linear problem, so
//! that only capacities and shapes are searched ("variable projection").
//!
//! Nothing here measures or queries the system; the input is only points. The step of a translation
//! buffer looks like the step of a cache; [`fit`] distinguishes them. [`refine`] chooses
//! the size to measure next, and [`edge`] finds the exact size of the first level.
//!
//! # References
//!
//! The mixture: S. Slotin, "Algorithms for Modern Hardware", chapter "Memory Latency";
//! M. Mesiti, "Introduction to performance engineering" (Julia course), which fits it.
//! The projection: G. Golub, V. Pereyra, "The differentiation of pseudo-inverses and
//! nonlinear least squares problems whose variables separate" (1973).

pub mod curve;
pub mod edge;
pub mod fit;
mod least_squares;
pub mod plateau;
pub mod refine;
mod robust;
mod search;
mod select;
mod uncertainty;
mod workspace;

pub use fit::{Cause, Fit, Level, TranslationStep};
pub use select::{fit_mixture, fit_reported, fit_stair};
pub use workspace::{FitError, MAX_LEVELS, MAX_POINTS, Point, Workspace};
