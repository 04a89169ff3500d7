//! The metrics of a run for monitoring systems, in base units: latencies, bandwidths and times between cores, and the
//! trust in them.
//!
//! Every sample has the name of the experiment, so that the files of several experiments can be collected together.
//! Labels only contain what recurs in every run: rates that were derived from measurements are not labels.

use alloc::string::String;
use alloc::vec::Vec;
use core::slice::from_ref;

use super::{Report, split, trust};
use crate::analysis::cores::CoresConclusion;
use crate::analysis::curve::Analysis;
use crate::analysis::loaded::{Loading, delivered};
use crate::analysis::traffic::{TrafficGroup, bandwidth, rate};
use crate::record::columns::{
    CLASS, CORES, EXPERIMENT, INITIATOR_NODE, KERNEL, STRIDE, TARGET_NODE, TRAFFIC, WORKING_SET,
};
use crate::record::row::Row;
use latency_core::topology::Shared;
use latency_core::{Estimate, Worded};
use latency_engine::result::{
    LoadParts, OrderName, Outcome, Point, Traffic, TrafficSubject, Undisturbed, Walk,
};
use latency_report::document::{Attribute, MetricLabel, metrics};
use latency_report::{Metric, Shown, ShownPart, Value};

metrics! {
    SUCCESS "run_success" "1 if the run was completed, 0 if it was interrupted or measured nothing.";
    SECONDS "run_duration_seconds" "Duration of the run.";
    TRUST "trust" "1 for the level of trust in the result, 0 for the others.";
    UNTRUSTED "untrusted_warnings" "Warnings with evidence that a value is wrong or not verified.";
    LAST_RUN "last_run_timestamp_seconds" "Start of the last run, in seconds since 1970 (UTC).";
    CACHE_SIZE "cache_size_bytes" "Effective capacity of a cache level, as the curve shows it.";
    CACHE_LATENCY "cache_latency_seconds" "Latency of a cache level, as the curve shows it.";
    UNDISTURBED_BOUND "latency_undisturbed_at_most_seconds" "Upper bound of the latency without neighbours where no rounds are steady.";
    BANDWIDTH "bandwidth_bytes_per_second" "Bytes read and written in a second by all cores together.";
    PEAK "bandwidth_peak_bytes_per_second" "Largest bandwidth between two nodes.";
    KNEE_CORES "bandwidth_knee_cores" "Smallest number of cores with 95% of the largest bandwidth.";
    KNEE "bandwidth_knee_bytes_per_second" "Bandwidth at which latency is twice the lowest one.";
    APART "clock_offset_or_asymmetry_seconds" "Upper bound of the clock offset and of the asymmetry between the directions of two CPUs.";
}

/// Declares times with their confidence intervals, in seconds: `NAME "name" "What it is." "end of a sentence about it";`.
macro_rules! times {
    ($($name:ident $key:literal $about:literal $it:literal;)*) => {$(
        #[doc = $about]
        static $name: [Metric; 3] = [
            Metric { name: concat!($key, "_seconds"), about: $about },
            Metric {
                name: concat!($key, "_ci95_low_seconds"),
                about: concat!("Lower end of the 95% confidence interval of the ", $it, "."),
            },
            Metric {
                name: concat!($key, "_ci95_high_seconds"),
                about: concat!("Upper end of the 95% confidence interval of the ", $it, "."),
            },
        ];
    )*};
}

times! {
    LATENCY "latency" "Median latency of one dependent load." "latency within the run";
    UNDISTURBED "latency_undisturbed" "Steady latency of one dependent load: median of the lowest rounds, if rounds in separate seconds agree on it." "steady latency";
    MEMORY "memory_latency" "Latency of memory: of a random load whose address translation is in the TLB." "latency of memory";
    TRANSLATION "translation" "Latency that address translation adds to a random load." "translation";
    CORE_TO_CORE "core_to_core" "Median core-to-core latency of a cache line, by the topology that the two CPUs share." "core-to-core latency";
}

/// The maximum number of samples without --verbose, but for pairs of nodes in `matrix` and `bandwidth`: hundreds of
/// hosts share one monitoring system.
const MOST: usize = 60;

/// Emits the samples of a run, those of its circumstances and of its `conclusions` first.
pub fn metrics(document: &mut Shown, report: &Report<'_>, conclusions: Shown) {
    let name = report.options.experiment.descriptor.name;
    let whole = report.options.verbose || matches!(name, "matrix" | "bandwidth");
    // The processor has a sample of its own.
    let mut left = if whole { usize::MAX } else { MOST - 1 };
    for entry in Shown::of(|document| samples(document, report, conclusions, whole)).into_entries() {
        if let ShownPart::Metric(..) = entry {
            if left == 0 {
                continue;
            }
            left -= 1;
        }
        document.push(entry);
    }
}

/// Emits all samples of a run.
fn samples(document: &mut Shown, report: &Report<'_>, conclusions: Shown, whole: bool) {
    let experiment = &experiment(report);
    run(document, report, experiment);
    attributes(document, report);
    document.append(conclusions);
    let varied = varied(report.outcomes);
    for outcome in report.outcomes {
        let point = &outcome.point;
        if is_latency(point) && (whole || is_largest(report.outcomes, point)) {
            let mut labels = Vec::from([experiment.clone()]);
            labels.extend(nodes(point));
            labels.push(("load", "idle".into()));
            let told = others(point).into_iter().zip(varied).filter(|(_, is_varied)| *is_varied);
            told.for_each(|(label, _)| labels.push(label));
            latency(document, &labels, outcome);
            let is_memory = split::is_memory(report.machine, outcome);
            parts(document, &labels, split::parts(outcome), is_memory);
        }
        load(document, outcome, experiment);
    }
}

/// Emits the samples of the run as a whole.
fn run(document: &mut Shown, report: &Report<'_>, experiment: &MetricLabel) {
    let outcomes = report.outcomes;
    let is_empty = !outcomes.is_empty() && outcomes.iter().all(|outcome| outcome.result.is_err());
    document.sample(&SUCCESS, from_ref(experiment), u64::from(!report.partial && !is_empty).into());
    document.sample(&SECONDS, from_ref(experiment), report.seconds.into());
    for level in ["good", "fair", "poor"] {
        let is_level = trust::level(report.warnings) == level;
        document.sample(&TRUST, &[experiment.clone(), ("level", level.into())], u64::from(is_level).into());
    }
    let untrusted = report.warnings.untrusted().map_or(0, |(_, count)| count);
    document.sample(&UNTRUSTED, from_ref(experiment), untrusted.into());
    document.sample(&LAST_RUN, from_ref(experiment), report.started.into());
}

/// Returns the label of the experiment.
fn experiment(report: &Report<'_>) -> MetricLabel {
    (EXPERIMENT.name(), report.options.experiment.descriptor.name.into())
}

/// Emits the cache levels of a curve.
pub fn caches(document: &mut Shown, report: &Report<'_>, analysis: &Analysis) {
    for cache in analysis.caches() {
        let labels = [experiment(report), ("level", u64::from(cache.number).into())];
        if let Some(size) = cache.middle() {
            document.sample(&CACHE_SIZE, &labels, size.into());
        }
        document.sample(&CACHE_LATENCY, &labels, (analysis.of_cache(cache).value * 1e-9).into());
    }
}

/// Returns the labels of a pair of nodes and a kind of traffic.
fn of_pair(report: &Report<'_>, point: &Point, kind: &'static str) -> [MetricLabel; 4] {
    let [_, initiator, _, target] = nodes(point);
    [experiment(report), initiator, target, (TRAFFIC.name(), kind.into())]
}

/// Emits the largest bandwidths between nodes. The bandwidth of one CPU does not represent its node.
pub fn traffic(document: &mut Shown, report: &Report<'_>, groups: &[TrafficGroup<'_>]) {
    for group in groups {
        let labels = of_pair(report, &group.point, group.traffic.kind.name);
        document.sample(&PEAK, &labels, group.best.map(|(_, rate)| rate.value).into());
        document.sample(&KNEE_CORES, &labels, group.knee().into());
    }
    for (attribute, kind) in [(Attribute::ReadBandwidth, "read"), (Attribute::WriteBandwidth, "nt-write")] {
        for group in
            groups.iter().filter(|group| group.traffic.kind.name == kind && !group.traffic.kind.is_whole())
        {
            let Traffic { from, node, .. } = group.traffic;
            group.best.iter().for_each(|(_, rate)| document.attribute(attribute, (from, node), rate.value));
        }
    }
}

/// Emits the largest bandwidths of curves under load, and their knees.
pub fn loads(document: &mut Shown, report: &Report<'_>, loadings: &[Loading<'_>]) {
    for loading in loadings {
        let labels = of_pair(report, &loading.point, loading.traffic.kind.name);
        document.sample(&PEAK, &labels, loading.limit.map(|limit| limit.rate.value).into());
        document.sample(&KNEE, &labels, loading.knee(2.0).map(|knee| knee.value).into());
    }
}

/// Emits the classes of pairs of CPUs.
pub fn cores(document: &mut Shown, report: &Report<'_>, found: &CoresConclusion<'_>) {
    for class in &found.classes {
        let one = |c: char| if c == ' ' { '_' } else { c.to_ascii_lowercase() };
        let word: String = format!("{class}").chars().filter(|c| *c != ',').map(one).collect();
        let labels = [experiment(report), (CLASS.name(), word.into())];
        seconds(document, &CORE_TO_CORE, &labels, class.median);
    }
    if let Some((most_ns, _)) = found.apart {
        document.sample(&APART, &[experiment(report)], Value::Real(most_ns * 1e-9));
    }
}

/// Emits nanoseconds with their interval, in seconds.
fn seconds(
    document: &mut Shown,
    metrics: &'static [Metric; 3],
    labels: &[MetricLabel],
    nanoseconds: Estimate,
) {
    for (metric, value) in metrics.iter().zip(Value::Estimate(nanoseconds.scaled(1e-9)).parts()) {
        document.sample(metric, labels, value);
    }
}

/// Returns the labels of the nodes of a point: for each the name of earlier versions, and that of the columns.
fn nodes(point: &Point) -> [MetricLabel; 4] {
    let [initiator, target] = [point.initiator, point.target].map(|node| Value::from(node.0));
    [
        ("initiator", initiator.clone()),
        (INITIATOR_NODE.name(), initiator),
        ("target", target.clone()),
        (TARGET_NODE.name(), target),
    ]
}

/// Returns whether no walk of the same kind between the same nodes has a larger working set.
fn is_largest(outcomes: &[Outcome], point: &Point) -> bool {
    let kind = |of: &Point| (of.initiator, of.target, of.order, of.stride, of.kernel.name, of.pages);
    let is_larger =
        |other: &Point| is_latency(other) && other.size > point.size && kind(other) == kind(point);
    !outcomes.iter().any(|outcome| is_larger(&outcome.point))
}

/// Emits the value of a saved point.
pub fn of_saved(document: &mut Shown, row: &Row, labels: &[MetricLabel]) {
    let found = row.time();
    match row.traffic() {
        Some(kind) => document.sample(&BANDWIDTH, labels, Value::Real(bandwidth(kind, found).value)),
        None if row.tells(CLASS) => {
            seconds(document, &CORE_TO_CORE, labels, found);
        }
        None => {
            seconds(document, &LATENCY, labels, found);
            parts(document, labels, row.parts(), row.is_memory());
        }
    }
}

/// Emits the latency of each node's memory for the CPUs of each node, if traffic was not measured by itself.
fn attributes(document: &mut Shown, report: &Report<'_>) {
    if !report.outcomes.iter().any(|outcome| matches!(outcome.point.walk, Walk::Traffic(_))) {
        for outcome in report.outcomes.iter().filter(|outcome| is_latency(&outcome.point)) {
            let (Some(nanoseconds), point) = (outcome.nanoseconds(), &outcome.point) else { continue };
            document.attribute(Attribute::ReadLatency, (point.initiator, point.target), nanoseconds);
        }
    }
}

/// Emits the latency of a point, and that while neighbours are quiet.
fn latency(document: &mut Shown, labels: &[MetricLabel], outcome: &Outcome) {
    let Ok(measured) = &outcome.result else { return };
    seconds(document, &LATENCY, labels, measured.series.nanoseconds.into());
    match measured.series.undisturbed {
        None => {}
        Some(Undisturbed::Seen { nanoseconds: value, interval, .. }) => {
            seconds(document, &UNDISTURBED, labels, Estimate { value, interval: Some(interval) });
        }
        Some(Undisturbed::AtMost(bound)) => {
            document.sample(&UNDISTURBED_BOUND, labels, Value::Real(bound * 1e-9))
        }
    }
}

/// Emits memory and translation of a point, if they were told apart.
fn parts(document: &mut Shown, labels: &[MetricLabel], parts: Option<LoadParts>, is_memory: bool) {
    let Some(LoadParts { without_translation, translation }) = parts else { return };
    if is_memory {
        seconds(document, &MEMORY, labels, without_translation);
    }
    seconds(document, &TRANSLATION, labels, translation);
}

/// Emits the maximum bandwidth of traffic, and the latency of a load during that traffic.
fn load(document: &mut Shown, outcome: &Outcome, experiment: &MetricLabel) {
    let point = &outcome.point;
    let Some(&Traffic { kind, generators, subject, rate: None, .. }) = point.walk.traffic() else { return };
    let mut labels = Vec::from([experiment.clone()]);
    labels.extend(nodes(point));
    labels.push((TRAFFIC.name(), kind.name.into()));
    labels.extend(["generators", CORES.name()].map(|name| (name, generators.into())));
    let found = match (&outcome.result, point.walk) {
        (Ok(measured), Walk::Loaded(with)) => {
            let mut labels = labels.clone();
            labels.push(("load", "max".into()));
            latency(document, &labels, outcome);
            delivered(&with, &measured.series).map(|found| found.value)
        }
        _ => rate(outcome).map(|(_, rate)| rate.value),
    };
    // CPUs that are measured one by one, last-level caches and working sets have more labels than the CPUs of a node
    // together.
    match subject {
        TrafficSubject::Node => {}
        TrafficSubject::Cpu(cpu) => labels.push(("cpu", cpu.0.into())),
        TrafficSubject::LastLevelCache(cpu) => {
            labels.extend([("cpu", cpu.0.into()), (CLASS.name(), Shared::L3.word().into())]);
        }
        TrafficSubject::WorkingSet(size) => labels.push((WORKING_SET.name(), size.0.into())),
    }
    document.sample(&BANDWIDTH, &labels, found.into());
}

/// Returns whether the value of a point is the latency of a single chain of loads.
fn is_latency(point: &Point) -> bool {
    match point.walk {
        Walk::Chain => true,
        Walk::Lanes(kernel) => kernel.lanes() == 1 && kernel.work() == 0 && !kernel.prefetch,
        _ => false,
    }
}

/// Returns the labels that distinguish points of one pair of nodes, and are kept only if they differ.
fn others(point: &Point) -> [MetricLabel; 5] {
    [
        (WORKING_SET.name(), point.size.into()),
        (STRIDE.name(), point.stride.into()),
        ("order", Value::shown(&OrderName(point.order))),
        (KERNEL.name(), point.kernel.name.into()),
        ("pages", Value::shown(&point.pages)),
    ]
}

/// Returns in which of these labels latencies of one pair of nodes differ.
fn varied(outcomes: &[Outcome]) -> [bool; 5] {
    let mut points = outcomes.iter().map(|outcome| &outcome.point).filter(|point| is_latency(point));
    let mut varied = [false; 5];
    let Some(first) = points.next() else { return varied };
    let own = others(first);
    for other in points.filter(|point| (point.initiator, point.target) == (first.initiator, first.target)) {
        let labels = own.iter().zip(others(other));
        varied.iter_mut().zip(labels).for_each(|(varied, (own, other))| *varied |= *own != other);
    }
    varied
}
