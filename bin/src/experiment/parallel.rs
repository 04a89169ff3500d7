//! The number of loads that a core keeps in flight: independent chains side by side.

use alloc::string::String;
use alloc::vec::Vec;

use latency_core::kernel::lanes::PARALLEL as KERNELS;
use latency_core::{Bytes, ToReal, Worded};

use super::Experiment;
use crate::analysis::claims::Claims;
use crate::analysis::lanes::{Limit, Saturation, WorkingSet, misses_in_flight, place, regions};
use crate::analysis::reference::quantity;
use crate::describe::rates::{GIGA, confidence, headline, is_wide};
use crate::describe::{Report, ReportParts, columns, lanes as chains, point, reference};
use crate::options::{Descriptor, FlagId, FlagSet};
use crate::plan;
use crate::plan::budget;
use latency_engine::run;
use latency_report::chart::vector;
use latency_report::document::{fields, members};
use latency_report::{Axis, Chart, ChartPoint, Digits, Level, Part, Picture, Scale, Series, Shown, Unit};

/// Inverse throughput against the number of chains.
pub const PARALLEL: Experiment = Experiment {
    descriptor: Descriptor {
        name: "parallel",
        summary: "memory-level parallelism: 1 to 64 pointer chases",
        details: "Time per load with 1 to 64 independent chains, in half of the L2, a part of the L3 and \
                  memory, or in --size alone. The number of outstanding misses follows from Little's law.",
        flags: FlagSet::MEASURING.union(FlagSet::WORKING_SET).with(FlagId::Chains),
        picture: true,
        ..Descriptor::OF_VALUES
    },
    plan: plan::lanes::parallel,
    budget: budget::of_lanes,
    measure: |_, session, points, budget| run::measure(session, points, budget),
    conclude: |_, _| None,
    present,
};

/// The maximum number of working sets that are shown.
const REGIONS: usize = 4;

fields! {
    SATURATION "saturation" "Number of chains above which throughput no longer rises, for each working set.";
}

members! {
    fn saturation(found: &Saturation, bytes_per_second: f64);
    columns::WORKING_SET: found.size;
    "single_ns": found.single_ns => "Latency of a single chain, in nanoseconds.";
    "memory_level_parallelism" interval: found.in_flight => "Loads in flight: latency of one chain divided by the median of the three shortest times per load.";
    "from_chains": found.from_lanes => "Smallest number of chains within 5% of the plateau.";
    "fastest_ns": found.fastest_ns => "Shortest time per load, in nanoseconds.";
    "fastest_chains": found.fastest_lanes => "Number of chains with the shortest time per load.";
    "random_bytes_per_second": bytes_per_second => "Bytes per second of random 64-byte lines at the shortest time per load.";
}

members! {
    fn summary(misses: Option<&(Saturation, Limit)>, memory: Option<&Saturation>, bytes_per_second: Option<f64>);
    "outstanding_misses" interval: misses.map(|(found, _)| found.in_flight) => "Outstanding cache misses of one core; null if no working set shows the limit.";
    "outstanding_misses_bound": misses.map(|(_, limit)| limit.word()) => "`at_most`, or `at_least` if memory may be the limit.";
    "outstanding_misses_from_chains": misses.map(|(found, _)| found.from_lanes) => "Smallest number of chains that reaches the limit of outstanding misses.";
    "outstanding_misses_working_set_bytes": misses.map(|(found, _)| found.size) => "Working set that shows the limit of outstanding misses, in bytes.";
    "memory_random_bytes_per_second": bytes_per_second => "Bytes per second of random 64-byte lines that one core reads from memory.";
    "memory_speedup": memory.map(|found| found.single_ns / found.fastest_ns) => "Rate of many chains from memory divided by the rate of one chain.";
}

/// The conclusions from all numbers of chains.
struct ParallelConclusion {
    /// The working sets.
    sets: Vec<WorkingSet>,
    /// The place of each working set in the hierarchy, in words.
    places: Vec<String>,
    /// The saturation of each working set in which more chains do not increase the throughput, with its place.
    saturations: Vec<(String, Saturation)>,
    /// The size of the largest cache that the core does not share.
    near: Bytes,
    /// The saturation that shows the limit of outstanding misses.
    misses: Option<(Saturation, Limit)>,
}

fn conclude(report: &Report<'_>) -> ParallelConclusion {
    let (machine, sets) = (report.machine, regions(report.outcomes));
    let (claims, memory) = (Claims::of(machine), machine.least_in_memory());
    let near = claims.level(2).map_or(Bytes(0), |claim| claim.size);
    let places = sets.iter().map(|set| format!("{}", chains::place(place(&claims, &sets, memory, set.size))));
    let places: Vec<String> = vector(places);
    let saturations =
        sets.iter().zip(&places).filter_map(|(set, place)| Some((place.clone(), set.saturation()?)));
    let saturations = vector(saturations);
    let misses = misses_in_flight(&sets, near, machine.last_level_cache(), memory);
    ParallelConclusion { sets, places, saturations, near, misses }
}

fn present(parts: &mut ReportParts, report: &Report<'_>) {
    let found = &conclude(report);
    let rate = |found: &Saturation| found.gigabytes_per_second(report.machine.line);
    let is_memory = |found: &&Saturation| report.machine.reaches_memory(found.size);
    let memory = found.saturations.iter().map(|(_, found)| found).find(is_memory);
    summary(&mut parts.summary, found.misses.as_ref(), memory, memory.map(|found| rate(found) * GIGA));
    chains::records(&mut parts.rows, report);
    misses(&mut parts.answer, report, found);
    if let Some(found) = memory {
        parts.answer.answer(format_args!(
            "Random reads from memory: {rate} GB/s per core, {gain}x one chain ({fastest} vs {single} \
                 ns per load).",
            rate = Digits(rate(found)),
            gain = Digits(found.single_ns / found.fastest_ns),
            fastest = Digits(found.fastest_ns),
            single = Digits(found.single_ns)
        ));
    }
    parts.evidence.tabulate("", Level::Quiet, 1, &|table| {
        table.texts(&["data in", "working set", "one chain", "best", "chains", "in flight", "random reads"]);
        for (place, found) in &found.saturations {
            table.row().show(place).show(&found.size).cell(format_args!("{} ns", Digits(found.single_ns)));
            table.cell(format_args!("{} ns", Digits(found.fastest_ns)));
            table.show(&found.fastest_lanes).number(found.in_flight.value);
            table.cell(format_args!("{} GB/s", Digits(rate(found))));
        }
    });
    parts.evidence.picture(Picture::Chart(picture(report, found)));
    chains::method(
        &mut parts.evidence,
        report,
        "concurrent chains of dependent loads; with one chain the time is a latency, with several it is the time \
         per load of all together",
    );
    by_chains(&mut parts.data, report, &found.sets);
    chains::points(&mut parts.data, report);
    parts.data.items(Part::List(&SATURATION), &found.saturations, |document, (_, found)| {
        saturation(document, found, rate(found) * GIGA);
    });
}

/// Writes the number of outstanding misses of a core.
fn misses(document: &mut Shown, report: &Report<'_>, found: &ParallelConclusion) {
    match found.misses {
        Some((Saturation { in_flight: misses, from_lanes, size, .. }, limit)) => {
            let of_set = |(set, place): (&WorkingSet, &String)| (set.size == size).then(|| format!(" of data in {place}"));
            let data = found.sets.iter().zip(&found.places).find_map(of_set).unwrap_or_default();
            // Without an interval, the value is an approximation.
            let (bound, reservation) = match (limit, misses.interval) {
                (_, None) => ("about ", ""),
                (Limit::Buffers, _) => ("at most ", ""),
                (Limit::BuffersOrMemory, _) => ("at least ", "; memory may be the limit"),
            };
            let number = match is_wide(misses.interval) {
                true => format!("{}", headline(misses, 1.0)),
                false => format!("{bound}{:.0}", misses.value),
            };
            let interval = misses.interval.map(|interval| confidence(interval, 1.0));
            let interval = interval.as_deref().unwrap_or("too few rounds for a 95% CI");
            document.answer(format_args!(
                "One core sustains {number} outstanding misses{data} ({interval}), reached with {from_lanes} \
                 chains{reservation}."
            ));
            reference::published(document, report, quantity::MISSES, Some(misses.value));
        }
        None if report.options.chains.is_some() => document.answer(format_args!(
            "Outstanding misses per core: not found with these --chains. Include 1, and three numbers above which \
             more chains bring no gain."
        )),
        None => document.answer(format_args!(
            "Outstanding misses per core: not found, because no working set fills the buffers. Remove \
             --size, or use one between {near} and {last}.",
            near = found.near,
            last = report.machine.last_level_cache()
        )),
    }
}

/// Shows a row for each number of chains, with the time per load and loads in flight of each working set.
fn by_chains(document: &mut Shown, report: &Report<'_>, sets: &[WorkingSet]) {
    let level = if report.options.chains.is_some() { Level::Quiet } else { Level::Verbose };
    document.tabulate("", level, 0, &|table| {
        table.text("chains");
        for set in sets.iter().take(REGIONS) {
            table.cell(format_args!("{}, ns", set.size)).text("in flight");
        }
        for kernel in KERNELS.iter().filter(|kernel| report.options.has_chains(kernel)) {
            table.row().show(&kernel.lanes());
            for set in sets.iter().take(REGIONS) {
                let nanoseconds = set.with_lanes(kernel.lanes()).map(|time| time.value);
                table.number(nanoseconds);
                table.number(nanoseconds.and_then(|nanoseconds| set.in_flight(nanoseconds)));
            }
        }
    });
}

/// Draws loads in flight against chains, on logarithmic axes, where a straight line of slope 1 would be proportional.
fn picture(report: &Report<'_>, found: &ParallelConclusion) -> Chart {
    let line = |(set, place): (&WorkingSet, &String)| {
        let mut points = KERNELS.iter().map(|kernel| {
            let (one, all) = (set.with_lanes(1), set.with_lanes(kernel.lanes()));
            // A single chain has one load in flight by definition.
            let in_flight = if kernel.lanes() == 1 {
                one.map(|_| 1.0.into())
            } else {
                one.zip(all).and_then(|(one, all)| one.over(all))
            };
            ChartPoint::of(kernel.lanes().real(), in_flight.unwrap_or(f64::NAN.into()))
        });
        Series::of(format!("{place} {}", set.size), &mut points)
    };
    let title = match &found.misses {
        Some((found, limit)) => format!(
            "Cache misses in flight: {}{} per core",
            if *limit == Limit::Buffers { "" } else { "at least " },
            Digits(found.in_flight.value)
        ),
        None => "Loads in flight by chains".into(),
    };
    let subtitle = point::subtitle("loads in flight by chains", report.machine, report.outcomes.last());
    let x_axis = Axis { title: "chains", unit: Unit::Count, scale: Scale::Logarithmic };
    let y_axis = Axis { title: "loads in flight", unit: Unit::Count, scale: Scale::Logarithmic };
    let series = vector(&mut found.sets.iter().zip(&found.places).take(REGIONS).map(line));
    Chart::of([title, subtitle], [x_axis, y_axis], series)
}
