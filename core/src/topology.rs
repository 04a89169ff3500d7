//! The NUMA nodes of a machine and their parts, with the firmware's claims about their memory.
//!
//! All facts are read from files through [`Files`], so the files of a whole machine can serve as a
//! test fixture. A topology describes the machine, not the part of it that this process may use:
//! the caller intersects it with affinity and cpusets. Nothing here is measured; the distances
//! (SLIT) and latencies are claims of the firmware (HMAT), or for CXL memory of the device itself (CDAT).
//!
//! Gaps between node ids, nodes without CPUs, nodes without memory and offline
//! CPUs are normal.
//!
//! # References
//! Linux `Documentation/ABI/stable/sysfs-devices-node` and
//! `Documentation/admin-guide/mm/numaperf.rst`.

pub mod files;
mod read;
mod sharing;

use crate::cpulist::{CpuSet, NodeSet};
use crate::units::{Bytes, CpuId, NodeId, PageSize, PageSizes, Picoseconds};
use crate::with_constant;

pub use files::Files;
pub use read::failed_pages;
pub(crate) use sharing::cache_index;
pub use sharing::{Groups, Shared, Sharing, threads_of_core};

/// Maximum number of nodes. The largest machines have 64 sockets;
/// further nodes are counted in [`Topology::omitted`].
pub const MAX_NODES: usize = 128;
/// Maximum number of pools of a node: some processors have four sizes of huge pages.
pub const MOST_POOLS: usize = 4;

with_constant! {
    /// Every online node of a machine, in rising order of id.
    ///
    /// The type has about 207 KiB: it should be placed in mapped memory, and [`Topology::read`] fills
    /// it in place.
    #[derive(Clone, Copy, Debug)]
    pub struct Topology {
        /// The source of these facts.
        pub source: Source = Source::Assumed,
        /// The online CPUs of all nodes.
        pub online_cpus: CpuSet = CpuSet::EMPTY,
        /// The CPUs that are present, including offline CPUs; empty if the kernel does not report them.
        pub present_cpus: CpuSet = CpuSet::EMPTY,
        /// The number of online nodes that were left out, beyond [`MAX_NODES`].
        pub omitted: usize = 0,
        length: usize = 0,
        nodes: [Node; MAX_NODES] = [Node::EMPTY; MAX_NODES],
    }
    /// A topology without nodes, which [`Topology::read`] can fill.
    pub const EMPTY;
}

/// The source of the facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// No directory of nodes (a kernel without NUMA, a container without `/sys`): one node 0 is
    /// assumed, with all memory of the machine.
    #[default]
    Assumed,
    /// `/sys/devices/system/node`.
    Sysfs,
}

with_constant! {
    /// One node.
    #[derive(Clone, Copy, Debug)]
    pub struct Node {
        /// The kernel's number of the node.
        pub id: NodeId = NodeId(0),
        /// The node's online CPUs.
        pub cpus: CpuSet = CpuSet::EMPTY,
        /// True if the node has memory that processes can allocate.
        pub has_memory: bool = false,
        /// The node's total memory; zero if unknown.
        pub memory_total: Bytes = Bytes(0),
        /// The part of the memory that is not used at all, not even for cached files.
        pub memory_free: Bytes = Bytes(0),
        /// The part of the memory with cached files and slabs that the kernel can reclaim.
        pub memory_reclaimable: Bytes = Bytes(0),
        /// The page tables in the node's memory; `None` if the kernel does not report them.
        pub page_tables: Option<Bytes> = None,
        /// The pages in which hardware found errors since the kernel started; `None` if the kernel does not count them.
        pub failed_pages: Option<u64> = None,
        /// The physical package (socket) of its first CPU; `None` without CPUs.
        pub package: Option<u32> = None,
        /// The packages of all of its CPUs; of numbers above those of a [`NodeSet`], none.
        pub packages: NodeSet = NodeSet::EMPTY,
        /// The claims of the firmware and the kernel about the node's memory.
        pub attributes: Attributes = Attributes::EMPTY,
        pools: [Option<(PageSize, PagePool)>; MOST_POOLS] = [None; MOST_POOLS],
        distances: [u8; MAX_NODES] = [0; MAX_NODES],
    }
    /// A node without any known fact.
    pub const EMPTY;
}

/// The kind of a node, by its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// CPUs and memory: initiator and target.
    Full,
    /// No CPU, such as CXL or high-bandwidth memory: a target only.
    MemoryOnly,
    /// No memory, such as a socket without modules: an initiator only.
    CpuOnly,
    /// Neither CPUs nor memory, such as the node of an accelerator.
    Empty,
}

/// The pool of huge pages of one size on a node (`nr_hugepages`, `free_hugepages`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PagePool {
    /// The number of pages in the pool.
    pub total: u64,
    /// The number of free pages in the pool.
    pub free: u64,
}

impl Topology {
    /// Returns the nodes in rising order of id.
    pub fn nodes(&self) -> &[Node] {
        self.nodes.get(..self.length).unwrap_or_default()
    }

    /// Returns the node with this id.
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes().get(self.index(id)?)
    }

    /// Returns the ids of all nodes.
    pub fn ids(&self) -> NodeSet {
        self.nodes().iter().map(|node| node.id.0).collect()
    }

    /// Returns the largest id; node 0 for an empty topology.
    pub fn max_node(&self) -> NodeId {
        self.nodes().last().map_or(NodeId(0), |node| node.id)
    }

    /// Returns the sizes of the kernel's huge pages that have a pool, as far as they are known.
    pub fn pools(&self) -> PageSizes {
        let all = self.nodes().iter().flat_map(Node::pools);
        all.fold(PageSizes::NONE, |sizes, (size, _)| sizes.with(size))
    }

    /// Returns the node of an online CPU.
    pub fn node_of_cpu(&self, cpu: CpuId) -> Option<NodeId> {
        self.nodes().iter().find(|node| node.cpus.contains(cpu.0)).map(|node| node.id)
    }

    /// Returns the distance (SLIT) from one node to another: a relative number that the firmware
    /// chooses, which is 10 from a node to itself. Returns `None` without the table.
    pub fn distance(&self, from: NodeId, to: NodeId) -> Option<u8> {
        let distance = *self.node(from)?.distances.get(self.index(to)?)?;
        (distance != 0).then_some(distance)
    }

    /// Returns true if both nodes are known to be in one physical package (sub-NUMA clusters, NPS2
    /// and NPS4), which includes the case that both are the same node.
    pub fn same_package(&self, one: NodeId, other: NodeId) -> bool {
        let package = |id| self.node(id).and_then(|node| node.package);
        package(one).is_some() && package(one) == package(other)
    }

    fn index(&self, id: NodeId) -> Option<usize> {
        self.nodes().binary_search_by_key(&id, |node| node.id).ok()
    }
}

impl Node {
    /// Returns the kind of the node.
    pub fn kind(&self) -> NodeKind {
        match (self.cpus.is_empty(), self.has_memory) {
            (false, true) => NodeKind::Full,
            (true, true) => NodeKind::MemoryOnly,
            (false, false) => NodeKind::CpuOnly,
            (true, false) => NodeKind::Empty,
        }
    }

    /// Returns the pools of huge pages with the size of their pages, smallest pages first.
    pub fn pools(&self) -> impl Iterator<Item = (PageSize, PagePool)> + Clone {
        self.pools.iter().flatten().copied()
    }

    /// Returns the pool of huge pages of this size; `None` if the kernel does not have this pool.
    pub fn page_pool(&self, size: PageSize) -> Option<PagePool> {
        self.pools().find(|(of, _)| *of == size).map(|(_, pool)| pool)
    }
}

/// The claims about access to a node's memory from the nearest initiators, as in `nodeN/accessK/initiators`; zero
/// means unknown, as in these files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The latency of a read.
    pub read: Picoseconds,
    /// The latency of a write.
    pub write: Picoseconds,
    /// The read bandwidth in bytes per second.
    pub read_bandwidth: u64,
    /// The write bandwidth in bytes per second.
    pub write_bandwidth: u64,
    /// The nodes for which the claim is valid, which are the nearest to the memory.
    pub initiators: NodeSet,
}

/// A cache in front of a node's memory, such as high-bandwidth memory in front of DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SideCache {
    /// The size of the cache.
    pub size: Bytes,
    /// The size of its lines; zero if unknown.
    pub line: Bytes,
}

/// All claims about a node's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// The claims from the nearest initiators of any kind (`access0`), and from the nearest CPUs (`access1`).
    pub access: [Option<Claim>; 2],
    /// The cache in front of the memory; the largest one if there are several.
    pub side_cache: Option<SideCache>,
    /// The memory's tier: the kernel considers memory in tiers with lower numbers faster.
    pub tier: Option<u32>,
    /// The memory's weight for weighted interleaving.
    pub weight: Option<u32>,
}

impl Attributes {
    /// Attributes without any claim.
    pub const EMPTY: Self = Self { access: [None; 2], side_cache: None, tier: None, weight: None };

    /// Returns the claim for the nearest CPUs, or, if there is none, for the nearest initiators of any kind.
    pub fn claim(&self) -> Option<&Claim> {
        self.access.iter().rev().flatten().next()
    }
}
