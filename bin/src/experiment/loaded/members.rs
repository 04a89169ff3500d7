//! Curves of latency under load for programs: an object for each curve, and a record for each of its levels.

use alloc::format;

use super::super::bandwidth::members::{kind, rates};
use crate::analysis::load::{KNEES, LoadLevel, Queue};
use crate::analysis::loaded::{BandwidthLimit, Loading, Step};
use crate::analysis::traffic::bursts;
use crate::describe::columns::{self, RowOrigin};
use crate::describe::{Report, point};
use crate::plan::generators;
use crate::report::document::{Part, fields, members};
use crate::report::shown::Shown;
use crate::result::{PlacedField, Traffic};
use latency_core::stats::Estimate;
use latency_core::words::Worded;

fields! {
    CURVES "curves" "Latency by bandwidth: one curve per node pair and kind of traffic.";
    PACING "pacing" "Distribution of the gaps between bursts.";
    PLACEMENT "placement" "Placement of the traffic's memory; null if nothing was measured.";
    PEAK_BANDWIDTH "peak_bandwidth" "Largest unthrottled rate; null if it was not requested.";
    VERDICT "verdict" "Cause of the bandwidth limit.";
    LOWEST "lowest_ns" "Lowest latency of a curve that never falls, in nanoseconds: the idle latency, unless a loaded one is lower.";
    KNEE "knee" "Bandwidths at which latency reaches a multiple of the lowest one.";
    FIT "fit" "Latency as lowest + ns x rho / (1 - rho), where rho is the used share of the limit; null if a level is off by 5%, or with few levels.";
}

members! {
    fn placement(field: PlacedField);
    columns::VERIFIED: field.verified;
    "means": field.means.word() => "Method that placed the memory on its node.";
    columns::PAGES_OBTAINED: format!("{}", field.pages);
}

members! {
    fn peak_bandwidth(limit: BandwidthLimit);
    columns::BYTES: limit.rate;
    columns::CORES: limit.generators;
    "half_bytes_per_second": limit.half.map(|half| half.value) => "Rate with half of the cores, rounded down; null if it was not measured.";
    "half_cores": limit.half.map(|_| limit.all / 2) => "Number of cores for `half_bytes_per_second`; null if it was not measured.";
    VERDICT: limit.verdict.name();
}

members! {
    fn knee(ratio: f64, bandwidth: Estimate);
    "ratio": ratio => "Multiple of the lowest latency.";
    columns::BYTES: bandwidth;
}

members! {
    fn fit(queue: Queue);
    "ns": queue.ns => "Factor of the fit in nanoseconds: half of the service time of one server with random arrivals.";
    "residual": queue.residual => "Largest relative difference between a level and the fit.";
}

members! {
    fn first_curve(loading: &Loading<'_, '_>, idle: Option<Estimate>, peak: Option<LoadLevel>);
    columns::INITIATOR_NODE: loading.point.initiator.0;
    columns::TARGET_NODE: loading.point.target.0;
    columns::TRAFFIC: loading.traffic.kind.name;
    "idle_ns" interval: idle => "Idle latency, in nanoseconds; null if it was not measured.";
    "knee_bytes_per_second" interval: loading.knee(2.0) => "Bandwidth at which latency is twice the lowest one; null if unknown.";
    "peak_bytes_per_second" interval: peak.map(|level| level.delivered) => "Largest delivered bandwidth at any load level, in bytes per second.";
    "peak_ns": peak.map(|level| level.latency.value) => "Latency at the largest bandwidth, in nanoseconds.";
    VERDICT: loading.limit.map(|limit| limit.verdict.name());
}

/// Describes the conclusions from the first curve, if its first level was begun.
pub fn summary(document: &mut Shown, loadings: &[Loading<'_, '_>]) {
    let Some(loading) = loadings.first() else { return };
    let (mut idle, mut peak) = (None, None::<LoadLevel>);
    for Step { level, .. } in &loading.steps {
        if level.offered == Some(0.0) {
            idle = Some(level.latency);
        } else if peak.is_none_or(|peak| level.delivered.value > peak.delivered.value) {
            peak = Some(*level);
        }
    }
    first_curve(document, loading, idle, peak);
}

/// Describes every level of every curve as a row, then the levels that were not measured.
pub fn rows(document: &mut Shown, report: &Report<'_, '_>, loadings: &[Loading<'_, '_>]) {
    let origin = RowOrigin::of(report);
    for loading in loadings {
        for step in &loading.steps {
            origin.row(document, &mut |document| level_row(document, report, loading, step));
        }
    }
    for outcome in report.outcomes.iter().filter(|outcome| outcome.result.is_err()) {
        let Some(traffic) = outcome.point.walk.traffic() else { continue };
        origin.row(document, &mut |document| {
            point::route(document, &outcome.point);
            document.put(&columns::LOAD_NODE, traffic.node.0);
            kind(document, traffic, traffic.generators);
            point::value(document, outcome);
        });
    }
}

/// Describes all curves.
pub fn data(document: &mut Shown, report: &Report<'_, '_>, loadings: &[Loading<'_, '_>]) {
    document.items(Part::List(&CURVES), loadings, |document, loading| curve(document, report, loading));
    let mut measured = loadings.iter().flat_map(|loading| loading.steps.iter().map(|step| step.outcome));
    point::evidence_of(document, &mut || measured.next());
}

fn curve(document: &mut Shown, report: &Report<'_, '_>, loading: &Loading<'_, '_>) {
    let Loading { traffic, limit, curve, .. } = loading;
    point::route(document, &loading.point);
    document.put(&columns::LOAD_NODE, traffic.node.0);
    kind(document, traffic, traffic.generators);
    document
        .show(&columns::CPUS, &generators::others(report.options, report.machine, &loading.point, traffic));
    document.put(&PACING, report.options.pacing.word());
    document.object(&PLACEMENT, loading.field(), placement);
    document.object(&PEAK_BANDWIDTH, *limit, peak_bandwidth);
    document.put(&LOWEST, curve.as_ref().map(|curve| curve.lowest.value));
    let knees = KNEES.into_iter().filter_map(|ratio| Some((ratio, loading.knee(ratio)?)));
    document.items(Part::List(&KNEE), knees, |document, (ratio, found)| knee(document, ratio, found));
    let queue = curve.as_ref().zip(*limit).and_then(|(curve, limit)| curve.queue(limit.rate.value));
    document.object(&FIT, queue, fit);
}

/// Returns the number of lines in a burst of each generator; `None` without pacing.
pub fn burst(report: &Report<'_, '_>, loading: &Loading<'_, '_>, step: &Step<'_, '_>) -> Option<u32> {
    let rate = step.level.offered.filter(|rate| *rate > 0.0)?;
    let with = Traffic { generators: step.generators, ..loading.traffic };
    Some(bursts(report.clock.counter()?, &with, rate, report.options.burst.map(u32::from)).1)
}

fn level_row(document: &mut Shown, report: &Report<'_, '_>, loading: &Loading<'_, '_>, step: &Step<'_, '_>) {
    let Step { outcome, measured, level, .. } = step;
    let (traffic, point) = (&loading.traffic, &outcome.point);
    let idle = loading.curve.as_ref().map(|curve| curve.idle.value);
    point::planned(document, point);
    document.put(&columns::LOAD_NODE, traffic.node.0);
    kind(document, traffic, step.generators);
    document.put(&columns::OFFERED, level.offered);
    rates(document, traffic.kind, Some(level.delivered));
    document.put(&columns::NS, level.latency);
    document.put(&columns::NOT_MEASURED, "");
    document.put(&columns::RATIO_TO_IDLE, idle.map(|idle| level.latency.value / idle));
    document.put(&columns::UNCORE_GHZ, loading.uncore_gigahertz(step));
    document.put(&columns::LINES_IN_FLIGHT, loading.in_flight(step));
    document.put(&columns::BURST, burst(report, loading, step));
    document.put(&columns::THROTTLED, measured.series.throttled);
    document.put(&columns::SETTLED, measured.series.unsettled == 0);
    point::trials(document, point, measured);
}
