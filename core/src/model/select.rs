//! The public fits, and the choice of the number of levels.

use super::curve::{Curve, Step};
use super::fit::Fit;
use super::law::Law;
use super::point::{FitError, MAX_LEVELS, Point, is_reasonable};
use super::search::{StepSearch, fit_latencies};
use super::workspace::Workspace;
use crate::math::ln;

/// Number of points that a choice needs beyond the parameters.
const SPARE_POINTS: usize = 2;
/// Minimum by which one more level has to lower the criterion: "strong" evidence, since a shape between two of those
/// tried causes a small step of its own.
///
/// # References
///
/// R. Kass, A. Raftery, "Bayes Factors", 1995, section 3.2: a difference above 6 is strong.
const STRONG: f64 = 6.0;
/// Number of levels that are added without an improvement before the choice is made: more
/// than one, because a second TLB step or a split knee may help only as a pair.
const PATIENCE: usize = 2;

/// Fits the mixture over levels, with as many levels as the points support.
///
/// Points may be in any order and repeat working sets; the workspace's former content
/// does not matter.
///
/// # Errors
///
/// Points that are not positive and finite, too many, or fewer than five different working sets, which one level needs;
/// [`FitError::Stopped`].
pub fn fit_mixture(points: &[Point], workspace: &mut Workspace) -> Result<Fit, FitError> {
    choose(points, None, &[], workspace)
}

/// Fits the latencies of the mixture to the capacities that a system reports.
///
/// Capacities are in bytes, in any order. A capacity beyond the largest working set stays in
/// the result as a level that is not [resolved](super::Level::resolved).
///
/// # Errors
///
/// The errors of [`fit_mixture`], but one working set for each unknown suffices; and more than [`MAX_LEVELS`]
/// capacities or one that is not positive.
pub fn fit_reported(
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
        curve = curve.with(Step { ln_capacity: ln(capacity), law: None });
    }
    require(workspace, curve.unknowns())?;
    let found = fit_latencies(workspace, curve);
    Ok(Fit::new(&found, true, workspace))
}

/// Fits the stair: a size, a shape and a latency for each level, and as many levels as the points support.
///
/// `translation_reach` in bytes (entries times page size) adds a step `1 - reach/S` of free
/// height for the first-level translation buffer, whose misses are spread over all sizes
/// beyond its reach. Without it the latency of the level behind comes out too high.
///
/// # Errors
///
/// The errors of [`fit_mixture`], with one working set more for a level's shape and one for a reach; and a reach that
/// is not positive.
pub fn fit_stair(
    points: &[Point],
    translation_reach: Option<f64>,
    workspace: &mut Workspace,
) -> Result<Fit, FitError> {
    choose(points, translation_reach, &Law::ALL, workspace)
}

fn require(workspace: &Workspace, needed: usize) -> Result<(), FitError> {
    let found = workspace.distinct;
    if found < needed {
        return Err(FitError::TooFewPoints { needed, found });
    }
    Ok(())
}

/// Returns the best fit from no level up to the number of levels that the points allow.
///
/// No level is a valid answer, where there are points for one: an emulator without caches shows it.
fn choose(
    points: &[Point],
    translation_reach: Option<f64>,
    laws: &'static [Law],
    workspace: &mut Workspace,
) -> Result<Fit, FitError> {
    if translation_reach.is_some_and(|reach| !is_reasonable(reach)) {
        return Err(FitError::InvalidCapacity { index: 0 });
    }
    workspace.load(points)?;
    let start = Curve::flat(translation_reach);
    let each = if laws.is_empty() { 2 } else { 3 };
    let without = start.parameters() + SPARE_POINTS;
    // Where the points are too few for a single level, no level is not a valid answer.
    require(workspace, without + each)?;
    let most = (workspace.distinct - without) / each;
    let search = StepSearch::new(workspace, laws);
    let mut current = fit_latencies(workspace, start);
    let mut best = current;
    let mut least = Fit::new(&current, false, workspace).bic;
    let mut best_levels = 0;
    let mut failures = 0;
    for _ in 0..most.min(MAX_LEVELS) {
        let Some(next) = search.extend(workspace, &current) else { break };
        if workspace.is_stopped() {
            break;
        }
        failures += 1;
        for found in [Some(next.best), next.standing].into_iter().flatten() {
            // Exact latencies, with the steps in order.
            let found = fit_latencies(workspace, found.curve);
            let fit = Fit::new(&found, false, workspace);
            let resolved = fit.levels().iter().all(|level| level.resolved);
            let more = fit.levels().len() > best_levels;
            let needed = if more { STRONG } else { 0.0 };
            if fit.bic + needed < least && resolved && found.stands() {
                best_levels = fit.levels().len();
                (best, least, failures) = (found, fit.bic, 0);
            }
        }
        current = next.best;
        if failures == PATIENCE {
            break;
        }
    }
    // A search that was stopped, or that could not begin, has no usable optimum.
    if workspace.is_stopped() {
        return Err(FitError::Stopped);
    }
    let ranges = search.ambiguity(workspace, &best);
    // Fitted once more, for its own weights.
    let best = fit_latencies(workspace, best.curve);
    let mut fit = Fit::new(&best, false, workspace);
    fit.widen(&ranges);
    Ok(fit)
}
