//! Pieces of memory with their contents: chains, the lines of generators, or lines that CPUs exchange.

use latency_core::units::NodeId;

use crate::engine::placement::Witness;
use crate::plan::budget::Memory;
use crate::plan::regions::{MOST, PlannedRegion};

/// A piece of memory with its contents.
pub struct Site<T> {
    /// The region that the piece serves.
    pub region: PlannedRegion,
    /// The witness of the memory's node.
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

    /// Returns the first piece.
    pub fn first(&self) -> Option<&Site<T>> {
        self.list.iter().flatten().next()
    }

    /// Returns the piece that serves a region, as a mutable reference.
    pub fn find_mut(&mut self, needed: &PlannedRegion) -> Option<&mut Site<T>> {
        let index = self.index(needed)?;
        self.list.get_mut(index)?.as_mut()
    }

    /// Returns the piece at `index`.
    pub fn get(&self, index: usize) -> Option<&Site<T>> {
        self.list.get(index)?.as_ref()
    }

    /// Returns the nodes of all pieces.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + Clone + use<'_, T> {
        self.list.iter().flatten().map(|site| site.region.on)
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub use tests::{made_of, made_up};
