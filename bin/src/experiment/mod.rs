//! The experiments: a new one is a file here and a line in the table.

pub mod command;
mod compare;
mod curve;
mod distribution;
mod fit;
mod matrix;
mod order;
mod pages;
mod parallel;
mod system;
mod variants;
mod window;

use core::fmt;

pub use command::Command;

use crate::distribution::Distribution;
use crate::error::{Failure, PlacementError};
use crate::machine::Machine;
use crate::options::{Descriptor, Format, Options};
use crate::plan::duration::Range;
use crate::progress::Progress;
use crate::report::Report;
use crate::result::{Extra, Outcome, Point};
use crate::store::Store;
use crate::timer::Timer;
use crate::warning::Warnings;

/// What an experiment works with.
#[derive(Debug)]
pub struct Session<'a, 's> {
    /// What was asked for.
    pub options: &'a Options<'a>,
    /// Where it runs.
    pub machine: &'a Machine,
    /// What the reader has to know.
    pub warnings: &'s mut Warnings,
    /// What a person at the terminal sees meanwhile.
    pub progress: &'s mut Progress,
}

/// What an experiment found.
#[derive(Debug)]
pub struct Findings<'a> {
    /// Every point of the plan, measured or not.
    pub outcomes: Store<Outcome<'a>>,
    /// The single hops of every point, where those were timed; otherwise nothing.
    pub distributions: Store<Distribution>,
    /// What was found besides them.
    pub extra: Extra,
    /// An interrupt came before the end.
    pub interrupted: bool,
}

/// The points of an experiment, in the order in which they are reported.
pub type Plan<'a> = Result<Store<Point>, Failure<'a>>;

/// Writes a report in one format.
pub type Writer = fn(&mut dyn fmt::Write, &Report<'_, '_>) -> fmt::Result;

/// An experiment.
pub struct Experiment {
    /// What the command line must know of it.
    pub descriptor: Descriptor,
    /// Options and machine to points. Without points nothing is timed but the clock.
    pub plan: for<'a> fn(&mut Session<'a, '_>) -> Plan<'a>,
    /// How long the points will take.
    pub takes: fn(&Options<'_>, &Machine, &[Point]) -> Range,
    /// Points to findings.
    pub measure: for<'a> fn(&mut Session<'a, '_>, &Timer, &[Point]) -> Result<Findings<'a>, Failure<'a>>,
    /// How findings are written.
    pub writers: &'static [(Format, Writer)],
}

/// Every experiment; the first is the default.
pub static EXPERIMENTS: [&Experiment; 9] = [
    &matrix::MATRIX,
    &curve::CURVE,
    &parallel::PARALLEL,
    &window::WINDOW,
    &distribution::DISTRIBUTION,
    &order::ORDER,
    &pages::PAGES,
    &variants::VARIANTS_EXPERIMENT,
    &system::SYSTEM,
];

/// Every command on saved results.
pub static COMMANDS: [&Command; 2] = [&fit::FIT, &compare::COMPARE];

/// What the command line must know of them: first the experiments, then the commands.
pub static DESCRIPTORS: [Descriptor; EXPERIMENTS.len() + COMMANDS.len()] = [
    matrix::MATRIX.descriptor,
    curve::CURVE.descriptor,
    parallel::PARALLEL.descriptor,
    window::WINDOW.descriptor,
    distribution::DISTRIBUTION.descriptor,
    order::ORDER.descriptor,
    pages::PAGES.descriptor,
    variants::VARIANTS_EXPERIMENT.descriptor,
    system::SYSTEM.descriptor,
    fit::FIT.descriptor,
    compare::COMPARE.descriptor,
];

/// What makes a plan: gives every point to the last argument.
type Planner<'a> =
    fn(&'a Options<'a>, &'a Machine, &mut Warnings, &mut dyn FnMut(Point)) -> Result<(), Failure<'a>>;

/// Every point of a planner. It is asked twice: how many there are, and for them.
fn collected<'a>(session: &mut Session<'a, '_>, planner: Planner<'a>) -> Plan<'a> {
    let Session { options, machine, .. } = *session;
    let (mut count, mut first) = (0, None);
    planner(options, machine, session.warnings, &mut |point| {
        first = first.or(Some(point));
        count += 1;
    })?;
    let mut points = Store::filled(count, first.ok_or(PlacementError::NothingToMeasure)?)?;
    let mut slots = points.iter_mut();
    // What there was to warn of has been said: the same warning is kept once.
    planner(options, machine, session.warnings, &mut |point| {
        if let Some(slot) = slots.next() {
            *slot = point;
        }
    })?;
    Ok(points)
}
