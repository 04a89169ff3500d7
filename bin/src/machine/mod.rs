//! Facts about the machine and this process's share of it, as plain data.
//!
//! Plans are made from it, so that a plan for a whole machine can be tested
//! without one. `survey` fills it from the system.

pub mod detect;
pub mod idle;
mod memory;
pub mod processor;

use latency_core::cpulist::{CpuSet, NodeSet};
use latency_core::host::Host;
use latency_core::topology::Sharing;
use latency_core::topology::{Node, Topology};
use latency_core::units::{Bytes, CpuId, NodeId};

use self::processor::Processor;
pub use memory::Supply;

/// Assumed size of a last-level cache that is not reported: larger than most, so that memory is reached.
const UNKNOWN_CACHE: Bytes = Bytes(64 << 20);
/// Multiple of the last-level cache over which most hops of a random walk miss it.
const MEMORY_CACHES: u64 = 2;

/// A CPU that measures instead of a busy one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instead {
    /// The first CPU of its node that this process may use.
    pub first: CpuId,
    /// The share of the time in which that one was busy with other work.
    pub busy: f64,
    /// The idle CPU, behind the same last-level cache.
    pub cpu: CpuId,
}

/// The findings of a look at caches and memory before anything is measured.
///
/// The reported size of the last-level cache is wrong in many virtual machines, in both directions. Plans
/// made after the look follow what it found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sizing {
    /// The working set at which the look began.
    pub first: Bytes,
    /// The working set for memory.
    pub size: Bytes,
    /// A load in it over a load that no cache serves.
    pub warm_over_cold: f64,
    /// A load that no cache serves, in the fastest pass: nanoseconds.
    pub cold_ns: f64,
    /// True if no cache was seen to serve it; otherwise there was no memory for more. `None` where time was short, or
    /// passes differ too much to tell.
    pub clear: Option<bool>,
    /// The last-level cache, where the look disagrees with what is reported.
    pub cache: Option<Bytes>,
    /// A working set that the last-level cache serves, and no nearer one.
    pub in_cache: Option<Bytes>,
    /// True if the look went as far as finding the cache.
    pub cache_sought: bool,
    /// Duration of the look.
    pub seconds: f64,
}

/// The machine, and what this process may use of it.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Its nodes.
    pub topology: Topology,
    /// Its settings.
    pub host: Host,
    /// Its processor.
    pub processor: Processor,
    /// The ids of its nodes.
    pub nodes: NodeSet,
    /// The CPUs that this process was given (affinity within the cpuset).
    pub cpus: CpuSet,
    /// The nodes from which it may take memory (cpuset).
    pub memory_nodes: NodeSet,
    /// The nodes to which an inherited policy binds it (`numactl --membind`).
    pub bound_to: Option<NodeSet>,
    /// True if memory policies are allowed (mbind and its kind).
    pub policy_allowed: bool,
    /// True if /proc answers.
    pub has_proc: bool,
    /// The hardware that its CPUs share; nothing where no experiment asked.
    pub sharing: Sharing<'static>,
    /// The findings of a look at its caches and memory, once there was one.
    pub sizing: Option<Sizing>,
    /// The idle CPUs that measure instead of busy ones; empty without a look.
    pub instead: &'static [Instead],
}

impl Machine {
    /// Returns the CPUs of a node that this process may run on.
    #[must_use]
    pub fn cpus_of(&self, node: &Node) -> CpuSet {
        node.cpus.intersection(&self.cpus)
    }

    /// Returns the CPU that measures for a node: the first that this process may run on, or an idle one instead.
    #[must_use]
    pub fn cpu_of(&self, node: NodeId) -> Option<CpuId> {
        let first = self.topology.node(node).and_then(|node| self.cpus_of(node).first()).map(CpuId)?;
        Some(self.instead.iter().find(|instead| instead.first == first).map_or(first, |instead| instead.cpu))
    }

    /// Returns the nodes on which this process may run.
    #[must_use]
    pub fn initiators(&self) -> NodeSet {
        let nodes = self.topology.nodes().iter();
        nodes.filter(|node| !self.cpus_of(node).is_empty()).map(|node| node.id.0).collect()
    }

    /// Returns the nodes from which this process may take memory.
    #[must_use]
    pub fn targets(&self) -> NodeSet {
        let nodes = self.topology.nodes().iter();
        let all: NodeSet = nodes.filter(|node| node.has_memory).map(|node| node.id.0).collect();
        all.intersection(&self.memory_nodes)
    }

    /// Returns whether memory can lie on one node only, so that there is nothing to get wrong.
    #[must_use]
    pub fn sole_memory_node(&self) -> Option<NodeId> {
        let mut with_memory = self.topology.nodes().iter().filter(|node| node.has_memory);
        match (with_memory.next(), with_memory.next()) {
            (Some(node), None) => Some(node.id),
            _ => self.memory_nodes.first().filter(|_| self.memory_nodes.len() == 1).map(NodeId),
        }
    }

    /// Returns the size of the last-level cache that sysfs or CPUID report, if one does.
    #[must_use]
    pub fn reported_cache(&self) -> Option<Bytes> {
        let sysfs = self.host.caches.last_level().map(|cache| cache.size);
        sysfs.or_else(|| self.processor.last_level_cache().map(|cache| cache.size)).filter(|size| size.0 > 0)
    }

    /// Returns the level and the size of the smallest reported cache that a working set fits in.
    #[must_use]
    pub fn cache_that_holds(&self, size: Bytes) -> Option<(u32, Bytes)> {
        let sysfs = self.host.caches.as_slice().iter().filter(|cache| cache.kind.holds_data());
        let cpuid = self.processor.caches.iter().flatten();
        let all = sysfs.map(|cache| (cache.level, cache.size));
        let all = all.chain(cpuid.map(|cache| (u32::from(cache.level), cache.size)));
        // CPUID speaks where sysfs is silent.
        all.filter(|(_, cache)| size <= *cache).min()
    }

    /// Returns the last-level cache that one chain meets: the share of it that a look found, or else what is reported.
    ///
    /// For the places of small working sets and for forecasts. Others hold more of it, and neighbours may leave more a
    /// second later: what has to lie beyond the cache, or to fill it, goes by [`largest_cache`](Self::largest_cache).
    #[must_use]
    pub fn last_level_cache(&self) -> Bytes {
        let found = self.sizing.and_then(|sizing| sizing.cache);
        found.or_else(|| self.reported_cache()).unwrap_or(UNKNOWN_CACHE)
    }

    /// Returns the most that the last-level cache may hold: the larger of what was found and what is reported.
    ///
    /// For trails, the memory of generators, working sets that no look has shown to be clear, and stores that leave
    /// lines in caches.
    #[must_use]
    pub fn largest_cache(&self) -> Bytes {
        self.last_level_cache().max(self.reported_cache().unwrap_or(Bytes(0)))
    }

    /// Returns the smallest working set that is for the most part in no cache.
    #[must_use]
    pub fn least_in_memory(&self) -> Bytes {
        self.last_level_cache().times(MEMORY_CACHES)
    }

    /// Returns the same machine as a look found it.
    #[must_use]
    pub fn looked_at(&self, sizing: Sizing) -> Machine {
        Machine { sizing: Some(sizing), ..*self }
    }

    /// Returns whether a look has shown that no cache serves a working set of that size.
    #[must_use]
    pub fn is_clear(&self, size: Bytes) -> bool {
        self.sizing.is_some_and(|sizing| sizing.clear == Some(true) && size >= sizing.size)
    }

    /// Returns whether a look has shown that a cache serves a working set of that size in part.
    #[must_use]
    pub fn is_served(&self, size: Bytes) -> bool {
        self.sizing.is_some_and(|sizing| sizing.clear == Some(false) && size <= sizing.size)
    }

    /// Returns whether most of a working set is in no cache.
    #[must_use]
    pub fn reaches_memory(&self, size: Bytes) -> bool {
        size >= self.least_in_memory()
    }
}
