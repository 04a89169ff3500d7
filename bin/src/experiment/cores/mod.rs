//! Cores: what a cache line takes from one CPU to another.

mod members;
mod view;

use crate::analysis::cores::{doubtful, Pair};
use crate::engine::session::{Findings, Plan, Session};
use crate::engine::stopwatch::clock::Timer;
use crate::engine::with_partners::measure_with_partners;
use crate::error::Failure;
use crate::experiment::facts::Report;
use crate::experiment::interface;
use crate::experiment::interface::Experiment;
use crate::options::{Descriptor, FlagId, FlagSet, Operands};
use crate::plan::budget::Budget;
use crate::plan::cores;
use crate::report::document::Document;
use crate::result::Point;
use crate::warning::Warning;

/// The way of a line between two CPUs, for every pair of them.
pub const CORES: Experiment = Experiment {
    descriptor: Descriptor {
        name: "cores",
        summary: "the way of a cache line from core to core",
        details: "Nanoseconds that a line takes from one CPU to another: half of a round trip, which two threads make \
                  with lines at several places of memory. The median over lines is the value of a pair, and the \
                  spread over lines is shown, too. CPUs that share the same (a core, a cache, a node, a socket) \
                  are put together.",
        flags: FlagSet::of(&[
            FlagId::MemNode,
            FlagId::Pages,
            FlagId::Seed,
            FlagId::Pairs,
            FlagId::Method,
            FlagId::Lines,
            FlagId::States,
            FlagId::Precision,
            FlagId::TimeLimit,
            FlagId::Budget,
            FlagId::Strict,
            FlagId::Label,
            FlagId::DryRun,
            FlagId::Heatmap,
        ]),
        picture: true,
        attributes: false,
        operands: Operands::NONE,
    },
    plan,
    budget: Budget::of_cores,
    measure,
    present,
    columns: [&members::COLUMNS, &[]],
};

fn plan<'a>(session: &mut Session<'a, '_>) -> Plan<'a> {
    interface::collected(session, cores::cores)
}

fn measure<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    budget: &Budget,
) -> Result<Findings<'a>, Failure<'a>> {
    let found = measure_with_partners(session, timer, points, budget)?;
    let unknown = cores::core_unknown(session.machine);
    if let Some(pair) = doubtful(&found.outcomes).filter(|_| unknown) {
        let Pair { a, with, .. } = pair;
        session.warnings.push(Warning::TopologyDoubtful { a, b: with.partner, ns: pair.ns() });
    }
    Ok(found)
}

fn present(document: &mut dyn Document, report: &Report<'_, '_>) {
    let found = crate::analysis::cores::conclude(report.outcomes);
    view::present(document, report, &found);
    members::members(document, report, &found);
    members::summary(document, &found);
    super::facts::circumstances(document, report);
}
