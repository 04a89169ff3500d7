//! Cores: the time of a cache line from one CPU to another.

mod members;
mod view;

use super::interface::{Experiment, collected};
use crate::analysis::cores::{CpuPair, doubtful};
use crate::describe::Presentation;
use crate::engine::session::{Findings, Session};
use crate::engine::stopwatch::clock::Timer;
use crate::engine::with_partners::measure_with_partners;
use crate::error::Failure;
use crate::options::{Descriptor, FlagId, FlagSet, Options};
use crate::plan::budget::Budget;
use crate::plan::cores;
use crate::result::Point;
use crate::warning::Warning;

/// The exchange of a line between two CPUs, for every pair.
pub const CORES: Experiment = Experiment {
    descriptor: Descriptor {
        name: "cores",
        summary: "core-to-core latency of a cache line",
        details: "One-way latency of a cache line from one CPU to another: half of a round trip between two threads. \
                  Pairs are grouped by what they share: a core, a cache, a node, a socket. --states adds the \
                  latency of loads and atomics by coherence state.",
        flags: FlagSet::EXCHANGE.union(FlagSet::WINDOWS).union(FlagSet::of(&[
            FlagId::Cpu,
            FlagId::MemNode,
            FlagId::Pages,
            FlagId::Seed,
            FlagId::Heatmap,
        ])),
        picture: true,
        ..Descriptor::OF_VALUES
    },
    plan: |planning| collected(planning, cores::cores),
    budget: Budget::of_cores,
    measure,
    present: Presentation {
        answer: view::answers,
        evidence: view::evidence,
        summary: members::summary,
        rows: members::rows,
        data: members::data,
    },
};

fn measure<'a>(
    _: &'a Options<'a>,
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    budget: &Budget,
) -> Result<Findings<'a>, Failure<'a>> {
    let found = measure_with_partners(session, timer, points, budget)?;
    let unknown = cores::core_unknown(session.machine);
    if let Some(pair) = doubtful(&found.outcomes).filter(|_| unknown) {
        let CpuPair { a, with, .. } = pair;
        session.warnings.push(Warning::TopologyDoubtful { a, b: with.partner, ns: pair.ns() });
    }
    Ok(found)
}
