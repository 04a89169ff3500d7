//! The number of loads that a core keeps in flight: independent chains side by side.

use alloc::format;
use alloc::vec::Vec;
use core::fmt;

use latency_core::kernel::lanes::PARALLEL as KERNELS;
use latency_core::math::ToReal;
use latency_core::stats::Interval;
use latency_core::units::Bytes;

use super::interface::{Experiment, collected};
use crate::analysis::claims::Claims;
use crate::analysis::lanes::{
    HierarchyPlace, Limit, Saturation, WorkingSet, misses_in_flight, place, regions,
};
use crate::analysis::reference::quantity;
use crate::describe::rates::{GIGA, headline, is_wide};
use crate::describe::{Presentation, Report, columns, lanes as chains, point, reference};
use crate::engine::run;
use crate::options::{Descriptor, FlagId, FlagSet};
use crate::plan;
use crate::plan::budget::Budget;
use crate::report::chart::{Axis, Chart, ChartPoint, Scale, Series, Unit, vector};
use crate::report::document::{Level, Part, Role, fields, members};
use crate::report::figures::Digits;
use crate::report::shown::{Picture, Shown};

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
    plan: |planning| collected(planning, plan::lanes::parallel),
    budget: Budget::of_lanes,
    measure: |_, session, timer, points, budget| run::measure(session, timer, points, budget),
    present: Presentation { answer, evidence, summary, rows: chains::records, data },
};

/// The maximum number of working sets that are shown.
const REGIONS: usize = 4;

fields! {
    SATURATION "saturation" "Number of chains above which throughput no longer rises, for each working set.";
    MISSES "outstanding_misses" interval "Outstanding cache misses of one core; null if no working set shows the limit.";
    LIMIT "outstanding_misses_bound" "`at_most`, or `at_least` if memory may be the limit.";
}

fn evidence(document: &mut Shown, report: &Report<'_, '_>) {
    saturations(document, report);
    picture(document, report);
    chains::method(
        document,
        report,
        "concurrent chains of dependent loads; with one chain the time is a latency, with several it is the time \
         per load of all together",
    );
}

/// Returns the size of the largest cache that the core does not share.
fn near(report: &Report<'_, '_>) -> Bytes {
    Claims::of(report.machine).level(2).map_or(Bytes(0), |claim| claim.size)
}

fn in_flight(report: &Report<'_, '_>) -> Option<(Saturation, Limit)> {
    let machine = report.machine;
    misses_in_flight(report.outcomes, near(report), machine.last_level_cache(), machine.least_in_memory())
}

fn place_of(report: &Report<'_, '_>, size: Bytes) -> HierarchyPlace {
    place(&Claims::of(report.machine), report.outcomes, report.machine.least_in_memory(), size)
}

/// Returns the saturation of each working set in which more chains do not increase the throughput.
fn saturated<'r>(report: &Report<'r, 'r>) -> impl Iterator<Item = Saturation> + use<'r> {
    regions(report.outcomes).filter_map(|region| region.saturation())
}

/// Returns the saturation of the working set in memory.
fn from_memory(report: &Report<'_, '_>) -> Option<Saturation> {
    saturated(report).find(|found| report.machine.reaches_memory(found.size))
}

/// Writes the answer: the number of outstanding misses of a core, and the resulting speedup.
fn answer(document: &mut Shown, report: &Report<'_, '_>) {
    match in_flight(report) {
        Some((Saturation { in_flight: misses, from_lanes, .. }, limit)) => {
            // Without an interval, the value is an approximation.
            let (bound, reservation) = match (limit, misses.interval) {
                (_, None) => ("about ", ""),
                (Limit::Buffers, _) => ("at most ", ""),
                (Limit::BuffersOrMemory, _) => ("at least ", "; memory may be the limit"),
            };
            let is_wide = is_wide(misses.interval);
            let number = fmt::from_fn(|out| match is_wide {
                true => write!(out, "{}", headline(misses, 1.0)),
                false => write!(out, "{bound}{:.0}", misses.value),
            });
            document.answer(format_args!(
                "One core sustains {number} outstanding misses ({}), reached with {from_lanes} \
                 chains{reservation}.",
                fmt::from_fn(|out| match misses.interval {
                    Some(_) if is_wide => out.write_str("95% CI"),
                    Some(Interval { low, high }) => write!(out, "95% CI {} to {}", Digits(low), Digits(high)),
                    None => out.write_str("too few rounds for a 95% CI"),
                })
            ));
            reference::published(document, report, quantity::MISSES, Some(misses.value));
        }
        None if report.options.chains.is_some() => document.say(Role::Answer, "Outstanding misses per core: not found with these --chains. Include 1, and three numbers above which \
             more chains bring no gain."),
        None => document.answer(format_args!(
                "Outstanding misses per core: not found, because no working set fills the buffers. Remove \
                 --size, or use one between {near} and {last}.",
                near = near(report),
                last = report.machine.last_level_cache()
            )),
    }
    if let Some(found) = from_memory(report) {
        document.answer(format_args!(
            "Random reads from memory: {rate} GB/s per core, {gain}x one chain ({fastest} vs {single} \
                 ns per load).",
            rate = Digits(found.gigabytes_per_second(report.machine.line)),
            gain = Digits(found.single_ns / found.fastest_ns),
            fastest = Digits(found.fastest_ns),
            single = Digits(found.single_ns)
        ));
    }
}

/// Shows a row for each working set.
fn saturations(document: &mut Shown, report: &Report<'_, '_>) {
    document.tabulate("", Level::Quiet, 1, &|table| {
        table.texts(&["data in", "working set", "one chain", "best", "chains", "in flight", "random reads"]);
        for found in saturated(report) {
            table.row();
            table.show(&chains::place(place_of(report, found.size)));
            table.show(&found.size);
            table.cell(format_args!("{} ns", Digits(found.single_ns)));
            table.cell(format_args!("{} ns", Digits(found.fastest_ns)));
            table.show(&found.fastest_lanes);
            table.number(found.in_flight.value);
            table.cell(format_args!("{} GB/s", Digits(found.gigabytes_per_second(report.machine.line))));
        }
    });
}

/// Shows a row for each number of chains, with the time per load and loads in flight of each working set.
fn by_chains(document: &mut Shown, report: &Report<'_, '_>) {
    let regions = || regions(report.outcomes).take(REGIONS);
    let level = if report.options.chains.is_some() { Level::Quiet } else { Level::Verbose };
    document.tabulate("", level, 0, &|table| {
        table.text("chains");
        for region in regions() {
            table.cell(format_args!("{}, ns", region.size));
            table.text("in flight");
        }
        for kernel in KERNELS.iter().filter(|kernel| report.options.has_chains(kernel)) {
            table.row();
            table.show(&kernel.lanes());
            for region in regions() {
                let nanoseconds = region.with_lanes(kernel.lanes()).map(|time| time.value);
                table.number(nanoseconds);
                table.number(nanoseconds.and_then(|nanoseconds| region.in_flight(nanoseconds)));
            }
        }
    });
}

/// Draws loads in flight against chains, on logarithmic axes, where a straight line of slope 1 would be proportional.
fn picture(document: &mut Shown, report: &Report<'_, '_>) {
    let line = |region: WorkingSet<'_, '_>| {
        let mut points = KERNELS.iter().map(|kernel| {
            let (one, all) = (region.with_lanes(1), region.with_lanes(kernel.lanes()));
            // A single chain has one load in flight by definition.
            let in_flight = if kernel.lanes() == 1 {
                one.map(|_| 1.0.into())
            } else {
                one.zip(all).and_then(|(one, all)| one.over(all))
            };
            ChartPoint::of(kernel.lanes().real(), in_flight.unwrap_or(f64::NAN.into()))
        });
        let name = format!("{} {}", chains::place(place_of(report, region.size)), region.size);
        Series::of(name, &mut points)
    };
    let title = match in_flight(report) {
        Some((found, limit)) => format!(
            "Cache misses in flight: {}{} per core",
            if limit == Limit::Buffers { "" } else { "at least " },
            Digits(found.in_flight.value)
        ),
        None => "Loads in flight by chains".into(),
    };
    document.picture(Picture::Chart(Chart {
        title,
        subtitle: point::subtitle("loads in flight by chains", report.machine, report.outcomes.last()),
        x_axis: Axis { title: "chains", unit: Unit::Count, scale: Scale::Logarithmic },
        y_axis: Axis { title: "loads in flight", unit: Unit::Count, scale: Scale::Logarithmic },
        series: vector(&mut regions(report.outcomes).take(REGIONS).map(line)),
        marks: Vec::new(),
    }));
}

fn data(document: &mut Shown, report: &Report<'_, '_>) {
    by_chains(document, report);
    chains::points(document, report);
    document.items(Part::List(&SATURATION), saturated(report), |document, found| {
        document.put(&columns::WORKING_SET, found.size);
        members! { document;
            "single_ns": found.single_ns => "Latency of a single chain, in nanoseconds.";
            "memory_level_parallelism" interval: found.in_flight => "Loads in flight: latency of one chain divided by the median of the three shortest times per load.";
            "from_chains": found.from_lanes => "Smallest number of chains within 5% of the plateau.";
            "fastest_ns": found.fastest_ns => "Shortest time per load, in nanoseconds.";
            "fastest_chains": found.fastest_lanes => "Number of chains with the shortest time per load.";
            "random_bytes_per_second": bytes_per_second(report, &found) => "Bytes per second of random 64-byte lines at the shortest time per load.";
        }
    });
}

fn bytes_per_second(report: &Report<'_, '_>, found: &Saturation) -> f64 {
    found.gigabytes_per_second(report.machine.line) * GIGA
}

fn summary(document: &mut Shown, report: &Report<'_, '_>) {
    let (memory, in_flight) = (from_memory(report), in_flight(report));
    document.put(&MISSES, in_flight.map(|(found, _)| found.in_flight));
    document.put(
        &LIMIT,
        in_flight.map(|(_, limit)| match limit {
            Limit::Buffers => "at_most",
            Limit::BuffersOrMemory => "at_least",
        }),
    );
    members! { document;
        "outstanding_misses_from_chains": in_flight.map(|(found, _)| found.from_lanes) => "Smallest number of chains that reaches the limit of outstanding misses.";
        "outstanding_misses_working_set_bytes": in_flight.map(|(found, _)| found.size) => "Working set that shows the limit of outstanding misses, in bytes.";
        "memory_random_bytes_per_second": memory.as_ref().map(|found| bytes_per_second(report, found)) => "Bytes per second of random 64-byte lines that one core reads from memory.";
        "memory_speedup": memory.map(|found| found.single_ns / found.fastest_ns) => "Rate of many chains from memory divided by the rate of one chain.";
    }
}
