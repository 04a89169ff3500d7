//! The reasons why a chain cannot be written, walked or proven.

/// Why a chain cannot be written to a piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// The memory is smaller than the chain's working set.
    TooSmall,
    /// The nodes are too small for what they are to hold, or too many for it to tell them apart.
    Encoding,
    /// The caller stopped the writing.
    Stopped,
}

/// The kernel follows something else than what the nodes hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongEncoding;

/// Why several lanes cannot be walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneError {
    /// Lanes follow addresses, and the nodes hold something else.
    WrongEncoding,
    /// The starts or the ends are not as many as the kernel has lanes.
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

/// A timed or untimed walk that ended elsewhere than the generator says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Astray {
    /// The node on which the walk set out.
    pub from: u64,
    /// The hops that it was to make.
    pub hops: u64,
}
