//! The reasons why a chain cannot be written, walked or proven.

/// Why a chain cannot be written to a piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// The memory is smaller than the chain's working set.
    TooSmall,
    /// The nodes are too small for the encoding, or too many for it to number them.
    Encoding,
    /// The caller stopped the writing.
    Stopped,
}

/// Why nodes cannot be walked, or loaded in address order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkError {
    /// The nodes are not in the kernel's encoding, which is an address for lanes, and eight bytes for loads in
    /// address order.
    Encoding,
    /// The number of starts or of ends differs from the number of lanes.
    Count,
    /// The nodes lie in lines drawn at random, so their distances are not equal.
    Scattered,
}

/// A walk that ended on a different node than the generator computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Astray {
    /// The node at which the walk started.
    pub from: u64,
    /// The number of hops that it should have made.
    pub hops: u64,
}
