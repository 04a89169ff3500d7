//! The regions of memory that points need: of a chain, of traffic, of lines between CPUs; and those that could not be placed.

use crate::error::PlacementError;
use crate::plan::budget::Memory;
use crate::plan::regions::{MOST, PlannedRegion};
use crate::result::Point;

/// The regions of one kind that a point needs.
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
pub struct Missing<'a> {
    /// The regions.
    pub list: [Option<(PlannedRegion, PlacementError<'a>)>; MOST],
    needs: RegionsOf,
    /// The rule for sharing memory between regions.
    pub memory: Memory,
}

impl<'a> Missing<'a> {
    /// Returns a list without regions.
    pub const fn none(needs: RegionsOf, memory: Memory) -> Missing<'a> {
        Missing { list: [None; MOST], needs, memory }
    }

    /// Returns the reason if the memory of a point could not be placed.
    pub fn of(&self, point: &Point) -> Option<PlacementError<'a>> {
        let needed = (self.needs)(point);
        let is_needed = |region: &PlannedRegion| {
            needed.iter().flatten().any(|needed| region.is_one_with(needed, self.memory))
        };
        self.list.iter().flatten().find(|(region, _)| is_needed(region)).map(|(_, error)| *error)
    }
}
