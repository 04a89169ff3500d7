//! A point and its outcome: a measurement, or the reason why there is none.

use latency_core::messages;
use latency_core::stats::Estimate;

use super::placed::{Placed, PlacedField};
use super::point::Point;
use super::series::{PerLine, RoundSeries, WarmUp};
use super::walk::Walk;
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
    #[derive(Clone, Copy, Debug)]
    pub enum Exclusion<'a> {
        /// The memory could not be obtained, or its required placement could not be proven.
        Placement(error: PlacementError<'a>) => "{error}";
        /// An interrupt ended the run before the point was measured.
        Interrupted => "interrupted";
        /// Other programs or a quota left the generators no CPU time, so that the load was absent; a warning has the cause.
        Starved => "the load had no CPU time";
    }
}

impl Exclusion<'_> {
    /// Returns whether the exclusion fails the run: memory that left its proven node.
    pub const fn is_fatal(&self) -> bool {
        matches!(self, Exclusion::Placement(PlacementError::MovedDuringRun { .. }))
    }
}

/// A point and its result.
#[derive(Clone, Copy, Debug)]
pub struct Outcome<'a> {
    /// The planned point.
    pub point: Point,
    /// Its measurement, or the reason why there is none.
    pub result: Result<Measurement, Exclusion<'a>>,
}

/// Returns whether the core's clock is unknown at a measured point of dependent loads.
pub fn lack_core_clock(outcomes: &[Outcome<'_>]) -> bool {
    outcomes.iter().any(|Outcome { point, result }| {
        let loads = !matches!(point.walk, Walk::Traffic(_)) && !point.walk.is_of_cores();
        loads && result.as_ref().is_ok_and(|measured| measured.series.core_cycles.is_none())
    })
}

/// Returns the core clock in gigahertz of the first point that has one.
pub fn core_clock(outcomes: &[Outcome<'_>]) -> Option<f64> {
    let clock = outcomes.iter().find_map(|outcome| outcome.result.as_ref().ok()?.series.core_gigahertz);
    clock.map(|clock| clock.median)
}

impl Outcome<'_> {
    /// Returns the latency, or the time per load; `None` if it was not measured.
    pub fn nanoseconds(&self) -> Option<f64> {
        self.result.as_ref().ok().map(|measured| measured.series.nanoseconds.median)
    }

    /// Returns the latency, or the time per load, with its interval; `None` if it was not measured.
    pub fn estimate(&self) -> Option<Estimate> {
        self.result.as_ref().ok().map(|measured| measured.series.nanoseconds.into())
    }
}
