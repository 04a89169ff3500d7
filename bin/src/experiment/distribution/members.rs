//! Single loads for programs: the members of a point, its columns, and the conclusions.

use crate::analysis::distribution::{agrees, left_out};
use crate::describe::estimate;
use crate::report::document::{Document, Field, Part, fields};
use crate::result::distribution::{Distribution, PERCENTAGES, Percentile};
use latency_core::stats::Estimate;

fields! {
    DISTRIBUTION "distribution" "How long single loads took.";
    WINDOWS "windows" "Timed windows, interrupted ones included.";
    EACH "hops_per_window" "Loads in each window: 1, or as many as the counter can time.";
    MEAN "hop_mean_ns" "The mean of all loads that were not interrupted.";
    PERCENTILES "hop_percentiles_ns" "The time that so many percent of the loads do not exceed: median over visits.";
    INTERVALS "hop_percentile_intervals_ns" "The 95 % confidence intervals of the percentiles, by order statistics over visits; null with too few visits.";
    ON_STEP "hop_percentiles_on_step" "Percentiles whose interval spans two clusters; its upper end is given.";
    MAXIMUM "hop_max_ns" "The slowest load that was not interrupted.";
    ROUND_MEAN "round_mean_ns" "The mean of single loads as `matrix` makes it: by rounds.";
    BATCH_MEAN "batch_mean_ns" "The mean of batches in turn with the single loads.";
    TIMER "timer" "The cost of an empty window.";
    TIMER_TICKS "mean_ticks" "Its mean in ticks.";
    TIMER_P1 "p1_ticks" "Its first percentile.";
    TIMER_P50 "p50_ticks" "Its median.";
    TIMER_P99 "p99_ticks" "Its 99th percentile.";
    STEP_TICKS "step_ticks" "The counter's step.";
    INTERRUPTIONS "interruptions" "Windows that the system interrupted; they are in no percentile.";
    BY_MARK "by_mark" "Windows in which the kernel was entered; they are in no bucket.";
    BY_TIME "by_time" "Windows that took longer than memory does.";
    COUNT "windows" "How many.";
    MEAN_NS "mean_ns" "Their mean.";
    LONGEST_NS "longest_ns" "The longest.";
    EXPECTED "expected" "How many the gaps in a loop without memory make likely.";
    SWITCHES "context_switches" "Involuntary context switches during the loads.";
    WATCHED "watched_ns" "How long the loop without memory ran.";
    WATCHED_ENTRIES "watched_interrupts" "Entries of the kernel in the loop without memory.";
    GAPS "gaps" "Other gaps in that loop.";
    GAP_LEAST "gap_least_ns" "The shortest that counts.";
    GAP_LONGEST "gap_longest_ns" "The longest.";
    REFRESH "refresh" "The period of slow loads.";
    SLOW_FROM "slow_from_ns" "The time from which a load was slow.";
    SIGNIFICANCE "significance" "How far the period stands out, in standard deviations.";
    KNOWN_AS "known_as" "The refresh interval of DRAM that it is.";
    BUCKETS "buckets" "The histogram: low ns, high ns, count.";
    SUMMARY "summary" "The conclusions on the first pair as named numbers.";
    P50 "p50_ns" "The time that half of the loads do not exceed.";
    P99 "p99_ns" "The time that 99 % of the loads do not exceed.";
    P99_9 "p99_9_ns" "The time that 99.9 % of the loads do not exceed.";
    AGREES "batches_agree" "Whether the means of single loads and of batches agree within 3 %; null with too few rounds.";
    SHARE "interrupted_share" "The share of windows that were interrupted and left out.";
}

static BATCH_RATIO: Field =
    Field::new("batch_ratio hop_batch_ratio", "The mean of single loads over that of batches.");
static BATCH_RATIO_CI95: Field =
    Field::new("batch_ratio_ci95", "The 95 % confidence interval of the ratio, over rounds.");
static TIMER_MEAN: Field = Field::new("mean_ns timer_mean_ns", "The mean of empty windows.");
static LEFT_OUT: Field = Field::new("windows interrupted_windows", "All of them, by mark and by time.");
static FROM: Field =
    Field::new("from_ns interrupted_from_ns", "The time from which a window counts as interrupted.");
static PERIOD: Field = Field::new(
    "period_us refresh_period_us",
    "The period with which slow loads recur; null where there is none.",
);
/// A bucket, as numbers without keys.
static BUCKET: Field = Field::new("bucket", "Both ends in nanoseconds, and the count.");

/// The percentiles, in the order of [`PERCENTAGES`].
static QUANTILES: [Field; PERCENTAGES.len()] = [
    Field::new("p50 hop_p50_ns", "Half of the loads."),
    Field::new("p90 hop_p90_ns", "90 % of the loads."),
    Field::new("p95 hop_p95_ns", "95 % of the loads."),
    Field::new("p99 hop_p99_ns", "99 % of the loads."),
    Field::new("p99_9 hop_p99_9_ns", "99.9 % of the loads."),
    Field::new("p99_99 hop_p99_99_ns", "99.99 % of the loads."),
];

/// The confidence intervals of the percentiles, in the same order.
static BOUNDS: [Field; PERCENTAGES.len()] = [
    Field::new("p50 hop_p50_ci95_ns", "Of the median."),
    Field::new("p90 hop_p90_ci95_ns", "Of the 90th percentile."),
    Field::new("p95 hop_p95_ci95_ns", "Of the 95th percentile."),
    Field::new("p99 hop_p99_ci95_ns", "Of the 99th percentile."),
    Field::new("p99_9 hop_p99_9_ci95_ns", "Of the 99.9th percentile."),
    Field::new("p99_99 hop_p99_99_ci95_ns", "Of the 99.99th percentile."),
];

/// The columns that only these points have; histograms are only in the JSON.
pub static COLUMNS: [&Field; 24] = [
    &MEAN,
    &QUANTILES[0],
    &QUANTILES[1],
    &QUANTILES[2],
    &QUANTILES[3],
    &QUANTILES[4],
    &QUANTILES[5],
    &MAXIMUM,
    &BATCH_RATIO,
    &TIMER_MEAN,
    &STEP_TICKS,
    &FROM,
    &PERIOD,
    &EACH,
    &WINDOWS,
    &LEFT_OUT,
    &SWITCHES,
    &BOUNDS[0],
    &BOUNDS[1],
    &BOUNDS[2],
    &BOUNDS[3],
    &BOUNDS[4],
    &BOUNDS[5],
    &ON_STEP,
];

/// Describes the single loads of a point, including the buckets of the histogram.
pub fn distribution(document: &mut dyn Document, found: &Distribution) {
    document.part(Part::Object(&DISTRIBUTION), |document| {
        hops(document, found);
        timer(document, found);
        interruptions(document, found);
        refresh(document, found);
        buckets(document, found);
    });
}

fn hops(document: &mut dyn Document, found: &Distribution) {
    let quantiles = PERCENTAGES.map(|percent| found.quantile_ns(percent));
    document.put(&WINDOWS, found.total());
    document.put(&EACH, found.each);
    document.put(&MEAN, found.mean_ns());
    document.part(Part::Object(&PERCENTILES), |document| {
        for (field, quantile) in QUANTILES.iter().zip(&quantiles) {
            document.put(field, quantile.map(|quantile| quantile.value));
        }
    });
    document.part(Part::Object(&INTERVALS), |document| {
        for (field, quantile) in BOUNDS.iter().zip(&quantiles) {
            document.put(field, quantile.and_then(|quantile| quantile.interval));
        }
    });
    document.part(Part::List(&ON_STEP), |document| {
        for (field, quantile) in QUANTILES.iter().zip(&quantiles) {
            if quantile.is_some_and(|quantile| quantile.step.is_some()) {
                document.put(&ON_STEP, field.key());
            }
        }
    });
    document.put(&MAXIMUM, found.maximum_ns());
    document.put(&ROUND_MEAN, found.round_ns);
    document.put(&BATCH_MEAN, found.batch_ns);
    document.put(&BATCH_RATIO, found.ratio.map(|ratio| ratio.median));
    document.put(&BATCH_RATIO_CI95, found.ratio.and_then(|ratio| ratio.interval));
}

fn timer(document: &mut dyn Document, found: &Distribution) {
    document.part(Part::Object(&TIMER), |document| {
        document.put(&TIMER_MEAN, found.time(found.overhead));
        document.put(&TIMER_TICKS, found.overhead);
        for (field, percent) in [(&TIMER_P1, 1.0), (&TIMER_P50, 50.0), (&TIMER_P99, 99.0)] {
            document.put(field, found.empty_ticks(percent).unwrap_or(0));
        }
        document.put(&STEP_TICKS, found.step);
    });
}

fn interruptions(document: &mut dyn Document, found: &Distribution) {
    let seen = &found.interruptions;
    document.part(Part::Object(&INTERRUPTIONS), |document| {
        document.part(Part::Object(&BY_MARK), |document| {
            document.put(&COUNT, seen.marked);
            document.put(&MEAN_NS, found.time(seen.marked_mean));
            document.put(&LONGEST_NS, found.time(seen.marked_longest as f64));
        });
        document.part(Part::Object(&BY_TIME), |document| {
            document.put(&COUNT, found.interrupted());
            document.put(&EXPECTED, seen.expected);
            document.put(&FROM, found.interrupted_from.map(|ticks| found.nanoseconds(ticks as f64)));
            document.put(&LONGEST_NS, found.interrupted_from.and(found.longest_ns()));
        });
        document.put(&LEFT_OUT, left_out(found));
        document.put(&SWITCHES, seen.switches);
        document.put(&WATCHED, found.time(seen.watched as f64));
        document.put(&WATCHED_ENTRIES, seen.watched_interrupts);
        document.put(&GAPS, seen.gaps);
        document.put(&GAP_LEAST, found.time(seen.least_gap as f64));
        document.put(&GAP_LONGEST, found.time(seen.longest_gap as f64));
    });
}

fn refresh(document: &mut dyn Document, found: &Distribution) {
    document.part(Part::Object(&REFRESH), |document| {
        document.put(&SLOW_FROM, found.nanoseconds(found.slow_from as f64));
        document.put(&SIGNIFICANCE, found.period.map(|period| period.significance));
        document.put(&PERIOD, found.refresh().map(|(microseconds, _)| microseconds));
        document.put(&KNOWN_AS, found.refresh().and_then(|(_, name)| name));
    });
}

/// Describes the buckets of load times without the timer's overhead; loads interrupted without a mark are the last
/// buckets.
fn buckets(document: &mut dyn Document, found: &Distribution) {
    document.part(Part::List(&BUCKETS), |document| {
        for bucket in found.windows.buckets() {
            document.part(Part::List(&BUCKET), |document| {
                document.put(&BUCKET, found.nanoseconds(bucket.low as f64));
                document.put(&BUCKET, found.nanoseconds(bucket.high as f64 + 1.0));
                document.put(&BUCKET, bucket.count);
            });
        }
    });
}

/// Describes the conclusions from a point.
#[inline(never)] // offsets into a small frame are short
pub fn summary(document: &mut dyn Document, found: Option<&Distribution>) {
    document.part(Part::Object(&SUMMARY), |document| {
        let Some(found) = found else { return };
        for (field, percent) in [(&P50, 50.0), (&P99, 99.0), (&P99_9, 99.9)] {
            let quantile = found.quantile_ns(percent);
            let estimate_of = |Percentile { value, interval, .. }| Estimate { value, interval };
            estimate::put(document, field, quantile.map(estimate_of));
        }
        document.put(&MAXIMUM, found.maximum_ns());
        document.put(&MEAN, found.mean_ns());
        document.put(&AGREES, agrees(found));
        document.put(&PERIOD, found.refresh().map(|(microseconds, _)| microseconds));
        document.put(&SHARE, left_out(found) as f64 / found.total() as f64);
    });
}
