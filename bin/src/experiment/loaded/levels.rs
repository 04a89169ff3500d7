//! The levels of curves of latency under load: for programs an object for each curve and a record for each level, for people
//! a row for each level, and the conclusions.

use alloc::string::String;
use alloc::vec::Vec;

use latency_core::traffic::pace::Pacing;
use latency_core::{Bytes, Estimate, Interval, Trimmed, Worded, math, plural};

use super::super::bandwidth::view::{kind_members, rate_members};
use crate::analysis::load::{KNEES, LoadLevel, Queue, Verdict};
use crate::analysis::loaded::{BandwidthLimit, Loading, Step};
use crate::analysis::traffic::shares;
use crate::describe::columns::{self, RowOrigin};
use crate::describe::rates::{Gigabytes, Within, percent};
use crate::describe::{Report, method::optional, point};
use crate::plan::generators;
use crate::record::members::{CURVES, IDLE, PEAK_BANDWIDTH};
use latency_engine::result::{PlacedField, Traffic};
use latency_report::chart::vector;
use latency_report::document::{fields, members};
use latency_report::lists::joined;
use latency_report::{Digits, Level, Part, Role, Shown};

fields! {
    PACING "pacing" "Distribution of the gaps between bursts.";
    PLACEMENT "placement" "Placement of the traffic's memory; null if nothing was measured.";
    VERDICT "verdict" "Cause of the bandwidth limit.";
    LOWEST "lowest_ns" "Lowest latency of a curve that never falls, in nanoseconds: the idle latency, unless a loaded one is lower.";
    KNEES_OF "knee" "Bandwidths at which latency reaches a multiple of the lowest one.";
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
    VERDICT: limit.verdict.word();
}

members! {
    fn knee_at(ratio: f64, bandwidth: Estimate);
    "ratio": ratio => "Multiple of the lowest latency.";
    columns::BYTES: bandwidth;
}

members! {
    fn fit(queue: Queue);
    "ns": queue.ns => "Factor of the fit in nanoseconds: half of the service time of one server with random arrivals.";
    "residual": queue.residual => "Largest relative difference between a level and the fit.";
}

members! {
    fn first_curve(loading: &Loading<'_>, idle: Option<Estimate>, peak: Option<LoadLevel>);
    columns::INITIATOR_NODE: loading.point.initiator.0;
    columns::TARGET_NODE: loading.point.target.0;
    columns::TRAFFIC: loading.traffic.kind.name;
    IDLE: idle;
    "knee_bytes_per_second" interval: loading.knee(2.0) => "Bandwidth at which latency is twice the lowest one; null if unknown.";
    "peak_bytes_per_second" interval: peak.map(|level| level.delivered) => "Largest delivered bandwidth at any load level, in bytes per second.";
    "peak_ns": peak.map(|level| level.latency.value) => "Latency at the largest bandwidth, in nanoseconds.";
    VERDICT: loading.limit.map(|limit| limit.verdict.word());
}

/// Describes the conclusions from the first curve, if its first level was begun.
pub fn summary(document: &mut Shown, loadings: &[Loading<'_>]) {
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
pub fn rows(document: &mut Shown, report: &Report<'_>, loadings: &[Loading<'_>]) {
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
            kind_members(document, traffic, traffic.generators);
            point::value(document, outcome);
        });
    }
}

/// Describes all curves.
pub fn data(document: &mut Shown, report: &Report<'_>, loadings: &[Loading<'_>]) {
    document.items(Part::List(&CURVES), loadings, |document, loading| curve(document, report, loading));
    let measured = loadings.iter().flat_map(|loading| loading.steps.iter().map(|step| step.outcome));
    point::evidence_of(document, &vector(measured));
}

fn curve(document: &mut Shown, report: &Report<'_>, loading: &Loading<'_>) {
    let Loading { traffic, limit, curve, .. } = loading;
    point::route(document, &loading.point);
    document.put(&columns::LOAD_NODE, traffic.node.0);
    kind_members(document, traffic, traffic.generators);
    document
        .show(&columns::CPUS, &generators::others(report.options, report.machine, &loading.point, traffic));
    document.put(&PACING, report.options.pacing.word());
    document.object(&PLACEMENT, loading.field(), placement);
    document.object(&PEAK_BANDWIDTH, *limit, peak_bandwidth);
    document.put(&LOWEST, curve.as_ref().map(|curve| curve.lowest.value));
    let knees = KNEES.into_iter().filter_map(|ratio| Some((ratio, loading.knee(ratio)?)));
    document.items(Part::List(&KNEES_OF), knees, |document, (ratio, found)| knee_at(document, ratio, found));
    let queue = curve.as_ref().zip(*limit).and_then(|(curve, limit)| curve.queue(limit.rate.value));
    document.object(&FIT, queue, fit);
}

/// Returns the number of lines in a burst of each generator; `None` without pacing.
fn burst(report: &Report<'_>, loading: &Loading<'_>, step: &Step<'_>) -> Option<u32> {
    let rate = step.level.offered.filter(|rate| *rate > 0.0)?;
    let with = Traffic { generators: step.generators, ..loading.traffic };
    Some(with.bursts(report.clock.counter()?, rate, report.options.burst.map(u32::from)).1)
}

fn level_row(document: &mut Shown, report: &Report<'_>, loading: &Loading<'_>, step: &Step<'_>) {
    let Step { outcome, measured, level, .. } = step;
    let (traffic, point) = (&loading.traffic, &outcome.point);
    let idle = loading.curve.as_ref().map(|curve| curve.idle.value);
    point::planned(document, point);
    document.put(&columns::LOAD_NODE, traffic.node.0);
    kind_members(document, traffic, step.generators);
    document.put(&columns::OFFERED, level.offered);
    rate_members(document, traffic.kind, Some(level.delivered));
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

/// Describes a curve.
pub fn table(document: &mut Shown, report: &Report<'_>, loading: &Loading<'_>) {
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
            };
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
fn knee(document: &mut Shown, loading: &Loading<'_>, limit: &BandwidthLimit) {
    if limit.is_of_generators() {
        return document
            .say(Role::Provenance("Knee"), "not determined (limited by the generators, not by memory)");
    }
    if loading.curve.is_none() {
        return;
    }
    let lowest = loading.slow_idle().map(|(lowest, _)| lowest);
    let knees = KNEES.map(|ratio| match loading.knee(ratio) {
        Some(knee) => format!("{} at {}", multiple(ratio, lowest), Within(knee)),
        None => format!("{} not reached", multiple(ratio, lowest)),
    });
    document.sentence(Role::Provenance("Knee"), format_args!("{}", joined("", "; ", knees.iter())));
}

/// Writes the bandwidth without pacing, and whether memory or the cores limit it.
fn most(document: &mut Shown, loading: &Loading<'_>, limit: &BandwidthLimit) {
    let shares = shares(loading.traffic.kind);
    let part = |share: f64, word: &'static str| {
        let rate = limit.rate.value * share;
        optional(Some(rate).filter(|_| share > 0.0 && share < 1.0), move |rate, out| {
            write!(out, "; {} {word}", Gigabytes(rate))
        })
    };
    document.under(Role::Provenance("Peak")).write(format_args!(
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
    ));
}

/// Writes how generators were paced, and up to which rate they kept the pace.
fn pacing(document: &mut Shown, report: &Report<'_>, loading: &Loading<'_>) {
    /// The relative difference up to which a delivered rate counts as the offered one.
    const SAME: f64 = 0.01;
    let paced = loading.steps.iter();
    let paced: Vec<(&Step<'_>, f64)> =
        vector(paced.filter_map(|step| Some((step, step.level.offered.filter(|rate| *rate > 0.0)?))));
    let Some((first, offered)) = paced.first() else { return };
    let off = |step: &Step<'_>, offered: f64| (step.level.delivered.value / offered - 1.0).abs();
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
    document.under(Role::Provenance("Pacing")).write(format_args!(
        "{} gaps{lines_in_bursts}; {}",
        if report.options.pacing == Pacing::Even { "even" } else { "exponential" },
        match kept().last() {
            Some((_, to)) =>
                format!("delivered = offered within {} up to {} GB/s", at_most_percent(most), Gigabytes(*to)),
            None => format!(
                "delivered and offered differ by {} at {} GB/s",
                at_most_percent(off(first, *offered)),
                Gigabytes(*offered)
            ),
        }
    ));
}

/// Returns the words of a multiple of the lowest latency of a curve: `2x idle`, or a multiple of nanoseconds if idle
/// memory is slower than that latency.
pub fn multiple(ratio: f64, slow: Option<f64>) -> String {
    match slow {
        Some(lowest) => format!("{}x {} ns", Trimmed(ratio), Digits(lowest)),
        None => format!("{}x idle", Trimmed(ratio)),
    }
}

/// Returns nanoseconds as text, with enough decimals to distinguish levels.
fn nanoseconds(value: f64) -> String {
    format!("{value:.*}", usize::from(value < 1000.0))
}

/// Returns a share in percent as text, rounded up to one decimal, so that it stays an upper bound.
fn at_most_percent(share: f64) -> String {
    let exact = share * 100.0 * 10.0;
    let tenths = math::whole(exact).saturating_add(u64::from((math::whole(exact) as f64) < exact));
    format!("{}.{}%", tenths / 10, tenths % 10)
}

/// Writes the checks that confirm the numbers of a curve.
fn check(document: &mut Shown, loading: &Loading<'_>) {
    let (mut disturbed, mut throttled, mut windows) = (0, 0, 0);
    for Step { measured, .. } in &loading.steps {
        disturbed += measured.series.disturbed;
        throttled += measured.series.throttled;
        windows += measured.series.batches;
    }
    let most = loading.steps.iter().filter_map(|step| loading.in_flight(step)).reduce(f64::max);
    if windows > 0 {
        document.under(Role::Provenance("Check")).write(format_args!(
            "{}{disturbed} of {windows} windows interrupted{}",
            optional(most, |most, out| write!(out, "at most {} lines in flight per core; ", Digits(most))),
            optional(Some(throttled).filter(|count| *count > 0), |count, out| write!(
                out,
                ", {count} throttled"
            ))
        ));
    }
}

/// Writes the rates of fewer generators without pacing.
fn fewer(document: &mut Shown, loading: &Loading<'_>) {
    for step in loading.steps.iter().filter(|step| !loading.is_level(step)) {
        document.under(Role::Detail("Fewer cores")).write(format_args!(
            "{cores} unthrottled: {rate} GB/s, latency {latency} ns",
            cores = step.generators,
            rate = Gigabytes(step.level.delivered.value),
            latency = Digits(step.level.latency.value)
        ));
    }
}
