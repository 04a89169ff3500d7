//! How many loads a core keeps in flight: independent chains side by side.

use super::interface::{self, Experiment};
use super::writers::parallel;
use crate::engine::run;
use crate::engine::session::{Plan, Session};
use crate::options::{Descriptor, FlagId, FlagSet, Format, Operands};
use crate::plan;
use crate::plan::budget::Budget;

/// Inverse throughput against the number of chains.
pub const PARALLEL: Experiment = Experiment {
    descriptor: Descriptor {
        name: "parallel",
        summary: "loads in flight: 1 to 64 independent chains side by side",
        details: "The inverse throughput of random loads from 1 to 64 chains that set out at equal distances on \
                  one cycle, in half of the L2, a third of the L3 and memory, or in --size alone. Loads in flight \
                  follow by Little's law: the time of a load that is alone over the time for each of many. Where \
                  they grow no more in the L3, the fill buffers are full.",
        flags: FlagSet::MEASURING
            .union(FlagSet::of(&[FlagId::Size, FlagId::Seed])),
        formats: &[Format::Text, Format::Json, Format::Csv, Format::Svg],
        operands: Operands::NONE,
    },
    plan,
    budget: Budget::of_lanes,
    measure: run::measure,
    writers: &[
        (Format::Text, parallel::text),
        (Format::Json, parallel::json),
        (Format::Csv, parallel::csv),
        (Format::Svg, parallel::picture),
    ],
};

fn plan<'a>(session: &mut Session<'a, '_>) -> Plan<'a> {
    interface::collected(session, plan::lanes::parallel)
}
