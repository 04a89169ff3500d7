//! The evaluation of the recorded single hops for reports.
//!
//! Nothing is timed here.

use latency_core::histogram::fold::{self, Search};
use latency_core::hops::{self, Sample};
use latency_core::math;
use latency_core::stats::{self, Summary};
use latency_core::units::Picoseconds;

use crate::engine::stopwatch::single_hops::{LOGGED, Singles, VISITS, Visit};
use crate::result::Outcome;
use crate::result::distribution::{Distribution, Interruptions};
use crate::sys::errno::Errno;
use crate::sys::signal;
use crate::sys::table::Table;
use crate::warning::{Warning, Warnings};

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
        outcomes: &[Outcome<'_>],
        warnings: &mut Warnings,
    ) -> Result<Table<Distribution>, Errno> {
        let mut stamps = Table::filled(2 * MOST_STAMPS, 0)?;
        for (index, outcome) in outcomes.iter().enumerate() {
            let Ok(measured) = &outcome.result else { continue };
            self.conclude_point(index, &mut stamps);
            let stepped_back = self.recordings.get(index).map_or(0, |recording| recording.stepped_back);
            if stepped_back > 0 {
                warnings.push(Warning::TimerSteppedBack { trials: stepped_back });
            }
            let Some(distribution) = self.distributions.get(index) else { continue };
            let (from, to, size) = (outcome.point.initiator, outcome.point.target, outcome.point.size);
            if distribution.each > 1 {
                let latency = Picoseconds(math::whole(measured.series.nanoseconds.median * 1e3));
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
        let least_gap = self.least_gap();
        let visits = self.visits.get(index * VISITS..(index + 1) * VISITS).unwrap_or_default();
        let log = self.log.get(index * LOGGED..(index + 1) * LOGGED).unwrap_or_default();
        let (Some(recording), Some(distribution)) =
            (self.recordings.get(index), self.distributions.get_mut(index))
        else {
            return;
        };
        let empty = distribution.empties.percentile(50.0).unwrap_or(0);
        distribution.each = recording.each;
        distribution.overhead =
            recording.empties.mean_below(Some(EMPTY_TOLERANCE * empty.max(1))).unwrap_or(0.0);
        let median = distribution.windows.percentile(50.0).unwrap_or(0);
        let below = recording.interrupted_from(median);
        distribution.interrupted_from = below;
        distribution.entries = recording.entries();
        let weight = |ticks| hops::weight(ticks, distribution.entries);
        distribution.mean = recording.windows.weighted_mean(below, weight).unwrap_or(f64::NAN);
        distribution.interruptions = Interruptions {
            marked: recording.interrupted.count_from(0),
            marked_mean: recording.interrupted.mean_below(None).unwrap_or(0.0),
            marked_longest: recording.longest_interrupted,
            watched_interrupts: recording.interrupts,
            expected: below.map_or(0.0, |ticks| recording.watch().expected(ticks)),
            gaps: recording.gaps.count_from(0),
            least_gap,
            longest_gap: recording.longest_gap,
            watched: recording.watched,
            switches: recording.switches,
        };
        let made = visits.get(..recording.visits.min(VISITS)).unwrap_or_default();
        let of = |value: &dyn Fn(&Visit) -> Option<f64>| {
            let found = made.iter().filter_map(value).filter(|value| value.is_finite());
            stats::summarise_series(stats::gather(&mut [0.0; VISITS], found))
        };
        for (place, slot) in distribution.over_visits.iter_mut().enumerate() {
            *slot = of(&|visit| visit.percentiles.get(place).copied());
        }
        let facts: &Distribution = distribution;
        let mean = |visit: &Visit| visit.window.is_finite().then(|| facts.nanoseconds(visit.window));
        let median = |summary: Option<Summary>| summary.map_or(f64::NAN, |summary| summary.median);
        let round_ns = median(of(&mean));
        let batch_ns = median(of(&|visit| Some(visit.batch_ns)));
        let ratio = of(&|visit| Some(mean(visit)? / visit.batch_ns));
        (distribution.round_ns, distribution.batch_ns, distribution.ratio) = (round_ns, batch_ns, ratio);
        let slow = Sample { step: 1, ..distribution.sample() }.percentile(SLOW_PERCENT).unwrap_or(0.0);
        distribution.slow_from = math::whole(slow) + 1;
        let log = log.get(..recording.logged).unwrap_or_default();
        let (slow, others) = stamps.split_at_mut(stamps.len() / 2);
        let (slow_count, other_count) = hops::pick(log, distribution.slow_from, below, slow, others);
        if let (Some(slow), Some(others)) = (slow.get(..slow_count), others.get(..other_count)) {
            let search = Search::refresh(distribution.frequency);
            distribution.period = fold::find_period(slow, others, &search, &signal::interrupted);
        }
    }
}
