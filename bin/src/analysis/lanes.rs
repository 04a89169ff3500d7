//! Conclusions from walks of several lanes: the limit of loads in flight, and the reach of the window.

use latency_core::compact::Compact;
use latency_core::stats::{self, Estimate, Interval, Side};
use latency_core::units::{Bytes, LINE};

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
    /// The working set.
    pub size: Bytes,
    /// The time for each load of a lane alone, in nanoseconds.
    pub single_ns: f64,
    /// Loads in flight where more lanes bring no more.
    pub in_flight: Estimate,
    /// The fewest lanes that are as fast as the plateau.
    pub from_lanes: usize,
    /// The shortest time for each load, in nanoseconds.
    pub fastest_ns: f64,
    /// The lanes that had it.
    pub fastest_lanes: usize,
}

impl Saturation {
    /// Returns the rate of cache lines in gigabytes a second.
    #[must_use]
    pub fn gigabytes_per_second(&self) -> f64 {
        LINE.0 as f64 / self.fastest_ns
    }
}

impl<'r, 'a> WorkingSet<'r, 'a> {
    /// Returns the measured walks, with the nanoseconds for each load.
    pub fn times(&self) -> impl Iterator<Item = (Walk, Estimate)> + use<'r, 'a> {
        let measured = |outcome: &Outcome<'_>| Some(outcome.result.as_ref().ok()?.series.nanoseconds.into());
        self.outcomes.iter().filter_map(move |outcome| Some((outcome.point.walk, measured(outcome)?)))
    }

    /// Returns the time with this number of lanes and nothing between their loads.
    #[must_use]
    pub fn with_lanes(&self, lanes: usize) -> Option<Estimate> {
        self.times().find(|(walk, _)| walk.lanes() == lanes).map(|(_, time)| time)
    }

    /// Returns the time of one lane alone, in nanoseconds.
    #[must_use]
    pub fn alone(&self) -> Option<f64> {
        Some(self.with_lanes(1)?.value)
    }

    /// Returns the time with this work.
    #[must_use]
    pub fn with_work(&self, work: usize, prefetch: bool) -> Option<Estimate> {
        self.times().find_map(|(walk, time)| match walk {
            Walk::Lanes(kernel) if (kernel.work, kernel.prefetch) == (work, prefetch) => Some(time),
            _ => None,
        })
    }

    /// Returns the loads in flight, by Little's law, in a walk with this time for each load.
    #[must_use]
    pub fn in_flight(&self, nanoseconds: f64) -> Option<f64> {
        Some(self.alone()? / nanoseconds)
    }

    /// Returns the time at which more lanes gain nothing, the median of the fastest, over that of a lane alone.
    #[must_use]
    pub fn saturation(&self) -> Option<Saturation> {
        let single = self.with_lanes(1)?;
        let mut fastest = [None::<(Walk, Estimate)>; FASTEST];
        for time in self.times() {
            let mut carried = Some(time);
            for place in &mut fastest {
                let of = |time: Option<(Walk, Estimate)>| time.map_or(f64::INFINITY, |(_, time)| time.value);
                if of(carried) < of(*place) {
                    core::mem::swap(&mut carried, place);
                }
            }
        }
        let median = |select: fn(Estimate) -> Option<f64>| {
            let mut values = [0.0; FASTEST];
            for (value, time) in values.iter_mut().zip(fastest) {
                *value = select(time?.1)?;
            }
            stats::median(&mut values)
        };
        let plateau = median(|time| Some(time.value))?;
        let interval = || {
            let low = median(|time| Some(time.interval?.low))?;
            let high = median(|time| Some(time.interval?.high))?;
            let single = single.interval?;
            Some(Interval { low: single.low / high, high: single.high / low })
        };
        let (best, fastest) = fastest.first().copied().flatten()?;
        let (first, _) = self.times().find(|(_, time)| time.value < PLATEAU * plateau)?;
        Some(Saturation {
            size: self.size,
            single_ns: single.value,
            in_flight: Estimate { value: single.value / plateau, interval: interval() },
            from_lanes: first.lanes(),
            fastest_ns: fastest.value,
            fastest_lanes: best.lanes(),
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

/// Returns where a working set lies, by the caches that are reported, the least that is in memory, and the times of the
/// working sets of a report: a reported cache does not serve one that is as slow as memory.
#[must_use]
pub fn place(
    claims: &Claims,
    outcomes: &[Outcome<'_>],
    least_in_memory: Bytes,
    size: Bytes,
) -> HierarchyPlace {
    if size >= least_in_memory {
        return HierarchyPlace::Memory;
    }
    match claims.iter().find(|claim| claim.size >= size) {
        Some(claim) if !is_like_memory(outcomes, size, least_in_memory) => HierarchyPlace::Cache(claim.level),
        _ => HierarchyPlace::Unknown,
    }
}

/// The limit of the misses in flight that were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The core's own buffers: there are no more of them.
    Buffers,
    /// Buffers or memory: there may be more buffers.
    BuffersOrMemory,
}

/// From this share of the memory's latency on, a working set is none that a cache serves.
pub const NEARLY_MEMORY: f64 = 0.7;
/// Up to this share it is served well enough for memory not to be the limit of what is in flight.
const WELL_SERVED: f64 = 0.5;
/// A load from the last-level cache takes this many times one from the nearer cache at least.
const FARTHER: f64 = 1.5;

/// Returns whether one chain alone takes nearly as long in a working set as in memory.
fn is_like_memory(outcomes: &[Outcome<'_>], size: Bytes, least_in_memory: Bytes) -> bool {
    let this = regions(outcomes).find(|region| region.size == size);
    let memory = regions(outcomes).find(|region| region.size >= least_in_memory);
    let (this, memory) = (this.and_then(|this| this.alone()), memory.and_then(|memory| memory.alone()));
    this.zip(memory).is_some_and(|(this, memory)| this >= NEARLY_MEMORY * memory)
}

/// Returns the saturation of the working set that fills the buffers of a core up: its loads in flight are misses, and
/// their limit is told.
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
) -> Option<(Saturation, Limit)> {
    let memory = regions(outcomes).find(|region| region.size >= least_in_memory);
    let memory_ns = memory.and_then(|memory| memory.alone());
    // A region that is hardly faster than memory, or as fast as the nearer cache, is not in that cache, whatever is
    // reported.
    let near_ns = regions(outcomes).find(|region| region.size <= near).and_then(|near| near.alone());
    let is_cache = |region: &WorkingSet<'_, '_>| {
        let ns = region.alone();
        memory_ns.zip(ns).is_none_or(|(memory, ns)| ns <= WELL_SERVED * memory)
            && near_ns.zip(ns).is_none_or(|(near, ns)| ns >= FARTHER * near)
    };
    let shared =
        regions(outcomes).find(|region| region.size > near && region.size <= last && is_cache(region));
    let (limit, region) = match shared {
        Some(region) => (Limit::Buffers, region),
        None => (Limit::BuffersOrMemory, memory?),
    };
    Some((region.saturation()?, limit))
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
    let bare = memory.with_work(0, false)?;
    let mut reach = None;
    for (walk, time) in memory.times() {
        let Walk::Lanes(kernel) = walk else { continue };
        if kernel.prefetch {
            continue;
        }
        let floor = floor.and_then(|floor| floor.with_work(kernel.work, false));
        let least = floor.filter(|floor| floor.value > bare.value).unwrap_or(bare);
        match time.over(least)?.side(EXPOSED) {
            Side::Above => {
                let hidden = reach.map_or(0, |reach: WorkReach| reach.hidden);
                return Some(WorkReach { hidden, exposed: Some(kernel.instructions) });
            }
            Side::Near | Side::Below => {
                reach = Some(WorkReach { hidden: kernel.instructions, exposed: None });
            }
            Side::Open => {}
        }
    }
    reach
}

#[cfg(test)]
#[path = "lanes_tests.rs"]
pub(super) mod tests;
