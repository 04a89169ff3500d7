//! Summarises batches to a round and rounds to a series, and detects disturbed batches and rounds.
//!
//! The module has workspaces and no clock.

use latency_core::stats::{self, DominantState};
use latency_core::{Interval, Summary, ToReal, math};

use crate::budget::{MOST_ROUNDS, ROUNDS};
use crate::error::Attempt;
use crate::result::series::EVENTS;
use crate::result::{Counters, Round, RoundSeries, Software, may_be_coarse};
use crate::schedule::grouped::{self, GroupedTurns};
use crate::seam::{Batch, Walkable};
use latency_sys::{Errno, Table};

/// Maximum batches of a round.
pub const MOST_BATCHES: usize = 1024;
/// A batch longer than its round's median by this many nanoseconds counts as interrupted; smaller excesses are attributed to
/// memory.
const GAP_NS: f64 = 3_000.0;
/// Maximum batches of a round that is compared with the other rounds, to decide whether it was disturbed.
const LONE_BATCHES: u32 = 2;
/// A round of one or two batches counts as disturbed only if it is slower than the others by more than this fraction.
const LONE_GAP: f64 = 0.1;
/// Relative error of the clock's calibration: one calibration times all rounds, and the calibration of the next run
/// agrees to 30 ppm on a busy machine.
const CALIBRATION: f64 = 1e-4;
/// Ratio to the typical batch above which a batch is stalled; a mean counts it with this ratio.
const STALL: f64 = 2.0;
/// Ratio to the shortest round above which a round is stalled, too.
const STALLED: f64 = 4.0;
/// Relative error of a mean over rounds because the time between rounds is not observed: for bursts that last a tenth
/// of the time (simulated).
const UNSEEN: f64 = 3e-3;
/// Ratio to the second longest round above which a round is stalled.
const FAR: f64 = 1.5;
/// Minimum batches of a round in which the counted time of each batch is limited.
const MANY_BATCHES: u32 = 20;
/// Minimum batches for reporting the share in the dominant state.
const TELLING_BATCHES: usize = 10;

/// Maximum values of an interval: in ten seconds, each block is as long as the distance between two rounds with a pause
/// between them.
const BLOCKS: usize = 62;
/// Minimum rounds for a mean; with fewer, a single round decides it.
const MEAN_ROUNDS: usize = 2 * ROUNDS;

/// A summary of values that may reorder them.
type Reduce = fn(&mut [f64]) -> Option<Summary>;

/// Returns the median of all values.
fn middle(values: &mut [f64]) -> Option<DominantState> {
    stats::median(values).map(|value| DominantState { value, share: f64::NAN })
}

/// Returns the mean of values.
fn mean(values: &mut [f64]) -> Option<DominantState> {
    let value = values.iter().sum::<f64>() / values.len().real();
    Some(DominantState { value, share: f64::NAN })
}

/// Returns the state that most values are in, with its share if there are enough values.
fn state(values: &mut [f64]) -> Option<DominantState> {
    let telling = values.len() >= TELLING_BATCHES;
    stats::state(values).map(|state| if telling { state } else { DominantState { share: f64::NAN, ..state } })
}

/// Gives each batch without a reading of the core's clock the mean of the readings before and after it.
fn fill_clocks(batches: &mut [Batch]) {
    let mut before = f64::NAN;
    let mut left = batches;
    while let Some(gap) = left.iter().position(|batch| batch.core_gigahertz.is_finite()) {
        let (unread, others) = left.split_at_mut(gap);
        let Some((read, others)) = others.split_first_mut() else { return };
        let after = read.core_gigahertz;
        let mean = if before.is_nan() { after } else { (before + after) / 2.0 };
        unread.iter_mut().for_each(|batch| batch.core_gigahertz = mean);
        (before, left) = (after, others);
    }
    left.iter_mut().for_each(|batch| batch.core_gigahertz = before);
}

/// Writes the values of rounds to `scratch`, in the order of time and without NaN, and returns their number. If there
/// are many rounds, the values are medians over equal times: consecutive rounds are alike, so the rounds after a longer
/// pause count as much as them.
fn in_blocks(rounds: &[Round], select: &dyn Fn(&Round) -> f64, scratch: &mut [f64]) -> usize {
    let first_ns = rounds.first().map_or(0.0, |round| round.begun_ns);
    let span_ns = rounds.last().map_or(0.0, |round| round.begun_ns) - first_ns;
    let are_many = rounds.len() > BLOCKS;
    let block_of = |(index, round): (usize, &Round)| match are_many && span_ns > 0.0 {
        true => math::whole((round.begun_ns - first_ns) / span_ns * (BLOCKS - 1).real()) as usize,
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

/// Separates the disturbed batches from the others, and summarises the others by their dominant state.
fn digest(batches: &mut [Batch], scratch: &mut [f64], hops: u64) -> Round {
    let made = batches.len();
    if may_be_coarse() {
        fill_clocks(batches);
    }
    // Unknown times and clocks are NaN.
    let mut of = |value: &dyn Fn(&Batch) -> f64, reduce: fn(&mut [f64]) -> Option<DominantState>| {
        let values = batches.iter().map(value).filter(|value| value.is_finite());
        reduce(stats::gather(scratch, values)).unwrap_or(DominantState { value: f64::NAN, share: f64::NAN })
    };
    let median = of(&|batch| batch.nanoseconds, middle).value;
    let deviation = of(&|batch| (batch.nanoseconds - median).abs(), middle).value;
    // Ten deviations of a quiet round are a few per cent; of a noisy round, correspondingly more.
    let gap = (GAP_NS / hops.max(1).real()).max(10.0 * deviation);
    let calm = |batch: &Batch| !batch.preempted && batch.nanoseconds <= median + gap;
    let disturbed = made - batches.iter().filter(|batch| calm(batch)).count();
    // If every batch was disturbed, all of them count.
    let kept = |batch: &Batch, value: f64| if disturbed == made || calm(batch) { value } else { f64::NAN };
    let count = |is: fn(&&Batch) -> bool| batches.iter().filter(is).count() as u32;
    let DominantState { value: nanoseconds, share } = of(&|batch| kept(batch, batch.nanoseconds), state);
    Round {
        nanoseconds,
        mean_ns: of(&|batch| kept(batch, batch.nanoseconds.min(STALL * median)), mean).value,
        state_share: share,
        core_cycles: of(&|batch| kept(batch, batch.nanoseconds * batch.core_gigahertz), state).value,
        core_gigahertz: of(&|batch| batch.core_gigahertz, middle).value,
        delivered: of(&|batch| kept(batch, batch.delivered), middle).value,
        minimum_ns: batches.iter().map(|batch| batch.nanoseconds).fold(f64::INFINITY, f64::min),
        maximum_ns: batches.iter().map(|batch| kept(batch, batch.nanoseconds)).fold(f64::NAN, f64::max),
        batches: made as u32,
        disturbed: disturbed as u32,
        stepped_back: count(|batch| batch.nanoseconds.is_nan()),
        throttled: count(|batch| batch.throttled),
        unsettled: count(|batch| batch.unsettled),
        ..Round::default()
    }
}

/// The workspaces of summaries.
#[derive(Debug)]
pub struct Summariser {
    batches: Table<Batch>,
    /// The batches of grouped chains.
    grouped: Table<Batch>,
    scratch: Table<f64>,
}

impl Summariser {
    /// Allocates the workspaces of a round and of a series.
    ///
    /// # Errors
    ///
    /// The error of mapping its tables.
    pub fn new() -> Result<Self, Errno> {
        Ok(Summariser {
            // All pages are resident, so that a round makes no page faults between its batches.
            batches: Table::filled(MOST_BATCHES, Batch::NONE)?,
            grouped: Table::filled(MOST_BATCHES, Batch::NONE)?,
            scratch: Table::filled(MOST_BATCHES.max(MOST_ROUNDS), 0.0)?,
        })
    }

    /// Makes a round of at most `count` batches of `hops` hops each, after `untimed` hops of a warm-up. It ends early after
    /// `limit_ns` of walking, or at `until_ns`. Grouped chains are walked in turn with the random one, and their walks do
    /// not count.
    ///
    /// # Errors
    ///
    /// The errors of [`Walkable::walk`]. The batches of an interrupted round are lost.
    pub fn round(
        &mut self,
        chain: &mut dyn Walkable,
        (untimed, hops): (u64, u64),
        count: u32,
        limit_ns: f64,
        until_ns: f64,
    ) -> Attempt<Round> {
        let (mut spent_ns, mut fewest) = (0.0, hops);
        // A batch that was interrupted by another task must not use up the time of the whole round.
        let longest_ns = if count >= MANY_BATCHES { limit_ns / f64::from(MANY_BATCHES) } else { limit_ns };
        let begun_ns = chain.now_ns();
        let before = chain.software();
        let count = (count as usize).clamp(1, MOST_BATCHES);
        let mut turns = GroupedTurns::of(chain, (untimed, hops), count, MOST_BATCHES);
        self.batches.truncate(0);
        for made in 0..count as u64 {
            if let Some(turns) = &mut turns {
                turns.catch_up(chain, &mut self.grouped, made * hops, until_ns)?;
            }
            let batch = chain.batch(hops, until_ns)?;
            self.batches.push(batch);
            spent_ns += (batch.nanoseconds * batch.hops.real()).max(0.0).min(longest_ns);
            fewest = fewest.min(batch.hops);
            let is_late = || until_ns.is_finite() && chain.now_ns() >= until_ns;
            if spent_ns >= limit_ns || batch.hops < hops || is_late() {
                break;
            }
        }
        if let Some(turns) = &mut turns {
            turns.take_turns(chain, &mut self.grouped, self.batches.len() as u64 * hops, until_ns)?;
        }
        let software = chain.software().since(&before);
        let ended_ns = chain.now_ns();
        // The surroundings of the point, such as generators, still run, and no walk is being timed.
        let uncore_gigahertz = chain.uncore_gigahertz();
        let counted = chain.count(hops)?;
        let mut round = digest(&mut self.batches, &mut self.scratch, fewest);
        // Means, since differences of chains are extrapolated: where few loads hit the TLB, medians and dominant states are
        // above the means, by the more the fewer visits a chain makes.
        round.grouped = turns.map(|turns| {
            turns
                .parts(&mut self.grouped)
                .map(|(batches, hops)| digest(batches, &mut self.scratch, hops).mean_ns)
        });
        (round.software, round.counted) = (software, counted);
        (round.begun_ns, round.ended_ns, round.uncore_gigahertz) = (begun_ns, ended_ns, uncore_gigahertz);
        Ok(round)
    }

    /// Records part number `index` of a pass. The last [`MOST_BATCHES`] parts are kept.
    pub fn note(&mut self, index: usize, nanoseconds: f64) {
        if let Some(slot) = self.scratch.get_mut(index % MOST_BATCHES) {
            *slot = nanoseconds;
        }
    }

    /// Returns the value of the later half of the `noted` parts, by the rule for the batches of a round, so that both
    /// are comparable: interrupted parts do not count. The earlier half has filled the TLBs and brought in page tables.
    pub fn later_half(&mut self, noted: usize) -> Option<f64> {
        let from = if noted > MOST_BATCHES { 0 } else { noted / 2 };
        self.scratch.get_mut(from..noted.min(MOST_BATCHES)).and_then(stats::state).map(|state| state.value)
    }

    /// Summarises values in the order of their measurement, without NaN.
    pub fn summarise_values(&mut self, values: impl Iterator<Item = f64>) -> Option<Summary> {
        stats::summarise_series(stats::gather(&mut self.scratch, values.filter(|value| value.is_finite())))
    }

    /// Returns the interval of the mean over rounds, if there are enough rounds. If batches or rounds are in several
    /// states, the mean differs from the median and is the value that a program experiences; so the interval of a point
    /// covers both.
    fn mean(&mut self, rounds: &[Round]) -> Option<Interval> {
        let is_mean = |mean: &f64| mean.is_finite() && *mean > 0.0;
        let mean = |round: &Round| Some(round.mean_ns).filter(is_mean).unwrap_or(f64::NAN);
        // A single stall must not decide the mean: a round far beyond all others counts as the largest of the others.
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

    /// Summarises the rounds of a point.
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
        // A round of one or two batches has no median to compare them with, so it is compared with the other rounds.
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
            split: grouped::split(&nanoseconds, &mut |select| of(select, in_time)),
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
            maximum_ns: rounds.iter().map(|round| round.maximum_ns).fold(f64::NAN, f64::max),
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
