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

/// The kernel and the nodes have different encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongEncoding;

/// Why several lanes cannot be walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneError {
    /// Lanes follow addresses, and the nodes hold something else.
    WrongEncoding,
    /// The number of starts or ends is not the number of lanes.
    Count,
}

/// Why nodes cannot be loaded in address order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StridedError {
    /// The nodes hold four bytes, and the loop loads eight.
    WrongEncoding,
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
