//! The expected duration of a plan, for users who want to know it before they wait, and the time limit of a whole run
//! (`--budget`): as much time for the visits as the work around them leaves. Pure, and an estimate.
//!
//! It uses the points and the budget that the engine uses. The speed of memory and disturbances by neighbours are not
//! known beforehand, so the result is a range.

use core::fmt;
use core::ops::{Add, Mul};

use latency_core::chain::Order;
use latency_core::{Bytes, ToReal, math};

use super::budget::WINDOW_NS;
use super::point_of_search;
use crate::options::Options;
use latency_engine::budget::{
    BATCHES, Budget, FEW_HOPS, FILLING_LAPS, LONGEST_FILL_NS, Memory, OVERTIME, Pass, SHORT_PASS,
};
use latency_engine::error::PlacementError;
use latency_engine::machine::{Machine, Platform};
use latency_engine::result::{Point, Walk};

/// Nanoseconds of a round: twenty batches of 100 microseconds, with readings of the clocks between them.
const ROUND: Range = Range(2.1e6, 3.4e6);
/// Nanoseconds to map and clear a byte: of memory that a host has ready, and of memory that it must find first.
const MAPPED_BYTE: Range = Range(0.3, 1.2);
/// Nanoseconds to write a node of a chain, and a byte of the lines.
const WRITTEN_NODE: Range = Range(2.0, 4.0);
const WRITTEN_BYTE: Range = Range(0.1, 0.25);
/// Nanoseconds of a hop in the first, second and last level and in memory. Neighbours share the latter two.
const HOPS: [Range; 4] = [Range(0.7, 2.0), Range(2.5, 8.0), Range(15.0, 70.0), Range(100.0, 190.0)];
/// Nanoseconds of a hop in address order, which prefetchers help.
const ORDERED_HOP: Range = Range(0.7, 10.0);
/// Nanoseconds of the clock's calibration and the diagnosis of the machine: 20 ms if the clocks agree at once.
const START: Range = Range(0.02e9, 0.3e9);
/// Nanoseconds of the search over caches and memory, which is made if the program chooses the size of the working set.
pub const LOOK: Range = Range(0.3e9, 0.9e9);
/// Nanoseconds of the prefetch audit and of the repeat of a point, and the minimum measured memory for an audit.
const AUDIT: Range = Range(0.3e9, 3.0e9);
const AUDITED: Bytes = Bytes(16 << 20);
/// Maximum loads in flight that matter for the estimate.
const IN_FLIGHT: f64 = 10.0;
/// Single hops at a visit: bursts, nanoseconds of the warm-up before each burst, windows of a burst, and nanoseconds of
/// a pair of stamps. The time of hops, batches and the watching loop grows with the latency of a hop, up to the maximum
/// nanoseconds of a burst.
const BURSTS: f64 = 8.0;
const BURST: Range = Range(5e6, 6e6);
const WINDOWS: f64 = 4096.0;
const STAMPS_NS: f64 = 60.0;
const LONGEST_BURST_NS: f64 = 12.5e6;
/// Nanoseconds of the search for the period of refresh.
const REFRESH: Range = Range(0.0, 0.8e9);
/// Nanoseconds of two or more measurements of the generators' rate.
const SETTLING: Range = Range(11e6, 30e6);
/// Minimum share of a budget that is used, and the same if no neighbour shares the caches of any point, because all
/// points then become precise soon.
const USED: [f64; 2] = [0.8, 0.25];

/// The minimum and the maximum expected nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range(pub f64, pub f64);

impl Range {
    /// No time at all.
    pub const ZERO: Range = Range(0.0, 0.0);

    /// Returns the range for a run that may continue for `wait_ns` until neighbours are quiet.
    pub fn or_waits(self, wait_ns: Option<f64>) -> Range {
        Range(self.0, self.1.max(wait_ns.map_or(0.0, |wait| wait + START.1 + AUDIT.1)))
    }

    /// Returns the range with neither end below the other range's.
    pub fn at_least(self, other: Range) -> Range {
        Range(self.0.max(other.0), self.1.max(other.1))
    }

    /// Returns the range with neither end above `limit`.
    pub fn at_most(self, limit: f64) -> Range {
        Range(self.0.min(limit), self.1.min(limit))
    }
}

impl Add for Range {
    type Output = Range;

    fn add(self, other: Range) -> Range {
        Range(self.0 + other.0, self.1 + other.1)
    }
}

impl Mul<f64> for Range {
    type Output = Range;

    fn mul(self, times: f64) -> Range {
        Range(self.0 * times, self.1 * times)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Whole seconds are precise enough for an estimate.
        let (least, most) = (math::whole(self.0 / 1e9), math::whole(self.1 / 1e9) + 1);
        match (least, most) {
            (0, 1) => out.write_str("less than 1 s"),
            (0, _) => write!(out, "up to {most} s"),
            _ => write!(out, "about {least} to {most} s"),
        }
    }
}

/// Returns the time of the audit and of the repeat.
fn audit(points: &[Point]) -> Range {
    if points.iter().any(|point| point.size >= AUDITED) { AUDIT } else { Range::ZERO }
}

/// Returns the time before and after the measurement of any experiment's points, with `mapped` bytes.
fn around(points: &[Point], mapped: f64) -> Range {
    START + MAPPED_BYTE * mapped + audit(points)
}

/// Returns the maximum expected nanoseconds if a time limit of the whole run ends the visits and the audit, so that a
/// slow start leaves less time for them.
fn longest_ns(machine: &Machine, points: &[Point], budget: &Budget) -> f64 {
    let Range(least, most) = START + audit(points);
    estimate(machine, points, budget).1 - (most - least)
}

/// Returns the time of a hop of a chain in caches that hold it, or in memory.
fn hop(machine: &Machine, point: &Point) -> Range {
    if matches!(point.order, Order::Sequential | Order::Backward) {
        return ORDERED_HOP;
    }
    let line = point.line.bytes();
    let lines = Bytes(point.size.0 / point.stride.max(line).0 * line.0);
    let caches = [machine.cache(1), machine.cache(2), Some(machine.last_level_cache())];
    let held = caches.iter().position(|cache| cache.is_some_and(|cache| lines <= cache));
    held.and_then(|level| HOPS.get(level)).copied().unwrap_or(HOPS[3])
}

/// Returns the time to write the chain of a point.
fn written(point: &Point) -> Range {
    WRITTEN_BYTE * point.size.0.real() + WRITTEN_NODE * (point.size.0 / point.stride.0.max(1)).real()
}

/// Returns the time of a round of a point in one of `rounds` rounds; `least_ns` is the minimum unless the user changed
/// it.
fn round(budget: &Budget, hop: Range, rounds: f64, least_ns: f64) -> Range {
    let trial = budget.iters.map_or(ROUND * (1.0 / BATCHES), |iters| hop * iters.real());
    match budget.trials {
        Some(trials) => trial * (f64::from(trials) / rounds).max(1.0),
        None => {
            let asked =
                if budget.iters.is_some() { Range::ZERO } else { hop * (budget.hops.real() / rounds) };
            (trial * BATCHES).at_least(asked).at_least(Range(least_ns, least_ns))
        }
    }
}

/// Returns the time that single hops add to a visit: hops, and batches and the watching loop of the same length.
fn single_hops(budget: &Budget, hop: Range) -> Range {
    if !budget.single_hops {
        return Range::ZERO;
    }
    let burst = Range((hop.0 + STAMPS_NS) * WINDOWS, (hop.1 + STAMPS_NS) * WINDOWS).at_most(LONGEST_BURST_NS);
    (BURST + burst * 3.0) * BURSTS
}

/// Returns the minimum rounds of a point, and the rounds that it probably needs.
fn rounds(budget: &Budget, fewest: usize) -> Range {
    match budget.trials {
        Some(trials) => Range(1.0, 1.0) * f64::from(trials).min(fewest.real()),
        None => Range(fewest.real(), (2 * fewest).min(budget.most).real()),
    }
}

/// Returns the products of the minima and of the maxima.
fn product(one: Range, other: Range) -> Range {
    Range(one.0 * other.0, one.1 * other.1)
}

/// Returns the time of a visit before its round: of the first visit, and of each other visit.
fn before(machine: &Machine, point: &Point, hop: Range, budget: &Budget, alone: bool) -> (Range, Range) {
    let nodes = point.size.0 / point.stride.0.max(1);
    let written = written(point);
    let lap = hop * nodes.real();
    let asked = budget.warm_up.unwrap_or(u64::MAX).max(FEW_HOPS.0);
    let few = hop * (nodes / 16).clamp(FEW_HOPS.0, FEW_HOPS.1).min(asked).real();
    let first = |most: u64| HOPS[3] * budget.warm_up.unwrap_or(nodes.min(most)).real();
    match (budget.memory, budget.pass, point.walk) {
        (Memory::Rewritten { .. }, Pass::Lap, _) => {
            let pass = |most: u64| hop * budget.warm_up.unwrap_or(nodes.min(most)).real();
            // The sequential chain is written once more, in slices, for the independent loads.
            let written = written * if point.order == Order::Sequential { 2.0 } else { 1.0 };
            (written + pass(u64::MAX), written + pass(SHORT_PASS))
        }
        (Memory::Rewritten { .. }, Pass::Short, _) => {
            let filled = (lap * (FILLING_LAPS as f64 / IN_FLIGHT)).at_most(LONGEST_FILL_NS);
            let held = point.size <= machine.last_level_cache();
            let warm = if held { filled + lap * 2.0 } else { few };
            (written + first(FEW_HOPS.1) + filled + warm, written + warm)
        }
        // The first of several points writes the memory that the others use.
        (Memory::Shared, _, Walk::Traffic(_)) if alone => (Range::ZERO, Range::ZERO),
        (Memory::Shared, _, Walk::Traffic(_)) => {
            let written = WRITTEN_BYTE * point.size.0.real();
            (written, written)
        }
        (Memory::Shared, ..) => (written + first(SHORT_PASS), written + few),
        (Memory::Kept, _, Walk::Chain | Walk::Loaded(_)) => {
            (first(SHORT_PASS), if alone { Range::ZERO } else { few })
        }
        (Memory::Kept, ..) if alone => (Range::ZERO, Range::ZERO),
        (Memory::Kept, ..) => {
            let trail = if nodes < budget.trail {
                lap * (FILLING_LAPS as f64 / IN_FLIGHT)
            } else {
                hop * (budget.trail.real() / IN_FLIGHT.min(point.walk.lanes().real()))
            };
            (trail.at_most(LONGEST_FILL_NS), trail.at_most(LONGEST_FILL_NS))
        }
    }
}

/// Returns the time of the windows of `pairs` pairs of CPUs.
fn exchanges(pairs: f64, budget: &Budget) -> Range {
    /// Nanoseconds of a window: waking up both threads takes a part of it, and a neighbour may double it.
    const WINDOW: Range = Range(0.5 * WINDOW_NS, 2.0 * WINDOW_NS);
    let all = product(WINDOW * pairs, rounds(budget, budget.rounds));
    let all = all.at_least(Range(budget.spread_ns, 2.0 * budget.spread_ns));
    // The minimum windows are made even if time is up.
    let least = pairs * budget.fewest.real() * WINDOW_NS;
    START + all.at_most((budget.share_ns * pairs * OVERTIME).max(least))
}

/// Returns the expected duration of `points` under `budget`.
pub fn estimate(machine: &Machine, points: &[Point], budget: &Budget) -> Range {
    /// Minimum share of the time after the visits that is used.
    const AFTER: f64 = 0.1;
    visits(machine, points, budget) + Range(AFTER, 1.0) * budget.after_ns
}

/// Returns the same without what follows the visits.
fn visits(machine: &Machine, points: &[Point], budget: &Budget) -> Range {
    let points = budget.steady(points);
    if points.is_empty() {
        return Range::ZERO;
    }
    if points.iter().all(|point| point.walk.is_of_cores()) {
        return exchanges(points.len().real(), budget);
    }
    let (mut count, mut mapped, mut once, mut all) = (0, 0.0, Range::ZERO, Range::ZERO);
    // The minimum rounds of quick points, which are made even if time is up.
    let mut least_ns = 0.0;
    let mut last = None::<(Bytes, usize)>;
    for (index, point) in points.iter().enumerate().filter(|(_, point)| machine.has_pages_for(point)) {
        let earlier = points.get(..index).unwrap_or_default();
        let shared = |other: &&Point| {
            (other.target, other.pages) == (point.target, point.pages)
                && (budget.memory != Memory::Kept || other.initiator == point.initiator)
        };
        let walked = (point.size, point.walk.lanes());
        let alone = match (budget.memory, point.walk) {
            (Memory::Kept | Memory::Shared, Walk::Chain) => points.len() == 1,
            (Memory::Shared, Walk::Traffic(_)) => {
                let alike = |other: &Point| {
                    let route =
                        |point: &Point| (point.initiator, point.target, point.walk.traffic().is_some());
                    route(other) == route(point)
                };
                earlier.iter().any(alike)
            }
            _ => last.replace(walked) == Some(walked),
        };
        let hop = hop(machine, point);
        let (first, again) = before(machine, point, hop, budget, alone);
        match budget.memory {
            Memory::Kept | Memory::Shared
                if !earlier.iter().filter(shared).any(|other| other.size == point.size) =>
            {
                mapped += point.size.0.real();
                once = once + written(point);
            }
            Memory::Rewritten { .. } if !earlier.iter().any(|other| shared(&other)) => {
                let largest = points.iter().filter(shared).map(|other| other.size.0).max().unwrap_or(0);
                mapped += largest.real() * 1.25;
            }
            _ => {}
        }
        let added = if budget.window_ns > 0.0 { budget.more } else { 0 };
        // If hops are counted, their number determines the length of rounds.
        let walk_ns = if budget.hops > 0 { 0.0 } else { budget.walk_ns };
        let share = walk_ns / (budget.rounds * (points.len() + added)).real();
        let round = match point.walk.traffic() {
            Some(_) => SETTLING + Range(budget.window_ns, budget.window_ns),
            None => round(budget, hop, budget.rounds.real(), share),
        };
        let is_long = (again + round).0 > budget.long_visit_ns;
        let fewest = if is_long { budget.fewest } else { budget.rounds };
        once = once + first + if budget.single_hops { REFRESH } else { Range::ZERO };
        // If rounds are shorter than the time over which they are spread, the CPU idles between them.
        let distance = budget.spread_ns / (budget.rounds * points.len()).real();
        let visit = (again + round + single_hops(budget, hop)).at_least(Range(distance, distance));
        all = all + product(visit, rounds(budget, fewest)).at_most(budget.point_ns);
        least_ns += if is_long { 0.0 } else { product(visit, rounds(budget, budget.fewest)).0 };
        count += 1;
    }
    // Points that are added later are assumed to be like the others.
    let share = (count + budget.more).real() / f64::from(count.max(1) as u32);
    let all = once + all * share;
    let time = budget.share_ns * count.real();
    if !time.is_finite() {
        return around(points, mapped) + all;
    }
    // In experiments with many sizes some points never become precise, and use the time that the others leave.
    let alike = |point: &Point| {
        matches!(point.walk, Walk::Chain) && points.first().is_some_and(|first| first.size == point.size)
    };
    let bounded = budget.window_ns > 0.0 || points.iter().all(alike);
    let own = machine.cache(2);
    let is_own = points.iter().all(|point| own.is_some_and(|own| point.size <= own));
    let used = USED[usize::from(is_own)] * time;
    let all = if bounded { all } else { all.at_least(Range(used, time)) };
    // The same is true of windows.
    let least = if budget.window_ns > 0.0 { all.0 } else { once.0 + least_ns };
    let held = Range(1e9, 1e9) * budget.held.real();
    around(points, mapped) + all.at_most((OVERTIME * time).max(least)) + held
}

/// Returns the nanoseconds from the start of the run after which no visit begins: the rest is for the last checks, which
/// runs of windows do not have.
pub fn visits_end_ns(options: &Options, budget: &Budget) -> f64 {
    const SHARE: f64 = 0.9;
    const CHECKS_NS: f64 = 1e9;
    let whole_ns = options.whole_ns();
    let checks_ns = if budget.batches > 1.0 { CHECKS_NS } else { 0.0 };
    (whole_ns - checks_ns).max(0.5 * whole_ns).min(SHARE * whole_ns)
}

/// Returns the nanoseconds from the start of the run after which it ends with what is measured: an idle machine never
/// needs them.
pub fn end_ns(options: &Options) -> f64 {
    const SHARE: f64 = 1.2;
    const LATEST_NS: f64 = 2e9;
    let whole_ns = options.whole_ns();
    (SHARE * whole_ns).max(whole_ns + LATEST_NS)
}

/// Returns the time of the search for the working set before a run.
fn look(options: &Options, machine: &Machine, points: &[Point]) -> Range {
    point_of_search(options, machine, points).map_or(Range::ZERO, |_| LOOK)
}

/// Returns the expected duration of the whole run.
pub fn expected(options: &Options, machine: &Machine, points: &[Point], budget: &Budget) -> Range {
    /// The slowdown of memory and set-up that a translating emulator may bring.
    const EMULATED: Range = Range(1.0, 4.0);
    let found = estimate(machine, points, budget).or_waits(options.until_ns());
    let found = found + look(options, machine, points);
    let found = match machine.processor.platform {
        Platform::Emulated => product(found, EMULATED),
        _ => found,
    };
    found.at_most(options.whole_ns())
}

/// Limits the visits, so that the run ends within the time that the user gave it, if any.
///
/// # Errors
///
/// [`PlacementError::BudgetTooShort`] if the time does not suffice for a visit to each point, unless the run has begun.
pub fn fit_visits(
    options: &Options,
    machine: &Machine,
    points: &[Point],
    budget: &mut Budget,
) -> Result<(), PlacementError> {
    /// Steps of the search for the time of the visits.
    const STEPS: usize = 12;
    let whole_ns = options.whole_ns();
    let takes_ns = |visits_ns: f64| {
        let mut limited = *budget;
        limited.limit(visits_ns, machine, points);
        longest_ns(machine, points, &limited) + look(options, machine, points).1
    };
    if whole_ns.is_infinite() || takes_ns(f64::INFINITY) <= whole_ns {
        return Ok(());
    }
    let least_ns = takes_ns(0.0);
    // A search that found a larger working set belongs to the run.
    if least_ns > whole_ns && machine.sizing.is_none() {
        return Err(PlacementError::BudgetTooShort { seconds: math::whole(least_ns / 1e9) + 1 });
    }
    let (mut fits_ns, mut over_ns) = (0.0, whole_ns);
    for _ in 0..STEPS {
        let middle_ns = (fits_ns + over_ns) / 2.0;
        let end = if takes_ns(middle_ns) <= whole_ns { &mut fits_ns } else { &mut over_ns };
        *end = middle_ns;
    }
    budget.limit(fits_ns, machine, points);
    Ok(())
}
