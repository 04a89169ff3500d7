//! Search for a period in the times of slow samples, such as the period of memory refresh.
//!
//! Loads from memory that is being refreshed are slow, and refresh recurs every few microseconds.
//! The time stamps of slow loads are folded modulo a trial period; with the right period their
//! phases coincide. The search works with any ascending time stamps.
//!
//! Each of many short segments is folded separately, so that neither a small error of the trial
//! period nor a drifting refresh clock smears the phases. The chi-square of the phase counts,
//! summed over segments, is compared with its mean and variance for equally likely phases. If
//! stamps of ordinary samples are given, it is also compared with their chi-square, since the
//! sampling itself is periodic.
//!
//! # References
//!
//! D. Leahy et al., "On searches for pulsed emission", Astrophysical Journal 266,
//! 1983 (epoch folding); M. Majkowski, "Every 7.8 µs your computer's memory has a
//! hiccup", Cloudflare blog, 2018.

use crate::math::{ToReal, sqrt, whole};
use crate::units::Hertz;

/// Number of phases into which a period is divided.
const PHASES: usize = 16;
const PHASE_BITS: u32 = PHASES.ilog2();
/// Number of degrees of freedom of the phase counts of one segment.
const FREEDOM: f64 = (PHASES - 1) as f64;
const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;
/// Ratio of neighbouring trial periods: over a segment of 1000 periods, the nearest trial period
/// accumulates an error of a quarter of a period.
const SCAN_STEP: f64 = 1.0005;
/// Number of steps of 0.0025 % to each side of the best trial period that are tried to refine it.
const REFINING_STEPS: i32 = 20;
/// Minimum significance of a period. In noise the best of the thousands of trials stays below 6, and below 8 (the
/// largest of 60 simulated scans) with only two segments, since their chi-square is skewed.
const SIGNIFICANT: f64 = 10.0;
/// Share of the best significance from which on a multiple of the best period is returned instead: stamps that recur
/// sharply with a period fold equally well at its half or third, and the longest of these is the true period.
const EQUALLY_GOOD: f64 = 0.9;

/// The range of periods to search, in ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// The shortest trial period.
    pub shortest: f64,
    /// The longest trial period.
    pub longest: f64,
    /// The length of the segments that are folded separately.
    pub segment: u64,
}

impl Search {
    /// Returns the range of DRAM refresh: 1.5 to 20 µs, in segments of 2 ms.
    ///
    /// JEDEC's average refresh interval is 7.8 µs (DDR4) or 3.9 µs (DDR5). It is halved at high
    /// temperature, at fine granularity, or if two ranks are refreshed in turn.
    pub fn refresh(ticks: Hertz) -> Self {
        let microsecond = ticks.0.real() / 1e6;
        Self {
            shortest: 1.5 * microsecond,
            longest: 20.0 * microsecond,
            segment: whole(2000.0 * microsecond),
        }
    }
}

/// The best period and its significance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period {
    /// The period in ticks, to about 0.01 %.
    pub ticks: f64,
    /// The excess of the chi-square over that of random slowness, in standard
    /// deviations.
    pub significance: f64,
}

impl Period {
    /// Returns true if the period is real; even noise has a best period.
    pub fn is_significant(&self) -> bool {
        self.significance > SIGNIFICANT
    }
}

/// Finds the period with which `slow` stamps recur.
///
/// Both lists ascend. `ordinary` are stamps of samples of the same run that were not slow, chosen
/// at random, ideally as many as the slow ones: the sampling itself is periodic, and this period
/// appears in both lists and must not be reported. If `ordinary` is empty, samples are assumed to
/// be equally likely at all times. The search takes about 5000 trial periods × stamps × 1 ns for
/// the range of refresh; ten thousand stamps are enough.
///
/// Returns `None` if the range is empty, if no segment has two slow stamps, or as soon as `stop` returns true.
pub fn find_period(
    slow: &[u64],
    ordinary: &[u64],
    search: &Search,
    stop: &dyn Fn() -> bool,
) -> Option<Period> {
    let usable = search.shortest >= PHASES as f64 && search.longest.is_finite() && search.segment > 0;
    if !usable {
        return None;
    }
    let mut best: Option<Period> = None;
    let mut trial = search.longest;
    while trial >= search.shortest {
        if stop() {
            return None;
        }
        better(&mut best, fold(slow, ordinary, search.segment, trial));
        trial /= SCAN_STEP;
    }
    let mut found = refined(best?, slow, ordinary, search);
    // Multiples are tried with the longest first: a sharp period of 12 folds equally well at 6, 4 and 3.
    for multiple in (2..=(search.longest / found.ticks) as u32).rev() {
        let trial = Period { ticks: found.ticks * f64::from(multiple), ..found };
        let trial = refined(trial, slow, ordinary, search);
        if trial.ticks <= search.longest && trial.significance >= EQUALLY_GOOD * found.significance {
            found = trial;
            break;
        }
    }
    Some(found)
}

/// Returns the best period within one scan step of `coarse`.
fn refined(coarse: Period, slow: &[u64], ordinary: &[u64], search: &Search) -> Period {
    let step = (SCAN_STEP - 1.0) / f64::from(REFINING_STEPS);
    let mut best = None;
    for fine in -REFINING_STEPS..=REFINING_STEPS {
        let trial = coarse.ticks * (1.0 + step * f64::from(fine));
        better(&mut best, fold(slow, ordinary, search.segment, trial));
    }
    best.unwrap_or(coarse)
}

fn better(best: &mut Option<Period>, trial: Option<Period>) {
    if let Some(trial) = trial
        && best.is_none_or(|best| trial.significance > best.significance)
    {
        *best = Some(trial);
    }
}

/// Returns the chi-square of all segments together for one trial period.
fn fold(slow: &[u64], ordinary: &[u64], segment: u64, ticks: f64) -> Option<Period> {
    // A phase is a 64-bit fraction of a period: the product wraps around once per period.
    let phase_per_tick = whole(TWO_TO_64 / ticks);
    let (mut slow, mut ordinary) = (slow, ordinary);
    let compared = !ordinary.is_empty();
    let (mut excess, mut variance, mut rhythm) = (0.0, 0.0, 0.0);
    while let Some(&start) = slow.first() {
        let end = start.saturating_add(segment);
        // Ordinary samples before the first slow sample of the segment have no counterpart, and are dropped.
        let _ = Phases::take(&mut ordinary, start, start, phase_per_tick);
        let here = Phases::take(&mut slow, start, end, phase_per_tick);
        let beside = Phases::take(&mut ordinary, start, end, phase_per_tick);
        // Stamps close to `u64::MAX` belong to no segment.
        if here.total == 0 {
            return None;
        }
        if here.total < 2 || (compared && beside.total < 2) {
            continue;
        }
        excess += here.excess();
        variance += here.variance();
        if compared {
            let ratio = f64::from(here.total) / f64::from(beside.total);
            excess -= ratio * beside.excess();
            variance += ratio * ratio * beside.variance();
            rhythm += ratio * (1.0 + ratio) * beside.excess();
        }
    }
    // If unequal phases raise the chi-square by x above its mean, they raise its variance by 4x.
    variance += 4.0 * rhythm.max(0.0);
    (variance > 0.0).then(|| Period { ticks, significance: excess / sqrt(variance) })
}

/// The number of stamps of a segment in each phase.
struct Phases {
    total: u32,
    /// The sum of the squares of the counts of the phases, from which their chi-square follows.
    squares: u64,
}

impl Phases {
    /// Removes the stamps below `end` from the front of `stamps`, and counts them by phase.
    fn take(stamps: &mut &[u64], start: u64, end: u64, phase_per_tick: u64) -> Self {
        let mut counts = [0_u32; PHASES];
        let mut phases = Self { total: 0, squares: 0 };
        while let Some((&stamp, rest)) = stamps.split_first() {
            if stamp >= end {
                break;
            }
            let phase = stamp.wrapping_sub(start).wrapping_mul(phase_per_tick) >> (u64::BITS - PHASE_BITS);
            if let Some(count) = counts.get_mut(phase as usize) {
                // The difference between (count + 1)² and count².
                phases.squares += 2 * u64::from(*count) + 1;
                *count += 1;
            }
            phases.total += 1;
            *stamps = rest;
        }
        phases
    }

    /// Returns the chi-square against equal counts, less its expected value.
    fn excess(&self) -> f64 {
        // The sum of (count - expected)^2 / expected, with expected = total / PHASES.
        let total = f64::from(self.total);
        (self.squares * PHASES as u64).real() / total - total - FREEDOM
    }

    /// Returns the exact variance of the chi-square for equally likely phases.
    fn variance(&self) -> f64 {
        2.0 * FREEDOM * (1.0 - 1.0 / f64::from(self.total))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Pcg32;
    use std::vec::Vec;

    const CLOCK: Hertz = Hertz(2_100_000_000);
    const TICKS_PER_MICROSECOND: f64 = 2100.0;

    /// Simulates samples about 350 ns apart, which are slow in the refresh window and sometimes at random. Returns
    /// the stamps of slow samples, and of an equal number of others.
    fn sampled(period: Option<f64>, samples: u32, jitter: u32) -> (Vec<u64>, Vec<u64>) {
        let mut rng = Pcg32::new(11, 5);
        let (mut slow, mut ordinary) = (Vec::new(), Vec::new());
        let mut now = 1u64 << 50;
        for _ in 0..samples {
            now += 730 + u64::from(rng.below(jitter));
            let phase = period.map(|period| (now - (1 << 50)) as f64 % period);
            if phase.is_some_and(|phase| phase < 290.0) || rng.below(50) == 0 {
                slow.push(now);
            } else if rng.below(12) == 0 {
                ordinary.push(now);
            }
        }
        (slow, ordinary)
    }

    #[test]
    fn the_chi_square_agrees_with_the_counts() {
        // Phases 0, 0, 0, 1 and 15 of a period of 16 ticks.
        let stamps = [16, 32, 48, 65, 95];
        let mut left = &stamps[..];
        let found = Phases::take(&mut left, 0, 90, 1 << 60);
        assert_eq!((left, found.total, found.squares), (&stamps[4..], 4, 10));
        let found = Phases::take(&mut &stamps[..], 0, 100, 1 << 60);
        let expected = 5.0 / 16.0;
        let part = |count: f64| (count - expected) * (count - expected) / expected;
        let chi_square = part(3.0) + 2.0 * part(1.0) + 13.0 * part(0.0);
        assert!((found.excess() - (chi_square - 15.0)).abs() < 1e-12, "{}", found.excess());
    }

    #[test]
    fn a_planted_period_is_found() {
        for microseconds in [1.945, 3.9, 7.8, 15.6] {
            let planted = microseconds * TICKS_PER_MICROSECOND;
            let (slow, ordinary) = sampled(Some(planted), 60_000, 300);
            for ordinary in [&ordinary[..], &[]] {
                let found = find_period(&slow, ordinary, &Search::refresh(CLOCK), &|| false).unwrap();
                assert!(found.is_significant(), "{microseconds} µs: {found:?}");
                assert!((found.ticks / planted - 1.0).abs() < 3e-4, "{microseconds} µs: {found:?}");
            }
        }
    }

    #[test]
    fn noise_has_no_significant_period() {
        let (slow, ordinary) = sampled(None, 100_000, 300);
        let found = find_period(&slow, &ordinary, &Search::refresh(CLOCK), &|| false).unwrap();
        assert!(!found.is_significant(), "{found:?}");
    }

    #[test]
    fn the_period_of_the_sampling_is_not_reported() {
        // Samples exactly 731 ticks apart fold at every multiple of 731 ticks, whether they are slow or not.
        let (slow, ordinary) = sampled(None, 100_000, 1 + 1);
        let alone = find_period(&slow, &[], &Search::refresh(CLOCK), &|| false).unwrap();
        assert!(alone.is_significant(), "{alone:?}");
        let compared = find_period(&slow, &ordinary, &Search::refresh(CLOCK), &|| false).unwrap();
        assert!(!compared.is_significant(), "{compared:?}");
    }

    #[test]
    fn too_few_stamps_have_no_period() {
        let search = Search::refresh(CLOCK);
        assert_eq!(find_period(&[], &[], &search, &|| false), None);
        let every_tenth: std::vec::Vec<u64> = (0..1000).map(|at| at * 20_000).collect();
        assert!(find_period(&every_tenth, &[], &search, &|| false).is_some());
        assert_eq!(find_period(&every_tenth, &[], &search, &|| true), None);
        assert_eq!(find_period(&[7], &[], &search, &|| false), None);
        assert_eq!(find_period(&[1, 2, 3], &[], &Search { longest: f64::NAN, ..search }, &|| false), None);
        assert_eq!(find_period(&[1, 2, 3], &[], &Search { segment: 0, ..search }, &|| false), None);
        assert_eq!(find_period(&[u64::MAX; 3], &[], &search, &|| false), None);
    }
}
