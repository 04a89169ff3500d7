//! The fits that the outside asks for, and the choice of the number of levels.

use super::curve::{Curve, Rise, Step};
use super::fit::{Fit, FitKind};
use super::search::{extend, fit_latencies, Candidate, Family};
use super::{is_reasonable, stairs, FitError, LevelCount, Point, Workspace, MAX_LEVELS};
use crate::math::ln;

/// Points that a choice needs beyond the parameters, to have something to judge by.
const SPARE_POINTS: usize = 2;
/// Numbers of levels in a row without a better one after which the choice is made: more
/// than one, because a second TLB step or a split knee may pay only as a pair.
const PATIENCE: usize = 2;

/// Fits the classic mixture, with sizes and latencies free.
///
/// Points may come in any order and repeat working sets; the workspace's former content
/// does not matter.
///
/// # Errors
///
/// Points that are not positive and finite, too many, or fewer different working sets than
/// `2 k + 1` parameters (with a chosen number of levels: fewer than three).
pub fn fit_classic(points: &[Point], levels: LevelCount, workspace: &mut Workspace) -> Result<Fit, FitError> {
    workspace.load(points)?;
    let start = Curve::flat(None);
    let found = search(workspace, start, levels, Family::Share)?;
    Ok(Fit::new(FitKind::Classic, &found, workspace))
}

/// Fits the latencies of the classic mixture to the capacities that a system reports.
///
/// Capacities are in bytes, in any order. One beyond the largest working set stays in
/// the result as a level that is not [resolved](super::Level::resolved).
///
/// # Errors
///
/// As [`fit_classic`], and more than [`MAX_LEVELS`] capacities or one that is not positive.
pub fn fit_classic_fixed(
    points: &[Point],
    capacities: &[f64],
    workspace: &mut Workspace,
) -> Result<Fit, FitError> {
    if capacities.len() > MAX_LEVELS {
        return Err(FitError::TooManyLevels { found: capacities.len() });
    }
    if let Some(index) = capacities.iter().position(|&capacity| !is_reasonable(capacity)) {
        return Err(FitError::InvalidCapacity { index });
    }
    workspace.load(points)?;
    let mut curve = Curve::flat(None);
    for &capacity in capacities {
        curve = curve.with(Step { ln_capacity: ln(capacity), rise: Rise::Share });
    }
    curve.sort();
    require(workspace, curve.unknowns())?;
    let found = fit_latencies(workspace, curve);
    Ok(Fit::new(FitKind::ClassicFixed, &found, workspace))
}

/// Fits the stair of Hill curves: a capacity, a latency and a shape for each level.
///
/// `translation_reach` in bytes (entries times page size) adds a step `1 - reach/S` of free
/// height for the first-level translation buffer, whose misses are spread over all sizes
/// beyond its reach. Without it the latency of the level behind comes out too high.
///
/// # Errors
///
/// As [`fit_classic`] with `3 k + 1` parameters, one more with a translation step; and a
/// reach that is not positive.
pub fn fit_hill(
    points: &[Point],
    levels: LevelCount,
    translation_reach: Option<f64>,
    workspace: &mut Workspace,
) -> Result<Fit, FitError> {
    if translation_reach.is_some_and(|reach| !is_reasonable(reach)) {
        return Err(FitError::InvalidCapacity { index: 0 });
    }
    workspace.load(points)?;
    let start = Curve::flat(translation_reach);
    let found = search(workspace, start, levels, Family::Hill)?;
    Ok(Fit::new(FitKind::Hill, &found, workspace))
}

/// Fits the stair whose steps follow laws of replacement: a capacity, a latency and a law for each level, as many
/// levels as the points support.
///
/// The reach is that of [`fit_hill`].
///
/// # Errors
///
/// As [`fit_hill`].
pub fn fit_laws(
    points: &[Point],
    translation_reach: Option<f64>,
    workspace: &mut Workspace,
) -> Result<Fit, FitError> {
    if translation_reach.is_some_and(|reach| !is_reasonable(reach)) {
        return Err(FitError::InvalidCapacity { index: 0 });
    }
    workspace.load(points)?;
    let start = Curve::flat(translation_reach);
    require(workspace, start.parameters() + SPARE_POINTS)?;
    let spare = workspace.distinct() - start.parameters() - SPARE_POINTS;
    let found = stairs::choose(workspace, start, (spare / 3).min(MAX_LEVELS));
    Ok(Fit::new(FitKind::Laws, &found, workspace))
}

fn require(workspace: &Workspace, needed: usize) -> Result<(), FitError> {
    let found = workspace.distinct();
    if found < needed {
        return Err(FitError::TooFewPoints { needed, found });
    }
    Ok(())
}

fn search(
    workspace: &mut Workspace,
    start: Curve,
    levels: LevelCount,
    family: Family,
) -> Result<Candidate, FitError> {
    let each = match family {
        Family::Share => 2,
        Family::Hill => 3,
    };
    match levels {
        LevelCount::Exactly(count) if count > MAX_LEVELS => Err(FitError::TooManyLevels { found: count }),
        LevelCount::Exactly(count) => {
            require(workspace, start.parameters() + each * count)?;
            let mut found = fit_latencies(workspace, start);
            for _ in 0..count {
                found = extend(workspace, &found, family);
            }
            Ok(found)
        }
        LevelCount::Chosen => {
            require(workspace, start.parameters() + SPARE_POINTS)?;
            let spare = workspace.distinct() - start.parameters() - SPARE_POINTS;
            Ok(choose(workspace, start, (spare / each).min(MAX_LEVELS), family))
        }
    }
}

/// The best of 0 to `most` levels.
///
/// No level at all is a legal answer: it is what an emulator without caches shows.
fn choose(workspace: &mut Workspace, start: Curve, most: usize, family: Family) -> Candidate {
    let kind = match family {
        Family::Share => FitKind::Classic,
        Family::Hill => FitKind::Hill,
    };
    let mut current = fit_latencies(workspace, start);
    let mut best = current;
    let mut best_criterion = Fit::new(kind, &current, workspace).bic;
    let mut failures = 0;
    for _ in 0..most {
        current = extend(workspace, &current, family);
        let fit = Fit::new(kind, &current, workspace);
        if fit.bic < best_criterion && fit.levels().iter().all(|level| level.resolved) {
            (best, best_criterion) = (current, fit.bic);
            failures = 0;
        } else {
            failures += 1;
        }
        if failures == PATIENCE {
            break;
        }
    }
    // Once more, for the weights that belong to it.
    fit_latencies(workspace, best.curve)
}

/// The Bayesian information criterion: smaller is better, and each parameter costs ln n.
///
/// A capacity counts twice. It is the best of many places, where an idle parameter gains
/// more from noise than one that acts everywhere: N. R. Zhang, D. O. Siegmund, "A modified
/// Bayes information criterion" (2007). Counted once, one planted curve in fifty got a
/// level too many.
pub(super) fn criterion(candidate: &Candidate, kind: FitKind, workspace: &Workspace) -> f64 {
    let curve = &candidate.curve;
    let parameters = match kind {
        FitKind::ClassicFixed => curve.unknowns(),
        FitKind::Classic | FitKind::Hill | FitKind::Laws => curve.parameters() + curve.steps().len(),
    };
    // The scale of the residuals is a parameter too.
    candidate.linear.deviance + (parameters + 1) as f64 * ln(workspace.count().max(1) as f64)
}
