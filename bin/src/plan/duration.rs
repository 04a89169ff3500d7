//! How long a plan will take: for people who want to know before they wait. Pure, and an estimate.
//!
//! Each way to measure has its function here; the constants of that way are the
//! caller's. What nobody knows beforehand is how fast memory is and whether a
//! neighbour disturbs it, so that the answer is a range.

use core::fmt;
use core::ops::{Add, Mul};

use latency_core::chain::Order;
use latency_core::decimal::Decimal;
use latency_core::units::{Bytes, PageSize};

use super::single;
use crate::machine::Machine;
use crate::options::{FlagId, Options, Pages};
use crate::result::Point;

/// Rounds before the confidence interval is looked at: over 15 it holds the median in 96.5 of 100 runs.
pub const ROUNDS: usize = 15;
/// The fewest rounds that have a confidence interval worth the name: the range of 7 holds the median in 98.4 of 100 runs.
pub const FEWEST_ROUNDS: usize = 7;
/// Twenty batches of 100 microseconds, with what is read of the clocks between them.
const ROUND: Range = Range(2.6e6, 3.4e6);
/// Mapping and clearing a byte: of memory that a host has at hand, and of such that it must find first.
const MAPPED_BYTE: Range = Range(0.3, 1.2);
/// Writing a node of a chain, and a byte of the lines.
const WRITTEN_NODE: Range = Range(2.0, 4.0);
const WRITTEN_BYTE: Range = Range(0.1, 0.25);
/// A hop in the first, second and last level and in memory. Neighbours have their part of the latter two.
const HOPS: [Range; 4] = [Range(1.0, 2.0), Range(4.0, 8.0), Range(15.0, 70.0), Range(100.0, 190.0)];
/// A hop in address order, which prefetchers help.
const ORDERED_HOP: Range = Range(2.0, 10.0);
/// Calibration of the clock, and what diagnoses the machine.
const START: Range = Range(0.1e9, 0.3e9);
/// The prefetch audit, which is made where so much memory is measured.
const AUDIT: Range = Range(0.4e9, 1.0e9);
const AUDITED: Bytes = Bytes(16 << 20);
/// A run whose budget is used up ends with the round that it is in.
const OVERTIME: f64 = 1.2;
/// As much of a budget is used up at the least.
const USED: f64 = 0.8;

/// The least and the most nanoseconds to be expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range(pub f64, pub f64);

impl Range {
    /// No time at all.
    pub const ZERO: Range = Range(0.0, 0.0);

    fn at_most(self, limit: f64) -> Range {
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
        let least = (self.0 / 1e9) as u64;
        let most = ((self.1 / 1e9) as u64 + 1).max(least + 1);
        match least {
            0 => write!(out, "about {} s", Decimal(most as f64)),
            _ => write!(out, "about {} to {} s", Decimal(least as f64), Decimal(most as f64)),
        }
    }
}

/// What the points of every experiment take before and after they are measured: `mapped` bytes among them.
fn around(points: &[Point], mapped: f64) -> Range {
    let audited = points.iter().any(|point| point.size >= AUDITED);
    START + MAPPED_BYTE * mapped + if audited { AUDIT } else { Range::ZERO }
}

/// A hop of a chain in caches that hold it, or in memory.
fn hop(machine: &Machine, point: &Point) -> Range {
    if matches!(point.order, Order::Sequential | Order::Backward) {
        return ORDERED_HOP;
    }
    let lines = Bytes(point.size.0 / point.stride.0.max(64) * 64);
    let caches = [single::cache(machine, 1), single::cache(machine, 2), Some(machine.last_level_cache())];
    let held = caches.iter().position(|cache| cache.is_some_and(|cache| lines <= cache));
    held.and_then(|level| HOPS.get(level)).copied().unwrap_or(HOPS[3])
}

/// Writing the chain of a point.
fn written(point: &Point) -> Range {
    WRITTEN_BYTE * point.size.0 as f64 + WRITTEN_NODE * (point.size.0 / point.stride.0.max(1)) as f64
}

/// A round of a point, as the options want it, in one of `rounds`; `least_ns` where nothing is said.
fn round(options: &Options<'_>, hop: Range, rounds: f64, least_ns: f64) -> Range {
    let trial = options.iters.map_or(ROUND * 0.05, |iters| hop * iters.get() as f64);
    match options.trials {
        Some(trials) => trial * (f64::from(trials.get()) / rounds).max(1.0),
        None => {
            let all = trial * 20.0;
            Range(all.0.max(least_ns), all.1.max(least_ns))
        }
    }
}

/// The fewest rounds of a point, and those that it is likely to need.
fn rounds(options: &Options<'_>, fewest: usize) -> Range {
    match options.trials {
        Some(trials) => Range(1.0, 1.0) * f64::from(trials.get()).min(fewest as f64),
        None => Range(fewest as f64, 2.0 * fewest as f64),
    }
}

/// The product of both ends.
fn product(one: Range, other: Range) -> Range {
    Range(one.0 * other.0, one.1 * other.1)
}

/// Points side by side, whose memory stays written: [`crate::engine::schedule::sweep`].
#[must_use]
pub fn sweep(options: &Options<'_>, machine: &Machine, points: &[Point], spread_ns: f64) -> Range {
    /// A first pass is no longer.
    const PASS: u64 = 1 << 20;
    let mut mapped = 0.0;
    let mut all = Range::ZERO;
    for (index, point) in points.iter().enumerate() {
        if !points.get(..index).unwrap_or_default().iter().any(|other| other.target == point.target) {
            mapped += point.size.0 as f64;
            all = all + written(point);
        }
        let hop = hop(machine, point);
        let pass = options.warmup_iters.unwrap_or((point.size.0 / point.stride.0.max(1)).min(PASS));
        let share = spread_ns / (ROUNDS * points.len()) as f64;
        let round = round(options, hop, ROUNDS as f64, share);
        all = all
            + hop * pass as f64
            + product(round, rounds(options, ROUNDS)).at_most(options.point_limit_ns());
    }
    around(points, mapped) + all
}

/// Points that share memory, written anew for each visit, in so much time for each: [`crate::engine::schedule::rotation`].
#[must_use]
pub fn rotation(options: &Options<'_>, machine: &Machine, points: &[Point], share_ns: f64) -> Range {
    /// A first pass is no longer, and neither is what warms up a walk that no cache holds.
    const PASSES: (u64, u64) = (1 << 22, 1 << 16);
    let (mut count, mut mapped, mut first, mut visits) = (0, 0.0, Range::ZERO, Range::ZERO);
    for (index, point) in points.iter().enumerate().filter(|(_, point)| can_be_had(machine, point)) {
        let nodes = point.size.0 / point.stride.0.max(1);
        let (hop, written) = (hop(machine, point), written(point));
        let held = point.size <= machine.last_level_cache();
        let warm_up = if held { 2 * nodes } else { PASSES.1 };
        let visit = written + hop * warm_up.min(PASSES.0) as f64 + round(options, hop, ROUNDS as f64, 0.0);
        let fewest = if visit.0 > 20e6 { FEWEST_ROUNDS } else { ROUNDS };
        let pass = options.warmup_iters.unwrap_or(nodes.min(PASSES.0));
        first = first + written + HOPS[3] * pass as f64;
        visits = visits + product(visit, rounds(options, fewest)).at_most(options.point_limit_ns());
        count += 1;
        let earlier = points.get(..index).unwrap_or_default();
        if !earlier.iter().any(|other| other.pages == point.pages) {
            let mine = points.iter().filter(|other| other.pages == point.pages);
            mapped += mine.map(|other| other.size.0).max().unwrap_or(0) as f64 * 1.25;
        }
    }
    let all = first + visits;
    if options.given.contains(FlagId::TimeLimit) || options.trials.is_some() {
        return around(points, mapped) + all;
    }
    // Some points are never precise, and take what the others leave.
    let budget = share_ns * f64::from(count);
    let all = Range(all.0.max(USED * budget), all.1.max(budget));
    around(points, mapped) + all.at_most((OVERTIME * budget).max(first.0))
}

/// Pages out of a pool cannot be had where the pool is too small.
fn can_be_had(machine: &Machine, point: &Point) -> bool {
    let page = match point.pages {
        Pages::Huge2m => PageSize::Huge2M,
        Pages::Huge1g => PageSize::Huge1G,
        Pages::Auto | Pages::Small4k | Pages::Thp => return true,
    };
    let pool = machine.topology.node(point.target).and_then(|node| node.page_pool(page));
    pool.is_some_and(|pool| pool.free >= point.size.0.div_ceil(page.bytes().0))
}

/// What a walk of several orders does: [`crate::engine::orders`].
#[derive(Clone, Copy, Debug)]
pub struct Walks {
    /// Warm hops of each order, over all visits.
    pub hops: u64,
    /// The first pass of every visit but the first.
    pub short_pass: u64,
}

/// Orders in turn, each of them cold and warm.
#[must_use]
pub fn orders(options: &Options<'_>, machine: &Machine, points: &[Point], walks: &Walks) -> Range {
    let visits =
        options.trials.map_or(FEWEST_ROUNDS as u64, |trials| trials.get().min(FEWEST_ROUNDS as u32).into());
    let mut all = Range::ZERO;
    for point in points {
        let hop = hop(machine, point);
        let lap = point.size.0 / point.stride.0.max(1);
        let passes = lap + visits.saturating_sub(1) * lap.min(walks.short_pass);
        let passes = options.warmup_iters.map_or(passes, |hops| hops * visits);
        let warm = match (options.iters, options.trials) {
            (Some(iters), Some(trials)) => iters.get() * u64::from(trials.get()),
            _ => walks.hops,
        };
        all = all + hop * passes as f64 + (hop * warm as f64).at_most(options.point_limit_ns());
        // The sequential one is written once more, in slices, for the loads that wait for nothing.
        let writes = if point.order == Order::Sequential { 2 * visits } else { visits };
        all = all + written(point) * writes as f64;
    }
    around(points, points.iter().map(|point| point.size.0).max().unwrap_or(0) as f64) + all
}

/// What rounds over points of several lanes are like: [`crate::engine::schedule::lanes`].
#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    /// The most of them.
    pub most: usize,
    /// The time for all of them.
    pub run_ns: f64,
    /// The longest trail.
    pub trail_ns: f64,
    /// Laps that fill a cache.
    pub laps: u64,
}

/// Points of several lanes, each after a trail where it follows one of another kind.
#[must_use]
pub fn lanes(options: &Options<'_>, machine: &Machine, points: &[Point], rounds: &Rounds) -> Range {
    /// Loads that are under way at a time, at the most that matters here.
    const IN_FLIGHT: f64 = 10.0;
    /// Rounds after which most points are precise.
    const USUAL: f64 = 18.0;
    let trail = machine.last_level_cache().0 as f64 * 1.5 / 64.0;
    let (mut mapped, mut turn, mut first) = (0.0, Range::ZERO, Range::ZERO);
    let mut last = None;
    for (index, point) in points.iter().enumerate() {
        let (hop, lanes) = (hop(machine, point), point.walk.lanes());
        let nodes = (point.size.0 / point.stride.0.max(1)) as f64;
        if last.replace((point.size, lanes)) != Some((point.size, lanes)) {
            let before = if nodes < trail {
                hop * (rounds.laps as f64 * nodes / IN_FLIGHT)
            } else {
                hop * (trail / IN_FLIGHT.min(lanes as f64))
            };
            turn = turn + before.at_most(rounds.trail_ns);
        }
        turn = turn + round(options, hop, ROUNDS as f64, 0.0);
        if !points.get(..index).unwrap_or_default().iter().any(|other| other.size == point.size) {
            mapped += point.size.0 as f64;
            first = first + written(point);
        }
    }
    // A visit before the first round warms up.
    let least = options.trials.map_or(USUAL, |trials| f64::from(trials.get()).min(ROUNDS as f64)) + 0.5;
    let most = if options.trials.is_some() { least } else { rounds.most as f64 };
    let given = options.given.contains(FlagId::TimeLimit) || options.trials.is_some();
    let budget = if given { f64::INFINITY } else { rounds.run_ns };
    around(points, mapped) + first + Range(turn.0 * least, turn.1 * most).at_most(budget)
}
