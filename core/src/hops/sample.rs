//! Percentiles of hops, how far a sample can tell them, and whether they stand on a step.
//!
//! Knows counts and ticks. That a hop was interrupted is decided elsewhere.

use crate::histogram::{Bucket, Histogram};
use crate::math::sqrt;

/// Standard deviations of a normal distribution that leave 2.5 % on either side.
const NORMAL_95: f64 = 1.96;
/// Two ends of an interval that differ by a smaller factor lie in one cluster.
const LEAST_STEP: f64 = 1.1;
/// Hops within this fraction of an end belong to its cluster.
const CLUSTER: f64 = 0.03;
/// Fewer hops than this are no cluster: the slowest two of all hops always have nothing between them.
const LEAST_CLUSTER: f64 = 10.0;
/// The likeliest hop to be interrupted counts for two, or else a few would weigh as much as all others.
const MOST_INTERRUPTED: f64 = 0.5;

/// Returns the buckets of a histogram that begin below `below`; all of them for `None`.
pub fn buckets_below(histogram: &Histogram, below: Option<u64>) -> impl Iterator<Item = Bucket> + '_ {
    histogram.buckets().take_while(move |bucket| below.is_none_or(|below| bucket.low < below))
}

/// Hops as they were timed: those in which the kernel was not entered.
///
/// The longer a hop, the likelier the kernel is entered in it, and the hop is
/// then missing here: the tail would be too thin by its length times the rate of
/// entries. At 1000 a second that is 0.02 % of hops of 200 ns, and 9 % of hops of
/// 90 us. So every hop counts for 1 / P(not interrupted) = 1 / (1 - rate x
/// length), which is exact for a timer's even ticks, and for entries at random
/// within 1 % as long as rate x length is below 0.13.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'h> {
    /// The ticks of the windows.
    pub histogram: &'h Histogram,
    /// Windows from here on were interrupted without a mark.
    pub below: Option<u64>,
    /// The counter's step in ticks.
    pub step: u64,
    /// The timer's own ticks in every window.
    pub overhead: f64,
    /// The entries into the kernel per tick, where that leaves a mark.
    pub entries: f64,
}

/// A percentile, and the interval in which it lies in 95 of 100 samples as large; in ticks of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantile {
    /// The value to be reported. On a step, that is the upper end.
    pub value: f64,
    /// The value at the rank that is 1.96 standard deviations lower.
    pub low: f64,
    /// The value at the rank that is as much higher.
    pub high: f64,
    /// Whether low and high end lie in two clusters with hardly anything between.
    pub on_step: bool,
}

/// Returns the weight of a hop of so many ticks, given the entries into the kernel per tick.
#[must_use]
pub fn weight(ticks: f64, entries: f64) -> f64 {
    1.0 / (1.0 - (ticks * entries).clamp(0.0, MOST_INTERRUPTED))
}

fn middle(bucket: &Bucket) -> f64 {
    bucket.low as f64 + (bucket.high - bucket.low) as f64 / 2.0
}

impl Sample<'_> {
    /// Returns the middles of the buckets, with what the hops in them count for.
    fn weights(&self) -> impl Iterator<Item = (Bucket, f64, f64)> + '_ {
        buckets_below(self.histogram, self.below).map(|bucket| {
            let middle = middle(&bucket);
            (bucket, middle, bucket.count as f64 * weight(middle, self.entries))
        })
    }

    fn total(&self) -> f64 {
        self.weights().map(|(.., count)| count).sum()
    }

    /// Returns the number of ticks that `percent` of the hops do not exceed.
    ///
    /// A counter that moves in steps rounds each difference to one of them, either
    /// way: a value stands for the width of a step around it, and the percentile is
    /// interpolated in there. `None` without values.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Option<f64> {
        self.at(percent / 100.0 * self.total())
    }

    /// Returns the value at a rank.
    fn at(&self, rank: f64) -> Option<f64> {
        let mut seen = 0.0;
        let mut last = None;
        for (bucket, middle, count) in self.weights() {
            let width = (bucket.high - bucket.low + 1).max(self.step) as f64;
            let part = ((rank - seen) / count).clamp(0.0, 1.0);
            last = Some(middle + (part - 0.5) * width);
            seen += count;
            if seen >= rank {
                break;
            }
        }
        last.map(|value| value.max(0.0))
    }

    /// Returns the same with its interval by order statistics: ranks n q +- 1.96 sqrt(n q (1 - q)).
    ///
    /// If the interval spans two clusters, chance decides on which of them the
    /// rank falls, or between them where no hop is. The upper one is what the
    /// slowest hops take, and is reported: a tail is not to be hidden.
    #[must_use]
    pub fn quantile(&self, percent: f64) -> Option<Quantile> {
        let timed: u64 = buckets_below(self.histogram, self.below).map(|bucket| bucket.count).sum();
        let (total, share) = (self.total(), percent / 100.0);
        let half = NORMAL_95 * sqrt(share * (1.0 - share) / timed as f64);
        let end = |share: f64| self.at(share.clamp(0.0, 1.0) * total);
        let (value, low, high) = (end(share)?, end(share - half)?, end(share + half)?);
        let on_step = self.is_step(low, high);
        Some(Quantile { value: if on_step { high } else { value }, low, high, on_step })
    }

    /// Returns whether fewer hops lie between two clusters than in the upper one.
    fn is_step(&self, low: f64, high: f64) -> bool {
        let hop = |window: f64| (window - self.overhead).max(0.0);
        let step = self.step as f64;
        let margin = |end: f64| (CLUSTER * hop(end)).max(step);
        let (from, to) = (low + margin(low), high - margin(high));
        // What falls between two steps of the counter cannot be seen.
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
