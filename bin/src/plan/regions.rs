//! The memory of several initiators that walk one target: a region for each of them, or one that they walk in turn.
//!
//! A line that another node has read or written last is not the line that a node meets when it is measured alone: that
//! node's cache may serve it, and a memory directory or a probe filter may ask that node's socket first (McCalpin,
//! "Memory directories in Intel processors", 2023). Pure, as all of the plan.

use latency_core::topology::MAX_NODES;
use latency_core::units::{Bytes, NodeId, PageSize, Pages};

use crate::machine::Machine;
use crate::result::{Point, Walk};

/// Regions of a run, at most: all pairs of 11 nodes.
pub const MOST: usize = MAX_NODES;

/// The memory that points are walked in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// One chain for each initiator, target and size, written once: whoever comes next goes on where the last walk
    /// stopped.
    Kept,
    /// One chain for each target and size, which all initiators walk in turn, for want of memory: before its visits an
    /// initiator writes it again, past the caches, so that it meets no line as another node has left it.
    Shared,
    /// One region for each target and kind of pages, in which each visit writes its chain again, at one of several
    /// places.
    Rewritten {
        /// The places.
        places: u64,
    },
}

/// Memory that one initiator needs for itself, or that all initiators share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlannedRegion {
    /// The node whose CPUs walk it.
    pub from: NodeId,
    /// The node where it is.
    pub on: NodeId,
    /// The pages asked for.
    pub pages: Pages,
    /// Its size.
    pub size: Bytes,
    /// Generators walk it.
    pub is_of_traffic: bool,
}

impl PlannedRegion {
    /// Returns the region of a point's chain or of the lines that go between its CPUs, and that of its traffic.
    #[must_use]
    pub fn of(point: &Point) -> [Option<PlannedRegion>; 2] {
        let Point { initiator, target, pages, size, walk, .. } = *point;
        let chain = PlannedRegion { from: initiator, on: target, pages, size, is_of_traffic: false };
        let traffic = walk.traffic().map(|traffic| {
            let (from, on, size) = (traffic.from, traffic.node, traffic.footprint);
            PlannedRegion { from, on, pages, size, is_of_traffic: true }
        });
        [Some(chain).filter(|_| !matches!(walk, Walk::Traffic(_))), traffic]
    }

    /// Returns whether one piece of memory serves both.
    #[must_use]
    pub fn is_one_with(&self, other: &PlannedRegion, memory: Memory) -> bool {
        let grows = self.is_of_traffic || matches!(memory, Memory::Rewritten { .. });
        (self.on, self.pages, self.is_of_traffic) == (other.on, other.pages, other.is_of_traffic)
            && (memory != Memory::Kept || self.from == other.from)
            && (grows || self.size == other.size)
    }
}

/// The regions of a run, each once, as large as the largest that shares it.
pub struct Regions {
    list: [Option<PlannedRegion>; 2 * MOST],
    /// There was room for all in the list.
    is_complete: bool,
}

impl Regions {
    /// Returns the regions of all points.
    fn of_points(memory: Memory, points: &[Point]) -> Regions {
        Regions::of(memory, &mut points.iter().flat_map(PlannedRegion::of).flatten())
    }

    /// Returns the regions that serve all of `needed`.
    #[must_use]
    pub fn of(memory: Memory, needed: &mut dyn Iterator<Item = PlannedRegion>) -> Regions {
        let mut found = Regions { list: [None; 2 * MOST], is_complete: true };
        for region in needed {
            let mut list = found.list.iter_mut();
            let slot = list.find(|slot| slot.is_none_or(|known| known.is_one_with(&region, memory)));
            let Some(slot) = slot else {
                found.is_complete = false;
                continue;
            };
            let size = slot.map_or(region.size, |known| known.size.max(region.size));
            *slot = Some(PlannedRegion { size, ..slot.unwrap_or(region) });
        }
        found
    }

    /// Returns whether there was room for all in a list of [`MOST`].
    #[must_use]
    pub fn are_few(&self) -> bool {
        self.is_complete && self.iter().count() <= MOST
    }

    /// Returns all of them.
    pub fn iter(&self) -> impl Iterator<Item = &PlannedRegion> {
        self.list.iter().flatten()
    }

    fn bytes(&self, counts: &dyn Fn(&PlannedRegion) -> bool) -> Bytes {
        Bytes(self.iter().filter(|region| counts(region)).map(|region| region.size.0).sum())
    }

    /// Returns whether memory has room for all: half of what each node can give, and nine tenths of what the control
    /// group has left.
    fn fit(&self, machine: &Machine) -> bool {
        let of_kind = |is_of_traffic| self.iter().filter(|one| one.is_of_traffic == is_of_traffic).count();
        let all = self.bytes(&|_| true);
        let fits = |one: &PlannedRegion| {
            let Some(supply) = machine.supply(one.on) else { return true };
            let in_group = supply.headroom.is_none_or(|headroom| all.0 <= headroom.0 / 10 * 9);
            let is_pooled = matches!(one.pages, Pages::Huge2m | Pages::Huge1g);
            is_pooled || in_group && self.bytes(&|other| other.on == one.on).0 <= supply.on_node().0 / 2
        };
        let are_few = of_kind(true) <= MOST && of_kind(false) <= MOST;
        self.is_complete && are_few && self.iter().all(|one| fits(one) && self.have_same_pages(machine, one))
    }

    /// Returns whether all regions on the node of `one` get the same pages: a pool has room for all of its kind, or for
    /// none. Traffic takes its pages first.
    fn have_same_pages(&self, machine: &Machine, one: &PlannedRegion) -> bool {
        let page = match one.pages {
            Pages::Huge2m | Pages::Auto => PageSize::Huge2M,
            Pages::Huge1g => PageSize::Huge1G,
            Pages::Small4k | Pages::Thp => return true,
        };
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
            is_room || one.pages == Pages::Auto && has_none
        })
    }
}

/// Returns where chains and the lines of traffic are: in a region for each initiator of a target where memory has room
/// for all of them.
#[must_use]
pub fn memory(machine: &Machine, points: &[Point]) -> Memory {
    match have_several_initiators(points) && !Regions::of_points(Memory::Kept, points).fit(machine) {
        true => Memory::Shared,
        false => Memory::Kept,
    }
}

/// Returns whether memory is walked from several nodes, but for lines that go between CPUs.
#[must_use]
pub fn have_several_initiators(points: &[Point]) -> bool {
    let mut first = None;
    points
        .iter()
        .any(|point| !point.walk.is_of_cores() && *first.get_or_insert(point.initiator) != point.initiator)
}

/// Returns the bytes that `points` need together.
#[must_use]
pub fn bytes(memory: Memory, points: &[Point]) -> Bytes {
    let of_cores = points.iter().any(|point| point.walk.is_of_cores());
    Regions::of_points(if of_cores { Memory::Shared } else { memory }, points).bytes(&|_| true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::chain::Order;
    use latency_core::kernel::POINTER;
    use latency_core::units::CpuId;

    const POINT: Point = Point {
        initiator: NodeId(0),
        cpu: CpuId(0),
        target: NodeId(0),
        kernel: &POINTER,
        order: Order::Random,
        size: Bytes(1 << 20),
        stride: Bytes(64),
        seed: 42,
        pages: Pages::Small4k,
        walk: Walk::Chain,
    };

    #[test]
    fn points_share_memory_unless_chains_stay_as_they_are_written() {
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
