//! What the firmware claims of a node's memory, and how the kernel ranks it.
//!
//! Figures come from the ACPI table HMAT, or of CXL memory from the device itself (CDAT). Nothing here is measured.

use crate::cpulist::NodeSet;
use crate::units::{Bytes, Picoseconds};

/// The claims about the fastest way to a node's memory, as in `nodeN/accessK/initiators`; zero is not known.
///
/// Without an [`Option`] within, none of them is zero bytes: an empty topology takes no room in an executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The latency of a read.
    pub read: Picoseconds,
    /// The latency of a write.
    pub write: Picoseconds,
    /// The bytes a second that are read.
    pub read_bandwidth: u64,
    /// The bytes a second that are written.
    pub write_bandwidth: u64,
    /// The nodes from which this holds: those nearest to the memory.
    pub initiators: NodeSet,
}

/// A cache in front of a node's memory, such as high-bandwidth memory in front of DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SideCache {
    /// Its size.
    pub size: Bytes,
    /// The size of its lines; zero where that is not known.
    pub line: Bytes,
}

/// Everything that is claimed of a node's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// From the nearest initiators of any kind (`access0`), and from the nearest CPUs (`access1`).
    pub access: [Option<Claim>; 2],
    /// The cache in front of it; of several, the largest.
    pub side_cache: Option<SideCache>,
    /// Its tier: memory of lower numbers is said to be faster.
    pub tier: Option<u32>,
    /// Its weight for weighted interleaving.
    pub weight: Option<u32>,
}

impl Attributes {
    /// Nothing is known.
    pub const EMPTY: Self = Self { access: [None; 2], side_cache: None, tier: None, weight: None };

    /// Returns the claim about CPUs, or else about initiators of any kind.
    #[must_use]
    pub fn claim(&self) -> Option<&Claim> {
        self.access.iter().rev().flatten().next()
    }
}
