//! Classification of a curve's steps as caches or translation buffers.
//!
//! The steps of both look alike on a dense curve. A second curve distinguishes them: it is measured
//! with a chain with one random line on each page. N pages then have only N lines, so a cache of C
//! lines overflows at C pages, and a buffer of N entries at N pages. A knee of the second curve
//! at N pages and a knee of the dense curve at N times the page size are caused by the same buffer,
//! if no cache explains them.
//!
//! This file only compares curves and fits: the caller measures the second curve on pages of the
//! given size, and names the size of a cache line.

use crate::math::ToReal;
use core::f64::consts::LN_2;

use super::fit::{Cause, Fit, Level};
use crate::math::{exp, ln};
use crate::units::Bytes;

/// Maximum relative difference between two steps that count as equal.
const SAME_STEP: f64 = 0.15;

/// Maximum distance between two knees that count as equal, as |ln ratio|: a third of an octave. The two curves fill a
/// buffer's sets in different orders, and the knee of a soft step has no higher precision.
const TOLERANCE: f64 = 0.23;

/// A knee of the curve with one random line on each page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PageKnee {
    /// The number of pages at the knee.
    pub pages: f64,
    /// The next larger number of pages that was measured: the upper limit of the knee.
    pub most: f64,
    /// The step of the latency at the knee, in the unit of the dense curve.
    pub step: f64,
}

/// Writes the [cause](Level::cause) of every level of a dense curve's fit, given the knees of the
/// curve with one line of `line` bytes on each page. Both curves were measured with pages of size
/// `page`.
///
/// A knee of the page curve that some level of the dense curve explains as a cache is ignored. A
/// level with a matching knee is a buffer if the knee's step is at least two thirds of the level's
/// step; if it is smaller, there is also a cache of the same size. Every other level is a cache.
pub fn classify(fit: &mut Fit, knees: &[PageKnee], page: Bytes, line: Bytes) {
    let known = *fit;
    for level in fit.levels_mut() {
        let matching = knees.iter().filter(|knee| {
            let is_same = is_same(knee.pages * page.0.real(), level.half);
            is_same && !is_explained_by_a_cache(knee, known.levels(), line)
        });
        let step = matching.fold(0.0, |largest: f64, knee| largest.max(knee.step));
        level.cause = match () {
            () if step <= 0.0 => Cause::Cache,
            () if step >= level.step.value * 2.0 / 3.0 => Cause::Translation,
            () => Cause::Mixed,
        };
    }
}

fn is_explained_by_a_cache(knee: &PageKnee, levels: &[Level], line: Bytes) -> bool {
    // With one line on each page the cache overflows from its onset on, and the knee lies somewhere between two
    // measured numbers of pages.
    let (low, high) = (knee.pages * line.0.real(), knee.most.max(knee.pages) * line.0.real());
    levels.iter().any(|level| {
        // A step as high as the cache's step is caused by the cache, even if the knees are an octave apart.
        let alike = (knee.step - level.step.value).abs() <= SAME_STEP * level.step.value;
        let factor = exp(if alike { LN_2 } else { TOLERANCE });
        level.half * factor >= low && level.onset <= high * factor
    })
}

fn is_same(one: f64, other: f64) -> bool {
    one > 0.0 && other > 0.0 && ln(one / other).abs() <= TOLERANCE
}

/// Returns the reach of the first-level translation buffer in bytes: the page curve's first knee that no cache of the
/// dense curve explains. This value is the argument `translation_reach` of [`fit_stair`](super::fit_stair).
#[must_use]
pub fn first_reach(fit: &Fit, knees: &[PageKnee], page: Bytes, line: Bytes) -> Option<f64> {
    knees
        .iter()
        .filter(|knee| knee.pages > 0.0 && knee.step > 0.0)
        .filter(|knee| !is_explained_by_a_cache(knee, fit.levels(), line))
        .map(|knee| knee.pages * page.0.real())
        .reduce(f64::min)
}
