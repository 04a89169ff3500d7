//! Latency under load for people: where latency doubles and whose limit ends the curve, then a table for each curve.

use core::fmt::{self, Display};

use latency_core::decimal::Decimal;
use latency_core::units::NodeId;

use super::words::CoresDeliver;
use super::{levels, picture};
use crate::analysis::load::{LoadLevel, Verdict};
use crate::analysis::loaded::{loadings, Loading};
use crate::describe::rates::{Gigabytes, Within};
use crate::describe::{self, method, Report};
use crate::report::document::{Document, Role};
use crate::report::figures::Digits;
use crate::result::words::page_words;
use crate::warning::Warning;

/// The maximum number of pieces of memory whose place is listed; a run does not have more.
const FIELDS: usize = 8;

/// Returns whether the curves are of the memory of several nodes.
fn several(report: &Report<'_, '_>) -> bool {
    let mut nodes = loadings(report.outcomes).map(|loading| loading.to());
    let first = nodes.next();
    nodes.any(|node| Some(node) != first)
}

/// Says the answer: a line for each curve, the bandwidth at which its latency doubles, and the pairs whose idle memory
/// is slower.
pub fn answers(document: &mut dyn Document, report: &Report<'_, '_>) {
    loadings(report.outcomes).for_each(|loading| line(document, &loading));
    let several = several(report);
    loadings(report.outcomes).for_each(|loading| answer(document, report, &loading, several));
    slow_idle(document, report);
}

/// Describes the levels of each curve, the picture and the method.
pub fn evidence(document: &mut dyn Document, report: &Report<'_, '_>) {
    loadings(report.outcomes).for_each(|loading| levels::table(document, report, &loading));
    picture::picture(document, report, several(report));
    method::memory(document, report);
    fields(document, report);
    kinds(document, report);
    document.sentence(
        Role::Method(&"Method"),
        format_args!(
            "latency and bandwidth are means over the same windows of 20 ms, median over {}; each \
             load of the chain waits for the one before, random order, seed {}; GB/s are 10^9 bytes of lines touched, \
             64 bytes each",
            match report.options.hold {
                Some(_) => "the seconds in which the load is held, and of idle memory over rounds before",
                None => "rounds in random order",
            },
            report.options.seed
        ),
    );
}

/// Writes the line that scripts search for.
#[inline(never)] // offsets into a small frame are short
fn line(document: &mut dyn Document, loading: &Loading<'_, '_>) {
    let steps = loading.steps();
    let from_to =
        format_args!("Node {} -> Node {} ({})", loading.from(), loading.to(), loading.traffic.kind.name);
    match (steps.as_slice().first(), steps.as_slice().last()) {
        (Some(first), Some(last)) if first.index != last.index => document.sentence(
            Role::Line,
            format_args!("{from_to}: {}, {}", LatencyAtLoad(&first.level), LatencyAtLoad(&last.level)),
        ),
        (Some(only), _) => {
            document.sentence(Role::Line, format_args!("{from_to}: {}", LatencyAtLoad(&only.level)))
        }
        _ => {
            if let Some(Err(exclusion)) = loading.missing().next().map(|outcome| &outcome.result) {
                describe::missing(document, Role::Line, &from_to, exclusion);
            }
        }
    }
}

/// A latency and its load: `261 ns at 198 GB/s`.
struct LatencyAtLoad<'l>(&'l LoadLevel);

impl Display for LatencyAtLoad<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LoadLevel { offered, delivered, latency } = self.0;
        write!(out, "{} ns ", Digits(latency.value))?;
        match offered {
            Some(0.0) => out.write_str("idle"),
            _ => write!(out, "at {} GB/s", Gigabytes(delivered.value)),
        }
    }
}

/// Says where latency doubles, and whose limit ends the curve.
#[inline(never)] // offsets into a small frame are short
fn answer(document: &mut dyn Document, report: &Report<'_, '_>, loading: &Loading<'_, '_>, several: bool) {
    let Some(limit) = loading.limit() else { return };
    let name = loading.traffic.kind.name;
    let route = method::optional(Some(loading.to()).filter(|_| several), |to: NodeId, out| {
        write!(out, "{} -> {to}, ", loading.from())
    });
    let rate = Gigabytes(limit.rate.value);
    let all = limit.all;
    let doubled = method::optional(loading.knee(2.0), |knee, out| {
        out.write_str("latency doubles")?;
        if let Some((lowest, _)) = loading.slow_idle() {
            write!(out, " from {} ns", Digits(lowest))?;
        }
        write!(out, " at {}; ", Within(knee.bandwidth))
    });
    let half = method::optional(limit.half, |half, out| {
        let count = all / 2;
        let verb = if count == 1 { "delivers" } else { "deliver" };
        write!(out, "; {count} of them {verb} {:.0} % of it", Decimal(half.value / limit.rate.value * 100.0))
    });
    let way = if loading.from() == loading.traffic.node { "" } else { " or of the way to it" };
    let through = method::through(report.warnings.side_cache(loading.traffic.node));
    let whose = format_args!("this memory{through}{way}");
    document.sentence(
        Role::Answer,
        format_args!(
            "{route}{name}: {doubled}{}.",
            fmt::from_fn(|out| match limit.verdict {
                Verdict::OverSaturated => write!(
                    out,
                    "{} {rate} GB/s, the limit of {whose}, and {all} cores {:.0} % of that: more load delivers less",
                    CoresDeliver(limit.generators),
                    Decimal(limit.whole.value / limit.rate.value * 100.0)
                ),
                Verdict::LimitReached => {
                    write!(out, "{all} cores reach the limit of {whose}, {rate} GB/s{half}")
                }
                Verdict::OneGenerator => {
                    write!(out, "one core delivers {rate} GB/s; it may not fill this memory, whose curve may go on")
                }
                Verdict::GeneratorsExhausted => write!(
                    out,
                    "{all} cores deliver {rate} GB/s{half}, so more would deliver more: the limit of {whose} is not \
                     reached"
                ),
                Verdict::NotShown => write!(
                    out,
                    "{all} cores deliver {rate} GB/s{half}: whether that is the limit of {whose} is not shown"
                ),
            })
        ),
    );
    if let Some(bend) = loading.curve().and_then(|curve| curve.bends_back()) {
        document.sentence(
            Role::Finding,
            format_args!(
                "{route}{name}: more load delivers less: {} GB/s at most, and {:.0} % of that lost beyond.",
                Gigabytes(bend.best.delivered.value),
                Decimal(bend.lost * 100.0)
            ),
        );
    }
}

/// Says where idle memory is slower than loaded memory.
fn slow_idle(document: &mut dyn Document, report: &Report<'_, '_>) {
    let is_told = |warning: &&Warning| matches!(warning, Warning::IdleMemorySlower { .. });
    for warning in report.warnings.iter().filter(is_told) {
        document.sentence(Role::Finding, format_args!("Note: {warning}."));
    }
}

/// Says where the memory of the generators was, and how that is known.
fn fields(document: &mut dyn Document, report: &Report<'_, '_>) {
    let mut told = [None; FIELDS];
    for loading in loadings(report.outcomes) {
        let Some(field) = loading.field() else { continue };
        let key = Some((loading.traffic.node, loading.traffic.footprint));
        if told.contains(&key) {
            continue;
        }
        if let Some(slot) = told.iter_mut().find(|slot| slot.is_none()) {
            *slot = key;
        }
        document.sentence(
            Role::Method(&"Generators"),
            format_args!(
                "{} on node {} in {}; {}",
                loading.traffic.footprint,
                loading.traffic.node,
                page_words(field.pages),
                if field.verified {
                    "all pages proven there, before and after"
                } else {
                    "where they are is not proven"
                }
            ),
        );
    }
}

/// Says what the kinds of traffic do.
fn kinds(document: &mut dyn Document, report: &Report<'_, '_>) {
    document.sentence(
        Role::Method(&"Traffic"),
        format_args!(
            "{}",
            fmt::from_fn(|out| {
                for (index, loading) in loadings(report.outcomes).enumerate() {
                    let kind = loading.traffic.kind;
                    let mut earlier = loadings(report.outcomes).take(index);
                    if !earlier.any(|other| other.traffic.kind.name == kind.name) {
                        let separator = if index == 0 { "" } else { "; " };
                        write!(
                            out,
                            "{separator}{}: {}, {}",
                            kind.name,
                            kind.summary,
                            kind.pattern().words()
                        )?;
                    }
                }
                Ok(())
            })
        ),
    );
}
