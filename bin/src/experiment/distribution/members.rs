//! Single loads for programs: the members of a point, its columns, and the conclusions.

use crate::analysis::distribution::{agrees, left_out};
use crate::describe::columns::{self, RowOrigin};
use crate::describe::point;
use crate::report::document::{Field, Part, field, fields, members};
use crate::report::shown::Shown;
use crate::result::Outcome;
use crate::result::distribution::{Distribution, PERCENTAGES, Percentile};
use latency_core::math::ToReal;
use latency_core::stats::Estimate;

fields! {
    DISTRIBUTIONS "distributions" "Distribution of single loads at each point.";
    WINDOWS "windows" "Number of timed windows, including interrupted ones.";
    EACH "loads_per_window" "Number of loads per window: 1, or more if the counter is too coarse for one.";
    MEAN "load_mean_ns" "Mean of all loads that were not interrupted, in nanoseconds.";
    ON_STEP "percentiles_on_step" "Percentiles between two clusters of loads; the value of the slower cluster is given.";
    MAXIMUM "load_max_ns" "Slowest load that was not interrupted, in nanoseconds.";
    ROUND_MEAN "round_mean_ns" "Median over rounds of the mean of single loads, in nanoseconds, as in `matrix`.";
    BATCH_MEAN "batch_mean_ns" "Mean of batches that alternate with the single loads, in nanoseconds.";
    TIMER "timer" "Cost of an empty window, which is subtracted.";
    TIMER_MEAN "mean_ns" "Mean cost of an empty window, in nanoseconds.";
    TIMER_TICKS "mean_ticks" "Mean cost of an empty window, in ticks.";
    TIMER_P1 "p1_ticks" "1st percentile of the cost of an empty window, in ticks.";
    TIMER_P50 "p50_ticks" "Median cost of an empty window, in ticks.";
    TIMER_P99 "p99_ticks" "99th percentile of the cost of an empty window, in ticks.";
    STEP_TICKS "step_ticks" "Resolution of the counter, in ticks.";
    INTERRUPTIONS "interruptions" "Windows that the system interrupted; no percentile includes them.";
    BY_MARK "by_mark" "Windows during which the kernel was entered; no bucket includes them.";
    BY_TIME "by_time" "Windows above `from_ns` during which the kernel was not entered.";
    COUNT "windows" "Number of windows.";
    FROM "from_ns" "Shortest time of a window that counts as interrupted, in nanoseconds; null if none does.";
    MEAN_NS "mean_ns" "Mean time of these windows, in nanoseconds.";
    LONGEST_NS "longest_ns" "Longest of these windows, in nanoseconds.";
    EXPECTED "expected" "Expected number of interrupted windows, by the gaps in a loop without loads.";
    REFRESH "refresh" "Search for a period of slow loads, such as the DRAM refresh interval.";
    SLOW_FROM "slow_from_ns" "Smallest time of a slow load, in nanoseconds.";
    SIGNIFICANCE "significance" "Significance of the period, in standard deviations; null if none was searched.";
    KNOWN_AS "known_as" "Name of the DRAM refresh interval with this period; null if none matches.";
    BUCKETS "buckets" "Histogram: low ns, high ns, count.";
    P50 "p50_ns" interval "Median latency of single loads, in nanoseconds.";
    P99 "p99_ns" interval "99th percentile of the latency of single loads, in nanoseconds.";
    P99_9 "p99_9_ns" interval "99.9th percentile of the latency of single loads, in nanoseconds.";
    AGREES "batches_agree" "True if the means of single loads and of batches agree within 3%; null with too few rounds.";
    SHARE "interrupted_share" "Share of windows that were interrupted and left out (0 to 1).";
}

/// A bucket, as numbers without keys.
static BUCKET: Field = field!("bucket", "Both ends in nanoseconds, and the count.");

/// Describes the percentiles of a point, each as a row.
pub fn percentiles(document: &mut Shown, origin: RowOrigin<'_>, outcome: &Outcome<'_>, found: &Distribution) {
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

/// Describes the single loads of every point, including the buckets of the histograms.
pub fn distributions<'d>(document: &mut Shown, all: impl Iterator<Item = (usize, &'d Distribution)>) {
    document.items(Part::List(&DISTRIBUTIONS), all, |document, (index, found)| {
        document.put(&point::ROW, index);
        hops(document, found);
        timer(document, found);
        interruptions(document, found);
        refresh(document, found);
        buckets(document, found);
    });
}

fn hops(document: &mut Shown, found: &Distribution) {
    document.put(&WINDOWS, found.total());
    document.put(&EACH, found.each);
    document.put(&MEAN, found.mean_ns());
    document.part(Part::List(&ON_STEP), |document| {
        for percent in PERCENTAGES {
            if found.quantile_ns(percent).is_some_and(|quantile| quantile.step.is_some()) {
                document.put(&ON_STEP, percent);
            }
        }
    });
    document.put(&MAXIMUM, found.maximum_ns());
    document.put(&ROUND_MEAN, found.round_ns);
    document.put(&BATCH_MEAN, found.batch_ns);
}

fn timer(document: &mut Shown, found: &Distribution) {
    document.part(Part::Object(&TIMER), |document| {
        document.put(&TIMER_MEAN, found.time(found.overhead));
        document.put(&TIMER_TICKS, found.overhead);
        for (field, percent) in [(&TIMER_P1, 1.0), (&TIMER_P50, 50.0), (&TIMER_P99, 99.0)] {
            document.put(field, found.empty_ticks(percent).unwrap_or(0));
        }
        document.put(&STEP_TICKS, found.step);
    });
}

fn interruptions(document: &mut Shown, found: &Distribution) {
    let seen = &found.interruptions;
    document.part(Part::Object(&INTERRUPTIONS), |document| {
        document.part(Part::Object(&BY_MARK), |document| {
            document.put(&COUNT, seen.marked);
            document.put(&MEAN_NS, found.time(seen.marked_mean));
            document.put(&LONGEST_NS, found.time(seen.marked_longest.real()));
        });
        document.part(Part::Object(&BY_TIME), |document| {
            document.put(&COUNT, found.interrupted());
            document.put(&EXPECTED, seen.expected);
            document.put(&FROM, found.interrupted_from.map(|ticks| found.nanoseconds(ticks.real())));
            document.put(&LONGEST_NS, found.interrupted_from.and(found.longest_ns()));
        });
        document.put(&COUNT, left_out(found));
        members! { document;
            "context_switches": seen.switches => "Number of involuntary context switches during the loads.";
            "watched_ns": found.time(seen.watched.real()) => "Duration of the loop without loads, in nanoseconds.";
            "watched_interrupts": seen.watched_interrupts => "Number of kernel entries during the loop without loads.";
            "gaps": seen.gaps => "Number of gaps in the loop without loads that have no kernel entry.";
            "gap_least_ns": found.time(seen.least_gap.real()) => "Shortest gap that counts, in nanoseconds.";
            "gap_longest_ns": found.time(seen.longest_gap.real()) => "Longest gap, in nanoseconds.";
        }
    });
}

fn refresh(document: &mut Shown, found: &Distribution) {
    document.part(Part::Object(&REFRESH), |document| {
        document.put(&SLOW_FROM, found.nanoseconds(found.slow_from.real()));
        document.put(&SIGNIFICANCE, found.period.map(|period| period.significance));
        document.put(&columns::REFRESH, refresh_us(found));
        document.put(&KNOWN_AS, found.refresh().and_then(|(_, name)| name));
    });
}

/// Describes the buckets of load times without the timer's overhead; loads interrupted without a mark are the last
/// buckets.
fn buckets(document: &mut Shown, found: &Distribution) {
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

/// Describes the conclusions from a point; null without one.
pub fn summary(document: &mut Shown, found: Option<&Distribution>) {
    for (field, percent) in [(&P50, 50.0), (&P99, 99.0), (&P99_9, 99.9)] {
        document.put(field, found.map(|found| quantile(found, percent)));
    }
    document.put(&MAXIMUM, found.and_then(Distribution::maximum_ns));
    document.put(&MEAN, found.map(Distribution::mean_ns));
    document.put(&AGREES, found.map(agrees));
    document.put(&columns::REFRESH, found.and_then(refresh_us));
    document.put(&SHARE, found.map(|found| left_out(found).real() / found.total().real()));
}
