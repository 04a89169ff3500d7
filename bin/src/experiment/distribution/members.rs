//! Single loads for programs: the members of a point, its columns, and the conclusions.

use crate::analysis::distribution::{agrees, left_out};
use crate::describe::columns::{self, RowOrigin};
use crate::describe::point;
use crate::record::members::{MEDIAN, TAIL};
use latency_core::{Estimate, ToReal};
use latency_engine::result::distribution::PERCENTAGES;
use latency_engine::result::{Distribution, Outcome, Percentile};
use latency_report::document::{field, fields, members};
use latency_report::{Field, Part, Shown};

fields! {
    pub DISTRIBUTIONS "distributions" "Distribution of single loads at each point.";
    MEAN "load_mean_ns" "Mean of all loads that were not interrupted, in nanoseconds.";
    ON_STEP "percentiles_on_step" "Percentiles between two clusters of loads; the value of the slower cluster is given.";
    MAXIMUM "load_max_ns" "Slowest load that was not interrupted, in nanoseconds.";
    TIMER "timer" "Cost of an empty window, which is subtracted.";
    INTERRUPTIONS "interruptions" "Windows that the system interrupted; no percentile includes them.";
    BY_MARK "by_mark" "Windows during which the kernel was entered; no bucket includes them.";
    BY_TIME "by_time" "Windows above `from_ns` during which the kernel was not entered.";
    COUNT "windows" "Number of windows.";
    LONGEST_NS "longest_ns" "Longest of these windows, in nanoseconds.";
    REFRESH "refresh" "Search for a period of slow loads, such as the DRAM refresh interval.";
    BUCKETS "buckets" "Histogram: low ns, high ns, count.";
}

/// A bucket, as numbers without keys.
static BUCKET: Field = field!("bucket", "Both ends in nanoseconds, and the count.");

members! {
    /// Describes the conclusions from a point; null without one.
    pub fn summary(found: Option<&Distribution>);
    MEDIAN: found.map(|found| quantile(found, 50.0));
    "p99_ns" interval: found.map(|found| quantile(found, 99.0)) => "99th percentile of the latency of single loads, in nanoseconds.";
    TAIL: found.map(|found| quantile(found, 99.9));
    MAXIMUM: found.and_then(Distribution::maximum_ns);
    MEAN: found.map(Distribution::mean_ns);
    "batches_agree": found.map(agrees) => "True if the means of single loads and of batches agree within 3%; null with too few rounds.";
    columns::REFRESH: found.and_then(refresh_us);
    "interrupted_share": found.map(|found| left_out(found).real() / found.total().real()) => "Share of windows that were interrupted and left out (0 to 1).";
}

members! {
    /// Describes the single loads of the point with this index, including the buckets of the histogram.
    pub fn distribution(index: usize, found: &Distribution);
    point::ROW: index;
    "windows": found.total() => "Number of timed windows, including interrupted ones.";
    "loads_per_window": found.each => "Number of loads per window: 1, or more if the counter is too coarse for one.";
    MEAN: found.mean_ns();
    ..on_step(found);
    MAXIMUM: found.maximum_ns();
    "round_mean_ns": found.round_ns => "Median over rounds of the mean of single loads, in nanoseconds, as in `matrix`.";
    "batch_mean_ns": found.batch_ns => "Mean of batches that alternate with the single loads, in nanoseconds.";
    ..objects(found);
}

members! {
    fn timer(found: &Distribution);
    "mean_ns": found.time(found.overhead) => "Mean cost of an empty window, in nanoseconds.";
    "mean_ticks": found.overhead => "Mean cost of an empty window, in ticks.";
    "p1_ticks": found.empty_ticks(1.0).unwrap_or(0) => "1st percentile of the cost of an empty window, in ticks.";
    "p50_ticks": found.empty_ticks(50.0).unwrap_or(0) => "Median cost of an empty window, in ticks.";
    "p99_ticks": found.empty_ticks(99.0).unwrap_or(0) => "99th percentile of the cost of an empty window, in ticks.";
    "step_ticks": found.step => "Resolution of the counter, in ticks.";
}

members! {
    fn by_mark(found: &Distribution);
    COUNT: found.interruptions.marked;
    "mean_ns": found.time(found.interruptions.marked_mean) => "Mean time of these windows, in nanoseconds.";
    LONGEST_NS: found.time(found.interruptions.marked_longest.real());
}

members! {
    fn by_time(found: &Distribution);
    COUNT: found.interrupted();
    "expected": found.interruptions.expected => "Expected number of interrupted windows, by the gaps in a loop without loads.";
    "from_ns": found.interrupted_from.map(|ticks| found.nanoseconds(ticks.real())) => "Shortest time of a window that counts as interrupted, in nanoseconds; null if none does.";
    LONGEST_NS: found.interrupted_from.and(found.longest_ns());
}

members! {
    fn interruptions(found: &Distribution);
    COUNT: left_out(found);
    "context_switches": found.interruptions.switches => "Number of involuntary context switches during the loads.";
    "watched_ns": found.time(found.interruptions.watched.real()) => "Duration of the loop without loads, in nanoseconds.";
    "watched_interrupts": found.interruptions.watched_interrupts => "Number of kernel entries during the loop without loads.";
    "gaps": found.interruptions.gaps => "Number of gaps in the loop without loads that have no kernel entry.";
    "gap_least_ns": found.time(found.interruptions.least_gap.real()) => "Shortest gap that counts, in nanoseconds.";
    "gap_longest_ns": found.time(found.interruptions.longest_gap.real()) => "Longest gap, in nanoseconds.";
}

members! {
    fn refresh(found: &Distribution);
    "slow_from_ns": found.nanoseconds(found.slow_from.real()) => "Smallest time of a slow load, in nanoseconds.";
    "significance": found.period.map(|period| period.significance) => "Significance of the period, in standard deviations; null if none was searched.";
    columns::REFRESH: refresh_us(found);
    "known_as": found.refresh().and_then(|(_, name)| name) => "Name of the DRAM refresh interval with this period; null if none matches.";
}

/// Describes the percentiles of a point, each as a row.
pub fn percentiles(document: &mut Shown, origin: RowOrigin<'_>, outcome: &Outcome, found: &Distribution) {
    for percent in PERCENTAGES {
        origin.row(document, &mut |document| {
            point::planned(document, &outcome.point);
            document.put(&columns::PERCENTILE, percent);
            document.put(&columns::NS, quantile(found, percent));
            document.put(&columns::NOT_MEASURED, "");
            document.put(&columns::TRIALS, found.total());
            document.put(&columns::LOADS, found.each);
            document.put(&columns::INTERRUPTED, left_out(found));
            if let Ok(measured) = &outcome.result {
                point::proof(document, &outcome.point, &measured.placed);
            }
        });
    }
}

/// Returns the period of slow loads in microseconds.
pub fn refresh_us(found: &Distribution) -> Option<f64> {
    found.refresh().map(|(microseconds, _)| microseconds)
}

/// Returns a percentile with its interval.
fn quantile(found: &Distribution, percent: f64) -> Option<Estimate> {
    let Percentile { value, interval, .. } = found.quantile_ns(percent)?;
    Some(Estimate { value, interval })
}

fn on_step(document: &mut Shown, found: &Distribution) {
    let is_on_step = |percent: &f64| found.quantile_ns(*percent).is_some_and(|found| found.step.is_some());
    document.values(&ON_STEP, PERCENTAGES.into_iter().filter(is_on_step));
}

/// Describes timer, interruptions and refresh, and the buckets of load times without the timer's overhead; loads
/// interrupted without a mark are the last buckets.
fn objects(document: &mut Shown, found: &Distribution) {
    document.part(Part::Object(&TIMER), |document| timer(document, found));
    document.part(Part::Object(&INTERRUPTIONS), |document| {
        document.part(Part::Object(&BY_MARK), |document| by_mark(document, found));
        document.part(Part::Object(&BY_TIME), |document| by_time(document, found));
        interruptions(document, found);
    });
    document.part(Part::Object(&REFRESH), |document| refresh(document, found));
    document.part(Part::List(&BUCKETS), |document| {
        for bucket in found.windows.buckets() {
            document.part(Part::List(&BUCKET), |document| {
                document.put(&BUCKET, found.nanoseconds(bucket.low.real()));
                document.put(&BUCKET, found.nanoseconds(bucket.high.real() + 1.0));
                document.put(&BUCKET, bucket.count);
            });
        }
    });
}
