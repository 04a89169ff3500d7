//! The experiments: a new one is a file here and a line in the table.

pub mod command;
mod compare;
mod curve;
mod distribution;
pub mod dry_run;
pub mod facts;
mod fit;
pub mod interface;
mod matrix;
mod order;
pub mod output;
mod pages;
mod parallel;
mod system;
mod variants;
mod window;
pub mod writers;

#[cfg(test)]
pub mod tests;

use command::Command;
use interface::Experiment;

use crate::options::Descriptor;

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
