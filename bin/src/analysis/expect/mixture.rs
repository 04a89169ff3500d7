//! The mixture of levels at a working set: the share of the loads that each level serves, times its latency, plus the cost
//! of translation. The levels are those that `curve` finds.
//!
//! It explains an expected latency; the measured points around the size give its value.

use alloc::vec::Vec;

use latency_core::model::Cause;
use latency_core::{Bytes, ToReal};

use crate::analysis::claims::Claims;
use crate::analysis::curve::Analysis;
use latency_engine::result::Sample;
use latency_engine::spans::tlb::TlbLevels;

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
    pub const fn adds(&self) -> f64 {
        self.share * self.nanoseconds
    }
}

/// The levels that `curve` finds in the same points, as a sum.
pub struct Mixture {
    analysis: Analysis,
}

impl Mixture {
    /// Finds the levels of points; `None` if they are too few. `tlb` has the levels of the TLB in the pages of the curve, if
    /// they are known.
    pub fn of(samples: &[Sample], tlb: TlbLevels) -> Option<Mixture> {
        let analysis = Analysis::new(samples, tlb, Claims::default(), None, &|| false);
        analysis.stair.is_ok().then_some(Mixture { analysis })
    }

    /// Returns whether most of a working set is in memory.
    pub fn is_in_memory(&self, size: Bytes) -> bool {
        let levels = self.analysis.stair.iter().flat_map(|fit| fit.levels());
        let mut caches = levels.filter(|level| level.cause != Cause::Translation);
        caches.all(|level| level.missing(size.0.real()) >= MOSTLY)
    }

    /// Returns the terms at a working set.
    pub fn terms(&self, size: Bytes) -> Vec<Term> {
        let Ok(fit) = &self.analysis.stair else { return Vec::new() };
        let size = size.0.real();
        let mut terms = Vec::new();
        let mut term = |part, capacity, share, latency| {
            terms.push(Term { part, capacity, share, nanoseconds: self.analysis.nanoseconds(latency) });
        };
        // The latency of a level contains the steps of the TLB before it, which are a term of their own.
        let (mut reached, mut steps, mut translation) = (1.0_f64, 0.0, 0.0);
        for level in fit.levels() {
            let missing = level.missing(size);
            if level.cause == Cause::Translation {
                steps += level.step.value;
                translation += missing * level.step.value;
                continue;
            }
            let missing = missing.min(reached);
            if missing < reached {
                term("level", Some(level.capacity.value), reached - missing, level.latency.value - steps);
            }
            reached = missing;
        }
        if reached > 0.0 {
            term("memory", None, reached, fit.memory.value - steps);
        }
        if let Some(step) = fit.translation {
            translation += step.cost.value * (1.0 - step.reach / size).max(0.0);
        }
        if translation > 0.0 {
            term("translation", None, 1.0, translation);
        }
        terms
    }
}
