//! Times single hops, in alternation with the batches of a sweep.
//!
//! Each visit makes some thousand hops with stamps around each, and watches as
//! long in a loop that touches no memory. Times go into plain memory that fits a
//! near cache, and from there into histograms when the clock has stopped.

use latency_core::arch;
use latency_core::buffer::{Astray, TimedHops};
use latency_core::chain::SATTOLO_LIMIT;
use latency_core::histogram::fold::{self, Search};
use latency_core::hops::{self, Stamped, Tally, Watch};
use latency_core::stats::{self, Summary};
use latency_core::units::Picoseconds;

use crate::companion::Companion;
use crate::distribution::{Distribution, Interruptions};
use crate::error::{Failure, TimingError};
use crate::measure::Subject;
use crate::result::{Outcome, Round};
use crate::store::Store;
use crate::sys::errno::Errno;
use crate::sys::{cpu, signal};
use crate::timer::Counter;
use crate::warning::{Warning, Warnings};

/// Windows between two looks at the clock: 48 KiB of samples, which a second-level cache holds.
const WINDOWS: usize = 4096;
/// Bursts of so many windows at a visit.
const BURSTS: usize = 4;
/// A visit is no longer than this, however slow the hops.
const LONGEST_VISIT_NS: f64 = 1e8;
/// Shorter hops drown in the jitter of the stamps, which is some nanoseconds: several then share a window.
const SHORTEST_WINDOW_NS: f64 = 30.0;
/// So many hops in a window are a batch.
const MOST_EACH: f64 = 64.0;
/// Rounds of which the mean is kept to be compared with the batches of the same round.
const ROUNDS: usize = 64;
/// Hops of which the time is kept to look for refresh in: 5 % of them are slow.
const LOGGED: usize = 1 << 17;
/// Slow hops beyond this make the search longer and no better.
const MOST_STAMPS: usize = 8192;
/// The slowest of a hundred hops, less this percentage, are those that refresh may have delayed.
const SLOW_PERCENT: f64 = 95.0;
/// The watching loop takes some nanoseconds; whatever makes it take this long is no instruction.
const LEAST_GAP_NS: f64 = 200.0;
/// An empty window so many times the median was interrupted.
const EMPTY_TOLERANCE: u64 = 4;
/// Single hops and batches may disagree by this much.
const AGREEMENT: f64 = 0.03;

/// What one round of one point gave.
#[derive(Clone, Copy)]
struct RoundOf {
    windows: Tally,
    batch_ns: f64,
}

/// What one point has given so far, besides its histograms.
#[derive(Clone, Copy)]
struct Recording {
    windows: Tally,
    empties: Tally,
    gaps: Tally,
    longest_gap: u64,
    watched: u64,
    switches: u64,
    each: u32,
    rounds: usize,
    logged: usize,
}

impl Recording {
    const EMPTY: Recording = Recording {
        windows: Tally::EMPTY,
        empties: Tally::EMPTY,
        gaps: Tally::EMPTY,
        longest_gap: 0,
        watched: 0,
        switches: 0,
        each: 1,
        rounds: 0,
        logged: 0,
    };
}

/// The single hops of every point of a sweep.
pub struct Singles<'t> {
    counter: &'t Counter,
    samples: Store<TimedHops>,
    recordings: Store<Recording>,
    rounds: Store<RoundOf>,
    log: Store<Stamped>,
    distributions: Store<Distribution>,
}

impl<'t> Singles<'t> {
    /// Room for the hops of so many points: about 2 MiB each.
    ///
    /// # Errors
    ///
    /// That of mapping it.
    pub fn new(counter: &'t Counter, points: usize) -> Result<Self, Errno> {
        Ok(Singles {
            counter,
            samples: Store::filled(WINDOWS, TimedHops::default())?,
            recordings: Store::filled(points, Recording::EMPTY)?,
            rounds: Store::filled(points * ROUNDS, RoundOf { windows: Tally::EMPTY, batch_ns: f64::NAN })?,
            log: Store::filled(points * LOGGED, Stamped::default())?,
            distributions: Store::filled(points, Distribution::EMPTY)?,
        })
    }

    fn ticks(&self, nanoseconds: f64) -> u64 {
        (nanoseconds * self.counter.frequency.gigahertz()) as u64
    }

    /// Some thousand windows; how long they took.
    fn burst(
        &mut self,
        index: usize,
        subject: &Subject<'_>,
        node: &mut u64,
        windows: usize,
        round: &mut Tally,
    ) -> Result<u64, Failure<'static>> {
        if signal::interrupted() {
            return Err(Failure::Interrupted);
        }
        let (Some(recording), Some(distribution), Some(samples)) = (
            self.recordings.get_mut(index),
            self.distributions.get_mut(index),
            self.samples.get_mut(..windows.min(WINDOWS)),
        ) else {
            return Ok(0);
        };
        let stamp = self.counter.stamp;
        let nodes = subject.buffer.chain().nodes();
        let wrong = |_| Failure::Timing(TimingError::HopsNotProven);
        if nodes <= SATTOLO_LIMIT {
            // Samples and histograms have put the chain out of the cache. A lap untimed brings it back.
            subject.buffer.walk(subject.kernel, *node, nodes as usize).map_err(wrong)?;
        }
        let before = cpu::thread_usage().map(|usage| usage.involuntary_switches).unwrap_or_default();
        let (ended, begin) = subject
            .buffer
            .timed_hops(subject.kernel, *node, recording.each as usize, stamp, samples)
            .map_err(wrong)?;
        let spent = stamp.end().ticks.saturating_sub(begin);
        let after = cpu::thread_usage().map(|usage| usage.involuntary_switches).unwrap_or_default();
        recording.switches += after.saturating_sub(before);
        let hops = samples.len() as u64 * u64::from(recording.each);
        let moved = subject.buffer.prove(*node, hops, ended);
        *node = moved.map_err(|Astray { .. }| Failure::Timing(TimingError::HopsNotProven))?;
        let log = self.log.get_mut(index * LOGGED..(index + 1) * LOGGED).unwrap_or_default();
        for sample in samples.iter() {
            distribution.windows.record(sample.window.into());
            distribution.empties.record(sample.empty.into());
            recording.windows.record(sample.window.into());
            recording.empties.record(sample.empty.into());
            round.record(sample.window.into());
            if let Some(place) = log.get_mut(recording.logged) {
                *place = Stamped { at: begin + u64::from(sample.since), window: sample.window };
                recording.logged += 1;
            }
        }
        Ok(spent)
    }

    /// Watches for interruptions for so many ticks.
    fn watch(&mut self, index: usize, ticks: u64) {
        let least = self.ticks(LEAST_GAP_NS);
        let stamp = self.counter.stamp;
        let Some(recording) = self.recordings.get_mut(index) else { return };
        let begin = arch::unserialised_ticks(stamp);
        let mut last = begin;
        while last.saturating_sub(begin) < ticks {
            let now = arch::unserialised_ticks(stamp);
            let gap = now.saturating_sub(last);
            if gap >= least {
                recording.gaps.record(gap);
                recording.longest_gap = recording.longest_gap.max(gap);
            }
            last = now;
        }
        recording.watched += last.saturating_sub(begin);
    }

    /// Makes distributions of what was recorded, one for each outcome, with their warnings.
    ///
    /// # Errors
    ///
    /// That of mapping a workspace.
    pub fn conclude(
        mut self,
        outcomes: &[Outcome<'_>],
        warnings: &mut Warnings,
    ) -> Result<Store<Distribution>, Errno> {
        let mut stamps = Store::filled(2 * MOST_STAMPS, 0)?;
        for (index, outcome) in outcomes.iter().enumerate() {
            let Ok(measured) = &outcome.result else { continue };
            self.conclude_point(index, &mut stamps);
            let Some(distribution) = self.distributions.get(index) else { continue };
            let (from, to, size) = (outcome.point.initiator, outcome.point.target, outcome.point.size);
            if distribution.each > 1 {
                let latency = Picoseconds((measured.series.nanoseconds.median * 1e3) as u64);
                warnings.push(Warning::HopsTooShort { from, to, size, hops: distribution.each, latency });
            }
            match distribution.ratio {
                Some(Summary { median: ratio, .. }) if (ratio - 1.0).abs() > AGREEMENT => {
                    warnings.push(Warning::HopMeanDiffers { from, to, size, ratio });
                }
                _ => {}
            }
        }
        Ok(self.distributions)
    }

    fn conclude_point(&mut self, index: usize, stamps: &mut [u64]) {
        let least_gap = self.ticks(LEAST_GAP_NS);
        let rounds = self.rounds.get(index * ROUNDS..(index + 1) * ROUNDS).unwrap_or_default();
        let log = self.log.get(index * LOGGED..(index + 1) * LOGGED).unwrap_or_default();
        let (Some(recording), Some(distribution)) =
            (self.recordings.get(index), self.distributions.get_mut(index))
        else {
            return;
        };
        let (frequency, step) = (self.counter.frequency, self.counter.step.0.max(1));
        let empty = distribution.empties.percentile(50.0).unwrap_or(0);
        distribution.frequency = frequency;
        distribution.step = step;
        distribution.each = recording.each;
        distribution.overhead =
            recording.empties.mean_below(Some(EMPTY_TOLERANCE * empty.max(1))).unwrap_or(0.0);
        let median = distribution.windows.percentile(50.0).unwrap_or(0);
        let watch = Watch {
            gaps: &recording.gaps,
            exposure: recording.windows.sum() as f64 / recording.watched.max(1) as f64,
            switches: recording.switches,
        };
        let below = hops::interrupted_from(&recording.windows, median, &watch);
        distribution.interrupted_from = below;
        distribution.mean = recording.windows.mean_below(below).unwrap_or(f64::NAN);
        distribution.interruptions = Interruptions {
            expected: below.map_or(0.0, |ticks| watch.expected(ticks)),
            gaps: recording.gaps.count_from(0),
            least_gap,
            longest_gap: recording.longest_gap,
            watched: recording.watched,
            switches: recording.switches,
        };
        let mut ratios = [0.0; ROUNDS];
        let mut count = 0;
        let ratio = |round: &RoundOf| {
            Some(distribution.nanoseconds(round.windows.mean_below(below)?) / round.batch_ns)
        };
        let found = rounds.iter().take(recording.rounds).filter_map(ratio);
        for (slot, ratio) in ratios.iter_mut().zip(found) {
            *slot = ratio;
            count += 1;
        }
        distribution.ratio = ratios.get_mut(..count).and_then(stats::summarise);
        let slow = hops::percentile(&distribution.windows, below, SLOW_PERCENT, 1).unwrap_or(0.0);
        distribution.slow_from = slow as u64 + 1;
        let log = log.get(..recording.logged).unwrap_or_default();
        let (slow, others) = stamps.split_at_mut(stamps.len() / 2);
        let (slow_count, other_count) = hops::pick(log, distribution.slow_from, below, slow, others);
        if let (Some(slow), Some(others)) = (slow.get(..slow_count), others.get(..other_count)) {
            distribution.period = fold::find_period(slow, others, &Search::refresh(frequency));
        }
    }
}

impl Companion for Singles<'_> {
    fn visit(
        &mut self,
        index: usize,
        subject: &Subject<'_>,
        node: &mut u64,
        round: &Round,
    ) -> Result<(), Failure<'static>> {
        let Some(recording) = self.recordings.get_mut(index) else { return Ok(()) };
        if recording.rounds == 0 {
            let wanted = SHORTEST_WINDOW_NS / round.nanoseconds.max(0.1);
            recording.each = if wanted > 1.0 { wanted.min(MOST_EACH - 1.0) as u32 + 1 } else { 1 };
        }
        let made = recording.rounds;
        recording.rounds += 1;
        let window_ns = round.nanoseconds * f64::from(recording.each) + SHORTEST_WINDOW_NS;
        let windows = (LONGEST_VISIT_NS / BURSTS as f64 / window_ns) as usize;
        let mut tally = Tally::EMPTY;
        for _ in 0..BURSTS {
            let spent = self.burst(index, subject, node, windows.max(1), &mut tally)?;
            self.watch(index, spent);
        }
        let place = self.rounds.get_mut(index * ROUNDS..(index + 1) * ROUNDS);
        if let Some(place) = place.and_then(|rounds| rounds.get_mut(made)) {
            *place = RoundOf { windows: tally, batch_ns: round.nanoseconds };
        }
        Ok(())
    }
}
