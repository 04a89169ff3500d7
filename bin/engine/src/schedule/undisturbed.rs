//! The latency while neighbours are quiet, from rounds that agree on it. Pure: the module has rounds and no clock.
//!
//! Neighbours only add to a latency, but the lowest of many values is also low by chance. So the module claims a value
//! only if rounds in separate seconds agree on the lowest. Rounds in quiet memory agree; rounds with neighbours do not,
//! because the latency that neighbours add changes from second to second.

use latency_core::{Interval, ToReal, math, stats};

use crate::result::{Round, Undisturbed};

/// Rank, among the usable rounds, of the low round that others are compared with: the lowest of all is low by chance.
const LOW: f64 = 0.05;
/// Minimum share of a round's batches in its dominant state; it is lower if a neighbour comes or goes during the round.
const ONE_STATE: f64 = 0.8;
/// Minimum ratio of a round to its loads that no cache served; below it, a cache served part of the round.
const IN_MEMORY: f64 = 0.98;
/// The conditions under which rounds count as undisturbed.
struct Bounds {
    /// Maximum ratio of a round to the low round at which they agree.
    alike: f64,
    /// Minimum distance in nanoseconds between rounds of separate moments, and minimum number of separate moments.
    apart_ns: f64,
    fewest: usize,
    /// Maximum number of rounds in the next band of the same width, relative to the rounds that agree. More of them
    /// mean that the agreeing rounds are the lower end of the neighbours' additions, not a state of their own.
    above: f64,
}

/// The bounds if all rounds are close to each other, as on a quiet machine.
const ALL_CLOSE: Bounds = Bounds { alike: 1.03, apart_ns: 0.7e9, fewest: 3, above: 0.5 };
/// The bounds if rounds are not close: quiet moments then stand out from the others.
const DIFFERENT: Bounds = Bounds { alike: 1.015, apart_ns: 0.35e9, fewest: 4, above: 0.1 };
/// Maximum ratio of the ninetieth to the tenth percentile of rounds that are close to each other.
const CALM: f64 = 1.05;
/// Rank, among all rounds, of the upper bound of the undisturbed value.
const TENTH: f64 = 0.1;
/// Maximum rounds that are examined, from the first on.
const MOST: usize = crate::budget::MOST_ROUNDS;

/// Returns true if a latency is longer than in a search before the run, when neighbours were quieter.
pub fn is_slower(nanoseconds: f64, looked_ns: f64) -> bool {
    /// Relative accuracy of a search of some milliseconds.
    const LOOK: f64 = 0.95;
    looked_ns < LOOK * nanoseconds
}

/// Returns the latency while neighbours are quiet, or an upper bound of it; `None` without rounds. `looked_ns` is the
/// latency that a search before the rounds measured; infinite without one.
pub fn undisturbed(rounds: &[Round], looked_ns: f64) -> Option<Undisturbed> {
    let mut room = [0.0; MOST];
    let all = sorted(rounds, &mut room, &|_| true);
    let at = |part: f64| all.get(math::whole(all.len().real() * part) as usize).copied();
    let (at_most, is_calm) = (at(TENTH)?.min(looked_ns), at(1.0 - TENTH)? <= CALM * at(TENTH)?);
    let values = sorted(rounds, &mut room, &is_fit);
    let Some(&low) = values.get(math::whole(values.len().real() * LOW) as usize) else {
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
    if apart < bounds.fewest || above.real() > bounds.above * count.real() || is_slower(low, looked_ns) {
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

/// Returns true if a round is of memory, and in one state. Unknown values are NaN, and pass.
fn is_fit(round: &Round) -> bool {
    let is_in_memory = round.cold_ns.is_nan() || round.nanoseconds >= IN_MEMORY * round.cold_ns;
    is_in_memory && (round.state_share.is_nan() || round.state_share >= ONE_STATE)
}

/// Returns the values of the rounds for which `counts` is true, in ascending order.
fn sorted<'r>(rounds: &[Round], room: &'r mut [f64; MOST], counts: &dyn Fn(&Round) -> bool) -> &'r mut [f64] {
    let all = rounds.iter().filter(|round| round.nanoseconds.is_finite() && counts(round));
    let values = stats::gather(room, all.map(|round| round.nanoseconds));
    values.sort_unstable_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Returns rounds with these nanoseconds, a quarter of a second apart.
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
        // Rounds within one second are of one moment.
        let mut values = [150.0; 20];
        values[..5].fill(100.0);
        assert_eq!(undisturbed(&rounds(&values), f64::INFINITY), Some(Undisturbed::AtMost(100.0)));
        assert_eq!(undisturbed(&[], f64::INFINITY), None);
    }

    #[test]
    fn no_undisturbed_value_without_quiet_moments() {
        let values: Vec<f64> = (0..40).map(|index| 100.0 + f64::from(index * 17 % 40)).collect();
        assert_eq!(undisturbed(&rounds(&values), f64::INFINITY), Some(Undisturbed::AtMost(104.0)));
    }

    #[test]
    fn rounds_in_a_cache_or_in_two_states_do_not_count() {
        let mut low = rounds(&[100.0; 20]);
        low.iter_mut().for_each(|round| round.cold_ns = 110.0);
        assert_eq!(undisturbed(&low, f64::INFINITY), Some(Undisturbed::AtMost(100.0)));
        let mut mixed = rounds(&[100.0; 20]);
        mixed.iter_mut().for_each(|round| round.state_share = 0.6);
        assert_eq!(undisturbed(&mixed, f64::INFINITY), Some(Undisturbed::AtMost(100.0)));
        // The search before the run measured less.
        assert_eq!(undisturbed(&rounds(&[100.0; 20]), 80.0), Some(Undisturbed::AtMost(80.0)));
        // Rounds without a cold pass, or with too few batches for a share of the dominant state, count.
        let mut unknown = rounds(&[100.0; 20]);
        unknown.iter_mut().for_each(|round| (round.cold_ns, round.state_share) = (f64::NAN, f64::NAN));
        assert_eq!(seen(&unknown), Some((100.0, 20)));
    }
}
