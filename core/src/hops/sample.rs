//! Percentiles of hops, their intervals, and the detection of percentiles that fall on a step between two clusters.
//!
//! This file uses only counts and ticks. `hops.rs` finds the interrupted hops.

use crate::histogram::{Bucket, Histogram};
use crate::math::{ToReal, sqrt};

/// Number of standard deviations of a normal distribution beyond which 2.5 % lie on each side.
const NORMAL_95: f64 = 1.96;
/// Minimum ratio of the two ends of an interval for them to lie in two clusters.
const LEAST_STEP: f64 = 1.1;
/// Maximum distance of a hop from the end of its cluster, as a fraction of the hop's time.
const CLUSTER: f64 = 0.03;
/// Minimum number of hops in a cluster: between the slowest two of all hops there is never another hop.
const LEAST_CLUSTER: f64 = 10.0;
/// Maximum probability of an interruption that is corrected for: at this probability a hop counts twice. Without this
/// limit, a few hops could weigh as much as all others.
const MOST_INTERRUPTED: f64 = 0.5;

/// Returns the buckets of a histogram that begin below `below`; all of them for `None`.
pub fn buckets_below(histogram: &Histogram, below: Option<u64>) -> impl Iterator<Item = Bucket> + '_ {
    histogram.buckets().take_while(move |bucket| below.is_none_or(|below| bucket.low < below))
}

/// The timed hops during which the kernel was not entered.
///
/// The longer a hop is, the more likely the kernel is entered during it, and the hop is then missing from the sample:
/// without a correction, the tail would be too thin, by the hop's length times the rate of entries. At 1000 a second
/// that is 0.02 % of hops of 200 ns, and 9 % of hops of 90 us. So every hop has the weight 1 / P(not interrupted) = 1
/// / (1 - rate x length), which is exact for a periodic timer, and accurate to 1 % for entries at random while rate x
/// length is below 0.13.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'h> {
    /// The ticks of the windows.
    pub histogram: &'h Histogram,
    /// The ticks from which on windows count as interrupted, if interrupts leave no mark.
    pub below: Option<u64>,
    /// The counter's step in ticks.
    pub step: u64,
    /// The ticks of an empty window.
    pub overhead: f64,
    /// The number of kernel entries per tick, if entries leave a mark.
    pub entries: f64,
}

/// A percentile and its 95 % interval for samples of this size, in ticks of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantile {
    /// The value to be reported: on a step, the upper end of the interval.
    pub value: f64,
    /// The value at the rank that is 1.96 standard deviations lower.
    pub low: f64,
    /// The value at the rank that is 1.96 standard deviations higher.
    pub high: f64,
    /// True if the low and the high end lie in two clusters with hardly any hop between them.
    pub on_step: bool,
}

/// Returns the weight of a hop of `ticks`, given the kernel entries per tick.
pub fn weight(ticks: f64, entries: f64) -> f64 {
    1.0 / (1.0 - (ticks * entries).clamp(0.0, MOST_INTERRUPTED))
}

fn middle(bucket: &Bucket) -> f64 {
    bucket.low.real() + (bucket.high - bucket.low).real() / 2.0
}

impl Sample<'_> {
    /// Returns the buckets with their middles, and the total weight of their hops.
    fn weights(&self) -> impl Iterator<Item = (Bucket, f64, f64)> + '_ {
        buckets_below(self.histogram, self.below).map(|bucket| {
            let middle = middle(&bucket);
            (bucket, middle, bucket.count.real() * weight(middle, self.entries))
        })
    }

    fn total(&self) -> f64 {
        self.weights().map(|(.., count)| count).sum()
    }

    /// Returns the number of ticks that `percent` of the hops do not exceed.
    ///
    /// A counter that moves in steps rounds each difference up or down to a multiple of the step.
    /// So a value represents an interval around it that is one step wide, and the percentile is
    /// interpolated within this interval. Returns `None` without values.
    pub fn percentile(&self, percent: f64) -> Option<f64> {
        self.at(percent / 100.0 * self.total())
    }

    /// Returns the value at a rank.
    fn at(&self, rank: f64) -> Option<f64> {
        let mut seen = 0.0;
        let mut last = None;
        for (bucket, middle, count) in self.weights() {
            let width = (bucket.high - bucket.low + 1).max(self.step).real();
            let part = ((rank - seen) / count).clamp(0.0, 1.0);
            last = Some(middle + (part - 0.5) * width);
            seen += count;
            if seen >= rank {
                break;
            }
        }
        last.map(|value| value.max(0.0))
    }

    /// Returns the percentile with its interval by order statistics: ranks n q +- 1.96 sqrt(n q (1 - q)).
    ///
    /// If the interval spans two clusters, chance decides whether the rank falls into one of them or between them,
    /// where there are no hops. The upper cluster contains the slowest hops, and its end is reported, so that a tail
    /// stays visible.
    pub fn quantile(&self, percent: f64) -> Option<Quantile> {
        let timed: u64 = buckets_below(self.histogram, self.below).map(|bucket| bucket.count).sum();
        let (total, share) = (self.total(), percent / 100.0);
        let half = NORMAL_95 * sqrt(share * (1.0 - share) / timed.real());
        let end = |share: f64| self.at(share.clamp(0.0, 1.0) * total);
        let (value, low, high) = (end(share)?, end(share - half)?, end(share + half)?);
        let on_step = self.is_step(low, high);
        Some(Quantile { value: if on_step { high } else { value }, low, high, on_step })
    }

    /// Returns true if `low` and `high` lie in two clusters, with fewer hops between the clusters than in the upper
    /// one.
    fn is_step(&self, low: f64, high: f64) -> bool {
        let hop = |window: f64| (window - self.overhead).max(0.0);
        let step = self.step.real();
        let margin = |end: f64| (CLUSTER * hop(end)).max(step);
        let (from, to) = (low + margin(low), high - margin(high));
        // Times between two steps of the counter cannot be observed.
        if hop(high) <= LEAST_STEP * hop(low) || to - from < step {
            return false;
        }
        let top = high + margin(high);
        let (mut between, mut upper) = (0.0, 0.0);
        for (_, middle, count) in self.weights() {
            if middle > from && middle < to {
                between += count;
            } else if middle >= to && middle <= top {
                upper += count;
            }
        }
        upper >= LEAST_CLUSTER && between < upper
    }
}
