//! The firmware's claims about a node's memory, and its rank for the kernel.
//!
//! Figures come from the ACPI table HMAT, or for CXL memory from the device itself (CDAT). Nothing here is measured.

use crate::cpulist::NodeSet;
use crate::units::{Bytes, Picoseconds};

/// The claims about the fastest way to a node's memory, as in `nodeN/accessK/initiators`; zero means unknown.
///
/// It contains no [`Option`], so that `None` of it is zero bytes: an empty topology takes no room in an executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The latency of a read.
    pub read: Picoseconds,
    /// The latency of a write.
    pub write: Picoseconds,
    /// The read bandwidth in bytes a second.
    pub read_bandwidth: u64,
    /// The write bandwidth in bytes a second.
    pub write_bandwidth: u64,
    /// The nodes for which the claim holds: those nearest to the memory.
    pub initiators: NodeSet,
}

/// A cache in front of a node's memory, such as high-bandwidth memory in front of DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SideCache {
    /// Its size.
    pub size: Bytes,
    /// The size of its lines; zero where it is unknown.
    pub line: Bytes,
}

/// All claims about a node's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// The claims from the nearest initiators of any kind (`access0`), and from the nearest CPUs (`access1`).
    pub access: [Option<Claim>; 2],
    /// The cache in front of it, the largest of several.
    pub side_cache: Option<SideCache>,
    /// Its tier: memory of lower numbers is said to be faster.
    pub tier: Option<u32>,
    /// Its weight for weighted interleaving.
    pub weight: Option<u32>,
}

impl Attributes {
    /// No claim.
    pub const EMPTY: Self = Self { access: [None; 2], side_cache: None, tier: None, weight: None };

    /// Returns the claim about CPUs, or else about initiators of any kind.
    #[must_use]
    pub fn claim(&self) -> Option<&Claim> {
        self.access.iter().rev().flatten().next()
    }
}
