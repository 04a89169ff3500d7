//! The rounds of one point, and their summary: times, the events that counters recorded, and the latency of a random
//! load as the sum of two parts, the load itself and the translation of its address.
//!
//! This module only names the events; other modules count them.

use latency_core::chain::GROUPED;
use latency_core::cores::lines::OfLine;
use latency_core::{Estimate, Interval, Summary, ToReal};

/// The result of one round of batches, per hop.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// The median of the undisturbed batches in the state that most of them agree on ([`latency_core::stats::state`]).
    pub nanoseconds: f64,
    /// The mean of the undisturbed batches, in whichever state they are.
    pub mean_ns: f64,
    /// Time of a hop over lines that no cache contained, measured just before; NaN without these lines.
    pub cold_ns: f64,
    /// The same value of each grouped chain, walked in turn with the random one; `None` without grouped chains.
    pub grouped: Option<[f64; GROUPED]>,
    /// The share of the undisturbed batches in that state; NaN if they are too few to determine it.
    pub state_share: f64,
    /// The median in core cycles instead of nanoseconds; NaN without core cycles.
    pub core_cycles: f64,
    /// Lines per nanosecond that generators touched during the batches; NaN without generators.
    pub delivered: f64,
    /// The time of the fastest batch, in nanoseconds.
    pub minimum_ns: f64,
    /// The time of the slowest undisturbed batch, in nanoseconds.
    pub maximum_ns: f64,
    /// The median core clock in gigahertz.
    pub core_gigahertz: f64,
    /// The clock of the uncore after the batches, in gigahertz; NaN if it was not read.
    pub uncore_gigahertz: f64,
    /// Number of batches.
    pub batches: u32,
    /// Number of batches that were interrupted, and left out.
    pub disturbed: u32,
    /// Number of batches over which the clock stepped back.
    pub stepped_back: u32,
    /// Number of batches during which the quota of CPU time was used up.
    pub throttled: u32,
    /// Number of batches before which the rate of the generators had not become steady.
    pub unsettled: u32,
    /// Start of the first batch, in nanoseconds.
    pub begun_ns: f64,
    /// End of the last batch, in nanoseconds.
    pub ended_ns: f64,
    /// Events that hardware counters recorded in walks next to the batches.
    pub counted: Counted,
    /// Kernel events of the thread during the batches.
    pub software: Software,
}

/// The findings of the warm-up.
#[derive(Clone, Copy, Debug, Default)]
pub struct WarmUp {
    /// The number of hops.
    pub hops: u64,
    /// The latency of the first pass over memory that no cache contained, in nanoseconds, if it was timed; the median
    /// if there were several first passes.
    pub cold_ns: Option<f64>,
    /// The number of first passes that were timed.
    pub passes: usize,
    /// The latency after the warm-up, from a few batches, in nanoseconds.
    pub estimate_ns: f64,
}

/// The extreme lines of a point at which each line was timed on its own.
#[derive(Clone, Copy, Debug)]
pub struct PerLine {
    /// The line with the smallest median over rounds.
    pub fastest: OfLine,
    /// The line with the largest median over rounds.
    pub slowest: OfLine,
    /// The comparison of the time stamps of both CPUs by messages; `None` without messages.
    pub messages: Option<ClockOffset>,
}

/// The offset between the time-stamp counters of two CPUs, as seen from messages between them.
///
/// With a counter offset of d, a message that takes w + a nanoseconds in one direction and w - a in the other reads as
/// w + a + d and as w - (a + d). The mean is free of the offset, and half of the difference is a + d: no two clocks can
/// separate a from d.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockOffset {
    /// Half of the difference between the two directions in nanoseconds, without its sign; the median over batches of
    /// messages.
    pub apart_ns: f64,
    /// Its 95 % confidence interval.
    pub interval: Option<Interval>,
    /// True if every message arrived after it was sent, by these counters.
    pub in_order: bool,
}

impl ClockOffset {
    /// Returns the upper end of the interval, which bounds offset and asymmetry together.
    pub fn most_ns(&self) -> f64 {
        self.interval.map_or(self.apart_ns, |interval| interval.high)
    }
}

/// The latency while neighbours are quiet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Undisturbed {
    /// Rounds in separate seconds agree on a value.
    Seen {
        /// The median of these rounds, in nanoseconds.
        nanoseconds: f64,
        /// Its 95 % confidence interval.
        interval: Interval,
        /// The number of these rounds.
        rounds: u32,
    },
    /// No rounds prove a value; the value is an upper bound in nanoseconds.
    AtMost(f64),
}

/// All rounds of one point.
#[derive(Clone, Copy, Debug)]
pub struct RoundSeries {
    /// Nanoseconds per hop, over rounds.
    pub nanoseconds: Summary,
    /// Core cycles per hop, over rounds; `None` without a counter.
    pub core_cycles: Option<Summary>,
    /// The core clock in gigahertz, over rounds; `None` without a counter.
    pub core_gigahertz: Option<Summary>,
    /// The ratio of the time of a hop to the time just before of a hop over lines that no cache contained; `None`
    /// unless several rounds have these lines.
    pub warm_over_cold: Option<Summary>,
    /// The clock of the uncore in gigahertz, median over rounds; `None` if it was not read.
    pub uncore_gigahertz: Option<f64>,
    /// The latency while neighbours are quiet; `None` if it was not sought, as for all walks but a single chain.
    pub undisturbed: Option<Undisturbed>,
    /// Memory and translation apart; `None` without grouped chains.
    pub split: Option<Split>,
    /// Lines per nanosecond of generators during the batches, over rounds; `None` without generators.
    pub delivered: Option<Summary>,
    /// The time of the fastest batch of all, in nanoseconds.
    pub minimum_ns: f64,
    /// The time of the slowest undisturbed batch of all, in nanoseconds.
    pub maximum_ns: f64,
    /// Number of trials.
    pub batches: u64,
    /// Number of trials that were interrupted.
    pub disturbed: u64,
    /// Number of batches over which the clock stepped back.
    pub stepped_back: u64,
    /// Number of trials during which the quota of CPU time was used up.
    pub throttled: u64,
    /// Number of trials before which the rate of the generators had not become steady.
    pub unsettled: u64,
    /// The share of a round's undisturbed trials in the state that yields the value, median over rounds; `None` if
    /// rounds have too few trials to determine it.
    pub state_share: Option<f64>,
    /// The time from the first trial of the first round to the last trial of the last round, which the interval covers.
    pub window_ns: f64,
    /// Events that hardware counters recorded, if they were requested and available.
    pub counters: Option<Counters>,
    /// Kernel events of the thread during all batches.
    pub software: Software,
}

impl RoundSeries {
    /// Divides the time of a hop by the `loads` loads that it consists of.
    pub fn share(&mut self, loads: f64) {
        for summary in [&mut self.nanoseconds].into_iter().chain(&mut self.core_cycles) {
            let Summary { median, minimum, maximum, mad, interval, .. } = summary;
            for value in [median, minimum, maximum, mad] {
                *value /= loads;
            }
            if let Some(Interval { low, high }) = interval {
                *low /= loads;
                *high /= loads;
            }
        }
        if let Some(counters) = &mut self.counters {
            counters.per_hop.iter_mut().flatten().for_each(|count| *count /= loads);
        }
        self.minimum_ns /= loads;
        self.maximum_ns /= loads;
    }

    /// Returns half of the confidence interval's width, relative to the median; NaN without an interval.
    pub fn half_width(&self) -> f64 {
        let median = self.nanoseconds.median;
        self.nanoseconds.interval.map_or(f64::NAN, |interval| interval.relative_half_width(median))
    }

    /// Returns memory and translation, if they were told apart.
    pub fn parts(&self) -> Option<LoadParts> {
        self.split?.parts
    }

    /// Returns whether a cache serves much of the working set, by the ratio to hops over lines that no cache contained;
    /// `None` if that is not known. A bound of 5 % is more than the scatter of both on shared memory.
    pub fn is_served(&self) -> Option<bool> {
        const MUCH: f64 = 0.95;
        let ratio = self.warm_over_cold?;
        ratio.interval.map(|_| ratio.median < MUCH)
    }

    /// Returns the ratio of the core cycles by counters to those derived from dependent additions.
    pub fn core_cycles_ratio(&self) -> Option<f64> {
        let [cycles, ..] = self.counters?.per_hop;
        Some(cycles? / self.core_cycles?.median).filter(|ratio| ratio.is_finite())
    }

    /// Returns the share of the trials that were interrupted.
    pub fn disturbed_share(&self) -> f64 {
        self.disturbed.real() / self.batches.max(1).real()
    }

    /// Returns whether half of the confidence interval of the median is within `precision`, a fraction.
    pub fn is_precise(&self, precision: f64) -> bool {
        self.half_width() <= precision
    }
}

/// Number of hardware events.
pub const EVENTS: usize = 6;

/// Events of one walk, per hop; NaN for events that were not counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted {
    /// Core cycles, instructions, L1D misses, last-level misses, data-TLB misses, cycles of page walks.
    pub per_hop: [f64; EVENTS],
    /// The smallest share of a walk in which the event group was on the hardware; below 1, the kernel's counts are
    /// scaled up.
    pub running: f64,
}

impl Default for Counted {
    fn default() -> Self {
        Counted { per_hop: [f64::NAN; EVENTS], running: f64::NAN }
    }
}

/// Events that the kernel counts for every thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Software {
    /// Context switches, voluntary and involuntary.
    pub switches: (u64, u64),
    /// Migrations to another CPU.
    pub migrations: u64,
    /// Page faults without a disk access, and with one.
    pub faults: (u64, u64),
}

impl Software {
    /// Returns the events between `earlier` and this count.
    pub fn since(&self, earlier: &Software) -> Software {
        self.with(earlier, u64::saturating_sub)
    }

    /// Returns the sum of both counts.
    pub fn and(&self, other: &Software) -> Software {
        self.with(other, |mine, other| mine + other)
    }

    fn with(&self, other: &Software, of: fn(u64, u64) -> u64) -> Software {
        let both = |mine: (u64, u64), other: (u64, u64)| (of(mine.0, other.0), of(mine.1, other.1));
        Software {
            switches: both(self.switches, other.switches),
            migrations: of(self.migrations, other.migrations),
            faults: both(self.faults, other.faults),
        }
    }
}

impl Counted {
    /// Returns these events together with those of another group.
    pub fn and(mut self, other: &Counted) -> Counted {
        for (mine, other) in self.per_hop.iter_mut().zip(other.per_hop) {
            if mine.is_nan() {
                *mine = other;
            }
        }
        self.running = self.running.min(other.running);
        self
    }
}

/// Events that hardware counters recorded, as medians over rounds.
#[derive(Clone, Copy, Debug)]
pub struct Counters {
    /// Events per hop, in the order of [`Counted::per_hop`]; `None` if the event could not be counted.
    pub per_hop: [Option<f64>; EVENTS],
    /// The smallest share of a walk in which the events were on the hardware; below 1, the kernel has scaled the
    /// counts.
    pub running: f64,
}

impl Counters {
    /// Returns the instructions of a core cycle, if both were counted.
    pub fn instructions_per_cycle(&self) -> Option<f64> {
        let [cycles, instructions, ..] = self.per_hop;
        Some(instructions? / cycles.filter(|cycles| *cycles > 0.0)?)
    }
}

/// Relative difference between windows of half the pages and whole windows up to which the TLB holds a window.
const HELD: f64 = 0.04;
/// Maximum of this difference that the ends of its interval may show.
const UNCERTAIN: f64 = 0.15;

/// Ratio of a walk by the difference of chains to the translation of a random load above which a part of the difference is
/// not translation: random loads over three times the reach of the TLB hit it as often as that.
const MORE: f64 = 1.5;

/// The walks of grouped chains beside a random one.
#[derive(Clone, Copy, Debug)]
pub struct Split {
    /// The median of each grouped chain, in nanoseconds per load.
    pub grouped: [f64; GROUPED],
    /// Both parts; `None` if the TLB does not hold the pages of a window, or if rounds are too few for an interval.
    pub parts: Option<LoadParts>,
    /// The ratio of windows of half the pages to whole windows at the end of its interval that is farther from 1, if it
    /// does not show that the TLB holds a window.
    pub windows_differ: Option<f64>,
}

/// The two parts of the latency of a random load, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadParts {
    /// The latency of a load whose translation the TLB has.
    pub without_translation: Estimate,
    /// The latency that translation adds; never negative.
    pub translation: Estimate,
}

/// The series of one quantity over rounds, by the rules for the rounds of a point.
pub struct PairedRounds {
    /// The random chain.
    pub random: Summary,
    /// The grouped chains.
    pub grouped: [Summary; GROUPED],
    /// The load without translation, by the chains of four and two visits: twice the one minus the other.
    pub by_four: Summary,
    /// The same by the chains of two visits and of one.
    pub by_two: Summary,
    /// The random chain minus [`by_four`](Self::by_four), round by round.
    pub translation: Summary,
    /// Windows of half the pages over whole windows, round by round.
    pub narrow_over_whole: Summary,
}

impl Split {
    /// Concludes from rounds in which all chains were walked in turn.
    ///
    /// The mean load of a chain of k visits has the latency of memory and one k-th of a walk, so memory is twice the
    /// chain of four minus the chain of two, or twice that of two minus that of one. The more visits, the more open rows
    /// of memory and prefetchers help, and the less a walk is extrapolated. The value is the first one, which scatters
    /// least; its interval reaches to the second. If the chains differ by much more than translation, a part of the
    /// difference is not translation, and the interval reaches to the chain of four visits.
    pub fn of(rounds: &PairedRounds) -> Split {
        let PairedRounds { random, grouped, by_four, by_two, translation, narrow_over_whole } = rounds;
        let [four, two, ..] = grouped;
        let bounds = narrow_over_whole.interval;
        let windows_differ = bounds.and_then(|Interval { low, high }| {
            let differs = high < 1.0 - HELD || low > 1.0 + HELD;
            let is_uncertain = low < 1.0 - UNCERTAIN || high > 1.0 + UNCERTAIN;
            (differs || is_uncertain).then_some(if 1.0 - low > high - 1.0 { low } else { high })
        });
        let walk = (two.median - four.median) * 4.0;
        let parts = by_four.interval.zip(translation.interval).filter(|_| windows_differ.is_none()).map(
            |(own, added)| {
                let value = random.median - by_four.median;
                let top = if walk > MORE * value { four.median } else { own.high };
                let memory =
                    Interval { low: own.low.min(by_two.median), high: own.high.max(by_two.median).max(top) };
                let ends = Interval {
                    low: added.low.min(value) - (memory.high - own.high),
                    high: added.high.max(value) + (own.low - memory.low),
                };
                let interval = Interval { low: ends.low.max(0.0), high: ends.high.max(0.0) };
                LoadParts {
                    without_translation: Estimate { value: by_four.median, interval: Some(memory) },
                    translation: Estimate { value: value.max(0.0), interval: Some(interval) },
                }
            },
        );
        Split { grouped: grouped.map(|chain| chain.median), parts, windows_differ }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(median: f64) -> Summary {
        within(median, median, median)
    }

    fn within(low: f64, median: f64, high: f64) -> Summary {
        let interval = Some(Interval { low, high });
        Summary { count: 31, median, minimum: low, maximum: high, mad: 0.0, interval }
    }

    /// Returns the rounds of a memory, a walk in grouped chains, and the translation of a random load.
    fn rounds(memory: f64, walk: f64, translation: f64) -> PairedRounds {
        let of = |visits: f64| exact(memory + walk / visits);
        PairedRounds {
            random: exact(memory + translation),
            grouped: [of(4.0), of(2.0), of(1.0), of(4.0)],
            by_four: exact(memory),
            by_two: exact(memory),
            translation: exact(translation),
            narrow_over_whole: exact(1.0),
        }
    }

    fn ends(estimate: Estimate) -> (f64, f64, f64) {
        let Interval { low, high } = estimate.interval.unwrap();
        (low, estimate.value, high)
    }

    #[test]
    fn both_parts_add_up_to_the_random_load() {
        let parts = Split::of(&rounds(150.0, 80.0, 230.0)).parts.unwrap();
        assert_eq!(ends(parts.without_translation), (150.0, 150.0, 150.0));
        assert_eq!(ends(parts.translation), (230.0, 230.0, 230.0));
    }

    #[test]
    fn the_interval_reaches_to_the_other_pair_of_chains() {
        let other = PairedRounds {
            by_four: within(148.0, 150.0, 152.0),
            by_two: exact(171.0),
            translation: within(226.0, 230.0, 234.0),
            ..rounds(150.0, 80.0, 230.0)
        };
        let parts = Split::of(&other).parts.unwrap();
        assert_eq!(ends(parts.without_translation), (148.0, 150.0, 171.0));
        assert_eq!(ends(parts.translation), (207.0, 230.0, 234.0));
        let lower = PairedRounds { by_two: exact(140.0), ..other };
        let parts = Split::of(&lower).parts.unwrap();
        assert_eq!(ends(parts.without_translation), (140.0, 150.0, 152.0));
        assert_eq!(ends(parts.translation), (226.0, 230.0, 242.0));
    }

    #[test]
    fn a_difference_that_translation_does_not_explain_widens_the_interval() {
        let parts = Split::of(&rounds(150.0, 40.0, 20.0)).parts.unwrap();
        assert_eq!(ends(parts.without_translation), (150.0, 150.0, 160.0));
        assert_eq!(ends(parts.translation), (10.0, 20.0, 20.0));
        let parts = Split::of(&rounds(150.0, 40.0, -2.0)).parts.unwrap();
        assert_eq!(ends(parts.translation), (0.0, 0.0, 0.0));
    }

    #[test]
    fn a_tlb_that_does_not_hold_a_window_gives_no_parts() {
        for (ratio, differs) in [
            (within(0.90, 0.93, 0.95), Some(0.90)),
            (within(0.90, 0.93, 0.97), None),
            (within(0.97, 0.98, 0.99), None),
            (within(1.05, 1.06, 1.07), Some(1.07)),
            // A disturbed run does not show that it holds one.
            (within(0.84, 0.98, 1.1), Some(0.84)),
            (within(0.9, 1.0, 1.2), Some(1.2)),
        ] {
            let split = Split::of(&PairedRounds { narrow_over_whole: ratio, ..rounds(150.0, 80.0, 230.0) });
            assert_eq!((split.parts.is_some(), split.windows_differ), (differs.is_none(), differs));
        }
    }

    #[test]
    fn too_few_rounds_give_no_parts() {
        let few = PairedRounds {
            by_four: Summary { interval: None, ..exact(150.0) },
            ..rounds(150.0, 80.0, 230.0)
        };
        let split = Split::of(&few);
        assert_eq!((split.parts, split.windows_differ), (None, None));
    }
}
