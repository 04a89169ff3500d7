//! The interface of an experiment: what its file says of it, and how it comes to its points.

use crate::engine::session::{Findings, Plan, Session};
use crate::engine::stopwatch::clock::Timer;
use crate::error::{Failure, PlacementError};
use crate::experiment::facts::Report;
use crate::machine::Machine;
use crate::options::{Descriptor, Options};
use crate::plan::budget::Budget;
use crate::report::document::{Document, Field};
use crate::result::Point;
use crate::sys::table::Table;
use crate::warning::Warnings;

/// Describes what was found, once for every format.
pub type Present = fn(&mut dyn Document, &Report<'_, '_>);

/// An experiment.
pub struct Experiment {
    /// What the command line must know of it.
    pub descriptor: Descriptor,
    /// Options and machine to points. Without points nothing is timed but the clock.
    pub plan: for<'a> fn(&mut Session<'a, '_>) -> Plan<'a>,
    /// How often and for how long the points are visited.
    pub budget: fn(&Options<'_>, &Machine, &[Point]) -> Budget,
    /// Points to findings.
    pub measure:
        for<'a> fn(&mut Session<'a, '_>, &Timer, &[Point], &Budget) -> Result<Findings<'a>, Failure<'a>>,
    /// How findings are described.
    pub present: Present,
    /// The columns of its records: those of every point as a rule, and its own.
    pub columns: [&'static [&'static Field]; 2],
}

/// What makes a plan: gives every point to the last argument.
pub type Planner<'a> =
    fn(&'a Options<'a>, &'a Machine, &mut Warnings, &mut dyn FnMut(Point)) -> Result<(), Failure<'a>>;

/// Every point of a planner. It is asked twice: how many there are, and for them.
pub fn collected<'a>(session: &mut Session<'a, '_>, planner: Planner<'a>) -> Plan<'a> {
    let Session { options, machine, .. } = *session;
    let (mut count, mut first) = (0, None);
    planner(options, machine, session.warnings, &mut |point| {
        first = first.or(Some(point));
        count += 1;
    })?;
    let mut points = Table::filled(count, first.ok_or(PlacementError::NothingToMeasure)?)?;
    let mut slots = points.iter_mut();
    // What there was to warn of has been said: the same warning is kept once.
    planner(options, machine, session.warnings, &mut |point| {
        if let Some(slot) = slots.next() {
            *slot = point;
        }
    })?;
    Ok(points)
}
