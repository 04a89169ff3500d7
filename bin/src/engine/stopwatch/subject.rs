//! The chain or the chains to be walked: plain references for the code that times or counts.

use core::cell::Cell;

use latency_core::buffer::Buffer;
use latency_core::kernel::Kernel;
use latency_core::kernel::lanes::MOST_LANES;

use crate::result::Walk;

/// The chain or the lanes of a chase.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'b> {
    /// The chain in memory.
    pub buffer: &'b Buffer<'b>,
    /// The loop that walks the chain.
    pub kernel: &'static Kernel,
    /// The lanes, if more than one chain is walked.
    pub side: Option<&'b SideBySide>,
}

/// The node of each lane.
pub type Positions = [u64; MOST_LANES];

/// Lanes to be walked.
#[derive(Debug)]
pub struct SideBySide {
    /// The kind of walk; never [`Walk::Chain`], which has no lanes.
    pub walk: Walk,
    /// The node of each lane.
    pub positions: Cell<Positions>,
}
