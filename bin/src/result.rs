//! What was planned, what was measured, and what is known of both: plain data.
//!
//! Reports see nothing else. No system is asked here.

mod walk;

use core::fmt;

use latency_core::chain::Order;
use latency_core::kernel::lanes::Filler;
use latency_core::kernel::Kernel;
use latency_core::model::edge::{Edge, EdgeError};
use latency_core::stats::{Interval, Summary};
use latency_core::units::{Bytes, CpuId, Hertz, NodeId, Ticks};

use crate::counted::{Counted, Counters, Software};
use crate::error::PlacementError;
use crate::options::Pages;
use crate::proof::{Evidence, PageCounts};

pub use walk::{Reach, Walk};

/// One point of a plan: everything that decides what is measured.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// The node on which the chase runs.
    pub initiator: NodeId,
    /// The CPU of it.
    pub cpu: CpuId,
    /// The node whose memory it walks.
    pub target: NodeId,
    /// The chase loop.
    pub kernel: &'static Kernel,
    /// The order of the chain.
    pub order: Order,
    /// The working set.
    pub size: Bytes,
    /// The distance between neighbouring nodes.
    pub stride: Bytes,
    /// The seed of the chain.
    pub seed: u64,
    /// The pages asked for.
    pub pages: Pages,
    /// How it is walked.
    pub walk: Walk,
}

/// What one round of batches says, per hop.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// The half-sample mode of its undisturbed batches.
    pub nanoseconds: f64,
    /// The same in core cycles; not a number where there are none.
    pub core_cycles: f64,
    /// The fastest batch.
    pub minimum_ns: f64,
    /// The median core clock in gigahertz.
    pub core_gigahertz: f64,
    /// Batches made.
    pub batches: u32,
    /// Batches that were interrupted, and left out of the mode.
    pub disturbed: u32,
    /// What hardware counters saw of walks beside the batches.
    pub counted: Counted,
    /// What the kernel did to the thread during the batches.
    pub software: Software,
}

/// What the warm-up found.
#[derive(Clone, Copy, Debug, Default)]
pub struct WarmUp {
    /// The hops made.
    pub hops: u64,
    /// The latency of the first pass over memory that no cache held, in nanoseconds, if it was timed.
    pub cold_ns: Option<f64>,
    /// The latency afterwards, from a few batches.
    pub estimate_ns: f64,
}

/// All rounds of one point.
#[derive(Clone, Copy, Debug)]
pub struct Series {
    /// Over rounds, per hop.
    pub nanoseconds: Summary,
    /// Over rounds, per hop; `None` without a counter.
    pub core_cycles: Option<Summary>,
    /// Over rounds; `None` without a counter.
    pub core_gigahertz: Option<Summary>,
    /// The fastest batch of all.
    pub minimum_ns: f64,
    /// Trials made.
    pub batches: u64,
    /// Trials that were interrupted.
    pub disturbed: u64,
    /// The same chain measured twice (A/A): every other round against the rest.
    pub repeat_ratio: Option<f64>,
    /// What hardware counters saw, if they were wanted and there are any.
    pub counters: Option<Counters>,
    /// What the kernel did to the thread during all batches.
    pub software: Software,
}

impl Series {
    /// The same for each of `loads` loads that a hop consists of.
    #[must_use]
    pub fn shared_by(self, loads: f64) -> Series {
        let share = |summary: Summary| Summary {
            median: summary.median / loads,
            minimum: summary.minimum / loads,
            maximum: summary.maximum / loads,
            mad: summary.mad / loads,
            interval: summary
                .interval
                .map(|interval| Interval { low: interval.low / loads, high: interval.high / loads }),
            ..summary
        };
        Series {
            nanoseconds: share(self.nanoseconds),
            counters: self.counters.map(|counters| Counters {
                per_hop: counters.per_hop.map(|count| count.map(|count| count / loads)),
                ..counters
            }),
            core_cycles: self.core_cycles.map(share),
            minimum_ns: self.minimum_ns / loads,
            ..self
        }
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

    /// The share of the trials that were interrupted.
    #[must_use]
    pub fn disturbed_share(&self) -> f64 {
        self.disturbed as f64 / self.batches.max(1) as f64
    }

    /// Whether the confidence interval of the median is as narrow as `precision` (a fraction, half of the width).
    #[must_use]
    pub fn is_precise(&self, precision: f64) -> bool {
        self.half_width() <= precision
    }
}

/// How a buffer came to its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// The kernel was told: set_mempolicy and mbind.
    Policy,
    /// The first touch came from a CPU of the node, because policies are forbidden.
    FirstTouch,
    /// There is one node only.
    SoleNode,
}

impl Means {
    /// The word for reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Means::Policy => "bind",
            Means::FirstTouch => "first touch",
            Means::SoleNode => "sole node",
        }
    }
}

/// What is known of the memory behind a point.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// How it came to its node.
    pub means: Means,
    /// The pages obtained: never [`Pages::Auto`].
    pub pages: Pages,
    /// The length of the mapping.
    pub mapped: Bytes,
    /// What the kernel said before measuring.
    pub before: Evidence,
    /// What it said afterwards.
    pub after: Evidence,
}

impl Placed {
    /// Whether the kernel put every page on `node`, before and after.
    #[must_use]
    pub fn is_verified(&self, node: NodeId) -> bool {
        self.before.proves(node, self.mapped) && self.after.proves(node, self.mapped)
    }

    /// The pages that are elsewhere than on `node` now, if any; `None` too where the kernel does not tell.
    #[must_use]
    pub fn moved(&self, node: NodeId) -> Option<u64> {
        if !self.after.is_there() || self.after.proves(node, self.mapped) {
            return None;
        }
        let elsewhere = |counts: &PageCounts| counts.total() - counts.on(node);
        [&self.after.numa_maps, &self.after.page_query].into_iter().flatten().map(elsewhere).max()
    }

    /// Whether the size of the pages is known, and not only asked for.
    ///
    /// A mapping from a pool has pages of its size or does not come about; of
    /// the others only /proc tells.
    #[must_use]
    pub const fn pages_are_verified(&self) -> bool {
        match self.pages {
            Pages::Huge2m | Pages::Huge1g => true,
            Pages::Thp => self.after.transparent_huge.is_some(),
            Pages::Auto | Pages::Small4k => self.after.kernel_page.is_some(),
        }
    }

    /// The share of the buffer in transparent huge pages at the end, where those were obtained.
    #[must_use]
    pub fn huge_share(&self) -> Option<f64> {
        let huge = self.after.transparent_huge.filter(|_| self.pages == Pages::Thp)?;
        Some(huge.0 as f64 / self.mapped.0 as f64)
    }
}

/// One point, measured.
#[derive(Clone, Copy, Debug)]
pub struct Measurement {
    /// Its memory.
    pub placed: Placed,
    /// Hops in each trial.
    pub hops: u64,
    /// Before the first trial.
    pub warm_up: WarmUp,
    /// What was found.
    pub series: Series,
    /// Rounds that the trials were made in.
    pub rounds: usize,
    /// Whether the confidence interval became as narrow as it had to.
    pub precise: bool,
    /// The chain's fingerprint: equal for equal chains.
    pub fingerprint: u64,
    /// The chain's nodes.
    pub nodes: u64,
}

/// Why a point has no number.
#[derive(Clone, Copy, Debug)]
pub enum Exclusion<'a> {
    /// Its memory could not be had, or not be proven to be where it had to be.
    Placement(PlacementError<'a>),
    /// An interrupt came first.
    Interrupted,
}

impl Exclusion<'_> {
    /// Whether it fails the run: memory that did not stay where it was proven to be.
    #[must_use]
    pub const fn is_fatal(&self) -> bool {
        matches!(self, Exclusion::Placement(PlacementError::MovedDuringRun { .. }))
    }
}

impl fmt::Display for Exclusion<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exclusion::Placement(error) => error.fmt(out),
            Exclusion::Interrupted => out.write_str("interrupted before it was measured"),
        }
    }
}

/// A point and what became of it.
#[derive(Clone, Copy, Debug)]
pub struct Outcome<'a> {
    /// What was to be measured.
    pub point: Point,
    /// What was.
    pub result: Result<Measurement, Exclusion<'a>>,
}

/// What was found besides the points, by the experiments that look for it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extra {
    /// The edge of the first-level cache, or why there is none; `None` if it was not looked for.
    pub edge: Option<Result<Edge, EdgeError>>,
    /// How far the processor reaches over each kind of filler; `None` if it was not looked for.
    pub reach: [Option<Reach>; Filler::ALL.len()],
    /// What there is of several orders besides their walks.
    pub orders: Option<Orders>,
}

/// Independent loads in address order: the inverse of throughput.
#[derive(Clone, Copy, Debug)]
pub struct Strided {
    /// For each load, over a whole pass.
    pub nanoseconds: f64,
    /// The same in core cycles; `None` without a counter.
    pub core_cycles: Option<f64>,
    /// The rounds whose median this is.
    pub rounds: usize,
}

/// Several orders of the same nodes, besides their walks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Orders {
    /// Their loads without a chain; `None` without a counter.
    pub strided: Option<Strided>,
}

/// The time of nodes in every line over that of nodes in every fourth, drawn at random: one without prefetching.
#[derive(Clone, Copy, Debug)]
pub struct Audit {
    /// The memory that both walk.
    pub span: Bytes,
    /// In full random order, over rounds.
    pub random: Summary,
    /// Within regions of 2 MiB, over rounds.
    pub local: Summary,
}

/// The clock that batches were timed with, for reports.
#[derive(Clone, Copy, Debug)]
pub enum ClockFacts {
    /// The time-stamp counter.
    Counter {
        /// Ticks per second.
        frequency: Hertz,
        /// How far calibrations were apart.
        spread_ppm: f64,
        /// CPUID promises one rate in all power states.
        invariant: bool,
        /// What CPUID or the hypervisor declares.
        declared: Option<Hertz>,
        /// The resolution.
        step: Ticks,
        /// The cost of an empty pair of stamps.
        overhead: Ticks,
        /// How much longer a pair around 128 multiplications took than an empty one.
        fence_ratio: f64,
        /// The closing read.
        instructions: &'static str,
    },
    /// `clock_gettime`.
    Kernel {
        /// The resolution.
        step_ns: u64,
        /// The cost of two reads.
        overhead_ns: u64,
    },
}

impl ClockFacts {
    /// The counter's frequency; `None` for the kernel's clock.
    #[must_use]
    pub const fn frequency(&self) -> Option<Hertz> {
        match self {
            ClockFacts::Counter { frequency, .. } => Some(*frequency),
            ClockFacts::Kernel { .. } => None,
        }
    }

    /// Ticks of the counter in so many nanoseconds; `None` without a counter.
    #[must_use]
    pub fn ticks(&self, nanoseconds: f64) -> Option<f64> {
        self.frequency().map(|frequency| nanoseconds * frequency.gigahertz())
    }
}

/// The tool's own health.
#[derive(Clone, Copy, Debug, Default)]
pub struct Health {
    /// Core cycles of a hit in the first-level cache: a whole number, if all is well.
    pub l1_cycles: Option<f64>,
    /// Multiplications take so many times as long as additions: 3, or 4.
    pub multiply_ratio: Option<f64>,
    /// The prefetch audit; `None` where it was not made.
    pub audit: Option<Audit>,
}
