//! The loads that a core keeps in flight: independent chains side by side.

use core::fmt::Write;

use latency_core::decimal::Decimal;
use latency_core::kernel::lanes::PARALLEL as KERNELS;
use latency_core::text::Text;
use latency_core::units::{Bytes, LINE};

use super::interface::{self, Experiment};
use crate::analysis::claims::Claims;
use crate::analysis::lanes::{
    is_like_memory, misses_in_flight, place, regions, HierarchyPlace, InFlight, Limit, Saturation, WorkingSet,
};
use crate::describe::{self, estimate, lanes as chains, method::optional, point, Report};
use crate::engine::run;
use crate::engine::session::{Plan, Session};
use crate::options::{Descriptor, FlagSet};
use crate::plan;
use crate::plan::budget::Budget;
use crate::report::chart::{Axis, Chart, ChartPoint, Data, Scale, Series, Unit};
use crate::report::document::{fields, Document, Level, Part, Picture, Role};
use crate::report::figures::Digits;

/// Inverse throughput against the number of chains.
pub const PARALLEL: Experiment = Experiment {
    descriptor: Descriptor {
        name: "parallel",
        summary: "random loads in 1 to 64 chains at the same time",
        details: "Time per load with 1 to 64 independent chains, in half of the L2, a part of the L3 and \
                  memory, or in --size alone. The number of misses in flight follows by Little's law: the \
                  latency of one chain divided by the time per load of many. Its limit is that of the \
                  core.",
        flags: FlagSet::MEASURING.union(FlagSet::WORKING_SET),
        picture: true,
        ..Descriptor::OF_VALUES
    },
    plan,
    budget: Budget::of_lanes,
    measure: run::measure,
    present: [answer, evidence, data],
    columns: [point::COLUMNS, &chains::COLUMNS],
};

fn plan<'a>(session: &mut Session<'a, '_>) -> Plan<'a> {
    interface::collected(session, plan::lanes::parallel)
}

/// The maximum number of working sets that are shown.
const REGIONS: usize = 4;

fields! {
    SATURATION "saturation" "For each working set, where more chains bring no more.";
    WORKING_SET "working_set_bytes" "The memory walked.";
    SINGLE_NS "single_ns" "The latency of one chain alone.";
    LOADS "loads_in_flight" "The time of one chain alone over the median of the three shortest times.";
    LOADS_CI95 "ci95_loads_in_flight" "Its 95 % confidence interval.";
    FROM_LANES "from_lanes" "The fewest chains within 5 % of the plateau.";
    FASTEST_NS "fastest_ns" "The shortest time for each load.";
    FASTEST_LANES "fastest_lanes" "The chains that had it.";
    RATE "gigabytes_per_second" "Lines of 64 bytes at that time for each.";
    MISSES "misses_in_flight" "Cache misses that one core has in flight; null where no working set shows it.";
    LIMIT "misses_in_flight_bound" "`at_most`, or `at_least` where memory may be the limit.";
    MISSES_FROM "misses_in_flight_from_lanes" "The fewest chains that reach it.";
    MISSES_SIZE "misses_in_flight_working_set_bytes" "The working set that shows it.";
    MEMORY_RATE "memory_gigabytes_per_second" "Random lines that one core reads from memory.";
    MEMORY_SPEEDUP "memory_speedup" "How many times as fast that is as one chain alone.";
}

fn evidence(document: &mut dyn Document, report: &Report<'_, '_>) {
    saturations(document, report);
    picture(document, report);
    chains::method(
        document,
        report,
        "chains side by side, in which each load waits for the one before; one chain alone is a latency, several \
         are the time per load of all together",
    );
}

/// Returns the largest cache that the core has for itself.
fn near(report: &Report<'_, '_>) -> Bytes {
    Claims::of(report.machine).level(2).map_or(Bytes(0), |claim| claim.size)
}

fn in_flight(report: &Report<'_, '_>) -> Option<InFlight> {
    let machine = report.machine;
    misses_in_flight(report.outcomes, near(report), machine.last_level_cache(), machine.least_in_memory())
}

fn place_of(report: &Report<'_, '_>, size: Bytes) -> HierarchyPlace {
    let least = report.machine.least_in_memory();
    match place(&Claims::of(report.machine), least, size) {
        // A reported cache that does not serve this size.
        HierarchyPlace::Cache(_) if is_like_memory(report.outcomes, size, least) => HierarchyPlace::Unknown,
        place => place,
    }
}

/// Returns the working sets in which more chains do not increase the throughput, each with the latency of one chain
/// alone.
fn saturated<'r, 'a>(
    report: &Report<'r, 'a>,
) -> impl Iterator<Item = (WorkingSet<'r, 'a>, f64, Saturation)> + use<'r, 'a> {
    regions(report.outcomes)
        .filter_map(|region| Some((region, region.with_lanes(1)?.nanoseconds, region.saturation()?)))
}

/// Returns the working set in memory.
fn from_memory(report: &Report<'_, '_>) -> Option<(f64, Saturation)> {
    let mut saturated = saturated(report);
    let (_, single, found) = saturated.find(|(region, ..)| report.machine.reaches_memory(region.size))?;
    Some((single, found))
}

/// Says the answer: the number of misses that a core has in flight, and the speedup from them.
fn answer(document: &mut dyn Document, report: &Report<'_, '_>) {
    match in_flight(report) {
        Some(InFlight { misses, limit, from_lanes, .. }) => {
            let reservation = match limit {
                Limit::Buffers => ", the limit of its buffers",
                Limit::BuffersOrMemory => "; memory may be the limit",
            };
            document.sentence(
                Role::Answer,
                format_args!(
                    "One core has {:.0} cache misses in flight ({}); {from_lanes} chains reach that{reservation}.",
                    Decimal(misses.value),
                    optional(Some(misses), |misses, out| match misses.interval {
                        Some(interval) => write!(out, "{} to {}", Digits(interval.low), Digits(interval.high)),
                        None => out.write_str("too few rounds for an interval"),
                    })
                ),
            );
        }
        None => document.sentence(
            Role::Answer,
            format_args!(
                "How many misses one core has in flight was not found: no working set fills its buffers. Remove \
                 --size, or use one between {} and {}.",
                near(report),
                report.machine.last_level_cache()
            ),
        ),
    }
    if let Some((single, found)) = from_memory(report) {
        document.sentence(
            Role::Answer,
            format_args!(
                "From memory it reads {} GB/s of random lines, {} times as fast as one chain ({} instead of {} ns per load).",
                Digits(found.gigabytes_per_second(LINE)),
                Digits(single / found.fastest_ns),
                Digits(found.fastest_ns),
                Digits(single)
            ),
        );
    }
}

/// Shows a row for each working set.
fn saturations(document: &mut dyn Document, report: &Report<'_, '_>) {
    document.tabulate("", Level::Quiet, 1, &|table| {
        table.texts("data in|working set|one chain|best|chains|in flight|random reads");
        for (region, single, found) in saturated(report) {
            table.row();
            table.show(&chains::place(place_of(report, region.size)));
            table.show(&region.size);
            table.cell(format_args!("{} ns", Digits(single)));
            table.cell(format_args!("{} ns", Digits(found.fastest_ns)));
            table.show(&found.fastest_lanes);
            table.number(found.in_flight);
            table.cell(format_args!("{} GB/s", Digits(found.gigabytes_per_second(LINE))));
        }
    });
}

/// Shows a row for each number of chains, with the time per load and loads in flight of each working set.
fn by_chains(document: &mut dyn Document, report: &Report<'_, '_>) {
    let regions = || regions(report.outcomes).take(REGIONS);
    document.tabulate("", Level::Verbose, 0, &|table| {
        table.text("chains");
        for region in regions() {
            table.cell(format_args!("{}, ns", region.size));
            table.text("in flight");
        }
        for kernel in &KERNELS {
            table.row();
            table.show(&kernel.lanes);
            for region in regions() {
                let nanoseconds = region.with_lanes(kernel.lanes).map(|sample| sample.nanoseconds);
                table.number(nanoseconds);
                table.number(nanoseconds.and_then(|nanoseconds| region.in_flight(nanoseconds)));
            }
        }
    });
}

/// Loads in flight against chains: on logarithmic axes of both, a straight line would be proportional.
fn picture(document: &mut dyn Document, report: &Report<'_, '_>) {
    let mut points = [[ChartPoint::new(f64::NAN, f64::NAN); KERNELS.len()]; REGIONS];
    let mut names = [Text::<32>::EMPTY; REGIONS];
    let mut count = 0;
    for ((points, name), region) in points.iter_mut().zip(&mut names).zip(regions(report.outcomes)) {
        for (point, kernel) in points.iter_mut().zip(&KERNELS) {
            let sample = region.with_lanes(kernel.lanes);
            let in_flight = sample.and_then(|sample| region.in_flight(sample.nanoseconds));
            *point = ChartPoint::new(kernel.lanes as f64, in_flight.unwrap_or(f64::NAN));
        }
        // It is shorter than the text.
        let _ = write!(name, "{} {}", chains::place(place_of(report, region.size)), region.size);
        count += 1;
    }
    let mut series = [Series { name: "", data: Data::Points(&[]) }; REGIONS];
    for ((series, points), name) in series.iter_mut().zip(&points).zip(&names) {
        *series = Series { name: name.as_str(), data: Data::Points(points) };
    }
    let subtitle = point::subtitle(report.outcomes.last());
    document.picture(Picture::Chart(&Chart {
        title: "Loads in flight against chains",
        subtitle: subtitle.as_str(),
        x_axis: Axis { title: "chains", unit: Unit::Count, scale: Scale::Logarithmic },
        y_axis: Axis { title: "loads in flight", unit: Unit::Count, scale: Scale::Logarithmic },
        series: series.get(..count).unwrap_or_default(),
        marks: &[],
    }));
}

fn data(document: &mut dyn Document, report: &Report<'_, '_>) {
    by_chains(document, report);
    chains::points(document, report);
    document.items(Part::List(&SATURATION), saturated(report), |document, (region, single, found)| {
        document.put(&WORKING_SET, region.size);
        document.put(&SINGLE_NS, single);
        document.put(&LOADS, found.in_flight);
        document.put(&LOADS_CI95, found.interval);
        document.put(&FROM_LANES, found.from_lanes);
        document.put(&FASTEST_NS, found.fastest_ns);
        document.put(&FASTEST_LANES, found.fastest_lanes);
        document.put(&RATE, found.gigabytes_per_second(LINE));
    });
    let (memory, in_flight) = (from_memory(report), in_flight(report));
    document.part(Part::Object(&describe::SUMMARY), |document| {
        estimate::put(document, &MISSES, in_flight.map(|found| found.misses));
        document.put(
            &LIMIT,
            in_flight.map(|found| match found.limit {
                Limit::Buffers => "at_most",
                Limit::BuffersOrMemory => "at_least",
            }),
        );
        document.put(&MISSES_FROM, in_flight.map(|found| found.from_lanes));
        document.put(&MISSES_SIZE, in_flight.map(|found| found.size));
        document.put(&MEMORY_RATE, memory.map(|(_, found)| found.gigabytes_per_second(LINE)));
        document.put(&MEMORY_SPEEDUP, memory.map(|(single, found)| single / found.fastest_ns));
    });
}
