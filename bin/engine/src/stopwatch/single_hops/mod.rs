//! Times single hops, in alternation with batches, at every visit to a point.
//!
//! Each visit makes some thousand hops with stamps around each, and spends the same time in a loop that touches no
//! memory, to detect interruptions. Times are written to plain memory that fits a near cache, and are moved to
//! histograms after the clock has stopped.

mod conclude;

use latency_core::buffer::TimedHops;
use latency_core::histogram::Histogram;
use latency_core::hops::{self, Sample, Stamped, Tally, Watch};
use latency_core::{ToReal, arch, math, stats};

use crate::error::{Attempt, MeasureError};
use crate::result::distribution::PERCENTAGES;
use crate::result::{Counter, Distribution, Interruptions, Round};
use crate::seam::FEWEST_HOPS;
use crate::stopwatch::{Subject, not_proven};
use latency_sys::{Errno, Table, cpu, signal};

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
#[derive(Clone, Copy)]
struct Recording {
    windows: Tally,
    interrupted: Tally,
    empties: Tally,
    gaps: Tally,
    stepped_back: u64,
    visits: [Visit; VISITS],
    /// The number of visits, and of hops in the log.
    made: usize,
    logged: usize,
    /// The histograms, the number of hops of a window and the interruptions so far; the rest is concluded at the end.
    found: Distribution,
}

impl Recording {
    /// Returns the interruptions that the loop without memory detected.
    fn watch(&self) -> Watch<'_> {
        let Interruptions { watched, watched_interrupts, switches, .. } = self.found.interruptions;
        Watch {
            gaps: &self.gaps,
            exposure: self.windows.sum().real() / watched.max(1).real(),
            // If interrupts are detected, they include context switches.
            switches: if watched_interrupts > 0 { 0 } else { switches },
        }
    }

    /// Returns the minimum ticks of an interrupted window, given the median window.
    fn interrupted_from(&self, median: u64) -> Option<u64> {
        hops::interrupted_from(&self.windows, median, &self.watch())
    }

    /// Returns the number of entries to the kernel per tick.
    fn entries(&self) -> f64 {
        let Interruptions { watched, watched_interrupts, .. } = self.found.interruptions;
        watched_interrupts.real() / watched.max(1).real()
    }
}

/// A function that returns true if the thread was on another CPU and was pinned again.
type BroughtBack<'b> = dyn Fn() -> Attempt<bool> + 'b;

/// The single hops of every point.
pub struct Singles {
    counter: Counter,
    samples: Table<TimedHops>,
    recordings: Table<Recording>,
    /// The windows of the current visit.
    under_way: Table<Histogram>,
    log: Table<Stamped>,
}

impl Singles {
    /// Allocates room for the hops of `points`: about 2 MiB each.
    ///
    /// # Errors
    ///
    /// The error of mapping its memory.
    pub fn new(counter: &Counter, points: usize) -> Result<Self, Errno> {
        let recording = Recording {
            windows: Tally::default(),
            interrupted: Tally::default(),
            empties: Tally::default(),
            gaps: Tally::default(),
            stepped_back: 0,
            visits: [Visit::EMPTY; VISITS],
            made: 0,
            logged: 0,
            found: Distribution::new(counter.frequency, counter.step.0.max(1)),
        };
        Ok(Singles {
            counter: *counter,
            samples: Table::filled(WINDOWS, TimedHops::default())?,
            recordings: Table::filled(points, recording)?,
            under_way: Table::made(1, |_| Histogram::EMPTY)?,
            log: Table::filled(points * LOGGED, Stamped::default())?,
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
    ) -> Attempt<u64> {
        if signal::interrupted() {
            return Err(MeasureError::Interrupted);
        }
        let samples = self.samples.get_mut(..windows.min(WINDOWS));
        let (Some(recording), Some(samples), Some(under_way)) =
            (self.recordings.get_mut(index), samples, self.under_way.first_mut())
        else {
            return Ok(0);
        };
        let each = recording.found.each;
        let stamp = self.counter.stamp;
        let nodes = subject.buffer.chain().nodes();
        let warm_up = math::whole((WARM_UP_NS / latency_ns).min(nodes.real()));
        let ended = subject.buffer.walk(subject.kernel, *node, warm_up as usize).map_err(not_proven)?;
        *node = subject.buffer.prove(*node, warm_up, ended).map_err(not_proven)?;
        let before = cpu::thread_usage().map(|usage| usage.involuntary_switches).unwrap_or_default();
        let (ended, begin) = subject
            .buffer
            .timed_hops(subject.kernel, *node, each as usize, stamp, samples)
            .map_err(not_proven)?;
        let spent = stamp.end().ticks.saturating_sub(begin);
        let after = cpu::thread_usage().map(|usage| usage.involuntary_switches).unwrap_or_default();
        let Distribution { windows, empties, interruptions, .. } = &mut recording.found;
        interruptions.switches += after.saturating_sub(before);
        let hops = samples.len() as u64 * u64::from(each);
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
                interruptions.marked_longest = interruptions.marked_longest.max(sample.window.into());
                continue;
            }
            windows.record(sample.window.into());
            under_way.record(sample.window.into());
            empties.record(sample.empty.into());
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
    fn batch(&self, subject: &Subject<'_>, node: &mut u64, hops: u64) -> Attempt<f64> {
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
        let Some(Recording { gaps, found, .. }) = self.recordings.get_mut(index) else { return };
        let interruptions = &mut found.interruptions;
        let begin = arch::unserialised_ticks(stamp);
        let mut last = begin;
        arch::set_interrupt_mark();
        while last.saturating_sub(begin) < ticks {
            let now = arch::unserialised_ticks(stamp);
            if !arch::interrupt_mark_holds() {
                arch::set_interrupt_mark();
                interruptions.watched_interrupts += 1;
                last = arch::unserialised_ticks(stamp);
                continue;
            }
            let gap = now.saturating_sub(last);
            if gap >= least {
                gaps.record(gap);
                interruptions.longest_gap = interruptions.longest_gap.max(gap);
            }
            last = now;
        }
        interruptions.watched += last.saturating_sub(begin);
    }

    /// Times single hops of point number `index`, after a `round`. The walk begins at `node`, which is updated to its
    /// end. Times on another CPU are left out.
    ///
    /// # Errors
    ///
    /// The errors of a walk, including [`MeasureError::Interrupted`].
    pub fn visit(
        &mut self,
        index: usize,
        subject: &Subject<'_>,
        node: &mut u64,
        round: &Round,
        brought_back: &BroughtBack<'_>,
    ) -> Attempt {
        let Some(recording) = self.recordings.get_mut(index) else { return Ok(()) };
        // A round that was disturbed throughout must not reduce the visit to a few hops.
        let latency_ns = round.nanoseconds.min(round.minimum_ns).max(0.1);
        let shortest_ns = SHORTEST_WINDOW_NS.max(self.counter.at_least(WINDOW_STEPS));
        if recording.made == 0 {
            let wanted = shortest_ns / latency_ns;
            recording.found.each = 1 + if wanted > 1.0 { wanted.min(MOST_EACH - 1.0) as u32 } else { 0 };
        }
        let (made, each) = (recording.made, recording.found.each);
        recording.made += 1;
        let hops_ns = latency_ns * f64::from(each);
        let windows = math::whole(LONGEST_VISIT_NS / BURSTS as f64 / (hops_ns + shortest_ns)) as usize;
        let windows = windows.clamp(1, WINDOWS);
        let hops = math::whole(BATCH_NS / latency_ns).max(FEWEST_HOPS);
        let batches = math::whole(windows.real() * hops_ns / (hops.real() * latency_ns)) as usize + 1;
        let batches = batches.min(BATCHES / BURSTS);
        let stretch = (hops as usize / each as usize).max(windows.div_ceil(BATCHES / BURSTS));
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
        let (Some(recording), Some(under_way)) = (self.recordings.get_mut(index), self.under_way.first())
        else {
            return Ok(());
        };
        // The percentiles of the visit that has ended, given the interruptions detected so far.
        let sample = Sample {
            histogram: under_way,
            below: recording.interrupted_from(under_way.percentile(50.0).unwrap_or(0)),
            step: self.counter.step.0.max(1),
            overhead: 0.0,
            entries: recording.entries(),
        };
        let percentiles = PERCENTAGES.map(|percent| sample.percentile(percent).unwrap_or(f64::NAN));
        if let Some(place) = recording.visits.get_mut(made) {
            let (window, batch_ns) = (stretches.most_frequent(), times.most_frequent());
            *place = Visit { window, batch_ns, percentiles };
        }
        Ok(())
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
