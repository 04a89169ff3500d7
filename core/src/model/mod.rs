//! The memory hierarchy from a curve of latency against working set.
//!
//! There are three readings, from the simplest to the one that assumes most:
//!
//! * [`plateau`]: the latency of a level is the middle of the points on its flat part.
//! * [`fit_stair`]: steps at the places and with the shapes that follow the points best. It gives the end of each
//!   level, and decides the number of levels.
//! * [`fit_mixture`] and [`fit_reported`]: the mixture over levels, weighted by the share of the working set in each,
//!   with free sizes and with those that the system reports.
//!
//! The stair and the mixture have one form:
//!
//! ```text
//! L(S) = l1 + sum over levels k of  D_k * m_k(S)
//! ```
//!
//! Here `l1` is the latency of the innermost level, `D_k >= 0` the step from level k to
//! the next one out, and `m_k` the share of accesses that miss in level k. They differ only in `m_k`:
//!
//! | model | `m_k(S)`, `x = S / C_k` | right for |
//! | --- | --- | --- |
//! | mixture | 0 up to `C_k`, then `1 - 1/x` | the resident part is a random share of the working set |
//! | stair | a [`law::Law`]: a place, a width and a shape | a cyclic chain in a cache |
//!
//! With `D_k = l_(k+1) - l_k` the mixture reads `[min(S,C1) l1 + (min(S,C2) - min(S,C1)) l2 + …] / S`.
//! For given capacities and shapes the latencies are a small non-negative linear problem, so
//! that only capacities and shapes are searched ("variable projection").
//!
//! Nothing here measures or asks the system; it only sees points.
//! A translation buffer's step looks like a cache's; [`translation`] distinguishes them.
//! [`refine`] chooses the size to measure next, [`edge`] finds the first level exactly.
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
pub mod plateau;
mod point;
pub mod refine;
mod robust;
mod search;
mod select;
pub mod translation;
mod uncertainty;
mod workspace;

pub use fit::{Cause, Fit, Level, TranslationStep};
pub use point::{FitError, MAX_LEVELS, MAX_POINTS, Point};
pub use select::{fit_mixture, fit_reported, fit_stair};
pub use workspace::Workspace;
