//! The NUMA nodes of a machine and their parts.
//!
//! Everything comes from files through [`Files`], so whole machines can be kept
//! as test fixtures. A topology describes the machine, not the part of it that this process
//! may use: the caller intersects it with affinity and cpusets. Nothing here measures; the
//! distances (SLIT) and latencies (HMAT) are claims of the firmware.
//!
//! Gaps between node ids, nodes without CPUs, nodes without memory and offline
//! CPUs are normal.
//!
//! # References
//! Linux `Documentation/ABI/stable/sysfs-devices-node` and
//! `Documentation/admin-guide/mm/numaperf.rst`.

mod attributes;
pub(crate) mod files;
mod read;
mod read_attributes;
mod sharing;

pub use attributes::{Attributes, Claim, SideCache};
pub use files::Files;
pub(crate) use sharing::cache_index;
pub use sharing::{Groups, Shared, Sharing, threads_of_core};

use crate::cpulist::{CpuSet, NodeSet};
use crate::units::{Bytes, CpuId, NodeId, PageSize};

/// Maximum number of nodes. The largest machines have 64 sockets;
/// further nodes are counted in [`Topology::omitted`].
pub const MAX_NODES: usize = 128;

/// Every online node of a machine, in rising order of id.
///
/// It has about 207 KiB: it belongs in mapped memory, and is filled in place by
/// [`Topology::read`].
#[derive(Clone, Copy, Debug)]
pub struct Topology {
    /// The source of these facts.
    pub source: Source,
    /// The online CPUs of all nodes.
    pub online_cpus: CpuSet,
    /// The CPUs that are there, also those that are offline; empty where the kernel does not tell.
    pub present_cpus: CpuSet,
    /// The number of online nodes that were left out, beyond [`MAX_NODES`].
    pub omitted: usize,
    length: usize,
    nodes: [Node; MAX_NODES],
}

/// The source of the facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// No directory of nodes (a kernel without NUMA, a container without
    /// `/sys`): one node 0 is assumed, with all memory of the machine.
    /// It is first, so that [`Topology::EMPTY`] is zero bytes and takes no room in an executable.
    #[default]
    Assumed,
    /// `/sys/devices/system/node`.
    Sysfs,
}

/// One node.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// The kernel's number of the node.
    pub id: NodeId,
    /// Its online CPUs.
    pub cpus: CpuSet,
    /// True where it has memory that processes can get.
    pub has_memory: bool,
    /// Its memory; zero where that is not known.
    pub memory_total: Bytes,
    /// The part of the memory that holds nothing, not even cached files.
    pub memory_free: Bytes,
    /// Cached files and slabs that the kernel would give back.
    pub memory_reclaimable: Bytes,
    /// The physical package (socket) of its first CPU. Unknown without CPUs.
    pub package: Option<u32>,
    /// The claims of firmware and kernel about its memory.
    pub attributes: Attributes,
    huge_2m: Option<PagePool>,
    huge_1g: Option<PagePool>,
    distances: [u8; MAX_NODES],
}

/// The parts of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// CPUs and memory: initiator and target.
    Full,
    /// No CPU, such as CXL or high-bandwidth memory: a target only.
    MemoryOnly,
    /// No memory, such as a socket without modules: an initiator only.
    CpuOnly,
    /// Neither, such as the node of an accelerator.
    Empty,
}

/// The huge pages of one size that a node sets aside (`nr_hugepages`, `free_hugepages`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PagePool {
    /// Pages in the pool.
    pub total: u64,
    /// Free pages of the pool.
    pub free: u64,
}

impl Topology {
    /// The topology without nodes, to be filled by [`Topology::read`].
    pub const EMPTY: Self = Self {
        source: Source::Assumed,
        online_cpus: CpuSet::EMPTY,
        present_cpus: CpuSet::EMPTY,
        omitted: 0,
        length: 0,
        nodes: [Node::EMPTY; MAX_NODES],
    };

    /// Returns the nodes in rising order of id.
    #[must_use]
    #[inline(never)] // it is called in many places
    pub fn nodes(&self) -> &[Node] {
        self.nodes.get(..self.length).unwrap_or_default()
    }

    /// Returns the node with this id.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes().get(self.index(id)?)
    }

    /// Returns the ids of all nodes.
    #[must_use]
    pub fn ids(&self) -> NodeSet {
        self.nodes().iter().map(|node| node.id.0).collect()
    }

    /// Returns the largest id; node 0 before anything was read.
    #[must_use]
    pub fn max_node(&self) -> NodeId {
        self.nodes().last().map_or(NodeId(0), |node| node.id)
    }

    /// Returns the node that an online CPU belongs to.
    #[must_use]
    pub fn node_of_cpu(&self, cpu: CpuId) -> Option<NodeId> {
        self.nodes().iter().find(|node| node.cpus.contains(cpu.0)).map(|node| node.id)
    }

    /// Returns the distance (SLIT) from one node to another: a relative number of the
    /// firmware's choice, 10 for a node to itself. Unknown without the table.
    #[must_use]
    pub fn distance(&self, from: NodeId, to: NodeId) -> Option<u8> {
        let distance = *self.node(from)?.distances.get(self.index(to)?)?;
        (distance != 0).then_some(distance)
    }

    /// Returns whether both nodes are known to be parts of one physical package
    /// (sub-NUMA clusters, NPS2 and NPS4). A node shares its own.
    #[must_use]
    pub fn same_package(&self, one: NodeId, other: NodeId) -> bool {
        let package = |id| self.node(id).and_then(|node| node.package);
        package(one).is_some() && package(one) == package(other)
    }

    fn index(&self, id: NodeId) -> Option<usize> {
        self.nodes().binary_search_by_key(&id, |node| node.id).ok()
    }
}

impl Node {
    /// A node without any known fact.
    pub const EMPTY: Self = Self {
        id: NodeId(0),
        cpus: CpuSet::EMPTY,
        has_memory: false,
        memory_total: Bytes(0),
        memory_free: Bytes(0),
        memory_reclaimable: Bytes(0),
        package: None,
        attributes: Attributes::EMPTY,
        huge_2m: None,
        huge_1g: None,
        distances: [0; MAX_NODES],
    };

    /// Returns the parts of the node.
    #[must_use]
    pub fn kind(&self) -> NodeKind {
        match (self.cpus.is_empty(), self.has_memory) {
            (false, true) => NodeKind::Full,
            (true, true) => NodeKind::MemoryOnly,
            (false, false) => NodeKind::CpuOnly,
            (true, false) => NodeKind::Empty,
        }
    }

    /// Returns the pool of huge pages of this size. `None` where the kernel has none of
    /// that size, and for base pages, which have no pool.
    #[must_use]
    pub const fn page_pool(&self, size: PageSize) -> Option<PagePool> {
        match size {
            PageSize::Small => None,
            PageSize::Huge2M => self.huge_2m,
            PageSize::Huge1G => self.huge_1g,
        }
    }
}
