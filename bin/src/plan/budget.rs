//! The budget of a run: how often and for how long its points are visited, and in which memory.
//!
//! Plain data, made from options by the experiment; the engine sees no options. Pure, as all of the plan.

use latency_core::units::{Bytes, Pages};

use super::regions;
pub use super::regions::Memory;
use crate::error::PlacementError;
use crate::machine::{Machine, Sizing};
use crate::options::{FlagId, Options};
use crate::result::Point;

/// Rounds before the confidence interval is looked at: over 15 it holds the median in 96.5 of 100 runs.
pub const ROUNDS: usize = 15;
/// The fewest rounds that have a confidence interval worth the name: the range of 7 holds the median in 98.4 of 100 runs.
pub const FEWEST_ROUNDS: usize = 7;
/// The rounds of a series, at most; more say nothing new.
pub const MOST_ROUNDS: usize = 512;
/// The rounds of all points together, at most: half a MiB of results.
const ROUNDS_KEPT: usize = 12_288;
/// The batches of a round, at least, where their length is not asked for.
pub const BATCHES: f64 = 20.0;
/// Places in a region that the visits to a point take turns in: from half of a physically indexed cache to one and
/// a half of it, the pages behind a chain decide more than anything else, and one place is one sample.
pub const PLACES: u64 = 16;
/// The same where few points share the time: twice as many rounds tell better how alike neighbours are.
const SPREAD_ROUNDS: usize = 31;
/// Number of points up to which rounds are shorter than the time that they are spread over by default.
const FEW_POINTS: usize = 16;
/// The rounds of all points together walk for at least this long.
const WALK_NS: f64 = 1e9;
/// Time limit of all pairs of nodes together, unless a limit for each was given: with 64 of them, rounds that never
/// become precise would go on for minutes.
const PAIRS_NS: f64 = 40e9;
/// A matrix is over within a minute: nanoseconds that its memory and its visits have, without the look before them and
/// the checks after them.
const MATRIX_NS: f64 = 54e9;
/// Nanoseconds for mapping, clearing and writing a byte, where the host has to find the memory first.
const SET_UP_BYTE_NS: f64 = 1.5;
/// A run of one pair is over within ten seconds, quiet or not: nanoseconds from its start to its last visit, and more
/// for each GiB of a working set beyond this one, which has to be placed and written.
const WHOLE_NS: f64 = 9.2e9;
const WHOLE_NS_PER_GIB: f64 = 1e9;
const FREE_OF_TIME: Bytes = Bytes(512 << 20);
/// Rounds that are to be undisturbed are spread over so much.
const QUIET_SPREAD_NS: f64 = 10e9;
/// All pairs together have this time, however large their memory is.
const LEAST_PAIRS_NS: f64 = 20e9;
/// Largest part of a time limit that rounds are spread over: the rest is for warming up.
const SPREAD_SHARE: f64 = 0.7;
/// Time that a core needs to reach its clock after it has idled longer; after shorter pauses it is not needed.
pub const WAKE_NS: f64 = 20e6;
/// A rewritten point whose visits take longer has its confidence interval looked at after the fewest rounds.
const LONG_VISIT_NS: f64 = 20e6;
/// Beyond this multiple of the time for all, points are left with the rounds that they have.
pub const OVERTIME: f64 = 1.2;
/// Filling caches takes no longer, but for its first lap: 25 MiB of single dependent loads.
pub const LONGEST_FILL_NS: f64 = 40e6;
/// Laps that fill a cache. After other data has streamed past it, the L3 of Zen 4 takes lines in but slowly:
/// after two laps a load took 59 ns that takes 17 in the end.
pub const FILLING_LAPS: u64 = 12;
/// Hops over memory that is not in a cache, enough to fill the TLBs and bring page tables into the caches.
pub const FEW_HOPS: (u64, u64) = (1 << 14, 1 << 16);
/// A window of traffic: long enough for a chunk of every generator to vanish in it.
pub const TRAFFIC_WINDOW_NS: f64 = 50e6;
/// Length of a window of a chain beside traffic: both axes of a point are means over it.
pub const LOADED_WINDOW_NS: f64 = 20e6;
/// Hops in each visit to a pair over lines that no cache holds: a millisecond.
const AHEAD: u64 = 1 << 13;
/// A first pass is no longer, where the chain stays as it is written or where later passes need not be whole.
pub const SHORT_PASS: u64 = 1 << 20;

/// Length of a visit to a pair: both threads go there and wake up, and each of 16 lines needs 25 us.
pub const WINDOW_NS: f64 = 0.8e6;

/// The time of all visits together in that of the whole run: what comes before the first and after the last takes the
/// rest.
pub fn budget_ns(options: &Options<'_>) -> f64 {
    const SHARE: f64 = 0.7;
    options.budget.0 as f64 / 1e3 * SHARE
}

/// The first pass of a visit over a chain just written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Enough hops to show the time of a hop that no cache serves; then those that make the caches steady.
    Short,
    /// A whole lap in the first visit, later a lap only where a cache holds some of it: the pass is itself a result.
    Lap,
}

/// The points that may be left out because their memory cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optional {
    /// None: all were asked for.
    Nothing,
    /// Points on targets that cannot be reached.
    Unreachable,
    /// All of them.
    Everything,
    /// Points with other pages than these.
    PagesBut(Pages),
}

impl Optional {
    /// Returns whether the run goes on without `point`, whose memory cannot be had for that reason.
    #[must_use]
    pub fn covers(self, point: &Point, why: &PlacementError<'_>) -> bool {
        match self {
            Optional::Nothing => false,
            Optional::Unreachable => matches!(why, PlacementError::NotReachable { .. }),
            Optional::Everything => true,
            Optional::PagesBut(pages) => pages == Pages::Auto || point.pages != pages,
        }
    }
}

/// The number and length of visits to points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// The memory.
    pub memory: Memory,
    /// The first pass.
    pub pass: Pass,
    /// Rounds before the confidence interval is looked at.
    pub rounds: usize,
    /// The same where single visits are long, and rounds that every point gets when time is up.
    pub fewest: usize,
    /// Rounds of a point that does not become precise.
    pub most: usize,
    /// The batches of a round, at least, where their length is not asked for.
    pub batches: f64,
    /// Hops of a point over all rounds, at least.
    pub hops: u64,
    /// Least time that the rounds of all points walk together.
    pub walk_ns: f64,
    /// The first rounds of every point are spread over so much time, with pauses between them.
    pub spread_ns: f64,
    /// Visits beyond this are long.
    pub long_visit_ns: f64,
    /// The time for a point, warm-up included.
    pub point_ns: f64,
    /// True if a point is visited until rounds show what it takes while neighbours are quiet, however precise it is.
    pub until_quiet: bool,
    /// Time of a load that no cache serves, in a look before the first round; without a look it is infinite.
    pub looked_ns: f64,
    /// Approximate time from the first look to the end of the output.
    pub whole_ns: f64,
    /// No visit begins after this moment of the engine's clock.
    pub until_ns: f64,
    /// Hops in each visit over lines just written past the caches: what a load takes that no cache serves.
    pub ahead: u64,
    /// True if the first point is measured twice in turn, the second time in other memory.
    pub twice: bool,
    /// True if that holds for trials that were asked for, too.
    pub bounded: bool,
    /// The time for all points divided by their number.
    pub share_ns: f64,
    /// Loads that fill every cache.
    pub trail: u64,
    /// Points that may be added while measuring.
    pub more: usize,
    /// Rounds of a second each that the last point has in a row, after all others.
    pub held: usize,
    /// The length of a visit that is a window beside generators, or of generators; zero for others.
    pub window_ns: f64,
    /// The width of the confidence interval to reach, as a fraction of the median.
    pub precision: f64,
    /// Trials asked for.
    pub trials: Option<u32>,
    /// Hops of a trial asked for.
    pub iters: Option<u64>,
    /// Hops of warm-up asked for.
    pub warm_up: Option<u64>,
    /// True if single hops are timed at every visit.
    pub single_hops: bool,
    /// True if hardware counters are wanted.
    pub counters: bool,
    /// True if the translation of the measured pages is probed after the last round.
    pub translation: bool,
    /// The points that may be left out.
    pub optional: Optional,
}

impl Budget {
    /// One chain for each target, which stays as it is written, and ten seconds for each point.
    pub const DEFAULT: Budget = Budget {
        memory: Memory::Kept,
        pass: Pass::Short,
        rounds: ROUNDS,
        fewest: FEWEST_ROUNDS,
        most: MOST_ROUNDS,
        batches: BATCHES,
        hops: 0,
        walk_ns: WALK_NS,
        spread_ns: 0.0,
        long_visit_ns: f64::INFINITY,
        point_ns: 10e9,
        until_quiet: false,
        looked_ns: f64::INFINITY,
        whole_ns: f64::INFINITY,
        until_ns: f64::INFINITY,
        ahead: 0,
        twice: false,
        bounded: false,
        share_ns: f64::INFINITY,
        trail: 0,
        more: 0,
        held: 0,
        window_ns: 0.0,
        precision: 0.01,
        trials: None,
        iters: None,
        warm_up: None,
        single_hops: false,
        counters: false,
        translation: false,
        optional: Optional::Nothing,
    };

    /// Returns the same as the options have it.
    #[must_use]
    pub fn new(options: &Options<'_>, machine: &Machine) -> Budget {
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
            trail: machine.largest_cache().0 / options.stride.0.max(1) * 3 / 2,
            ..Budget::DEFAULT
        }
    }

    /// The budget of pairs of nodes. Their chains stay as they are written where a cache holds little of them; smaller
    /// ones are written again at one of several places for each visit, as in a curve.
    #[must_use]
    pub fn of_pairs(options: &Options<'_>, machine: &Machine, points: &[Point]) -> Budget {
        // What the defaults ask for may be left out; what was typed may not.
        let optional = match options.memnode {
            Some(_) => Optional::Nothing,
            None if options.pages == Pages::Auto && options.size.is_none() => Optional::Everything,
            None => Optional::Unreachable,
        };
        // A pool that has pages for the working set need not have more.
        let from_pool = matches!(options.pages, Pages::Huge2m | Pages::Huge1g);
        let mut budget = Budget::new(options, machine);
        if from_pool || points.iter().all(|point| machine.reaches_memory(point.size)) {
            budget = budget.in_regions(machine, points);
        } else {
            budget.memory = Memory::Rewritten { places: PLACES };
        }
        budget.optional = optional;
        if points.len() <= FEW_POINTS && budget.spread_ns > 0.0 {
            budget.rounds = SPREAD_ROUNDS;
        }
        if options.warmup_iters.is_none() && !matches!(budget.memory, Memory::Rewritten { .. }) {
            // The lines ahead tell what a first pass tells.
            (budget.ahead, budget.warm_up) = (AHEAD, Some(FEW_HOPS.1));
        }
        budget.twice = true;
        budget.walk_ns = 2.0 * WALK_NS;
        let left_ns = MATRIX_NS - SET_UP_BYTE_NS * regions::bytes(budget.memory, points).0 as f64;
        let visits_ns = left_ns.clamp(LEAST_PAIRS_NS, PAIRS_NS).max(2.0 * budget.spread_ns);
        if let Some(until_ns) = options.until_ns() {
            (budget.until_quiet, budget.bounded, budget.point_ns) = (true, true, until_ns);
            // A neighbour that goes on for seconds is quiet or busy all along a shorter time.
            budget.spread_ns = QUIET_SPREAD_NS.max(budget.spread_ns).min(SPREAD_SHARE * until_ns);
        }
        if let [point] = points {
            let is_like = |sizing: &&Sizing| sizing.size == point.size;
            budget.looked_ns =
                machine.sizing.as_ref().filter(is_like).map_or(f64::INFINITY, |look| look.cold_ns);
        }
        if let ([point], false) = (points, budget.bounded || budget.trials.is_some()) {
            let more = point.size.0.saturating_sub(FREE_OF_TIME.0);
            budget.whole_ns = WHOLE_NS + WHOLE_NS_PER_GIB * more as f64 / (1u64 << 30) as f64;
        }
        budget.within(visits_ns.min(budget.point_ns * points.len() as f64), points.len())
    }

    /// Returns the budget of lanes.
    #[must_use]
    pub fn of_lanes(options: &Options<'_>, machine: &Machine, points: &[Point]) -> Budget {
        /// After this time points are left with the rounds that they have. Where the last-level cache is large,
        /// trails take most of it.
        const RUN_NS: f64 = 12e9;
        let mut budget = Budget::new(options, machine).within(RUN_NS, points.len());
        (budget.most, budget.walk_ns) = (2 * ROUNDS, 0.0);
        budget
    }

    /// Returns the budget of traffic: each window is a round, and there are enough for an interval.
    #[must_use]
    pub fn of_traffic(options: &Options<'_>, machine: &Machine, points: &[Point]) -> Budget {
        /// After this time points are left with the rounds that they have.
        const RUN_NS: f64 = 20e9;
        /// Time of each point, if there are many.
        const POINT_NS: f64 = 0.5e9;
        let run_ns = RUN_NS.max(POINT_NS * points.len() as f64);
        let mut budget = Budget::of_windows(options, machine, points, run_ns);
        budget.window_ns = TRAFFIC_WINDOW_NS;
        budget
    }

    /// The budget of chains beside traffic, to which `more` points may be added. Their chains stay warm, so that little
    /// is walked before each window.
    #[must_use]
    pub fn of_loaded(options: &Options<'_>, machine: &Machine, points: &[Point], more: usize) -> Budget {
        const RUN_NS: f64 = 36e9;
        /// Hops that fill the TLBs.
        const WARM_UP: u64 = FEW_HOPS.0;
        let held = options.hold.map_or(0, |seconds| seconds.get() as usize);
        let mut budget = Budget::of_windows(options, machine, points, RUN_NS);
        budget.warm_up = options.warmup_iters.or(Some(WARM_UP));
        (budget.more, budget.held) = (more, held);
        budget.most = budget.most.max(held);
        budget.window_ns = LOADED_WINDOW_NS;
        budget
    }

    /// Returns the budget of windows, each of them a round, for at most `run_ns`.
    fn of_windows(options: &Options<'_>, machine: &Machine, points: &[Point], run_ns: f64) -> Budget {
        let optional = if options.memnode.is_some() { Optional::Nothing } else { Optional::Unreachable };
        let run_ns = run_ns.min(budget_ns(options));
        let mut budget =
            Budget::new(options, machine).in_regions(machine, points).within(run_ns, points.len());
        (budget.rounds, budget.most, budget.batches) = (FEWEST_ROUNDS, ROUNDS, 1.0);
        (budget.spread_ns, budget.optional) = (0.0, optional);
        budget
    }

    /// Returns the budget of pairs of CPUs: a window over all lines is a round.
    #[must_use]
    pub fn of_cores(options: &Options<'_>, _: &Machine, points: &[Point]) -> Budget {
        /// Few pairs are over in no time: their windows are spread over so much.
        const SPREAD_NS: f64 = 0.7e9;
        /// Half of the interval, where nothing else was asked for: cores that share a mesh with others are not steadier.
        const PRECISION: f64 = 0.05;
        let asked = options.given.contains(FlagId::Precision);
        /// All pairs of 10 CPUs, or those of 2 in many states: 1.5 s.
        const FEW_POINTS: usize = 64;
        let few = points.len() <= FEW_POINTS;
        // Where time is short, first there are fewer rounds, and then fewer pairs.
        let affordable = (budget_ns(options) / (points.len().max(1) as f64 * WINDOW_NS)) as usize;
        let usual = if few { SPREAD_ROUNDS } else { FEWEST_ROUNDS };
        let rounds = usual.min(affordable).max(FEWEST_ROUNDS);
        Budget {
            rounds,
            fewest: rounds,
            most: if few || asked { 2 * SPREAD_ROUNDS } else { FEWEST_ROUNDS },
            batches: 1.0,
            walk_ns: 0.0,
            spread_ns: if few { SPREAD_NS.min(budget_ns(options)) } else { 0.0 },
            point_ns: options.point_limit_ns(),
            bounded: options.given.contains(FlagId::TimeLimit),
            precision: if asked { options.precision } else { PRECISION },
            ..Budget::DEFAULT
        }
        .within(budget_ns(options), points.len())
    }

    /// Returns the pairs of CPUs that there is time for.
    #[must_use]
    pub fn most_pairs(options: &Options<'_>) -> usize {
        (budget_ns(options) / (FEWEST_ROUNDS as f64 * WINDOW_NS)) as usize
    }

    /// Returns the same in regions of their own for the initiators of each target, where there is room.
    ///
    /// A chain that was just written shows at once what a load takes that no cache serves: no long first pass is
    /// needed.
    fn in_regions(mut self, machine: &Machine, points: &[Point]) -> Budget {
        self.memory = regions::memory(machine, points);
        if self.memory == Memory::Shared {
            self.warm_up = self.warm_up.or(Some(FEW_HOPS.1));
        }
        self
    }

    /// Returns the same budget with chains that are written again for each visit.
    #[must_use]
    pub const fn rewritten(mut self, places: u64) -> Budget {
        self.memory = Memory::Rewritten { places };
        self.long_visit_ns = LONG_VISIT_NS;
        self
    }

    /// Returns the same with `run_ns` for `points` points together, unless a limit or a number of trials was asked for.
    #[must_use]
    #[inline(never)] // it is called in several places
    pub fn within(mut self, run_ns: f64, points: usize) -> Budget {
        let asked = self.bounded || self.trials.is_some();
        self.share_ns = if asked { f64::INFINITY } else { run_ns / points.max(1) as f64 };
        self
    }

    /// Leaves no more than `limit_ns` for `points` points together, but for the fewest rounds.
    pub fn limit(&mut self, limit_ns: f64, points: usize) {
        /// The part that rounds are spread over, and that walks are long at the least.
        const SPREAD: f64 = 0.5;
        self.share_ns = self.share_ns.min(limit_ns / points.max(1) as f64);
        self.spread_ns = self.spread_ns.min(SPREAD * limit_ns);
        self.walk_ns = self.walk_ns.min(SPREAD * limit_ns);
    }

    /// Returns the rounds that each of `points` points has room for.
    #[must_use]
    pub fn room(&self, points: usize) -> usize {
        self.most.min((ROUNDS_KEPT / points.max(1)).max(2 * ROUNDS))
    }

    /// Returns the time that a point has left after `spent_ns`; without end where trials were asked for and no limit.
    #[must_use]
    pub fn left_ns(&self, spent_ns: f64) -> f64 {
        match self.trials {
            Some(_) if !self.bounded => f64::INFINITY,
            _ => self.point_ns - spent_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Walk;
    use crate::sys::errno::Errno;
    use latency_core::chain::Order;
    use latency_core::kernel;
    use latency_core::units::{CpuId, NodeId};

    #[test]
    fn rounds_have_room_for_an_interval_however_many_points_there_are() {
        let budget = Budget::DEFAULT;
        assert_eq!((budget.room(1), budget.room(100), budget.room(100_000)), (512, 122, 30));
        assert_eq!(Budget { most: 7, ..budget }.room(3), 7);
    }

    #[test]
    fn what_may_be_left_out_depends_on_what_was_asked_for() {
        let point = |pages| Point {
            initiator: NodeId(0),
            cpu: CpuId(0),
            target: NodeId(1),
            kernel: &kernel::POINTER,
            order: Order::Random,
            size: Bytes::MIB,
            stride: Bytes(64),
            seed: 1,
            pages,
            walk: Walk::Chain,
        };
        let unreachable = PlacementError::NotReachable { node: NodeId(1), errno: Errno::new(1) };
        let other = PlacementError::ThpDisabled;
        let covers =
            |optional: Optional, pages| [&unreachable, &other].map(|why| optional.covers(&point(pages), why));
        assert_eq!(covers(Optional::Nothing, Pages::Thp), [false, false]);
        assert_eq!(covers(Optional::Unreachable, Pages::Thp), [true, false]);
        assert_eq!(covers(Optional::Everything, Pages::Thp), [true, true]);
        // Pages that were asked for by name have to be had; the others are a comparison.
        assert_eq!(covers(Optional::PagesBut(Pages::Thp), Pages::Thp), [false, false]);
        assert_eq!(covers(Optional::PagesBut(Pages::Thp), Pages::Small4k), [true, true]);
        assert_eq!(covers(Optional::PagesBut(Pages::Auto), Pages::Auto), [true, true]);
    }

    #[test]
    fn what_is_asked_for_is_not_cut_by_a_limit_that_is_not() {
        let budget = Budget { point_ns: 1e9, ..Budget::DEFAULT };
        let asked = Budget { trials: Some(3), ..budget };
        assert!((budget.left_ns(4e8) - 6e8).abs() < 1.0);
        assert!(asked.left_ns(4e8).is_infinite() && asked.within(1e9, 2).share_ns.is_infinite());
        assert!(Budget { bounded: true, ..asked }.left_ns(2e9) < 0.0);
        assert!((budget.within(1e9, 4).share_ns - 2.5e8).abs() < 1.0);
    }
}
