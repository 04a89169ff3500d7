//! The budgets of experiments, from options, machine and points. The engine sees no options. Pure, like the whole plan.

use latency_core::traffic::View;
use latency_core::{Bytes, Pages, ToReal, math};

use super::{PAIRS_NS, own_cores};
use crate::options::{FlagId, Options};
use latency_engine::budget::{
    Budget, FEW_HOPS, FEWEST_ROUNDS, LOADED_WINDOW_NS, LONG_VISIT_NS, Memory, Optional, PLACES, ROUNDS,
    TRAFFIC_WINDOW_NS, WALK_NS,
};
use latency_engine::machine::{Machine, Sizing};
use latency_engine::regions;
use latency_engine::result::Point;

/// Minimum rounds before the confidence interval is evaluated, if few points share the time: twice as many rounds show
/// better how steady neighbours are.
const SPREAD_ROUNDS: usize = 31;
/// Maximum number of points whose rounds are shorter than the time over which they are spread by default.
const FEW_POINTS: usize = 16;
/// Nanoseconds for the memory and the visits of a matrix, without the search before them and the checks after them, so
/// that a matrix ends within a minute.
const MATRIX_NS: f64 = 54e9;
/// Nanoseconds for mapping, clearing and writing a byte, if the host has to find the memory first.
const SET_UP_BYTE_NS: f64 = 1.5;
/// Nanoseconds from the start of a run of one pair to its last visit, so that the run ends within ten seconds, even with
/// busy neighbours.
const WHOLE_NS: f64 = 9.2e9;
/// Addition to [`WHOLE_NS`] for each GiB of the working set beyond [`QUICKLY_PLACED`]: it must be placed and written.
const WHOLE_NS_PER_GIB: f64 = 1e9;
/// Largest working set that adds no time to [`WHOLE_NS`].
const QUICKLY_PLACED: Bytes = Bytes(512 << 20);
/// Minimum nanoseconds of the visits of a run of one pair, enough for an interval: a host that must find the memory of a
/// guest first takes up to 10 s for a GiB.
const LEAST_VISITS_NS: f64 = 3e9;
/// Nanoseconds over which rounds are spread if an undisturbed value is wanted.
const QUIET_SPREAD_NS: f64 = 10e9;
/// Minimum nanoseconds for all pairs together, however large their memory is.
const LEAST_PAIRS_NS: f64 = 20e9;
/// Maximum share of a time limit over which rounds are spread: the rest is for warming up.
const SPREAD_SHARE: f64 = 0.7;
/// Hops over uncached lines in each visit to a pair: a millisecond.
const AHEAD: u64 = 1 << 13;
/// Nanoseconds of a visit to a pair of CPUs: both threads move there and wake up, and each of 16 lines needs 25 us.
pub const WINDOW_NS: f64 = 0.8e6;

/// Returns the default budget, changed by the options.
pub fn of_options(options: &Options, machine: &Machine) -> Budget {
    let (bounded, point_ns) = (options.given.contains(FlagId::TimeLimit), options.point_limit_ns());
    let most_ns = if bounded { SPREAD_SHARE * point_ns } else { f64::INFINITY };
    Budget {
        point_ns,
        bounded,
        spread_ns: options.spread_ns().min(most_ns),
        precision: options.precision,
        trials: options.trials.map(u32::from),
        iters: options.iters.map(u64::from),
        warm_up: options.warmup_iters,
        counters: options.counters,
        trail: machine.largest_cache().0 / super::stride(options, machine).0.max(1) * 3 / 2,
        ..Budget::DEFAULT
    }
}

/// Returns the budget of pairs of nodes. Chains stay as they are written if a cache holds little of them; smaller
/// chains are rewritten at one of several positions for each visit, as in a curve.
pub fn of_pairs(options: &Options, machine: &Machine, points: &[Point]) -> Budget {
    // Points that the defaults select may be left out; points that the user selected may not.
    let optional = match options.memnode {
        Some(_) => Optional::Nothing,
        None if options.pages == Pages::AUTO && options.size.is_none() => Optional::Everything,
        None => Optional::Unreachable,
    };
    // A pool that has pages for the working set may have no more.
    let from_pool = super::pages(options, machine).pool().is_some();
    let mut budget = of_options(options, machine);
    // In a large set, the positions of pages in a cache average out.
    if from_pool || points.iter().all(|point| machine.may_tell_apart(point)) {
        budget = budget.in_regions(machine, points);
        budget.split = Some(machine.page);
    } else {
        budget.memory = Memory::Rewritten { places: PLACES };
    }
    budget.optional = optional;
    if points.len() <= FEW_POINTS && budget.spread_ns > 0.0 {
        budget.rounds = SPREAD_ROUNDS;
    }
    if options.warmup_iters.is_none() && !matches!(budget.memory, Memory::Rewritten { .. }) {
        // The lines just written past the caches show the same as a first pass.
        (budget.ahead, budget.warm_up) = (AHEAD, Some(FEW_HOPS.1));
    }
    budget.twice = true;
    budget.walk_ns = 2.0 * WALK_NS;
    let left_ns = MATRIX_NS - SET_UP_BYTE_NS * regions::bytes(budget.memory, points).0.real();
    let visits_ns = left_ns.clamp(LEAST_PAIRS_NS, PAIRS_NS).max(2.0 * budget.spread_ns);
    if let Some(until_ns) = options.until_ns() {
        (budget.until_quiet, budget.bounded, budget.point_ns) = (true, true, until_ns);
        // A neighbour with activity of some seconds would be quiet or busy throughout a shorter time.
        budget.spread_ns = QUIET_SPREAD_NS.max(budget.spread_ns).min(SPREAD_SHARE * until_ns);
    }
    if let [point] = points {
        let is_like = |sizing: &&Sizing| sizing.size == point.size;
        budget.looked_ns = machine.sizing.as_ref().filter(is_like).map_or(f64::INFINITY, |look| look.cold_ns);
    }
    if let ([point], false) = (points, budget.bounded || budget.trials.is_some()) {
        let more = point.size.0.saturating_sub(QUICKLY_PLACED.0);
        budget.whole_ns = WHOLE_NS + WHOLE_NS_PER_GIB * more.real() / (1u64 << 30).real();
        if options.whole_ns().is_infinite() {
            budget.least_ns = LEAST_VISITS_NS;
        }
    }
    budget.within(visits_ns.min(budget.point_ns * points.len().real()), points.len())
}

/// Returns the budget of pairs of nodes, and of other cores of the same pairs behind them.
pub fn of_matrix(options: &Options, machine: &Machine, points: &[Point]) -> Budget {
    let all = options.view == View::Cores;
    let steady = if all { points.len() } else { own_cores::pairs(points) };
    let mut budget = of_pairs(options, machine, points.get(..steady).unwrap_or_default());
    budget.steady = steady;
    if all && own_cores::are_apart(machine, points) {
        (budget.memory, budget.split) = (Memory::Rewritten { places: 1 }, None);
        budget.long_visit_ns = LONG_VISIT_NS;
    }
    budget
}

/// Returns the budget of lanes.
pub fn of_lanes(options: &Options, machine: &Machine, points: &[Point]) -> Budget {
    /// Nanoseconds after which points keep the rounds that they have. If the last-level cache is large, trails use
    /// most of this time.
    const RUN_NS: f64 = 12e9;
    let mut budget = of_options(options, machine).within(RUN_NS, points.len());
    (budget.most, budget.walk_ns) = (2 * ROUNDS, 0.0);
    budget
}

/// Returns the budget of traffic: each window is a round, and there are enough rounds for an interval.
pub fn of_traffic(options: &Options, machine: &Machine, points: &[Point]) -> Budget {
    /// Nanoseconds after which points keep the rounds that they have.
    const RUN_NS: f64 = 20e9;
    /// Nanoseconds of each point, if there are many.
    const POINT_NS: f64 = 0.5e9;
    let run_ns = RUN_NS.max(POINT_NS * points.len().real());
    let mut budget = of_windows(options, machine, points, run_ns);
    budget.window_ns = TRAFFIC_WINDOW_NS;
    budget
}

/// Returns the budget of chains alongside traffic, to which `more` points may be added. Their chains stay warm, so
/// the warm-up before each window is short.
pub fn of_loaded(options: &Options, machine: &Machine, points: &[Point], more: usize) -> Budget {
    const RUN_NS: f64 = 36e9;
    /// Number of hops that fill the TLBs.
    const WARM_UP: u64 = FEW_HOPS.0;
    let held = options.hold.map_or(0, |seconds| seconds.get() as usize);
    let mut budget = of_windows(options, machine, points, RUN_NS);
    budget.warm_up = options.warmup_iters.or(Some(WARM_UP));
    (budget.more, budget.held) = (more, held);
    budget.most = budget.most.max(held);
    budget.window_ns = LOADED_WINDOW_NS;
    budget
}

/// Returns the budget of windows, where each window is a round, for at most `run_ns`.
fn of_windows(options: &Options, machine: &Machine, points: &[Point], run_ns: f64) -> Budget {
    let optional = if options.memnode.is_some() { Optional::Nothing } else { Optional::Unreachable };
    let run_ns = run_ns.min(options.visits_ns());
    let mut budget = of_options(options, machine).in_regions(machine, points).within(run_ns, points.len());
    (budget.rounds, budget.most, budget.batches) = (FEWEST_ROUNDS, ROUNDS, 1.0);
    (budget.spread_ns, budget.optional) = (0.0, optional);
    budget
}

/// Returns the budget of pairs of CPUs: a window over all lines is a round.
pub fn of_cores(options: &Options, _: &Machine, points: &[Point]) -> Budget {
    /// Nanoseconds over which the windows of few pairs are spread; otherwise they would end within a moment.
    const SPREAD_NS: f64 = 0.7e9;
    /// Half width of the interval, as a fraction, unless the user gave one: cores that share a mesh with others are
    /// not steadier.
    const PRECISION: f64 = 0.05;
    /// Maximum number of points whose windows are spread: all pairs of 10 CPUs, or the pairs of 2 CPUs in many
    /// states, in 1.5 s.
    const FEW_POINTS: usize = 64;
    let asked = options.given.contains(FlagId::Precision);
    let few = points.len() <= FEW_POINTS;
    // If time is short, the rounds are reduced first, and then the pairs.
    let affordable = math::whole(options.visits_ns() / (points.len().max(1).real() * WINDOW_NS)) as usize;
    let usual = if few { SPREAD_ROUNDS } else { FEWEST_ROUNDS };
    let rounds = usual.min(affordable).max(FEWEST_ROUNDS);
    Budget {
        rounds,
        fewest: rounds,
        most: if few || asked { 2 * SPREAD_ROUNDS } else { FEWEST_ROUNDS },
        batches: 1.0,
        walk_ns: 0.0,
        spread_ns: if few { SPREAD_NS.min(options.visits_ns()) } else { 0.0 },
        point_ns: options.point_limit_ns(),
        bounded: options.given.contains(FlagId::TimeLimit),
        precision: if asked { options.precision } else { PRECISION },
        ..Budget::DEFAULT
    }
    .within(options.visits_ns(), points.len())
}

/// Returns the number of pairs of CPUs that the time allows.
pub fn most_pairs(options: &Options) -> usize {
    math::whole(options.visits_ns() / (FEWEST_ROUNDS as f64 * WINDOW_NS)) as usize
}
