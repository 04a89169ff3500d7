//! The spread between positions of a chain: the physical pages are a hidden variable of every working set of about the
//! size of a cache.

use core::ops::DerefMut;

use latency_core::stats;

use crate::engine::schedule::{Schedule, position_of};
use crate::engine::seam::Place;
use crate::plan::budget::{MOST_ROUNDS, Memory, PLACES};
use crate::result::Round;

/// Minimum positions for a spread.
const FEWEST_PLACES: usize = 4;
/// Reciprocal of the share of positions that is ignored at either end.
const ORDINARY: usize = 10;

impl<A: DerefMut<Target: Place>> Schedule<A> {
    /// Returns the number of positions that the rounds of a point used, and the spread between them: from the tenth to
    /// the ninetieth percentile of the medians of positions, relative to the middle one.
    pub fn placements(&self, index: usize) -> (usize, Option<f64>) {
        let Memory::Rewritten { places } = self.budget.memory else { return (1, None) };
        let rounds = self.rounds(index);
        let found = (0..places.min(PLACES)).filter_map(|place| median_at(rounds, index, place, places));
        let mut room = [f64::NAN; PLACES as usize];
        let medians = stats::gather(&mut room, found);
        let count = medians.len();
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
    let here = rounds.iter().enumerate().filter(|(visit, _)| position_of(index, *visit) % places == place);
    stats::median(stats::gather(&mut [f64::NAN; MOST_ROUNDS], here.map(|(_, round)| round.nanoseconds)))
}
