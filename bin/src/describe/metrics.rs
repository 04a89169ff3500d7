//! The metrics of a run for monitoring systems, in base units: latencies, bandwidths and times between cores, and the
//! trust in them.
//!
//! Every sample has the name of the experiment, so that the files of several experiments can be collected together.
//! Labels only contain what recurs in every run: rates that were derived from measurements are not labels.

use core::fmt::{self, Write};

use super::{Report, undisturbed};
use crate::analysis::loaded::delivered;
use crate::analysis::traffic::{bytes_per_line, groups};
use crate::analysis::{cores, traffic};
use crate::report::document::{Attribute, Document, MetricLabels, Value, metrics};
use crate::result::row::{CLASS, Row};
use crate::result::sample::collect;
use crate::result::words::OrderName;
use crate::result::{Outcome, Point, Traffic, Walk};
use latency_core::stats::Interval;
use latency_core::traffic::View;
use latency_core::words::Worded;

metrics! {
    LATENCY "latency_seconds" "Median latency of one dependent load.";
    LATENCY_LOW "latency_ci95_low_seconds" "Lower end of the 95% confidence interval of the latency within the run.";
    LATENCY_HIGH "latency_ci95_high_seconds" "Upper end of the 95% confidence interval of the latency within the run.";
    BANDWIDTH "bandwidth_bytes_per_second" "Bytes read and written in a second by all generators together.";
    CORE_TO_CORE "core_to_core_seconds" "Median core-to-core latency of a cache line, by the topology that the two CPUs share.";
    APART "clock_offset_or_asymmetry_seconds" "Upper bound of the clock offset and of the asymmetry between the directions of two CPUs.";
    UNTRUSTED "untrusted_warnings" "Warnings with evidence that a value is wrong or not verified.";
    LAST_RUN "last_run_timestamp_seconds" "Start of the last run, in seconds since 1970 (UTC).";
}

/// Emits the samples of a run.
pub fn metrics(document: &mut dyn Document, report: &Report<'_, '_>) {
    let experiment = ("experiment", Value::Word(report.options.experiment.descriptor.name));
    let varied = varied(report.outcomes);
    attributes(document, report);
    for outcome in report.outcomes {
        let point = &outcome.point;
        if is_latency(point) {
            let order = OrderName(point.order);
            let labels = [
                experiment,
                ("initiator", point.initiator.0.into()),
                ("target", point.target.0.into()),
                ("load", Value::Word("idle")),
                ("working_set_bytes", point.size.into()),
                ("stride_bytes", point.stride.into()),
                ("order", Value::Shown(&order)),
                ("kernel", Value::Word(point.kernel.name)),
                ("pages", Value::Word(point.pages.word())),
            ];
            // The labels after the fourth distinguish points of one pair, and are kept only if they differ.
            let is_kept = [true; 4].into_iter().chain(varied);
            let kept = labels.into_iter().zip(is_kept).filter(|(_, is_kept)| *is_kept);
            latency(document, collect(&mut labels.clone(), kept.map(|(label, _)| label)), outcome);
        }
        load(document, report, outcome, experiment);
    }
    let of_cores = cores::conclude(report.outcomes);
    for class in of_cores.classes() {
        let word = fmt::from_fn(|out| {
            let one = |c: char| if c == ' ' { '_' } else { c.to_ascii_lowercase() };
            class.shared.name().chars().try_for_each(|c| out.write_char(one(c)))
        });
        let labels = [experiment, ("class", Value::Shown(&word))];
        document.sample(&CORE_TO_CORE, &labels, Value::Real(class.median * 1e-9));
    }
    if let Some((most_ns, _)) = of_cores.apart {
        document.sample(&APART, &[experiment], Value::Real(most_ns * 1e-9));
    }
    let untrusted = report.warnings.untrusted().map_or(0, |(_, count)| count);
    document.sample(&UNTRUSTED, &[experiment], untrusted.into());
    document.sample(&LAST_RUN, &[experiment], report.started.into());
}

/// Emits the value of a saved point.
pub fn of_saved(document: &mut dyn Document, row: &Row, labels: MetricLabels<'_>) {
    let seconds = row.sample.nanoseconds * 1e-9;
    match row.traffic() {
        Some(kind) => document.sample(&BANDWIDTH, labels, Value::Real(bytes_per_line(kind) / seconds)),
        None if row.tells(CLASS) => document.sample(&CORE_TO_CORE, labels, Value::Real(seconds)),
        None => {
            document.sample(&LATENCY, labels, Value::Real(seconds));
            if let Some(interval) = row.sample.interval {
                ends(document, labels, interval);
            }
        }
    }
}

/// Emits both ends of the interval of a latency.
fn ends(document: &mut dyn Document, labels: MetricLabels<'_>, interval: Interval) {
    document.sample(&LATENCY_LOW, labels, Value::Real(interval.low * 1e-9));
    document.sample(&LATENCY_HIGH, labels, Value::Real(interval.high * 1e-9));
}

/// Emits the performance of each node's memory for the CPUs of each node: the read bandwidth of all CPUs, and the
/// bandwidth of their non-temporal writes; if traffic was not measured by itself, the latency.
fn attributes(document: &mut dyn Document, report: &Report<'_, '_>) {
    if !report.outcomes.iter().any(|outcome| matches!(outcome.point.walk, Walk::Traffic(_))) {
        for outcome in report.outcomes.iter().filter(|outcome| is_latency(&outcome.point)) {
            let (Some(nanoseconds), point) = (outcome.nanoseconds(), &outcome.point) else { continue };
            document.attribute(Attribute::ReadLatency, point.initiator, point.target, nanoseconds);
        }
    }
    for (attribute, kind) in [(Attribute::ReadBandwidth, "read"), (Attribute::WriteBandwidth, "nt-write")] {
        // The bandwidth of one CPU does not represent its node.
        for group in groups(report.outcomes).filter(|_| report.options.view != View::Cores) {
            let Traffic { from, node, .. } = group.traffic;
            let Some((_, rate)) = group.best().filter(|_| group.traffic.kind.name == kind) else { continue };
            document.attribute(attribute, from, node, rate.value);
        }
    }
}

fn latency(document: &mut dyn Document, labels: MetricLabels<'_>, outcome: &Outcome<'_>) {
    let Ok(measured) = &outcome.result else { return };
    let found = measured.series.nanoseconds;
    document.sample(&LATENCY, labels, Value::Real(found.median * 1e-9));
    if let Some(interval) = found.interval {
        ends(document, labels, interval);
    }
    undisturbed::metrics(document, labels, &measured.series);
}

/// Emits the maximum bandwidth of traffic, and the latency of a load during that traffic.
fn load(
    document: &mut dyn Document,
    report: &Report<'_, '_>,
    outcome: &Outcome<'_>,
    experiment: (&'static str, Value<'_>),
) {
    let point = &outcome.point;
    let Some(&Traffic { kind, generators, rate: None, .. }) = point.walk.traffic() else { return };
    let labels = [
        experiment,
        ("initiator", point.initiator.0.into()),
        ("target", point.target.0.into()),
        ("traffic", Value::Word(kind.name)),
        ("generators", generators.into()),
        ("cpu", point.cpu.0.into()),
    ];
    // CPUs that are measured one by one have one label more than the CPUs of a node together.
    let by_cpu = report.options.view == View::Cores;
    let of_pair = labels.get(..labels.len() - usize::from(!by_cpu)).unwrap_or_default();
    let found = match (&outcome.result, point.walk) {
        (Ok(measured), Walk::Loaded(with)) => {
            let [experiment, initiator, target, traffic, generators, _] = labels;
            let load = ("load", Value::Word("max"));
            latency(document, &[experiment, initiator, target, load, traffic, generators], outcome);
            delivered(&with, &measured.series).map(|found| found.value)
        }
        _ => traffic::rate(outcome).map(|(_, rate)| rate.value),
    };
    document.sample(&BANDWIDTH, of_pair, found.into());
}

/// Returns whether the value of a point is the latency of a single chain of loads.
fn is_latency(point: &Point) -> bool {
    match point.walk {
        Walk::Chain => true,
        Walk::Lanes(kernel) => kernel.lanes == 1 && kernel.work == 0 && !kernel.prefetch,
        _ => false,
    }
}

/// Returns whether latencies of one pair of nodes differ in working set, spacing, order, kernel and pages.
fn varied(outcomes: &[Outcome<'_>]) -> [bool; 5] {
    let mut points = outcomes.iter().map(|outcome| &outcome.point).filter(|point| is_latency(point));
    let Some(first) = points.next() else { return [false; 5] };
    let pair = (first.initiator, first.target);
    let of_pair = points.filter(|point| (point.initiator, point.target) == pair);
    of_pair.fold([false; 5], |[size, stride, order, kernel, pages], other| {
        [
            size || other.size != first.size,
            stride || other.stride != first.stride,
            order || other.order != first.order,
            kernel || other.kernel.name != first.kernel.name,
            pages || other.pages != first.pages,
        ]
    })
}
