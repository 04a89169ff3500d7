//! Conclusions about a shared cache from the shares of working sets that it still holds after a wait.
//!
//! Lines leave a shared cache when others are inserted. With random victims each insertion takes a line with equal
//! probability, so the share falls exponentially, with the half-life C ln 2 / rate for a cache of C bytes. If the least
//! recently used line leaves, nothing does until others have filled the rest of the cache, and then all does: the share
//! is a step. Real caches are between the two. The rate is C over the mean time that a line stays, by Little's law: C
//! bytes are in the cache, whatever line leaves. The half-life of a step is that mean; of other shapes it is the integral
//! of the share.

use alloc::vec::Vec;
use core::f64::consts::LN_2;

use latency_core::math::ln;
use latency_core::{Bytes, Estimate, Interval, ToReal};

use latency_engine::result::Residence;
use latency_report::chart::vector;

/// Least share of a working set at the shortest wait for which a half-life is sought.
const LEAST_HELD: f64 = 0.1;
/// Share of the first share below which nothing is left.
const NOTHING: f64 = 0.05;
/// The same for the shares that decide a half-life: fewer lines are left by chance.
const LEAST_LEFT: f64 = 0.1;
/// Bytes that are held, as shares of those that a process may fill, if these are the limit.
const NEAR: (f64, f64) = (0.75, 1.1);
/// Least variance of a share that is nearly one.
const WHOLE: f64 = 0.02;
/// Share of the first share that a step still has at half of its half-life; an exponential has 71 %.
const STEP: f64 = 0.85;

/// Deviation of a mean life from that of an exponential up to which it is one.
const EXPONENTIAL: f64 = 0.1;

/// Times around half of a half-life after the first share, as shares of it, whose shares show a step; waits that double
/// have one between.
const EARLY: (f64, f64) = (0.3, 0.65);

/// The time after which half of a working set has left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HalfLife {
    /// Nanoseconds.
    Found(Estimate),
    /// More than these nanoseconds: the longest wait.
    Longer(f64),
}

impl HalfLife {
    /// Returns the half-life, if it was found.
    pub fn found(self) -> Option<Estimate> {
        if let HalfLife::Found(half) = self { Some(half) } else { None }
    }

    /// Returns the longest wait, if the half-life is longer.
    pub fn longer(self) -> Option<f64> {
        if let HalfLife::Longer(longest) = self { Some(longest) } else { None }
    }
}

/// The conclusion about one working set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residency {
    /// The working set.
    pub size: Bytes,
    /// The share that was held after the shortest wait.
    pub at_once: Estimate,
    /// The half-life; `None` if the cache holds too little of it.
    pub half: Option<HalfLife>,
    /// True if the lines leave together, as in a cache whose least recently used line leaves.
    pub is_step: bool,
    /// Mean time that a line stays, in half-lives: 1 for a step, 1 / ln 2 for an exponential.
    life: f64,
}

/// Returns the points of each working set, which follow each other, with ascending waits.
pub fn sets(points: &[Residence]) -> impl Iterator<Item = &[Residence]> {
    points.chunk_by(|one, other| one.size == other.size)
}

/// Returns the conclusion for each working set.
pub fn all(points: &[Residence]) -> Vec<Residency> {
    #[cfg(test)]
    super::drawn_tests::draws("residency");
    vector(sets(points).filter_map(of_set))
}

/// Returns the conclusion from the points of one working set.
fn of_set(points: &[Residence]) -> Option<Residency> {
    let first = points.first()?;
    let at_once = first.share;
    let bounds = |share: Estimate| share.interval.unwrap_or(Interval { low: share.value, high: share.value });
    let half = at_once.value / 2.0;
    // Returns the time at which the shares that `of` selects have fallen to half.
    let crossing = |of: &dyn Fn(Estimate) -> f64| {
        let place = points.iter().position(|point| of(point.share) <= half)?;
        let (before, after) = (points.get(place.checked_sub(1)?)?, points.get(place)?);
        let (high, low) = (of(before.share), of(after.share));
        let part = match low > NOTHING * at_once.value {
            true => ln(high / half) / ln(high / low),
            false => (high - half) / (high - low),
        };
        Some(before.after_ns + (after.after_ns - before.after_ns) * part)
    };
    let seen = at_once.value >= LEAST_HELD;
    let found = crossing(&|share| share.value).filter(|_| seen);
    let is_step = found.is_some_and(|found| {
        // The shares are compared with the first one, so their times are counted from it.
        let passed = |point: &Residence| (point.after_ns - first.after_ns) / (found - first.after_ns);
        let early = points.iter().filter(|point| (EARLY.0..EARLY.1).contains(&passed(point)));
        let (sum, count) =
            early.fold((0.0, 0.0), |(sum, count), point| (sum + point.share.value, count + 1.0));
        sum / count >= STEP * at_once.value
    });
    // What left during the shortest wait is not known; of an exponential it does not matter.
    let from = if is_step { 0.0 } else { first.after_ns };
    let half = match found {
        Some(found) => {
            let ends = crossing(&|share| bounds(share).low).zip(crossing(&|share| bounds(share).high));
            // Few rounds have no interval.
            let interval =
                at_once.interval.and(ends).map(|(low, high)| Interval { low: low - from, high: high - from });
            let is_within = |fitted: &f64| {
                !is_step && interval.is_some_and(|Interval { low, high }| (low..=high).contains(fitted))
            };
            // All shares together are more precise than the two around one half, if they are exponential.
            let value = fitted(points, LEAST_LEFT * at_once.value).filter(is_within).unwrap_or(found - from);
            Some(HalfLife::Found(Estimate { value, interval }))
        }
        None => points.last().filter(|_| seen).map(|last| HalfLife::Longer(last.after_ns)),
    };
    let life = match half {
        Some(HalfLife::Found(half)) if !is_step => {
            let life = mean_life(points, half.value) / half.value;
            // The half-life that is fitted to an exponential is more precise than the sum of the shares.
            if (life * LN_2 - 1.0).abs() < EXPONENTIAL { 1.0 / LN_2 } else { life }
        }
        _ => 1.0,
    };
    Some(Residency { size: first.size, at_once, half, is_step, life })
}

/// Returns the mean time that a line stays, if the first and the last lines leave as an exponential of `half_ns` does.
fn mean_life(points: &[Residence], half_ns: f64) -> f64 {
    let rate = LN_2 / half_ns;
    let loaded = |first: &Residence| (first.share.value * (1.0 + rate * first.after_ns)).min(1.0);
    let loaded = points.first().map_or(f64::NAN, loaded);
    let (mut since_ns, mut left, mut sum) = (0.0, loaded, 0.0);
    for point in points {
        if left <= NOTHING * loaded {
            break;
        }
        // The mean of an exponential is about a third of the way from the arithmetic mean of its ends to the harmonic one.
        let total = left + point.share.value;
        sum += (point.after_ns - since_ns) * (total + 2.0 * left * point.share.value / total) / 3.0;
        (since_ns, left) = (point.after_ns, point.share.value);
    }
    (sum + left / rate) / loaded
}

/// Returns the half-life of the exponential that fits the shares above `least` best.
///
/// A share is counted over visits, so its logarithm has a variance of (1 - share) / share over their number.
fn fitted(points: &[Residence], least: f64) -> Option<f64> {
    let [mut weights, mut x, mut y, mut xx, mut xy] = [0.0; 5];
    for point in points.iter().filter(|point| point.share.value > least) {
        let (share, after) = (point.share.value, point.after_ns);
        let (weight, logarithm) = (share / (1.0 + WHOLE - share) * point.visits.real(), ln(share));
        weights += weight;
        x += weight * after;
        y += weight * logarithm;
        xx += weight * after * after;
        xy += weight * after * logarithm;
    }
    let slope = (weights * xy - x * y) / (weights * xx - x * x);
    (slope < 0.0).then_some(-LN_2 / slope)
}

/// Returns the bytes per nanosecond that others insert, if all of a cache of `cache` bytes takes part; `None` if
/// working sets contradict each other.
pub fn insertions(sets: &[Residency], cache: Bytes) -> Option<Estimate> {
    let mut smallest = None;
    let (mut low, mut high) = (0.0_f64, f64::INFINITY);
    for found in sets.iter().filter(|found| found.size.0 * 2 <= cache.0) {
        let Some(HalfLife::Found(half)) = found.half else { continue };
        let bytes = match found.is_step {
            // The lines that were in the cache before leave first.
            true => cache.0.real() - found.size.0.real() / 2.0,
            false => cache.0.real(),
        };
        let Some(rate) = Estimate::exact(bytes).over(half.scaled(found.life)) else { continue };
        let bounds = rate.bounds();
        (low, high) = (low.max(bounds.low), high.min(bounds.high));
        // The smallest set is the most precise one: it is loaded at once, and takes the least of the cache.
        smallest = smallest.or(Some(rate));
    }
    smallest.filter(|_| low <= high)
}

/// Returns the bytes per nanosecond of the largest stream that would not show beside others that insert `rate`: the width
/// of the interval, since two runs that differ by less do not differ; all of the rate without one.
pub fn hidden(rate: Estimate) -> f64 {
    rate.interval.map_or(rate.value, |Interval { low, high }| high - low)
}

/// Returns the largest number of bytes of a working set that were held at once.
pub fn most_held(points: &[Residence]) -> Option<f64> {
    let firsts = points.iter().filter(|point| point.wait_ns == 0.0);
    firsts.map(|first| first.size.0.real() * first.share.value).reduce(f64::max)
}

/// Returns true if about `allowed` bytes are held, and the last working set is larger.
pub fn holds_what_is_allowed(points: &[Residence], held: f64, allowed: f64) -> bool {
    let is_larger = points.last().is_some_and(|last| last.size.0.real() > NEAR.1 * allowed);
    is_larger && held > NEAR.0 * allowed && held < NEAR.1 * allowed
}

/// Returns the share that a second look found, if the loads of the first look have thrown lines out: if a wait that ends
/// no earlier leaves more, beyond both intervals.
pub fn left_by_a_look(points: &[Residence]) -> Option<f64> {
    points.iter().find_map(|first| {
        let again = first.again;
        let is_later = |point: &&Residence| point.size == first.size && point.after_ns >= again.after_ns;
        let later = points.iter().find(is_later)?;
        // If next to nothing is held, nothing can be thrown out.
        let is_known =
            first.share.value >= LEAST_HELD && again.share.interval.and(later.share.interval).is_some();
        (is_known && later.share.is_beyond(again.share)).then_some(again.share.value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_engine::result::SecondLook;
    use std::vec::Vec;

    const CACHE: Bytes = Bytes(32 << 20);

    /// Returns points whose shares follow `share`, with waits that double from 0.1 ms on.
    fn points(size: u64, share: impl Fn(f64) -> f64) -> Vec<Residence> {
        let point = |after_ns: f64| {
            let value = share(after_ns);
            let interval = Some(Interval { low: value - 0.02, high: value + 0.02 });
            let share = Estimate { value, interval };
            Residence {
                size: Bytes(size),
                wait_ns: after_ns - 1e5,
                after_ns,
                share,
                again: SecondLook { after_ns: f64::NAN, share: Estimate { value: f64::NAN, interval: None } },
                visits: 15,
                interrupts: 0,
                switched: 0.0,
            }
        };
        (0..14).map(|octave| point(1e5 * f64::from(1 << octave))).collect()
    }

    #[test]
    fn random_victims_have_a_half_life() {
        // 20 GB/s into 32 MiB: half of a set is gone after 1.163 ms.
        let left = |after_ns: f64| 0.9 * (-after_ns * 20.0 / CACHE.0 as f64).exp();
        let points = points(4 << 20, left);
        let found = all(&points)[0];
        let Some(HalfLife::Found(half)) = found.half else { panic!("{found:?}") };
        assert!((half.value / 1.163e6 - 1.0).abs() < 0.01 && !found.is_step, "{found:?}");
        let Interval { low, high } = half.interval.unwrap();
        assert!(low < 1.163e6 && 1.163e6 < high, "{found:?}");
        let rate = insertions(&all(&points), CACHE).unwrap();
        assert!((rate.value / 20.0 - 1.0).abs() < 0.01, "{rate:?}");
    }

    // Seen in an emulated cache of 16 MiB with random victims, into which 28.1 MB/s are inserted. A load takes microseconds
    // there, so that the first look ends after a sixth of a half-life.
    #[test]
    fn a_late_first_look_does_not_make_a_step() {
        let seen = [72.8, 98.9, 157.2, 165.8, 218.0, 341.3, 669.6];
        let shares = [0.795, 0.779, 0.711, 0.721, 0.640, 0.522, 0.293];
        let mut late = points(2 << 20, |_| 0.0);
        late.truncate(seen.len());
        for (point, (after_ms, share)) in late.iter_mut().zip(seen.into_iter().zip(shares)) {
            let interval = Some(Interval { low: share - 0.02, high: share + 0.02 });
            (point.after_ns, point.share) = (after_ms * 1e6, Estimate { value: share, interval });
        }
        let found = all(&late)[0];
        let rate = insertions(&all(&late), Bytes(16 << 20)).unwrap();
        assert!(!found.is_step && (rate.value / 0.0281 - 1.0).abs() < 0.05, "{found:?} {rate:?}");
    }

    #[test]
    fn least_recently_used_lines_leave_together() {
        let points = points(4 << 20, |after_ns| if after_ns < 1.55e6 { 0.97 } else { 0.0 });
        let found = all(&points)[0];
        let Some(HalfLife::Found(half)) = found.half else { panic!("{found:?}") };
        assert!((0.8e6..1.6e6).contains(&half.value) && found.is_step, "{found:?}");
        // The waits around the step are 0.8 and 1.6 ms, so the rate is known to a factor of two.
        let rate = insertions(&all(&points), CACHE).unwrap().value;
        assert!((18.0..40.0).contains(&rate), "{rate}");
    }

    // The share exp(-(t / T)^1.5) has the mean life T gamma(5/3). From its half-life, an exponential would insert 17 GB/s.
    #[test]
    fn lines_that_leave_between_both_ways_give_the_rate_of_their_mean_life() {
        const GAMMA: f64 = 0.902_745;
        for held in [1.0, 0.9] {
            let mean_ns = CACHE.0 as f64 / 20.0;
            let points = points(4 << 20, |after_ns| held * (-(after_ns * GAMMA / mean_ns).powf(1.5)).exp());
            let found = all(&points)[0];
            let rate = insertions(&all(&points), CACHE).unwrap();
            assert!(!found.is_step && (rate.value / 20.0 - 1.0).abs() < 0.04, "{found:?} {rate:?}");
        }
    }

    #[test]
    fn a_stream_below_the_interval_is_hidden_and_without_one_all_that_is_below_the_rate() {
        let left = |after_ns: f64| 0.9 * (-after_ns * 20.0 / CACHE.0 as f64).exp();
        let mut points = points(4 << 20, left);
        let rate = insertions(&all(&points), CACHE).unwrap();
        // Shares within 2 % of the set place half of it within 4 % or so.
        assert!((1.0..4.0).contains(&hidden(rate)), "{rate:?}");
        points.iter_mut().for_each(|point| point.share.interval = None);
        let rate = insertions(&all(&points), CACHE).unwrap();
        assert!((hidden(rate) / 20.0 - 1.0).abs() < 0.01, "{rate:?}");
    }

    #[test]
    fn a_cache_that_keeps_everything_has_no_rate() {
        let kept = points(4 << 20, |_| 0.98);
        assert_eq!(all(&kept)[0].half, Some(HalfLife::Longer(1e5 * 8192.0)));
        assert_eq!(insertions(&all(&kept), CACHE), None);
        let nothing = points(4 << 20, |_| 0.01);
        assert_eq!(all(&nothing)[0].half, None);
    }

    #[test]
    fn the_allowed_part_is_the_limit_only_of_larger_sets_that_fill_it() {
        // 12 of 32 MiB may be filled.
        let allowed = 12.0 * 1048576.0;
        let is_limit = |sets: &[(u64, f64)]| {
            let points: Vec<Residence> =
                sets.iter().flat_map(|&(size, share)| points(size << 20, move |_| share)).collect();
            holds_what_is_allowed(&points, most_held(&points).unwrap_or(0.0), allowed)
        };
        assert!(is_limit(&[(8, 0.98), (16, 0.7)]));
        assert!(!is_limit(&[(12, 0.98)]), "no set is larger");
        assert!(!is_limit(&[(16, 0.3)]), "others took it");
        assert!(!is_limit(&[(16, 0.98)]), "more is held than is allowed");
        assert!(!is_limit(&[]));
    }

    #[test]
    fn looks_throw_lines_out_only_if_a_wait_leaves_more() {
        let seen = |share: f64, after_ns: f64| {
            let mut points = points(4 << 20, |after_ns| 0.9 * (-after_ns / 4e6).exp());
            let interval = Some(Interval { low: share - 0.01, high: share + 0.01 });
            points[0].again = SecondLook { after_ns, share: Estimate { value: share, interval } };
            left_by_a_look(&points)
        };
        // After 0.2 ms, 85.6 % are left; a second look before that finds as many, or much less.
        assert_eq!(seen(0.86, 1.9e5), None);
        assert_eq!(seen(0.7, 1.9e5), Some(0.7));
        // Few rounds have no interval, and a set that is not held has nothing to lose.
        let mut few = points(4 << 20, |after_ns| 0.9 * (-after_ns / 4e6).exp());
        few[0].again = SecondLook { after_ns: 1.9e5, share: Estimate { value: 0.1, interval: None } };
        assert_eq!(left_by_a_look(&few), None);
        let mut nothing = points(4 << 20, |_| 0.06);
        nothing[0].again = SecondLook { after_ns: 1.9e5, share: Estimate::exact(0.0) };
        assert_eq!(left_by_a_look(&nothing), None);
        // A second look long after all waits is compared with none.
        assert_eq!(seen(0.0, 1e12), None);
    }

    #[test]
    fn sets_that_contradict_each_other_give_no_rate() {
        let left = |rate: f64| move |after_ns: f64| 0.9 * (-after_ns * rate / CACHE.0 as f64).exp();
        let both = [points(4 << 20, left(20.0)), points(8 << 20, left(60.0))].concat();
        assert_eq!(insertions(&all(&both), CACHE), None);
        let both = [points(4 << 20, left(20.0)), points(8 << 20, left(20.4))].concat();
        assert!(insertions(&all(&both), CACHE).is_some());
        assert_eq!(all(&both).len(), 2);
    }
}
