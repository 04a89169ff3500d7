//! The same nodes in random, sequential and backward order: the cost of the order of a walk.

use alloc::string::String;

use latency_core::chain::Order;

use super::Experiment;
use crate::analysis::orders::{self, OrdersConclusion};
use crate::describe::{self, Report, ReportParts, columns, method, point};
use crate::options::{Descriptor, FlagId, FlagSet};
use crate::plan::{PlannedPoints, Planning, budget, sizes};
use crate::record::members::{BACKWARD, RANDOM, SEQUENTIAL};
use latency_core::{Bytes, Estimate, Side};
use latency_engine::budget::{Budget, FEWEST_ROUNDS, PLACES, Pass};
use latency_engine::memory::chains::Alongside;
use latency_engine::result::{Outcome, Point, Strided};
use latency_engine::run;
use latency_engine::stopwatch::Loads;
use latency_report::chart::vector;
use latency_report::document::{fields, members};
use latency_report::{Digits, Level, Role, Shown};

/// Default working set: far larger than most caches, and written within a tenth of a second.
const SIZE: Bytes = Bytes(256 << 20);
/// Number of warm hops of each order, over all visits.
const HOPS: u64 = 20_000_000;
/// The orders, in the order of the results.
const ORDERS: [Order; 3] = [Order::Random, Order::Sequential, Order::Backward];

/// Random against sequential.
pub const ORDER: Experiment = Experiment {
    descriptor: Descriptor {
        name: "order",
        summary: "random, forward and backward pointer chasing, and a scan",
        details: "256 MiB of 64-byte lines in each order: a cold pass just after the chain was written, \
                  then warm passes. The scan loads the same lines in address order, independently. The \
                  ratios compare a linked structure with an array.",
        flags: FlagSet::MEASURING.union(FlagSet::WORKING_SET).with(FlagId::Stride),
        ..Descriptor::OF_VALUES
    },
    plan,
    budget: |options, machine, points| Budget {
        pass: Pass::Lap,
        rounds: FEWEST_ROUNDS,
        most: FEWEST_ROUNDS,
        hops: HOPS,
        long_visit_ns: f64::INFINITY,
        ..budget::of_options(options, machine).rewritten(
            // If a cache serves a part of the working set, the placement of its pages determines the latency.
            if points.iter().all(|point| machine.reaches_memory(point.size)) { 1 } else { PLACES },
        )
    },
    measure: |_, session, points, budget| {
        let mut loads = Loads::default();
        let mut alongside = Alongside { loads: Some(&mut loads), ..Alongside::default() };
        let mut findings = run::measure_with(session, points, budget, &mut alongside, &mut run::all_rounds)?;
        let mut outcomes = findings.outcomes.iter();
        let clock = outcomes.find_map(|outcome| outcome.result.as_ref().ok()?.series.core_gigahertz);
        findings.extra.strided = loads.conclude(clock.map(|clock| clock.median));
        Ok(findings)
    },
    conclude: |_, _| None,
    present,
};

fn plan(planning: &mut Planning<'_>) -> PlannedPoints {
    let Planning { options, machine, .. } = *planning;
    let mut like = sizes::base_point(planning)?;
    // The working set becomes larger only if a cache was observed to serve it.
    if options.size.is_none() && machine.sizing.is_none_or(|sizing| sizing.size == sizing.first) {
        like.size = like.size.min(SIZE);
    }
    let points = vector(ORDERS.into_iter().map(|order| Point { order, ..like }));
    points.iter().try_for_each(|point| latency_engine::result::point::chain(point).map(drop))?;
    Ok(points)
}

fields! {
    STRIDED "strided_loads" "Time of independent loads of the same lines in address order; null without a time-stamp counter.";
}

members! {
    fn strided(found: Strided);
    "ns": found.nanoseconds => "Time per independent load in nanoseconds: the inverse of the throughput.";
    "core_cycles": found.core_cycles => "Time per independent load in core cycles.";
    "rounds": found.rounds => "Number of rounds; the time is their median.";
}

members! {
    fn summary(found: &OrdersConclusion);
    RANDOM: found.random;
    SEQUENTIAL: found.sequential;
    BACKWARD: found.backward;
    "independent_ns" interval: found.independent => "Time per independent load in address order, in nanoseconds.";
    "random_over_sequential" interval: found.over[0] => "Latency in random order divided by latency in address order.";
    "random_over_backward" interval: found.over[1] => "Latency in random order divided by latency in backward order.";
    "random_over_independent" interval: found.over[2] => "Latency in random order divided by the time per independent load.";
}

fn present(parts: &mut ReportParts, report: &Report<'_>) {
    let found = &orders::conclude(report.outcomes, report.extra.strided);
    summary(&mut parts.summary, found);
    point::rows_with(&mut parts.rows, report, &|document, _, outcome| {
        let is_scanned = outcome.point.order == Order::Sequential;
        document
            .put(&columns::INDEPENDENT_NS, found.independent.filter(|_| is_scanned).map(|found| found.value));
    });
    answer(&mut parts.answer, found);
    evidence(&mut parts.evidence, report, found);
    let data = &mut parts.data;
    point::table(data, report, (Level::Verbose, "order"), &|_, outcome| name(outcome.point.order).into());
    point::evidence(data, report);
    data.object(&STRIDED, report.extra.strided, strided);
}

/// Writes the cost of random order.
fn answer(document: &mut Shown, found: &OrdersConclusion) {
    let [walk, _, scan] = found.over;
    if walk.or(scan).is_some() {
        document.answer(format_args!(
            "Pointer chasing in random order is {}{}{}.",
            method::optional(walk, |walk, out| write!(out, "{} in address order", slower(walk))),
            if walk.is_some() && scan.is_some() { ", and " } else { "" },
            method::optional(scan, |scan, out| write!(out, "{} scanning an array", slower(scan))),
        ));
    }
}

fn evidence(document: &mut Shown, report: &Report<'_>, found: &OrdersConclusion) {
    let Some(Outcome { point, .. }) = report.outcomes.first() else { return };
    table(document, report, point.size, found);
    for Outcome { point, result } in report.outcomes {
        if let Err(exclusion) = result {
            describe::missing(document, Role::Missing, &name(point.order), exclusion);
        }
    }
    method::memory(document, report);
    document.under(Role::Provenance("Method")).write(format_args!(
        "each load waits for the one before, except in the scan; a line every {stride}, rewritten \
         before each cold pass; page walks included; seed {seed}",
        stride = point.stride,
        seed = point.seed
    ));
}

/// Returns a ratio of times in words, up to and including `than` or `as`.
fn slower(ratio: Estimate) -> String {
    /// The ratio up to which times count as the same.
    const ALIKE: f64 = 1.05;
    let perhaps = match ratio.side(ALIKE) {
        Side::Near => return "as fast as".into(),
        Side::Open => "perhaps ",
        Side::Above | Side::Below => "",
    };
    match ratio.value >= 1.0 {
        true => format!("{perhaps}{}x slower than", Digits(ratio.value)),
        false => format!("{perhaps}{}x faster than", Digits(1.0 / ratio.value)),
    }
}

/// Returns the name of an order for people.
const fn name(order: Order) -> &'static str {
    match order {
        Order::Random => "random",
        Order::Sequential => "address order",
        Order::Backward => "backward",
        Order::Local(_) => "local",
        Order::Grouped { .. } => "grouped",
    }
}

/// Shows the orders from the usually slowest to the usually fastest, then the scan.
fn table(document: &mut Shown, report: &Report<'_>, size: Bytes, found: &OrdersConclusion) {
    let [sequential, backward, independent] = found.over;
    let ratio = |ratio: Option<Estimate>| ratio.map(|ratio| format!("{}x", Digits(ratio.value)));
    let orders = [
        (Order::Random, Some("1x".into())),
        (Order::Backward, ratio(backward)),
        (Order::Sequential, ratio(sequential)),
    ];
    document.tabulate("", Level::Quiet, 1, &|table| {
        table.show(&size).texts(&["ns/load", "core cycles", "cold, ns/load", "speed vs random"]);
        for (order, ratio) in &orders {
            let outcome = report.outcomes.iter().find(|outcome| outcome.point.order == *order);
            table.row().show(&name(*order));
            let Some(measured) = outcome.and_then(|outcome| outcome.result.as_ref().ok()) else {
                table.texts(&["-", "-", "-", "-"]);
                continue;
            };
            table.number(measured.series.nanoseconds.median);
            table.number(measured.series.core_cycles.map(|cycles| cycles.median));
            table.number(measured.warm_up.cold_ns).known(ratio.as_ref());
        }
        if let Some(scan) = report.extra.strided {
            table
                .row()
                .text("scan (independent)")
                .number(scan.nanoseconds)
                .number(scan.core_cycles)
                .text("-");
            table.known(ratio(independent));
        }
    });
}
