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
    /// The nodes do not have the encoding of the kernel. Lanes follow addresses, and loads in address order load eight
    /// bytes.
    Encoding,
    /// The number of starts or ends is not the number of lanes.
    Count,
    /// The nodes lie in lines drawn at random, so that they are not at equal distances.
    Scattered,
}

/// A walk that did not end where the generator says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Astray {
    /// The node on which the walk set out.
    pub from: u64,
    /// The number of hops that it should have made.
    pub hops: u64,
}
