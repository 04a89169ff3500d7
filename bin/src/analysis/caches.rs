//! Assigns the levels of a stair to caches.
//!
//! A stair has steps, not caches: one cache that is shared or thrashed appears as several steps. The system reports how
//! many caches there are, but not how much of each a program gets.

use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::RangeInclusive;

use latency_core::math::ln;
use latency_core::model::curve::Law;
use latency_core::model::edge::Edge;
use latency_core::model::plateau::{Plateau, plateau};
use latency_core::model::{Cause, Fit, Level, MAX_LEVELS, Point, Workspace};
use latency_core::{Estimate, Interval, ToReal, worded};

use super::claims::{Claim, Claims, MAX_CLAIMS};

/// Factor by which a reported size may lie outside the interval of the measured size before the two disagree:
/// neighbouring points lie a sixteenth of an octave apart around a knee.
const TOLERANCE: f64 = 1.06;
/// Factor by which memory must be slower than a level for the two to be distinguished.
const APART: f64 = 1.5;

/// Weight of a reported cache without a level: the same as a size that is wrong by a factor of e to the power of this.
const UNUSED: f64 = 2.0;
/// Factor between the half-miss size of one stage and the onset of the next above which there is a plateau between
/// them. A plateau counts by [`PARTED`] against the two stages belonging to one cache.
const PLATEAU: f64 = 1.25;
const PARTED: f64 = 1.0;
/// Weight of the distance of each stage from the reported size, relative to the weight 1 of the last stage.
const STAGE: f64 = 0.1;

/// Shares of the latency added by a cache's misses at which the cache begins to give way and has given way.
const ONSET: f64 = 0.05;
const HALF: f64 = 0.5;
/// Largest distance of a plateau's latency from the stair's latency, as a share of the latter: as much as the lab
/// tolerates.
const SLOPE: f64 = 0.015;
/// Number of bisection steps, enough to exhaust a range of sizes.
const HALVINGS: u32 = 50;

worded! {
    /// The relation of the reported size of a cache to the measured one.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Agreement {
        /// The reported size lies between the sizes at which the cache begins to give way and has given way, or in the
        /// interval of the measured size.
        Agrees = "agrees",
        /// The reported size is larger: this core gets a part of the cache.
        Part = "part",
        /// The reported size is smaller: the cache keeps more than it should hold.
        More = "more",
    }
}

/// A cache as a program sees it: one level of the stair, or several levels if the cache gives way in stages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cache {
    /// Its place in the hierarchy, from 1.
    pub number: u32,
    /// Its latency in the unit of the fits, with a 95 % interval.
    pub latency: Estimate,
    /// The median core clock of its points; `None` where it is not known.
    pub gigahertz: Option<f64>,
    /// The points that the latency was read from; `None` if they are too few and the latency is that of the stair.
    pub plateau: Option<Plateau>,
    /// Its effective size in bytes, with a 95 % interval. For a cache in stages, this is the size at which half of the
    /// latency that all stages add has been added; the interval goes from the onset to the upper end of the last stage.
    pub size: Estimate,
    /// True if the size is exact: the edge of the first level yielded a complete geometry.
    pub exact: bool,
    /// Its ways, if the edge of the first level yielded them.
    pub ways: Option<u32>,
    /// The working set in bytes at which the cache begins to give way: 5 % of the latency that all stages add has been
    /// added.
    pub onset: f64,
    /// The working set in bytes at which the cache has given way: half of that latency has been added.
    pub half: f64,
    /// The number of stages.
    pub stages: u32,
    /// The size of its last stage.
    last: Estimate,
    /// The law by which the miss rate of the first stage rises.
    pub law: Option<Law>,
    /// True if a translation buffer gives way at the same size.
    pub with_translation: bool,
    /// True if memory is less than 1.5 times as slow, so that this may not be a cache level.
    pub like_memory: bool,
    /// The system's claim about the cache.
    pub claim: Option<Claim>,
    /// The relation of the claim to the measured size; `None` where nothing is reported.
    pub agreement: Option<Agreement>,
}

impl Cache {
    /// Returns whether the reported size differs from the measured one.
    pub fn disagrees(&self) -> bool {
        matches!(self.agreement, Some(Agreement::Part | Agreement::More))
    }

    /// Returns whether the measured size is an approximation: its interval is wide or unknown.
    pub fn is_vague(&self) -> bool {
        /// Least ratio of the ends of a wide interval.
        const WIDE: f64 = 1.5;
        !self.exact && self.size.interval.is_none_or(|interval| interval.high > WIDE * interval.low)
    }

    /// Returns the effective size in bytes; `None` if its interval is too wide for one size.
    pub fn middle(&self) -> Option<f64> {
        /// Largest ratio of the ends of an interval with a middle.
        const WIDEST: f64 = 4.0;
        let is_bounded = self.size.interval.is_none_or(|interval| interval.high <= WIDEST * interval.low);
        (self.exact || is_bounded).then_some(self.size.value)
    }

    /// Returns the size in bytes that the cache holds at least.
    pub fn least(&self) -> f64 {
        self.middle().unwrap_or(self.size.bounds().low)
    }

    fn compare(&self) -> Option<Agreement> {
        let reported = self.claim?.size.0.real();
        let size = self.size.bounds();
        Some(match () {
            () if self.exact && reported > self.size.value => Agreement::Part,
            () if self.exact && reported < self.size.value => Agreement::More,
            () if reported * TOLERANCE < self.onset.min(size.low) => Agreement::More,
            () if reported > self.half.max(size.high) * TOLERANCE => Agreement::Part,
            () => Agreement::Agrees,
        })
    }
}

/// Reads the caches out of a stair and the points that it was fitted to, nearest first.
///
/// A translation buffer ends a plateau at its reach in bytes, as a cache does; `reaches` has 0 for an unknown one.
pub(super) fn read(
    fit: &Fit,
    claims: &Claims,
    points: &[Point],
    reaches: [f64; 2],
    edge: Option<Edge>,
    workspace: &mut Workspace,
) -> Vec<Cache> {
    let (mut caches, mut low) = (joined(fit, claims), 0.0);
    for cache in &mut caches {
        // Points beyond a buffer's reach contain its misses in any case.
        let end = reaches.into_iter().filter(|reach| *reach > low).fold(cache.onset, f64::min);
        // Points that could be fitted can also be read.
        let read = plateau(points, (low, end), workspace).unwrap_or(None);
        // A run of points with a median away from the stair's latency is a slope: the misses of a cache with random
        // replacement rise so slowly that there may be no flat part behind them.
        let height = cache.latency.value;
        cache.plateau = read.filter(|read| (read.latency.value / height - 1.0).abs() <= SLOPE);
        cache.latency = cache.plateau.map_or(cache.latency, |plateau| plateau.latency);
        if let (1, Some(Edge { capacity, ways: Some(ways), .. })) = (cache.number, edge) {
            cache.size = Estimate::exact(capacity.0.real());
            (cache.exact, cache.ways) = (true, Some(ways));
        }
        cache.like_memory = fit.memory.value < APART * cache.latency.value;
        cache.agreement = cache.compare();
        low = cache.half;
    }
    caches
}

/// Sets the core clock of each cache to that of the points that it was read from: `clock` returns the core clock of a range
/// of sizes.
pub(super) fn read_clocks(caches: &mut [Cache], clock: &dyn Fn(&RangeInclusive<f64>) -> Option<f64>) {
    let mut low = 0.0;
    for cache in caches {
        cache.gigahertz =
            clock(&cache.plateau.map_or(low..=cache.onset, |plateau| plateau.from..=plateau.to));
        low = cache.half;
    }
}

/// Joins the levels of a stair into caches, according to the reported caches as far as there are any.
fn joined(fit: &Fit, claims: &Claims) -> Vec<Cache> {
    let levels = || fit.levels().iter().filter(|level| level.cause != Cause::Translation);
    let mut numbers = assign(levels(), claims).into_iter();
    let (mut caches, mut before) = (Vec::<Cache>::new(), None);
    for level in fit.levels() {
        // A cache has its latency before the misses of a translation buffer are added.
        let latency = before.unwrap_or(level.latency);
        before = (level.cause == Cause::Translation).then_some(latency);
        if before.is_some() {
            continue;
        }
        let last = caches.last().map_or(0, |cache| cache.number);
        // Without claims, each level is a cache of its own.
        let number = numbers.next().flatten().unwrap_or(last + 1);
        if number != last {
            caches.push(Cache {
                number,
                latency,
                size: level.capacity,
                onset: level.onset,
                half: level.half,
                law: level.law,
                claim: claims.level(number).copied(),
                ..Cache::default()
            });
        }
        if let Some(cache) = caches.last_mut() {
            cache.stages += 1;
            cache.with_translation |= level.cause == Cause::Mixed;
            cache.last = level.capacity;
        }
    }
    for cache in caches.iter_mut().filter(|cache| cache.stages > 1) {
        let sizes = cache.size.value..=cache.last.value;
        let stages = || levels().filter(|level| sizes.contains(&level.capacity.value));
        (cache.onset, cache.half) = (given_way(stages(), ONSET), given_way(stages(), HALF));
        let interval = cache.last.interval.map(|last| Interval { low: cache.onset, ..last });
        cache.size = Estimate { value: cache.half, interval };
    }
    caches
}

/// Returns the working set at which `share` of the latency that all stages add has been added.
fn given_way<'l>(stages: impl Iterator<Item = &'l Level> + Clone, share: f64) -> f64 {
    let added = |size: f64| stages.clone().map(|stage| stage.step.value * stage.missing(size)).sum::<f64>();
    // At the lower end one stage at most has added that share, and at the upper end all of them have.
    let (mut all, mut low, mut high) = (0.0, f64::INFINITY, 0.0_f64);
    for stage in stages.clone() {
        all += stage.step.value;
        low = low.min(stage.onset).min(stage.capacity.value);
        high = high.max(stage.onset).max(stage.capacity.value);
    }
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

/// Returns the reported cache that each level belongs to, by the assignment in which the sizes of the last levels of
/// the caches fit best.
fn assign<'l>(levels: impl Iterator<Item = &'l Level> + Clone, claims: &Claims) -> [Option<u32>; MAX_LEVELS] {
    let mut best = ([None; MAX_LEVELS], f64::INFINITY);
    let last = claims.iter().map(|claim| claim.level).max().unwrap_or(0);
    // Every level may belong to every claim.
    for code in 0..MAX_CLAIMS.pow(levels.clone().count() as u32) {
        let mut rest = code;
        let mut numbers = [None; MAX_LEVELS];
        let mut cost = 0.0;
        let mut before: Option<(u32, f64)> = None;
        let off = |number, half: f64| {
            claims.level(number).map_or(f64::INFINITY, |claim| ln(half / claim.size.0.real()).abs())
        };
        for (slot, level) in numbers.iter_mut().zip(levels.clone()) {
            let number = 1 + (rest % MAX_CLAIMS) as u32;
            rest /= MAX_CLAIMS;
            if let Some((previous, half)) = before {
                match previous.cmp(&number) {
                    Ordering::Less => cost += off(previous, half) + UNUSED * f64::from(number - previous - 1),
                    Ordering::Equal if level.onset > PLATEAU * half => cost += PARTED,
                    Ordering::Equal => {}
                    Ordering::Greater => cost = f64::INFINITY,
                }
            } else {
                cost += UNUSED * f64::from(number - 1);
            }
            cost += STAGE * off(number, level.half);
            *slot = Some(number);
            before = Some((number, level.half));
        }
        let Some((number, half)) = before else { break };
        cost += off(number, half) + UNUSED * f64::from(last.saturating_sub(number));
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
    use latency_core::Bytes;
    use std::vec::Vec;

    const KIB: f64 = 1024.0;
    const MIB: f64 = 1024.0 * KIB;

    fn assigned(knees: &[f64], claims: &[(u32, u64)]) -> Vec<Option<u32>> {
        let mut reported = Claims::default();
        for &(level, size) in claims {
            reported.add(Claim { level, size: Bytes(size), source: Source::Sysfs });
        }
        let level = |knee: &f64| Level { half: *knee, ..Level::default() };
        let levels: Vec<Level> = knees.iter().map(level).collect();
        assign(levels.iter(), &reported)[..knees.len()].to_vec()
    }

    #[test]
    fn a_size_between_ends_that_are_far_apart_has_no_middle() {
        let within = |high| Estimate { value: 20.0, interval: Some(Interval { low: 10.0, high }) };
        for (cache, middle, least) in [
            (Cache { size: within(40.0), ..Cache::default() }, Some(20.0), 20.0),
            (Cache { size: within(41.0), ..Cache::default() }, None, 10.0),
            (Cache { size: within(90.0), exact: true, ..Cache::default() }, Some(20.0), 20.0),
        ] {
            assert_eq!((cache.middle(), cache.least()), (middle, least));
        }
    }

    #[test]
    fn levels_belong_to_the_nearest_reported_caches() {
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
            capacity: knee.into(),
            onset: knee / 2.0,
            step: step.into(),
            law: Some(Law::Soft(4)),
            ..Level::default()
        };
        let stages = [
            stage(5.5 * MIB, 9.0),
            stage(13.0 * MIB, 40.0),
            stage(18.5 * MIB, 66.0),
            stage(67.0 * MIB, 16.0),
        ];
        let (onset, half) = (given_way(stages.iter(), ONSET), given_way(stages.iter(), HALF));
        assert!((5.5 * MIB..7.0 * MIB).contains(&onset), "{onset}");
        assert!((15.0 * MIB..18.5 * MIB).contains(&half), "{half}");
        let one = [stage(MIB, 10.0)];
        assert!((given_way(one.iter(), HALF) / MIB - 1.0).abs() < 1e-9);
        assert!((given_way(one.iter(), ONSET) / (0.5 * MIB) - 1.0).abs() < 0.01);
    }

    /// Returns a cache measured at 8 MiB, 7 to 10: it begins to give way at 6 MiB and has given way at 9.
    fn measured(claim: Option<u64>, exact: bool) -> Cache {
        Cache {
            size: Estimate {
                value: 8.0 * MIB,
                interval: Some(Interval { low: 7.0 * MIB, high: 10.0 * MIB }),
            },
            onset: 6.0 * MIB,
            half: 9.0 * MIB,
            exact,
            claim: claim.map(|size| Claim { level: 2, size: Bytes(size), source: Source::Sysfs }),
            ..Cache::default()
        }
    }

    #[test]
    fn a_reported_size_agrees_within_the_interval_or_the_transition() {
        let reported = |kibibytes: u64| measured(Some(kibibytes << 10), false).compare().unwrap();
        let within = (6.0 * 1024.0 / TOLERANCE) as u64 + 1..=(10.0 * 1024.0 * TOLERANCE) as u64;
        assert!(TOLERANCE > 1.0 && *within.start() < 6 << 10 && *within.end() > 10 << 10);
        assert_eq!([*within.start(), 8 << 10, *within.end()].map(reported), [Agreement::Agrees; 3]);
        assert_eq!([1024, within.start() - 1].map(reported), [Agreement::More; 2]);
        assert_eq!([within.end() + 1, 32 << 10].map(reported), [Agreement::Part; 2]);
        assert_eq!(measured(None, false).compare(), None);
    }

    #[test]
    fn an_exact_size_agrees_only_with_itself() {
        let reported = |size: u64| measured(Some(size), true).compare().unwrap();
        let counted = 8 << 20;
        assert_eq!(
            [counted - 1, counted, counted + 1].map(reported),
            [Agreement::More, Agreement::Agrees, Agreement::Part]
        );
        let disagrees = |agreement| Cache { agreement, ..Cache::default() }.disagrees();
        assert!(!disagrees(None) && !disagrees(Some(Agreement::Agrees)));
        assert!(disagrees(Some(Agreement::Part)) && disagrees(Some(Agreement::More)));
    }

    #[test]
    fn without_claims_nothing_is_assigned() {
        assert_eq!(assigned(&[34.0 * KIB, 1.3 * MIB], &[]), [None, None]);
        assert_eq!(assigned(&[], &[(1, 32 << 10)]), []);
    }
}
