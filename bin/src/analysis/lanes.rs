//! Conclusions from walks of several lanes: the limit of loads in flight, and the reach of the window.

use latency_core::compact::Compact;
use latency_core::stats::{self, Estimate, Interval, Side};
use latency_core::units::Bytes;

use super::claims::Claims;
use crate::result::{Outcome, Walk};

/// A time that exceeds the fastest by less belongs to the plateau.
const PLATEAU: f64 = 1.05;
/// Number of the fastest samples whose median is the plateau.
const FASTEST: usize = 3;
/// A time per load that exceeds the one without work, or the floor, by more is no longer hidden.
const EXPOSED: f64 = 1.15;

/// One working set: the time for each load, by what is walked.
#[derive(Clone, Copy, Debug)]
pub struct WorkingSet<'r, 'a> {
    outcomes: &'r [Outcome<'a>],
    /// The working set.
    pub size: Bytes,
}

/// Returns the working sets of a report, as they follow each other.
pub fn regions<'r, 'a>(outcomes: &'r [Outcome<'a>]) -> impl Iterator<Item = WorkingSet<'r, 'a>> {
    let alike = outcomes.chunk_by(|one, other| one.point.size == other.point.size);
    Compact(alike.filter_map(|outcomes| Some(WorkingSet { outcomes, size: outcomes.first()?.point.size })))
}

/// The number of loads that one core keeps in flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saturation {
    /// Loads in flight where more lanes bring no more.
    pub in_flight: f64,
    /// Within which it lies; `None` with too few rounds.
    pub interval: Option<Interval>,
    /// The fewest lanes that are as fast as the plateau.
    pub from_lanes: usize,
    /// The shortest time for each load, in nanoseconds.
    pub fastest_ns: f64,
    /// The lanes that had it.
    pub fastest_lanes: usize,
}

impl Saturation {
    /// Returns the rate in gigabytes a second, for cache lines of this size.
    #[must_use]
    pub fn gigabytes_per_second(&self, line: Bytes) -> f64 {
        line.0 as f64 / self.fastest_ns
    }
}

/// One measured point of a region.
#[derive(Clone, Copy, Debug)]
pub struct LaneSample<'r, 'a> {
    /// Its outcome.
    pub outcome: &'r Outcome<'a>,
    /// Nanoseconds for each load.
    pub nanoseconds: f64,
    /// Within which that lies.
    pub interval: Option<Interval>,
}

impl LaneSample<'_, '_> {
    /// Returns the time for each load.
    #[must_use]
    pub const fn estimate(&self) -> Estimate {
        Estimate { value: self.nanoseconds, interval: self.interval }
    }
}

impl<'r, 'a> WorkingSet<'r, 'a> {
    /// Returns the measured points.
    pub fn samples(&self) -> impl Iterator<Item = LaneSample<'r, 'a>> {
        Compact(self.outcomes.iter().filter_map(|outcome| {
            let summary = outcome.result.as_ref().ok()?.series.nanoseconds;
            Some(LaneSample { outcome, nanoseconds: summary.median, interval: summary.interval })
        }))
    }

    /// Returns the point with this number of lanes and nothing between their loads.
    #[must_use]
    pub fn with_lanes(&self, lanes: usize) -> Option<LaneSample<'r, 'a>> {
        self.samples().find(|sample| sample.outcome.point.walk.lanes() == lanes)
    }

    /// Returns the point with this work.
    #[must_use]
    pub fn with_work(&self, work: usize, prefetch: bool) -> Option<LaneSample<'r, 'a>> {
        self.samples().find(|sample| match sample.outcome.point.walk {
            Walk::Lanes(kernel) => (kernel.work(), kernel.prefetch()) == (work, prefetch),
            _ => false,
        })
    }

    /// Returns the loads in flight, by Little's law, in a walk with this time for each load.
    #[must_use]
    pub fn in_flight(&self, nanoseconds: f64) -> Option<f64> {
        Some(self.with_lanes(1)?.nanoseconds / nanoseconds)
    }

    /// Returns the time at which more lanes gain nothing, the median of the fastest, over that of a lane alone.
    #[must_use]
    pub fn saturation(&self) -> Option<Saturation> {
        let single = self.with_lanes(1)?;
        let mut fastest = [None::<LaneSample<'_, '_>>; FASTEST];
        for sample in self.samples() {
            let mut carried = Some(sample);
            for place in &mut fastest {
                let time =
                    |sample: &Option<LaneSample<'_, '_>>| sample.map_or(f64::INFINITY, |it| it.nanoseconds);
                if time(&carried) < time(place) {
                    core::mem::swap(&mut carried, place);
                }
            }
        }
        let median = |select: fn(&LaneSample<'_, '_>) -> Option<f64>| {
            let mut values = [0.0; FASTEST];
            for (value, sample) in values.iter_mut().zip(&fastest) {
                *value = select(sample.as_ref()?)?;
            }
            stats::median(&mut values)
        };
        let plateau = median(|sample| Some(sample.nanoseconds))?;
        let interval = || {
            let low = median(|sample| Some(sample.interval?.low))?;
            let high = median(|sample| Some(sample.interval?.high))?;
            let single = single.interval?;
            Some(Interval { low: single.low / high, high: single.high / low })
        };
        let best = fastest.first().copied().flatten()?;
        let first = self.samples().find(|sample| sample.nanoseconds < PLATEAU * plateau)?;
        Some(Saturation {
            in_flight: single.nanoseconds / plateau,
            interval: interval(),
            from_lanes: first.outcome.point.walk.lanes(),
            fastest_ns: best.nanoseconds,
            fastest_lanes: best.outcome.point.walk.lanes(),
        })
    }
}

/// The place of a working set in the hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HierarchyPlace {
    /// The smallest cache that holds it, by its level.
    Cache(u32),
    /// Most of it is in no cache.
    Memory,
    /// In part in the largest cache, or no cache is known.
    Unknown,
}

/// Returns where a working set lies, by the caches that are reported and the least that is in memory.
#[must_use]
pub fn place(claims: &Claims, least_in_memory: Bytes, size: Bytes) -> HierarchyPlace {
    if size >= least_in_memory {
        return HierarchyPlace::Memory;
    }
    let holds = claims.iter().find(|claim| claim.size >= size);
    holds.map_or(HierarchyPlace::Unknown, |claim| HierarchyPlace::Cache(claim.level))
}

/// The limit of the misses in flight that were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The core's own buffers: there are no more of them.
    Buffers,
    /// Buffers or memory: there may be more buffers.
    BuffersOrMemory,
}

/// The number of misses that one core has in flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InFlight {
    /// The misses.
    pub misses: Estimate,
    /// Their limit.
    pub limit: Limit,
    /// The fewest chains that reach it.
    pub from_lanes: usize,
    /// The working set that shows it.
    pub size: Bytes,
}

/// From this share of the memory's latency on, a working set is none that a cache serves.
pub const NEARLY_MEMORY: f64 = 0.7;
/// Up to this share it is served well enough for memory not to be the limit of what is in flight.
const WELL_SERVED: f64 = 0.5;
/// A load from the last-level cache takes this many times one from the nearer cache at least.
const FARTHER: f64 = 1.5;

/// Returns whether one chain alone takes nearly as long in a working set as in memory.
#[must_use]
pub fn is_like_memory(outcomes: &[Outcome<'_>], size: Bytes, least_in_memory: Bytes) -> bool {
    let alone = |region: WorkingSet<'_, '_>| region.with_lanes(1).map(|sample| sample.nanoseconds);
    let this = regions(outcomes).find(|region| region.size == size).and_then(alone);
    let memory = regions(outcomes).find(|region| region.size >= least_in_memory).and_then(alone);
    this.zip(memory).is_some_and(|(this, memory)| this >= NEARLY_MEMORY * memory)
}

/// Returns how many misses one core has in flight, from the working set that fills its buffers up.
///
/// The last-level cache is near enough for memory not to be the limit, and far enough for the buffers to fill up:
/// a working set larger than `near`, the cache before it, and no larger than `last`. Memory alone gives a lower
/// bound, and a nearer cache nothing.
#[must_use]
pub fn misses_in_flight(
    outcomes: &[Outcome<'_>],
    near: Bytes,
    last: Bytes,
    least_in_memory: Bytes,
) -> Option<InFlight> {
    let memory = || regions(outcomes).find(|region| region.size >= least_in_memory);
    let alone = |region: WorkingSet<'_, '_>| region.with_lanes(1).map(|sample| sample.nanoseconds);
    let memory_ns = memory().and_then(alone);
    // A region that is hardly faster than memory, or as fast as the nearer cache, is not in that cache, whatever is
    // reported.
    let near_ns = regions(outcomes).find(|region| region.size <= near).and_then(alone);
    let is_cache = |region: &WorkingSet<'_, '_>| {
        let ns = alone(*region);
        memory_ns.zip(ns).is_none_or(|(memory, ns)| ns <= WELL_SERVED * memory)
            && near_ns.zip(ns).is_none_or(|(near, ns)| ns >= FARTHER * near)
    };
    let shared =
        regions(outcomes).find(|region| region.size > near && region.size <= last && is_cache(region));
    let (limit, region) = match shared {
        Some(region) => (Limit::Buffers, region),
        None => (Limit::BuffersOrMemory, memory()?),
    };
    let Saturation { in_flight: value, interval, from_lanes, .. } = region.saturation()?;
    Some(InFlight { misses: Estimate { value, interval }, limit, from_lanes, size: region.size })
}

/// The reach of the window over work that waits for loads, in instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkReach {
    /// Instructions between a lane's loads with which all lanes' loads were in flight.
    pub hidden: usize,
    /// Instructions with which they were not; `None` where they always were.
    pub exposed: Option<usize>,
}

impl WorkReach {
    /// Returns the instructions at which loads overlap no more; `None` where they always did.
    #[must_use]
    pub fn ends_at(&self) -> Option<Estimate> {
        let (low, high) = (self.hidden as f64, self.exposed? as f64);
        Some(Estimate { value: (low + high) / 2.0, interval: Some(Interval { low, high }) })
    }
}

/// Returns the work at which the time of a load in memory exceeds both the time without work and the floor, without a
/// prefetch. Points whose interval leaves that open do not count.
#[must_use]
pub fn work_reach(floor: Option<WorkingSet<'_, '_>>, memory: WorkingSet<'_, '_>) -> Option<WorkReach> {
    let bare = memory.with_work(0, false)?.estimate();
    let mut reach = None;
    for sample in memory.samples() {
        let Walk::Lanes(kernel) = sample.outcome.point.walk else { continue };
        if kernel.prefetch() {
            continue;
        }
        let floor =
            floor.and_then(|floor| floor.with_work(kernel.work(), false)).map(|floor| floor.estimate());
        let least = floor.filter(|floor| floor.value > bare.value).unwrap_or(bare);
        match sample.estimate().over(least)?.side(EXPOSED) {
            Side::Above => {
                let hidden = reach.map_or(0, |reach: WorkReach| reach.hidden);
                return Some(WorkReach { hidden, exposed: Some(kernel.instructions()) });
            }
            Side::Near | Side::Below => {
                reach = Some(WorkReach { hidden: kernel.instructions(), exposed: None });
            }
            Side::Open => {}
        }
    }
    reach
}

#[cfg(test)]
#[path = "lanes_tests.rs"]
pub(super) mod tests;
