//! A point and what became of it: a measurement, or why there is none.

use core::fmt;

use latency_core::stats::Estimate;

use super::placed::{Placed, PlacedField};
use super::point::Point;
use super::series::PerLine;
use super::series::{RoundSeries, WarmUp};
use crate::error::PlacementError;

/// One point, measured.
#[derive(Clone, Copy, Debug)]
pub struct Measurement {
    /// Its memory.
    pub placed: Placed,
    /// Hops in each trial.
    pub hops: u64,
    /// Before the first trial.
    pub warm_up: WarmUp,
    /// The measured values.
    pub series: RoundSeries,
    /// Rounds that the trials were made in.
    pub rounds: usize,
    /// Places in physical memory that the rounds were made in.
    pub placements: usize,
    /// The spread between their medians, as a share of the middle one; `None` with few of them.
    pub placement_spread: Option<f64>,
    /// True if the confidence interval became as narrow as it had to.
    pub precise: bool,
    /// The chain's fingerprint: equal for equal chains; zero without one.
    pub fingerprint: u64,
    /// The chain's nodes, or the lines of traffic.
    pub nodes: u64,
    /// The memory of the traffic beside it, or of every other line that goes to and fro.
    pub traffic: Option<PlacedField>,
    /// Differences between lines, where each was timed.
    pub lines: Option<PerLine>,
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
    /// Returns whether it fails the run: memory that did not stay where it was proven to be.
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

/// A point and its result.
#[derive(Clone, Copy, Debug)]
pub struct Outcome<'a> {
    /// The planned point.
    pub point: Point,
    /// Its measurement, or the reason why there is none.
    pub result: Result<Measurement, Exclusion<'a>>,
}

impl Outcome<'_> {
    /// Returns the latency, or the time per load; `None` where it was not measured.
    #[must_use]
    pub fn nanoseconds(&self) -> Option<f64> {
        self.result.as_ref().ok().map(|measured| measured.series.nanoseconds.median)
    }

    /// Returns the latency, or the time per load, with its interval; `None` where it was not measured.
    #[must_use]
    pub fn estimate(&self) -> Option<Estimate> {
        self.result.as_ref().ok().map(|measured| measured.series.nanoseconds.into())
    }
}
