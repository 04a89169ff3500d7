//! The result of a fit, in the units of its points, and the classification of its steps as caches or translation
//! buffers.
//!
//! The steps of both look alike on a curve. The reach of the buffers is known from another measurement, in which no
//! cache takes part. A step of the curve at the reach of a buffer is caused by the buffer if the cost of its misses
//! explains it.

use super::curve::{Curve, Law, Step};
use super::least_squares::Unknowns;
use super::robust;
use super::search::Candidate;
use super::uncertainty::{Range, Uncertainty, WITHIN_95};
use super::workspace::{MAX_LEVELS, Workspace};
use crate::math::{ToReal, exp, ln};
use crate::stats::{Estimate, Interval};

/// Minimum step of a resolved level, in spreads of the points.
const STEP_OVER_SPREAD: f64 = 3.0;
/// Minimum number of different working sets beyond a capacity: with fewer, the latency of the next level is unknown.
const POINTS_BEYOND: usize = 2;
/// Share of misses at the onset of a step.
const ONSET: f64 = 0.05;

/// The hardware structure that overflows at a level's capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cause {
    /// Unknown: it was not compared with translation buffers.
    #[default]
    Unclassified,
    /// A cache, which holds lines.
    Cache,
    /// A translation buffer: the capacity is its reach.
    Translation,
    /// Both: a cache and a translation buffer overflow at this knee.
    Mixed,
}

/// One level in front of the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Level {
    /// The effective capacity in bytes: the `C` of the mixture, or the capacity under the law that the step follows.
    pub capacity: Estimate,
    /// The working set in bytes at which 5 % of the accesses miss; in the mixture, the capacity itself.
    pub onset: f64,
    /// The working set in bytes at which half of the accesses miss.
    pub half: f64,
    /// The latency of an access that this level serves, which is the height of its plateau.
    pub latency: Estimate,
    /// The difference between the latency of the next outer level and that of this level.
    pub step: Estimate,
    /// The law by which the misses rise; `None` in the mixture.
    pub law: Option<Law>,
    /// True if the points show the level: its step is at least three times their spread, and there
    /// are working sets on both sides of the capacity.
    pub resolved: bool,
    /// The structure that overflows here; a fit of a single curve cannot determine it.
    pub cause: Cause,
}

impl Level {
    /// Returns the share of the accesses that miss at a working set in bytes.
    pub fn missing(&self, working_set: f64) -> f64 {
        Step { ln_capacity: ln(self.capacity.value), law: self.law }.missing(working_set.max(0.0))
    }
}

/// The step of a translation buffer with a given reach.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TranslationStep {
    /// The given reach: entries times page size, in bytes.
    pub reach: f64,
    /// The latency that a miss adds.
    pub cost: Estimate,
}

/// A fitted model.
///
/// The interval of a value extends two standard errors to each side, computed from the curvature of the residuals
/// (Gauss–Newton). The interval of a size also includes the sizes under other shapes that follow the points equally
/// well. The intervals are correct for noise that is independent from point to point, and too narrow for a wrong
/// model. A given value is exact.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    /// The latency of memory: for working sets much larger than the last level, and without the
    /// cost of a modelled translation buffer.
    pub memory: Estimate,
    /// The modelled translation buffer.
    pub translation: Option<TranslationStep>,
    /// The median of the absolute relative residuals.
    pub median_residual: f64,
    /// The root of the mean square of the relative residuals, outliers included.
    pub rms_residual: f64,
    /// The Bayesian information criterion, with capacities counted twice; it is comparable
    /// between models of the same points, and smaller is better.
    pub bic: f64,
    levels: [Level; MAX_LEVELS],
    /// The ln S between which each capacity lies.
    within: [Range; MAX_LEVELS],
    curve: Curve,
    unknowns: Unknowns,
}

impl Fit {
    /// Returns the result of a search, or of a fit of only the latencies to given capacities.
    pub(super) fn new(candidate: &Candidate, capacities_are_given: bool, workspace: &mut Workspace) -> Self {
        let curve = candidate.curve;
        let reference = workspace.reference;
        let unknowns = candidate.linear.unknowns.map(|value| value * reference);
        let distance = robust::distance(workspace, &curve, &candidate.linear.unknowns);
        let uncertainty = Uncertainty::new(
            workspace,
            &curve,
            &candidate.linear.unknowns,
            distance.deviation,
            capacities_are_given,
        );
        let spread = distance.deviation.max(workspace.spread);
        let estimate = |value: f64, error: f64| {
            let error = WITHIN_95 * reference * error;
            bounded(value, value - error, value + error)
        };

        let mut levels = [Level::default(); MAX_LEVELS];
        let mut within = [(0.0, 0.0); MAX_LEVELS];
        let mut plateau = unknowns[0];
        for (i, (level, step)) in levels.iter_mut().zip(curve.steps()).enumerate() {
            let height = unknowns[i + 1];
            let at = step.ln_capacity;
            let (interval, ends) = uncertainty.capacity(i, at);
            within[i] = ends;
            *level = Level {
                capacity: bounded(exp(at), exp(interval.0), exp(interval.1)),
                onset: exp(step.ln_size_at(ONSET)),
                half: exp(step.ln_size_at(0.5)),
                latency: estimate(plateau, uncertainty.plateau(i)),
                step: estimate(height, uncertainty.step(i)),
                law: step.law,
                resolved: height >= STEP_OVER_SPREAD * spread * plateau
                    && height > 0.0
                    && is_bracketed(workspace, step),
                cause: Cause::Unclassified,
            };
            plateau += height;
        }
        let count = curve.steps().len();
        let translation = curve.translation.map(|step| TranslationStep {
            reach: exp(step.ln_capacity),
            cost: estimate(unknowns[count + 1], uncertainty.step(count)),
        });
        // The Bayesian information criterion: each parameter costs ln n, and the scale of the residuals is one, too. A
        // capacity counts twice. It is the best of many places, so a superfluous capacity fits more noise than a
        // parameter that acts everywhere: N. R. Zhang, D. O. Siegmund, "A modified Bayes information criterion" (2007).
        // When capacities counted once, one simulated curve in fifty got a level too many.
        let parameters = if capacities_are_given { curve.unknowns() } else { curve.parameters() + count };
        Self {
            memory: estimate(plateau, uncertainty.plateau(count)),
            translation,
            median_residual: distance.median,
            rms_residual: distance.root_mean_square,
            bic: candidate.linear.deviance
                + (parameters + 1).real() * ln(workspace.rows().len().max(1).real()),
            levels,
            within,
            curve,
            unknowns,
        }
    }

    /// Widens the intervals of capacities to include `ranges`: the ln capacities under other shapes that follow the
    /// points equally well.
    pub(super) fn widen(&mut self, ranges: &[Range; MAX_LEVELS]) {
        let steps = self.curve.steps().iter().zip(ranges).zip(self.within);
        for (level, ((step, (low, high)), (least, most))) in self.levels.iter_mut().zip(steps) {
            if let Some(interval) = &mut level.capacity.interval {
                let ends = (exp(least.min(*low)), exp(most.max(*high)));
                interval.low = (interval.low * exp(low - step.ln_capacity)).max(ends.0);
                interval.high = (interval.high * exp(high - step.ln_capacity)).min(ends.1);
            }
        }
    }

    /// Returns the levels, the innermost first, without the memory.
    pub fn levels(&self) -> &[Level] {
        &self.levels[..self.curve.steps().len()]
    }

    /// Returns the model's latency at a working set in bytes; the innermost level's latency at 0 or
    /// less.
    pub fn evaluate(&self, working_set: f64) -> f64 {
        self.curve.height(working_set.max(0.0), &self.unknowns)
    }
}

/// Returns the estimate, with the interval if the points bound the value on both sides.
fn bounded(value: f64, low: f64, high: f64) -> Estimate {
    let interval = (low.is_finite() && high.is_finite()).then_some(Interval { low, high });
    Estimate { value, interval }
}

/// Returns true if there are working sets on both sides of a step, and enough of them beyond it.
fn is_bracketed(workspace: &Workspace, step: &Step) -> bool {
    let rows = workspace.rows();
    let inside = rows.partition_point(|row| row.ln_size <= step.ln_capacity);
    let beyond = rows[inside..].chunk_by(|one, other| one.ln_size == other.ln_size).count();
    inside > 0 && beyond >= POINTS_BEYOND
}

/// Maximum distance between a step and a reach that count as equal, as |ln ratio|: a third of an octave. The two
/// measurements fill a buffer's sets in different orders, and the place of a soft step has no higher precision.
const TOLERANCE: f64 = 0.23;

/// The end of a translation buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PageKnee {
    /// Entries times page size, in bytes; 0 if unknown.
    pub reach: f64,
    /// The latency that is added there, in the unit of the curve.
    pub step: f64,
}

/// Writes the [cause](super::Level::cause) of every level of a curve's fit, given the ends of translation buffers.
///
/// A level at the end of a buffer is that buffer if the added latency is at least two thirds of the level's step; if it
/// is smaller, there is also a cache of the same size. Every other level is a cache.
pub fn classify(fit: &mut Fit, knees: &[PageKnee]) {
    for level in &mut fit.levels[..fit.curve.steps().len()] {
        let matching = knees.iter().filter(|knee| is_same(knee.reach, level.half));
        let step = matching.fold(0.0, |largest: f64, knee| largest.max(knee.step));
        level.cause = match () {
            () if step <= 0.0 => Cause::Cache,
            () if step >= level.step.value * 2.0 / 3.0 => Cause::Translation,
            () => Cause::Mixed,
        };
    }
}

fn is_same(one: f64, other: f64) -> bool {
    one > 0.0 && other > 0.0 && ln(one / other).abs() <= TOLERANCE
}
