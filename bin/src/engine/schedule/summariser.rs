//! Summarises batches to a round and rounds to a series, and tells which were disturbed.
//!
//! It has workspaces and no clock.

use latency_core::stats::{self, DominantState, Interval, Summary};

use crate::engine::seam::{Batch, Walkable};
use crate::error::Failure;
use crate::plan::budget::{MOST_ROUNDS, ROUNDS};
use crate::result::counters::{Counters, EVENTS, Software};
use crate::result::{Round, RoundSeries};
use crate::sys::errno::Errno;
use crate::sys::table::Table;

/// Maximum batches of a round.
pub const MOST_BATCHES: usize = 1024;
/// A batch longer than its round's median by this many nanoseconds counts as interrupted; smaller excesses are attributed to
/// memory.
const GAP_NS: f64 = 3_000.0;
/// Maximum batches of a round that is compared with the other rounds.
const LONE_BATCHES: u32 = 2;
/// A round of one or two batches counts as disturbed only if it is slower than the others by more than this fraction.
const LONE_GAP: f64 = 0.1;
/// Error of the calibration of the clock, as a fraction: all rounds are timed by one, which the next run repeats to 30 ppm on
/// a busy machine.
const CALIBRATION: f64 = 1e-4;
/// A batch more than this many times as long as most is stalled, and counts as this many times in a mean.
const STALL: f64 = 2.0;
/// A round this many times as long as the shortest is stalled, too.
const STALLED: f64 = 4.0;
/// Error of a mean over rounds, as a fraction, because the time between them is not seen: for bursts that last a tenth of
/// the time (simulated).
const UNSEEN: f64 = 3e-3;
/// A round this many times as long as the second longest is stalled.
const FAR: f64 = 1.5;
/// Minimum batches of a round that has many.
const MANY_BATCHES: u32 = 20;
/// Below this many batches, the share in the dominant state is not reported.
const TELLING_BATCHES: usize = 10;

/// Maximum values that an interval is taken over: in ten seconds, each is as long as two rounds with a pause between them are
/// apart.
const BLOCKS: usize = 62;
/// Minimum rounds for a mean; of fewer, a single one decides it.
const MEAN_ROUNDS: usize = 2 * ROUNDS;

/// A summary of values that it may bring into another order.
type Reduce = fn(&mut [f64]) -> Option<Summary>;

/// Returns the median of all values.
fn middle(values: &mut [f64]) -> Option<DominantState> {
    stats::median(values).map(|value| DominantState { value, share: f64::NAN })
}

/// Returns the mean of values.
fn mean(values: &mut [f64]) -> Option<DominantState> {
    let value = values.iter().sum::<f64>() / values.len() as f64;
    Some(DominantState { value, share: f64::NAN })
}

/// Returns the state that most values are in, with its share where there are enough.
fn state(values: &mut [f64]) -> Option<DominantState> {
    let telling = values.len() >= TELLING_BATCHES;
    stats::state(values).map(|state| if telling { state } else { DominantState { share: f64::NAN, ..state } })
}

/// Puts the values of rounds to `scratch`, in the order of time and without those that are not numbers, and returns their
/// number. Many rounds become medians over equal times: rounds that follow each other at once are alike, and those after
/// a longer pause count as much.
fn in_blocks(rounds: &[Round], select: &dyn Fn(&Round) -> f64, scratch: &mut [f64]) -> usize {
    let first_ns = rounds.first().map_or(0.0, |round| round.begun_ns);
    let span_ns = rounds.last().map_or(0.0, |round| round.begun_ns) - first_ns;
    let are_many = rounds.len() > BLOCKS;
    let block_of = |(index, round): (usize, &Round)| match are_many && span_ns > 0.0 {
        true => ((round.begun_ns - first_ns) / span_ns * (BLOCKS - 1) as f64) as usize,
        false => index,
    };
    let mut within = [0.0; MOST_ROUNDS];
    let (mut held, mut block, mut count) = (0, 0, 0);
    let mut close = |within: &mut [f64]| {
        if let (Some(median), Some(slot)) = (stats::median(within), scratch.get_mut(count)) {
            *slot = median;
            count += 1;
        }
    };
    for (index, round) in rounds.iter().enumerate() {
        let next = block_of((index, round));
        if next != block {
            close(within.get_mut(..held).unwrap_or_default());
            (held, block) = (0, next);
        }
        let value = select(round);
        if let (true, Some(slot)) = (value.is_finite(), within.get_mut(held)) {
            *slot = value;
            held += 1;
        }
    }
    close(within.get_mut(..held).unwrap_or_default());
    count
}

/// The workspaces of summaries.
#[derive(Debug)]
pub struct Summariser {
    batches: Table<Batch>,
    scratch: Table<f64>,
}

impl Summariser {
    /// Makes room for a round and for a series.
    ///
    /// # Errors
    ///
    /// The error of mapping its tables.
    pub fn new() -> Result<Self, Errno> {
        Ok(Summariser {
            batches: Table::filled(MOST_BATCHES, Batch::NONE)?,
            scratch: Table::filled(MOST_BATCHES.max(MOST_ROUNDS), 0.0)?,
        })
    }

    /// Makes a round of at most `count` batches of `hops` hops each, which ends early after `limit_ns` of walking or
    /// at `until_ns`.
    ///
    /// # Errors
    ///
    /// The errors of [`Walkable::walk`]. The batches of an interrupted round are lost.
    pub fn round(
        &mut self,
        chain: &mut dyn Walkable,
        hops: u64,
        count: u32,
        limit_ns: f64,
        until_ns: f64,
    ) -> Result<Round, Failure<'static>> {
        let (mut made, mut spent_ns, mut fewest) = (0, 0.0, hops);
        // A batch during which the CPU was away is not to be a round by itself.
        let longest_ns = if count >= MANY_BATCHES { limit_ns / f64::from(MANY_BATCHES) } else { limit_ns };
        let begun_ns = chain.now_ns();
        let before = chain.software();
        for slot in self.batches.iter_mut().take((count as usize).max(1)) {
            *slot = chain.batch(hops, until_ns)?;
            made += 1;
            spent_ns += (slot.nanoseconds * slot.hops as f64).max(0.0).min(longest_ns);
            fewest = fewest.min(slot.hops);
            if spent_ns >= limit_ns || slot.hops < hops || until_ns.is_finite() && chain.now_ns() >= until_ns
            {
                break;
            }
        }
        let software = chain.software().since(&before);
        let ended_ns = chain.now_ns();
        // What surrounds the point still goes on, and no time is taken any more.
        let uncore_gigahertz = chain.uncore_gigahertz();
        let counted = chain.count(hops)?;
        let mut round = self.summariser(made, fewest);
        (round.software, round.counted) = (software, counted);
        (round.begun_ns, round.ended_ns, round.uncore_gigahertz) = (begun_ns, ended_ns, uncore_gigahertz);
        Ok(round)
    }

    /// Sorts the disturbed batches from the others, and summarises those: the state that most of them are in.
    fn summariser(&mut self, made: usize, hops: u64) -> Round {
        let batches = self.batches.get_mut(..made).unwrap_or_default();
        let scratch = &mut self.scratch;
        // Times and clocks that could not be had are not numbers.
        let mut of = |value: &dyn Fn(&Batch) -> f64, reduce: fn(&mut [f64]) -> Option<DominantState>| {
            let values = batches.iter().map(value).filter(|value| value.is_finite());
            reduce(stats::gather(scratch, values))
                .unwrap_or(DominantState { value: f64::NAN, share: f64::NAN })
        };
        let median = of(&|batch| batch.nanoseconds, middle).value;
        let deviation = of(&|batch| (batch.nanoseconds - median).abs(), middle).value;
        // Ten deviations of a quiet round are a few per cent; of a noisy one, so much more.
        let gap = (GAP_NS / hops.max(1) as f64).max(10.0 * deviation);
        let calm = |batch: &Batch| !batch.preempted && batch.nanoseconds <= median + gap;
        let disturbed = made - batches.iter().filter(|batch| calm(batch)).count();
        // Where every batch was disturbed, all are as good.
        let kept =
            |batch: &Batch, value: f64| if disturbed == made || calm(batch) { value } else { f64::NAN };
        let count = |is: fn(&&Batch) -> bool| batches.iter().filter(is).count() as u32;
        let DominantState { value: nanoseconds, share } = of(&|batch| kept(batch, batch.nanoseconds), state);
        Round {
            nanoseconds,
            mean_ns: of(&|batch| kept(batch, batch.nanoseconds.min(STALL * median)), mean).value,
            state_share: share,
            core_cycles: of(&|batch| kept(batch, batch.core_cycles), state).value,
            core_gigahertz: of(&|batch| batch.core_gigahertz, middle).value,
            delivered: of(&|batch| kept(batch, batch.delivered), middle).value,
            minimum_ns: batches.iter().map(|batch| batch.nanoseconds).fold(f64::INFINITY, f64::min),
            batches: made as u32,
            disturbed: disturbed as u32,
            stepped_back: count(|batch| batch.nanoseconds.is_nan()),
            throttled: count(|batch| batch.throttled),
            unsettled: count(|batch| batch.unsettled),
            ..Round::default()
        }
    }

    /// Notes the `index`-th part of a pass. The last [`MOST_BATCHES`] are kept.
    pub fn note(&mut self, index: usize, nanoseconds: f64) {
        if let Some(slot) = self.scratch.get_mut(index % MOST_BATCHES) {
            *slot = nanoseconds;
        }
    }

    /// Returns the value of the later half of the `noted` parts, by the same rule as that of the batches of a round, so that
    /// the two compare: what was interrupted falls out. The earlier half has filled the TLBs and brought in page tables.
    pub fn later_half(&mut self, noted: usize) -> Option<f64> {
        let from = if noted > MOST_BATCHES { 0 } else { noted / 2 };
        self.scratch.get_mut(from..noted.min(MOST_BATCHES)).and_then(stats::state).map(|state| state.value)
    }

    /// Summarises values in the order in which they were taken; those that are not numbers are left out.
    pub fn summarise_values(&mut self, values: impl Iterator<Item = f64>) -> Option<Summary> {
        stats::summarise_series(stats::gather(&mut self.scratch, values.filter(|value| value.is_finite())))
    }

    /// The interval of the mean over rounds, if these are enough. Where batches or rounds are in several states, that is
    /// another value than the median, and what a program sees: the interval of a point holds both.
    fn mean(&mut self, rounds: &[Round]) -> Option<Interval> {
        let is_mean = |mean: &f64| mean.is_finite() && *mean > 0.0;
        let mean = |round: &Round| Some(round.mean_ns).filter(is_mean).unwrap_or(f64::NAN);
        // A single stall does not decide: a round far beyond all others counts as the largest of these.
        let below = |most: f64| rounds.iter().map(mean).filter(|mean| *mean < most).fold(0.0, f64::max);
        let most = below(f64::INFINITY);
        let second = below(most);
        let least = rounds.iter().map(mean).fold(f64::INFINITY, f64::min);
        let bound = if second > 0.0 && most > FAR * second { second } else { most }.min(STALLED * least);
        let mean = |round: &Round| match mean(round) {
            mean if mean > bound => bound,
            mean => mean,
        };
        let count = in_blocks(rounds, &mean, &mut self.scratch);
        let means = self.scratch.get(..count).filter(|_| count >= MEAN_ROUNDS)?;
        stats::mean_of_series(means)
    }

    /// The rounds of a point, summarised.
    pub fn summarise(&mut self, rounds: &[Round]) -> Option<RoundSeries> {
        let mean = self.mean(rounds);
        let mut of = |select: &dyn Fn(&Round) -> f64, reduce: Reduce| {
            let count = in_blocks(rounds, select, &mut self.scratch);
            self.scratch.get_mut(..count).and_then(reduce)
        };
        let in_time: Reduce = stats::summarise_series;
        let mut nanoseconds = of(&|round| round.nanoseconds, in_time)?;
        if let (Some(interval), Some(mean)) = (&mut nanoseconds.interval, mean) {
            let (low, high) = (mean.low * (1.0 - UNSEEN), mean.high * (1.0 + UNSEEN));
            *interval = Interval { low: interval.low.min(low), high: interval.high.max(high) };
        }
        let nanoseconds = nanoseconds.with_common_error(CALIBRATION);
        // A batch or two have no median to stand out from: there the other rounds tell.
        let bound = nanoseconds.median + (10.0 * nanoseconds.mad).max(nanoseconds.median * LONE_GAP);
        let stands_out = |round: &&Round| {
            round.batches <= LONE_BATCHES && round.disturbed == 0 && round.nanoseconds > bound
        };
        let lone: u64 = rounds.iter().filter(stands_out).map(|round| u64::from(round.batches)).sum();
        let mut per_hop = [None; EVENTS];
        for (event, slot) in per_hop.iter_mut().enumerate() {
            let count = |round: &Round| round.counted.per_hop.get(event).copied().unwrap_or(f64::NAN);
            *slot = of(&count, stats::summarise).map(|summary| summary.median);
        }
        let mut plain = |select: &dyn Fn(&Round) -> f64| of(select, stats::summarise);
        let running = plain(&|round| round.counted.running).map(|share| share.minimum);
        let state_share = plain(&|round| round.state_share).map(|share| share.median);
        let core_gigahertz = plain(&|round| round.core_gigahertz);
        let uncore_gigahertz = plain(&|round| round.uncore_gigahertz).map(|clock| clock.median);
        let sum = |count: fn(&Round) -> u32| rounds.iter().map(|round| u64::from(count(round))).sum::<u64>();
        let begun_ns = rounds.first().map_or(0.0, |round| round.begun_ns);
        Some(RoundSeries {
            nanoseconds,
            undisturbed: None,
            warm_over_cold: of(&|round| round.nanoseconds / round.cold_ns, in_time)
                .filter(|ratio| ratio.interval.is_some()),
            counters: running.map(|running| Counters { per_hop, running }),
            software: rounds.iter().fold(Software::default(), |sum, round| sum.and(&round.software)),
            core_cycles: of(&|round| round.core_cycles, in_time),
            delivered: of(&|round| round.delivered, in_time),
            core_gigahertz,
            uncore_gigahertz,
            state_share,
            window_ns: rounds.last().map_or(0.0, |round| round.ended_ns - begun_ns),
            minimum_ns: rounds.iter().map(|round| round.minimum_ns).fold(f64::INFINITY, f64::min),
            batches: sum(|round| round.batches),
            stepped_back: sum(|round| round.stepped_back),
            throttled: sum(|round| round.throttled),
            unsettled: sum(|round| round.unsettled),
            disturbed: lone + sum(|round| round.disturbed),
        })
    }
}

#[cfg(test)]
#[path = "summariser_tests.rs"]
mod tests;
