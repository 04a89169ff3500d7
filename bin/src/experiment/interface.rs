//! The interface of an experiment: its description, and the functions that plan, measure and present it.

use crate::describe::Presentation;
use crate::engine::session::{Findings, Session};
use crate::engine::stopwatch::clock::Timer;
use crate::error::{Failure, PlacementError};
use crate::machine::Machine;
use crate::options::{Descriptor, Options};
use crate::plan::budget::Budget;
use crate::plan::{EachPoint, Plan, Planning};
use crate::result::Point;
use crate::sys::table::Table;

/// An experiment.
pub struct Experiment {
    /// Its part of the command line.
    pub descriptor: Descriptor,
    /// Makes points from the options and the machine. Without points, only the clock is timed.
    pub plan: for<'a> fn(&mut Planning<'_, 'a>) -> Plan<'a>,
    /// The number and the length of visits to the points.
    pub budget: fn(&Options<'_>, &Machine, &[Point]) -> Budget,
    /// Measures the points, and returns the findings.
    pub measure: Measure,
    /// The parts of its report.
    pub present: Presentation,
}

/// A function that measures points.
pub type Measure = for<'a> fn(
    &'a Options<'a>,
    &mut Session<'a, '_>,
    &Timer,
    &[Point],
    &Budget,
) -> Result<Findings<'a>, Failure<'a>>;

/// A function that passes every point of an experiment to a callback.
pub type Planner<'a> = fn(&mut Planning<'_, 'a>, EachPoint<'_>) -> Result<(), Failure<'a>>;

/// Collects the points of a planner.
pub fn collected<'a>(planning: &mut Planning<'_, 'a>, planner: Planner<'a>) -> Plan<'a> {
    gathered(&mut |each| planner(planning, each))
}

/// Collects every point that `give` passes on. `give` runs twice: first to count the points, then to collect them. A
/// repeated warning is kept once.
///
/// # Errors
///
/// An error of `give`; [`PlacementError::NothingToMeasure`] without a point.
pub fn gathered<'a>(give: &mut dyn FnMut(EachPoint<'_>) -> Result<(), Failure<'a>>) -> Plan<'a> {
    let (mut count, mut first) = (0, None);
    give(&mut |point| {
        first = first.or(Some(point));
        count += 1;
    })?;
    let mut points = Table::filled(count, first.ok_or(PlacementError::NothingToMeasure)?)?;
    let mut slots = points.iter_mut();
    give(&mut |point| {
        if let Some(slot) = slots.next() {
            *slot = point;
        }
    })?;
    Ok(points)
}
