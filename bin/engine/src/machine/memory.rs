//! The memory that a node can give to this process: the free memory there, the memory that the kernel would reclaim,
//! and the limit of the control group; and the sizes of pages, which depend on the machine.

use latency_core::host::{Allowance, Bound, MemoryLimit, from_meminfo};
use latency_core::topology::{Files, Node, Source};
use latency_core::{Bytes, NodeId, PageSize, PageSizes, Pages};

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
    pub fn check(&self, node: NodeId, wanted: Bytes) -> Result<(), PlacementError> {
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

    /// Returns the kind of base pages.
    pub const fn base_pages(&self) -> Pages {
        Pages::base(self.page)
    }

    /// Returns the size of a kind of pages; that of base pages for a kind that is not chosen yet.
    pub fn size_of(&self, pages: Pages) -> PageSize {
        pages.size().unwrap_or(self.page)
    }

    /// Returns a kind of pages, or base pages for a kind that is not chosen yet.
    pub const fn pages_or_base(&self, pages: Pages) -> Pages {
        if matches!(pages, Pages::AUTO) { self.base_pages() } else { pages }
    }

    /// Returns the size of a transparent huge page.
    pub fn huge_page(&self) -> PageSize {
        self.host.huge_pages.size.unwrap_or(self.page.mapped_by_table())
    }

    /// Returns the kind of huge pages of that size: from the pool if it holds `size` bytes, otherwise transparent ones.
    pub fn huge_pages(&self, node: NodeId, size: Bytes) -> Pages {
        match self.pool_holds(node, self.huge_page(), size) {
            true => Pages::of_pool(self.huge_page()),
            false => Pages::thp(self.huge_page()),
        }
    }

    /// Returns the sizes of huge pages that are shown and compared: those of the kernel's pools. Two sizes are always
    /// among them if base pages have 4 KiB: kernels with those pages have both, unless the processor lacks them.
    pub fn pool_sizes(&self) -> PageSizes {
        let usual = match self.page {
            PageSize::KIB_4 => PageSizes::NONE.with(PageSize::MIB_2).with(PageSize::GIB_1),
            _ => PageSizes::NONE.with(self.huge_page()),
        };
        self.topology.pools().union(usual)
    }

    /// Returns true if a comparison of pages has this kind.
    pub fn has_pages(&self, pages: Pages) -> bool {
        match pages.pool() {
            Some(size) => self.pool_sizes().has(size),
            None => pages == self.base_pages() || pages == Pages::thp(self.huge_page()),
        }
    }

    /// Refuses huge pages of a size that the kernel does not have. If it does not list all of its sizes, the usual ones
    /// pass: the kernel refuses them later.
    ///
    /// # Errors
    ///
    /// [`PlacementError::NoSuchPages`].
    pub fn check_pages(&self, pages: Pages) -> Result<(), PlacementError> {
        let pools = self.topology.pools();
        let known = match self.topology.source {
            Source::Sysfs if pools != PageSizes::NONE => pools,
            _ => self.pool_sizes(),
        };
        match pages.pool() {
            Some(page) if !known.has(page) => Err(PlacementError::NoSuchPages { page, pools }),
            _ => Ok(()),
        }
    }

    /// Returns true if a transparent huge page is too large for a working set of that size: it is larger than half of
    /// the working set, and than the memory that every machine has to spare.
    pub fn thp_is_too_large(&self, size: Bytes) -> bool {
        /// Memory that one buffer may leave unused: one page with base pages of 4 or 16 KiB, and less than one with
        /// 64 KiB.
        const SPARE: Bytes = Bytes(64 << 20);
        let huge = self.huge_page().bytes();
        huge > SPARE && huge.0 > size.0 / 2
    }
}
