//! The code that reads the claims about memory from the files of a system.
//!
//! This file contains the paths and units of Linux.
//!
//! # References
//! Linux `Documentation/ABI/stable/sysfs-devices-node`, `Documentation/ABI/testing/sysfs-kernel-mm-memory-tiers`,
//! `Documentation/ABI/testing/sysfs-kernel-mm-mempolicy-weighted-interleave`.

use super::Topology;
use super::attributes::{Attributes, Claim, SideCache};
use super::files::{self, Files};
use super::read::NODES;
use crate::cpulist::NodeSet;
use crate::units::{Bytes, NodeId, Picoseconds};

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
