//! Lines: stores with the hint to go past the caches, and eviction.
//!
//! # Safety
//!
//! STNP and DC CIVAC are part of every processor, and Linux lets programs execute DC CIVAC
//! (SCTLR_EL1.UCI). A line is written through the only reference to it.

use crate::arch::{Line, StreamRoutine, lb_stream_whole16};
use crate::units::{Bytes, LineSize};
use core::arch::aarch64::{uint64x2_t, vld1q_u64};
use core::arch::asm;

/// False: the stores of traffic that bypass the caches are STNP, whose hint a processor may ignore. It then reads a line
/// before it writes it.
pub const STREAM_EXACT: bool = false;

/// False: [`stream_line`] may leave lines in a cache, so they have to be evicted.
pub const STREAMS_BYPASS: bool = false;

/// Reads of whole lines: NEON has vectors of 16 bytes alone.
pub(crate) const WHOLE_READS: [StreamRoutine; 3] = [lb_stream_whole16; 3];

/// Returns the bytes of a vector of NEON.
pub const fn vector_bytes() -> u32 {
    16
}

/// Returns the size of the shortest line of all data caches, by CTR_EL0.DminLine; [`LineSize::LEAST`] if that is shorter.
pub fn shortest_line() -> LineSize {
    let register: u64;
    // SAFETY: reading CTR_EL0 changes nothing, and Linux lets every program read it (SCTLR_EL1.UCT), or emulates that.
    unsafe { asm!("mrs {}, ctr_el0", out(reg) register, options(nomem, nostack, preserves_flags)) };
    // The field is the binary logarithm of the number of words of four bytes.
    LineSize::of(Bytes(4 << (register >> 16 & 0xf))).unwrap_or(LineSize::LEAST)
}

/// Writes a whole line to memory with stores that the processor may let bypass the caches.
///
/// After the last line, call [`streams_done`].
#[inline(always)]
pub fn stream_line(line: &mut Line, words: &[u64; 8]) {
    // SAFETY: eight words are four vectors.
    let [a, b, c, d]: [uint64x2_t; 4] =
        core::array::from_fn(|vector| unsafe { vld1q_u64(words.as_ptr().add(2 * vector)) });
    // SAFETY: a `Line` holds four aligned vectors, and `&mut` gives exclusive access to it.
    unsafe {
        asm!(
            "stnp {0:q}, {1:q}, [{4}]",
            "stnp {2:q}, {3:q}, [{4}, #32]",
            in(vreg) a, in(vreg) b, in(vreg) c, in(vreg) d, in(reg) line,
            options(nostack, preserves_flags)
        );
    }
}

/// Returns true: Linux lets every program evict lines, by DC CIVAC.
pub(crate) fn evicts() -> bool {
    true
}

/// Evicts a line from all caches up to the point of coherency.
///
/// # Safety
///
/// None: the function is unsafe in other instruction sets.
#[inline(always)]
pub(crate) unsafe fn evict_line(line: &Line) {
    // SAFETY: the instruction changes no byte of memory, and may be executed.
    unsafe { asm!("dc civac, {}", in(reg) line, options(nostack, preserves_flags)) };
}

/// Waits until all streamed lines are visible, and all evictions complete.
pub fn streams_done() {
    // SAFETY: a barrier changes nothing. DSB ISH: stores and evictions before it are complete for all cores before any
    // later instruction; a DMB would only order them.
    unsafe { asm!("dsb ish", options(nostack, preserves_flags)) };
}
