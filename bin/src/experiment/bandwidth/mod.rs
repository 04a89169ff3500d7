//! Bandwidth: bytes per second that several cores move at a time.

pub(super) mod members;
mod picture;
mod tables;
mod view;

use super::interface::{self, Experiment};
use crate::engine::clock::Timer;
use crate::engine::generators::driver::Style;
use crate::engine::memory::Beside;
use crate::engine::recruit::with_generators;
use crate::engine::run;
use crate::engine::session::{Findings, Plan, Session};
use crate::error::Failure;
use crate::options::{Descriptor, FlagId, FlagSet};
use crate::plan::budget::Budget;
use crate::plan::{generators, traffic};
use crate::result::Point;
use crate::sys::table::Table;
use latency_core::traffic::pace::Pacing;

/// Bytes per second between nodes, by kind of traffic and by number of cores.
pub const BANDWIDTH: Experiment = Experiment {
    descriptor: Descriptor {
        name: "bandwidth",
        summary: "bytes per second between nodes, by one core and by all",
        details: "GB/s (10^9 bytes) of all cores of a node, of half of them and of one, from memory of every node. \
                  Lines that are touched are counted, 64 bytes each, those read and those written apart. \
                  --view=mix compares kinds of traffic, --view=scaling numbers of cores, and --view=cores one core \
                  with another. nt-write and copy-nt store past the caches; write and copy store into them, for which \
                  a processor may read each line first: a range is shown. --cpu measures that CPU by itself; with \
                  --load-cpus or --load-threads it is the first of those CPUs. --size is the memory of each core; a cache \
                  that holds it serves it, and reads load 32 bytes of each line.",
        flags: FlagSet::PLACEMENT.union(FlagSet::WORKING_SET).union(FlagSet::GENERATORS).union(FlagSet::WINDOWS).with(FlagId::View),
        picture: true,
        attributes: true,
        ..Descriptor::OF_VALUES
    },
    plan,
    budget: Budget::of_traffic,
    measure,
    present: [view::answer, view::evidence, members::data],
    columns: [&members::COLUMNS, &[]],
};

fn plan<'a>(session: &mut Session<'a, '_>) -> Plan<'a> {
    interface::collected(session, traffic::bandwidth)
}

fn measure<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    budget: &Budget,
) -> Result<Findings<'a>, Failure<'a>> {
    let Session { options, machine, .. } = *session;
    let style = Style {
        cpus: &|point, traffic| generators::others(options, machine, point, traffic),
        pacing: Pacing::Poisson,
        burst: None,
    };
    let mut planned = Table::of(points)?;
    let all = options.load_cpus.is_some();
    with_generators(session, timer, &mut planned, budget, style, all, &mut |session, points, generators| {
        let mut beside = Beside { generators: Some(generators), ..Beside::default() };
        run::measure_with(session, timer, points, budget, &mut beside, &mut |session, schedule| {
            schedule.run(session.progress)
        })
    })
}
