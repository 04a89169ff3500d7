//! The experiments: their interface, and one file or folder for each. A new one needs a file here and a line in the
//! catalogue.

pub mod bandwidth;
pub mod cores;
pub mod curve;
pub mod distribution;
pub mod dry_run;
pub mod loaded;
pub mod matrix;
pub mod order;
mod own_cores;
pub mod pages;
pub mod parallel;
pub mod residency;
pub mod run_experiment;
pub mod system;
pub mod variants;
pub mod window;

#[cfg(test)]
mod aarch64_tests;
#[cfg(test)]
mod cores_tests;
#[cfg(test)]
mod cpu_kind_tests;
#[cfg(test)]
mod dimms_tests;
#[cfg(test)]
mod forecast_tests;
#[cfg(test)]
mod hits_tests;
#[cfg(test)]
mod idle_cpu_tests;
#[cfg(test)]
mod memory_tests;
#[cfg(test)]
mod own_cores_tests;
#[cfg(test)]
mod page_size_tests;
#[cfg(test)]
pub mod tests;

use crate::analysis::curve::Analysis;
use crate::describe::{Report, ReportParts};
use crate::options::{Descriptor, Options};
use crate::plan::{PlannedPoints, Planning};
use latency_engine::budget::Budget;
use latency_engine::error::Attempt;
use latency_engine::machine::Machine;
use latency_engine::result::Point;
use latency_engine::session::{Findings, Session};

/// An experiment.
pub struct Experiment {
    /// Its part of the command line.
    pub descriptor: Descriptor,
    /// Makes points from the options and the machine. Without points, only the clock is timed.
    pub plan: fn(&mut Planning<'_>) -> PlannedPoints,
    /// The number and the length of visits to the points.
    pub budget: fn(&Options, &Machine, &[Point]) -> Budget,
    /// Measures the points, and returns the findings.
    pub measure: Measure,
    /// Warns of contradictions between points, and draws the conclusions that an interrupt may end.
    pub conclude: fn(&mut Session<'_>, &mut Findings) -> Option<Analysis>,
    /// Draws all other conclusions, once, and presents them in parts.
    pub present: fn(&mut ReportParts, &Report<'_>),
}

impl Experiment {
    /// Returns the parts of a report that belong to this experiment.
    pub fn parts(&self, report: &Report<'_>) -> ReportParts {
        let mut parts = ReportParts::default();
        (self.present)(&mut parts, report);
        parts
    }
}

/// A function that measures points.
pub type Measure = fn(&Options, &mut Session<'_>, &[Point], &Budget) -> Attempt<Findings>;
