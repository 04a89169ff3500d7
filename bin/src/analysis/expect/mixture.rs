//! The mixture of levels at a working set: the share of the lines that each level holds, times its latency, plus the cost
//! of translation.
//!
//! It explains an expected latency; the measured points around the size give its value.

use latency_core::math::ToReal;
use latency_core::model::{Fit, MAX_POINTS, Point, Workspace, fit_mixture};
use latency_core::units::Bytes;

use crate::analysis::tlb::{TlbLevels, knees};
use crate::result::sample::{Samples, collect};

/// Share of memory from which on a working set counts as one in memory: a cache serves at most a quarter of the loads.
const MOSTLY: f64 = 0.75;
/// A term of the sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The part of a load that it describes: `level`, `memory` (or the last level that the curve reaches) or
    /// `translation`.
    pub part: &'static str,
    /// The bytes that the level holds; `None` for other parts.
    pub capacity: Option<f64>,
    /// The share of the loads.
    pub share: f64,
    /// Nanoseconds of one of these loads.
    pub nanoseconds: f64,
}

impl Term {
    /// Returns the nanoseconds that the term adds to the mean load.
    #[must_use]
    pub const fn adds(&self) -> f64 {
        self.share * self.nanoseconds
    }
}

/// The mixture that follows the points of a curve best.
pub struct Mixture {
    fit: Fit,
    tlb: TlbLevels,
}

impl Mixture {
    /// Fits a mixture in nanoseconds to points; `None` if they are too few. `tlb` has the levels of the TLB in the pages of
    /// the curve, if they are known.
    #[must_use]
    pub fn of(samples: Samples<'_>, tlb: TlbLevels) -> Option<Mixture> {
        let mut points = [Point::default(); MAX_POINTS];
        let points = collect(&mut points, samples.iter().map(|sample| sample.point(false)));
        let fit = fit_mixture(points, &mut Workspace::new(&|| false)).ok()?;
        Some(Mixture { fit, tlb })
    }

    /// Returns whether most of a working set is in memory.
    #[must_use]
    pub fn is_in_memory(&self, size: Bytes) -> bool {
        self.fit.levels().iter().all(|level| level.missing(size.0.real()) >= MOSTLY)
    }

    /// Passes the terms at a working set to `take`, and returns their sum.
    pub fn each_term(&self, size: Bytes, take: &mut dyn FnMut(Term)) -> f64 {
        let size = size.0.real();
        let mut sum = 0.0;
        let mut term = |part, capacity, share, nanoseconds| {
            sum += share * nanoseconds;
            take(Term { part, capacity, share, nanoseconds });
        };
        let (mut held, mut nearer) = (0.0, 0.0);
        for level in self.fit.levels() {
            let end = level.capacity.value.min(size);
            if end > held {
                nearer = level.latency.value;
                term("level", Some(level.capacity.value), (end - held) / size, nearer);
                held = end;
            }
        }
        if held < size {
            let share = 1.0 - held / size;
            // The latency of memory in the fit includes translation, which is a term of its own where it is known.
            let miss = |reach: f64| if size > reach { 1.0 - reach / size } else { 0.0 };
            let steps = knees(&self.tlb, 1.0);
            let mut translation: f64 = steps.iter().map(|knee| knee.step * miss(knee.reach)).sum();
            if self.fit.memory.value - translation / share <= nearer {
                translation = 0.0;
            }
            term("memory", None, share, self.fit.memory.value - translation / share);
            if translation > 0.0 {
                term("translation", None, 1.0, translation);
            }
        }
        sum
    }
}
