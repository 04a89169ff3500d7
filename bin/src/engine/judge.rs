//! From batches to a round, and from rounds to a series: which were disturbed, and what the others say.
//!
//! It has workspaces and no clock.

use latency_core::stats;

use super::ground::{Batch, Ground};
use crate::error::Failure;
use crate::plan::budget::MOST_ROUNDS;
use crate::result::counters::{Counters, Software, EVENTS};
use crate::result::{Round, Series};
use crate::sys::errno::Errno;
use crate::sys::table::Table;

/// The batches of a round, at most.
pub const MOST_BATCHES: usize = 1024;
/// A batch that took this much longer than its round's median was interrupted: less is memory.
const GAP_NS: f64 = 3_000.0;
/// Rounds of so few batches are compared with the other rounds.
const LONE_BATCHES: u32 = 2;
/// Such a round that is slower than the others by less, as a fraction, is memory.
const LONE_GAP: f64 = 0.1;

/// The workspaces of judgement.
#[derive(Debug)]
pub struct Judge {
    batches: Table<Batch>,
    scratch: Table<f64>,
}

impl Judge {
    /// Room for a round and for a series.
    ///
    /// # Errors
    ///
    /// The error of mapping its tables.
    pub fn new() -> Result<Self, Errno> {
        Ok(Judge {
            batches: Table::filled(MOST_BATCHES, Batch::default())?,
            scratch: Table::filled(MOST_BATCHES.max(MOST_ROUNDS), 0.0)?,
        })
    }

    /// Makes a round of at most `count` batches of `hops` hops each, which ends early after `limit_ns` of walking or
    /// at `until_ns`.
    ///
    /// # Errors
    ///
    /// As [`Ground::walk`]. What an interrupted round had measured is lost with it.
    pub fn round<G: Ground>(
        &mut self,
        ground: &mut G,
        hops: u64,
        count: u32,
        limit_ns: f64,
        until_ns: f64,
    ) -> Result<Round, Failure<'static>> {
        let (mut made, mut spent_ns, mut fewest) = (0, 0.0, hops);
        let before = ground.software();
        for slot in self.batches.iter_mut().take((count as usize).max(1)) {
            *slot = ground.batch(hops, until_ns)?;
            made += 1;
            spent_ns += slot.nanoseconds * slot.hops as f64;
            fewest = fewest.min(slot.hops);
            if spent_ns >= limit_ns || slot.hops < hops || until_ns.is_finite() && ground.now_ns() >= until_ns
            {
                break;
            }
        }
        let software = ground.software().since(&before);
        let counted = ground.count(hops)?;
        Ok(Round { software, counted, ..self.judge(made, fewest) })
    }

    /// Sorts the disturbed batches from the others, and summarises those.
    fn judge(&mut self, made: usize, hops: u64) -> Round {
        let batches = self.batches.get_mut(..made).unwrap_or_default();
        let scratch = self.scratch.get_mut(..made).unwrap_or_default();
        let mut of = |select: &dyn Fn(&Batch) -> Option<f64>, reduce: fn(&mut [f64]) -> Option<f64>| {
            let mut count = 0;
            for (slot, value) in scratch.iter_mut().zip(batches.iter().filter_map(select)) {
                *slot = value;
                count += 1;
            }
            scratch.get_mut(..count).and_then(reduce).unwrap_or(f64::NAN)
        };
        let median = of(&|batch| Some(batch.nanoseconds), stats::median);
        let deviation = of(&|batch| Some((batch.nanoseconds - median).abs()), stats::median);
        // Ten deviations of a quiet round are a few per cent; of a noisy one, so much more.
        let gap = (GAP_NS / hops.max(1) as f64).max(10.0 * deviation);
        let calm = |batch: &Batch| !batch.preempted && batch.nanoseconds <= median + gap;
        let disturbed = made - batches.iter().filter(|batch| calm(batch)).count();
        // Where every batch was disturbed, all are as good.
        let keep = |batch: &Batch| disturbed == made || calm(batch);
        let finite = |value: f64| value.is_finite().then_some(value);
        Round {
            nanoseconds: of(&|batch| keep(batch).then_some(batch.nanoseconds), stats::half_sample_mode),
            core_cycles: of(
                &|batch| keep(batch).then_some(batch.core_cycles).and_then(finite),
                stats::half_sample_mode,
            ),
            minimum_ns: batches.iter().map(|batch| batch.nanoseconds).fold(f64::INFINITY, f64::min),
            core_gigahertz: of(&|batch| finite(batch.core_gigahertz), stats::median),
            batches: made as u32,
            disturbed: disturbed as u32,
            ..Round::default()
        }
    }

    /// Notes the `index`-th part of a pass. The last [`MOST_BATCHES`] are kept.
    pub fn note(&mut self, index: usize, nanoseconds: f64) {
        if let Some(slot) = self.scratch.get_mut(index % MOST_BATCHES) {
            *slot = nanoseconds;
        }
    }

    /// The most frequent value of the later half of so many noted parts, as of the batches of a round, so that the two
    /// compare: what was interrupted falls out. The earlier half has filled the TLBs and brought in page tables.
    pub fn later_half(&mut self, noted: usize) -> Option<f64> {
        let from = if noted > MOST_BATCHES { 0 } else { noted / 2 };
        self.scratch.get_mut(from..noted.min(MOST_BATCHES)).and_then(stats::half_sample_mode)
    }

    /// The rounds of a point, summarised.
    pub fn summarise(&mut self, rounds: &[Round]) -> Option<Series> {
        let mut of = |select: &dyn Fn(&Round) -> f64, parity: Option<usize>| {
            let mut count = 0;
            let values = rounds
                .iter()
                .enumerate()
                .filter(|(index, _)| parity.is_none_or(|parity| index % 2 == parity))
                .map(|(_, round)| select(round))
                .filter(|value| value.is_finite());
            for (slot, value) in self.scratch.iter_mut().zip(values) {
                *slot = value;
                count += 1;
            }
            self.scratch.get_mut(..count).and_then(stats::summarise)
        };
        let nanoseconds = of(&|round| round.nanoseconds, None)?;
        // A batch or two have no median to stand out from: there the other rounds tell.
        let bound = nanoseconds.median + (10.0 * nanoseconds.mad).max(nanoseconds.median * LONE_GAP);
        let stands_out = |round: &&Round| {
            round.batches <= LONE_BATCHES && round.disturbed == 0 && round.nanoseconds > bound
        };
        let lone: u64 = rounds.iter().filter(stands_out).map(|round| u64::from(round.batches)).sum();
        let halves = (of(&|round| round.nanoseconds, Some(0)), of(&|round| round.nanoseconds, Some(1)));
        let mut per_hop = [None; EVENTS];
        for (event, slot) in per_hop.iter_mut().enumerate() {
            let count = |round: &Round| round.counted.per_hop.get(event).copied().unwrap_or(f64::NAN);
            *slot = of(&count, None).map(|summary| summary.median);
        }
        let running = of(&|round| round.counted.running, None).map(|share| share.minimum);
        Some(Series {
            nanoseconds,
            counters: running.map(|running| Counters { per_hop, running }),
            software: rounds.iter().fold(Software::default(), |sum, round| sum.and(&round.software)),
            core_cycles: of(&|round| round.core_cycles, None),
            core_gigahertz: of(&|round| round.core_gigahertz, None),
            minimum_ns: rounds.iter().map(|round| round.minimum_ns).fold(f64::INFINITY, f64::min),
            batches: rounds.iter().map(|round| u64::from(round.batches)).sum(),
            disturbed: lone + rounds.iter().map(|round| u64::from(round.disturbed)).sum::<u64>(),
            repeat_ratio: match halves {
                (Some(even), Some(odd)) if odd.count >= 3 => Some(odd.median / even.median),
                _ => None,
            },
        })
    }
}
