//! The distribution of single hops at one point, as plain data in ticks, with its interpretation.
//!
//! Reports read it; nothing here takes a sample.

use latency_core::histogram::Histogram;
use latency_core::histogram::fold::Period;
use latency_core::hops::{self, Quantile, Sample};
use latency_core::{Hertz, Interval, Summary, ToReal, clock};

/// Percentages of the reported percentiles of hops.
pub const PERCENTAGES: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// Known intervals between DRAM refreshes, in microseconds, and their names (JESD79-4, JESD79-5).
const REFRESH_INTERVALS: [(f64, &str); 4] = [
    (7.8, "tREFI of DDR4"),
    (3.9, "tREFI of DDR5, or half of DDR4's"),
    (1.95, "half of DDR5's tREFI: fine granularity, or two ranks in turn"),
    (15.6, "twice DDR4's tREFI"),
];
/// Relative tolerance of a refresh interval: a crystal is exact to 100 ppm, but the controller rounds the interval more
/// coarsely.
const INTERVAL_TOLERANCE: f64 = 0.02;

/// A percentile of single hops, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentile {
    /// The median over visits of each visit's percentile; with too few visits, the percentile of all hops.
    pub value: f64,
    /// The 95 % confidence interval over visits; `None` with too few visits. Hops of one visit are alike, so that their
    /// number does not predict the next visit.
    pub interval: Option<Interval>,
    /// Both sides of a step between two clusters of hops, if the percentile lies on one. The value is then the slower
    /// side, and the interval contains both.
    pub step: Option<Interval>,
}

/// Single hops of one point, and the observations that accompany them.
#[derive(Clone, Copy, Debug)]
pub struct Distribution {
    /// Ticks per second.
    pub frequency: Hertz,
    /// The counter's step in ticks.
    pub step: u64,
    /// The number of hops between two stamps: 1, or as many as are needed for timing.
    pub each: u32,
    /// Histogram of the ticks between the stamps, including the timer's own, of all windows in which the kernel was not
    /// entered.
    pub windows: Histogram,
    /// Histogram of the ticks between two stamps around nothing, taken in turn with the hops.
    pub empties: Histogram,
    /// The mean of the empty windows without interruptions, which is subtracted from every window.
    pub overhead: f64,
    /// The ticks from which a window counts as interrupted, if any does.
    pub interrupted_from: Option<u64>,
    /// Kernel entries per tick in the watching loop; 0 if entries leave no mark.
    pub entries: f64,
    /// The mean of the windows that were not interrupted, weighted by [`hops::weight`].
    pub mean: f64,
    /// The percentiles over visits, in ticks of a window, in the order of [`PERCENTAGES`].
    pub over_visits: [Option<Summary>; PERCENTAGES.len()],
    /// Further findings about interruptions.
    pub interruptions: Interruptions,
    /// The mean of single hops in stretches as long as a batch, in nanoseconds: the most frequent mean within a round,
    /// and the median over rounds. Batches, and therefore `matrix`, are summarised in the same way.
    pub round_ns: f64,
    /// The mean, computed in the same way, of batches that were timed in turn with the hops, in nanoseconds.
    pub batch_ns: f64,
    /// The ratio of `round_ns` to `batch_ns`, over rounds.
    pub ratio: Option<Summary>,
    /// The period at which slow hops recur, significant or not, if it could be sought.
    pub period: Option<Period>,
    /// The number of ticks from which on a hop counts as slow for the period.
    pub slow_from: u64,
}

/// Interruptions: those that left a mark, and those that only took time, as observed in a loop without memory accesses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interruptions {
    /// Windows in which the kernel was entered; they are in no histogram.
    pub marked: u64,
    /// The mean of these windows in ticks.
    pub marked_mean: f64,
    /// The longest of these windows in ticks.
    pub marked_longest: u64,
    /// Kernel entries while the watching loop ran; 0 if entries leave no mark.
    pub watched_interrupts: u64,
    /// Expected number of other interrupted hops, by the hypervisor or the firmware, estimated from the gaps.
    pub expected: f64,
    /// Number of gaps in the watching loop without a kernel entry.
    pub gaps: u64,
    /// The minimum length of a gap in ticks.
    pub least_gap: u64,
    /// The longest gap in ticks.
    pub longest_gap: u64,
    /// The duration of the watching loop in ticks.
    pub watched: u64,
    /// Involuntary context switches during the hops.
    pub switches: u64,
}

impl Distribution {
    /// Returns an empty distribution.
    pub fn new(frequency: Hertz, step: u64) -> Distribution {
        Distribution {
            frequency,
            step,
            each: 1,
            windows: Histogram::EMPTY,
            empties: Histogram::EMPTY,
            overhead: 0.0,
            interrupted_from: None,
            entries: 0.0,
            mean: f64::NAN,
            over_visits: [None; PERCENTAGES.len()],
            round_ns: f64::NAN,
            batch_ns: f64::NAN,
            interruptions: Interruptions::default(),
            ratio: None,
            period: None,
            slow_from: 0,
        }
    }

    /// Returns the nanoseconds per hop of a window in ticks, without the timer's overhead.
    pub fn nanoseconds(&self, window: f64) -> f64 {
        self.time((window - self.overhead).max(0.0)) / f64::from(self.each)
    }

    /// Converts ticks to nanoseconds, without subtracting the overhead.
    pub fn time(&self, ticks: f64) -> f64 {
        clock::nanoseconds(ticks, self.frequency)
    }

    /// Returns the hops that were not interrupted.
    pub fn sample(&self) -> Sample<'_> {
        Sample {
            histogram: &self.windows,
            below: self.interrupted_from,
            step: self.step,
            overhead: self.overhead,
            entries: self.entries,
        }
    }

    /// Returns the nanoseconds per hop that `percent` of the hops do not exceed, without interrupted hops.
    pub fn quantile_ns(&self, percent: f64) -> Option<Percentile> {
        let Quantile { value: of_all, low, high, on_step } = self.sample().quantile(percent)?;
        let visits = PERCENTAGES.iter().zip(&self.over_visits).find(|(known, _)| **known == percent);
        let visits = visits.and_then(|(_, summary)| summary.as_ref());
        let value = match visits {
            Some(visits) if !on_step && visits.interval.is_some() => visits.median,
            _ => of_all,
        };
        let between = |low, high| Interval { low: self.nanoseconds(low), high: self.nanoseconds(high) };
        let interval = visits.and_then(|visits| visits.interval).map(|interval| {
            let (low, high) = if on_step { (low, high) } else { (value, value) };
            between(interval.low.min(low), interval.high.max(high))
        });
        let step = on_step.then(|| between(low, high));
        Some(Percentile { value: self.nanoseconds(value), interval, step })
    }

    /// Returns the value of a percentile, without its interval.
    pub fn percentile_ns(&self, percent: f64) -> Option<f64> {
        self.quantile_ns(percent).map(|quantile| quantile.value)
    }

    /// Returns the time of the slowest hop that was not interrupted.
    pub fn maximum_ns(&self) -> Option<f64> {
        hops::maximum(&self.windows, self.interrupted_from).map(|window| self.nanoseconds(window.real()))
    }

    /// Returns the time of the slowest window without a mark, interrupted or not.
    pub fn longest_ns(&self) -> Option<f64> {
        self.windows.maximum().map(|window| self.nanoseconds(window.real()))
    }

    /// Returns the mean of the hops that were not interrupted.
    pub fn mean_ns(&self) -> f64 {
        self.nanoseconds(self.mean)
    }

    /// Returns the number of windows.
    pub fn total(&self) -> u64 {
        self.windows.total() + self.interruptions.marked
    }

    /// Returns the number of windows that were interrupted without a mark.
    pub fn interrupted(&self) -> u64 {
        let calm: u64 =
            hops::buckets_below(&self.windows, self.interrupted_from).map(|bucket| bucket.count).sum();
        self.windows.total() - calm
    }

    /// Returns the ticks that `percent` of the empty windows do not exceed, in whole steps of the counter.
    pub fn empty_ticks(&self, percent: f64) -> Option<u64> {
        self.empties.percentile(percent)
    }

    /// Returns the period in microseconds at which slow hops recur, and the name of a known period near it, if it is
    /// significant.
    pub fn refresh(&self) -> Option<(f64, Option<&'static str>)> {
        let period = self.period.filter(Period::is_significant)?;
        let microseconds = self.time(period.ticks) / 1e3;
        let known = REFRESH_INTERVALS
            .iter()
            .find(|(interval, _)| (microseconds / interval - 1.0).abs() <= INTERVAL_TOLERANCE)
            .map(|(_, name)| *name);
        Some((microseconds, known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn planted() -> std::boxed::Box<Distribution> {
        let mut distribution = std::boxed::Box::new(Distribution::new(Hertz(2_000_000_000), 1));
        distribution.overhead = 50.0;
        for hop in 0..1000u64 {
            distribution.windows.record(250 + if hop % 50 == 0 { 400 } else { 0 });
            distribution.empties.record(50);
        }
        distribution.windows.record(1_000_050);
        distribution.interrupted_from = Some(1 << 19);
        distribution.mean = 258.0;
        distribution
    }

    #[test]
    fn the_timer_is_subtracted_and_interruptions_stand_apart() {
        let distribution = planted();
        assert!((distribution.percentile_ns(50.0).unwrap() - 100.0).abs() < 0.5);
        assert!((distribution.percentile_ns(99.0).unwrap() - 300.0).abs() < 1.5);
        assert!((distribution.maximum_ns().unwrap() - 300.0).abs() < 1.5);
        assert!((distribution.longest_ns().unwrap() - 500_000.0).abs() < 1e-6);
        assert_eq!((distribution.interrupted(), distribution.empty_ticks(99.0)), (1, Some(50)));
        assert!((distribution.mean_ns() - 104.0).abs() < 1e-9);
    }

    #[test]
    fn percentiles_are_those_of_visits_and_hold_both_sides_of_a_step() {
        let mut distribution = planted();
        assert_eq!(distribution.quantile_ns(50.0).unwrap().interval, None, "too few visits");
        // Visits differ by more than the number of hops would suggest.
        let mut visits: Vec<f64> = (0..15).map(|visit| 240.0 + f64::from(visit * 7 % 15)).collect();
        distribution.over_visits = [latency_core::stats::summarise(&mut visits); PERCENTAGES.len()];
        let median = distribution.quantile_ns(50.0).unwrap();
        let interval = median.interval.unwrap();
        assert!((median.value - 98.5).abs() < 1e-9 && median.step.is_none());
        assert!(interval.low < 97.5 && interval.high > 99.5, "{interval:?}");
        // Since 2 % of the hops are slower, the 98th percentile lies on the step.
        let step = distribution.quantile_ns(98.0);
        assert!(
            step.is_some_and(|step| step.step.is_some() && step.interval.is_none()),
            "not one that is kept"
        );
    }

    #[test]
    fn the_time_of_a_window_is_divided_by_its_hops() {
        let mut distribution = planted();
        distribution.each = 4;
        assert!((distribution.percentile_ns(50.0).unwrap() - 25.0).abs() < 0.2);
    }

    #[test]
    fn known_refresh_intervals_have_names() {
        let mut distribution = planted();
        let found = |distribution: &Distribution| distribution.refresh().map(|(_, name)| name);
        assert_eq!(found(&distribution), None);
        distribution.period = Some(Period { ticks: 3890.0, significance: 300.0 });
        assert_eq!(found(&distribution), Some(Some(REFRESH_INTERVALS[2].1)));
        distribution.period = Some(Period { ticks: 5000.0, significance: 300.0 });
        assert_eq!(found(&distribution), Some(None));
        distribution.period = Some(Period { ticks: 3890.0, significance: 3.0 });
        assert_eq!(found(&distribution), None);
    }
}
