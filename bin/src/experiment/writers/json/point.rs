//! One measured point: what was to be measured, what was, and how it is known where the memory lay.

use core::fmt::{self, Write};

use latency_core::chain::Order;
use latency_core::stats::Summary;

use super::value::{interval, optional, Json, DECIMALS};
use crate::experiment::writers::counters;
use crate::options::Choice;
use crate::result::evidence::Evidence;
use crate::result::{Measurement, Outcome, Placed, Point, Timer};

/// Writes the members of a point.
pub(in crate::experiment::writers) fn members(
    json: &mut Json<'_>,
    clock: &Timer,
    outcome: &Outcome<'_>,
) -> fmt::Result {
    let point = &outcome.point;
    json.key("from")?.u64(point.initiator.0.into())?;
    json.key("to")?.u64(point.target.0.into())?;
    let nanoseconds = outcome.result.as_ref().ok().map(|measured| measured.series.nanoseconds.median);
    json.key("cycles")?;
    optional(json, nanoseconds.and_then(|nanoseconds| clock.ticks(nanoseconds)), DECIMALS)?;
    json.key("ns")?;
    optional(json, nanoseconds, DECIMALS)?;
    conditions(json, point)?;
    match &outcome.result {
        Ok(measured) => findings(json, point, measured),
        Err(exclusion) => json.key("not_measured")?.display(exclusion),
    }
}

fn conditions(json: &mut Json<'_>, point: &Point) -> fmt::Result {
    json.key("cpu")?.u64(point.cpu.0.into())?;
    json.key("working_set_bytes")?.u64(point.size.0)?;
    json.key("stride_bytes")?.u64(point.stride.0)?;
    json.key("order")?.string(match point.order {
        Order::Random => "random",
        Order::Local(region) if region.0 == 2 << 20 => "2m-local",
        Order::Local(_) => "page-local",
        Order::Sequential => "sequential",
        Order::Backward => "backward",
    })?;
    json.key("kernel")?.string(point.kernel.name)?;
    json.key("pages_asked")?.string(point.pages.word())
}

fn findings(json: &mut Json<'_>, point: &Point, measured: &Measurement) -> fmt::Result {
    let Measurement { series, .. } = measured;
    json.key("pages_obtained")?.string(measured.placed.pages.word())?;
    json.key("pages_verified")?.bool(measured.placed.pages_are_verified())?;
    placement(json, point, &measured.placed)?;
    json.key("chain")?.begin_object()?;
    json.key("nodes")?.u64(measured.nodes)?;
    json.key("fingerprint")?.display(format_args!("{:016x}", measured.fingerprint))?;
    json.end_object()?;
    json.key("trials")?.u64(series.batches)?;
    json.key("rounds")?.u64(measured.rounds as u64)?;
    json.key("hops_per_trial")?.u64(measured.hops)?;
    json.key("disturbed_trials")?.u64(series.disturbed)?;
    json.key("precise")?.bool(measured.precise)?;
    json.key("min_ns")?.decimal(series.minimum_ns, DECIMALS)?;
    summary(json, "", "ns", &series.nanoseconds)?;
    json.key("core_cycles")?;
    optional(json, series.core_cycles.map(|cycles| cycles.median), DECIMALS)?;
    if let Some(cycles) = &series.core_cycles {
        summary(json, "core_cycles_", "", cycles)?;
    }
    json.key("core_ghz")?;
    optional(json, series.core_gigahertz.map(|clock| clock.median), DECIMALS)?;
    json.key("repeat_ratio")?;
    optional(json, series.repeat_ratio, 4)?;
    counters::json(json, series)?;
    json.key("warm_up")?.begin_object()?;
    json.key("hops")?.u64(measured.warm_up.hops)?;
    json.key("cold_ns")?;
    optional(json, measured.warm_up.cold_ns, DECIMALS)?;
    json.end_object()
}

/// Median absolute deviation and interval, with the unit in the key.
fn summary(json: &mut Json<'_>, before: &str, unit: &str, summary: &Summary) -> fmt::Result {
    let key = |name: &str| {
        let mut key = latency_core::text::Text::<48>::EMPTY;
        let separator = if unit.is_empty() { "" } else { "_" };
        // All keys are shorter than the text.
        let _ = write!(key, "{before}{name}{separator}{unit}");
        key
    };
    json.key(key("mad").as_str())?.decimal(summary.mad, DECIMALS)?;
    json.key(key("ci95").as_str())?;
    interval(json, summary.interval)
}

fn placement(json: &mut Json<'_>, point: &Point, placed: &Placed) -> fmt::Result {
    json.key("placement")?.begin_object()?;
    json.key("verified")?.bool(placed.is_verified(point.target))?;
    json.key("means")?.string(placed.means.name())?;
    json.key("mapped_bytes")?.u64(placed.mapped.0)?;
    json.key("before")?;
    evidence(json, &placed.before)?;
    json.key("after")?;
    evidence(json, &placed.after)?;
    json.end_object()
}

fn evidence(json: &mut Json<'_>, evidence: &Evidence) -> fmt::Result {
    json.begin_object()?;
    json.key("source")?.string(evidence.source())?;
    json.key("nodes")?.begin_array()?;
    for (node, pages) in evidence.counts().map_or(&[][..], |counts| counts.nodes()) {
        json.begin_object()?;
        json.key("node")?.u64(node.0.into())?;
        json.key("pages")?.u64(*pages)?;
        json.end_object()?;
    }
    json.end_array()?;
    json.key("page_bytes")?;
    match evidence.kernel_page {
        Some(page) => json.u64(page.0)?,
        None => json.null()?,
    }
    json.key("transparent_huge_bytes")?;
    match evidence.transparent_huge {
        Some(huge) => json.u64(huge.0)?,
        None => json.null()?,
    }
    json.end_object()
}
