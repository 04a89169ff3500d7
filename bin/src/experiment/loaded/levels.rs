//! The levels of one curve for people: a row for each, and the conclusions.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Display};

use latency_core::decimal::Trimmed;
use latency_core::math;
use latency_core::stats::Interval;
use latency_core::text::{joined, plural};
use latency_core::traffic::pace::Pacing;
use latency_core::units::Bytes;

use super::members::burst;
use crate::analysis::load::{KNEES, Verdict};
use crate::analysis::loaded::{BandwidthLimit, Loading, Step};
use crate::analysis::traffic::shares;
use crate::describe::rates::{Gigabytes, Within, percent};
use crate::describe::{Report, method::optional};
use crate::report::chart::vector;
use crate::report::document::{Level, Role};
use crate::report::figures::Digits;
use crate::report::shown::Shown;

/// Describes a curve.
pub fn table(document: &mut Shown, report: &Report<'_, '_>, loading: &Loading<'_, '_>) {
    // Most machines do not report the clock of the uncore.
    let tells = loading.levels().any(|step| loading.uncore_gigahertz(step).is_some());
    let limit = loading.limit.as_ref();
    let idle = loading.curve.as_ref().map(|curve| curve.idle.value);
    let (traffic, from, to) = (loading.traffic, loading.point.initiator, loading.point.target);
    let all = traffic.generators;
    let footprint = match all {
        0 | 1 => format!("{}", traffic.footprint),
        _ => format!("{all} x {}", Bytes(traffic.footprint.0 / u64::from(all))),
    };
    let caption = format!(
        "Node {from} -> Node {to}, {all} core{} load{} node {}: {}, {footprint}; rates in GB/s",
        plural(all),
        if all == 1 { "s" } else { "" },
        traffic.node,
        traffic.kind.name,
    );
    let rounded = |decimals: usize, value: Option<f64>| value.map(|value| format!("{value:.decimals$}"));
    document.tabulate(&caption, Level::Quiet, 1, &|table| {
        // The table must not be wider than a terminal.
        table.texts(match tells {
            true => &["offered", "delivered", "% peak", "ns", "95% CI", "x idle", "GHz", "uncore", "lines"],
            false => &["offered", "delivered", "% peak", "ns", "95% CI", "x idle", "GHz", "lines"],
        });
        for step in loading.levels() {
            let level = step.level;
            table.row();
            match level.offered {
                Some(0.0) => table.text("idle"),
                Some(offered) => table.show(&Gigabytes(offered)),
                None => table.text("max"),
            }
            table.show(&Gigabytes(level.delivered.value));
            // Of a peak of zero there are no shares: other work held the generators' CPUs.
            let peak = limit.map(|limit| limit.rate.value).filter(|peak| *peak > 0.0);
            table.known(peak.map(|peak| percent(level.delivered.value / peak)));
            table.show(&nanoseconds(level.latency.value));
            table.known(
                level
                    .latency
                    .interval
                    .map(|Interval { low, high }| format!("{} to {}", nanoseconds(low), nanoseconds(high))),
            );
            table.known(rounded(2, idle.map(|idle| level.latency.value / idle)));
            table.known(rounded(2, step.measured.series.core_gigahertz.map(|clock| clock.median)));
            if tells {
                table.known(rounded(2, loading.uncore_gigahertz(step)));
            }
            table.known(rounded(1, loading.in_flight(step)));
        }
    });
    if let Some(limit) = limit {
        knee(document, loading, limit);
        most(document, loading, limit);
    }
    pacing(document, report, loading);
    check(document, loading);
    fewer(document, loading);
}

/// Writes the bandwidths at which latency reaches multiples of the lowest one.
fn knee(document: &mut Shown, loading: &Loading<'_, '_>, limit: &BandwidthLimit) {
    if limit.is_of_generators() {
        return document
            .say(Role::Method("Knee"), "not determined (limited by the generators, not by memory)");
    }
    if loading.curve.is_none() {
        return;
    }
    let lowest = loading.slow_idle().map(|(lowest, _)| lowest);
    let knees = KNEES.map(|ratio| match loading.knee(ratio) {
        Some(knee) => format!("{} at {}", multiple(ratio, lowest), Within(knee)),
        None => format!("{} not reached", multiple(ratio, lowest)),
    });
    document.sentence(Role::Method("Knee"), format_args!("{}", joined("", "; ", knees.iter())));
}

/// Writes the bandwidth without pacing, and whether memory or the cores limit it.
fn most(document: &mut Shown, loading: &Loading<'_, '_>, limit: &BandwidthLimit) {
    let shares = shares(loading.traffic.kind);
    let part = |share: f64, word: &'static str| {
        let rate = limit.rate.value * share;
        optional(Some(rate).filter(|_| share > 0.0 && share < 1.0), move |rate, out| {
            write!(out, "; {} {word}", Gigabytes(rate))
        })
    };
    document.sentence(
        Role::Method("Peak"),
        format_args!(
            "{} with {} unthrottled core{}{}{}{}{}{}",
            Within(limit.rate),
            limit.generators,
            plural(limit.generators),
            match limit.verdict {
                Verdict::LimitReached => " (saturated)",
                Verdict::OverSaturated => "",
                Verdict::OneGenerator => " (single-core limit)",
                Verdict::GeneratorsExhausted => " (not saturated)",
                Verdict::NotShown => " (saturation not shown)",
            },
            optional(limit.others(), |(count, other), out| {
                let reach = match (limit.verdict, count) {
                    (Verdict::OverSaturated, _) => "reach only",
                    (_, 1) => "reaches",
                    _ => "reach",
                };
                let share = percent(other.value / limit.rate.value);
                write!(out, "; {count} core{} {reach} {share} of it", plural(count))
            }),
            part(shares.read, "read"),
            part(shares.written, "written"),
            part(shares.owned, "more with possible reads for ownership"),
        ),
    );
}

/// Writes how generators were paced, and up to which rate they kept the pace.
fn pacing(document: &mut Shown, report: &Report<'_, '_>, loading: &Loading<'_, '_>) {
    /// The relative difference up to which a delivered rate counts as the offered one.
    const SAME: f64 = 0.01;
    let paced = loading.steps.iter();
    let paced: Vec<(&Step<'_, '_>, f64)> =
        vector(paced.filter_map(|step| Some((step, step.level.offered.filter(|rate| *rate > 0.0)?))));
    let Some((first, offered)) = paced.first() else { return };
    let off = |step: &Step<'_, '_>, offered: f64| (step.level.delivered.value / offered - 1.0).abs();
    let kept = || paced.iter().take_while(|(step, offered)| off(step, *offered) <= SAME);
    let most = kept().map(|(step, offered)| off(step, *offered)).fold(0.0, f64::max);
    let (mut lines_in_bursts, mut last) = (String::new(), None);
    for (step, offered) in &paced {
        let Some(lines) = burst(report, loading, step) else { continue };
        lines_in_bursts += &match last.replace(lines) {
            None => format!(", {lines} line{} at a time", plural(lines)),
            Some(before) if before != lines => format!(", {lines} from {} GB/s", Gigabytes(*offered)),
            Some(_) => continue,
        };
    }
    document.sentence(
        Role::Method("Pacing"),
        format_args!(
            "{} gaps{lines_in_bursts}; {}",
            if report.options.pacing == Pacing::Even { "even" } else { "exponential" },
            match kept().last() {
                Some((_, to)) => format!(
                    "delivered = offered within {} up to {} GB/s",
                    at_most_percent(most),
                    Gigabytes(*to)
                ),
                None => format!(
                    "delivered and offered differ by {} at {} GB/s",
                    at_most_percent(off(first, *offered)),
                    Gigabytes(*offered)
                ),
            }
        ),
    );
}

/// Writes a multiple of the lowest latency of a curve: `2x idle`, or a multiple of nanoseconds if idle memory is
/// slower than that latency.
pub fn multiple(ratio: f64, slow: Option<f64>) -> impl Display {
    fmt::from_fn(move |out| match slow {
        Some(lowest) => write!(out, "{}x {} ns", Trimmed(ratio), Digits(lowest)),
        None => write!(out, "{}x idle", Trimmed(ratio)),
    })
}

/// Writes nanoseconds with enough decimals to distinguish levels.
fn nanoseconds(value: f64) -> impl Display {
    let decimals = usize::from(value < 1000.0);
    fmt::from_fn(move |out| write!(out, "{value:.decimals$}"))
}

/// Writes a share in percent, rounded up to one decimal, so that it stays an upper bound.
fn at_most_percent(share: f64) -> impl Display {
    let exact = share * 100.0 * 10.0;
    let tenths = math::whole(exact).saturating_add(u64::from((math::whole(exact) as f64) < exact));
    fmt::from_fn(move |out| write!(out, "{}.{}%", tenths / 10, tenths % 10))
}

/// Writes the checks that confirm the numbers of a curve.
fn check(document: &mut Shown, loading: &Loading<'_, '_>) {
    let (mut disturbed, mut throttled, mut windows) = (0, 0, 0);
    for Step { measured, .. } in &loading.steps {
        disturbed += measured.series.disturbed;
        throttled += measured.series.throttled;
        windows += measured.series.batches;
    }
    let most = loading.steps.iter().filter_map(|step| loading.in_flight(step)).reduce(f64::max);
    if windows > 0 {
        document.sentence(
            Role::Method("Check"),
            format_args!(
                "{}{disturbed} of {windows} windows interrupted{}",
                optional(most, |most, out| write!(
                    out,
                    "at most {} lines in flight per core; ",
                    Digits(most)
                )),
                optional(Some(throttled).filter(|count| *count > 0), |count, out| write!(
                    out,
                    ", {count} throttled"
                ))
            ),
        );
    }
}

/// Writes the rates of fewer generators without pacing.
fn fewer(document: &mut Shown, loading: &Loading<'_, '_>) {
    for step in loading.steps.iter().filter(|step| !loading.is_level(step)) {
        document.sentence(
            Role::Detail("Fewer cores"),
            format_args!(
                "{cores} unthrottled: {rate} GB/s, latency {latency} ns",
                cores = step.generators,
                rate = Gigabytes(step.level.delivered.value),
                latency = Digits(step.level.latency.value)
            ),
        );
    }
}
