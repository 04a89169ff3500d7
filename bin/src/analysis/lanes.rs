//! Conclusions from walks of several lanes: the limit of loads in flight, and the reach of the reorder window.

use alloc::vec::Vec;

use latency_core::kernel::lanes::PARALLEL;
use latency_core::{Bytes, Estimate, Interval, LineSize, Side, ToReal, sort_by, stats, worded};

use super::claims::{Claim, Claims};
use latency_engine::result::{Outcome, Walk};
use latency_report::chart::vector;

/// Largest ratio of loads in flight to chains that is noise.
const MORE: f64 = 1.1;
/// Factor of the fastest time within which a time belongs to the plateau.
const PLATEAU: f64 = 1.05;
/// Number of the fastest samples whose median is the plateau.
const FASTEST: usize = 3;
/// Factor over the time per load without work, or over the floor, beyond which work is no longer hidden.
const EXPOSED: f64 = 1.15;

/// A working set with the time per load of each walk over it.
#[derive(Clone, Debug)]
pub struct WorkingSet {
    /// The working set.
    pub size: Bytes,
    /// The measured walks, with the nanoseconds per load.
    pub times: Vec<(Walk, Estimate)>,
    /// The number of planned walks.
    planned: usize,
}

/// Returns the working sets of a report, in the order of the report.
pub fn regions(outcomes: &[Outcome]) -> Vec<WorkingSet> {
    #[cfg(test)]
    super::drawn_tests::draws("chains");
    let alike = outcomes.chunk_by(|one, other| one.point.size == other.point.size);
    let set = |outcomes: &[Outcome]| WorkingSet {
        size: outcomes.first().map_or(Bytes(0), |first| first.point.size),
        times: outcomes
            .iter()
            .filter_map(|outcome| Some((outcome.point.walk, outcome.estimate()?)))
            .collect(),
        planned: outcomes.len(),
    };
    vector(alike.map(set))
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

impl WorkingSet {
    /// Returns the time per load of the walk that `is_one` selects.
    fn time(&self, is_one: impl Fn(&Walk) -> bool) -> Option<Estimate> {
        self.times.iter().find(|(walk, _)| is_one(walk)).map(|(_, time)| *time)
    }

    /// Returns the time per load with this number of lanes and no other instructions between their loads.
    pub fn with_lanes(&self, lanes: usize) -> Option<Estimate> {
        self.time(|walk| walk.lanes() == lanes)
    }

    /// Returns the time per load of a single lane, in nanoseconds.
    pub fn alone(&self) -> Option<f64> {
        Some(self.with_lanes(1)?.value)
    }

    /// Returns the time per load with this amount of work between loads, with or without a prefetch.
    pub fn with_work(&self, work: usize, prefetch: bool) -> Option<Estimate> {
        self.time(|walk| {
            matches!(walk, Walk::Lanes(kernel) if (kernel.work(), kernel.prefetch) == (work, prefetch))
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
        let mut sorted = self.times.clone();
        sort_by(&mut sorted, |(one, fast), (other, slow)| {
            fast.value.total_cmp(&slow.value).then(one.lanes().cmp(&other.lanes()))
        });
        let fastest = sorted.get(..FASTEST)?;
        let [(best, first), .., (_, last)] = fastest else { return None };
        if self.planned < PARALLEL.len() && last.value >= PLATEAU * first.value {
            return None;
        }
        let median = |select: fn(&Estimate) -> Option<f64>| {
            let values: Option<Vec<f64>> = fastest.iter().map(|(_, time)| select(time)).collect();
            stats::median(&mut values?)
        };
        let plateau = median(|time| Some(time.value))?;
        let interval = || {
            let low = median(|time| Some(time.interval?.low))?;
            let high = median(|time| Some(time.interval?.high))?;
            let single = single.interval?;
            Some(Interval { low: single.low / high, high: single.high / low })
        };
        // No chain has more than one load in flight: a single chain was slowed.
        let most = fastest.iter().map(|(walk, _)| walk.lanes()).max()?;
        if single.value / plateau > MORE * most.real() {
            return None;
        }
        let (from, _) = self.times.iter().find(|(_, time)| time.value < PLATEAU * plateau)?;
        Some(Saturation {
            size: self.size,
            single_ns: single.value,
            in_flight: Estimate { value: single.value / plateau, interval: interval() },
            from_lanes: from.lanes(),
            fastest_ns: first.value,
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
pub fn place(claims: &Claims, sets: &[WorkingSet], least_in_memory: Bytes, size: Bytes) -> HierarchyPlace {
    if size >= least_in_memory {
        return HierarchyPlace::Memory;
    }
    let largest = claims.iter().map(|claim| claim.size).max();
    let shared = |claim: &Claim| Some(claim.size) == largest && size.times(2) > claim.size;
    match claims.iter().find(|claim| claim.size >= size) {
        Some(claim) if !is_like_memory(sets, size, least_in_memory).unwrap_or(shared(claim)) => {
            HierarchyPlace::Cache(claim.level)
        }
        _ => HierarchyPlace::Unknown,
    }
}

worded! {
    /// The cause of the limit of misses in flight.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Limit {
        /// The core's own buffers: all of them are in use.
        Buffers = "at_most",
        /// Buffers or memory: the core may have more buffers than were used.
        BuffersOrMemory = "at_least",
    }
}

/// Share of the memory latency from which on a working set is not served by a cache.
pub const NEARLY_MEMORY: f64 = 0.7;
/// Largest share of the memory latency at which a cache serves a working set well enough that memory is not the limit
/// of the loads in flight.
const WELL_SERVED: f64 = 0.5;
/// Least ratio of the latency of the last-level cache to that of the nearer cache.
const FARTHER: f64 = 1.5;

/// Returns whether a single chain takes nearly as long in a working set as in memory; `None` if one was not measured.
fn is_like_memory(sets: &[WorkingSet], size: Bytes, least_in_memory: Bytes) -> Option<bool> {
    let this = sets.iter().find(|set| set.size == size)?.alone()?;
    Some(this >= NEARLY_MEMORY * sets.iter().find(|set| set.size >= least_in_memory)?.alone()?)
}

/// Returns the saturation of the working set that fills up a core's buffers, in which all loads in flight are misses,
/// and the cause of its limit.
///
/// The last-level cache is near enough for memory not to be the limit, and far enough for the buffers to fill up:
/// a working set larger than `near`, the cache before it, and no larger than `last`. Memory alone gives a lower
/// bound, and a nearer cache nothing.
pub fn misses_in_flight(
    sets: &[WorkingSet],
    near: Bytes,
    last: Bytes,
    least_in_memory: Bytes,
) -> Option<(Saturation, Limit)> {
    let memory = sets.iter().find(|set| set.size >= least_in_memory);
    let memory_ns = memory.and_then(WorkingSet::alone);
    // A region that is hardly faster than memory, or as fast as the nearer cache, is not in the last-level cache, even
    // if it is reported to be.
    let near_ns = sets.iter().find(|set| set.size <= near).and_then(WorkingSet::alone);
    let is_cache = |set: &&WorkingSet| {
        let ns = set.alone();
        memory_ns.zip(ns).is_none_or(|(memory, ns)| ns <= WELL_SERVED * memory)
            && near_ns.zip(ns).is_none_or(|(near, ns)| ns >= FARTHER * near)
    };
    let shared = sets.iter().find(|set| set.size > near && set.size <= last && is_cache(set));
    let (limit, set) = match shared {
        Some(set) if memory_ns.is_some() => (Limit::Buffers, set),
        found => (Limit::BuffersOrMemory, found.or(memory)?),
    };
    Some((set.saturation()?, limit))
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
pub fn work_reach(floor: Option<&WorkingSet>, memory: &WorkingSet) -> Option<WorkReach> {
    let bare = memory.with_work(0, false)?;
    let mut reach = None;
    for (walk, time) in &memory.times {
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
mod tests;
