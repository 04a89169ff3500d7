//! Traffic for programs: a record for each number of generators.

use super::view;
use crate::analysis::traffic::{TrafficGroup, groups, rate, shares};
use crate::describe::columns::{self, RowOrigin};
use crate::describe::{Report, point};
use crate::plan::generators;
use crate::report::document::fields;
use crate::report::shown::Shown;
use crate::result::{Outcome, Traffic};
use latency_core::stats::Estimate;
use latency_core::traffic::Kind;

fields! {
    PEAK_READ "read_bytes_per_second" interval "Largest read rate of a pair of nodes, in bytes per second.";
    PEAK_WRITTEN "write_bytes_per_second" interval "Largest write rate of a pair of nodes, in bytes per second.";
    DIMM_PEAK "dimm_peak_bytes_per_second" "Upper bound of the theoretical peak of the DIMMs of the node with the largest rate, in bytes per second; null if unknown.";
    SINGLE_CORE "single_core_bytes_per_second" interval "Largest rate of one core alone, in bytes per second; null if it was not measured.";
}

/// Describes all traffic as rows, then the latencies without load.
pub fn rows(document: &mut Shown, report: &Report<'_, '_>) {
    let origin = RowOrigin::of(report);
    for group in groups(report.outcomes) {
        for outcome in group.outcomes {
            origin.row(document, &mut |document| traffic_row(document, report, &group, outcome));
        }
    }
    for outcome in idle(report.outcomes) {
        origin.row(document, &mut |document| point::row(document, report, outcome));
    }
}

/// Returns the points without load.
fn idle<'r, 'a>(outcomes: &'r [Outcome<'a>]) -> impl Iterator<Item = &'r Outcome<'a>> {
    outcomes.iter().filter(|outcome| outcome.point.walk.traffic().is_none())
}

/// Describes the evidence for all rows.
pub fn data(document: &mut Shown, report: &Report<'_, '_>) {
    let traffic = groups(report.outcomes).flat_map(|group| group.outcomes);
    let mut outcomes = traffic.chain(idle(report.outcomes));
    point::evidence_of(document, &mut || outcomes.next());
}

/// Describes the largest rates of all groups.
pub fn summary(document: &mut Shown, report: &Report<'_, '_>) {
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
    document.put(&DIMM_PEAK, view::with_peak(report).map(|(_, _, peak)| peak));
    for (field, rate) in [&PEAK_READ, &PEAK_WRITTEN, &SINGLE_CORE].into_iter().zip(most) {
        document.put(field, rate);
    }
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
    document.put(&columns::PATTERN, traffic.kind.pattern().name());
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
