//! The public fits, and the choice of the number of levels.

use super::curve::{Curve, Law, Step};
use super::fit::Fit;
use super::search::{StepSearch, fit_latencies};
use super::workspace::{FitError, MAX_LEVELS, Point, Workspace, is_reasonable};
use crate::math::ln;

/// Number of points that a choice needs in addition to the number of parameters.
const SPARE_POINTS: usize = 2;
/// Minimum by which one more level has to lower the criterion. It requires "strong" evidence, since a true shape
/// between two of the shapes that are tried causes a small spurious step.
///
/// # References
///
/// R. Kass, A. Raftery, "Bayes Factors", 1995, section 3.2: a difference above 6 is strong.
const STRONG: f64 = 6.0;
/// Number of levels that are added without an improvement before the choice is made. It is more
/// than one, because a second TLB step or a split knee may improve the fit only as a pair.
const PATIENCE: usize = 2;

/// Fits the mixture over levels, with as many levels as the points support.
///
/// Points may be in any order and repeat working sets; the previous content of the workspace is
/// ignored.
///
/// # Errors
///
/// [`FitError`] if points are not positive and finite, if there are too many, or if they have fewer than the five
/// different working sets that one level needs; [`FitError::Stopped`].
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
/// The errors of [`fit_mixture`], but one working set for each unknown suffices; and an error for more than
/// [`MAX_LEVELS`] capacities, or for a capacity that is not positive.
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

/// Fits the stair: a size, a shape and a latency for each level, with as many levels as the points support.
///
/// `translation_reach` in bytes (entries times page size) adds a step `1 - reach/S` of free height
/// for the first-level translation buffer, whose misses are spread over all sizes beyond its reach.
/// Without this step, the latency of the level beyond the reach is too high.
///
/// # Errors
///
/// The errors of [`fit_mixture`], with one more working set needed for a level's shape and one for a reach; and an
/// error for a reach that is not positive.
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

/// Returns the best fit among all numbers of levels from zero to the number that the points allow.
///
/// Zero levels is a valid answer if there are enough points for one level: an emulator may have no caches.
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
    // If there are too few points for a single level, zero levels is not a valid answer.
    require(workspace, without + each)?;
    let most = (workspace.distinct - without) / each;
    let search = StepSearch::new(workspace, laws);
    let mut current = fit_latencies(workspace, start);
    let mut best = current;
    let mut least = Fit::new(&current, false, workspace).bic;
    let mut best_levels = 0;
    let mut failures = 0;
    for _ in 0..most.min(MAX_LEVELS) {
        let Some((next, standing)) = search.extend(workspace, &current) else { break };
        if workspace.is_stopped() {
            break;
        }
        failures += 1;
        for found in [Some(next), standing].into_iter().flatten() {
            // Computes the exact latencies, with sorted steps.
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
        current = next;
        if failures == PATIENCE {
            break;
        }
    }
    // A search that was stopped, or that could not begin, has no valid optimum.
    if workspace.is_stopped() {
        return Err(FitError::Stopped);
    }
    let ranges = search.ambiguity(workspace, &best);
    // The best curve is fitted once more, so that the workspace has its weights.
    let best = fit_latencies(workspace, best.curve);
    let mut fit = Fit::new(&best, false, workspace);
    fit.widen(&ranges);
    Ok(fit)
}
