//! Conclusions from walks of several lanes: the limit of loads in flight, and the reach of the reorder window.

use latency_core::kernel::lanes::PARALLEL;
use latency_core::math::ToReal;
use latency_core::stats::{self, Estimate, Interval, Side};
use latency_core::units::{Bytes, LineSize};

use super::claims::{Claim, Claims};
use crate::result::{Outcome, Walk};

/// Largest ratio of loads in flight to chains that is noise.
const MORE: f64 = 1.1;
/// Factor of the fastest time within which a time belongs to the plateau.
const PLATEAU: f64 = 1.05;
/// Number of the fastest samples whose median is the plateau.
const FASTEST: usize = 3;
/// Factor over the time per load without work, or over the floor, beyond which work is no longer hidden.
const EXPOSED: f64 = 1.15;

/// A working set with the time per load of each walk over it.
#[derive(Clone, Copy, Debug)]
pub struct WorkingSet<'r, 'a> {
    outcomes: &'r [Outcome<'a>],
    /// The working set.
    pub size: Bytes,
}

/// Returns the working sets of a report, in the order of the report.
pub fn regions<'r, 'a>(outcomes: &'r [Outcome<'a>]) -> impl Iterator<Item = WorkingSet<'r, 'a>> {
    let alike = outcomes.chunk_by(|one, other| one.point.size == other.point.size);
    alike.filter_map(|outcomes| Some(WorkingSet { outcomes, size: outcomes.first()?.point.size }))
}

/// The number of loads that one core keeps in flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saturation {
    /// The working set.
    pub size: Bytes,
    /// The time per load of a single lane, in nanoseconds.
    pub single_ns: f64,
    /// Number of loads in flight at which more lanes bring no gain.
    pub in_flight: Estimate,
    /// The fewest lanes that are as fast as the plateau.
    pub from_lanes: usize,
    /// The shortest time per load, in nanoseconds.
    pub fastest_ns: f64,
    /// The number of lanes with the shortest time.
    pub fastest_lanes: usize,
}

impl Saturation {
    /// Returns the bandwidth of cache lines of this size in gigabytes per second.
    pub fn gigabytes_per_second(&self, line: LineSize) -> f64 {
        line.bytes().0.real() / self.fastest_ns
    }
}

impl<'r, 'a> WorkingSet<'r, 'a> {
    /// Returns the measured walks, with the nanoseconds per load.
    pub fn times(&self) -> impl Iterator<Item = (Walk, Estimate)> + use<'r, 'a> {
        let measured = |outcome: &Outcome<'_>| Some(outcome.result.as_ref().ok()?.series.nanoseconds.into());
        self.outcomes.iter().filter_map(move |outcome| Some((outcome.point.walk, measured(outcome)?)))
    }

    /// Returns the time per load with this number of lanes and no other instructions between their loads.
    pub fn with_lanes(&self, lanes: usize) -> Option<Estimate> {
        self.times().find(|(walk, _)| walk.lanes() == lanes).map(|(_, time)| time)
    }

    /// Returns the time per load of a single lane, in nanoseconds.
    pub fn alone(&self) -> Option<f64> {
        Some(self.with_lanes(1)?.value)
    }

    /// Returns the time per load with this amount of work between loads, with or without a prefetch.
    pub fn with_work(&self, work: usize, prefetch: bool) -> Option<Estimate> {
        self.times().find_map(|(walk, time)| match walk {
            Walk::Lanes(kernel) if (kernel.work(), kernel.prefetch) == (work, prefetch) => Some(time),
            _ => None,
        })
    }

    /// Returns the loads in flight, by Little's law, in a walk with this time per load.
    pub fn in_flight(&self, nanoseconds: f64) -> Option<f64> {
        Some(self.alone()? / nanoseconds)
    }

    /// Returns the loads in flight on the plateau: the time of a single lane over the median of the fastest times.
    /// Without some numbers of lanes, the fastest times are a plateau only if they are alike.
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
        let is_plateau = || {
            let [Some((_, first)), .., Some((_, last))] = fastest else { return false };
            last.value < PLATEAU * first.value
        };
        if self.outcomes.len() < PARALLEL.len() && !is_plateau() {
            return None;
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
        // No chain has more than one load in flight: a single chain was slowed.
        let most = fastest.iter().flatten().map(|(walk, _)| walk.lanes()).max()?;
        if single.value / plateau > MORE * most.real() {
            return None;
        }
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
    /// The working set fits a cache; the number is the level of the smallest one.
    Cache(u32),
    /// Most of the working set is in no cache.
    Memory,
    /// The working set is partly in the largest cache, or no cache is known.
    Unknown,
}

/// Returns the place of a working set in the hierarchy, by the reported caches, the smallest size that is in memory,
/// and the times of the working sets of a report: a working set that is as slow as memory is not in a reported cache.
///
/// If memory was not measured, more than half of the largest cache may be in it or not: others use that cache too.
pub fn place(
    claims: &Claims,
    outcomes: &[Outcome<'_>],
    least_in_memory: Bytes,
    size: Bytes,
) -> HierarchyPlace {
    if size >= least_in_memory {
        return HierarchyPlace::Memory;
    }
    let largest = claims.iter().map(|claim| claim.size).max();
    let shared = |claim: &Claim| Some(claim.size) == largest && size.times(2) > claim.size;
    match claims.iter().find(|claim| claim.size >= size) {
        Some(claim) if !is_like_memory(outcomes, size, least_in_memory).unwrap_or(shared(claim)) => {
            HierarchyPlace::Cache(claim.level)
        }
        _ => HierarchyPlace::Unknown,
    }
}

/// The cause of the limit of misses in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The core's own buffers: all of them are in use.
    Buffers,
    /// Buffers or memory: the core may have more buffers than were used.
    BuffersOrMemory,
}

/// Share of the memory latency from which on a working set is not served by a cache.
pub const NEARLY_MEMORY: f64 = 0.7;
/// Largest share of the memory latency at which a cache serves a working set well enough that memory is not the limit
/// of the loads in flight.
const WELL_SERVED: f64 = 0.5;
/// Least ratio of the latency of the last-level cache to that of the nearer cache.
const FARTHER: f64 = 1.5;

/// Returns whether a single chain takes nearly as long in a working set as in memory; `None` if one was not measured.
fn is_like_memory(outcomes: &[Outcome<'_>], size: Bytes, least_in_memory: Bytes) -> Option<bool> {
    let this = regions(outcomes).find(|region| region.size == size);
    let memory = regions(outcomes).find(|region| region.size >= least_in_memory);
    let (this, memory) = (this.and_then(|this| this.alone()), memory.and_then(|memory| memory.alone()));
    this.zip(memory).map(|(this, memory)| this >= NEARLY_MEMORY * memory)
}

/// Returns the saturation of the working set that fills up a core's buffers, in which all loads in flight are misses,
/// and the cause of its limit.
///
/// The last-level cache is near enough for memory not to be the limit, and far enough for the buffers to fill up:
/// a working set larger than `near`, the cache before it, and no larger than `last`. Memory alone gives a lower
/// bound, and a nearer cache nothing.
pub fn misses_in_flight(
    outcomes: &[Outcome<'_>],
    near: Bytes,
    last: Bytes,
    least_in_memory: Bytes,
) -> Option<(Saturation, Limit)> {
    let memory = regions(outcomes).find(|region| region.size >= least_in_memory);
    let memory_ns = memory.and_then(|memory| memory.alone());
    // A region that is hardly faster than memory, or as fast as the nearer cache, is not in the last-level cache, even
    // if it is reported to be.
    let near_ns = regions(outcomes).find(|region| region.size <= near).and_then(|near| near.alone());
    let is_cache = |region: &WorkingSet<'_, '_>| {
        let ns = region.alone();
        memory_ns.zip(ns).is_none_or(|(memory, ns)| ns <= WELL_SERVED * memory)
            && near_ns.zip(ns).is_none_or(|(near, ns)| ns >= FARTHER * near)
    };
    let shared =
        regions(outcomes).find(|region| region.size > near && region.size <= last && is_cache(region));
    let (limit, region) = match shared {
        Some(region) if memory_ns.is_some() => (Limit::Buffers, region),
        found => (Limit::BuffersOrMemory, found.or(memory)?),
    };
    Some((region.saturation()?, limit))
}

/// The reach of the reorder window over work that depends on loads, in instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkReach {
    /// The largest number of instructions between a lane's loads at which all lanes' loads were in flight.
    pub hidden: usize,
    /// The number of instructions at which they were not all in flight; `None` if they always were.
    pub exposed: Option<usize>,
}

impl WorkReach {
    /// Returns the number of instructions at which loads no longer overlap; `None` if they always did.
    pub fn ends_at(&self) -> Option<Estimate> {
        let (low, high) = (self.hidden.real(), self.exposed?.real());
        Some(Estimate { value: (low + high) / 2.0, interval: Some(Interval { low, high }) })
    }
}

/// Returns the amount of work at which the time of a load in memory exceeds both the time without work and the floor,
/// without a prefetch. Points with an interval that leaves this open do not count.
pub fn work_reach(floor: Option<WorkingSet<'_, '_>>, memory: WorkingSet<'_, '_>) -> Option<WorkReach> {
    let bare = memory.with_work(0, false)?;
    let mut reach = None;
    for (walk, time) in memory.times() {
        let Walk::Lanes(kernel) = walk else { continue };
        if kernel.prefetch {
            continue;
        }
        let floor = floor.and_then(|floor| floor.with_work(kernel.work(), false));
        let least = floor.filter(|floor| floor.value > bare.value).unwrap_or(bare);
        match time.over(least)?.side(EXPOSED) {
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
pub mod tests;
