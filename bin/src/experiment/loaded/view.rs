//! Latency under load for people: the largest bandwidth and the load at which latency doubles, then a table for each
//! curve.

use core::fmt::{self, Display};

use latency_core::text::plural;
use latency_core::units::NodeId;

use super::levels;
use super::picture;
use crate::analysis::load::{LoadLevel, Verdict};
use crate::analysis::loaded::{Loading, loadings};
use crate::describe::rates::{GIGA, Gigabytes, Within, headline, percent, plus_minus};
use crate::describe::{self, Report, method, trust};
use crate::report::document::Role;
use crate::report::figures::Digits;
use crate::report::shown::Shown;
use crate::result::words::PageWords;
use crate::warning::Warning;

/// Returns whether the curves are of the memory of several nodes.
fn several(report: &Report<'_, '_>) -> bool {
    let mut nodes = loadings(report.outcomes).map(|loading| loading.point.target);
    let first = nodes.next();
    nodes.any(|node| Some(node) != first)
}

/// Writes the answer: a line for each curve, the bandwidth at which its latency doubles, and the pairs with slower idle
/// memory.
pub fn answers(document: &mut Shown, report: &Report<'_, '_>) {
    loadings(report.outcomes).for_each(|loading| line(document, &loading));
    if let Some(first) = loadings(report.outcomes).next() {
        let steps = first.steps();
        let loads =
            steps.as_slice().iter().map(|step| step.level).filter(|level| level.delivered.value > 0.0);
        let peak = loads.max_by(|one, other| one.delivered.value.total_cmp(&other.delivered.value));
        if let Some(LoadLevel { latency, .. }) = peak {
            trust::figure(document, report, &("Latency at peak load", "ns", 1.0, None), latency);
        }
    }
    let several = several(report);
    loadings(report.outcomes).for_each(|loading| answer(document, report, &loading, several));
    slow_idle(document, report);
}

/// Describes the levels of each curve, the picture and the method.
pub fn evidence(document: &mut Shown, report: &Report<'_, '_>) {
    loadings(report.outcomes).for_each(|loading| {
        levels::table(document, report, &loading);
        missing(document, &loading);
    });
    picture::picture(document, report, several(report));
    method::memory(document, report);
    fields(document, report);
    kinds(document, report);
    document.sentence(
        Role::Provenance("Method"),
        format_args!(
            "latency and bandwidth are means over the same windows of 20 ms, median over {rounds}; each \
             load of the chain waits for the one before, random order, seed {seed}; GB/s are 10^9 bytes of \
             lines touched, {line} bytes each",
            rounds = match report.options.hold {
                Some(_) => "the seconds of the held load, and for idle memory over rounds before",
                None => "rounds in random order",
            },
            seed = report.options.seed,
            line = report.machine.line.bytes().0
        ),
    );
}

/// Writes the line that scripts search for.
fn line(document: &mut Shown, loading: &Loading<'_, '_>) {
    let steps = loading.steps();
    let from_to = format_args!(
        "Node {} -> Node {} ({})",
        loading.point.initiator, loading.point.target, loading.traffic.kind.name
    );
    match (steps.as_slice(), loading.loaded().find_map(|outcome| outcome.result.as_ref().err())) {
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
fn missing(document: &mut Shown, loading: &Loading<'_, '_>) {
    let reasons = || loading.loaded().filter_map(|outcome| outcome.result.as_ref().err());
    let (count, steps) = (reasons().count(), loading.steps());
    if let (Some(reason), [_, ..]) = (reasons().next(), steps.as_slice()) {
        let (name, s) = (loading.traffic.kind.name, plural(count));
        describe::missing(document, Role::Missing, &format_args!("{count} level{s} ({name})"), reason);
    }
}

/// Writes a latency and its load: `261 ns at 198 GB/s`.
fn latency_at_load(level: &LoadLevel) -> impl Display + '_ {
    fmt::from_fn(move |out| match level.offered {
        Some(0.0) => write!(out, "{} ns idle", Digits(level.latency.value)),
        _ => write!(out, "{} ns at {} GB/s", Digits(level.latency.value), Gigabytes(level.delivered.value)),
    })
}

/// Writes the largest bandwidth, its limit, and the load at which latency doubles.
fn answer(document: &mut Shown, report: &Report<'_, '_>, loading: &Loading<'_, '_>, several: bool) {
    let name = loading.traffic.kind.name;
    let route = method::optional(Some(loading.point.target).filter(|_| several), |to: NodeId, out| {
        write!(out, "{} -> {to}, ", loading.point.initiator)
    });
    let Some(limit) = loading.limit() else {
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
    let half = method::optional(limit.half, |half, out| {
        write!(out, ": half of them reach {}", percent(half.value / limit.rate.value))
    });
    // Beyond the own node, the path may be the limit.
    let path = if loading.point.initiator == loading.traffic.node { "" } else { "memory or interconnect " };
    let through = method::through(report.warnings.side_cache(loading.traffic.node));
    document.answer(format_args!(
        "{route}{name}{through}: {}{doubled}.",
        fmt::from_fn(|out| match limit.verdict {
            Verdict::OverSaturated => write!(
                out,
                "peak {rate} GB/s with {} cores, over-saturated beyond ({all} cores reach only {})",
                limit.generators,
                percent(limit.whole.value / limit.rate.value)
            ),
            Verdict::LimitReached => write!(out, "peak {rate} GB/s with {all} cores ({path}saturated{half})"),
            Verdict::OneGenerator => write!(
                out,
                "one generator core reaches {rate} GB/s, too little to tell where this memory saturates"
            ),
            Verdict::GeneratorsExhausted => write!(
                out,
                "{rate} GB/s with {all} cores; bandwidth still scales with cores, so memory is not saturated"
            ),
            Verdict::NotShown => {
                write!(out, "{rate} GB/s with {all} cores; cannot tell whether memory is saturated")
            }
        })
    ));
    let bend = loading.curve().and_then(|curve| curve.bend);
    if let Some(bend) = bend.filter(|_| limit.verdict != Verdict::OverSaturated) {
        document.finding(format_args!(
            "{route}{name}: over-saturated beyond {} GB/s (bandwidth drops by {}).",
            Gigabytes(bend.best.delivered.value),
            percent(bend.lost)
        ));
    }
}

/// Writes the latency at the largest of the requested rates, if the peak was not measured.
fn at_last_level(
    document: &mut Shown,
    report: &Report<'_, '_>,
    loading: &Loading<'_, '_>,
    of: fmt::Arguments<'_>,
) {
    let steps = loading.steps();
    let Some(last) = steps.as_slice().last().filter(|step| step.level.offered != Some(0.0)) else { return };
    let LoadLevel { latency, delivered, .. } = last.level;
    let idle = loading.curve().map(|curve| latency.value / curve.idle.value);
    document.answer(format_args!(
        "{of}: latency {} ns at {} GB/s{}{}.",
        plus_minus(latency),
        Gigabytes(delivered.value),
        method::optional(report.options.hold, |seconds, out| write!(out, " held for {seconds} s")),
        method::optional(idle, |ratio, out| write!(out, " ({ratio:.2}x idle)"))
    ));
}

/// Writes the pairs with idle memory that is slower than loaded memory.
fn slow_idle(document: &mut Shown, report: &Report<'_, '_>) {
    for warning in report.warnings.iter() {
        if let Warning::IdleMemorySlower { .. } = warning {
            document.finding(format_args!("Note: {warning}."));
        }
    }
}

/// Writes the placement of the generators' memory, and the evidence for it.
fn fields(document: &mut Shown, report: &Report<'_, '_>) {
    let key = |loading: &Loading<'_, '_>| {
        loading.field().map(|_| (loading.traffic.node, loading.traffic.footprint))
    };
    for (index, loading) in loadings(report.outcomes).enumerate() {
        let Some(field) = loading.field() else { continue };
        if loadings(report.outcomes).take(index).any(|earlier| key(&earlier) == key(&loading)) {
            continue;
        }
        document.sentence(
            Role::Method("Generators"),
            format_args!(
                "{} on node {} in {}; {}",
                loading.traffic.footprint,
                loading.traffic.node,
                PageWords(field.pages),
                if field.verified {
                    "all pages verified there, before and after"
                } else {
                    "placement not verified"
                }
            ),
        );
    }
}

/// Writes the accesses of each kind of traffic.
fn kinds(document: &mut Shown, report: &Report<'_, '_>) {
    document.sentence(
        Role::Method("Traffic"),
        format_args!(
            "{}",
            fmt::from_fn(|out| {
                for (index, loading) in loadings(report.outcomes).enumerate() {
                    let kind = loading.traffic.kind;
                    let mut earlier = loadings(report.outcomes).take(index);
                    if !earlier.any(|other| other.traffic.kind.name == kind.name) {
                        out.write_str(if index == 0 { "" } else { "; " })?;
                        write!(out, "{}: {}, {}", kind.name, kind.summary, kind.pattern().words())?;
                    }
                }
                Ok(())
            })
        ),
    );
}
