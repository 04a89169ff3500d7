//! How many loads a core keeps in flight: independent chains side by side.

use super::interface::{self, Experiment};
use super::writers::parallel;
use crate::engine::run;
use crate::engine::session::{Plan, Session};
use crate::options::{Descriptor, FlagId, FlagSet, Operands};
use crate::plan;
use crate::plan::budget::Budget;

/// Inverse throughput against the number of chains.
pub const PARALLEL: Experiment = Experiment {
    descriptor: Descriptor {
        name: "parallel",
        summary: "random loads in 1 to 64 chains at the same time",
        details: "Time per load with 1 to 64 independent chains, in half of the L2, a third of the L3 and \
                  memory, or in --size alone. The number of misses in flight follows by Little's law: the \
                  latency of one chain divided by the time per load of many. Its limit is that of the \
                  core.",
        flags: FlagSet::MEASURING.union(FlagSet::of(&[FlagId::Size, FlagId::Seed])),
        picture: true,
        operands: Operands::NONE,
    },
    plan,
    budget: Budget::of_lanes,
    measure: run::measure,
    writers: &[
        ("text", parallel::text),
        ("json", parallel::json),
        ("csv", parallel::csv),
        ("svg", parallel::picture),
    ],
    present: None,
    columns: &[],
};

fn plan<'a>(session: &mut Session<'a, '_>) -> Plan<'a> {
    interface::collected(session, plan::lanes::parallel)
}
