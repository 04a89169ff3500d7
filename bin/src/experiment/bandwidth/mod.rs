//! Bandwidth: bytes per second that several cores move at a time.

mod sizes;
mod tables;
pub(super) mod view;

use super::Experiment;
use crate::options::{Descriptor, FlagId, FlagSet, Options};
use crate::plan::{budget, generators, traffic};
use latency_core::traffic::View;
use latency_engine::budget::Budget;
use latency_engine::error::Attempt;
use latency_engine::result::Point;
use latency_engine::run::{Visits, all_rounds};
use latency_engine::session::{Findings, Session};
use latency_engine::threads::generators::GeneratorStyle;
use latency_engine::with_generators::measure_with_generators;

/// Bytes per second between nodes, by kind of traffic and by number of cores.
pub const BANDWIDTH: Experiment = Experiment {
    descriptor: Descriptor {
        name: "bandwidth",
        summary: "bandwidth from node to node, one core and all cores",
        details: "Bandwidth in GB/s (10^9 bytes) from every node to every memory, with all cores of a node, half \
                  of them and one, and with the cores of each last-level cache where a node has several. \
                  --view=mix compares traffic mixes, --view=scaling core counts, --view=cores single cores, and \
                  --view=caches the cores of each last-level cache, with the memory of every node. --view=size \
                  shows one core and all cores of a node by working set, through every level of the caches. --cpu \
                  measures that CPU alone; with --load-cpus or --load-threads it is the first of those CPUs. \
                  --size is the memory of each core; if a cache holds it, the bandwidth of the cache is measured.",
        flags: FlagSet::PLACEMENT
            .union(FlagSet::SIZES)
            .with(FlagId::Size)
            .union(FlagSet::GENERATORS)
            .union(FlagSet::WINDOWS)
            .with(FlagId::View),
        picture: true,
        attributes: true,
        ..Descriptor::OF_VALUES
    },
    plan: traffic::bandwidth,
    budget: budget::of_traffic,
    measure: |options, session, points, budget| measure(options, session, points, budget, &mut all_rounds),
    conclude: |_, _| None,
    present: view::present,
};

/// Measures points with generators that are chosen and paced as requested by the options; `visits` schedules the
/// visits.
///
/// # Errors
///
/// Returns the errors of `measure_with_generators`.
pub fn measure(
    options: &Options,
    session: &mut Session<'_>,
    points: &[Point],
    budget: &Budget,
    visits: &mut Visits<'_>,
) -> Attempt<Findings> {
    let machine = session.machine;
    let style = GeneratorStyle {
        cpus: &|point, traffic| generators::others(options, machine, point, traffic),
        pacing: options.pacing,
        burst: options.burst.map(u32::from),
        is_fixed: options.load_cpus.is_some(),
        is_sized: options.size.is_some() || options.view == View::Size,
    };
    measure_with_generators(session, points, budget, style, visits)
}
