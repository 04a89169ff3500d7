//! The experiments: a new one is a file here and a line in the table.

mod bandwidth;
pub mod command;
mod compare;
mod cores;
pub mod curve;
mod distribution;
pub mod dry_run;
pub mod facts;
mod fit;
mod fleet;
pub mod interface;
pub mod loaded;
pub mod matrix;
mod order;
pub mod output;
mod pages;
mod parallel;
pub mod report;
pub mod run_experiment;
mod system;
mod variants;
mod window;

#[cfg(test)]
mod cores_tests;
#[cfg(test)]
pub use fleet::tests as fleet_tests;
#[cfg(test)]
mod forecast_tests;
#[cfg(test)]
mod hits_tests;
#[cfg(test)]
mod idle_cpu_tests;
#[cfg(test)]
mod memory_tests;
#[cfg(test)]
pub mod tests;

use command::Command;
use interface::Experiment;

use crate::options::{Descriptor, FormatName};
use crate::report as formats;
use crate::report::document::Format;

/// Every experiment; the first is the default.
pub static EXPERIMENTS: &[&Experiment] = &[
    &matrix::MATRIX,
    &curve::CURVE,
    &parallel::PARALLEL,
    &window::WINDOW,
    &distribution::DISTRIBUTION,
    &order::ORDER,
    &pages::PAGES,
    &variants::VARIANTS_EXPERIMENT,
    &bandwidth::BANDWIDTH,
    &cores::CORES,
    &loaded::LOADED,
    &system::SYSTEM,
];

/// Every command on saved results.
pub static COMMANDS: &[&Command] = &[&fit::FIT, &compare::COMPARE, &fleet::FLEET, &report::REPORT];

/// Every format by its name, as the command line knows it; the first is the default.
pub static FORMATS: [FormatName; formats::FORMATS.len()] = {
    let mut names = [FormatName {
        name: "",
        extension: "",
        needs_picture: false,
        needs_attributes: false,
        collected: false,
        draws: false,
    }; formats::FORMATS.len()];
    let mut index = 0;
    while index < names.len() {
        let Format { name, extension, needs_picture, needs_attributes, collected, draws, .. } =
            *formats::FORMATS[index];
        names[index] = FormatName { name, extension, needs_picture, needs_attributes, collected, draws };
        index += 1;
    }
    names
};

/// What the command line must know of them: first the experiments, then the commands.
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
