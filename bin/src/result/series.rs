//! The rounds of one point, and their summary.

use latency_core::chain::GROUPED;
use latency_core::cores::lines::OfLine;
use latency_core::math::ToReal;
use latency_core::stats::{Interval, Summary};

use super::counters::{Counted, Counters, Software};
use super::split::{LoadParts, Split};

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
