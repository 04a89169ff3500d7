//! The only timed code: batches of hops, rounds of batches, and what they say together.
//!
//! It knows a buffer and a clock. Where the buffer lies and what is made of the
//! figures is the business of others.

mod lanes;
mod warm_up;

use latency_core::buffer::Astray;
use latency_core::chain::SATTOLO_LIMIT;
use latency_core::stats;

use super::clock::{Counter, Timer};
use super::counters::{self, Meter};
use crate::engine::subject::Subject;
use crate::error::{Failure, TimingError};
use crate::result::counters::{Counters, Software, EVENTS};
use crate::result::{Round, Series};
use crate::sys::errno::Errno;
use crate::sys::table::Table;
use crate::sys::{cpu, signal, time};

pub use lanes::{start, FILLING_LAPS, NEEDS_COUNTER};

/// The batches of a round, at the most.
pub const MOST_BATCHES: usize = 1024;
/// The rounds of a series, at the most; more say nothing new.
pub const MOST_ROUNDS: usize = 512;
/// A walk is cut here, so that an interrupt is answered: half a second at 120 ns a hop.
const LONGEST_WALK: u64 = 1 << 22;
/// The fewest hops of a batch whose length is chosen here: the remainder loop and the stamps vanish in it.
const FEWEST_HOPS: u64 = 64;
/// A batch that took this much longer than its round's median was interrupted: less is memory.
const GAP_NS: f64 = 3_000.0;
/// Rounds of so few batches are held against the other rounds.
const LONE_BATCHES: u32 = 2;
/// Such a round that is slower than the others by less, as a fraction, is memory.
const LONE_GAP: f64 = 0.1;

/// One batch, per hop. Core cycles are not a number where the core's clock could not be had.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    nanoseconds: f64,
    core_cycles: f64,
    core_gigahertz: f64,
    preempted: bool,
}

/// Runs batches on one CPU with one clock.
#[derive(Debug)]
pub struct Stopwatch<'t> {
    timer: &'t Timer,
    meter: Option<Meter>,
    batches: Table<Batch>,
    scratch: Table<f64>,
}

impl<'t> Stopwatch<'t> {
    /// A stopwatch on `timer`, with counters beside it if they are wanted.
    ///
    /// # Errors
    ///
    /// The error of mapping its sample tables.
    pub fn new(timer: &'t Timer, meter: Option<Meter>) -> Result<Self, Errno> {
        Ok(Stopwatch {
            timer,
            meter,
            batches: Table::filled(MOST_BATCHES, Batch::default())?,
            scratch: Table::filled(MOST_BATCHES.max(MOST_ROUNDS), 0.0)?,
        })
    }

    /// How many hops make a good batch at this latency.
    #[must_use]
    pub fn hops_per_batch(&self, estimate_ns: f64) -> u64 {
        ((self.timer.batch_ns() / estimate_ns.max(0.05)) as u64).clamp(FEWEST_HOPS, LONGEST_WALK)
    }

    /// One round of `count` batches of `hops` hops each, which ends early after `limit_ns`.
    ///
    /// # Errors
    ///
    /// As [`warm_up`](Self::warm_up). What an interrupted round had measured is lost with it.
    pub fn round(
        &mut self,
        subject: &Subject<'_>,
        node: &mut u64,
        hops: u64,
        count: u32,
        limit_ns: f64,
    ) -> Result<Round, Failure<'static>> {
        let mut made = 0;
        let mut spent_ns = 0.0;
        let before = (cpu::thread_usage().unwrap_or_default(), cpu::current());
        for index in 0..(count as usize).clamp(1, MOST_BATCHES) {
            let batch = self.batch(subject, node, hops)?;
            spent_ns += batch.nanoseconds * hops as f64;
            if let Some(slot) = self.batches.get_mut(index) {
                *slot = batch;
            }
            made = index + 1;
            if spent_ns >= limit_ns {
                break;
            }
        }
        let after = (cpu::thread_usage().unwrap_or_default(), cpu::current());
        let usage = after.0.since(&before.0);
        let software = Software {
            switches: (usage.voluntary_switches, usage.involuntary_switches),
            migrations: u64::from(after.1 != before.1),
            faults: (usage.minor_faults, usage.major_faults),
        };
        let counted = match (&self.meter, subject.side) {
            (Some(meter), Some(side)) => {
                self.count_lanes(meter, subject.buffer, side, counters::hops(hops))?
            }
            (meter, _) => counters::walk(meter.as_ref(), subject, node, hops)?,
        };
        Ok(Round { software, counted, ..self.judge(made, hops) })
    }

    fn batch(&mut self, subject: &Subject<'_>, node: &mut u64, hops: u64) -> Result<Batch, Failure<'static>> {
        let nodes = subject.buffer.chain().nodes();
        if nodes <= SATTOLO_LIMIT {
            // The table that proves a small chain lies in the same cache. A lap untimed brings the chain back.
            let _ = subject.buffer.walk(subject.kernel, *node, nodes as usize);
        }
        let before = cpu::thread_usage().map(|usage| usage.involuntary_switches);
        let clock_before = self.timer.counter().and_then(Counter::core_clock);
        let spent = self.walk(subject, node, hops)?;
        let clock_after = self.timer.counter().and_then(Counter::core_clock);
        let after = cpu::thread_usage().map(|usage| usage.involuntary_switches);
        let nanoseconds = spent / hops as f64;
        let core_gigahertz = match (self.timer.counter(), clock_before, clock_after) {
            (Some(counter), Some(before), Some(after)) => {
                (before + after) / 2.0 * counter.frequency.gigahertz()
            }
            _ => f64::NAN,
        };
        let preempted = matches!((before, after), (Ok(before), Ok(after)) if before != after);
        Ok(Batch { nanoseconds, core_cycles: nanoseconds * core_gigahertz, core_gigahertz, preempted })
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
        let gap = (GAP_NS / hops as f64).max(10.0 * deviation);
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

    /// Walks, proves where the walk ended, and gives the nanoseconds that it took.
    fn walk(&self, subject: &Subject<'_>, node: &mut u64, hops: u64) -> Result<f64, Failure<'static>> {
        let mut left = hops;
        let mut spent_ns = 0.0;
        while left > 0 {
            if signal::interrupted() {
                return Err(Failure::Interrupted);
            }
            let part = left.min(LONGEST_WALK);
            left -= part;
            if let Some(side) = subject.side {
                spent_ns += self.walk_lanes(subject.buffer, side, part)?;
                continue;
            }
            let (ended, nanoseconds) = self.timed(subject, *node, part)?;
            let proven = subject.buffer.prove(*node, part, ended);
            *node = proven.map_err(|Astray { .. }| TimingError::HopsNotProven)?;
            spent_ns += nanoseconds;
        }
        Ok(spent_ns)
    }

    #[inline(always)]
    fn timed(
        &self,
        subject: &Subject<'_>,
        node: u64,
        hops: u64,
    ) -> Result<(latency_core::buffer::Cursor, f64), Failure<'static>> {
        let wrong = |_| Failure::Timing(TimingError::HopsNotProven);
        match self.timer {
            Timer::Counter(counter) => {
                let walk = subject
                    .buffer
                    .timed_walk(subject.kernel, node, hops as usize, counter.stamp)
                    .map_err(wrong)?;
                let ticks = walk.end.ticks.saturating_sub(walk.start).saturating_sub(counter.overhead.0);
                Ok((walk.ended, latency_core::clock::nanoseconds(ticks as f64, counter.frequency)))
            }
            Timer::Kernel(clock) => {
                let start = time::monotonic_raw_ns();
                let ended = subject.buffer.walk(subject.kernel, node, hops as usize).map_err(wrong)?;
                let spent = time::monotonic_raw_ns().saturating_sub(start).saturating_sub(clock.overhead_ns);
                Ok((ended, spent as f64))
            }
        }
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
