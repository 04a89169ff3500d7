//! The spread between positions of a chain: physical pages are a hidden variable of every working set about as large as a
//! cache.

use latency_core::stats;

use crate::engine::schedule::{position_of, Schedule};
use crate::plan::budget::{Memory, MOST_ROUNDS, PLACES};
use crate::result::Round;

/// Minimum positions for a spread.
const FEWEST_PLACES: usize = 4;
/// One in this many positions may be out of the ordinary on either side.
const ORDINARY: usize = 10;

impl<A> Schedule<A> {
    /// Returns the number of positions that the rounds of a point were made in, and the spread between them: from the tenth to
    /// the ninetieth percentile of their medians, as a share of the middle one.
    #[must_use]
    pub fn placements(&self, index: usize) -> (usize, Option<f64>) {
        let Memory::Rewritten { places } = self.budget.memory else { return (1, None) };
        let made = self.entries.get(index).map_or(0, |entry| entry.state.rounds);
        let from = index * self.room;
        let rounds = self.rounds.get(from..from + made).unwrap_or_default();
        let mut medians = [f64::NAN; PLACES as usize];
        let mut count = 0;
        for place in 0..places.min(PLACES) {
            if let (Some(median), Some(slot)) =
                (median_at(rounds, index, place, places), medians.get_mut(count))
            {
                *slot = median;
                count += 1;
            }
        }
        let medians = medians.get_mut(..count).unwrap_or_default();
        let Some(middle) = stats::median(medians).filter(|_| count >= FEWEST_PLACES) else {
            return (count, None);
        };
        let end = count / ORDINARY;
        let spread =
            medians.get(count - 1 - end).zip(medians.get(end)).map(|(high, low)| (high - low) / middle);
        (count, spread)
    }
}

/// Returns the median of a point's rounds at a position.
fn median_at(rounds: &[Round], index: usize, place: u64, places: u64) -> Option<f64> {
    let mut values = [f64::NAN; MOST_ROUNDS];
    let mut count = 0;
    let here = rounds.iter().enumerate().filter(|(visit, _)| position_of(index, *visit) % places == place);
    for (slot, (_, round)) in values.iter_mut().zip(here) {
        *slot = round.nanoseconds;
        count += 1;
    }
    values.get_mut(..count).and_then(stats::median)
}
