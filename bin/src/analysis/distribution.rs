//! Conclusions from single loads of one point: the loads that were left out, agreement with batches, and the shares of
//! slow loads.

use latency_core::math::{exp2, log2};
use latency_core::{ToReal, hops};

use latency_engine::result::{Distribution, Percentile};
use latency_report::ChartPoint;

/// Largest relative difference between the means of single loads and of batches that agree.
pub const AGREEMENT: f64 = 0.03;
/// Largest width of a percentile's interval, as a share of the percentile, at which the percentile is certain.
const CERTAIN: f64 = 0.02;

/// Returns the number of timed windows that are in no percentile because the system interrupted them: windows in which
/// the kernel was entered, and windows that took longer than any load from memory.
pub fn left_out(found: &Distribution) -> u64 {
    found.interruptions.marked + found.interrupted()
}

/// Returns whether the means of single loads and of batches agree; `None` with too few rounds.
pub fn agrees(found: &Distribution) -> Option<bool> {
    found.ratio.map(|ratio| (ratio.median - 1.0).abs() <= AGREEMENT)
}

/// Returns whether visits differ in a percentile by more than the resolution of the counter and the histogram.
pub fn is_wide(found: &Distribution, quantile: &Percentile) -> bool {
    let Some(interval) = quantile.interval else { return true };
    interval.high - interval.low > found.time(found.step.real()).max(CERTAIN * quantile.value)
}

/// Fills points with the times of loads, and the percentages of loads that take as long or longer.
pub fn exceedances(found: &Distribution, points: &mut [ChartPoint]) {
    let (windows, below) = (&found.windows, found.interrupted_from);
    let (Some(least), Some(most)) = (windows.minimum(), hops::maximum(windows, below)) else { return };
    let buckets = || hops::buckets_below(windows, below);
    let count = |from: f64| {
        let slow = buckets().filter(|bucket| bucket.high.real() >= from);
        slow.map(|bucket| bucket.count).sum::<u64>().real()
    };
    let (least, most) = (least.real(), most.real());
    let all = count(0.0);
    let last = points.len().saturating_sub(1).max(1).real();
    for (index, point) in points.iter_mut().enumerate() {
        // The times are at equal ratios, and the last one is exact.
        let part = index.real() / last;
        let from = if part < 1.0 { least * exp2(log2(most / least) * part) } else { most };
        *point = ChartPoint::new(found.nanoseconds(from), 100.0 * count(from) / all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::{Hertz, Interval, Summary};
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
    fn the_slowest_load_is_shown() {
        let mut points = [ChartPoint::new(f64::NAN, f64::NAN); 60];
        let found = planted();
        exceedances(&found, &mut points);
        let (first, last) = (points[0], points[59]);
        assert_eq!((first.x, first.y), (found.nanoseconds(26.0 * 16.0), 100.0));
        // Ten of a hundred thousand loads are slow.
        assert_eq!(Some(last.x), found.maximum_ns());
        assert!((last.y - 0.01).abs() < 1e-9, "{last:?}");
        assert!(points.windows(2).all(|pair| pair[0].x < pair[1].x && pair[0].y >= pair[1].y));
        let half = points.iter().find(|point| point.y <= 50.0).unwrap();
        assert!((half.x / found.percentile_ns(50.0).unwrap() - 1.0).abs() < 0.1, "{half:?}");
        exceedances(&Distribution::new(Hertz(1), 1), &mut points);
        exceedances(&found, &mut []);
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
