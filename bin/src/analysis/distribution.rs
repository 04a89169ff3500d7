//! Conclusions from single loads of one point: the loads that were left out, agreement with batches, and a histogram in
//! visible bars.

use latency_core::hops;

use crate::report::chart::Bar;
use crate::result::distribution::{Distribution, Percentile};

/// Largest relative difference between the means of single loads and of batches that agree.
pub const AGREEMENT: f64 = 0.03;
/// Percentile at which the shown histogram ends: the slowest loads would squeeze all others into one bar.
pub const SHOWN_PERCENT: f64 = 99.9;
/// Largest width of a percentile's interval, as a share of the percentile, at which the percentile is certain.
const CERTAIN: f64 = 0.02;

/// Returns the number of timed windows that are in no percentile because the system interrupted them: windows in which
/// the kernel was entered, and windows that took longer than any load from memory.
#[must_use]
pub fn left_out(found: &Distribution) -> u64 {
    found.interruptions.marked + found.interrupted()
}

/// Returns whether the means of single loads and of batches agree; `None` with too few rounds.
#[must_use]
pub fn agrees(found: &Distribution) -> Option<bool> {
    found.ratio.map(|ratio| (ratio.median - 1.0).abs() <= AGREEMENT)
}

/// Returns whether visits differ in a percentile by more than the resolution of the counter and the histogram.
#[must_use]
pub fn is_wide(found: &Distribution, quantile: &Percentile) -> bool {
    let Some(interval) = quantile.interval else { return true };
    interval.high - interval.low > found.time(found.step as f64).max(CERTAIN * quantile.value)
}

/// Fills bars of equal width, each a whole number of counter steps; returns how many.
#[inline(never)] // offsets into a small frame are short
pub fn bars(distribution: &Distribution, bars: &mut [Bar]) -> usize {
    let (windows, below) = (&distribution.windows, distribution.interrupted_from);
    let step = distribution.step.max(1) as f64;
    let (Some(least), Some(most)) = (windows.minimum(), distribution.sample().percentile(SHOWN_PERCENT))
    else {
        return 0;
    };
    // Bars begin between two steps, so that no value lies on their edges.
    let begin = least as f64 - step / 2.0;
    let steps = ((most - begin) / step) as u64 + 1;
    let width = steps.div_ceil(bars.len().max(1) as u64).max(1) as f64 * step;
    let count = (((most - begin) / width) as usize + 1).min(bars.len());
    for (index, bar) in bars.iter_mut().enumerate() {
        let low = begin + width * index as f64;
        *bar = Bar {
            low: distribution.nanoseconds(low),
            high: distribution.nanoseconds(low + width),
            height: 0.0,
        };
    }
    let total = windows.total() as f64;
    for bucket in hops::buckets_below(windows, below) {
        let middle = (bucket.low + bucket.high) as f64 / 2.0;
        let index = ((middle - begin).max(0.0) / width) as usize;
        if let Some(bar) = bars.get_mut(..count).and_then(|bars| bars.get_mut(index)) {
            bar.height += bucket.count as f64 / total * 100.0;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::stats::{Interval, Summary};
    use latency_core::units::Hertz;
    use std::boxed::Box;

    /// Returns a hundred thousand loads of ten lengths, one in ten thousand of them ten times as slow.
    fn planted() -> Box<Distribution> {
        let mut distribution = Box::new(Distribution::new(Hertz(2_600_000_000), 26));
        distribution.overhead = 58.0;
        for hop in 0..100_000u64 {
            let slow = if hop % 10_000 == 7 { 9 } else { 0 };
            distribution.windows.record(26 * (16 + hop % 10 + 10 * slow));
        }
        distribution
    }

    #[test]
    fn bars_hold_all_but_the_slowest_loads() {
        let mut drawn = [Bar { low: 0.0, high: 0.0, height: 0.0 }; 60];
        let count = bars(&planted(), &mut drawn);
        assert_eq!(count, 10, "one bar a step");
        for bar in &drawn[..count] {
            assert!((bar.height - 10.0).abs() < 0.02, "{bar:?}");
            assert!((bar.high - bar.low - 10.0).abs() < 1e-9, "{bar:?}");
        }
        let empty = Box::new(Distribution::new(Hertz(1), 1));
        assert_eq!(bars(&empty, &mut drawn), 0);
        assert_eq!(bars(&planted(), &mut []), 0);
    }

    #[test]
    fn windows_marked_by_the_kernel_or_too_long_are_left_out() {
        let mut found = planted();
        assert_eq!(left_out(&found), 0);
        found.interruptions.marked = 3;
        // The slow loads last 26 * 113 ticks.
        found.interrupted_from = Some(26 * 50);
        assert_eq!((left_out(&found), found.interrupted(), found.total()), (13, 10, 100_003));
    }

    #[test]
    fn means_agree_within_three_percent() {
        let mut found = planted();
        assert_eq!(agrees(&found), None);
        for (median, agreed) in [(1.029, true), (0.971, true), (1.031, false), (0.969, false)] {
            let interval = Some(Interval { low: 0.9, high: 1.1 });
            found.ratio =
                Some(Summary { count: 9, median, minimum: median, maximum: median, mad: 0.0, interval });
            assert_eq!(agrees(&found), Some(agreed), "{median}");
        }
    }

    #[test]
    fn a_percentile_in_which_visits_differ_is_wide() {
        let found = planted();
        let quantile = |low, high| {
            let interval = Some(Interval { low, high });
            Percentile { value: 1000.0, interval, step: None }
        };
        // A step is 10 ns, and 2 % are 20 ns.
        assert!(!is_wide(&found, &quantile(990.0, 1009.0)));
        assert!(is_wide(&found, &quantile(990.0, 1011.0)));
    }
}
