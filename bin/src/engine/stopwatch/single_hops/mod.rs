//! Times single hops, in alternation with batches, at every visit to a point.
//!
//! Each visit makes some thousand hops with stamps around each, and spends the same time in a loop that touches no
//! memory, to detect interruptions. Times are written to plain memory that fits a near cache, and are moved to
//! histograms after the clock has stopped.

mod conclude;

use latency_core::arch;
use latency_core::buffer::TimedHops;
use latency_core::histogram::Histogram;
use latency_core::hops::{self, Sample, Stamped, Tally, Watch};
use latency_core::math::{self, ToReal};
use latency_core::stats;

use crate::engine::seam::FEWEST_HOPS;
use crate::engine::stopwatch::clock::Counter;
use crate::engine::stopwatch::lanes::not_proven;
use crate::engine::stopwatch::subject::Subject;
use crate::error::Failure;
use crate::result::Round;
use crate::result::distribution::{Distribution, PERCENTAGES};
use crate::sys::errno::Errno;
use crate::sys::table::Table;
use crate::sys::{cpu, signal};

/// Windows between two checks of the clock: 48 KiB of samples, which fit in a second-level cache.
const WINDOWS: usize = 4096;
/// Number of bursts of [`WINDOWS`] at a visit.
const BURSTS: usize = 8;
/// Maximum nanoseconds of a visit, however slow the hops.
const LONGEST_VISIT_NS: f64 = 1e8;
/// Minimum nanoseconds of a window: shorter hops share a window, because the jitter of the stamps is some nanoseconds.
const SHORTEST_WINDOW_NS: f64 = 30.0;
/// Minimum steps of a coarse counter in a window, and in an interruption.
const WINDOW_STEPS: u32 = 4;
const GAP_STEPS: u32 = 8;
/// Maximum hops in a window; more hops are timed as a batch.
const MOST_EACH: f64 = 64.0;
/// Nanoseconds of an untimed walk before each burst, or of a lap. Between bursts the chain is hardly touched, and
/// samples, histograms and other users of the machine evict it from the caches, above all its page tables. Without this
/// walk, single hops of 1 GiB and the batches after them were 1 to 5 % slower than the batches alone, and 10 to 30 %
/// slower on a machine shared with busy others.
const WARM_UP_NS: f64 = 5e6;
/// Maximum visits with a recorded mean, which is compared with the batches of the same visit.
const VISITS: usize = 64;
/// Maximum hops with a recorded time, for the search for refresh: 5 % of them are slow.
const LOGGED: usize = 1 << 17;
/// Minimum nanoseconds of an interruption: the watching loop needs some nanoseconds, and no instruction delays it
/// longer than this.
const LEAST_GAP_NS: f64 = 200.0;

/// Nanoseconds of a batch, as in other experiments.
const BATCH_NS: f64 = 1e5;
/// Number of batches at a visit, and of stretches of single hops with the length of a batch.
const BATCHES: usize = 128;

/// The values of one visit to one point.
#[derive(Clone, Copy)]
struct Visit {
    /// Ticks of a window: the most frequent mean over stretches with the length of a batch.
    window: f64,
    /// Nanoseconds per hop of the batches: the most frequent value, too.
    batch_ns: f64,
    /// Percentiles of the visit's windows in ticks, in the order of [`PERCENTAGES`].
    percentiles: [f64; PERCENTAGES.len()],
}

impl Visit {
    const EMPTY: Visit =
        Visit { window: f64::NAN, batch_ns: f64::NAN, percentiles: [f64::NAN; PERCENTAGES.len()] };
}

/// Means of parts of a visit.
struct Parts {
    means: [f64; BATCHES],
    count: usize,
}

impl Parts {
    const EMPTY: Parts = Parts { means: [0.0; BATCHES], count: 0 };

    /// Adds a mean; NaN, from a clock that stepped back, is left out.
    fn add(&mut self, mean: f64) {
        if let Some(slot) = self.means.get_mut(self.count).filter(|_| mean.is_finite()) {
            *slot = mean;
            self.count += 1;
        }
    }

    /// Returns the value that most parts agree on, without interrupted or disturbed parts.
    fn most_frequent(&mut self) -> f64 {
        self.means.get_mut(..self.count).and_then(stats::state).map_or(f64::NAN, |state| state.value)
    }
}

/// Returns the mean of the windows without an entry to the kernel.
fn stretch_mean(samples: &[TimedHops]) -> Option<f64> {
    let calm = || samples.iter().filter(|sample| !sample.interrupted);
    let sum: u64 = calm().map(|sample| u64::from(sample.window)).sum();
    let count = calm().count();
    (count > 0).then(|| sum.real() / count.real())
}

/// The counts of one point so far.
#[derive(Clone, Copy, Default)]
struct Recording {
    windows: Tally,
    interrupted: Tally,
    longest_interrupted: u64,
    stepped_back: u64,
    empties: Tally,
    gaps: Tally,
    longest_gap: u64,
    watched: u64,
    interrupts: u64,
    switches: u64,
    /// Number of hops of a window.
    each: u32,
    visits: usize,
    logged: usize,
}

impl Recording {
    /// Returns the interruptions that the loop without memory detected.
    fn watch(&self) -> Watch<'_> {
        Watch {
            gaps: &self.gaps,
            exposure: self.windows.sum().real() / self.watched.max(1).real(),
            // If interrupts are detected, they include context switches.
            switches: if self.interrupts > 0 { 0 } else { self.switches },
        }
    }

    /// Returns the minimum ticks of an interrupted window, given the median window.
    fn interrupted_from(&self, median: u64) -> Option<u64> {
        hops::interrupted_from(&self.windows, median, &self.watch())
    }

    /// Returns the number of entries to the kernel per tick.
    fn entries(&self) -> f64 {
        self.interrupts.real() / self.watched.max(1).real()
    }
}

/// A function that returns true if the thread was on another CPU and was pinned again.
type BroughtBack<'b> = dyn Fn() -> Result<bool, Failure<'static>> + 'b;

/// The single hops of every point.
pub struct Singles {
    counter: Counter,
    samples: Table<TimedHops>,
    recordings: Table<Recording>,
    visits: Table<Visit>,
    /// The windows of the current visit.
    under_way: Table<Histogram>,
    log: Table<Stamped>,
    distributions: Table<Distribution>,
}

impl Singles {
    /// Allocates room for the hops of `points`: about 2 MiB each.
    ///
    /// # Errors
    ///
    /// The error of mapping its memory.
    pub fn new(counter: &Counter, points: usize) -> Result<Self, Errno> {
        Ok(Singles {
            counter: *counter,
            samples: Table::filled(WINDOWS, TimedHops::default())?,
            recordings: Table::filled(points, Recording { each: 1, ..Recording::default() })?,
            visits: Table::filled(points * VISITS, Visit::EMPTY)?,
            under_way: Table::made(1, |_| Histogram::EMPTY)?,
            log: Table::filled(points * LOGGED, Stamped::default())?,
            distributions: Table::filled(
                points,
                Distribution::new(counter.frequency, counter.step.0.max(1)),
            )?,
        })
    }

    /// Returns the minimum ticks of an interruption.
    fn least_gap(&self) -> u64 {
        let nanoseconds = LEAST_GAP_NS.max(self.counter.at_least(GAP_STEPS));
        math::whole(nanoseconds * self.counter.frequency.gigahertz())
    }

    /// Makes some thousand windows. Returns their ticks.
    fn burst(
        &mut self,
        index: usize,
        subject: &Subject<'_>,
        node: &mut u64,
        (windows, latency_ns): (usize, f64),
        (stretch, stretches): (usize, &mut Parts),
        brought_back: &BroughtBack<'_>,
    ) -> Result<u64, Failure<'static>> {
        if signal::interrupted() {
            return Err(Failure::Interrupted);
        }
        let (Some(recording), Some(distribution), Some(samples), Some(under_way)) = (
            self.recordings.get_mut(index),
            self.distributions.get_mut(index),
            self.samples.get_mut(..windows.min(WINDOWS)),
            self.under_way.first_mut(),
        ) else {
            return Ok(0);
        };
        let stamp = self.counter.stamp;
        let nodes = subject.buffer.chain().nodes();
        let warm_up = math::whole((WARM_UP_NS / latency_ns).min(nodes.real()));
        let ended = subject.buffer.walk(subject.kernel, *node, warm_up as usize).map_err(not_proven)?;
        *node = subject.buffer.prove(*node, warm_up, ended).map_err(not_proven)?;
        let before = cpu::thread_usage().map(|usage| usage.involuntary_switches).unwrap_or_default();
        let (ended, begin) = subject
            .buffer
            .timed_hops(subject.kernel, *node, recording.each as usize, stamp, samples)
            .map_err(not_proven)?;
        let spent = stamp.end().ticks.saturating_sub(begin);
        let after = cpu::thread_usage().map(|usage| usage.involuntary_switches).unwrap_or_default();
        recording.switches += after.saturating_sub(before);
        let hops = samples.len() as u64 * u64::from(recording.each);
        *node = subject.buffer.prove(*node, hops, ended).map_err(not_proven)?;
        if brought_back()? {
            return Ok(0);
        }
        let log = self.log.get_mut(index * LOGGED..(index + 1) * LOGGED).unwrap_or_default();
        for sample in samples.iter() {
            if sample.interrupted {
                // A pair of stamps without a distance means that the counter stepped back.
                recording.stepped_back += u64::from(sample.window == 0 || sample.empty == 0);
                recording.interrupted.record(sample.window.into());
                recording.longest_interrupted = recording.longest_interrupted.max(sample.window.into());
                continue;
            }
            distribution.windows.record(sample.window.into());
            under_way.record(sample.window.into());
            distribution.empties.record(sample.empty.into());
            recording.windows.record(sample.window.into());
            recording.empties.record(sample.empty.into());
            if let Some(place) = log.get_mut(recording.logged) {
                *place = Stamped { at: begin + u64::from(sample.since), window: sample.window };
                recording.logged += 1;
            }
        }
        samples
            .chunks_exact(stretch.clamp(1, samples.len().max(1)))
            .filter_map(stretch_mean)
            .for_each(|mean| stretches.add(mean));
        Ok(spent)
    }

    /// Makes one batch. Returns its nanoseconds per hop.
    fn batch(&self, subject: &Subject<'_>, node: &mut u64, hops: u64) -> Result<f64, Failure<'static>> {
        let walk = subject
            .buffer
            .timed_walk(subject.kernel, *node, hops as usize, self.counter.stamp)
            .map_err(not_proven)?;
        *node = subject.buffer.prove(*node, hops, walk.ended).map_err(not_proven)?;
        Ok(self.counter.elapsed_ns(walk.start, walk.end.ticks) / hops.real())
    }

    /// Watches for interruptions for `ticks` ticks.
    fn watch(&mut self, index: usize, ticks: u64) {
        let least = self.least_gap();
        let stamp = self.counter.stamp;
        let Some(recording) = self.recordings.get_mut(index) else { return };
        let begin = arch::unserialised_ticks(stamp);
        let mut last = begin;
        arch::set_interrupt_mark();
        while last.saturating_sub(begin) < ticks {
            let now = arch::unserialised_ticks(stamp);
            if !arch::interrupt_mark_holds() {
                arch::set_interrupt_mark();
                recording.interrupts += 1;
                last = arch::unserialised_ticks(stamp);
                continue;
            }
            let gap = now.saturating_sub(last);
            if gap >= least {
                recording.gaps.record(gap);
                recording.longest_gap = recording.longest_gap.max(gap);
            }
            last = now;
        }
        recording.watched += last.saturating_sub(begin);
    }

    /// Times single hops of point number `index`, after a `round`. The walk begins at `node`, which is updated to its
    /// end. Times on another CPU are left out.
    ///
    /// # Errors
    ///
    /// The errors of a walk, including [`Failure::Interrupted`].
    pub fn visit(
        &mut self,
        index: usize,
        subject: &Subject<'_>,
        node: &mut u64,
        round: &Round,
        brought_back: &BroughtBack<'_>,
    ) -> Result<(), Failure<'static>> {
        let Some(recording) = self.recordings.get_mut(index) else { return Ok(()) };
        // A round that was disturbed throughout must not reduce the visit to a few hops.
        let latency_ns = round.nanoseconds.min(round.minimum_ns).max(0.1);
        let shortest_ns = SHORTEST_WINDOW_NS.max(self.counter.at_least(WINDOW_STEPS));
        if recording.visits == 0 {
            let wanted = shortest_ns / latency_ns;
            recording.each = 1 + if wanted > 1.0 { wanted.min(MOST_EACH - 1.0) as u32 } else { 0 };
        }
        let made = recording.visits;
        recording.visits += 1;
        let hops_ns = latency_ns * f64::from(recording.each);
        let windows = math::whole(LONGEST_VISIT_NS / BURSTS as f64 / (hops_ns + shortest_ns)) as usize;
        let windows = windows.clamp(1, WINDOWS);
        let hops = math::whole(BATCH_NS / latency_ns).max(FEWEST_HOPS);
        let batches = math::whole(windows.real() * hops_ns / (hops.real() * latency_ns)) as usize + 1;
        let batches = batches.min(BATCHES / BURSTS);
        let stretch = (hops as usize / recording.each as usize).max(windows.div_ceil(BATCHES / BURSTS));
        let (mut stretches, mut times) = (Parts::EMPTY, Parts::EMPTY);
        if let Some(under_way) = self.under_way.first_mut() {
            *under_way = Histogram::EMPTY;
        }
        for _ in 0..BURSTS {
            let parts = (stretch, &mut stretches);
            let spent = self.burst(index, subject, node, (windows, latency_ns), parts, brought_back)?;
            for _ in 0..batches {
                let batch_ns = self.batch(subject, node, hops)?;
                if !brought_back()? {
                    times.add(batch_ns);
                }
            }
            self.watch(index, spent);
        }
        let percentiles = self.percentiles(index);
        let place = self.visits.get_mut(index * VISITS..(index + 1) * VISITS);
        if let Some(place) = place.and_then(|visits| visits.get_mut(made)) {
            let (window, batch_ns) = (stretches.most_frequent(), times.most_frequent());
            *place = Visit { window, batch_ns, percentiles };
        }
        Ok(())
    }

    /// Returns the percentiles of the visit that has ended, given the interruptions detected so far.
    fn percentiles(&self, index: usize) -> [f64; PERCENTAGES.len()] {
        let (Some(recording), Some(windows)) = (self.recordings.get(index), self.under_way.first()) else {
            return Visit::EMPTY.percentiles;
        };
        let sample = Sample {
            histogram: windows,
            below: recording.interrupted_from(windows.percentile(50.0).unwrap_or(0)),
            step: self.counter.step.0.max(1),
            overhead: 0.0,
            entries: recording.entries(),
        };
        PERCENTAGES.map(|percent| sample.percentile(percent).unwrap_or(f64::NAN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disturbed_parts_do_not_change_the_most_frequent_value() {
        let mut parts = Parts::EMPTY;
        assert!(parts.most_frequent().is_nan());
        [160.0, 161.0, 163.0, 160.5, 900.0, 200.0].into_iter().for_each(|mean| parts.add(mean));
        assert!((160.0..161.0).contains(&parts.most_frequent()));
        (0..2 * BATCHES).for_each(|_| parts.add(170.0));
        assert_eq!((parts.count, parts.most_frequent()), (BATCHES, 170.0));
    }

    #[test]
    fn a_stretch_mean_excludes_windows_with_kernel_entries() {
        let sample = |window, interrupted| TimedHops { window, interrupted, ..TimedHops::default() };
        let samples = [sample(400, false), sample(9000, true), sample(500, false)];
        assert_eq!((stretch_mean(&samples), stretch_mean(&samples[1..2])), (Some(450.0), None));
    }
}
