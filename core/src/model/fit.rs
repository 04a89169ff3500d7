//! The result of a fit, in the units of its points.

use super::curve::{Curve, Rise, Step};
use super::law::Law;
use super::least_squares::Unknowns;
use super::robust;
use super::search::Candidate;
use super::select::criterion;
use super::translation::Cause;
use super::uncertainty::Uncertainty;
use super::{Workspace, MAX_LEVELS};
use crate::math::{exp, ln};

/// A step smaller than this many times the spread of the points is not a level's.
const STEP_OVER_SPREAD: f64 = 3.0;
/// Different working sets beyond a capacity without which nothing is known of what lies there.
const POINTS_BEYOND: usize = 2;

/// A value with its uncertainty.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// One standard error, from the curvature of the fit (Gauss–Newton): right for noise that
    /// is independent from point to point, too small for a model that is wrong. Infinite
    /// where the points say nothing of the value, 0 where the value was given.
    pub error: f64,
}

/// Which model was fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FitKind {
    /// The mixture by share of the working set, all free.
    Classic,
    /// The mixture by share of the working set, with given capacities.
    ClassicFixed,
    /// The stair of Hill curves.
    Hill,
    /// The stair whose steps follow laws of replacement.
    Laws,
}

/// One level in front of the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Level {
    /// The effective capacity in bytes: of the classic models the `C` of the formula, of the
    /// Hill model the knee; under a law the capacity itself.
    pub capacity: Estimate,
    /// The working set in bytes at which half of the accesses miss.
    pub knee: f64,
    /// The working set in bytes at which 5 % miss: with the knee, the interval in which
    /// the level gives way. The capacity itself in the classic models.
    pub onset: f64,
    /// The latency of an access that this level serves: the height of its plateau.
    pub latency: Estimate,
    /// How much slower the next level out is.
    pub step: Estimate,
    /// The exponent `s` of the Hill curve; the larger, the sharper.
    pub shape: Option<Estimate>,
    /// How the misses rise, where a law says so.
    pub law: Option<Law>,
    /// Whether the points show it: the step is at least three times their spread, and
    /// there are working sets on both sides of the capacity.
    pub resolved: bool,
    /// Whether there are working sets that mostly this level serves: its onset lies beyond the
    /// capacity of the level before. Two levels without a plateau between them may well be
    /// one cache that gives way in two stages.
    pub plateau: bool,
    /// What misses here; a fit of one curve alone cannot know.
    pub cause: Cause,
}

impl Level {
    /// The share of the accesses that miss at a working set in bytes.
    #[must_use]
    pub fn missing(&self, working_set: f64) -> f64 {
        let rise = match (self.law, self.shape) {
            (Some(law), _) => Rise::Law(law),
            (None, Some(shape)) => Rise::Hill { shape: shape.value },
            (None, None) => Rise::Share,
        };
        Step { ln_capacity: ln(self.capacity.value), rise }.missing(ln(working_set.max(0.0)))
    }
}

/// The step of a translation buffer of given reach.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TranslationStep {
    /// Entries times page size, in bytes, as it was given.
    pub reach: f64,
    /// What a miss adds to the latency.
    pub cost: Estimate,
}

/// A fitted model.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    /// Which model this is.
    pub kind: FitKind,
    /// The latency behind the last level: for working sets much larger than that, and
    /// without what a modelled translation buffer adds.
    pub memory: Estimate,
    /// The modelled translation buffer.
    pub translation: Option<TranslationStep>,
    /// The median of the absolute relative residuals.
    pub median_residual: f64,
    /// The root of the mean square of the relative residuals, outliers included.
    pub rms_residual: f64,
    /// The Bayesian information criterion, in which a capacity counts twice; comparable
    /// between models of the same points, and smaller is better.
    pub bic: f64,
    levels: [Level; MAX_LEVELS],
    curve: Curve,
    unknowns: Unknowns,
}

impl Fit {
    pub(super) fn new(kind: FitKind, candidate: &Candidate, workspace: &mut Workspace) -> Self {
        let curve = candidate.curve;
        let reference = workspace.reference();
        let unknowns = candidate.linear.unknowns.map(|value| value * reference);
        let distance = robust::distance(workspace, &curve, &candidate.linear.unknowns);
        let capacities_are_given = kind == FitKind::ClassicFixed;
        let uncertainty = Uncertainty::new(
            workspace,
            &curve,
            &candidate.linear.unknowns,
            distance.deviation,
            capacities_are_given,
        );
        let spread = distance.deviation.max(workspace.spread());

        let mut levels = [Level::default(); MAX_LEVELS];
        let mut plateau = unknowns[0];
        let mut last_capacity = f64::NEG_INFINITY;
        for (i, (level, step)) in levels.iter_mut().zip(curve.steps()).enumerate() {
            let height = unknowns[i + 1];
            let capacity = exp(step.ln_capacity);
            *level = Level {
                capacity: Estimate { value: capacity, error: capacity * uncertainty.ln_capacity(i) },
                knee: exp(step.ln_knee()),
                onset: exp(step.ln_onset()),
                latency: Estimate { value: plateau, error: reference * uncertainty.plateau(i) },
                step: Estimate { value: height, error: reference * uncertainty.step(i) },
                shape: shape(step, uncertainty.ln_shape(i)),
                law: match step.rise {
                    Rise::Law(law) => Some(law),
                    Rise::Share | Rise::Hill { .. } => None,
                },
                resolved: height >= STEP_OVER_SPREAD * spread * plateau
                    && height > 0.0
                    && is_bracketed(workspace, step),
                plateau: step.ln_onset() > last_capacity,
                cause: Cause::Unclassified,
            };
            last_capacity = step.ln_capacity;
            plateau += height;
        }
        let count = curve.steps().len();
        let translation = curve.translation().map(|step| TranslationStep {
            reach: exp(step.ln_capacity),
            cost: Estimate { value: unknowns[count + 1], error: reference * uncertainty.step(count) },
        });
        Self {
            kind,
            memory: Estimate { value: plateau, error: reference * uncertainty.plateau(count) },
            translation,
            median_residual: distance.median,
            rms_residual: distance.root_mean_square,
            bic: criterion(candidate, kind, workspace),
            levels,
            curve,
            unknowns,
        }
    }

    /// The levels from the innermost out, without the memory behind them.
    #[must_use]
    pub fn levels(&self) -> &[Level] {
        &self.levels[..self.curve.steps().len()]
    }

    /// The levels, to write what caused them.
    pub(super) fn levels_mut(&mut self) -> &mut [Level] {
        &mut self.levels[..self.curve.steps().len()]
    }

    /// The latency that the model expects at a working set in bytes; at 0 or less, that of
    /// the innermost level.
    #[must_use]
    pub fn evaluate(&self, working_set: f64) -> f64 {
        self.curve.height(ln(working_set.max(0.0)), &self.unknowns)
    }
}

fn shape(step: &Step, relative_error: f64) -> Option<Estimate> {
    match step.rise {
        Rise::Share | Rise::Law(_) => None,
        Rise::Hill { shape } => Some(Estimate { value: shape, error: shape * relative_error }),
    }
}

/// Whether there are working sets on both sides of a step, enough of them beyond it.
fn is_bracketed(workspace: &Workspace, step: &Step) -> bool {
    let sizes = workspace.ln_sizes();
    let inside = sizes.partition_point(|&ln_size| ln_size <= step.ln_capacity);
    let mut beyond = 0;
    let mut last = f64::NEG_INFINITY;
    for &ln_size in &sizes[inside..] {
        if ln_size > last {
            beyond += 1;
            last = ln_size;
        }
    }
    inside > 0 && beyond >= POINTS_BEYOND
}
