//! The memory that a node can give to this process: the free memory there, the memory that the kernel would reclaim,
//! and the limit of the control group.

use latency_core::host::{Allowance, Bound, MemoryLimit, from_meminfo};
use latency_core::topology::{Files, Node};
use latency_core::units::{Bytes, NodeId, PageSize};

use super::Machine;
use crate::error::PlacementError;

/// The available memory of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Supply {
    /// Unused memory of the node.
    pub free: Bytes,
    /// Cached files and slabs that the kernel would reclaim.
    pub reclaimable: Bytes,
    /// Memory that the control group or another limit has left, for all nodes together.
    pub headroom: Option<Bytes>,
    /// The limit that determines the headroom.
    pub by: Bound,
}

impl Supply {
    /// Returns the memory of the node, without the limit of the control group.
    pub fn on_node(&self) -> Bytes {
        Bytes(self.free.0.saturating_add(self.reclaimable.0))
    }

    /// Returns the available memory.
    pub fn bytes(&self) -> Bytes {
        self.headroom.map_or(self.on_node(), |headroom| headroom.min(self.on_node()))
    }

    /// Returns true if half of the node's memory has room for `on_node` bytes, and nine tenths of the memory that the
    /// control group has left have room for `all` bytes.
    pub fn has_room(&self, on_node: u64, all: u64) -> bool {
        on_node <= self.on_node().0 / 2 && self.headroom.is_none_or(|headroom| all <= headroom.0 / 10 * 9)
    }

    /// Refuses more than nine tenths of the available memory: a tenth is left for page tables and for other processes.
    ///
    /// # Errors
    ///
    /// [`PlacementError::NotEnoughMemory`], or the corresponding error of the control group.
    pub fn check(&self, node: NodeId, wanted: Bytes) -> Result<(), PlacementError<'static>> {
        let exceeds = |bytes: Bytes| wanted.0 > bytes.0 / 10 * 9;
        if exceeds(self.on_node()) {
            let Supply { free, reclaimable, .. } = *self;
            return Err(PlacementError::NotEnoughMemory { node, wanted, free, reclaimable });
        }
        match self.headroom {
            Some(headroom) if exceeds(headroom) => {
                Err(PlacementError::NotEnoughInGroup { node, wanted, headroom, by: self.by })
            }
            _ => Ok(()),
        }
    }
}

impl Machine {
    /// Returns the memory of a node that was available when the machine was detected; `None` if that is unknown.
    pub fn supply(&self, node: NodeId) -> Option<Supply> {
        let found = self.topology.node(node)?;
        self.supply_of(found, self.host.memory_available, (self.host.memory_limit, self.host.allowance))
    }

    /// Returns the memory of a node that is available now, according to the files of the system.
    pub fn supply_now(&self, files: &impl Files, node: NodeId) -> Option<Supply> {
        let found = self.topology.node_now(files, node)?;
        let limits = (MemoryLimit::read(files), Allowance::read(files));
        self.supply_of(&found, from_meminfo(files, "MemAvailable:"), limits)
    }

    fn supply_of(
        &self,
        node: &Node,
        available: Option<Bytes>,
        (limit, allowance): (Option<MemoryLimit>, Option<Allowance>),
    ) -> Option<Supply> {
        let group = limit.map(|limit| Allowance { left: limit.headroom, by: Bound::Group });
        let tightest = match (group, allowance) {
            (Some(group), Some(other)) if group.left <= other.left => Some(group),
            (group, other) => other.or(group),
        };
        let can_give = self.or_of_machine(node.can_give()?, available);
        Some(Supply {
            free: node.memory_free,
            reclaimable: Bytes(can_give.0.saturating_sub(node.memory_free.0)),
            headroom: tightest.map(|limit| limit.left),
            by: tightest.map_or(Bound::Group, |limit| limit.by),
        })
    }

    /// Returns an amount of a node, or the amount of the machine if the node is the only one with memory: a kernel that
    /// initialises memory late counts it for the machine before it counts it for the node.
    fn or_of_machine(&self, of_node: Bytes, of_machine: Option<Bytes>) -> Bytes {
        let nodes = self.topology.nodes().iter().filter(|node| node.has_memory).count();
        of_node.max(of_machine.filter(|_| nodes == 1).unwrap_or_default())
    }

    /// Returns the total memory of a node.
    pub fn memory_of(&self, node: &Node) -> Bytes {
        self.or_of_machine(node.memory_total, self.host.memory_total.filter(|_| node.has_memory))
    }

    /// Returns true if a node's pool of pages of that size has `size` bytes left.
    pub fn pool_holds(&self, node: NodeId, page: PageSize, size: Bytes) -> bool {
        let pool = self.topology.node(node).and_then(|node| node.page_pool(page));
        pool.is_some_and(|pool| pool.free >= size.0.div_ceil(page.bytes().0))
    }

    /// Returns the available memory of a node; zero if that is unknown.
    pub fn free_memory(&self, node: NodeId) -> Bytes {
        self.supply(node).map_or(Bytes(0), |supply| supply.bytes())
    }
}
