//! Curves of latency under load for programs: an object for each curve, and a record for each of its levels.

use super::super::bandwidth::members::rates;
use crate::analysis::load::{KNEES, LoadLevel};
use crate::analysis::loaded::{Loading, Step, loadings};
use crate::analysis::traffic::bursts;
use crate::describe::estimate::{self, estimates};
use crate::describe::{Report, SUMMARY, point};
use crate::plan::generators;
use crate::report::document::{Document, Field, Part, fields};
use crate::result::Traffic;
use latency_core::words::Worded;

fields! {
    CURVES "curves" "Latency against bandwidth: a curve for each pair of nodes and kind of traffic.";
    LOAD_NODE "load_node" "The node of the generators' memory.";
    TRAFFIC "traffic" "The kind of traffic: n:1 reads n lines and writes one of them.";
    PATTERN "pattern" "The order in which lines are touched: `stream`, `permuted` within blocks of 2 MiB, or `random`.";
    GENERATORS "generators" "The CPUs that load the memory.";
    CPUS "cpus" "Their numbers, where all of them generate.";
    PACING "pacing" "How the gaps between bursts are drawn.";
    FOOTPRINT "footprint_bytes" "The memory of all generators together.";
    PLACEMENT "placement" "Where the generators' memory was; null where nothing was measured.";
    VERIFIED "verified" "Whether every page of it was proven to be on the node, before and after.";
    MEANS "means" "How it came to its node.";
    PAGES "pages_obtained" "The pages that it is in.";
    LIMIT "limit" "The most that was delivered without a pace; null where that was not asked for.";
    RATE "bytes_per_second" "Lines touched, 64 bytes each: those read and those written.";
    RATE_CI95 "ci95_bytes_per_second" "Its 95 % confidence interval within this run.";
    HALF "half_bytes_per_second" "What half of the generators, rounded down, delivered; null without them.";
    HALF_GENERATORS "half_generators" "The number of these; null without them.";
    VERDICT "verdict" "Whose limit that is.";
    LOWEST "lowest_ns" "The lowest latency, by a curve that never falls: that of idle memory, unless memory under some load is faster.";
    KNEE "knee" "The bandwidths at which latency reaches a multiple of the lowest one.";
    RATIO "ratio" "The multiple.";
    FIT "fit" "Latency as lowest + ns x rho / (1 - rho), with rho the used share of the limit; null where that misses a level by 5 %.";
    FIT_NS "ns" "The factor: half of the service time of one server with random arrivals.";
    RESIDUAL "residual" "The largest distance of a level from it, as a share of its latency.";
    POINTS "points" "The levels of load.";
    OFFERED "offered_bytes_per_second" "The rate that was offered; null for as much as the generators can.";
    READ "read_bytes_per_second" "Lines read.";
    WRITTEN "write_bytes_per_second" "Lines written.";
    OWNED "rfo_estimate_bytes_per_second" "Lines that memory may have to read besides, because plain stores write to them (read for ownership).";
    OVER_IDLE "over_idle" "The latency over that of idle memory; null where that was not measured.";
    BURST "burst" "Lines that each generator touched at a time; null without a pace.";
    IN_FLIGHT "lines_in_flight" "Lines read in flight per generator, by Little's law with this latency.";
    DISTURBED "disturbed_windows" "Windows that were interrupted.";
    THROTTLED "throttled_windows" "Windows during which the quota of CPU time was used up.";
    SETTLED "settled" "Whether the rate was steady before every window.";
    INITIATOR "initiator_node" "The node whose CPU chases.";
    TARGET "target_node" "The node whose memory it walks.";
    PEAK_NS "peak_ns" "The latency at that bandwidth.";
}

estimates! {
    IDLE "idle_ns" "The latency of idle memory; null where it was not measured.";
    DOUBLES "knee_bytes_per_second" "The bandwidth at which latency is twice the lowest one; null where it is not known.";
    PEAK "peak_bytes_per_second" "The largest bandwidth that was delivered, at any level.";
}

/// The columns of a table of levels.
pub static COLUMNS: [&Field; 28] = [
    &point::FROM,
    &point::TO,
    &LOAD_NODE,
    &TRAFFIC,
    &PATTERN,
    &GENERATORS,
    &OFFERED,
    &RATE,
    &RATE_CI95,
    &READ,
    &WRITTEN,
    &OWNED,
    &point::NS,
    &point::CI95_NS,
    &point::MIN_NS,
    &OVER_IDLE,
    &point::CORE_GHZ,
    &point::UNCORE_GHZ,
    &IN_FLIGHT,
    &BURST,
    &point::ROUNDS,
    &DISTURBED,
    &THROTTLED,
    &SETTLED,
    &point::WINDOW,
    &point::WORKING_SET,
    &point::PAGES_OBTAINED,
    &point::VERIFIED,
];

/// Describes all curves, and the conclusions.
pub fn data(document: &mut dyn Document, report: &Report<'_, '_>) {
    document.items(Part::List(&CURVES), loadings(report.outcomes), |document, loading| {
        curve(document, report, &loading)
    });
    summary(document, loadings(report.outcomes).next().as_ref());
}

#[inline(never)] // offsets into a small frame are short
fn curve(document: &mut dyn Document, report: &Report<'_, '_>, loading: &Loading<'_, '_>) {
    let traffic = loading.traffic;
    point::route(document, &loading.point);
    document.put(&LOAD_NODE, traffic.node.0);
    document.put(&TRAFFIC, traffic.kind.name);
    document.put(&PATTERN, traffic.kind.pattern().name());
    document.put(&GENERATORS, traffic.generators);
    document.values(&CPUS, &generators::others(report.options, report.machine, &loading.point, &traffic));
    document.put(&PACING, report.options.pacing.word());
    document.put(&FOOTPRINT, traffic.footprint);
    document.object(&PLACEMENT, loading.field(), |document, field| {
        document.put(&VERIFIED, field.verified);
        document.put(&MEANS, field.means.word());
        document.put(&PAGES, field.pages.word());
    });
    conclusions(document, loading);
    let steps = loading.steps();
    let idle = loading.curve().map(|curve| curve.idle.value);
    document.items(Part::Records(&POINTS), steps.as_slice(), |document, step| {
        record(document, report, loading, step, idle)
    });
}

#[inline(never)] // offsets into a small frame are short
fn conclusions(document: &mut dyn Document, loading: &Loading<'_, '_>) {
    let (limit, curve) = (loading.limit(), loading.curve());
    document.object(&LIMIT, limit, |document, limit| {
        document.put(&RATE, limit.rate.value);
        document.put(&RATE_CI95, limit.rate.interval);
        document.put(&GENERATORS, limit.generators);
        document.put(&HALF, limit.half.map(|half| half.value));
        document.put(&HALF_GENERATORS, limit.half.map(|_| limit.all / 2));
        document.put(&VERDICT, limit.verdict.name());
    });
    document.put(&LOWEST, curve.map(|curve| curve.lowest.value));
    let knees = KNEES.into_iter().filter_map(|ratio| Some((ratio, loading.knee(ratio)?)));
    document.items(Part::List(&KNEE), knees, |document, (ratio, knee)| {
        document.put(&RATIO, ratio);
        document.put(&RATE, knee.value);
        document.put(&RATE_CI95, knee.interval);
    });
    let queue = limit.zip(curve).and_then(|(limit, curve)| curve.queue(limit.rate.value));
    document.object(&FIT, queue, |document, queue| {
        document.put(&FIT_NS, queue.ns);
        document.put(&RESIDUAL, queue.residual);
    });
}

/// Describes the conclusions from the first curve.
fn summary(document: &mut dyn Document, first: Option<&Loading<'_, '_>>) {
    document.part(Part::Object(&SUMMARY), |document| {
        // There is a curve, unless the first level was not begun.
        let Some(loading) = first else { return };
        let (mut idle, mut peak) = (None, None::<LoadLevel>);
        for Step { level, .. } in loading.steps().as_slice() {
            if level.offered == Some(0.0) {
                idle = Some(level.latency);
            } else if peak.is_none_or(|peak| level.delivered.value > peak.delivered.value) {
                peak = Some(*level);
            }
        }
        document.put(&INITIATOR, loading.point.initiator.0);
        document.put(&TARGET, loading.point.target.0);
        document.put(&TRAFFIC, loading.traffic.kind.name);
        estimate::flat(document, &IDLE, idle);
        estimate::flat(document, &DOUBLES, loading.knee(2.0));
        estimate::flat(document, &PEAK, peak.map(|level| level.delivered));
        document.put(&PEAK_NS, peak.map(|level| level.latency.value));
        document.put(&VERDICT, loading.limit().map(|limit| limit.verdict.name()));
    });
}

/// Returns the number of lines in a burst of each generator; `None` without pacing.
pub fn burst(report: &Report<'_, '_>, loading: &Loading<'_, '_>, step: &Step) -> Option<u32> {
    let rate = step.level.offered.filter(|rate| *rate > 0.0)?;
    let with = Traffic { generators: step.generators, ..loading.traffic };
    Some(bursts(report.clock.counter()?, &with, rate, report.options.burst.map(u32::from)).1)
}

#[inline(never)] // offsets into a small frame are short
fn record(
    document: &mut dyn Document,
    report: &Report<'_, '_>,
    loading: &Loading<'_, '_>,
    step: &Step,
    idle: Option<f64>,
) {
    let Some(outcome) = report.outcomes.get(step.index) else { return };
    let Ok(measured) = &outcome.result else { return };
    let (traffic, level) = (loading.traffic, step.level);
    point::nodes(document, &outcome.point);
    document.put(&LOAD_NODE, traffic.node.0);
    document.put(&TRAFFIC, traffic.kind.name);
    document.put(&PATTERN, traffic.kind.pattern().name());
    document.put(&GENERATORS, step.generators);
    document.put(&OFFERED, level.offered);
    rates(document, [&RATE, &RATE_CI95, &READ, &WRITTEN, &OWNED], traffic.kind, Some(level.delivered));
    document.put(&point::NS, level.latency.value);
    document.put(&point::CI95_NS, level.latency.interval);
    document.put(&point::MIN_NS, measured.series.minimum_ns);
    document.put(&OVER_IDLE, idle.map(|idle| level.latency.value / idle));
    document.put(&point::CORE_GHZ, measured.series.core_gigahertz.map(|clock| clock.median));
    document.put(&point::UNCORE_GHZ, loading.uncore_gigahertz(step));
    document.put(&IN_FLIGHT, loading.in_flight(step));
    document.put(&BURST, burst(report, loading, step));
    document.put(&point::ROUNDS, measured.rounds);
    document.put(&DISTURBED, measured.series.disturbed);
    document.put(&THROTTLED, measured.series.throttled);
    document.put(&SETTLED, measured.series.unsettled == 0);
    document.put(&point::WINDOW, measured.series.window_ns / 1e9);
    document.put(&point::WORKING_SET, outcome.point.size);
    document.put(&point::PAGES_OBTAINED, measured.placed.pages.word());
    document.put(&point::VERIFIED, measured.placed.is_verified(outcome.point.target));
}
