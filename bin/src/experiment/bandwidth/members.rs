//! Traffic for programs: a record for each number of generators.

use crate::analysis::traffic::{TrafficGroup, rate, shares};
use crate::describe::columns::{self, RowOrigin};
use crate::describe::{Report, point};
use crate::plan::generators;
use crate::record::members::READ_BANDWIDTH;
use crate::report::chart::vector;
use crate::report::document::members;
use crate::report::shown::Shown;
use crate::result::{Outcome, Traffic};
use latency_core::stats::Estimate;
use latency_core::traffic::Kind;
use latency_core::words::Worded;

members! {
    fn largest(dimm_peak: Option<u64>, read: Option<Estimate>, written: Option<Estimate>, of_one: Option<Estimate>);
    "dimm_peak_bytes_per_second": dimm_peak => "Upper bound of the theoretical peak of the DIMMs of the node with the largest rate, in bytes per second; null if unknown.";
    READ_BANDWIDTH: read;
    "write_bytes_per_second" interval: written => "Largest write rate of a pair of nodes, in bytes per second.";
    "single_core_bytes_per_second" interval: of_one => "Largest rate of one core alone, in bytes per second; null if it was not measured.";
}

/// Describes the largest rates of all groups.
pub fn summary(document: &mut Shown, groups: &[TrafficGroup<'_, '_>], dimm_peak: Option<u64>) {
    let most = |rate: fn(&TrafficGroup<'_, '_>) -> Option<Estimate>, share: fn(&Kind) -> f64| {
        let rates = groups.iter().filter_map(|group| {
            let share = share(group.traffic.kind);
            Some(rate(group)?.scaled(share)).filter(|_| share > 0.0)
        });
        rates.reduce(|most, rate| if rate.value > most.value { rate } else { most })
    };
    let best = |group: &TrafficGroup<'_, '_>| group.best.map(|(_, rate)| rate);
    let (read, written) = (most(best, |kind| shares(kind).read), most(best, |kind| shares(kind).written));
    largest(document, dimm_peak, read, written, most(|group| group.of_one(), |_| 1.0));
}

/// Describes all traffic as rows, then the latencies without load, and the evidence for all of them.
pub fn rows(rows: &mut Shown, data: &mut Shown, report: &Report<'_, '_>, groups: &[TrafficGroup<'_, '_>]) {
    let origin = RowOrigin::of(report);
    for group in groups {
        for outcome in group.outcomes {
            origin.row(rows, &mut |document| traffic_row(document, report, group, outcome));
        }
    }
    let idle = report.outcomes.iter().filter(|outcome| outcome.point.walk.traffic().is_none());
    for outcome in idle.clone() {
        origin.row(rows, &mut |document| point::row(document, report, outcome));
    }
    point::evidence_of(data, &vector(groups.iter().flat_map(|group| group.outcomes).chain(idle)));
}

/// Describes a rate of one kind of traffic, and the rates of the lines that it reads and writes.
pub fn rates(document: &mut Shown, kind: &Kind, found: Option<Estimate>) {
    let shares = shares(kind);
    document.put(&columns::BYTES, found);
    for (field, share) in
        [(&columns::READ, shares.read), (&columns::WRITTEN, shares.written), (&columns::OWNED, shares.owned)]
    {
        document.put(field, found.map(|rate| rate.value * share));
    }
}

/// Describes the traffic of a row.
pub fn kind(document: &mut Shown, traffic: &Traffic, cores: u32) {
    document.put(&columns::TRAFFIC, traffic.kind.name);
    document.put(&columns::PATTERN, traffic.kind.pattern().word());
    document.put(&columns::CORES, cores);
    document.put(&columns::FOOTPRINT, traffic.footprint);
}

fn traffic_row(
    document: &mut Shown,
    report: &Report<'_, '_>,
    group: &TrafficGroup<'_, '_>,
    outcome: &Outcome<'_>,
) {
    let (Some(traffic), point) = (outcome.point.walk.traffic(), &outcome.point) else { return };
    point::route(document, point);
    kind(document, traffic, traffic.generators);
    document.show(&columns::CPUS, &generators::generating(report.options, report.machine, point, traffic));
    document.show(&columns::PAGES_ASKED, &point.pages);
    let found = rate(outcome).map(|(_, rate)| rate);
    rates(document, traffic.kind, found);
    point::value(document, outcome);
    let with = found.map(|rate| (traffic.generators, rate));
    document.put(&columns::LINES_IN_FLIGHT, with.and_then(|with| group.in_flight(with)));
    document.put(&columns::KNEE_CORES, group.knee());
    document.put(&columns::EFFICIENCY, with.and_then(|with| group.efficiency(with)));
    if let Ok(measured) = &outcome.result {
        document.put(&columns::UNCORE_GHZ, measured.series.uncore_gigahertz);
        document.put(&columns::PRECISE, measured.precise);
        point::trials(document, point, measured);
    }
}
