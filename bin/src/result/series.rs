//! Rounds of one point, and what they say together.

use latency_core::cores::lines::OfLine;
use latency_core::stats::{Interval, Summary};

use super::counters::{Counted, Counters, Software};

/// The result of one round of batches, per hop.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// The median of the undisturbed batches in the state that most of them agree on ([`latency_core::stats::state`]).
    pub nanoseconds: f64,
    /// The mean of the undisturbed batches, in whichever state they are.
    pub mean_ns: f64,
    /// Time of a hop over lines that no cache held, just before; not a number where there were none.
    pub cold_ns: f64,
    /// The share of the undisturbed batches in that state; not a number where they are too few to tell.
    pub state_share: f64,
    /// The same in core cycles; not a number where there are none.
    pub core_cycles: f64,
    /// Lines that generators touched during the batches, per nanosecond; not a number without any.
    pub delivered: f64,
    /// The fastest batch.
    pub minimum_ns: f64,
    /// The median core clock in gigahertz.
    pub core_gigahertz: f64,
    /// The clock of the uncore after the batches; not a number where it was not read.
    pub uncore_gigahertz: f64,
    /// Batches made.
    pub batches: u32,
    /// Batches that were interrupted, and left out.
    pub disturbed: u32,
    /// Batches over which the clock stepped back.
    pub stepped_back: u32,
    /// Batches during which the quota of CPU time was used up.
    pub throttled: u32,
    /// Batches before which the rate of the generators had not become steady.
    pub unsettled: u32,
    /// When the first batch began.
    pub begun_ns: f64,
    /// When the last batch ended.
    pub ended_ns: f64,
    /// Events that hardware counters saw in walks beside the batches.
    pub counted: Counted,
    /// Events of the kernel for the thread during the batches.
    pub software: Software,
}

/// The findings of the warm-up.
#[derive(Clone, Copy, Debug, Default)]
pub struct WarmUp {
    /// The hops made.
    pub hops: u64,
    /// The latency of the first pass over memory that no cache held, in nanoseconds, if it was timed; of several, the
    /// median.
    pub cold_ns: Option<f64>,
    /// The first passes that were timed.
    pub passes: usize,
    /// The latency afterwards, from a few batches.
    pub estimate_ns: f64,
}

/// The lines of a point, each with its own place.
#[derive(Clone, Copy, Debug)]
pub struct PerLine {
    /// The one of the smallest median over rounds.
    pub fastest: OfLine,
    /// The one of the largest.
    pub slowest: OfLine,
    /// The time stamps of both CPUs, compared by messages; `None` without messages.
    pub messages: Option<ClockOffset>,
}

/// The time-stamp counters of two CPUs, as messages between them show them.
///
/// With an offset d of the counters a message of w + a nanoseconds there and w - a back reads w + a + d and w - a - d:
/// the mean is free of the offset, and half of the difference is a + d, which no two clocks can tell apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockOffset {
    /// Half of the difference between both ways in nanoseconds, without its sign; the median over batches of messages.
    pub apart_ns: f64,
    /// Its 95 % confidence interval.
    pub interval: Option<Interval>,
    /// Returns whether every message arrived after it was sent, by these counters.
    pub in_order: bool,
}

impl ClockOffset {
    /// Returns the upper end of the interval: offset and asymmetry together are not larger.
    #[must_use]
    pub fn most_ns(&self) -> f64 {
        self.interval.map_or(self.apart_ns, |interval| interval.high)
    }
}

/// The latency while neighbours are quiet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Undisturbed {
    /// Rounds in separate seconds that agree on it.
    Seen {
        /// The median of these rounds, in nanoseconds.
        nanoseconds: f64,
        /// Its 95 % confidence interval.
        interval: Interval,
        /// The number of these rounds.
        rounds: u32,
    },
    /// No rounds prove a value; it is no longer than these nanoseconds.
    AtMost(f64),
}

/// All rounds of one point.
#[derive(Clone, Copy, Debug)]
pub struct RoundSeries {
    /// Over rounds, per hop.
    pub nanoseconds: Summary,
    /// Over rounds, per hop; `None` without a counter.
    pub core_cycles: Option<Summary>,
    /// Over rounds; `None` without a counter.
    pub core_gigahertz: Option<Summary>,
    /// Time of a hop over its time just before over lines that no cache held; `None` where there were none in
    /// several rounds.
    pub warm_over_cold: Option<Summary>,
    /// The clock of the uncore, median over rounds; `None` where it was not read.
    pub uncore_gigahertz: Option<f64>,
    /// The latency while neighbours are quiet; `None` where it was not looked for: other walks than one chain.
    pub undisturbed: Option<Undisturbed>,
    /// Lines per nanosecond of generators meanwhile, over rounds; `None` without any.
    pub delivered: Option<Summary>,
    /// The fastest batch of all.
    pub minimum_ns: f64,
    /// Trials made.
    pub batches: u64,
    /// Trials that were interrupted.
    pub disturbed: u64,
    /// Batches over which the clock stepped back.
    pub stepped_back: u64,
    /// Trials during which the quota of CPU time was used up.
    pub throttled: u64,
    /// Trials before which the rate of the generators had not become steady.
    pub unsettled: u64,
    /// The share of a round's calm trials in the state that gives the value, median over rounds; `None` where rounds
    /// have too few to tell.
    pub state_share: Option<f64>,
    /// From the first trial of the first round to the last of the last: what the interval speaks of.
    pub window_ns: f64,
    /// Events that hardware counters saw, if they were wanted and there are any.
    pub counters: Option<Counters>,
    /// Events of the kernel for the thread during all batches.
    pub software: Software,
}

impl RoundSeries {
    /// Divides what a hop takes by the `loads` loads that it consists of.
    #[inline(never)] // offsets into a small frame are short
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
    }

    /// Half of the confidence interval's width, relative to the median; not a number without an interval.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        let median = self.nanoseconds.median;
        self.nanoseconds.interval.map_or(f64::NAN, |interval| interval.relative_half_width(median))
    }

    /// Core cycles of the counters divided by those that dependent additions make likely.
    #[must_use]
    pub fn core_cycles_ratio(&self) -> Option<f64> {
        let [cycles, ..] = self.counters?.per_hop;
        Some(cycles? / self.core_cycles?.median).filter(|ratio| ratio.is_finite())
    }

    /// Returns the share of the trials that were interrupted.
    #[must_use]
    pub fn disturbed_share(&self) -> f64 {
        self.disturbed as f64 / self.batches.max(1) as f64
    }

    /// Returns whether half of the confidence interval of the median is within `precision`, a fraction.
    #[must_use]
    #[inline(never)] // it is asked in several places
    pub fn is_precise(&self, precision: f64) -> bool {
        self.half_width() <= precision
    }
}
