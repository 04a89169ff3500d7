//! The search for capacities and shapes: where it starts and when it ends.
//!
//! Works one step at a time: the best curve with K-1 steps, and the place where one more
//! would help most, start the search for K. It does not decide how many there are.

use core::f64::consts::LN_2;

use super::curve::{Curve, Rise, Step, SHAPE_RANGE};
use super::robust::{self, Linear};
use super::simplex::{minimise, Limits, Position};
use super::{Workspace, MAX_LEVELS};
use crate::math::{exp, ln};

/// Steps closer than half an octave are one: no plateau between them could be seen.
const MIN_SEPARATION: f64 = 0.5 * LN_2;
/// Capacities tried for one more step, evenly spaced in ln S.
const PLACES: usize = 48;
/// Shapes tried at each: a slope, a cache with random page colours, a sharp edge.
const SHAPES: [f64; 3] = [3.0, 10.0, 40.0];
/// Another start must lie this far, in ln S, from the best one.
const OTHER_PLACE: f64 = 1.5 * LN_2;
/// Rounds of search under fixed weights, after each of which they are made anew.
const ROUNDS: usize = 5;
/// A round that improves minus twice the log-likelihood by less has settled.
const SETTLED: f64 = 0.02;

/// The form of the steps of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// [`Rise::Share`]: one searched parameter a level.
    Share,
    /// [`Rise::Hill`]: two.
    Hill,
}

impl Family {
    fn step(self, ln_capacity: f64, shape: f64) -> Step {
        let rise = match self {
            Family::Share => Rise::Share,
            Family::Hill => Rise::Hill { shape },
        };
        Step { ln_capacity, rise }
    }

    fn shapes(self) -> &'static [f64] {
        match self {
            Family::Share => &SHAPES[..1],
            Family::Hill => &SHAPES,
        }
    }

    fn dimensions(self, levels: usize) -> usize {
        match self {
            Family::Share => levels,
            Family::Hill => 2 * levels,
        }
    }
}

/// A curve with the latencies that suit it best.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) curve: Curve,
    pub(super) linear: Linear,
}

/// The best latencies for a curve as it is.
pub(super) fn fit_latencies(workspace: &mut Workspace, curve: Curve) -> Candidate {
    let linear = robust::fit(workspace, &curve);
    Candidate { curve, linear }
}

/// The best curve found with one step more than `previous`.
pub(super) fn extend(workspace: &mut Workspace, previous: &Candidate, family: Family) -> Candidate {
    let levels = previous.curve.steps().len() + 1;
    // The scan goes by the weights of the smaller model.
    robust::fit(workspace, &previous.curve);
    let (first, second) = most_helpful(workspace, &previous.curve, family);
    let steepest = steepest(workspace, previous.curve.without_steps(), levels, family);
    let seeds = [first, second, (steepest.steps().len() == levels).then_some(steepest)];
    let mut best: Option<Candidate> = None;
    for seed in seeds.into_iter().flatten() {
        // A short search ranks the starts; only the best one deserves a long one.
        let found = polish(workspace, seed, family, 1);
        if best.is_none_or(|best| found.linear.deviance < best.linear.deviance) {
            best = Some(found);
        }
    }
    best.map_or(*previous, |best| polish(workspace, best.curve, family, ROUNDS))
}

/// `curve` with one step more where that lowers the residual most, and where it does so
/// elsewhere.
fn most_helpful(workspace: &Workspace, curve: &Curve, family: Family) -> (Option<Curve>, Option<Curve>) {
    let (low, high) = range(workspace);
    let mut places = [(f64::INFINITY, family.step(low, 1.0)); PLACES];
    for (place, slot) in places.iter_mut().enumerate() {
        let ln_capacity = low + (high - low) * (place as f64 + 0.5) / PLACES as f64;
        let taken = |step: &Step| (step.ln_capacity - ln_capacity).abs() < MIN_SEPARATION;
        if curve.steps().iter().any(taken) {
            continue;
        }
        for &shape in family.shapes() {
            let step = family.step(ln_capacity, shape);
            let value = robust::weighted_residual(workspace, &curve.with(step));
            if value < slot.0 {
                *slot = (value, step);
            }
        }
    }
    let best_of = |eligible: &dyn Fn(&Step) -> bool| {
        let open = places.iter().filter(|(value, step)| value.is_finite() && eligible(step));
        open.min_by(|a, b| a.0.total_cmp(&b.0)).map(|&(_, step)| step)
    };
    let first = best_of(&|_| true);
    let second =
        first.and_then(|first| best_of(&|step| (step.ln_capacity - first.ln_capacity).abs() > OTHER_PLACE));
    (first.map(|step| curve.with(step)), second.map(|step| curve.with(step)))
}

/// Steps at the `levels` places where ln L rises fastest with ln S, added to `curve`.
fn steepest(workspace: &Workspace, mut curve: Curve, levels: usize, family: Family) -> Curve {
    /// Points on each side that a slope is taken over: one alone would follow the noise.
    const REACH: usize = 2;
    let points = workspace.points();
    for _ in 0..levels.min(MAX_LEVELS) {
        let mut best: Option<(f64, f64)> = None;
        for window in points.windows(2 * REACH + 1) {
            let (Some(from), Some(middle), Some(to)) = (window.first(), window.get(REACH), window.last())
            else {
                continue;
            };
            let place = ln(middle.working_set);
            let taken = |step: &Step| (step.ln_capacity - place).abs() < 2.0 * MIN_SEPARATION;
            let run = ln(to.working_set / from.working_set);
            if run <= 0.0 || curve.steps().iter().any(taken) {
                continue;
            }
            let slope = ln(to.latency / from.latency) / run;
            if best.is_none_or(|(largest, _)| slope > largest) {
                best = Some((slope, place));
            }
        }
        let Some((_, place)) = best else { break };
        curve = curve.with(family.step(place, SHAPES[1]));
    }
    curve
}

/// Moves capacities and shapes to where the likelihood is largest.
fn polish(workspace: &mut Workspace, start: Curve, family: Family, rounds: usize) -> Candidate {
    let mut best = fit_latencies(workspace, start);
    let levels = start.steps().len();
    let dimensions = family.dimensions(levels);
    let mut position = encode(&start, family);
    let bounds = range(workspace);
    for round in 0..rounds {
        let limits = Limits { evaluations: 60 * dimensions + 60, relative_value: 1e-6, size: 1e-4 };
        // Later rounds look round a place that is nearly right.
        let edge = if round == 0 { 0.3 } else { 0.1 };
        let frozen: &Workspace = workspace;
        let (found, _) = minimise(&position, dimensions, edge, limits, |position| {
            let (curve, excess) = decode(position, &start, family, bounds);
            robust::weighted_residual(frozen, &curve) * (1.0 + 10.0 * excess)
        });
        let (curve, _) = decode(&found, &start, family, bounds);
        position = encode(&curve, family);
        let next = fit_latencies(workspace, curve);
        let gain = best.linear.deviance - next.linear.deviance;
        if gain > 0.0 {
            best = next;
        }
        if gain < SETTLED {
            break;
        }
    }
    best.curve.sort();
    // In the order of the sorted steps, with the weights that belong to them.
    fit_latencies(workspace, best.curve)
}

/// The logarithms of the smallest and the largest working set.
fn range(workspace: &Workspace) -> (f64, f64) {
    match workspace.ln_sizes() {
        [first, .., last] => (*first, *last),
        _ => (0.0, 0.0),
    }
}

/// The searched parameters of a curve: capacities, then shapes, all as logarithms.
fn encode(curve: &Curve, family: Family) -> Position {
    let mut position = Position::default();
    let levels = curve.steps().len();
    for (i, step) in curve.steps().iter().enumerate() {
        position[i] = step.ln_capacity;
        if let (Family::Hill, Rise::Hill { shape }) = (family, step.rise) {
            position[levels + i] = ln(shape);
        }
    }
    position
}

/// The curve at a position, moved into bounds, and by how much the position breaks them.
fn decode(position: &Position, like: &Curve, family: Family, bounds: (f64, f64)) -> (Curve, f64) {
    let levels = like.steps().len();
    let mut excess = 0.0;
    let mut bounded = |value: f64, (low, high): (f64, f64)| {
        let inside = value.max(low).min(high);
        excess += (value - inside).abs();
        inside
    };
    let shapes = (ln(SHAPE_RANGE.0), ln(SHAPE_RANGE.1));
    let mut curve = like.without_steps();
    for i in 0..levels {
        let ln_capacity = bounded(position[i], bounds);
        let rise = match family {
            Family::Share => Rise::Share,
            Family::Hill => Rise::Hill { shape: exp(bounded(position[levels + i], shapes)) },
        };
        curve = curve.with(Step { ln_capacity, rise });
    }
    for (i, one) in curve.steps().iter().enumerate() {
        for other in curve.steps().iter().skip(i + 1) {
            excess += (MIN_SEPARATION - (one.ln_capacity - other.ln_capacity).abs()).max(0.0);
        }
    }
    (curve, excess)
}
