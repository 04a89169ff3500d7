//! A point and its outcome: a measurement, or the reason why there is none; and the samples of a curve, made of
//! outcomes or of saved rows.

use core::ops::Range;

use latency_core::{Bytes, Estimate, Interval, ToReal, messages, model, with_constant};

use super::placed::{Placed, PlacedField};
use super::point::{Point, Walk};
use super::series::{PerLine, RoundSeries, WarmUp};
use crate::error::PlacementError;

/// One point, measured.
#[derive(Clone, Copy, Debug)]
pub struct Measurement {
    /// Its memory.
    pub placed: Placed,
    /// The hops of each trial.
    pub hops: u64,
    /// The findings of the warm-up before the first trial.
    pub warm_up: WarmUp,
    /// The measured values.
    pub series: RoundSeries,
    /// The number of rounds of trials.
    pub rounds: usize,
    /// The number of places in physical memory in which the rounds were made.
    pub placements: usize,
    /// The spread between the medians of these places, as a share of their median; `None` with too few places.
    pub placement_spread: Option<f64>,
    /// True if the confidence interval became as narrow as required.
    pub precise: bool,
    /// The chain's fingerprint, which is equal for equal chains; zero without a chain.
    pub fingerprint: u64,
    /// The chain's nodes, or the lines of traffic.
    pub nodes: u64,
    /// The memory of the traffic during the measurement, or the memory of every second line that two CPUs exchange.
    pub traffic: Option<PlacedField>,
    /// Differences between lines, where each was timed.
    pub lines: Option<PerLine>,
}

messages! {
    /// The reason why a point has no value.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum Exclusion {
        /// The memory could not be obtained, or its required placement could not be proven.
        Placement(error: PlacementError) => "{error}";
        /// An interrupt ended the run before the point was measured.
        Interrupted => "interrupted";
        /// Other programs or a quota left the generators no CPU time, so that the load was absent; a warning has the cause.
        Starved => "the load had no CPU time";
    }
}

impl Exclusion {
    /// Returns whether the exclusion fails the run: memory that left its proven node.
    pub const fn is_fatal(&self) -> bool {
        matches!(self, Exclusion::Placement(PlacementError::MovedDuringRun { .. }))
    }
}

/// A point and its result.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// The planned point.
    pub point: Point,
    /// Its measurement, or the reason why there is none.
    pub result: Result<Measurement, Exclusion>,
}

/// Returns whether the core's clock is unknown at a measured point of dependent loads.
pub fn lack_core_clock(outcomes: &[Outcome]) -> bool {
    outcomes.iter().any(|Outcome { point, result }| {
        let loads = !matches!(point.walk, Walk::Traffic(_)) && !point.walk.is_of_cores();
        loads && result.as_ref().is_ok_and(|measured| measured.series.core_cycles.is_none())
    })
}

/// Returns the core clock in gigahertz of the first point that has one.
pub fn core_clock(outcomes: &[Outcome]) -> Option<f64> {
    let clock = outcomes.iter().find_map(|outcome| outcome.result.as_ref().ok()?.series.core_gigahertz);
    clock.map(|clock| clock.median)
}

impl Outcome {
    /// Returns the latency, or the time per load; `None` if it was not measured.
    pub fn nanoseconds(&self) -> Option<f64> {
        self.result.as_ref().ok().map(|measured| measured.series.nanoseconds.median)
    }

    /// Returns the latency, or the time per load, with its interval; `None` if it was not measured.
    pub fn estimate(&self) -> Option<Estimate> {
        self.result.as_ref().ok().map(|measured| measured.series.nanoseconds.into())
    }
}

/// Latencies that are written and read, in nanoseconds.
pub const LATENCIES: Range<f64> = 1e-6..1e12;

/// Approximate number of deviations in half of a 95 % confidence interval over 15 rounds.
const DEVIATIONS: f64 = 1.5;

with_constant! {
    /// One point of a curve.
    #[derive(Clone, Copy, Debug)]
    pub struct Sample {
        /// The working set.
        pub size: Bytes = Bytes(0),
        /// The distance between nodes.
        pub stride: Bytes = Bytes(64),
        /// The latency in nanoseconds.
        pub nanoseconds: f64 = f64::NAN,
        /// Its confidence interval.
        pub interval: Option<Interval> = None,
        /// The latency in core cycles, if it is known.
        pub core_cycles: Option<f64> = None,
        /// The median absolute deviation of rounds, relative to the latency, if it is known.
        pub deviation: Option<f64> = None,
    }
    /// A sample without values.
    pub const EMPTY;
}

impl Sample {
    /// Returns the sample of an outcome that has a value.
    pub fn of(outcome: &Outcome) -> Option<Sample> {
        let series = &outcome.result.as_ref().ok()?.series;
        let clocked = series.core_cycles.filter(|cycles| cycles.median > 0.0);
        let relative = clocked.map_or(series.nanoseconds, |cycles| cycles);
        Some(Sample {
            size: outcome.point.size,
            stride: outcome.point.stride,
            nanoseconds: series.nanoseconds.median,
            interval: series.nanoseconds.interval,
            core_cycles: clocked.map(|cycles| cycles.median),
            deviation: Some(relative.mad / relative.median),
        })
    }

    /// Returns the spread of repeated measurements, as a share of the latency; 0 if it is not known.
    pub fn spread(&self) -> f64 {
        /// Minimum relative spread: no measurement repeats better than the clock that times it.
        const LEAST: f64 = 5e-4;
        let by_interval =
            self.interval.map(|interval| interval.relative_half_width(self.nanoseconds) / DEVIATIONS);
        let spread = by_interval.or(self.deviation).filter(|spread| spread.is_finite());
        spread.map_or(0.0, |spread| spread.max(LEAST))
    }

    /// Returns the point for a fit: latency in core cycles or in nanoseconds, against bytes.
    pub fn point(&self, in_cycles: bool) -> model::Point {
        let latency = if in_cycles { self.core_cycles.unwrap_or(f64::NAN) } else { self.nanoseconds };
        model::Point { working_set: self.size.0.real(), latency, spread: self.spread() }
    }
}
