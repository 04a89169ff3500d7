//! The memory of several initiators that walk one target: a region for each of them, or one that they walk in turn.
//!
//! A line that another node read or wrote last behaves differently from a line that only the measuring node uses: the
//! other node's cache may serve it, and a memory directory or a probe filter may query that node's socket first
//! (McCalpin, "Memory directories in Intel processors", 2023). Plain data.

use latency_core::topology::MAX_NODES;
use latency_core::{Bytes, NodeId, PageSize, Pages};

use crate::machine::Machine;
use crate::result::{Point, Walk};

/// Maximum regions of a run that are placed at the same time, of chains or of traffic: all pairs of 11 nodes.
pub const MOST: usize = MAX_NODES;

/// The memory that points are walked in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// One chain for each initiator, target and size, written once; each walk continues where the last one stopped.
    Kept,
    /// One chain for each target and size, which all initiators walk in turn because memory is short. Before its
    /// visits, an initiator rewrites the chain past the caches, so that no line is in a state that another node has
    /// left.
    Shared,
    /// One region for each target and kind of pages; each visit rewrites its chain there, at one of several positions.
    Rewritten {
        /// Number of positions.
        places: u64,
    },
}

/// Memory that one initiator needs for itself, or that all initiators share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlannedRegion {
    /// The node whose CPUs walk it.
    pub from: NodeId,
    /// The node of the memory.
    pub on: NodeId,
    /// The requested pages.
    pub pages: Pages,
    /// Its size.
    pub size: Bytes,
    /// True if generators walk it.
    pub is_of_traffic: bool,
}

impl PlannedRegion {
    /// Returns the region of a point's chain or of the lines that its CPUs exchange, and the region of its traffic.
    pub fn of(point: &Point) -> [Option<PlannedRegion>; 2] {
        let Point { initiator, target, pages, size, walk, .. } = *point;
        let chain = PlannedRegion { from: initiator, on: target, pages, size, is_of_traffic: false };
        let traffic = walk.traffic().map(|traffic| {
            let (from, on, size) = (traffic.from, traffic.node, traffic.footprint);
            PlannedRegion { from, on, pages, size, is_of_traffic: true }
        });
        [Some(chain).filter(|_| !matches!(walk, Walk::Traffic(_))), traffic]
    }

    /// Returns true if one piece of memory serves both regions.
    pub fn is_one_with(&self, other: &PlannedRegion, memory: Memory) -> bool {
        let grows = self.is_of_traffic || matches!(memory, Memory::Rewritten { .. });
        (self.on, self.pages, self.is_of_traffic) == (other.on, other.pages, other.is_of_traffic)
            && (memory != Memory::Kept || self.from == other.from)
            && (grows || self.size == other.size)
    }
}

/// The regions of a run, each listed once, with the size of the largest region that shares it.
pub struct Regions {
    list: [Option<PlannedRegion>; 2 * MOST],
    /// True if the list had room for all regions.
    is_complete: bool,
}

impl Regions {
    /// Returns the regions of `points`.
    fn of_points(memory: Memory, points: &[Point]) -> Regions {
        Regions::of(memory, &mut points.iter().copied(), &PlannedRegion::of)
    }

    /// Returns the regions that `points` need, each listed once; `needs` returns the regions of a point.
    pub fn of(
        memory: Memory,
        points: &mut dyn Iterator<Item = Point>,
        needs: &dyn Fn(&Point) -> [Option<PlannedRegion>; 2],
    ) -> Regions {
        let mut found = Regions { list: [None; 2 * MOST], is_complete: true };
        points.for_each(|point| needs(&point).iter().flatten().for_each(|region| found.add(memory, *region)));
        found
    }

    fn add(&mut self, memory: Memory, region: PlannedRegion) {
        let mut list = self.list.iter_mut();
        let slot = list.find(|slot| slot.is_none_or(|known| known.is_one_with(&region, memory)));
        let Some(slot) = slot else {
            self.is_complete = false;
            return;
        };
        let size = slot.map_or(region.size, |known| known.size.max(region.size));
        *slot = Some(PlannedRegion { size, ..slot.unwrap_or(region) });
    }

    /// Returns true if there are at most [`MOST`] regions.
    pub fn are_few(&self) -> bool {
        self.is_complete && self.iter().count() <= MOST
    }

    /// Returns an iterator over the regions.
    pub fn iter(&self) -> impl Iterator<Item = &PlannedRegion> {
        self.list.iter().flatten()
    }

    fn bytes(&self, counts: &dyn Fn(&PlannedRegion) -> bool) -> Bytes {
        Bytes(self.iter().filter(|region| counts(region)).map(|region| region.size.0).sum())
    }

    /// Returns true if memory has room for all regions: in half of the available memory of each node, and in nine
    /// tenths of the memory that the control group has left.
    fn fit(&self, machine: &Machine) -> bool {
        let of_kind = |is_of_traffic| self.iter().filter(|one| one.is_of_traffic == is_of_traffic).count();
        let all = self.bytes(&|_| true);
        let fits = |one: &PlannedRegion| {
            let Some(supply) = machine.supply(one.on) else { return true };
            let here = self.bytes(&|other| other.on == one.on);
            one.pages.pool().is_some() || supply.has_room(here.0, all.0)
        };
        let are_few = of_kind(true) <= MOST && of_kind(false) <= MOST;
        self.is_complete && are_few && self.iter().all(|one| fits(one) && self.have_same_pages(machine, one))
    }

    /// Returns true if all regions on the node of `one` get the same pages: a pool has room for all regions with its
    /// kind of pages, or for none. Traffic takes its pages first.
    fn have_same_pages(&self, machine: &Machine, one: &PlannedRegion) -> bool {
        if one.pages.are_base() || one.pages.are_transparent() {
            return true;
        }
        let page = one.pages.pool().unwrap_or(machine.huge_page());
        let pool = machine.topology.node(one.on).and_then(|node| node.page_pool(page));
        let mut left = pool.map_or(0, |pool| pool.free.saturating_mul(page.bytes().0));
        [true, false].into_iter().all(|is_of_traffic| {
            let is_alike = |other: &PlannedRegion| {
                (other.on, other.pages, other.is_of_traffic) == (one.on, one.pages, is_of_traffic)
            };
            let all = self.bytes(&is_alike).0.next_multiple_of(page.bytes().0);
            let is_room = all <= left;
            left -= if is_room { all } else { 0 };
            let has_none = self.iter().filter(|other| is_alike(other)).all(|other| other.size.0 > left);
            is_room || one.pages == Pages::AUTO && has_none
        })
    }
}

/// Returns the arrangement of chains and of the lines of traffic: a region for each initiator of a target, if memory
/// has room for all.
pub fn memory(machine: &Machine, points: &[Point]) -> Memory {
    match have_several_initiators(points) && !Regions::of_points(Memory::Kept, points).fit(machine) {
        true => Memory::Shared,
        false => Memory::Kept,
    }
}

/// Returns true if memory is walked from several nodes; lines that CPUs exchange do not count.
pub fn have_several_initiators(points: &[Point]) -> bool {
    let mut first = None;
    points
        .iter()
        .any(|point| !point.walk.is_of_cores() && *first.get_or_insert(point.initiator) != point.initiator)
}

/// Returns the number of bytes that `points` need together.
pub fn bytes(memory: Memory, points: &[Point]) -> Bytes {
    let of_cores = points.iter().any(|point| point.walk.is_of_cores());
    Regions::of_points(if of_cores { Memory::Shared } else { memory }, points).bytes(&|_| true)
}

/// Returns the size of a region for rewritten chains: the largest chain, and room for other positions if the node has
/// enough memory.
pub fn size_with_room(largest: Bytes, machine: &Machine, target: NodeId, pages: Pages) -> Bytes {
    let page = pages.size().map_or(Bytes(0), PageSize::bytes).max(Bytes(2 << 20));
    let roomy = Bytes((largest.0 + largest.0 / 4).div_ceil(page.0) * page.0);
    match machine.supply(target) {
        Some(supply) if roomy.0 > supply.bytes().0 / 4 * 3 => largest,
        _ => roomy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::outcome::POINT;

    #[test]
    fn points_share_memory_unless_chains_are_kept() {
        let large = Point { size: Bytes(4 << 20), ..POINT };
        let rewritten = Memory::Rewritten { places: 1 };
        assert_eq!(bytes(rewritten, &[POINT, large]), Bytes(4 << 20));
        let elsewhere = Point { target: NodeId(1), ..POINT };
        assert_eq!(bytes(rewritten, &[POINT, large, elsewhere]), Bytes(5 << 20));
        assert_eq!(bytes(Memory::Kept, &[POINT, large, large]), Bytes(5 << 20));
        // Two nodes that walk one target have a region each, unless memory is short.
        let other = Point { initiator: NodeId(1), ..POINT };
        assert_eq!(bytes(Memory::Kept, &[POINT, other]), Bytes(2 << 20));
        assert_eq!(bytes(Memory::Shared, &[POINT, other]), Bytes(1 << 20));
        assert!(have_several_initiators(&[POINT, other]) && !have_several_initiators(&[POINT, elsewhere]));
    }
}
