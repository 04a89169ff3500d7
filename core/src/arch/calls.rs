//! Calls of routines and instructions that are safe in every instruction set.
//!
//! # Safety
//!
//! Lines are flushed and evicted only through values that exist only if the instruction set's folder found the
//! instruction. The routines of `clock.s` use only registers.

use super::routine::{lb_clock_adds, lb_clock_multiplies};
use super::{Line, SharedLine, evict_line, evicts, flushes, streams_done};

unsafe extern "C" {
    pub(super) fn lb_cores_flush(first: *const SharedLine, lines: usize);
}

/// Number of operations in one block of the clock routines.
pub const CLOCK_BLOCK: u64 = 64;

/// Executes `blocks` × [`CLOCK_BLOCK`] dependent additions, one core cycle each.
pub fn dependent_adds(blocks: usize) -> u64 {
    // SAFETY: the routine touches registers only; zero blocks would wrap its counter, so at least one is made.
    unsafe { lb_clock_adds(blocks.max(1)) }
}

/// Executes `blocks` × [`CLOCK_BLOCK`] dependent multiplications; see [`Words::multiply_ratio`](super::Words).
pub fn dependent_multiplies(blocks: usize) -> u64 {
    // SAFETY: as for the additions.
    unsafe { lb_clock_multiplies(blocks.max(1)) }
}

/// Proof that lines may be flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flusher(());

impl Flusher {
    /// Returns the proof if programs can flush lines.
    pub fn detect() -> Option<Flusher> {
        flushes().then_some(Flusher(()))
    }

    /// Flushes `lines` from the caches of all cores, and waits until this is complete.
    ///
    /// A cache behind ARM's point of coherency, such as a system-level cache, may keep them.
    pub fn flush(self, lines: &[SharedLine]) {
        // SAFETY: `self` proves that the instruction is there; the routine changes no byte of the lines' memory.
        unsafe { lb_cores_flush(lines.as_ptr(), lines.len()) }
    }
}

/// Proof that lines may be evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evictor(());

impl Evictor {
    /// Returns the proof if programs can evict lines.
    pub fn detect() -> Option<Evictor> {
        evicts().then_some(Evictor(()))
    }

    /// Evicts `lines` from all caches, on ARM up to the point of coherency; modified lines are first written back to
    /// memory.
    pub fn evict(self, lines: &[Line]) {
        for line in lines {
            // SAFETY: `self` proves that the instruction is there.
            unsafe { evict_line(line) };
        }
        streams_done();
    }
}
