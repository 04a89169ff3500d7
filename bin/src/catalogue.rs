//! The two tables of the program: one of experiments and one of commands, with a line for each file that implements
//! one.

use crate::commands::{Command, compare, expect, fit, fleet, reference, report, show};
use crate::describe;
use crate::describe::output::{self, Columns};
use crate::experiment::{
    Experiment, bandwidth, cores, curve, distribution, loaded, matrix, order, pages, parallel, residency,
    system, variants, window,
};
use crate::options::Descriptor;
use latency_report::{Shown, ShownPart, Value};

/// Every experiment; the first is the default.
pub static EXPERIMENTS: &[&Experiment] = &[
    &matrix::MATRIX,
    &curve::CURVE,
    &parallel::PARALLEL,
    &window::WINDOW,
    &distribution::DISTRIBUTION,
    &order::ORDER,
    &pages::PAGES,
    &residency::RESIDENCY,
    &variants::VARIANTS_EXPERIMENT,
    &bandwidth::BANDWIDTH,
    &cores::CORES,
    &loaded::LOADED,
    &system::SYSTEM,
];

/// Every command.
pub static COMMANDS: &[&Command] = &[
    &fit::FIT,
    &expect::EXPECT,
    &compare::COMPARE,
    &fleet::FLEET,
    &show::SHOW,
    &reference::REFERENCE,
    &report::REPORT,
];

/// The descriptors for the command line: first the experiments, then the commands.
pub static DESCRIPTORS: [&Descriptor; EXPERIMENTS.len() + COMMANDS.len()] = {
    let mut all = [&EXPERIMENTS[0].descriptor; EXPERIMENTS.len() + COMMANDS.len()];
    let mut index = 0;
    while index < all.len() {
        all[index] = match index < EXPERIMENTS.len() {
            true => &EXPERIMENTS[index].descriptor,
            false => &COMMANDS[index - EXPERIMENTS.len()].descriptor,
        };
        index += 1;
    }
    all
};

/// Returns the command at an index of [`DESCRIPTORS`]; `None` if an experiment is there.
pub fn command(index: usize) -> Option<&'static Command> {
    COMMANDS.get(index.checked_sub(EXPERIMENTS.len())?).copied()
}

/// Returns the columns of a result in tabular formats: those of its command, or those of all experiments.
pub fn columns(shown: &Shown) -> Columns {
    let named = shown.entries().iter().find_map(|entry| match entry {
        ShownPart::Value(field, Value::Word(name)) if field.key == describe::EXPERIMENT.key => Some(name),
        _ => None,
    });
    let command = COMMANDS.iter().find(|command| named.is_some_and(|name| *name == command.descriptor.name));
    command.map_or(output::COLUMNS, |command| command.columns)
}
