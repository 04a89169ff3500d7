//! What the tool sees of the system; nothing is timed but the clock itself.

use super::interface::Experiment;
use super::writers::{json, system};
use crate::engine::session::Findings;
use crate::options::{Descriptor, FlagId, FlagSet, Operands};
use crate::plan::duration::Range;
use crate::result::Extra;
use crate::sys::table::Table;

/// The experiment without a measurement.
pub const SYSTEM: Experiment = Experiment {
    descriptor: Descriptor {
        name: "system",
        summary: "what the tool finds here, and what it may do",
        details: "CPU, caches, nodes, distances, page pools, cpuset and clocks. For everything that is \
                  missing or not allowed, the command that would change it.",
        flags: FlagSet::of(&[FlagId::Strict]),
        picture: false,
        operands: Operands::NONE,
    },
    plan: |_| Ok(Table::empty()?),
    takes: |_, _, _| Range::ZERO,
    measure: |_, _, _| {
        Ok(Findings {
            outcomes: Table::empty()?,
            distributions: Table::empty()?,
            extra: Extra::default(),
            interrupted: false,
        })
    },
    writers: &[("text", system::text), ("json", json::system)],
};
