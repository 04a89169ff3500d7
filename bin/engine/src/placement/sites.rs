//! Pieces of memory with their contents: chains, the lines of generators, or lines that CPUs exchange; the regions of
//! memory that points need, and those that could not be placed.

use crate::error::PlacementError;
use crate::placement::Witness;
use crate::regions::{MOST, Memory, PlannedRegion};
use crate::result::Point;

/// A piece of memory with its contents.
pub struct Site<T> {
    /// The region that the piece serves.
    pub region: PlannedRegion,
    /// The description by which the kernel is asked about the memory.
    pub witness: Witness,
    /// The chain, the lines of generators or the lines that CPUs exchange.
    pub holds: T,
}

/// All memory of one kind, with its contents.
pub struct Sites<T> {
    /// The pieces, in the order in which they were placed.
    pub list: [Option<Site<T>>; MOST],
    /// The rule for sharing pieces between regions.
    pub memory: Memory,
}

impl<T> Sites<T> {
    /// Returns the index of the piece that serves a region.
    pub fn index(&self, needed: &PlannedRegion) -> Option<usize> {
        self.list
            .iter()
            .position(|site| site.as_ref().is_some_and(|site| site.region.is_one_with(needed, self.memory)))
    }

    /// Returns the piece that serves a region.
    pub fn find(&self, needed: &PlannedRegion) -> Option<&Site<T>> {
        self.get(self.index(needed)?)
    }

    /// Returns the piece at `index`.
    pub fn get(&self, index: usize) -> Option<&Site<T>> {
        self.list.get(index)?.as_ref()
    }
}

/// A function that returns the regions of one kind that a point needs.
pub type RegionsOf = fn(&Point) -> [Option<PlannedRegion>; 2];

/// Returns the region of a point's chain, if it has one.
pub fn chain_of(point: &Point) -> [Option<PlannedRegion>; 2] {
    let [chain, _] = PlannedRegion::of(point);
    [chain.filter(|_| !point.walk.is_of_cores()), None]
}

/// Returns the region of a point's traffic, if it has any.
pub fn traffic_of(point: &Point) -> [Option<PlannedRegion>; 2] {
    let [_, traffic] = PlannedRegion::of(point);
    [traffic, None]
}

/// Returns the regions of the lines that a point's CPUs exchange.
pub fn lines_of(point: &Point) -> [Option<PlannedRegion>; 2] {
    let homes = point.walk.ping_pong().map_or([point.target; 2], |pair| pair.homes);
    let Point { initiator: from, pages, size, .. } = *point;
    homes.map(|on| Some(PlannedRegion { from, on, pages, size, is_of_traffic: false }))
}

/// The regions of memory that could not be placed, and why.
#[derive(Clone, Copy)]
pub struct Missing {
    /// The regions.
    pub list: [Option<(PlannedRegion, PlacementError)>; MOST],
    /// The function that returns the regions that a point needs.
    pub needs: RegionsOf,
    /// The rule for sharing memory between regions.
    pub memory: Memory,
}

impl Missing {
    /// Returns the reason if the memory of a point could not be placed.
    pub fn of(&self, point: &Point) -> Option<PlacementError> {
        let needed = (self.needs)(point);
        let is_needed = |region: &PlannedRegion| {
            needed.iter().flatten().any(|needed| region.is_one_with(needed, self.memory))
        };
        self.list.iter().flatten().find(|(region, _)| is_needed(region)).map(|(_, error)| *error)
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub use tests::{made_of, made_up};
