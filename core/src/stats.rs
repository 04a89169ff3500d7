//! Order statistics over samples, without assumptions about their distribution.
//!
//! Latencies are skewed and drift, so their means and standard deviations are not informative. All
//! functions sort the caller's slice in place and need no other memory. NaN samples sort last; the
//! caller has to exclude them.
//!
//! For some milliseconds, a machine is in one state or in another, depending on a core's clock,
//! another process or a row buffer. The mode finds the state; the median of the samples within it
//! is the value, since the mode itself scatters three times as much.
//!
//! # References
//!
//! T. Hoefler and R. Belli, "Scientific Benchmarking of Parallel Computing
//! Systems", SC'15; D. R. Bickel and R. Frühwirth, "On a fast, robust estimator
//! of the mode", Computational Statistics & Data Analysis 50(12), 2006.

mod estimate;
mod series;

use crate::math::{ToReal, greatest_common_divisor};

pub use estimate::{Estimate, Side};
pub use series::{mean_of_series, summarise_series};

/// Copies as many `values` as fit to `room`, and returns the copies, which the functions here may sort.
pub fn gather<T>(room: &mut [T], values: impl Iterator<Item = T>) -> &mut [T] {
    let mut count = 0;
    for (slot, value) in room.iter_mut().zip(values) {
        *slot = value;
        count += 1;
    }
    room.get_mut(..count).unwrap_or_default()
}

/// A 95 % confidence interval, by order statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Returns half of the width divided by `centre`; zero for a centre of zero.
    pub fn relative_half_width(&self, centre: f64) -> f64 {
        if centre == 0.0 {
            return 0.0;
        }
        ((self.high - self.low) / 2.0 / centre).abs()
    }
}

/// An estimate of a quantity from a set of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// The number of samples.
    pub count: usize,
    /// The median of the samples.
    pub median: f64,
    /// The smallest sample.
    pub minimum: f64,
    /// The largest sample.
    pub maximum: f64,
    /// The median absolute deviation from the median, not scaled.
    pub mad: f64,
    /// The interval that holds the true median in 95 of 100 runs; `None` below six samples.
    pub interval: Option<Interval>,
}

impl Summary {
    /// Returns the median with its interval; with fewer than six samples, with their whole range.
    pub fn or_range(self) -> Estimate {
        let range = Interval { low: self.minimum, high: self.maximum };
        Estimate { value: self.median, interval: self.interval.or(Some(range)) }
    }

    /// Returns the summary with an interval that extends at least this fraction of the median to either side: the
    /// scatter of the samples does not include an error that they have in common.
    #[must_use]
    pub fn with_common_error(self, fraction: f64) -> Summary {
        let reach = (fraction * self.median).abs();
        let interval = self.interval.map(|Interval { low, high }| Interval {
            low: low.min(self.median - reach),
            high: high.max(self.median + reach),
        });
        Summary { interval, ..self }
    }
}

/// Returns the summary of samples, and sorts them; returns `None` without samples.
pub fn summarise(samples: &mut [f64]) -> Option<Summary> {
    samples.sort_unstable_by(f64::total_cmp);
    let (&minimum, &maximum) = (samples.first()?, samples.last()?);
    let median = median_of_sorted(samples)?;
    let interval = median_ranks(samples.len())
        .and_then(|(low, high)| Some(Interval { low: *samples.get(low)?, high: *samples.get(high)? }));
    for sample in samples.iter_mut() {
        *sample = (*sample - median).abs();
    }
    let mad = self::median(samples)?;
    Some(Summary { count: samples.len(), median, minimum, maximum, mad, interval })
}

/// Returns the median, which for an even number of samples is the mean of the middle two; `None` without samples.
pub fn median(samples: &mut [f64]) -> Option<f64> {
    samples.sort_unstable_by(f64::total_cmp);
    median_of_sorted(samples)
}

fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(sorted.len() / 2 - 1)?;
    Some(lower + (upper - lower) / 2.0)
}

/// Returns the half-sample mode, which is found by repeated halving: the densest half of the densest half, and so on.
///
/// In a round of batches, slow outliers are disturbances and fast outliers are changes of the
/// clock; the value on which most batches agree is the latency. Returns `None` without samples.
pub fn half_sample_mode(samples: &mut [f64]) -> Option<f64> {
    samples.sort_unstable_by(f64::total_cmp);
    mode_of_sorted(samples)
}

fn mode_of_sorted(sorted: &[f64]) -> Option<f64> {
    let mut rest = sorted;
    while rest.len() > 3 {
        let densest = densest_half(rest)?;
        // All samples are equal: halving would never end, and any of them is the mode.
        if densest.len() == rest.len() {
            break;
        }
        rest = densest;
    }
    match *rest {
        [] => None,
        [one] => Some(one),
        [low, middle, high] if middle - low < high - middle => Some(low + (middle - low) / 2.0),
        [low, middle, high] if middle - low > high - middle => Some(middle + (high - middle) / 2.0),
        [_, middle, _] => Some(middle),
        [low, .., high] => Some(low + (high - low) / 2.0),
    }
}

fn densest_half(sorted: &[f64]) -> Option<&[f64]> {
    sorted.windows(sorted.len().div_ceil(2).max(1)).min_by(|a, b| width(a).total_cmp(&width(b)))
}

fn width(sorted: &[f64]) -> f64 {
    match *sorted {
        [low, .., high] => high - low,
        _ => 0.0,
    }
}

/// Returns the zero-based ranks of the narrowest symmetric order-statistic interval that
/// holds the median with at least 95 % probability; `None` below six samples.
///
/// The number of samples below the median is binomial with p = 1/2 for any distribution of the
/// samples. For 7 samples the interval is the whole range (98.4 %), for 15 it is the 4th to the
/// 12th (96.5 %), for 31 the 10th to the 22nd (97.1 %).
pub fn median_ranks(count: usize) -> Option<(usize, usize)> {
    if count < 6 {
        return None;
    }
    // P(X = k) for X binomial, starting from 0.5 to the power `count`. For large counts this power
    // underflows, but the normal approximation (z = 1.96, sigma = sqrt(n)/2) is exact to a rank.
    if count > 1000 {
        let square = (count as u64).saturating_mul(9604) / 10_000;
        // The smallest whole number above the root, which is small for any number of samples that fits in memory.
        let reach = (1..).find(|reach| reach * reach > square).map_or(0, |reach| reach as usize);
        let low = (count / 2).saturating_sub(reach);
        return Some((low, count - 1 - low));
    }
    let mut probability = 1.0;
    for _ in 0..count {
        probability /= 2.0;
    }
    let mut tail = 0.0;
    let mut low = 0;
    for rank in 0..count / 2 {
        tail += probability;
        if tail > 0.025 {
            break;
        }
        low = rank;
        probability *= (count - rank).real() / (rank + 1).real();
    }
    Some((low, count - 1 - low))
}

/// Returns the step of a counter, from differences of neighbouring readings; zero without differences.
///
/// The step is the greatest common divisor of the differences, or the largest number that divides
/// nearly all differences to within one: a hypervisor that scales a counter with a step of 26 gives
/// differences of 25, 26, 51 and 52, which have the greatest common divisor 1.
pub fn counter_step(differences: &[u64]) -> u64 {
    /// Maximum step of a counter that can time single hops.
    const LARGEST: u64 = 1024;
    /// Minimum step whose multiples may be missed by one: to within one, every number is a multiple of 2 and of 3.
    const LEAST_TOLERANT: u64 = 4;
    let exact = differences.iter().fold(0, |a, &b| greatest_common_divisor(a, b));
    let near = |step: &u64| {
        let off = |difference: u64| (difference % step).min(step - difference % step);
        let misses = differences.iter().filter(|&&difference| off(difference) > 1).count();
        misses * 1000 <= differences.len()
    };
    // Zero and one are within one of a multiple of any step, so most differences must be larger than that: else, with
    // ticks longer than a reading, a single interruption would make the largest step of all.
    let moved = || differences.iter().filter(|&&difference| difference > 0);
    let meaningful =
        2 * moved().filter(|&&difference| difference >= LEAST_TOLERANT - 1).count() > moved().count();
    let tolerant = (LEAST_TOLERANT..=LARGEST).rev().find(near).filter(|_| meaningful);
    tolerant.unwrap_or(exact).max(exact)
}

/// Returns a step of a counter if it also divides most differences of readings at varied distances; otherwise the
/// greatest common divisor of these.
///
/// If each reading takes the same time, the differences of neighbouring readings are multiples of that time.
pub fn confirmed_step(step: u64, differences: &[u64]) -> u64 {
    /// Maximum distance from a multiple, as the reciprocal of a fraction of the step: a third of all numbers are nearer.
    const NEAR: u64 = 6;
    let near = |difference: &&u64| {
        let over = **difference % step.max(1);
        over.min(step.saturating_sub(over)) * NEAR <= step
    };
    match differences.iter().filter(near).count() * 4 >= differences.len() * 3 {
        true => step,
        false => differences.iter().fold(0, |a, &b| greatest_common_divisor(a, b)),
    }
}

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
    use super::*;
    use crate::rng::Pcg32;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn an_interval_has_a_width_relative_to_any_centre_but_zero() {
        let interval = Interval { low: 99.0, high: 103.0 };
        assert_eq!(
            [100.0, -100.0, 0.0].map(|centre| interval.relative_half_width(centre)),
            [0.02, 0.02, 0.0]
        );
    }

    #[test]
    fn the_mode_of_three_lies_between_the_two_nearer_ones() {
        let mode = |mut samples: [f64; 3]| half_sample_mode(&mut samples);
        assert_eq!(mode([20.0, 10.0, 12.0]), Some(11.0));
        assert_eq!(mode([20.0, 10.0, 18.0]), Some(19.0));
        assert_eq!(mode([20.0, 10.0, 15.0]), Some(15.0));
        assert_eq!((half_sample_mode(&mut [7.0, 1.0]), half_sample_mode(&mut [7.0])), (Some(4.0), Some(7.0)));
        assert_eq!(half_sample_mode(&mut []), None);
    }

    proptest! {
        #[test]
        fn a_summary_is_ordered(mut samples in prop::collection::vec(0.0f64..1e6, 1..200)) {
            let summary = summarise(&mut samples).unwrap();
            prop_assert!(summary.minimum <= summary.median && summary.median <= summary.maximum);
            prop_assert!(summary.mad >= 0.0 && summary.mad <= summary.maximum - summary.minimum);
            prop_assert_eq!(summary.interval.is_some(), samples.len() >= 6);
            if let Some(Interval { low, high }) = summary.interval {
                prop_assert!(summary.minimum <= low && low <= summary.median);
                prop_assert!(summary.median <= high && high <= summary.maximum);
            }
        }

        #[test]
        fn a_mode_lies_within_its_samples(mut samples in prop::collection::vec(0.0f64..1e6, 1..100)) {
            let mode = half_sample_mode(&mut samples).unwrap();
            prop_assert!(samples[0] <= mode && mode <= samples[samples.len() - 1]);
        }

        #[test]
        fn a_step_is_found_through_the_rounding_of_a_hypervisor(
            step in 4u64..60, numerator in 900u64..1000, start: u32, reads in prop::collection::vec(1u64..3, 400..600),
        ) {
            let mut host = u64::from(start);
            let mut last = host * numerator / 1000;
            let differences: Vec<u64> = reads.iter().map(|steps| {
                host += steps * step * 1000 / numerator.max(1);
                let guest = host * numerator / 1000;
                let difference = guest - last;
                last = guest;
                difference
            }).collect();
            let found = counter_step(&differences);
            prop_assert!(found >= step - 1, "{} of {}", found, step);
        }
    }

    #[test]
    fn a_step_is_confirmed_by_readings_at_varied_distances() {
        // Readings that take 20 or 21 ticks have no step of 20 ticks.
        let constant: Vec<u64> = (0..100).map(|read| 20 + read % 2).collect();
        assert!((20..=21).contains(&counter_step(&constant)));
        let varied: Vec<u64> = (0..100).map(|read| 20 + read * 7 % 61).collect();
        assert_eq!(confirmed_step(counter_step(&constant), &varied), 1);
        // A counter of 24 MHz may be shown in nanoseconds; one of 25 MHz has steps of 40 ns.
        let scaled: Vec<u64> = (1..100_u64).map(|read| (125 * (read % 7)).div_ceil(3)).collect();
        assert_eq!(confirmed_step(42, &scaled), 42);
        let exact: Vec<u64> = (0..100).map(|read| 40 * (read % 7)).collect();
        assert_eq!(
            (counter_step(&exact), confirmed_step(40, &exact), confirmed_step(1, &exact)),
            (40, 40, 1)
        );
        assert_eq!((confirmed_step(0, &[]), confirmed_step(0, &[3])), (0, 0));
    }

    #[test]
    fn ranks_agree_with_binomial_tables() {
        for (count, ranks) in [(6, (1, 6)), (7, (1, 7)), (11, (2, 10)), (15, (4, 12)), (31, (10, 22))] {
            assert_eq!(median_ranks(count), Some((ranks.0 - 1, ranks.1 - 1)), "{count}");
        }
        assert_eq!(median_ranks(5), None);
    }

    #[test]
    fn ranks_do_not_jump_where_the_approximation_begins() {
        let (exact, approximate) = (median_ranks(1000).unwrap(), median_ranks(1002).unwrap());
        assert!(approximate.0.abs_diff(exact.0 + 1) <= 2, "{exact:?} {approximate:?}");
    }

    #[test]
    fn the_interval_covers_the_median_as_often_as_it_claims() {
        let mut rng = Pcg32::new(1, 1);
        let runs = 4000;
        let covered = (0..runs)
            .filter(|_| {
                // The squares of uniform numbers have a skewed distribution with median 1/4.
                let mut samples: Vec<f64> = (0..15)
                    .map(|_| f64::from(rng.next_u32()) / f64::from(u32::MAX))
                    .map(|uniform| uniform * uniform)
                    .collect();
                let interval = summarise(&mut samples).unwrap().interval.unwrap();
                (interval.low..=interval.high).contains(&0.25)
            })
            .count();
        // 96.5 % are expected; the standard deviation of the share is 0.3 %.
        assert!((0.95..0.98).contains(&(covered as f64 / runs as f64)), "{covered}");
    }

    #[test]
    fn the_mode_ignores_a_disturbed_third() {
        let mut rng = Pcg32::new(1, 2);
        let mut samples: Vec<f64> = (0..200)
            .map(|index| 100.0 + f64::from(rng.below(100)) / 100.0 + if index % 3 == 0 { 40.0 } else { 0.0 })
            .collect();
        let mode = half_sample_mode(&mut samples).unwrap();
        assert!((100.0..101.0).contains(&mode), "{mode}");
    }

    #[test]
    fn median_takes_the_middle_or_the_mean_of_the_two_middles() {
        assert_eq!(median(&mut []), None);
        assert_eq!(median(&mut [3.0]), Some(3.0));
        assert_eq!(median(&mut [9.0, 1.0, 4.0]), Some(4.0));
        assert_eq!(median(&mut [9.0, 1.0, 4.0, 5.0]), Some(4.5));
        let mut many: Vec<f64> = (0..101).map(f64::from).collect();
        many.reverse();
        assert_eq!(median(&mut many), Some(50.0));
    }

    #[test]
    fn a_common_error_widens_only_narrow_intervals() {
        let interval = |samples: &mut [f64]| summarise(samples).unwrap().with_common_error(0.01).interval;
        assert_eq!(interval(&mut [100.0; 9]), Some(Interval { low: 99.0, high: 101.0 }));
        let mut wide: Vec<f64> = (0..9).map(|index| 90.0 + 2.0 * f64::from(index)).collect();
        assert_eq!(interval(&mut wide.clone()), summarise(&mut wide).unwrap().interval);
        assert_eq!(interval(&mut [1.0; 3]), None);
    }

    #[test]
    fn small_cases_are_exact() {
        assert_eq!(median(&mut []), None);
        assert_eq!(median(&mut [3.0, 1.0]), Some(2.0));
        assert_eq!(half_sample_mode(&mut []), None);
        assert_eq!(half_sample_mode(&mut [4.0, 4.0, 4.0, 4.0, 4.0]), Some(4.0));
        assert_eq!(half_sample_mode(&mut [1.0, 2.0, 10.0]), Some(1.5));
        assert_eq!(counter_step(&[]), 0);
        assert_eq!(counter_step(&[30, 32, 34, 32]), 2);
        assert_eq!(counter_step(&[26, 25, 1, 52, 26, 51]), 26);
        assert_eq!(counter_step(&[1, 2, 3]), 1);
        // Most readings are within one tick, and an interruption is not.
        assert_eq!(counter_step(&[0, 1, 0, 0, 1, 70, 0, 1, 0, 1]), 1);
    }

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
