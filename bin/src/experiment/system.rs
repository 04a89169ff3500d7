//! What the tool sees of the system; nothing is timed but the clock itself.

use super::interface::Experiment;
use super::writers::{json, system};
use crate::engine::session::Findings;
use crate::options::{Descriptor, FlagId, FlagSet, Format, Operands};
use crate::plan::budget::Budget;
use crate::result::Extra;
use crate::sys::table::Table;

/// The experiment without a measurement.
pub const SYSTEM: Experiment = Experiment {
    descriptor: Descriptor {
        name: "system",
        summary: "what the tool sees of this machine, and what it may do here",
        details: "CPU, caches, nodes, distances, page pools, cpuset, clocks, and for everything that is not \
                  allowed or not there the command that would change it.",
        flags: FlagSet::of(&[FlagId::Format, FlagId::Json, FlagId::Output, FlagId::Strict]),
        formats: &[Format::Text, Format::Json],
        operands: Operands::NONE,
    },
    plan: |_| Ok(Table::empty()?),
    budget: |options, machine, _| Budget::new(options, machine),
    measure: |_, _, _, _| {
        Ok(Findings {
            outcomes: Table::empty()?,
            distributions: Table::empty()?,
            extra: Extra::default(),
            interrupted: false,
        })
    },
    writers: &[(Format::Text, system::text), (Format::Json, json::system)],
};
