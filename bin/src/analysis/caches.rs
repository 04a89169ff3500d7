//! Which levels of a fit are which cache.
//!
//! A fit knows steps, not caches: one that is shared or thrashed gives way in stages. What
//! the system reports says how many caches there are, though not how much of them a program gets.

use core::cmp::Ordering;

use latency_core::math::ln;
use latency_core::model::translation::Cause;
use latency_core::model::{Estimate, Fit, FitKind, Level, Point, MAX_LEVELS, MAX_POINTS};
use latency_core::stats;

use super::claims::{Claim, Claims, MAX_CLAIMS};

/// A reported size outside of the interval from onset to knee by more is disagreement: neighbouring points lie
/// a sixteenth of an octave apart around a knee.
const TOLERANCE: f64 = 1.06;

/// The most ways in which levels could belong to claims.
const ASSIGNMENTS: usize = MAX_CLAIMS.pow(MAX_LEVELS as u32);
/// A reported cache that no level is taken for weighs as much as a size that is wrong by this factor's logarithm.
const UNUSED: f64 = 2.0;

/// Sizes so far from both ends of a plateau are on it.
const MARGIN: f64 = 1.25;
/// Points of a plateau lie within so much of each other, or it is none.
const FLAT: f64 = 0.02;
/// So many of them say more than a fit that has all other levels to suit too.
const ENOUGH: usize = 3;

/// Takes the latency of each cache from the points on its plateau, where there is one.
///
/// A first translation buffer of so many bytes' `reach` ends a plateau as a cache does.
pub(super) fn plateaus(caches: &mut [Cache], points: &[Point], reach: Option<f64>) {
    let mut low = 0.0;
    for cache in caches {
        let ends = [cache.onset, reach.unwrap_or(f64::INFINITY)];
        // What begins beyond the buffer's reach has its misses in it anyhow.
        let high = ends.into_iter().filter(|end| *end > low * MARGIN * MARGIN).fold(f64::INFINITY, f64::min);
        let range = low * MARGIN..=high / MARGIN;
        let mut latencies = [0.0; MAX_POINTS];
        let mut count = 0;
        let within = points.iter().filter(|point| range.contains(&point.working_set));
        for (slot, point) in latencies.iter_mut().zip(within) {
            *slot = point.latency;
            count += 1;
        }
        let summary = latencies.get_mut(..count).and_then(stats::summarise);
        if let Some(summary) = summary.filter(|summary| summary.count >= ENOUGH) {
            let spread = summary.maximum - summary.minimum;
            if spread <= FLAT * summary.median {
                // The points are neighbours: their scatter is the error of any of them, not a root of it less.
                cache.first.latency = Estimate { value: summary.median, error: spread / 2.0 };
            }
        }
        low = cache.knee;
    }
}

/// Shares of what a cache's misses add, at which its interval begins and ends.
const ONSET: f64 = 0.05;
const KNEE: f64 = 0.5;
/// Halvings of a range of sizes after which nothing is left of it.
const HALVINGS: u32 = 50;

/// What each stage's own distance from the reported size weighs beside that of the last.
const STAGE: f64 = 0.1;

/// Levels of a fit that are one cache, or one that gives way in stages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cache {
    /// Its place in the hierarchy, from 1.
    pub number: u32,
    /// Its first stage, which has its latency.
    pub first: Level,
    /// Its last.
    pub last: Level,
    /// The working set in bytes from which on it gives way: of what all stages together add, 5 % are there.
    pub onset: f64,
    /// The working set in bytes at which it has given way: half of that is there.
    pub knee: f64,
    /// The number of stages.
    pub stages: u32,
    /// What the system reports of it.
    pub claim: Option<Claim>,
    /// Its size in bytes, where that can be told: an interval is all that a stair of Hill curves gives.
    pub capacity: Option<f64>,
}

impl Cache {
    /// Whether the reported size lies outside of the interval in which it gives way.
    #[must_use]
    pub fn disagrees(&self) -> bool {
        self.claim.is_some_and(|claim| {
            let size = claim.size.0 as f64;
            size * TOLERANCE < self.onset || size > self.knee * TOLERANCE
        })
    }
}

/// Joins the levels of a fit into caches: by what the system reports, as far as it does.
pub(super) fn caches(fit: &Fit, claims: &Claims) -> ([Cache; MAX_LEVELS], usize) {
    let mut found = [Cache::default(); MAX_LEVELS];
    let mut count = 0;
    let levels = || fit.levels().iter().filter(|level| level.cause != Cause::Translation);
    let mut numbers = assign(levels(), claims);
    let assigned = || numbers.iter().flatten();
    if fit.kind == FitKind::Laws && assigned().zip(assigned().skip(1)).any(|(one, next)| one >= next) {
        // Such a stair has no stages: what is reported does not go with what was seen.
        numbers = [None; MAX_LEVELS];
    }
    let mut last_number = 0;
    for (level, assigned) in levels().zip(numbers) {
        // Without claims, what has no plateau of its own is the end of the cache before it.
        let apart = level.plateau || last_number == 0 || fit.kind == FitKind::Laws;
        let number = assigned.unwrap_or(last_number + u32::from(apart));
        let (onset, knee) = (level.onset, level.knee);
        if number == last_number {
            if let Some(cache) = found.get_mut(..count).and_then(<[_]>::last_mut) {
                cache.last = *level;
                cache.stages += 1;
            }
        } else if let Some(slot) = found.get_mut(count) {
            let claim = claims.level(number).copied();
            let capacity = level.law.map(|_| level.capacity.value);
            *slot = Cache { number, first: *level, last: *level, onset, knee, stages: 1, claim, capacity };
            count += 1;
        }
        last_number = number;
    }
    for cache in found.iter_mut().take(count).filter(|cache| cache.stages > 1) {
        let stages = || {
            let sizes = cache.first.capacity.value..=cache.last.capacity.value;
            levels().filter(move |level| sizes.contains(&level.capacity.value))
        };
        (cache.onset, cache.knee) = (given_way(stages(), ONSET), given_way(stages(), KNEE));
    }
    (found, count)
}

/// The working set at which stages have added `share` of all that they add.
fn given_way<'l>(stages: impl Iterator<Item = &'l Level> + Clone, share: f64) -> f64 {
    let all: f64 = stages.clone().map(|stage| stage.step.value).sum();
    let added = |size: f64| stages.clone().map(|stage| stage.step.value * stage.missing(size)).sum::<f64>();
    // One of the stages has come as far at the lower end, and all of them at the upper one.
    let ends = |one: fn(f64, f64) -> f64, start: f64| {
        stages.clone().flat_map(|stage| [stage.onset, stage.capacity.value]).fold(start, one)
    };
    let (mut low, mut high) = (ends(f64::min, f64::INFINITY), ends(f64::max, 0.0));
    for _ in 0..HALVINGS {
        let middle = low.midpoint(high);
        if added(middle) < share * all {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Which reported cache each level is, such that sizes fit best where levels leave a cache.
fn assign<'l>(levels: impl Iterator<Item = &'l Level> + Clone, claims: &Claims) -> [Option<u32>; MAX_LEVELS] {
    let mut best = ([None; MAX_LEVELS], f64::INFINITY);
    let last = claims.iter().map(|claim| claim.level).max().unwrap_or(0);
    for code in 0..ASSIGNMENTS {
        let mut rest = code;
        let mut numbers = [None; MAX_LEVELS];
        let mut cost = 0.0;
        let mut before: Option<(u32, f64)> = None;
        let off = |number, knee: f64| {
            claims.level(number).map_or(f64::INFINITY, |claim| ln(knee / claim.size.0 as f64).abs())
        };
        for (slot, level) in numbers.iter_mut().zip(levels.clone()) {
            let number = 1 + (rest % MAX_CLAIMS) as u32;
            rest /= MAX_CLAIMS;
            if let Some((previous, knee)) = before {
                match previous.cmp(&number) {
                    Ordering::Less => cost += off(previous, knee) + UNUSED * f64::from(number - previous - 1),
                    Ordering::Equal => {}
                    Ordering::Greater => cost = f64::INFINITY,
                }
            } else {
                cost += UNUSED * f64::from(number - 1);
            }
            cost += STAGE * off(number, level.knee);
            *slot = Some(number);
            before = Some((number, level.knee));
        }
        let Some((number, knee)) = before else { break };
        cost += off(number, knee) + UNUSED * f64::from(last.saturating_sub(number));
        // The same levels came with every code of what lies beyond them.
        if cost < best.1 {
            best = (numbers, cost);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::claims::Source;
    use latency_core::units::Bytes;
    use std::vec::Vec;

    const KIB: f64 = 1024.0;
    const MIB: f64 = 1024.0 * KIB;

    fn assigned(knees: &[f64], claims: &[(u32, u64)]) -> Vec<Option<u32>> {
        let mut reported = Claims::default();
        for &(level, size) in claims {
            reported.add(Claim { level, size: Bytes(size), ways: 0, source: Source::Sysfs });
        }
        let level = |knee: &f64| Level { knee: *knee, plateau: true, ..Level::default() };
        let levels: Vec<Level> = knees.iter().map(level).collect();
        assign(levels.iter(), &reported)[..knees.len()].to_vec()
    }

    #[test]
    fn levels_are_the_caches_that_they_are_nearest_to() {
        let zen: [(u32, u64); 3] = [(1, 32 << 10), (2, 1 << 20), (3, 32 << 20)];
        for (knees, numbers) in [
            (&[34.0 * KIB, 1.3 * MIB, 20.0 * MIB][..], &[1, 2, 3][..]),
            (&[34.0 * KIB, 1.2 * MIB, 5.6 * MIB, 13.5 * MIB, 24.0 * MIB], &[1, 2, 3, 3, 3]),
            (&[34.0 * KIB, 0.3 * MIB, 1.2 * MIB, 15.0 * MIB], &[1, 2, 2, 3]),
            (&[34.0 * KIB, 0.86 * MIB, 1.45 * MIB, 5.5 * MIB, 15.8 * MIB], &[1, 2, 2, 3, 3]),
            (&[34.0 * KIB, 1.1 * MIB], &[1, 2]),
        ] {
            let numbers: Vec<_> = numbers.iter().map(|number| Some(*number)).collect();
            assert_eq!(assigned(knees, &zen), numbers, "{knees:?}");
        }
    }

    #[test]
    fn a_share_of_a_large_cache_is_still_that_cache() {
        let cloud = [(1, 48 << 10), (2, 2 << 20), (3, 300 << 20)];
        let knees = [50.0 * KIB, 2.4 * MIB, 22.0 * MIB];
        assert_eq!(assigned(&knees, &cloud), [Some(1), Some(2), Some(3)]);
    }

    #[test]
    fn a_cache_in_stages_has_given_way_where_most_of_its_misses_are_added() {
        let stage = |knee: f64, step: f64| Level {
            capacity: Estimate { value: knee, error: 0.0 },
            onset: knee / 2.0,
            step: Estimate { value: step, error: 0.0 },
            shape: Some(Estimate { value: 4.25, error: 0.0 }),
            ..Level::default()
        };
        let stages = [
            stage(5.5 * MIB, 9.0),
            stage(13.0 * MIB, 40.0),
            stage(18.5 * MIB, 66.0),
            stage(67.0 * MIB, 16.0),
        ];
        let (onset, knee) = (given_way(stages.iter(), ONSET), given_way(stages.iter(), KNEE));
        assert!((5.5 * MIB..7.0 * MIB).contains(&onset), "{onset}");
        assert!((15.0 * MIB..18.5 * MIB).contains(&knee), "{knee}");
        let one = [stage(MIB, 10.0)];
        assert!((given_way(one.iter(), KNEE) / MIB - 1.0).abs() < 1e-9);
        assert!((given_way(one.iter(), ONSET) / (0.5 * MIB) - 1.0).abs() < 0.01);
    }

    #[test]
    fn without_claims_nothing_is_assigned() {
        assert_eq!(assigned(&[34.0 * KIB, 1.3 * MIB], &[]), [None, None]);
        assert_eq!(assigned(&[], &[(1, 32 << 10)]), []);
    }
}
