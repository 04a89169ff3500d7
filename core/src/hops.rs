//! Analysis of the times of single hops: percentiles with their intervals, interruptions, refresh.
//!
//! All functions are pure functions of recorded ticks. They take no samples, and depend neither on
//! the counter's frequency nor on the memory that was measured.

use crate::histogram::{Bucket, Histogram};
use crate::math::{ToReal, sqrt};
use crate::rng::Pcg32;

/// Minimum length of an interrupted hop, in medians: a shorter interrupted hop cannot be distinguished from a slow
/// memory access.
const LEAST_MEDIANS: u64 = 2;
/// Ratio of the length of an interruption without a chase to its length during a chase: the chase displaces the code
/// of the interrupt handler from the caches, which makes the handler half an octave slower.
const COLD: (u64, u64) = (3, 4);
/// Number of standard deviations by which a count may differ by chance.
const CHANCE: f64 = 3.0;
/// Number of unexplained hops that are ignored.
const STRAY: f64 = 3.0;

/// The interruptions that were observed in a loop that accesses no memory.
#[derive(Clone, Copy, Debug)]
pub struct Watch<'t> {
    /// The lengths of the gaps in the loop.
    pub gaps: &'t Tally,
    /// The time spent in timed hops, divided by the time spent in the loop.
    pub exposure: f64,
    /// The number of involuntary context switches during the hops.
    pub switches: u64,
}

impl Watch<'_> {
    /// Returns the expected number of hops that were interrupted for `ticks` or longer.
    pub fn expected(&self, ticks: u64) -> f64 {
        self.gaps_from(ticks) + self.switches.real()
    }

    fn gaps_from(&self, ticks: u64) -> f64 {
        self.gaps.count_from(ticks).real() * self.exposure
    }
}

/// Returns the ticks from which a hop counts as interrupted.
///
/// This is the smallest number above twice the median from which on hops are not more frequent than
/// equally long gaps in a loop that accesses no memory, in total and in each half octave. Hops that
/// are more frequent than these gaps are caused by memory, regardless of their length. Returns
/// `None` if no hop is that long.
pub fn interrupted_from(hops: &Tally, median: u64, watch: &Watch<'_>) -> Option<u64> {
    let gap = |ticks: u64| ticks.saturating_sub(median) / COLD.1 * COLD.0;
    let by_chance = |found: u64, expected: f64| found.real() <= expected + CHANCE * sqrt(expected) + STRAY;
    let explained = |&ticks: &u64| {
        let above = Tally::edges().find(|&edge| edge > ticks).unwrap_or(u64::MAX);
        let (expected, expected_above) = (watch.expected(gap(ticks)), watch.gaps_from(above));
        let (found, found_above) = (hops.count_from(ticks), hops.count_from(above));
        by_chance(found, expected) && by_chance(found - found_above, expected - expected_above)
    };
    let least = median.saturating_mul(LEAST_MEDIANS);
    let edges = Tally::edges().rev().take_while(|&ticks| ticks > least);
    let from = edges.take_while(explained).last()?;
    (hops.count_from(from) > 0).then_some(from)
}

/// Returns the largest value below `below`, with an error of at most 1/128, or the exact maximum for `None`.
pub fn maximum(histogram: &Histogram, below: Option<u64>) -> Option<u64> {
    let last = buckets_below(histogram, below).last()?;
    Some(last.high.min(histogram.maximum()?))
}

/// The time and the length of a hop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamped {
    /// The counter before the hop.
    pub at: u64,
    /// The ticks of the window around the hop.
    pub window: u32,
}

/// Selects the stamps of hops of `slow` to `below` ticks, and an equal number of stamps of faster hops at random.
///
/// Returns the number of stamps in each list; each list ends when it is full. Both lists ascend if
/// the log ascends.
pub fn pick(
    log: &[Stamped],
    slow: u64,
    below: Option<u64>,
    slow_stamps: &mut [u64],
    other_stamps: &mut [u64],
) -> (usize, usize) {
    let is_slow = |hop: &Stamped| u64::from(hop.window) >= slow;
    let count = log.iter().filter(|hop| is_slow(hop)).count();
    let others = log.len() - count;
    let mut random = Pcg32::new(1, 1);
    let (mut slow_places, mut other_places) = (slow_stamps.iter_mut(), other_stamps.iter_mut());
    let mut taken = (0, 0);
    for hop in log {
        if is_slow(hop) {
            if below.is_some_and(|below| u64::from(hop.window) >= below) {
                continue;
            }
            let Some(place) = slow_places.next() else { break };
            *place = hop.at;
            taken.0 += 1;
        } else if (random.below(u32::try_from(others).unwrap_or(u32::MAX)) as usize) < count
            && let Some(place) = other_places.next()
        {
            *place = hop.at;
            taken.1 += 1;
        }
    }
    taken
}

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

/// Number of half octaves: two for each power of two up to 2^40.
const CELLS: usize = 80;

/// The number of values in each half octave, and their sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    cells: [Cell; CELLS],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    count: u64,
    sum: u64,
}

/// Returns a tally without values.
impl Default for Tally {
    fn default() -> Tally {
        Tally::EMPTY
    }
}

impl Tally {
    /// A tally without values.
    pub const EMPTY: Tally = Tally { cells: [Cell { count: 0, sum: 0 }; CELLS] };

    /// Counts one value; the last cell also counts all larger values.
    pub fn record(&mut self, value: u64) {
        if let Some(cell) = self.cells.get_mut(cell_of(value)) {
            cell.count += 1;
            cell.sum = cell.sum.saturating_add(value);
        }
    }

    /// Returns the number of values in the half octave of `least` and all higher ones.
    pub fn count_from(&self, least: u64) -> u64 {
        self.cells.get(cell_of(least)..).unwrap_or_default().iter().map(|cell| cell.count).sum()
    }

    /// Returns the mean of the values below the half octave of `below`; `None` if there are no values.
    pub fn mean_below(&self, below: Option<u64>) -> Option<f64> {
        self.weighted_mean(below, |_| 1.0)
    }

    /// Returns this mean with weights: the values of each half octave get the `weight` of the half octave's mean.
    pub fn weighted_mean(&self, below: Option<u64>, weight: impl Fn(f64) -> f64) -> Option<f64> {
        let cells = self.cells.get(..below.map_or(CELLS, cell_of)).unwrap_or_default();
        let (mut total, mut sum) = (0.0, 0.0);
        for cell in cells.iter().filter(|cell| cell.count > 0) {
            let (count, ticks) = (cell.count.real(), cell.sum.real());
            let weight = weight(ticks / count);
            total += weight * count;
            sum += weight * ticks;
        }
        (total > 0.0).then(|| sum / total)
    }

    /// Returns the sum of all values.
    pub fn sum(&self) -> u64 {
        self.cells.iter().fold(0, |sum, cell| sum.saturating_add(cell.sum))
    }

    /// Returns the smallest number of each half octave, ascending. Each of these is also a boundary of histogram
    /// buckets.
    pub fn edges() -> impl DoubleEndedIterator<Item = u64> {
        (2..CELLS).map(|cell| (2 + cell as u64 % 2) << (cell / 2 - 1))
    }
}

fn cell_of(value: u64) -> usize {
    let Some(octave) = value.checked_ilog2().filter(|&octave| octave > 0) else { return 0 };
    let upper_half = value >> (octave - 1) & 1;
    (2 * octave as usize + upper_half as usize).min(CELLS - 1)
}

#[cfg(test)]
mod tally_tests;

#[cfg(test)]
mod tests;
