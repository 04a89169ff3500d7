//! The search for the places and shapes of a curve's steps.
//!
//! Steps are added one at a time, each at the place where it improves the fit most. Then each step in turn is moved,
//! and its shape is chosen again, while all others are fixed: a single moving step is one column of the normal
//! equations, so each attempt costs one pass over the points. When another shape is tried, its capacity is chosen so
//! that half of the accesses miss at the same working set as before. `select.rs` decides the number of steps.

use super::curve::{Curve, Law, Step};
use super::least_squares::{MAX_UNKNOWNS, NormalEquations, Unknowns};
use super::robust::{self, Linear};
use super::uncertainty::{ALIKE, Range};
use super::workspace::{MAX_LEVELS, Workspace};
use crate::math::{ToReal, exp, ln, whole};

/// Minimum distance between neighbouring capacities, in ln S: a factor of 2.2.
const MIN_SEPARATION: f64 = 0.8;
/// Number of places tried for one more step, evenly spaced in ln S.
const PLACES: usize = 64;
/// Minimum distance of a second starting place from the best one, in ln S.
const OTHER_PLACE: f64 = 1.0;
/// Minimum fraction by which the next outer level is slower; a smaller, gradual rise is not a level.
const LEAST_RISE: f64 = 0.15;
/// Number of positions tried to either side of a step, and of refinements between the two neighbours of the best
/// position.
const POSITIONS: i32 = 3;
const NARROWINGS: usize = 4;
/// Passes over all steps. Each pass is a pair: the distance by which a step is moved to either side, in ln S, and the
/// number of best shapes at its place that are tried. The first list ranks starts; its first pass only moves steps,
/// since at wrong places the choice of shapes would compensate for the places. The second list refines the best
/// start.
const SHORT: [(f64, usize); 3] = [(0.4, 0), (0.4, 4), (0.2, 4)];
const LONG: [(f64, usize); 6] = [(0.3, 4), (0.2, 4), (0.1, 4), (0.1, 4), (0.05, 4), (0.02, 4)];
/// Maximum number of shapes that are tried.
const SHAPES: usize = 4;
/// Laws that all steps get at the same time at the start of a search among laws: changes of single steps would not
/// reach these states.
const STARTS: [Law; 4] = [Law::InTurn(8), Law::Random(24), Law::ColouredRandom(16), Law::Soft(8)];
/// Distance by which a step is moved after a change of its shape, in ln S.
const NEAR: f64 = 0.15;
/// Improvement of minus twice the log-likelihood below which a pass has converged.
const SETTLED: f64 = 0.02;
/// Threshold of twice the log-likelihood ratio, which one superfluous parameter exceeds in one case of twenty.
const LIKELY: f64 = 3.84;

/// A curve with its best-fitting latencies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) curve: Curve,
    pub(super) linear: Linear,
}

impl Candidate {
    /// Returns true if each level is faster than the next one by at least the minimum fraction.
    pub(super) fn stands(&self) -> bool {
        let mut unknowns = self.linear.unknowns.into_iter();
        let mut latency = unknowns.next().unwrap_or(0.0);
        unknowns.take(self.curve.steps().len()).all(|step| {
            let stands = step > LEAST_RISE * latency;
            latency += step;
            stands
        })
    }
}

/// Sorts the steps of a curve, and returns it with its best latencies.
pub(super) fn fit_latencies(workspace: &mut Workspace, mut curve: Curve) -> Candidate {
    curve.sort();
    let linear = robust::fit(workspace, &curve);
    Candidate { curve, linear }
}

/// A curve in which all steps except one are fixed, with the weights in the workspace.
struct Settled<'w> {
    workspace: &'w Workspace<'w>,
    equations: NormalEquations,
    place: usize,
}

impl<'w> Settled<'w> {
    /// Releases the step at `index`, or a new step if `index` is one after the last. The workspace must contain the
    /// shares of the curve.
    fn new(workspace: &'w Workspace<'w>, curve: &Curve, index: usize) -> Self {
        // The unknown of the translation buffer is the last, and that of a new step follows it.
        let place = if index < curve.steps().len() { index + 1 } else { curve.unknowns() };
        let equations = robust::equations(workspace, curve.unknowns().max(place + 1));
        Self { workspace, equations, place }
    }

    /// Returns the smallest weighted sum of squared relative residuals with `step` in the free place.
    fn residual(&self, search: &StepSearch, step: &Step) -> f64 {
        let shape = search.shape(step.law);
        let inverse = exp(-step.ln_capacity);
        let mut products: Unknowns = [0.0; MAX_UNKNOWNS];
        let (mut square, mut right) = (0.0, 0.0);
        for row in self.workspace.rows() {
            let share = shape.missing(row.point.working_set * inverse) * row.relative;
            if share > 0.0 {
                let weighted = share * row.weight;
                for (product, other) in products.iter_mut().zip(&row.shares) {
                    *product += weighted * other;
                }
                square += weighted * share;
                right += weighted;
            }
        }
        if let Some(product) = products.get_mut(self.place) {
            *product = square;
        }
        let mut equations = self.equations;
        equations.set_column(self.place, &products, right);
        equations.residual(&equations.solve())
    }
}

/// Number of intervals between the entries of a table.
const ENTRIES: usize = 256;

/// The share of misses of a shape against the working set in capacities `x`, at equal distances in `x / (1 + x)`. The
/// table saves the search the computation of exponentials.
type Table = [f32; ENTRIES + 1];

/// A shape of steps, in a form that is fast to evaluate.
#[derive(Clone, Copy)]
struct StepShape {
    law: Option<Law>,
    /// Natural logarithm of the working set, in capacities, at which half of the accesses miss.
    half: f64,
    table: Table,
}

impl StepShape {
    fn new(law: Option<Law>) -> Self {
        let step = Step { ln_capacity: 0.0, law };
        let mut table = [0.0; ENTRIES + 1];
        for (place, entry) in table.iter_mut().enumerate() {
            let part = place.real() / ENTRIES as f64;
            *entry = step.missing(part / (1.0 - part)) as f32;
        }
        Self { law, half: step.ln_size_at(0.5), table }
    }

    /// Returns the share of accesses that miss at a working set in capacities.
    fn missing(&self, ratio: f64) -> f64 {
        match self.law {
            None => (1.0 - 1.0 / ratio).max(0.0),
            // This rise is too sharp for a table, which would blur it.
            Some(Law::InTurn(ways)) => ((f64::from(ways) + 1.0) * (1.0 - 1.0 / ratio)).clamp(0.0, 1.0),
            Some(_) => {
                let place = ratio / (1.0 + ratio) * ENTRIES as f64;
                let index = whole(place) as usize;
                let entry = |index| self.table.get(index).map_or(1.0, |entry: &f32| f64::from(*entry));
                let (low, high) = (entry(index), entry(index + 1));
                low + (high - low) * (place - index.real())
            }
        }
    }
}

/// A search among the shapes of some laws.
pub(super) struct StepSearch {
    laws: &'static [Law],
    shapes: [StepShape; Law::ALL.len()],
    bounds: Range,
}

impl StepSearch {
    /// Returns a search over the loaded working sets among `laws`, or for the mixture if `laws` is empty.
    pub(super) fn new(workspace: &Workspace, laws: &'static [Law]) -> Self {
        let mut shapes = [StepShape::new(None); Law::ALL.len()];
        for (shape, law) in shapes.iter_mut().zip(laws) {
            *shape = StepShape::new(Some(*law));
        }
        let bounds = match workspace.rows() {
            [first, .., last] => (first.ln_size, last.ln_size),
            _ => (0.0, 0.0),
        };
        Self { laws, shapes, bounds }
    }

    fn shapes(&self) -> &[StepShape] {
        &self.shapes[..self.laws.len().max(1)]
    }

    fn shape(&self, law: Option<Law>) -> &StepShape {
        self.shapes().iter().find(|shape| shape.law == law).unwrap_or(&self.shapes[0])
    }

    /// Returns a step with another law, for which half of the accesses miss at the same working set.
    fn reshaped(&self, step: &Step, law: Option<Law>) -> Step {
        Step { ln_capacity: step.ln_capacity + self.shape(step.law).half - self.shape(law).half, law }
    }

    /// Returns the step with each of the other shapes.
    fn others(&self, step: Step) -> impl Iterator<Item = Step> + '_ {
        let laws = self.shapes().iter().map(|shape| shape.law).filter(move |law| *law != step.law);
        laws.map(move |law| self.reshaped(&step, law))
    }

    /// Returns the curve with one more step that is nearest to the points, to which the next step is added, and the
    /// nearest curve that [stands](Candidate::stands), if it is another: a gradual rise, which is not a level, must not
    /// prevent a level from being found. Returns `None` if there is no room for another step.
    pub(super) fn extend(
        &self,
        workspace: &mut Workspace,
        previous: &Candidate,
    ) -> Option<(Candidate, Option<Candidate>)> {
        let (low, high) = self.bounds;
        self.fit(workspace, previous.curve);
        let settled = Settled::new(workspace, &previous.curve, usize::MAX);
        let mut seeds = [None::<(f64, Step)>; PLACES];
        for (place, seed) in seeds.iter_mut().enumerate() {
            let ln_capacity = low + (high - low) * (place.real() + 0.5) / PLACES as f64;
            if !is_free(&previous.curve, None, ln_capacity) {
                continue;
            }
            for shape in self.shapes() {
                let step = Step { ln_capacity, law: shape.law };
                let residual = settled.residual(self, &step);
                if seed.is_none_or(|(least, _)| residual < least) {
                    *seed = Some((residual, step));
                }
            }
        }
        let least = |apart: &dyn Fn(&Step) -> bool| {
            let seeds = seeds.iter().flatten().filter(|(_, step)| apart(step));
            seeds.min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, step)| *step)
        };
        let first = least(&|_| true)?;
        let second = least(&|step| (step.ln_capacity - first.ln_capacity).abs() > OTHER_PLACE);
        let extended = previous.curve.with(first);
        let mut best = self.polish(workspace, extended, &SHORT);
        let mut standing = Some(best).filter(Candidate::stands);
        let mut consider = |start: Curve| {
            let found = self.polish(workspace, start, &SHORT);
            let beats = |other: &Candidate| found.linear.deviance < other.linear.deviance;
            if found.stands() && standing.as_ref().is_none_or(beats) {
                standing = Some(found);
            }
            if beats(&best) {
                best = found;
            }
        };
        for law in STARTS.into_iter().filter(|law| self.laws.contains(law)) {
            let mut start = extended;
            for (index, step) in extended.steps().iter().enumerate() {
                start.replace(index, self.reshaped(step, Some(law)));
            }
            consider(start);
        }
        if let Some(step) = second {
            consider(previous.curve.with(step));
        }
        // A second curve is needed only if the best one does not stand.
        let standing = standing.filter(|_| !best.stands());
        let standing = standing.map(|standing| self.polish(workspace, standing.curve, &LONG));
        Some((self.polish(workspace, best.curve, &LONG), standing))
    }

    /// Moves steps by decreasing distances, until no move improves the fit.
    fn polish(&self, workspace: &mut Workspace, curve: Curve, passes: &[(f64, usize)]) -> Candidate {
        let mut best = self.fit(workspace, curve);
        for &(reach, shapes) in passes {
            let mut next = best.curve;
            for index in 0..next.steps().len() {
                if workspace.is_stopped() {
                    return best;
                }
                self.move_step(workspace, &mut next, index, reach, shapes);
            }
            let linear = robust::fit_shares(workspace, next.unknowns());
            let gain = best.linear.deviance - linear.deviance;
            if gain > 0.0 {
                best = Candidate { curve: next, linear };
            }
            if gain < SETTLED && shapes > 0 {
                break;
            }
        }
        best
    }

    /// Returns the best latencies for a curve, computed with the tables, and leaves its shares and weights in the
    /// workspace.
    fn fit(&self, workspace: &mut Workspace, curve: Curve) -> Candidate {
        for (index, step) in curve.steps().iter().enumerate() {
            self.set_shares(workspace, index, step);
        }
        // The base latency, the translation buffer, and unknowns that the curve does not have.
        for unknown in (0..MAX_UNKNOWNS).filter(|unknown| *unknown == 0 || *unknown > curve.steps().len()) {
            workspace.set_shares(unknown, |size| curve.share(unknown, size));
        }
        Candidate { curve, linear: robust::fit_shares(workspace, curve.unknowns()) }
    }

    /// Writes the shares of one step.
    fn set_shares(&self, workspace: &mut Workspace, index: usize, step: &Step) {
        let (shape, inverse) = (self.shape(step.law), exp(-step.ln_capacity));
        workspace.set_shares(index + 1, |size| shape.missing(size * inverse));
    }

    /// Moves one step to the place and the shape with the smallest residual.
    fn move_step(
        &self,
        workspace: &mut Workspace,
        curve: &mut Curve,
        index: usize,
        reach: f64,
        count: usize,
    ) {
        let Some(&was) = curve.steps().get(index) else { return };
        let settled = Settled::new(workspace, curve, index);
        let mut best = self.place(&settled, curve, index, was, reach);
        let mut shapes = [(f64::INFINITY, best.1); SHAPES];
        for step in self.others(best.1) {
            let value = settled.residual(self, &step);
            // A better shape replaces the worst of the shapes kept.
            if let Some(worst) = shapes.iter_mut().take(count).max_by(|one, other| one.0.total_cmp(&other.0))
                && value < worst.0
            {
                *worst = (value, step);
            }
        }
        for (_, step) in shapes.into_iter().filter(|(value, _)| value.is_finite()) {
            let found = self.place(&settled, curve, index, step, NEAR.min(reach));
            if found.0 < best.0 {
                best = found;
            }
        }
        curve.replace(index, best.1);
        self.set_shares(workspace, index, &best.1);
    }

    /// Returns the place near the given one with the smallest residual, and this residual.
    fn place(
        &self,
        settled: &Settled<'_>,
        curve: &Curve,
        index: usize,
        step: Step,
        reach: f64,
    ) -> (f64, Step) {
        let mut best = (f64::INFINITY, step);
        let mut width = reach;
        for _ in 0..NARROWINGS {
            let middle = best.1.ln_capacity;
            for position in -POSITIONS..=POSITIONS {
                let ln_capacity = middle + width * f64::from(position) / f64::from(POSITIONS);
                let (low, high) = self.bounds;
                if (low..=high).contains(&ln_capacity) && is_free(curve, Some(index), ln_capacity) {
                    let step = Step { ln_capacity, ..step };
                    let value = settled.residual(self, &step);
                    if value < best.0 {
                        best = (value, step);
                    }
                }
            }
            width /= f64::from(POSITIONS);
        }
        best
    }

    /// Returns the range of capacities of each step over the shapes that the points do not distinguish from the best
    /// one.
    pub(super) fn ambiguity(&self, workspace: &mut Workspace, found: &Candidate) -> [Range; MAX_LEVELS] {
        let mut ranges = [(0.0, 0.0); MAX_LEVELS];
        let count = workspace.rows().len().real() / ALIKE;
        self.fit(workspace, found.curve);
        for (index, range) in ranges.iter_mut().enumerate() {
            let Some(&was) = found.curve.steps().get(index) else { break };
            *range = (was.ln_capacity, was.ln_capacity);
            let settled = Settled::new(workspace, &found.curve, index);
            let least = settled.residual(self, &was).max(f64::MIN_POSITIVE);
            for step in self.others(was) {
                let (value, step) = self.place(&settled, &found.curve, index, step, NEAR);
                if count * ln(value.max(f64::MIN_POSITIVE) / least) < LIKELY {
                    *range = (range.0.min(step.ln_capacity), range.1.max(step.ln_capacity));
                }
            }
        }
        ranges
    }
}

/// Returns true if a capacity has the minimum distance from all steps except the step `but`.
fn is_free(curve: &Curve, but: Option<usize>, ln_capacity: f64) -> bool {
    let mut others = curve.steps().iter().enumerate().filter(|(index, _)| Some(*index) != but);
    others.all(|(_, step)| (step.ln_capacity - ln_capacity).abs() >= MIN_SEPARATION)
}
