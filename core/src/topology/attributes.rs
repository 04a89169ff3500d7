//! The firmware's claims about a node's memory, and the kernel's ranking of this memory.
//!
//! Figures come from the ACPI table HMAT, or for CXL memory from the device itself (CDAT). Nothing here is measured.

use crate::cpulist::NodeSet;
use crate::units::{Bytes, Picoseconds};

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
