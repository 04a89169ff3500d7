//! Traffic for programs: a record for each number of generators.

use crate::analysis::traffic::{TrafficGroup, groups, rate, shares};
use crate::describe::estimate::{self, estimates};
use crate::describe::{Report, SUMMARY, point};
use crate::plan::generators;
use crate::report::document::{Document, Field, Part, fields};
use crate::result::Outcome;
use latency_core::stats::Estimate;
use latency_core::traffic::Kind;
use latency_core::words::Worded;

fields! {
    BANDWIDTHS "bandwidths" "What some number of generators moved between two nodes.";
    pub TRAFFIC "traffic" "The kind of traffic: n:1 reads n lines and writes one of them.";
    PATTERN "pattern" "The order in which lines were touched: `stream`, `permuted` within blocks of 2 MiB, or `random`.";
    pub GENERATORS "generators" "The number of CPUs that moved lines at the same time.";
    CPUS "cpus" "Those CPUs, as a list of ranges.";
    pub FOOTPRINT "footprint_bytes" "The memory of all generators together.";
    RATE "bytes_per_second" "Lines touched, 64 bytes each: those read and those written.";
    RATE_CI95 "ci95_bytes_per_second" "Its 95 % confidence interval within this run.";
    READ "read_bytes_per_second" "Lines read.";
    WRITTEN "write_bytes_per_second" "Lines written.";
    OWNED "rfo_estimate_bytes_per_second" "Lines that memory may have to read besides, because plain stores write to them (read for ownership).";
    IN_FLIGHT "lines_in_flight" "Lines read in flight per generator, by Little's law with the latency of one chain; null without it.";
    KNEE "knee_generators" "The fewest generators, of those tried, with 95 % of the largest rate.";
    EFFICIENCY "efficiency" "The rate over that of as many generators alone; null where one alone was not measured.";
    CHAINS "idle_latencies" "The latency of one chain between the nodes, measured in the same rounds.";
}

estimates! {
    PEAK_READ "read_bytes_per_second" "The largest rate of lines read between two nodes.";
    PEAK_WRITTEN "write_bytes_per_second" "The largest rate of lines written between two nodes.";
    ONE_CORE "one_core_bytes_per_second" "The largest rate of one core alone; null where none was alone.";
}

/// The columns of a table of traffic.
pub static COLUMNS: [&Field; 27] = [
    &point::FROM,
    &point::TO,
    &point::CPU,
    &TRAFFIC,
    &PATTERN,
    &GENERATORS,
    &CPUS,
    &RATE,
    &RATE_CI95,
    &READ,
    &WRITTEN,
    &OWNED,
    &IN_FLIGHT,
    &KNEE,
    &EFFICIENCY,
    &point::UNCORE_GHZ,
    &FOOTPRINT,
    &point::NS,
    &point::CI95_NS,
    &point::WINDOW,
    &point::TRIALS,
    &point::ROUNDS,
    &point::DISTURBED,
    &point::PAGES_ASKED,
    &point::PAGES_OBTAINED,
    &point::VERIFIED,
    &point::NOT_MEASURED,
];

/// Describes all traffic, the latencies without load, and the conclusions.
pub fn data(document: &mut dyn Document, report: &Report<'_, '_>) {
    document.part(Part::Records(&BANDWIDTHS), |document| {
        for group in groups(report.outcomes) {
            for outcome in group.outcomes {
                document.part(Part::Item, |document| record(document, report, &group, outcome));
            }
        }
    });
    document.items(
        Part::List(&CHAINS),
        report.outcomes.iter().filter(|outcome| outcome.point.walk.traffic().is_none()),
        |document, outcome| point::members(document, report.clock, outcome),
    );
    summary(document, report);
}

/// Describes the largest rates of all groups.
fn summary(document: &mut dyn Document, report: &Report<'_, '_>) {
    let mut most = [None::<Estimate>; 3];
    for group in groups(report.outcomes) {
        let shares = shares(group.traffic.kind);
        let best = group.best().map(|(_, rate)| rate);
        let found = [(best, shares.read), (best, shares.written), (group.of_one(), 1.0)];
        for (slot, (rate, share)) in most.iter_mut().zip(found) {
            let Some(rate) = rate.filter(|_| share > 0.0) else { continue };
            if slot.is_none_or(|most| rate.value * share > most.value) {
                *slot = Some(rate.scaled(share));
            }
        }
    }
    document.part(Part::Object(&SUMMARY), |document| {
        for (names, rate) in [&PEAK_READ, &PEAK_WRITTEN, &ONE_CORE].into_iter().zip(most) {
            estimate::flat(document, names, rate);
        }
    });
}

/// The fields of a rate, of its interval, and of the lines read, written and owned.
pub type RateFields = [&'static Field; 5];

/// Describes a rate of one kind of traffic, and the rates of the lines that it reads and writes.
pub fn rates(document: &mut dyn Document, fields: RateFields, kind: &Kind, found: Option<Estimate>) {
    let [rate, interval, read, written, owned] = fields;
    let shares = shares(kind);
    document.put(rate, found.map(|rate| rate.value));
    document.put(interval, found.and_then(|rate| rate.interval));
    for (field, share) in [(read, shares.read), (written, shares.written), (owned, shares.owned)] {
        document.put(field, found.map(|rate| rate.value * share));
    }
}

fn record(
    document: &mut dyn Document,
    report: &Report<'_, '_>,
    group: &TrafficGroup<'_, '_>,
    outcome: &Outcome<'_>,
) {
    let Some(traffic) = outcome.point.walk.traffic() else { return };
    point::route(document, &outcome.point);
    document.put(&TRAFFIC, traffic.kind.name);
    document.put(&PATTERN, traffic.kind.pattern().name());
    document.put(&GENERATORS, traffic.generators);
    document.show(&CPUS, &generators::generating(report.options, report.machine, &outcome.point, traffic));
    document.put(&FOOTPRINT, traffic.footprint);
    document.put(&point::PAGES_ASKED, outcome.point.pages.word());
    let found = rate(outcome).map(|(_, rate)| rate);
    rates(document, [&RATE, &RATE_CI95, &READ, &WRITTEN, &OWNED], traffic.kind, found);
    let with = found.map(|rate| (traffic.generators, rate));
    document.put(&IN_FLIGHT, with.and_then(|with| group.in_flight(with)));
    document.put(&KNEE, group.knee());
    document.put(&EFFICIENCY, with.and_then(|with| group.efficiency(with)));
    let measured = outcome.result.as_ref().ok();
    document.put(&point::UNCORE_GHZ, measured.and_then(|measured| measured.series.uncore_gigahertz));
    match &outcome.result {
        Ok(measured) => point::windows(document, &outcome.point, measured),
        Err(exclusion) => document.show(&point::NOT_MEASURED, exclusion),
    }
}
