//! The search for the stair whose steps follow [laws](super::law) of replacement.
//!
//! Such a law leaves a step no freedom but its place, so that the sizes that come out are
//! capacities, where a Hill curve gives the working set at which half of the accesses miss.
//! One step at a time is added where it helps most; then each is moved, and its law chosen
//! anew, with all others held. What is a cache of its own has a plateau: steps keep their
//! distance in size and in height, and a slow rise is no second level.

use super::curve::{Curve, Rise, Step};
use super::fit::{Fit, FitKind};
use super::law::Law;
use super::least_squares::{NormalEquations, Unknowns, MAX_UNKNOWNS};
use super::robust;
use super::search::{fit_latencies, Candidate};
use super::{Workspace, MAX_LEVELS, MAX_POINTS};

/// Capacities of neighbours are further apart, in ln S: a factor of 2.2.
const MIN_SEPARATION: f64 = 0.8;
/// The next level out is slower by at least such a share.
const LEAST_RISE: f64 = 0.15;
/// Capacities tried for one more step, evenly spaced in ln S.
const PLACES: usize = 64;
/// How far a step is moved at first, in ln S, to either side.
const REACH: f64 = 0.4;
/// Positions tried to either side, and how often between the two around the best.
const POSITIONS: i32 = 3;
const NARROWINGS: usize = 4;
/// Times that all steps are moved.
const PASSES: usize = 3;
/// A pass that improves minus twice the log-likelihood by less has settled.
const SETTLED: f64 = 0.02;
/// Numbers of levels in a row without a better one after which the choice is made.
const PATIENCE: usize = 2;

/// The laws that all steps are given at once, to start from what single moves do not reach.
const STARTS: [Law; 3] = [Law::InTurn(8), Law::Random(16), Law::ColouredRandom(16)];

/// A curve all of whose steps but one are settled.
struct Settled {
    rows: [Unknowns; MAX_POINTS],
    equations: NormalEquations,
    place: usize,
}

impl Settled {
    /// The step at `index` is open; it may be the one behind the last.
    fn new(workspace: &Workspace, curve: &Curve, index: usize) -> Self {
        // The column of the translation buffer is the last: a new one lies behind it.
        let place = if index < curve.steps().len() { index + 1 } else { curve.unknowns() };
        let mut rows = [[0.0; MAX_UNKNOWNS]; MAX_POINTS];
        let mut equations = NormalEquations::new(curve.unknowns().max(place + 1));
        for (shares, row) in rows.iter_mut().zip(workspace.rows()) {
            *shares = curve.row(row.ln_size).map(|share| share * row.relative);
            if let Some(share) = shares.get_mut(place) {
                *share = 0.0;
            }
            equations.add(shares, 1.0, row.weight);
        }
        Self { rows, equations, place }
    }

    /// The smallest weighted sum of squared relative residuals with a step in the open place.
    fn residual(&self, workspace: &Workspace, step: &Step) -> f64 {
        let mut products = [0.0; MAX_UNKNOWNS];
        let (mut square, mut right) = (0.0, 0.0);
        for (shares, row) in self.rows.iter().zip(workspace.rows()) {
            let share = step.missing(row.ln_size) * row.relative;
            if share > 0.0 {
                let weighted = share * row.weight;
                for (product, other) in products.iter_mut().zip(shares) {
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

/// The best stair of as many levels as the points support, 0 to `most`.
pub(super) fn choose(workspace: &mut Workspace, start: Curve, most: usize) -> Candidate {
    let mut current = fit_latencies(workspace, start);
    let mut best = current;
    let mut criterion = Fit::new(FitKind::Laws, &current, workspace).bic;
    let mut failures = 0;
    for _ in 0..most.min(MAX_LEVELS) {
        let Some(next) = extend(workspace, &current) else { break };
        current = next;
        let fit = Fit::new(FitKind::Laws, &current, workspace);
        let stands =
            |level: &super::Level| level.resolved && level.step.value > LEAST_RISE * level.latency.value;
        if fit.bic < criterion && fit.levels().iter().all(stands) {
            (best, criterion, failures) = (current, fit.bic, 0);
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

/// The best curve found with one step more; `None` where there is no room for it.
fn extend(workspace: &mut Workspace, previous: &Candidate) -> Option<Candidate> {
    let (&low, &high) = (workspace.ln_sizes().first()?, workspace.ln_sizes().last()?);
    robust::fit(workspace, &previous.curve);
    let settled = Settled::new(workspace, &previous.curve, usize::MAX);
    let mut best: Option<(f64, Step)> = None;
    for place in 0..PLACES {
        let ln_capacity = low + (high - low) * (place as f64 + 0.5) / PLACES as f64;
        if !is_free(&previous.curve, None, ln_capacity) {
            continue;
        }
        for law in STARTS {
            let step = Step { ln_capacity, rise: Rise::Law(law) };
            let residual = settled.residual(workspace, &step);
            if best.is_none_or(|(least, _)| residual < least) {
                best = Some((residual, step));
            }
        }
    }
    let mut curve = previous.curve.with(best?.1);
    curve.sort();
    let mut best = polish(workspace, curve, (low, high));
    for law in STARTS {
        let mut start = curve;
        for index in 0..start.steps().len() {
            if let Some(&step) = curve.steps().get(index) {
                start.replace(index, Step { rise: Rise::Law(law), ..step });
            }
        }
        // Places first: under wrong laws they are what laws are chosen to make good.
        fit_latencies(workspace, start);
        let start = moved(workspace, start, (low, high), &[law]);
        let found = polish(workspace, start, (low, high));
        if found.linear.deviance < best.linear.deviance {
            best = found;
        }
    }
    Some(best)
}

/// Moves steps until none gains by it.
fn polish(workspace: &mut Workspace, curve: Curve, bounds: (f64, f64)) -> Candidate {
    let mut best = fit_latencies(workspace, curve);
    for _ in 0..PASSES {
        let next = moved(workspace, best.curve, bounds, &Law::ALL);
        let next = fit_latencies(workspace, next);
        let gain = best.linear.deviance - next.linear.deviance;
        if gain > 0.0 {
            best = next;
        }
        if gain < SETTLED {
            break;
        }
    }
    best
}

/// Every step in turn where the residual is least, under that of some laws under which it is.
fn moved(workspace: &Workspace, mut curve: Curve, (low, high): (f64, f64), laws: &[Law]) -> Curve {
    for index in 0..curve.steps().len() {
        let settled = Settled::new(workspace, &curve, index);
        let Some(&was) = curve.steps().get(index) else { break };
        let mut best = (settled.residual(workspace, &was), was);
        for &law in laws {
            let mut middle = was.ln_capacity;
            let mut width = REACH;
            for _ in 0..NARROWINGS {
                let mut here = (f64::INFINITY, middle);
                for position in -POSITIONS..=POSITIONS {
                    let ln_capacity = middle + width * f64::from(position) / f64::from(POSITIONS);
                    if !(low..=high).contains(&ln_capacity) || !is_free(&curve, Some(index), ln_capacity) {
                        continue;
                    }
                    let step = Step { ln_capacity, rise: Rise::Law(law) };
                    let value = settled.residual(workspace, &step);
                    if value < here.0 {
                        here = (value, ln_capacity);
                    }
                    if value < best.0 {
                        best = (value, step);
                    }
                }
                middle = here.1;
                width /= f64::from(POSITIONS);
            }
        }
        curve.replace(index, best.1);
    }
    curve.sort();
    curve
}

/// Whether a capacity keeps its distance from all steps but one.
fn is_free(curve: &Curve, but: Option<usize>, ln_capacity: f64) -> bool {
    let others = curve.steps().iter().enumerate().filter(|(index, _)| Some(*index) != but);
    others.into_iter().all(|(_, step)| (step.ln_capacity - ln_capacity).abs() >= MIN_SEPARATION)
}
