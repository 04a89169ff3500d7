//! Single hops as a part of each point's JSON, the buckets of the histogram among it.

use core::fmt::{self, Write};

use latency_core::hops::Quantile;
use latency_core::json::{Layout, Writer};
use latency_core::stats::Interval;

use super::points;
use crate::experiment::writers::json::value::{interval, optional, Json, DECIMALS};
use crate::experiment::writers::json::{header, pair};
use crate::experiment::writers::Report;
use crate::result::distribution::{Distribution, PERCENTAGES};

/// The keys of [`PERCENTAGES`].
const KEYS: [&str; PERCENTAGES.len()] = ["p50", "p90", "p95", "p99", "p99_9", "p99_99"];

/// Writes the document.
///
/// # Errors
///
/// Those of `out`.
pub fn json(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    let mut json = Writer::new(out, Layout::Lines);
    json.begin_object()?;
    json.key("points")?.begin_array()?;
    for (outcome, found) in points(report) {
        json.begin_object()?;
        pair(&mut json, report.clock, outcome)?;
        if let Some(found) = found {
            json.key("distribution")?.begin_object()?;
            hops(&mut json, found)?;
            timer(&mut json, found)?;
            interruptions(&mut json, found)?;
            refresh(&mut json, found)?;
            buckets(&mut json, found)?;
            json.end_object()?;
        }
        json.end_object()?;
    }
    json.end_array()?;
    json.key("seed")?.u64(report.options.seed)?;
    header(&mut json, report)?;
    json.end_object()?;
    json.finish()?.write_char('\n')
}

fn hops(json: &mut Json<'_>, found: &Distribution) -> fmt::Result {
    json.key("windows")?.u64(found.total())?;
    json.key("hops_per_window")?.u64(found.each.into())?;
    json.key("hop_mean_ns")?;
    optional(json, Some(found.mean_ns()), DECIMALS)?;
    json.key("hop_percentiles_ns")?.begin_object()?;
    for (key, percent) in KEYS.into_iter().zip(PERCENTAGES) {
        json.key(key)?;
        optional(json, found.percentile_ns(percent), DECIMALS)?;
    }
    json.end_object()?;
    json.key("hop_percentile_intervals_ns")?.begin_object()?;
    for (key, percent) in KEYS.into_iter().zip(PERCENTAGES) {
        json.key(key)?;
        let quantile = found.quantile_ns(percent);
        interval(json, quantile.map(|Quantile { low, high, .. }| Interval { low, high }))?;
    }
    json.end_object()?;
    json.key("hop_percentiles_on_step")?.begin_array()?;
    for (key, percent) in KEYS.into_iter().zip(PERCENTAGES) {
        if found.quantile_ns(percent).is_some_and(|quantile| quantile.on_step) {
            json.string(key)?;
        }
    }
    json.end_array()?;
    json.key("hop_max_ns")?;
    optional(json, found.maximum_ns(), DECIMALS)?;
    json.key("round_mean_ns")?;
    optional(json, Some(found.round_ns), DECIMALS)?;
    json.key("batch_mean_ns")?;
    optional(json, Some(found.batch_ns), DECIMALS)?;
    json.key("batch_ratio")?;
    optional(json, found.ratio.map(|ratio| ratio.median), DECIMALS)?;
    json.key("batch_ratio_ci95")?;
    interval(json, found.ratio.and_then(|ratio| ratio.interval))
}

fn timer(json: &mut Json<'_>, found: &Distribution) -> fmt::Result {
    json.key("timer")?.begin_object()?;
    json.key("mean_ns")?.decimal(found.time(found.overhead), DECIMALS)?;
    json.key("mean_ticks")?.decimal(found.overhead, DECIMALS)?;
    for (key, percent) in [("p1_ticks", 1.0), ("p50_ticks", 50.0), ("p99_ticks", 99.0)] {
        json.key(key)?.u64(found.empty_ticks(percent).unwrap_or(0))?;
    }
    json.key("step_ticks")?.u64(found.step)?;
    json.end_object()
}

fn interruptions(json: &mut Json<'_>, found: &Distribution) -> fmt::Result {
    let seen = &found.interruptions;
    json.key("interruptions")?.begin_object()?;
    json.key("by_mark")?.begin_object()?;
    json.key("windows")?.u64(seen.marked)?;
    json.key("mean_ns")?.decimal(found.time(seen.marked_mean), DECIMALS)?;
    json.key("longest_ns")?.decimal(found.time(seen.marked_longest as f64), DECIMALS)?;
    json.end_object()?;
    json.key("by_time")?.begin_object()?;
    json.key("windows")?.u64(found.interrupted())?;
    json.key("expected")?.decimal(seen.expected, DECIMALS)?;
    json.key("from_ns")?;
    optional(json, found.interrupted_from.map(|ticks| found.nanoseconds(ticks as f64)), DECIMALS)?;
    json.key("longest_ns")?;
    optional(json, found.interrupted_from.and(found.longest_ns()), DECIMALS)?;
    json.end_object()?;
    json.key("context_switches")?.u64(seen.switches)?;
    json.key("watched_ns")?.decimal(found.time(seen.watched as f64), DECIMALS)?;
    json.key("watched_interrupts")?.u64(seen.watched_interrupts)?;
    json.key("gaps")?.u64(seen.gaps)?;
    json.key("gap_least_ns")?.decimal(found.time(seen.least_gap as f64), DECIMALS)?;
    json.key("gap_longest_ns")?.decimal(found.time(seen.longest_gap as f64), DECIMALS)?;
    json.end_object()
}

fn refresh(json: &mut Json<'_>, found: &Distribution) -> fmt::Result {
    json.key("refresh")?.begin_object()?;
    json.key("slow_from_ns")?.decimal(found.nanoseconds(found.slow_from as f64), DECIMALS)?;
    json.key("significance")?;
    optional(json, found.period.map(|period| period.significance), DECIMALS)?;
    json.key("period_us")?;
    optional(json, found.refresh().map(|(microseconds, _)| microseconds), DECIMALS)?;
    json.key("known_as")?;
    match found.refresh().and_then(|(_, name)| name) {
        Some(name) => json.string(name)?,
        None => json.null()?,
    }
    json.end_object()
}

/// `[low ns, high ns, count]`: a hop's time without the timer's own; those interrupted by time are the last of them.
fn buckets(json: &mut Json<'_>, found: &Distribution) -> fmt::Result {
    json.key("buckets")?.begin_array()?;
    for bucket in found.windows.buckets() {
        json.begin_array()?;
        json.decimal(found.nanoseconds(bucket.low as f64), DECIMALS)?;
        json.decimal(found.nanoseconds(bucket.high as f64 + 1.0), DECIMALS)?;
        json.u64(bucket.count)?;
        json.end_array()?;
    }
    json.end_array()
}
