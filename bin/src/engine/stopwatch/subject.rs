//! The chain or the chains that are walked: plain references, which anything that times or counts can be given.

use core::cell::Cell;

use latency_core::buffer::Buffer;
use latency_core::kernel::lanes::MOST_LANES;
use latency_core::kernel::Kernel;

use crate::result::Walk;

/// What a chase runs on.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'b> {
    /// The chain in memory.
    pub buffer: &'b Buffer<'b>,
    /// The loop.
    pub kernel: &'static Kernel,
    /// The lanes, where more than one chain is walked.
    pub side: Option<&'b SideBySide>,
}

/// Where each lane stands.
pub type Positions = [u64; MOST_LANES];

/// Lanes to be walked.
#[derive(Debug)]
pub struct SideBySide {
    /// How; never [`Walk::Chain`], which has no lanes.
    pub walk: Walk,
    /// Where they stand: as many as the walk has lanes count.
    pub positions: Cell<Positions>,
}
