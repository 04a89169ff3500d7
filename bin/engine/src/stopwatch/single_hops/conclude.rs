//! The evaluation of the recorded single hops for reports.
//!
//! Nothing is timed here.

use latency_core::histogram::fold::{self, Search};
use latency_core::hops::{self, Sample, Stamped};
use latency_core::{Picoseconds, Summary, math, stats};

use crate::result::{Distribution, Interruptions, Outcome};
use crate::stopwatch::Singles;
use crate::stopwatch::single_hops::{LOGGED, Recording, VISITS, Visit};
use crate::warning::{SeenCause, Warning, Warnings};
use latency_sys::{Errno, Table, signal};

/// Maximum number of slow hops in the search: more make it longer and no better.
const MOST_STAMPS: usize = 8192;
/// Percentile above which hops count as slow, and may have been delayed by refresh.
const SLOW_PERCENT: f64 = 95.0;
/// Minimum length of an interrupted empty window, in medians.
const EMPTY_TOLERANCE: u64 = 4;
/// Maximum relative difference between single hops and batches.
const AGREEMENT: f64 = 0.03;

impl Singles {
    /// Returns distributions of the recorded hops, one for each outcome, and adds their warnings. An interrupt ends the
    /// search for refresh.
    ///
    /// # Errors
    ///
    /// The error of mapping a workspace.
    pub fn conclude(
        mut self,
        outcomes: &[Outcome],
        warnings: &mut Warnings,
    ) -> Result<Table<Distribution>, Errno> {
        let mut stamps = Table::filled(2 * MOST_STAMPS, 0)?;
        let least_gap = self.least_gap();
        for ((index, outcome), recording) in outcomes.iter().enumerate().zip(self.recordings.iter_mut()) {
            let Ok(measured) = &outcome.result else { continue };
            recording.conclude(least_gap, self.log.get(index * LOGGED..).unwrap_or_default(), &mut stamps);
            if recording.stepped_back > 0 {
                warnings.push(Warning::TimerSteppedBack { trials: recording.stepped_back });
            }
            let distribution = &recording.found;
            let (from, to, size) = (outcome.point.initiator, outcome.point.target, outcome.point.size);
            if distribution.each > 1 {
                let latency = Picoseconds(math::whole(measured.series.nanoseconds.median * 1e3));
                warnings.push(Warning::HopsTooShort { from, to, size, hops: distribution.each, latency });
            }
            match distribution.ratio {
                Some(Summary { median: ratio, .. }) if (ratio - 1.0).abs() > AGREEMENT => {
                    warnings.push(Warning::HopMeanDiffers {
                        from,
                        to,
                        size,
                        ratio,
                        cause: SeenCause::Unseen,
                    });
                }
                _ => {}
            }
        }
        let Singles { recordings, .. } = &self;
        Table::made(recordings.len(), |index| recordings[index].found)
    }
}

impl Recording {
    /// Concludes the distribution of the point, with the `log` of its first hops.
    fn conclude(&mut self, least_gap: u64, log: &[Stamped], stamps: &mut [u64]) {
        let median = self.found.windows.percentile(50.0).unwrap_or(0);
        let (below, entries) = (self.interrupted_from(median), self.entries());
        let expected = below.map_or(0.0, |ticks| self.watch().expected(ticks));
        let Recording { windows, interrupted, empties, gaps, visits, made, logged, found, .. } = self;
        let empty = found.empties.percentile(50.0).unwrap_or(0);
        found.overhead = empties.mean_below(Some(EMPTY_TOLERANCE * empty.max(1))).unwrap_or(0.0);
        (found.interrupted_from, found.entries) = (below, entries);
        let weight = |ticks| hops::weight(ticks, entries);
        found.mean = windows.weighted_mean(below, weight).unwrap_or(f64::NAN);
        found.interruptions = Interruptions {
            marked: interrupted.count_from(0),
            marked_mean: interrupted.mean_below(None).unwrap_or(0.0),
            expected,
            gaps: gaps.count_from(0),
            least_gap,
            ..found.interruptions
        };
        let made = visits.get(..(*made).min(VISITS)).unwrap_or_default();
        let of = |value: &dyn Fn(&Visit) -> Option<f64>| {
            let found = made.iter().filter_map(value).filter(|value| value.is_finite());
            stats::summarise_series(stats::gather(&mut [0.0; VISITS], found))
        };
        for (place, slot) in found.over_visits.iter_mut().enumerate() {
            *slot = of(&|visit| visit.percentiles.get(place).copied());
        }
        let facts: &Distribution = found;
        let mean = |visit: &Visit| visit.window.is_finite().then(|| facts.nanoseconds(visit.window));
        let median = |summary: Option<Summary>| summary.map_or(f64::NAN, |summary| summary.median);
        let round_ns = median(of(&mean));
        let batch_ns = median(of(&|visit| Some(visit.batch_ns)));
        let ratio = of(&|visit| Some(mean(visit)? / visit.batch_ns));
        (found.round_ns, found.batch_ns, found.ratio) = (round_ns, batch_ns, ratio);
        let slow = Sample { step: 1, ..found.sample() }.percentile(SLOW_PERCENT).unwrap_or(0.0);
        found.slow_from = math::whole(slow) + 1;
        let log = log.get(..*logged).unwrap_or_default();
        let (slow, others) = stamps.split_at_mut(stamps.len() / 2);
        let (slow_count, other_count) = hops::pick(log, found.slow_from, below, slow, others);
        if let (Some(slow), Some(others)) = (slow.get(..slow_count), others.get(..other_count)) {
            let search = Search::refresh(found.frequency);
            found.period = fold::find_period(slow, others, &search, &signal::interrupted);
        }
    }
}
