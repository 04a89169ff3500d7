//! The latency while neighbours are quiet, by rounds that agree on it. Pure: it has rounds and no clock.
//!
//! Neighbours only add to a latency, but the lowest of many values is low by chance, too. So a value is claimed only
//! where rounds in separate seconds agree on the lowest, as a quiet memory does and as neighbours do not: what these
//! add changes from second to second.

use latency_core::sort;
use latency_core::stats::{self, Interval};

use crate::result::{Round, Undisturbed};

/// The rank, among the rounds that count, of a low one: the lowest of all is low by chance.
const LOW: f64 = 0.05;
/// Batches of a round in which a neighbour comes or goes agree less.
const ONE_STATE: f64 = 0.8;
/// A round below this share of what its loads took that no cache served is of a cache in part.
const IN_MEMORY: f64 = 0.98;
/// The requirements on rounds.
struct Bounds {
    /// Rounds are alike up to this ratio to a low one.
    alike: f64,
    /// Rounds further apart, in nanoseconds, are of separate moments, and the fewest of these.
    apart_ns: f64,
    fewest: usize,
    /// Rounds within the next band of the same width, over those that are alike: more of them are the lower end of
    /// whatever neighbours add, and no state of its own.
    above: f64,
}

/// The bounds where all rounds are close to each other, as those of a quiet machine.
const ALL_CLOSE: Bounds = Bounds { alike: 1.03, apart_ns: 0.7e9, fewest: 3, above: 0.5 };
/// The bounds where they are not: quiet moments stand out from the others.
const DIFFERENT: Bounds = Bounds { alike: 1.015, apart_ns: 0.35e9, fewest: 4, above: 0.1 };
/// The tenth and the ninetieth percentile of rounds that differ by less, as a ratio.
const CALM: f64 = 1.05;
/// The rank, among all rounds, of a value that the undisturbed one is not above.
const TENTH: f64 = 0.1;
/// The rounds that are looked at, from the first on.
const MOST: usize = crate::plan::budget::MOST_ROUNDS;

/// Returns whether a latency is longer than that of a look before the run, when neighbours were quieter.
pub fn is_slower(nanoseconds: f64, looked_ns: f64) -> bool {
    /// A look of some milliseconds is as exact as this.
    const LOOK: f64 = 0.95;
    looked_ns < LOOK * nanoseconds
}

/// Returns the latency while neighbours are quiet, or what it is not above; `None` of no rounds. A look before them saw
/// a latency of `looked_ns`, infinite where there was none.
#[must_use]
pub fn undisturbed(rounds: &[Round], looked_ns: f64) -> Option<Undisturbed> {
    let mut room = [0.0; MOST];
    let all = sorted(rounds, &mut room, &|_| true);
    let at = |part: f64| all.get((all.len() as f64 * part) as usize).copied();
    let (at_most, is_calm) = (at(TENTH)?.min(looked_ns), at(1.0 - TENTH)? <= CALM * at(TENTH)?);
    let values = sorted(rounds, &mut room, &is_fit);
    let Some(&low) = values.get((values.len() as f64 * LOW) as usize) else {
        return Some(Undisturbed::AtMost(at_most));
    };
    let bounds = if is_calm { ALL_CLOSE } else { DIFFERENT };
    let top = bounds.alike * low;
    let upper = 2.0 * top - values.first()?;
    let count = values.partition_point(|value| *value <= top);
    let above = values.partition_point(|value| *value <= upper) - count;
    let (mut apart, mut last_ns) = (0, f64::NEG_INFINITY);
    for round in rounds.iter().take(MOST) {
        if is_fit(round) && round.nanoseconds <= top && round.begun_ns - last_ns >= bounds.apart_ns {
            (apart, last_ns) = (apart + 1, round.begun_ns);
        }
    }
    if apart < bounds.fewest || above as f64 > bounds.above * count as f64 || is_slower(low, looked_ns) {
        return Some(Undisturbed::AtMost(at_most));
    }
    let alike = values.get_mut(..count)?;
    let range = Interval { low: *alike.first()?, high: *alike.last()? };
    let found = stats::summarise(alike)?;
    Some(Undisturbed::Seen {
        nanoseconds: found.median,
        interval: found.interval.unwrap_or(range),
        rounds: count as u32,
    })
}

/// Returns whether a round is of memory, and of one state. Values that are not numbers are unknown, and count as good.
fn is_fit(round: &Round) -> bool {
    let is_in_memory = round.cold_ns.is_nan() || round.nanoseconds >= IN_MEMORY * round.cold_ns;
    is_in_memory && (round.state_share.is_nan() || round.state_share >= ONE_STATE)
}

/// Returns the values of the rounds that `counts` chooses, in ascending order.
fn sorted<'r>(rounds: &[Round], room: &'r mut [f64; MOST], counts: &dyn Fn(&Round) -> bool) -> &'r mut [f64] {
    let all = rounds.iter().filter(|round| round.nanoseconds.is_finite() && counts(round));
    let values = stats::gather(room, all.map(|round| round.nanoseconds));
    sort::ascending(values);
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Rounds a quarter of a second apart, with these nanoseconds.
    fn rounds(nanoseconds: &[f64]) -> Vec<Round> {
        let round = |(index, &nanoseconds): (usize, &f64)| Round {
            nanoseconds,
            cold_ns: nanoseconds,
            state_share: 0.95,
            begun_ns: index as f64 * 0.25e9,
            ..Round::default()
        };
        nanoseconds.iter().enumerate().map(round).collect()
    }

    fn seen(rounds: &[Round]) -> Option<(f64, u32)> {
        match undisturbed(rounds, f64::INFINITY)? {
            Undisturbed::Seen { nanoseconds, interval, rounds } => {
                assert!(interval.low <= nanoseconds && nanoseconds <= interval.high);
                Some((nanoseconds, rounds))
            }
            Undisturbed::AtMost(_) => None,
        }
    }

    #[test]
    fn rounds_in_three_seconds_that_agree_are_undisturbed() {
        let mut values = [150.0; 20];
        values[..10].fill(100.0);
        values[3] = 101.0;
        assert_eq!(seen(&rounds(&values)), Some((100.0, 10)));
        // In one second they are of one moment.
        let mut values = [150.0; 20];
        values[..5].fill(100.0);
        assert_eq!(undisturbed(&rounds(&values), f64::INFINITY), Some(Undisturbed::AtMost(100.0)));
        assert_eq!(undisturbed(&[], f64::INFINITY), None);
    }

    #[test]
    fn what_neighbours_always_add_to_is_not_claimed() {
        let values: Vec<f64> = (0..40).map(|index| 100.0 + f64::from(index * 17 % 40)).collect();
        assert_eq!(undisturbed(&rounds(&values), f64::INFINITY), Some(Undisturbed::AtMost(104.0)));
    }

    #[test]
    fn rounds_of_a_cache_or_of_two_states_do_not_count() {
        let mut low = rounds(&[100.0; 20]);
        low.iter_mut().for_each(|round| round.cold_ns = 110.0);
        assert_eq!(undisturbed(&low, f64::INFINITY), Some(Undisturbed::AtMost(100.0)));
        let mut mixed = rounds(&[100.0; 20]);
        mixed.iter_mut().for_each(|round| round.state_share = 0.6);
        assert_eq!(undisturbed(&mixed, f64::INFINITY), Some(Undisturbed::AtMost(100.0)));
        // A look before saw less.
        assert_eq!(undisturbed(&rounds(&[100.0; 20]), 80.0), Some(Undisturbed::AtMost(80.0)));
        // Without a cold pass, and with too few batches to tell, they count as good.
        let mut unknown = rounds(&[100.0; 20]);
        unknown.iter_mut().for_each(|round| (round.cold_ns, round.state_share) = (f64::NAN, f64::NAN));
        assert_eq!(seen(&unknown), Some((100.0, 20)));
    }
}
