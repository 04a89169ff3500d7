//! The state to which most samples of a round belong, and the share of these samples.
//!
//! For some milliseconds, a machine is in one state or in another, depending on a core's clock,
//! another process or a row buffer. The mode finds the state; the median of the samples within it
//! is the value, since the mode itself scatters three times as much. A small share shows that there
//! was more than one state.

use super::{densest_half, median_of_sorted, mode_of_sorted};
use crate::math::ToReal;

/// Reach of a state to either side of the mode, in median deviations of the densest half. For normally distributed
/// samples this is 1.9 standard deviations, and includes 94 % of the samples.
const DEVIATIONS: f64 = 6.0;
/// Minimum reach of a state, as a fraction of the mode: the step of a counter causes differences of this size.
const ALIKE: f64 = 0.005;
/// Maximum reach of a state, as a fraction of the mode: samples farther away never belong to the state, even if the
/// samples scatter widely.
const APART: f64 = 0.1;

/// The state to which most samples belong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DominantState {
    /// The median of the samples in the state.
    pub value: f64,
    /// The share of all samples that are in the state.
    pub share: f64,
}

/// Returns the state to which most samples belong, and sorts the samples; returns `None` without samples.
///
/// Samples within six median deviations of the half-sample mode belong to the state. The deviations
/// are those of the densest half, so that a tail on one side does not widen them.
pub fn state(samples: &mut [f64]) -> Option<DominantState> {
    samples.sort_unstable_by(f64::total_cmp);
    let mode = mode_of_sorted(samples)?;
    let size = mode.abs();
    let deviation = deviation(densest_half(samples)?, mode);
    // At least half of the samples of the densest half are within reach, for any limits.
    let reach = (DEVIATIONS * deviation).min(APART * size).max(ALIKE * size).max(deviation);
    let from = samples.partition_point(|&sample| sample < mode - reach);
    let to = samples.partition_point(|&sample| sample <= mode + reach);
    // The mode of two samples lies between them, and rounding may exclude both.
    let within = samples.get(from..to).filter(|within| !within.is_empty()).unwrap_or(samples);
    Some(DominantState {
        value: median_of_sorted(within)?,
        share: within.len().real() / samples.len().real(),
    })
}

/// Returns the median distance of sorted samples from `centre`, found by selecting the nearest half of the samples.
fn deviation(sorted: &[f64], centre: f64) -> f64 {
    let (below, above) = sorted.split_at(sorted.partition_point(|&sample| sample < centre));
    let (mut below, mut above) = (below.iter().rev().peekable(), above.iter().peekable());
    let mut distance = 0.0;
    for _ in 0..=sorted.len() / 2 {
        let left = below.peek().map_or(f64::INFINITY, |&&sample| centre - sample);
        let right = above.peek().map_or(f64::INFINITY, |&&sample| sample - centre);
        let nearest = if left < right { below.next().map(|_| left) } else { above.next().map(|_| right) };
        distance = nearest.unwrap_or(distance);
    }
    distance
}

#[cfg(test)]
mod tests {
    use super::super::median;
    use super::*;
    use crate::rng::Pcg32;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn uniform(rng: &mut Pcg32) -> f64 {
        f64::from(rng.next_u32()) / f64::from(u32::MAX)
    }

    /// Returns an approximately normally distributed number with a standard deviation of one.
    fn normal(rng: &mut Pcg32) -> f64 {
        (0..12).map(|_| uniform(rng)).sum::<f64>() - 6.0
    }

    fn round(trials: usize, trial: &mut impl FnMut() -> f64) -> DominantState {
        state(&mut (0..trials).map(|_| trial()).collect::<Vec<_>>()).unwrap()
    }

    /// Returns the medians of the value and of the share over many rounds.
    fn over_rounds(trials: usize, mut trial: impl FnMut() -> f64) -> DominantState {
        let states: Vec<DominantState> = (0..101).map(|_| round(trials, &mut trial)).collect();
        let of = |select: fn(&DominantState) -> f64| {
            median(&mut states.iter().map(select).collect::<Vec<_>>()).unwrap()
        };
        DominantState { value: of(|state| state.value), share: of(|state| state.share) }
    }

    #[test]
    fn a_quiet_round_is_in_one_state_and_its_value_is_the_median() {
        let mut rng = Pcg32::new(1, 3);
        for trials in [20, 166, 667] {
            let found = over_rounds(trials, || 100.0 + 1.4 * normal(&mut rng));
            assert!((found.value - 100.0).abs() < 0.15 && found.share > 0.85, "{trials}: {found:?}");
        }
        // For 166 samples, the mode has a standard deviation of 0.32 of the samples' standard deviation, and the
        // median one of 0.1.
        let mut squares = 0.0;
        for _ in 0..400 {
            let off = round(166, &mut || 100.0 + normal(&mut rng)).value - 100.0;
            squares += off * off;
        }
        assert!(squares / 400.0 < 0.14 * 0.14, "{squares}");
    }

    #[test]
    fn slowed_trials_show_in_the_share_or_leave_the_value_unchanged() {
        let mut rng = Pcg32::new(1, 4);
        for slowed in [0.3, 0.5, 0.7, 0.9] {
            let found = over_rounds(166, || {
                let slower = if uniform(&mut rng) < slowed { 0.3 * uniform(&mut rng) } else { 0.0 };
                (100.0 + 1.4 * normal(&mut rng)) * (1.0 + slower)
            });
            assert!(found.value < 101.0 || found.share < 0.7, "{slowed}: {found:?}");
        }
    }

    #[test]
    fn the_more_frequent_of_two_states_is_the_value_and_the_share_shows_the_other() {
        let mut rng = Pcg32::new(1, 5);
        for (slow, value) in [(0.35, 100.0), (0.65, 112.0)] {
            let found = over_rounds(166, || {
                (if uniform(&mut rng) < slow { 112.0 } else { 100.0 }) + normal(&mut rng)
            });
            assert!((found.value - value).abs() < 0.5 && found.share < 0.7, "{slow}: {found:?}");
        }
    }

    #[test]
    fn steps_of_a_counter_are_not_states() {
        let mut steps: Vec<f64> = (0..100).map(|index| 100.0 + 0.03 * f64::from(index % 3)).collect();
        assert_eq!(state(&mut steps), Some(DominantState { value: 100.03, share: 1.0 }));
        assert_eq!(state(&mut []), None);
        assert!(state(&mut [804224.7671746068, 36783.399181436485]).is_some());
        assert_eq!(state(&mut [7.0]), Some(DominantState { value: 7.0, share: 1.0 }));
        assert_eq!(state(&mut [0.0; 4]), Some(DominantState { value: 0.0, share: 1.0 }));
    }

    proptest! {
        #[test]
        fn a_state_lies_within_its_samples(mut samples in prop::collection::vec(0.0f64..1e6, 1..100)) {
            let found = state(&mut samples).unwrap();
            prop_assert!(samples[0] <= found.value && found.value <= samples[samples.len() - 1]);
            prop_assert!(found.share > 0.0 && found.share <= 1.0);
        }
    }
}
