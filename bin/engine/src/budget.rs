//! The budget of a run: the number and the length of the visits to its points, and the memory of its chains. Plain
//! data.

use latency_core::chain::{Chain, Order};
use latency_core::kernel::Encoding;
use latency_core::{PageSize, Pages, ToReal, with_constant};

use crate::error::{Attempt, PlacementError};
use crate::machine::Machine;
use crate::regions;
use crate::result::{Point, Walk, point};

pub use crate::regions::Memory;

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
/// Minimum nanoseconds that the rounds of all points together walk.
pub const WALK_NS: f64 = 1e9;
/// Nanoseconds that a core needs to reach its clock after a longer idle time; shorter pauses need no wake-up.
pub const WAKE_NS: f64 = 20e6;
/// Nanoseconds of a visit to a rewritten point beyond which its confidence interval is evaluated after the minimum
/// rounds.
pub const LONG_VISIT_NS: f64 = 20e6;
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
/// Maximum hops of a first pass, if the chain stays as it is written or if later passes need not be whole.
pub const SHORT_PASS: u64 = 1 << 20;

/// Returns the number of hops that refill TLBs, page tables and near caches.
pub fn few(nodes: u64) -> u64 {
    (nodes / 16).clamp(FEW_HOPS.0, FEW_HOPS.1)
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
    /// Points with other pages than these; all points if these are [`Pages::AUTO`].
    PagesBut(Pages),
}

impl Optional {
    /// Returns true if the run continues without `point`, whose memory could not be placed for the reason `why`.
    pub fn covers(self, point: &Point, why: &PlacementError) -> bool {
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
        /// The same minimum for points with long visits, and minimum rounds of every point even when time is up.
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
        /// True if a suitable point is measured twice in turn, the second time in other memory.
        pub twice: bool = false,
        /// The number of points that are visited in every round and need an interval. The points behind them have
        /// shorter visits, in every second round.
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
    /// The budget of chains that stay as they are written, with ten seconds for each point.
    pub const DEFAULT;
}

impl Budget {
    /// Returns the points that need an interval.
    pub fn steady<'p, T>(&self, points: &'p [T]) -> &'p [T] {
        points.get(..self.steady).unwrap_or(points)
    }

    /// Returns the budget of random walks of `each_ns` over `points`, in which memory and translation are told apart, as a
    /// part of a run with this budget.
    pub fn telling_apart(self, machine: &Machine, points: &[Point], each_ns: f64) -> Budget {
        let count = points.len();
        let in_memory = points.iter().all(|point| machine.may_tell_apart(point));
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

    /// Returns the budget with a region for each initiator of a target, if there is room.
    ///
    /// A chain that was just written shows at once the latency of a load that no cache serves, so no long first pass is
    /// needed.
    pub fn in_regions(mut self, machine: &Machine, points: &[Point]) -> Budget {
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
        let points = points.iter().filter(|point| machine.has_pages_for(point)).count();
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
    /// [`MeasureError::NoSuchChain`](crate::error::MeasureError::NoSuchChain).
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
    use crate::tests::outcome::POINT;
    use latency_core::NodeId;
    use latency_sys::Errno;

    #[test]
    fn any_number_of_points_has_room_for_an_interval() {
        let budget = Budget::DEFAULT;
        assert_eq!((budget.room(1), budget.room(100), budget.room(100_000)), (512, 122, 30));
        assert_eq!(Budget { most: 7, ..budget }.room(3), 7);
    }

    #[test]
    fn only_points_that_were_not_requested_may_be_left_out() {
        let point = |pages| Point { target: NodeId(1), pages, ..POINT };
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
        let budget = Budget { until_ns: 10e9, least_ns: 3e9, ..Budget::DEFAULT };
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
