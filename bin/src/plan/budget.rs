//! The budget of a run: how often and for how long its points are visited, and in which memory.
//!
//! Plain data, made from options by the experiment; the engine sees no options. Pure, like the whole plan.

use latency_core::chain::{Chain, Order};
use latency_core::kernel::Encoding;
use latency_core::traffic::View;
use latency_core::{Bytes, PageSize, Pages, ToReal, math, with_constant};

pub use super::regions::Memory;
use super::sizes::LEAST_DEFAULT;
use super::{own_cores, regions};
use crate::error::{Attempt, PlacementError};
use crate::machine::{Machine, Sizing};
use crate::options::{FlagId, Options};
use crate::result::{Point, Walk, point};

/// Minimum rounds before the confidence interval is evaluated: over 15 rounds it contains the median in 96.5 of 100
/// runs.
pub const ROUNDS: usize = 15;
/// Minimum rounds for a useful confidence interval: the range of 7 rounds contains the median in 98.4 of 100 runs.
pub const FEWEST_ROUNDS: usize = 7;
/// Maximum rounds of a series; further rounds do not improve the interval.
pub const MOST_ROUNDS: usize = 512;
/// Maximum rounds of all points together: half a MiB of results.
const ROUNDS_KEPT: usize = 12_288;
/// Minimum batches of a round, if the user did not give their length.
pub const BATCHES: f64 = 20.0;
/// Number of positions in a region that the visits to a point use in turn. For working sets from half of a physically
/// indexed cache to one and a half of it, the pages behind a chain decide the latency, and one position is only one
/// sample.
pub const PLACES: u64 = 16;
/// Minimum rounds before the confidence interval is evaluated, if few points share the time: twice as many rounds show
/// better how steady neighbours are.
const SPREAD_ROUNDS: usize = 31;
/// Maximum number of points whose rounds are shorter than the time over which they are spread by default.
const FEW_POINTS: usize = 16;
/// Minimum nanoseconds that the rounds of all points together walk.
const WALK_NS: f64 = 1e9;
/// Maximum nanoseconds of all pairs of nodes together, unless the user limited the time of each: with 64 pairs, rounds
/// that never become precise would last for minutes.
pub const PAIRS_NS: f64 = 40e9;
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
/// Nanoseconds that a core needs to reach its clock after a longer idle time; shorter pauses need no wake-up.
pub const WAKE_NS: f64 = 20e6;
/// Nanoseconds of a visit to a rewritten point beyond which its confidence interval is evaluated after the minimum
/// rounds.
const LONG_VISIT_NS: f64 = 20e6;
/// Multiple of the time for all points at which visits end, and points keep the rounds that they have.
pub const OVERTIME: f64 = 1.2;
/// Maximum nanoseconds of filling caches, except for the first lap: 25 MiB of single dependent loads.
pub const LONGEST_FILL_NS: f64 = 40e6;
/// Maximum laps that fill a cache. After other data has streamed past it, the L3 of Zen 4 allocates lines slowly: a
/// load had a latency of 59 ns after two laps, and of 17 ns in the end.
pub const FILLING_LAPS: u64 = 12;
/// Minimum and maximum hops over uncached memory that fill the TLBs and bring page tables into the caches.
pub const FEW_HOPS: (u64, u64) = (1 << 14, 1 << 16);
/// Nanoseconds of a window of traffic, long enough that a chunk of every generator is negligible.
pub const TRAFFIC_WINDOW_NS: f64 = 50e6;
/// Nanoseconds of a window of a chain alongside traffic: both axes of a point are means over it.
pub const LOADED_WINDOW_NS: f64 = 20e6;
/// Hops over uncached lines in each visit to a pair: a millisecond.
const AHEAD: u64 = 1 << 13;
/// Maximum hops of a first pass, if the chain stays as it is written or if later passes need not be whole.
pub const SHORT_PASS: u64 = 1 << 20;

/// Nanoseconds of a visit to a pair of CPUs: both threads move there and wake up, and each of 16 lines needs 25 us.
pub const WINDOW_NS: f64 = 0.8e6;

/// Returns the number of hops that refill TLBs, page tables and near caches.
pub fn few(nodes: u64) -> u64 {
    (nodes / 16).clamp(FEW_HOPS.0, FEW_HOPS.1)
}

/// Returns the nanoseconds of all visits together, as a part of the whole run: the rest is for the work before the
/// first visit and after the last.
pub fn budget_ns(options: &Options<'_>) -> f64 {
    const SHARE: f64 = 0.7;
    options.budget.0.real() / 1e3 * SHARE
}

/// The first pass of a visit over a chain just written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Enough hops for the latency of a hop that no cache serves; then the hops that make the caches steady.
    Short,
    /// A whole lap in the first visit, and later a lap only if a cache holds some of it: the pass is itself a result.
    Lap,
}

/// The points that may be left out if their memory cannot be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optional {
    /// No point: the user asked for all of them.
    Nothing,
    /// Points on unreachable targets.
    Unreachable,
    /// All points.
    Everything,
    /// Points with other pages than these.
    PagesBut(Pages),
}

impl Optional {
    /// Returns true if the run continues without `point`, whose memory could not be placed for the reason `why`.
    pub fn covers(self, point: &Point, why: &PlacementError<'_>) -> bool {
        match self {
            Optional::Nothing => false,
            Optional::Unreachable => matches!(why, PlacementError::NotReachable { .. }),
            Optional::Everything => true,
            Optional::PagesBut(pages) => pages == Pages::AUTO || point.pages != pages,
        }
    }
}

with_constant! {
    /// The number and length of visits to points.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Budget {
        /// The memory of chains.
        pub memory: Memory = Memory::Kept,
        /// The kind of first pass.
        pub pass: Pass = Pass::Short,
        /// Minimum rounds before the confidence interval is evaluated.
        pub rounds: usize = ROUNDS,
        /// The same minimum if single visits are long, and minimum rounds of every point even when time is up.
        pub fewest: usize = FEWEST_ROUNDS,
        /// Maximum rounds of a point that does not become precise.
        pub most: usize = MOST_ROUNDS,
        /// Minimum batches of a round, if the user did not give their length.
        pub batches: f64 = BATCHES,
        /// Minimum hops of a point over all rounds.
        pub hops: u64 = 0,
        /// Minimum nanoseconds that the rounds of all points walk together.
        pub walk_ns: f64 = WALK_NS,
        /// Nanoseconds over which the first rounds of every point are spread, with pauses between them.
        pub spread_ns: f64 = 0.0,
        /// Nanoseconds beyond which a visit is long.
        pub long_visit_ns: f64 = f64::INFINITY,
        /// Maximum nanoseconds for a point, including its warm-up.
        pub point_ns: f64 = 10e9,
        /// True if a point is visited until its rounds show the latency while neighbours are quiet, however precise it is.
        pub until_quiet: bool = false,
        /// Latency of a load that no cache serves, from the search before the first round; infinite without a search.
        pub looked_ns: f64 = f64::INFINITY,
        /// Approximate nanoseconds from the start of the run to the end of the output.
        pub whole_ns: f64 = f64::INFINITY,
        /// Time of the engine's clock after which no visit begins.
        pub until_ns: f64 = f64::INFINITY,
        /// Hops in each visit over lines just written past the caches, which show the latency of a load that no cache
        /// serves.
        pub ahead: u64 = 0,
        /// True if the first point is measured twice in turn, the second time in other memory.
        pub twice: bool = false,
        /// The number of points that are visited in every round and need an interval; those behind them are visited shortly, in
        /// every second round.
        pub steady: usize = usize::MAX,
        /// The base page of the machine, if grouped chains lie beside random ones, so that memory and translation are told
        /// apart.
        pub split: Option<PageSize> = None,
        /// True if the time limits also apply to a requested number of trials.
        pub bounded: bool = false,
        /// Time of the engine's clock by which points have intervals or are left out, if other runs share time and memory with
        /// this one; infinite otherwise.
        pub intervals_by_ns: f64 = f64::INFINITY,
        /// The time for all points divided by their number.
        pub share_ns: f64 = f64::INFINITY,
        /// Maximum nanoseconds for other measurements after the visits.
        pub after_ns: f64 = 0.0,
        /// Minimum nanoseconds of the visits, even if placing memory took the time of the whole run; 0 if the user limited
        /// that time.
        pub least_ns: f64 = 0.0,
        /// Number of loads that fill every cache.
        pub trail: u64 = 0,
        /// Maximum number of points that may be added while measuring.
        pub more: usize = 0,
        /// Number of rounds of a second each that the last point has in a row, after all other points.
        pub held: usize = 0,
        /// Nanoseconds of a visit that is a window alongside generators, or of generators; zero for other visits.
        pub window_ns: f64 = 0.0,
        /// Half width of the confidence interval to be reached, as a fraction of the median.
        pub precision: f64 = 0.01,
        /// Number of trials that the user requested.
        pub trials: Option<u32> = None,
        /// Hops of a trial that the user requested.
        pub iters: Option<u64> = None,
        /// Hops of warm-up that the user requested.
        pub warm_up: Option<u64> = None,
        /// True if single hops are timed at every visit.
        pub single_hops: bool = false,
        /// True if hardware counters are wanted.
        pub counters: bool = false,
        /// True if the translation of the measured pages is probed after the last round.
        pub translation: bool = false,
        /// The points that may be left out.
        pub optional: Optional = Optional::Nothing,
    }
    /// The budget of one chain for each target, which stays as it is written, and ten seconds for each point.
    pub const DEFAULT;
}

impl Budget {
    /// Returns the default budget, changed by the options.
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
            trail: machine.largest_cache().0 / super::stride(options, machine).0.max(1) * 3 / 2,
            ..Budget::DEFAULT
        }
    }

    /// Returns the budget of pairs of nodes. Chains stay as they are written if a cache holds little of them; smaller
    /// chains are rewritten at one of several positions for each visit, as in a curve.
    pub fn of_pairs(options: &Options<'_>, machine: &Machine, points: &[Point]) -> Budget {
        // Points that the defaults select may be left out; points that the user selected may not.
        let optional = match options.memnode {
            Some(_) => Optional::Nothing,
            None if options.pages == Pages::AUTO && options.size.is_none() => Optional::Everything,
            None => Optional::Unreachable,
        };
        // A pool that has pages for the working set may have no more.
        let from_pool = super::pages(options, machine).pool().is_some();
        let mut budget = Budget::new(options, machine);
        // In a large set, the positions of pages in a cache average out.
        if from_pool || points.iter().all(|point| Budget::may_tell_apart(machine, point)) {
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
            budget.looked_ns =
                machine.sizing.as_ref().filter(is_like).map_or(f64::INFINITY, |look| look.cold_ns);
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
    pub fn of_matrix(options: &Options<'_>, machine: &Machine, points: &[Point]) -> Budget {
        let all = options.view == View::Cores;
        let steady = if all { points.len() } else { own_cores::pairs(points) };
        let mut budget = Budget::of_pairs(options, machine, points.get(..steady).unwrap_or_default());
        budget.steady = steady;
        if all && own_cores::are_apart(machine, points) {
            (budget.memory, budget.split) = (Memory::Rewritten { places: 1 }, None);
            budget.long_visit_ns = LONG_VISIT_NS;
        }
        budget
    }

    /// Returns the points that need an interval.
    pub fn steady<'p, T>(&self, points: &'p [T]) -> &'p [T] {
        points.get(..self.steady).unwrap_or(points)
    }

    /// Returns the budget of random walks of `each_ns` over `points`, in which memory and translation are told apart, as a
    /// part of a run with this budget.
    pub fn telling_apart(self, machine: &Machine, points: &[Point], each_ns: f64) -> Budget {
        let count = points.len();
        let in_memory = points.iter().all(|point| Budget::may_tell_apart(machine, point));
        let budget = Budget {
            memory: Memory::Kept,
            split: Some(machine.page),
            // A set that a cache holds is brought there by a lap.
            warm_up: self.warm_up.or(in_memory.then_some(FEW_HOPS.1)),
            long_visit_ns: f64::INFINITY,
            after_ns: 0.0,
            more: 0,
            ..self
        };
        budget.within(each_ns * count.real(), count)
    }

    /// Returns true if a random walk over a working set can tell memory and translation apart: most of the set is in no
    /// cache.
    pub fn may_tell_apart(machine: &Machine, point: &Point) -> bool {
        machine.reaches_memory(point.size) || point.size >= LEAST_DEFAULT
    }

    /// Returns the budget of lanes.
    pub fn of_lanes(options: &Options<'_>, machine: &Machine, points: &[Point]) -> Budget {
        /// Nanoseconds after which points keep the rounds that they have. If the last-level cache is large, trails use
        /// most of this time.
        const RUN_NS: f64 = 12e9;
        let mut budget = Budget::new(options, machine).within(RUN_NS, points.len());
        (budget.most, budget.walk_ns) = (2 * ROUNDS, 0.0);
        budget
    }

    /// Returns the budget of traffic: each window is a round, and there are enough rounds for an interval.
    pub fn of_traffic(options: &Options<'_>, machine: &Machine, points: &[Point]) -> Budget {
        /// Nanoseconds after which points keep the rounds that they have.
        const RUN_NS: f64 = 20e9;
        /// Nanoseconds of each point, if there are many.
        const POINT_NS: f64 = 0.5e9;
        let run_ns = RUN_NS.max(POINT_NS * points.len().real());
        let mut budget = Budget::of_windows(options, machine, points, run_ns);
        budget.window_ns = TRAFFIC_WINDOW_NS;
        budget
    }

    /// Returns the budget of chains alongside traffic, to which `more` points may be added. Their chains stay warm, so
    /// the warm-up before each window is short.
    pub fn of_loaded(options: &Options<'_>, machine: &Machine, points: &[Point], more: usize) -> Budget {
        const RUN_NS: f64 = 36e9;
        /// Number of hops that fill the TLBs.
        const WARM_UP: u64 = FEW_HOPS.0;
        let held = options.hold.map_or(0, |seconds| seconds.get() as usize);
        let mut budget = Budget::of_windows(options, machine, points, RUN_NS);
        budget.warm_up = options.warmup_iters.or(Some(WARM_UP));
        (budget.more, budget.held) = (more, held);
        budget.most = budget.most.max(held);
        budget.window_ns = LOADED_WINDOW_NS;
        budget
    }

    /// Returns the budget of windows, where each window is a round, for at most `run_ns`.
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
    pub fn of_cores(options: &Options<'_>, _: &Machine, points: &[Point]) -> Budget {
        /// Nanoseconds over which the windows of few pairs are spread; otherwise they would end within a moment.
        const SPREAD_NS: f64 = 0.7e9;
        /// Half width of the interval, as a fraction, unless the user gave one: cores that share a mesh with others are
        /// not steadier.
        const PRECISION: f64 = 0.05;
        let asked = options.given.contains(FlagId::Precision);
        /// Maximum number of points whose windows are spread: all pairs of 10 CPUs, or the pairs of 2 CPUs in many
        /// states, in 1.5 s.
        const FEW_POINTS: usize = 64;
        let few = points.len() <= FEW_POINTS;
        // If time is short, the rounds are reduced first, and then the pairs.
        let affordable = math::whole(budget_ns(options) / (points.len().max(1).real() * WINDOW_NS)) as usize;
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

    /// Returns the number of pairs of CPUs that the time allows.
    pub fn most_pairs(options: &Options<'_>) -> usize {
        math::whole(budget_ns(options) / (FEWEST_ROUNDS as f64 * WINDOW_NS)) as usize
    }

    /// Returns the budget with a region for each initiator of a target, if there is room.
    ///
    /// A chain that was just written shows at once the latency of a load that no cache serves, so no long first pass is
    /// needed.
    fn in_regions(mut self, machine: &Machine, points: &[Point]) -> Budget {
        self.memory = regions::memory(machine, points);
        if self.memory == Memory::Shared {
            self.warm_up = self.warm_up.or(Some(FEW_HOPS.1));
        }
        self
    }

    /// Returns the budget with chains that are rewritten for each visit.
    pub const fn rewritten(mut self, places: u64) -> Budget {
        self.memory = Memory::Rewritten { places };
        self.long_visit_ns = LONG_VISIT_NS;
        self
    }

    /// Returns the budget with `run_ns` for `points` points together, unless the user gave a limit or a number of
    /// trials.
    pub fn within(mut self, run_ns: f64, points: usize) -> Budget {
        let asked = self.bounded || self.trials.is_some();
        self.share_ns = if asked { f64::INFINITY } else { run_ns / points.max(1).real() };
        self
    }

    /// Limits the time of `points` together to `limit_ns`, except for the minimum rounds. Points without pages need none.
    pub fn limit(&mut self, limit_ns: f64, machine: &Machine, points: &[Point]) {
        /// Share of the limit over which rounds are spread, and which walks last at least.
        const SPREAD: f64 = 0.5;
        /// Share of the limit for what follows the visits.
        const AFTER: f64 = 0.6;
        self.after_ns = self.after_ns.min(AFTER * limit_ns);
        let limit_ns = limit_ns - self.after_ns;
        let points = points.iter().filter(|point| super::has_pages(machine, point)).count();
        self.share_ns = self.share_ns.min(limit_ns / points.max(1).real());
        self.spread_ns = self.spread_ns.min(SPREAD * limit_ns);
        self.walk_ns = self.walk_ns.min(SPREAD * limit_ns);
    }

    /// Returns true if other runs share time and memory with this one.
    pub const fn is_among_others(&self) -> bool {
        self.intervals_by_ns.is_finite()
    }

    /// Returns true if there is time to place and write memory for `placing_ns` from `now_ns` on, and then for visits.
    pub fn has_time_to_place(&self, now_ns: f64, placing_ns: f64) -> bool {
        /// Minimum time of visits to two pieces of memory, as a multiple of that to one.
        const TWO: f64 = 1.5;
        now_ns + placing_ns + TWO * self.least_ns < self.until_ns
    }

    /// Gives visits that begin at `now_ns` their minimum time.
    pub fn begin_visits(&mut self, now_ns: f64) {
        self.until_ns = self.until_ns.max(now_ns + self.least_ns);
    }

    /// Returns the chain of a point: with grouped chains, if they are wanted, and if the point is a random walk of addresses
    /// from line to line.
    ///
    /// # Errors
    ///
    /// [`Failure::no_such_chain`](crate::error::Failure::no_such_chain).
    pub fn chain(&self, point: &Point) -> Attempt<Chain> {
        let Point { kernel, order, size, stride, line, seed, walk, .. } = *point;
        let is_usual = matches!((walk, order), (Walk::Chain, Order::Random))
            && (stride, kernel.encoding) == (line.bytes(), Encoding::Pointer);
        let split =
            self.split.filter(|_| is_usual).and_then(|page| Chain::split(size, line, page, seed).ok());
        split.map_or_else(|| point::chain(point), Ok)
    }

    /// Returns the number of rounds that each of `points` points has room for.
    pub fn room(&self, points: usize) -> usize {
        self.most.min((ROUNDS_KEPT / points.max(1)).max(2 * ROUNDS))
    }

    /// Returns the time that a point has left after `spent_ns`; infinite if the user gave trials and no limit.
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
    use latency_core::{CpuId, LineSize, NodeId, kernel};
    use latency_sys::Errno;

    #[test]
    fn any_number_of_points_has_room_for_an_interval() {
        let budget = Budget::DEFAULT;
        assert_eq!((budget.room(1), budget.room(100), budget.room(100_000)), (512, 122, 30));
        assert_eq!(Budget { most: 7, ..budget }.room(3), 7);
    }

    #[test]
    fn only_points_that_were_not_requested_may_be_left_out() {
        let point = |pages| Point {
            initiator: NodeId(0),
            cpu: CpuId(0),
            target: NodeId(1),
            kernel: &kernel::POINTER,
            order: Order::Random,
            size: Bytes::MIB,
            stride: Bytes(64),
            line: LineSize::LEAST,
            seed: 1,
            pages,
            walk: Walk::Chain,
        };
        let unreachable = PlacementError::NotReachable { node: NodeId(1), errno: Errno::new(1) };
        let other = PlacementError::ThpDisabled;
        let covers =
            |optional: Optional, pages| [&unreachable, &other].map(|why| optional.covers(&point(pages), why));
        assert_eq!(covers(Optional::Nothing, Pages::thp(PageSize::MIB_2)), [false, false]);
        assert_eq!(covers(Optional::Unreachable, Pages::thp(PageSize::MIB_2)), [true, false]);
        assert_eq!(covers(Optional::Everything, Pages::thp(PageSize::MIB_2)), [true, true]);
        // Pages that the user named must be available; the others are a comparison.
        assert_eq!(
            covers(Optional::PagesBut(Pages::thp(PageSize::MIB_2)), Pages::thp(PageSize::MIB_2)),
            [false, false]
        );
        assert_eq!(
            covers(Optional::PagesBut(Pages::thp(PageSize::MIB_2)), Pages::base(PageSize::KIB_4)),
            [true, true]
        );
        assert_eq!(covers(Optional::PagesBut(Pages::AUTO), Pages::AUTO), [true, true]);
    }

    #[test]
    fn visits_have_time_however_slowly_memory_was_placed() {
        let budget = Budget { until_ns: 10e9, least_ns: LEAST_VISITS_NS, ..Budget::DEFAULT };
        assert!(budget.has_time_to_place(2e9, 3e9));
        assert!(!budget.has_time_to_place(2e9, 4e9) && !budget.has_time_to_place(6e9, 4e9));
        let end = |mut budget: Budget, now_ns| {
            budget.begin_visits(now_ns);
            budget.until_ns
        };
        assert_eq!([2e9, 9.5e9].map(|now_ns| end(budget, now_ns)), [10e9, 12.5e9]);
        // A time that the user gave is kept.
        assert_eq!(end(Budget { least_ns: 0.0, ..budget }, 9.5e9), 10e9);
        assert!(Budget::DEFAULT.has_time_to_place(1e12, 1e12));
    }

    #[test]
    fn requested_trials_are_not_cut_by_a_default_limit() {
        let budget = Budget { point_ns: 1e9, ..Budget::DEFAULT };
        let asked = Budget { trials: Some(3), ..budget };
        assert!((budget.left_ns(4e8) - 6e8).abs() < 1.0);
        assert!(asked.left_ns(4e8).is_infinite() && asked.within(1e9, 2).share_ns.is_infinite());
        assert!(Budget { bounded: true, ..asked }.left_ns(2e9) < 0.0);
        assert!((budget.within(1e9, 4).share_ns - 2.5e8).abs() < 1.0);
    }
}
