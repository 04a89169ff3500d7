//! Facts about the machine and this process's share of it, as plain data.
//!
//! Plans are made from these facts, so that a plan for a whole machine can be tested without one. `detect` reads them
//! from the system.

pub mod detect;
pub mod idle;
mod memory;
pub mod processor;
pub mod sizes;

use latency_core::arch::Atomics;
use latency_core::host::{Dimms, Host};
use latency_core::topology::{Node, Sharing, Topology};
use latency_core::{Bytes, CpuId, CpuSet, LineSize, NodeId, NodeSet, PageSize};

pub use memory::Supply;
pub use processor::{CoreKind, Platform, Processor};

/// Assumed size of a last-level cache that is not reported: larger than most, so that the working set reaches memory.
const UNKNOWN_CACHE: Bytes = Bytes(64 << 20);
/// Minimum ratio of a working set to the last-level cache at which most hops of a random walk miss the cache.
const MEMORY_CACHES: u64 = 2;

/// A CPU that measures in place of a busy one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instead {
    /// The first CPU of its node that this process may use.
    pub first: CpuId,
    /// The share of the time in which the first CPU was busy with other work.
    pub busy: f64,
    /// The idle CPU, behind the same last-level cache.
    pub cpu: CpuId,
}

/// The findings of a search over caches and memory before the measurement.
///
/// The reported size of the last-level cache is wrong in many virtual machines, in both directions. Plans made after
/// the search use its findings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sizing {
    /// The working set at which the search began.
    pub first: Bytes,
    /// The working set that the search found for memory.
    pub size: Bytes,
    /// Ratio of the latency of a load in this working set to a load that no cache serves.
    pub warm_over_cold: f64,
    /// Latency in nanoseconds of a load that no cache serves, in the fastest pass.
    pub cold_ns: f64,
    /// True if no cache was seen to serve the working set; false if one did, and there was no memory for a larger set.
    /// `None` if time was short, or if passes differ too much for a verdict.
    pub clear: Option<bool>,
    /// The size of the last-level cache, if the search disagrees with the reported size.
    pub cache: Option<Bytes>,
    /// A working set that the last-level cache serves, and no nearer cache.
    pub in_cache: Option<Bytes>,
    /// True if the search included the size of the last-level cache.
    pub cache_sought: bool,
    /// Duration of the search in seconds.
    pub seconds: f64,
}

/// The machine, and the part of it that this process may use.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Its nodes.
    pub topology: Topology,
    /// Its settings.
    pub host: Host,
    /// The base page of its kernel.
    pub page: PageSize,
    /// Its longest cache line, which is the unit of transfers between caches and memory.
    pub line: LineSize,
    /// Its processor.
    pub processor: Processor,
    /// The atomic instructions of its processor.
    pub atomics: Atomics,
    /// The ids of its nodes.
    pub nodes: NodeSet,
    /// The CPUs that this process was given (affinity within the cpuset).
    pub cpus: CpuSet,
    /// Isolated CPUs (`isolcpus=`, cpuset partitions) that this process was not given: it may run on them if they are
    /// named.
    pub isolated: CpuSet,
    /// The efficiency cores; `None` if the kernel does not report several kinds of cores.
    pub small: Option<CpuSet>,
    /// The nodes from which it may take memory (cpuset).
    pub memory_nodes: NodeSet,
    /// The nodes to which an inherited policy binds it (`numactl --membind`).
    pub bound_to: Option<NodeSet>,
    /// True if memory policies are allowed (mbind and related calls).
    pub policy_allowed: bool,
    /// False if the kernel was built without NUMA: all memory is on one node, and nothing can name another.
    pub has_numa: bool,
    /// True if /proc can be read.
    pub has_proc: bool,
    /// The hardware that the CPUs share; empty unless the experiment needs it.
    pub sharing: Sharing<'static>,
    /// Its memory devices; `None` if neither firmware nor kernel describes them to this process.
    pub dimms: Option<Dimms<'static>>,
    /// The findings of a search over its caches and memory; `None` before a search.
    pub sizing: Option<Sizing>,
    /// The idle CPUs that measure in place of busy ones; empty if no choice was made.
    pub instead: &'static [Instead],
}

impl Machine {
    /// Forgets the host name and the boot ID.
    pub fn make_anonymous(&mut self) {
        let identity = &mut self.host.identity;
        (identity.name, identity.boot) = Default::default();
    }

    /// Returns an upper bound of the bytes per second of the memory devices of a node, or of all devices; `None` if it is
    /// unknown: a hypervisor's tables do not describe the hardware.
    pub fn most_bytes_per_second(&self, node: Option<NodeId>) -> Option<u64> {
        let dimms = self.dimms.filter(|_| self.processor.platform == Platform::Hardware)?;
        dimms.most_bytes_per_second(node)
    }

    /// Returns the number of packages with CPUs that the kernel names.
    pub fn packages(&self) -> usize {
        let nodes = self.topology.nodes();
        let is_first = |node: &&Node| {
            let of_package = nodes.iter().find(|other| self.topology.same_package(other.id, node.id));
            of_package.is_some_and(|first| first.id == node.id)
        };
        let beyond_first = |node: &Node| node.packages.len().saturating_sub(1);
        nodes.iter().filter(is_first).count() + nodes.iter().map(beyond_first).sum::<usize>()
    }

    /// Returns the kind of a CPU's core; `None` if the kernel does not report several kinds.
    pub fn kind_of(&self, cpu: CpuId) -> Option<CoreKind> {
        Some(CoreKind::of(self.small.as_ref()?.contains(cpu.0)))
    }

    /// Returns a node with CPUs of several packages, and their number, if the machine is not a guest: hypervisors draw
    /// packages as they like.
    pub fn node_of_packages(&self) -> Option<(NodeId, u32)> {
        let spans = |node: &&Node| node.packages.len() > 1 && self.processor.platform == Platform::Hardware;
        self.topology.nodes().iter().find(spans).map(|node| (node.id, node.packages.len() as u32))
    }

    /// Returns whether a package has several nodes with CPUs: sub-NUMA clusters, NPS2 or NPS4.
    pub fn divides_packages(&self) -> bool {
        let named = self.topology.nodes().iter().filter(|node| node.package.is_some());
        named.count() > self.packages()
    }

    /// Returns the CPUs of a node that this process may run on.
    pub fn cpus_of(&self, node: &Node) -> CpuSet {
        node.cpus.intersection(&self.cpus)
    }

    /// Returns the CPU that measures for a node: the first that this process may run on, or an idle one in its place.
    pub fn cpu_of(&self, node: NodeId) -> Option<CpuId> {
        let first = self.topology.node(node).and_then(|node| self.cpus_of(node).first()).map(CpuId)?;
        Some(self.instead.iter().find(|instead| instead.first == first).map_or(first, |instead| instead.cpu))
    }

    /// Returns the nodes on which this process may run.
    pub fn initiators(&self) -> NodeSet {
        let nodes = self.topology.nodes().iter();
        nodes.filter(|node| !self.cpus_of(node).is_empty()).map(|node| node.id.0).collect()
    }

    /// Returns the nodes from which this process may take memory.
    pub fn targets(&self) -> NodeSet {
        let nodes = self.topology.nodes().iter();
        let all: NodeSet = nodes.filter(|node| node.has_memory).map(|node| node.id.0).collect();
        all.intersection(&self.memory_nodes)
    }

    /// Returns the only node on which memory can lie, if there is only one: placement cannot go wrong then.
    pub fn sole_memory_node(&self) -> Option<NodeId> {
        let mut with_memory = self.topology.nodes().iter().filter(|node| node.has_memory);
        match (with_memory.next(), with_memory.next()) {
            (Some(node), None) => Some(node.id),
            _ => self.memory_nodes.first().filter(|_| self.memory_nodes.len() == 1).map(NodeId),
        }
    }

    /// Returns the size of the last-level cache that sysfs or the processor reports, if either does.
    pub fn reported_cache(&self) -> Option<Bytes> {
        let sysfs = self.host.caches.last_level().map(|cache| cache.size);
        sysfs.or_else(|| self.processor.last_level_cache().map(|cache| cache.size)).filter(|size| size.0 > 0)
    }

    /// Returns the level and the size of the nearest cache that holds a working set, as sysfs or the processor reports
    /// it.
    pub fn cache_that_holds(&self, size: Bytes) -> Option<(u32, Bytes)> {
        let sysfs = self.host.caches.as_slice().iter().filter(|cache| cache.kind.holds_data());
        let claimed = self.processor.caches.iter().flatten();
        let all = sysfs.map(|cache| (cache.level, cache.size));
        let all = all.chain(claimed.map(|cache| (u32::from(cache.level), cache.size)));
        all.filter(|(_, cache)| size <= *cache).min()
    }

    /// Returns the size of the last-level cache for one chain: the share of it that a search found, or else the
    /// reported size.
    ///
    /// This size is for the positions of small working sets and for estimates. Other processes use the rest of the
    /// cache, and may leave more of it a second later: a working set that must exceed the cache, or fill it, uses
    /// [`largest_cache`](Self::largest_cache).
    pub fn last_level_cache(&self) -> Bytes {
        let found = self.sizing.and_then(|sizing| sizing.cache);
        found.or_else(|| self.reported_cache()).unwrap_or(UNKNOWN_CACHE)
    }

    /// Returns the maximum possible size of the last-level cache: the larger of the size found and the reported size.
    ///
    /// This size is for trails, the memory of generators, working sets that no search has shown to be clear, and stores
    /// that leave lines in caches.
    pub fn largest_cache(&self) -> Bytes {
        self.last_level_cache().max(self.reported_cache().unwrap_or(Bytes(0)))
    }

    /// Returns the smallest working set that is mostly in memory.
    pub fn least_in_memory(&self) -> Bytes {
        self.last_level_cache().times(MEMORY_CACHES)
    }

    /// Returns the machine with the findings of a search.
    pub fn with_sizing(&self, sizing: Sizing) -> Machine {
        Machine { sizing: Some(sizing), ..*self }
    }

    /// Returns true if a search has shown that no cache serves a working set of that size.
    pub fn is_clear(&self, size: Bytes) -> bool {
        self.sizing.is_some_and(|sizing| sizing.clear == Some(true) && size >= sizing.size)
    }

    /// Returns true if a search has shown that a cache serves a working set of that size in part.
    pub fn is_served(&self, size: Bytes) -> bool {
        self.sizing.is_some_and(|sizing| {
            let grew = sizing.first <= size && size < sizing.size;
            grew || sizing.clear == Some(false) && size <= sizing.size
        })
    }

    /// Returns true if most of a working set is in no cache.
    pub fn reaches_memory(&self, size: Bytes) -> bool {
        size >= self.least_in_memory()
    }
}
