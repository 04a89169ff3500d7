//! How many chains a point walks side by side, and what walks of two said of the window: plain data.

use core::fmt;

use latency_core::kernel::lanes::{Filler, Gap, LaneKernel};

/// How many chains are walked at a time.
#[derive(Clone, Copy, Debug, Default)]
pub enum Walk {
    /// One chain of dependent loads, by the point's kernel: what it takes is a latency.
    #[default]
    Chain,
    /// Lanes side by side: what it takes is the inverse of a throughput.
    Lanes(&'static LaneKernel),
    /// Two lanes with fillers between their loads.
    Apart(Gap),
}

impl Walk {
    /// The chains walked side by side.
    #[must_use]
    pub const fn lanes(&self) -> usize {
        match self {
            Walk::Chain => 1,
            Walk::Lanes(kernel) => kernel.lanes(),
            Walk::Apart(_) => Gap::LANES,
        }
    }
}

/// What a point's conditions say of it besides the number of chains: the work between loads, and what else there is.
impl fmt::Display for Walk {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Walk::Chain => return Ok(()),
            Walk::Lanes(kernel) if kernel.work() == 0 => {}
            Walk::Lanes(kernel) => write!(out, ", work {}", kernel.work())?,
            Walk::Apart(gap) => write!(out, ", {} {}", gap.fillers(), gap.filler().name())?,
        }
        match self {
            Walk::Lanes(kernel) if kernel.prefetch() => out.write_str(", prefetch"),
            _ => Ok(()),
        }
    }
}

/// How many fillers the processor reaches over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// What they are.
    pub filler: Filler,
    /// With so many, two loads still overlap.
    pub overlaps: usize,
    /// With so many, they do no longer; `None` where they always did.
    pub alone: Option<usize>,
}
