//! Analysis of the times of single hops: percentiles, interruptions, refresh.
//!
//! All functions are pure functions of recorded ticks. They take no samples, and depend neither on
//! the counter's frequency nor on the memory that was measured.

mod sample;
mod tally;

use crate::math::{ToReal, sqrt};
pub use sample::{Quantile, Sample, buckets_below, weight};
pub use tally::Tally;

use crate::histogram::Histogram;
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

#[cfg(test)]
mod tests;
