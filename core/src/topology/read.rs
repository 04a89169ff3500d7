//! The code that fills a topology, and the claims about its memory, from the files of a system.
//!
//! This file contains the paths, formats and units of Linux. A server that has been running for a month has little free
//! memory and much memory in cached files, which the kernel drops on demand: free memory is only a part of the
//! available memory.
//!
//! # References
//! Linux `Documentation/ABI/stable/sysfs-devices-node`, `Documentation/ABI/testing/sysfs-kernel-mm-memory-tiers`,
//! `Documentation/ABI/testing/sysfs-kernel-mm-mempolicy-weighted-interleave`.

use super::files::{self, Files, kilobytes_after};
use super::{Attributes, Claim, MAX_NODES, Node, PagePool, SideCache, Source, Topology};
use crate::cpulist::{CpuSet, NodeSet};
use crate::units::{Bytes, NodeId, PageSize, PageSizes, Picoseconds};

const NODES: &str = "/sys/devices/system/node";
pub(super) const CPUS: &str = "/sys/devices/system/cpu";

impl Topology {
    /// Reads the topology of a system, and replaces the previous content.
    ///
    /// The CPUs in `allowed`, on which the kernel lets this program run, are online. If the kernel reports no nodes, one
    /// node 0 is assumed, with these CPUs and the memory in `/proc/meminfo`.
    pub fn read(&mut self, files: &impl Files, allowed: &CpuSet) {
        self.length = 0;
        self.omitted = 0;
        let online_cpus = files::set(files, format_args!("{CPUS}/online"));
        // At least the CPU that runs this program is online, so an empty list is wrong.
        let online_cpus = online_cpus.filter(|cpus| !CpuSet::is_empty(cpus));
        // A container may have a file of its own here, with other CPUs; those on which the kernel lets this program run
        // are online.
        let online_cpus = online_cpus.map(|cpus| cpus.union(allowed));
        self.present_cpus = files::set(files, format_args!("{CPUS}/present")).unwrap_or_default();
        match files::set(files, format_args!("{NODES}/online")) {
            Some(online) if !NodeSet::is_empty(&online) => self.read_nodes(files, &online, online_cpus),
            _ => self.assume_one_node(files, allowed, online_cpus),
        }
    }

    fn read_nodes(&mut self, files: &impl Files, online: &NodeSet, online_cpus: Option<CpuSet>) {
        self.source = Source::Sysfs;
        let with_memory = files::set(files, format_args!("{NODES}/has_memory"));
        let mut all_cpus = CpuSet::EMPTY;
        for (node, id) in self.nodes.iter_mut().zip(online) {
            node.read(files, NodeId(id), with_memory.as_ref());
            if let Some(online_cpus) = online_cpus {
                node.cpus = node.cpus.intersection(&online_cpus);
            }
            node.read_packages(files);
            all_cpus = all_cpus.union(&node.cpus);
        }
        self.length = online.len().min(MAX_NODES);
        self.omitted = online.len().saturating_sub(MAX_NODES);
        self.online_cpus = online_cpus.unwrap_or(all_cpus);
        self.read_attributes(files);
    }

    fn assume_one_node(&mut self, files: &impl Files, allowed: &CpuSet, online_cpus: Option<CpuSet>) {
        self.source = Source::Assumed;
        self.online_cpus = online_cpus.unwrap_or(*allowed);
        let Some(node) = self.nodes.first_mut() else { return };
        self.length = 1;
        *node = Node::EMPTY;
        node.cpus = *allowed;
        node.read_packages(files);
        // This program runs in memory, so the only node has memory.
        node.has_memory = true;
        let mut buffer = [0; 4 << 10];
        let meminfo = files.read("/proc/meminfo", &mut buffer).unwrap_or_default();
        node.read_memory(meminfo);
        node.read_pools(files, format_args!("/sys/kernel/mm"));
        if let ([slot @ None, ..], Some(pool)) = (&mut node.pools, default_page_pool(meminfo)) {
            *slot = Some(pool);
        }
    }

    /// Returns a node with the current state of its memory.
    pub fn node_now(&self, files: &impl Files, id: NodeId) -> Option<Node> {
        let mut node = *self.node(id)?;
        let mut buffer = [0; 4 << 10];
        let meminfo = match self.source {
            Source::Sysfs => files::read(files, format_args!("{NODES}/node{id}/meminfo"), &mut buffer),
            Source::Assumed => files.read("/proc/meminfo", &mut buffer),
        };
        node.read_memory(meminfo.unwrap_or_default());
        Some(node)
    }
}

impl Node {
    /// Reads the amounts of memory from the `meminfo` of a node or of the machine.
    ///
    /// Recently used cached files count only in part, since other processes need them again.
    fn read_memory(&mut self, meminfo: &[u8]) {
        let amount = |name| kilobytes_after(meminfo, name).unwrap_or_default();
        self.memory_total = amount("MemTotal:");
        self.memory_free = amount("MemFree:");
        let (inactive, active) = (amount("Inactive(file):"), amount("Active(file):"));
        let slabs = amount("SReclaimable:");
        self.page_tables = kilobytes_after(meminfo, "PageTables:");
        self.memory_reclaimable =
            Bytes([active.0 / 2, slabs.0].into_iter().fold(inactive.0, u64::saturating_add));
    }

    /// Returns the available memory, which is free or reclaimable; `None` if the kernel does not report it.
    pub fn can_give(&self) -> Option<Bytes> {
        let sum = self.memory_free.0.saturating_add(self.memory_reclaimable.0);
        // If a node has no free memory, it is full; if it has no total memory, the amounts are unknown.
        (self.memory_total.0 > 0).then_some(Bytes(sum))
    }

    fn read(&mut self, files: &impl Files, id: NodeId, with_memory: Option<&NodeSet>) {
        *self = Self::EMPTY;
        self.id = id;
        self.cpus = files::set(files, format_args!("{NODES}/node{id}/cpulist")).unwrap_or_default();
        let mut buffer = [0; 4 << 10];
        let meminfo = files::read(files, format_args!("{NODES}/node{id}/meminfo"), &mut buffer);
        self.read_memory(meminfo.unwrap_or_default());
        self.has_memory = with_memory.map_or(self.memory_total > Bytes(0), |nodes| nodes.contains(id.0));
        self.failed_pages = failed_pages(files, id);
        self.read_pools(files, format_args!("{NODES}/node{id}"));
        self.read_distances(files);
    }

    /// Reads the pools in `hugepages` of a directory. Their names contain the page size, and every size is tried.
    fn read_pools(&mut self, files: &impl Files, of: core::fmt::Arguments<'_>) {
        let mut slots = self.pools.iter_mut();
        for size in PageSizes::ALL.iter() {
            if let Some(pool) = page_pool(files, of, size)
                && let Some(slot) = slots.next()
            {
                *slot = Some((size, pool));
            }
        }
    }

    /// Reads the rows of the SLIT. The kernel writes one column for each online node, in
    /// rising order of id, so columns and [`Topology::nodes`] have the same indices.
    fn read_distances(&mut self, files: &impl Files) {
        let mut buffer = [0; 1 << 10];
        let row = files::read(files, format_args!("{NODES}/node{}/distance", self.id), &mut buffer);
        let row = row.unwrap_or_default();
        let columns = row.split(u8::is_ascii_whitespace).filter(|column| !column.is_empty());
        for (distance, column) in self.distances.iter_mut().zip(columns) {
            *distance = files::parse(column).unwrap_or_default();
        }
    }
}

/// Returns the pages of a node in which hardware found errors since the kernel started. Pages that the kernel replaced
/// before they failed (soft offline) are not among them.
///
/// # References
/// Linux `Documentation/ABI/stable/sysfs-devices-node` (`memory_failure/total`).
pub fn failed_pages(files: &impl Files, node: NodeId) -> Option<u64> {
    files::number(files, format_args!("{NODES}/node{node}/memory_failure/total"))
}

impl Node {
    /// Reads the package of the first CPU, and those of the CPUs that its package lacks. Firmware may join the memory of
    /// several packages to one node (node interleaving, NPS0), and so does `numa=off`. The kernel writes -1 for an unknown
    /// package.
    fn read_packages(&mut self, files: &impl Files) {
        let mut rest = self.cpus;
        while let Some(cpu) = rest.first() {
            let of_cpu = format_args!("{CPUS}/cpu{cpu}/topology/physical_package_id");
            let package = files::number(files, of_cpu);
            self.package = self.package.or(package);
            package.map(|package| self.packages.insert(package));
            let list = files::set(files, format_args!("{CPUS}/cpu{cpu}/topology/core_siblings_list"));
            let Some(list) = list.filter(|list| list.contains(cpu)) else { break };
            rest = rest.difference(&list);
        }
    }
}

fn page_pool(files: &impl Files, of: core::fmt::Arguments<'_>, size: PageSize) -> Option<PagePool> {
    let kilobytes = size.bytes().0 / Bytes::KIB.0;
    let count = |name| files::number(files, format_args!("{of}/hugepages/hugepages-{kilobytes}kB/{name}"));
    Some(PagePool { total: count("nr_hugepages")?, free: count("free_hugepages")? })
}

/// Returns the pool of the default size, the only one that `/proc/meminfo` shows.
fn default_page_pool(meminfo: &[u8]) -> Option<(PageSize, PagePool)> {
    let count = |name| files::number_after(meminfo, name);
    let size = PageSize::of(kilobytes_after(meminfo, "Hugepagesize:")?)?;
    Some((size, PagePool { total: count("HugePages_Total:")?, free: count("HugePages_Free:")? }))
}

const TIERS: &str = "/sys/devices/virtual/memory_tiering";
const WEIGHTS: &str = "/sys/kernel/mm/mempolicy/weighted_interleave";

/// Number of tiers that are searched. A tier's number is a latency in eighths of the latency of ordinary memory, which
/// is in tier 4.
const MOST_TIERS: u32 = 64;

/// Maximum number of successive memory-side caches in front of one memory; index 1 is next to the memory. A working
/// set far larger than the largest of these caches exceeds all of them.
const SIDE_LEVELS: u32 = 3;

impl Claim {
    /// Reads the claims of one class. Initiators are links to nodes: a node is an initiator if a file can be read
    /// through the link.
    fn read(files: &impl Files, id: NodeId, class: usize, ids: &NodeSet) -> Option<Claim> {
        // The firmware also writes zero for an unknown figure.
        let number = |name: &str| -> u64 {
            files::number(files, format_args!("{NODES}/node{id}/access{class}/initiators/{name}"))
                .unwrap_or(0)
        };
        // The files contain nanoseconds, and MiB per second.
        let latency = |name| Picoseconds(number(name).saturating_mul(1000));
        let bandwidth = |name| Bytes::MIB.times(number(name)).0;
        let leads_to = |initiator: &u32| {
            let list = format_args!("{NODES}/node{id}/access{class}/initiators/node{initiator}/cpulist");
            files::read(files, list, &mut [0; 16]).is_some()
        };
        let mut claim = Claim {
            read: latency("read_latency"),
            write: latency("write_latency"),
            read_bandwidth: bandwidth("read_bandwidth"),
            write_bandwidth: bandwidth("write_bandwidth"),
            initiators: NodeSet::EMPTY,
        };
        let known = [claim.read.0, claim.write.0, claim.read_bandwidth, claim.write_bandwidth] != [0; 4];
        if !known {
            return None;
        }
        claim.initiators = ids.iter().filter(leads_to).collect();
        Some(claim)
    }
}

impl Topology {
    /// Reads the claims about every node.
    pub(super) fn read_attributes(&mut self, files: &impl Files) {
        let ids = self.ids();
        for node in self.nodes.iter_mut().take(self.length) {
            let cache = |index: u32| -> Option<SideCache> {
                let number = |name: &str| -> Option<u64> {
                    let id = node.id;
                    files::number(
                        files,
                        format_args!("{NODES}/node{id}/memory_side_cache/index{index}/{name}"),
                    )
                };
                let size = Bytes(number("size").filter(|size| *size > 0)?);
                Some(SideCache { size, line: Bytes(number("line_size").unwrap_or(0)) })
            };
            let side_cache = (1..=SIDE_LEVELS).filter_map(cache).max_by_key(|cache| cache.size);
            node.attributes = Attributes {
                access: [0, 1].map(|class| Claim::read(files, node.id, class, &ids)),
                side_cache,
                tier: None,
                weight: files::number(files, format_args!("{WEIGHTS}/node{}", node.id)),
            };
        }
        // The tier of a single node has no meaning.
        for tier in 0..if self.length > 1 { MOST_TIERS } else { 0 } {
            let listed = files::set(files, format_args!("{TIERS}/memory_tier{tier}/nodelist"));
            let Some(listed): Option<NodeSet> = listed else { continue };
            for node in self.nodes.iter_mut().take(self.length).filter(|node| listed.contains(node.id.0)) {
                node.attributes.tier = Some(tier);
            }
        }
    }
}
