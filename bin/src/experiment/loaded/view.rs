//! Latency under load for people: the largest bandwidth and the load at which latency doubles, then a table and a line of
//! the picture for each curve.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use latency_core::{NodeId, best, plural, sort_by};

use super::levels;
use crate::analysis::load::{LoadLevel, Verdict};
use crate::analysis::loaded::{Loading, loadings};
use crate::describe::rates::{GIGA, Gigabytes, Within, headline, percent, plus_minus};
use crate::describe::{self, Report, ReportParts, method, metrics, trust};
use latency_engine::result::PageWords;
use latency_engine::warning::Warning;
use latency_report::chart::vector;
use latency_report::lists::joined;
use latency_report::{
    Axis, Chart, ChartPoint, Data, Digits, Mark, Picture, Role, Scale, Series, Shown, Unit,
};

/// Describes all curves.
pub fn present(parts: &mut ReportParts, report: &Report<'_>) {
    let all = &loadings(report.outcomes);
    // The names of curves have the nodes if the curves are of the memory of several nodes.
    let several =
        all.iter().any(|loading| Some(loading.point.target) != all.first().map(|first| first.point.target));
    metrics::loads(&mut parts.metrics, report, all);
    levels::summary(&mut parts.summary, all);
    levels::rows(&mut parts.rows, report, all);
    answers(&mut parts.answer, report, all, several);
    levels::data(&mut parts.data, report, all);
    let evidence = &mut parts.evidence;
    for loading in all {
        levels::table(evidence, report, loading);
        missing(evidence, loading);
    }
    picture(evidence, report, all, several);
    method::memory(evidence, report);
    fields(evidence, all);
    kinds(evidence, all);
    evidence.under(Role::Provenance("Method")).write(format_args!(
        "latency and bandwidth are means over the same windows of 20 ms, median over {rounds}; each \
         load of the chain waits for the one before, random order, seed {seed}; GB/s are 10^9 bytes of \
         lines touched, {line} bytes each",
        rounds = match report.options.hold {
            Some(_) => "the seconds of the held load, and for idle memory over rounds before",
            None => "rounds in random order",
        },
        seed = report.options.seed,
        line = report.machine.line.bytes().0
    ));
}

/// Writes the answer: a line for each curve, the bandwidth at which its latency doubles, and the pairs with slower idle
/// memory.
fn answers(document: &mut Shown, report: &Report<'_>, all: &[Loading<'_>], several: bool) {
    all.iter().for_each(|loading| line(document, loading));
    // Without a limit, the generators did not load this memory.
    let reached = |loading: &&Loading<'_>| {
        let limit = loading.limit.as_ref().map(|limit| limit.verdict);
        matches!(limit, Some(Verdict::LimitReached | Verdict::OverSaturated))
    };
    let first = all.first().filter(reached);
    let levels = first.into_iter().flat_map(|first| first.steps.iter().map(|step| step.level));
    let loads = levels.filter(|level| level.delivered.value > 0.0);
    let peak = best(loads, |one, other| one.delivered.value.total_cmp(&other.delivered.value).is_ge());
    if let Some(LoadLevel { latency, .. }) = peak {
        trust::figure(document, report, &("Latency at peak load", "ns", 1.0, None), latency);
    }
    all.iter().for_each(|loading| answer(document, report, loading, several));
    // Idle memory may be slower than loaded memory.
    for warning in
        report.warnings.iter().filter(|warning| matches!(warning, Warning::IdleMemorySlower { .. }))
    {
        document.finding(format_args!("Note: {warning}."));
    }
}

/// Writes the line that scripts search for.
fn line(document: &mut Shown, loading: &Loading<'_>) {
    let from_to = format_args!(
        "Node {} -> Node {} ({})",
        loading.point.initiator, loading.point.target, loading.traffic.kind.name
    );
    let exclusion = loading.loaded().find_map(|outcome| outcome.result.as_ref().err());
    match (&loading.steps[..], exclusion) {
        ([first, .., last], _) => document.line(format_args!(
            "{from_to}: {}, {}",
            latency_at_load(&first.level),
            latency_at_load(&last.level)
        )),
        ([only], _) => document.line(format_args!("{from_to}: {}", latency_at_load(&only.level))),
        ([], Some(exclusion)) => describe::missing(document, Role::Line, &from_to, exclusion),
        ([], None) => {}
    }
}

/// Names the levels of a curve that were not measured, if others were.
fn missing(document: &mut Shown, loading: &Loading<'_>) {
    let reasons: Vec<_> = vector(loading.loaded().filter_map(|outcome| outcome.result.as_ref().err()));
    if let (Some(reason), false) = (reasons.first(), loading.steps.is_empty()) {
        let (name, count, s) = (loading.traffic.kind.name, reasons.len(), plural(reasons.len()));
        describe::missing(document, Role::Missing, &format_args!("{count} level{s} ({name})"), reason);
    }
}

/// Returns a latency and its load: `261 ns at 198 GB/s`.
fn latency_at_load(level: &LoadLevel) -> String {
    match level.offered {
        Some(0.0) => format!("{} ns idle", Digits(level.latency.value)),
        _ => format!("{} ns at {} GB/s", Digits(level.latency.value), Gigabytes(level.delivered.value)),
    }
}

/// Writes the largest bandwidth, its limit, and the load at which latency doubles.
fn answer(document: &mut Shown, report: &Report<'_>, loading: &Loading<'_>, several: bool) {
    let name = loading.traffic.kind.name;
    let route = method::optional(Some(loading.point.target).filter(|_| several), |to: NodeId, out| {
        write!(out, "{} -> {to}, ", loading.point.initiator)
    });
    let Some(limit) = loading.limit else {
        return at_last_level(document, report, loading, format_args!("{route}{name}"));
    };
    let (rate, all) = (headline(limit.rate, GIGA), limit.all);
    let doubled = method::optional(loading.knee(2.0), |knee, out| {
        out.write_str("; latency doubles")?;
        if let Some((lowest, _)) = loading.slow_idle() {
            write!(out, " from {} ns", Digits(lowest))?;
        }
        write!(out, " at {}", Within(knee))
    });
    // Beyond the own node, the path may be the limit.
    let path = if loading.point.initiator == loading.traffic.node { "" } else { "memory or interconnect " };
    let through = method::through(report.warnings.side_cache(loading.traffic.node));
    let peak = match limit.verdict {
        Verdict::OverSaturated => format!(
            "peak {rate} GB/s with {} cores, over-saturated beyond ({all} cores reach only {})",
            limit.generators,
            percent(limit.whole.value / limit.rate.value)
        ),
        Verdict::LimitReached => format!("peak {rate} GB/s with {all} cores ({path}saturated)"),
        Verdict::OneGenerator => {
            format!("one generator core reaches {rate} GB/s, too little to tell where this memory saturates")
        }
        Verdict::GeneratorsExhausted => format!(
            "{rate} GB/s with {all} cores; bandwidth still scales with cores, so memory is not saturated"
        ),
        Verdict::NotShown => {
            format!("{rate} GB/s with {all} cores; cannot tell whether memory is saturated")
        }
    };
    document.answer(format_args!("{route}{name}{through}: {peak}{doubled}."));
    let bend = loading.curve.as_ref().and_then(|curve| curve.bend);
    if let Some(bend) = bend.filter(|_| limit.verdict != Verdict::OverSaturated) {
        document.finding(format_args!(
            "{route}{name}: over-saturated beyond {} GB/s (bandwidth drops by {}).",
            Gigabytes(bend.best.delivered.value),
            percent(bend.lost)
        ));
    }
}

/// Writes the latency at the largest of the requested rates, if the peak was not measured.
fn at_last_level(document: &mut Shown, report: &Report<'_>, loading: &Loading<'_>, of: fmt::Arguments<'_>) {
    let Some(last) = loading.steps.last().filter(|step| step.level.offered != Some(0.0)) else { return };
    let LoadLevel { latency, delivered, .. } = last.level;
    let idle = loading.curve.as_ref().map(|curve| latency.value / curve.idle.value);
    document.answer(format_args!(
        "{of}: latency {} ns at {} GB/s{}{}.",
        plus_minus(latency),
        Gigabytes(delivered.value),
        method::optional(report.options.hold, |seconds, out| write!(out, " held for {seconds} s")),
        method::optional(idle, |ratio, out| write!(out, " ({ratio:.2}x idle)"))
    ));
}

/// Writes the placement of the memory of generators, and the evidence for it.
fn fields(document: &mut Shown, all: &[Loading<'_>]) {
    let mut known = Vec::new();
    for loading in all {
        let (Some(field), key) = (loading.field(), (loading.traffic.node, loading.traffic.footprint)) else {
            continue;
        };
        if known.contains(&key) {
            continue;
        }
        known.push(key);
        document.under(Role::Provenance("Generators")).write(format_args!(
            "{} on node {} in {}; {}",
            loading.traffic.footprint,
            loading.traffic.node,
            PageWords(field.pages),
            if field.verified {
                "all pages verified there, before and after"
            } else {
                "placement not verified"
            }
        ));
    }
}

/// Writes the accesses of each kind of traffic.
fn kinds(document: &mut Shown, all: &[Loading<'_>]) {
    let mut kinds: Vec<String> = Vec::new();
    for kind in all.iter().map(|loading| loading.traffic.kind) {
        let words = format!("{}: {}, {}", kind.name, kind.summary, kind.pattern().words());
        if !kinds.contains(&words) {
            kinds.push(words);
        }
    }
    document.sentence(Role::Provenance("Traffic"), format_args!("{}", joined("", "; ", kinds.iter())));
}

/// The multiple of the lowest latency at which each curve has a mark.
const CLEAREST: f64 = 2.0;

/// Draws all curves, with marks at their knees and peaks; their names have the nodes if there are `several` pairs of nodes.
fn picture(document: &mut Shown, report: &Report<'_>, all: &[Loading<'_>], several: bool) {
    let (mut series, mut marks) = (Vec::new(), Vec::new());
    let mut put = |series, x: f64, label: fmt::Arguments<'_>| {
        marks.push(Mark { series: Some(series), ..Mark::line(x / GIGA, label) });
    };
    let mut unnamed = true;
    let mut idle = f64::NAN;
    let mut title = String::from("Loaded latency");
    for (index, loading) in all.iter().enumerate() {
        let kind = loading.traffic.kind.name;
        let name = match several {
            true => format!("{} -> {}, {kind}", loading.point.initiator, loading.point.target),
            false => kind.into(),
        };
        let mut points = loading.levels().map(|step| {
            let (x, y) = (step.level.delivered.value / GIGA, step.level.latency.value);
            let whiskers = match step.level.offered {
                // Zero traffic has no uncertainty.
                Some(0.0) => Some((x, x)),
                _ => step.level.delivered.interval.map(|at| (at.low / GIGA, at.high / GIGA)),
            };
            let band = step.level.latency.interval.map(|at| (at.low, at.high));
            ChartPoint { x, y, band, whiskers }
        });
        series.push(Series::of(name, &mut points));
        let lowest = loading.slow_idle().map(|(lowest, _)| lowest);
        if let Some(knee) = loading.knee(CLEAREST) {
            // All knees are at the same multiple.
            match core::mem::replace(&mut unnamed, false) {
                true => put(index, knee.value, format_args!("{}", levels::multiple(CLEAREST, lowest))),
                false => put(index, knee.value, format_args!("")),
            }
        }
        if let Some(limit) = &loading.limit {
            put(index, limit.rate.value, format_args!("peak {} GB/s", Gigabytes(limit.rate.value)));
        }
        let fastest = |best: f64| loading.steps.iter().find(|step| step.level.delivered.value == best);
        let peak = loading.limit.map_or(loading.steps.last(), |limit| fastest(limit.rate.value));
        if let (0, Some(curve), Some(peak)) = (index, &loading.curve, peak) {
            idle = curve.idle.value;
            title = format!(
                "Loaded latency: {} ns idle, {} ns at {} GB/s",
                headline(curve.idle, 1.0),
                headline(peak.level.latency, 1.0),
                headline(peak.level.delivered, GIGA)
            );
        }
    }
    sort_by(&mut marks, |one, other| one.x.total_cmp(&other.x));
    if idle.is_finite() {
        let baseline = Data::Curve([ChartPoint::new(0.0, idle)].into());
        series.push(Series { name: format!("idle {} ns", Digits(idle)), data: baseline });
    }
    let subtitle = format!("latency by bandwidth; {}", report.machine.processor.brand.as_str());
    let x_axis = Axis { title: "bandwidth", unit: Unit::Plain("GB/s"), scale: Scale::Linear };
    let y_axis = Axis { title: "latency", unit: Unit::Plain("ns"), scale: Scale::Fitted };
    document.picture(Picture::Chart(Chart { title, subtitle, x_axis, y_axis, series, marks }));
}
