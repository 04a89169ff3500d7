//! The assembly routines, which have the same names and types for every instruction set.
//!
//! Two files are called stream, and have nothing in common: the traffic of `stream.s` keeps a memory busy; `stream.rs` of
//! each instruction set writes chains with stores that bypass the caches.
//!
//! # Safety
//!
//! The routines follow the calling convention of C, and their source, a folder of `asm`, lists the registers that they
//! destroy. Nothing is called here; the documentation of each type states what a caller must guarantee.

use super::{Delays, SpanWords};
use core::sync::atomic::{AtomicU32, AtomicU64};

routines! {
    /// A chase loop: `(base, cursor, hops, length)` to the cursor after exactly that many hops.
    ///
    /// # Safety
    ///
    /// `base` is the start of a buffer that holds a chain in the encoding that the routine follows, and
    /// `cursor` stands on one of its nodes. `length` is one more than the largest index in the chain; a
    /// routine that checks it ends the walk at an index that is not below it.
    Routine fn(base: *const u8, cursor: usize, hops: usize, length: usize) -> usize:
        lb_chase_pointer lb_chase_index
        lb_chase_index4 lb_chase_index_checked lb_chase_line_index lb_chase_line_index4
        lb_cores_read lb_cores_own lb_cores_store;

    /// Chases side by side: `(cursors, hops, count)`, with the cursors advanced by that many hops each.
    ///
    /// It returns a digest of the work between the loads, or zero if there is no work.
    ///
    /// # Safety
    ///
    /// `cursors` points to as many cursors as the routine has lanes. Each
    /// stands on a node of a chain of addresses. `count` is a number of further lanes, at most
    /// 52, or a number of fillers, at most 768; other routines ignore it.
    LaneRoutine fn(cursors: *mut usize, hops: usize, count: usize) -> u64:
        lb_chase_parallel_1 lb_chase_parallel_2 lb_chase_parallel_3 lb_chase_parallel_4 lb_chase_parallel_6
        lb_chase_parallel_8 lb_chase_parallel_10 lb_chase_parallel_12 lb_chase_parallel_14 lb_chase_parallel_more
        lb_chase_window_0 lb_chase_window_0_prefetch lb_chase_window_1 lb_chase_window_1_prefetch
        lb_chase_window_2 lb_chase_window_2_prefetch lb_chase_window_3 lb_chase_window_3_prefetch
        lb_chase_window_4 lb_chase_window_4_prefetch lb_chase_window_6 lb_chase_window_6_prefetch
        lb_chase_window_8 lb_chase_window_8_prefetch lb_chase_window_12 lb_chase_window_12_prefetch
        lb_chase_window_16 lb_chase_window_16_prefetch lb_chase_window_24 lb_chase_window_24_prefetch
        lb_chase_window_32 lb_chase_window_32_prefetch lb_chase_window_48 lb_chase_window_48_prefetch
        lb_chase_reach_nop lb_chase_reach_integer lb_chase_reach_mixed;

    /// Independent loads at equal distances: `(base, stride, loads)` to the wrapping sum of the words loaded.
    ///
    /// # Safety
    ///
    /// Eight bytes can be read at each of the first `loads` multiples of `stride` from `base`.
    StridedRoutine fn(base: *const u8, stride: usize, loads: usize) -> u64: lb_chase_strided;

    /// Loads of one line in each of many pages: `(walk, loads)` to the address of the last load.
    ///
    /// # Safety
    ///
    /// Every word whose address the sequence of `walk` reaches can be read and is zero.
    SpanRoutine fn(walk: *mut SpanWords, loads: usize) -> usize: lb_chase_span lb_chase_span_free;

    /// Traffic over cache lines: `(from, lines, to, state, field)` to the state after exactly that many lines.
    ///
    /// It returns the state for the next call. Only its memory accesses matter: its result is not
    /// checked, and the words that it leaves in memory have no meaning.
    ///
    /// # Safety
    ///
    /// `from` is aligned to 64 bytes, and `lines` lines from there on can be read and written. For a copy, `to` and the
    /// `lines` lines from there on fulfil the same conditions, and the two runs of lines do not overlap. Whole, random
    /// and permuted reads need `field` readable lines from `from`, at least one, for any value of `lines`. For whole
    /// reads, `state` is below `field`, and the processor and the kernel support vectors of the routine's bytes. For
    /// permuted reads, `field` is a power of two, at most 32,768, and `to` may be any address: lines from there on are
    /// only prefetched. For updates, `state` is zero or a number that the same routine returned.
    StreamRoutine fn(from: *mut u8, lines: usize, to: *mut u8, state: u64, field: usize) -> u64:
        lb_stream_read lb_stream_update3 lb_stream_update2 lb_stream_update1 lb_stream_write lb_stream_ntwrite
        lb_stream_copy lb_stream_copynt lb_stream_random lb_stream_permuted lb_stream_whole16;

    /// One side of an exchange: `(mine, theirs, count, stop, polls, delays)` to the number of round trips that were made.
    ///
    /// # Safety
    ///
    /// `mine` and `theirs` each point to the first of the eight words of a line. Other threads access these lines and
    /// `stop` only as atomics. `mine` and `theirs` may be the same line. `polls` is at least 1. A routine that reads the
    /// counter is called only where user code may read it. Only the caller accesses `delays`.
    ExchangeRoutine fn(
        mine: *const AtomicU64, theirs: *const AtomicU64, count: usize, stop: *const AtomicU32, polls: usize,
        delays: *mut Delays,
    ) -> usize:
        lb_cores_cas_first lb_cores_cas_second lb_cores_read_cas_first lb_cores_read_cas_second
        lb_cores_flag_first lb_cores_flag_second lb_cores_message_first lb_cores_message_second;

    /// Additions or multiplications that each depend on the one before: `(blocks)`, each of
    /// [`CLOCK_BLOCK`](super::CLOCK_BLOCK) operations.
    ///
    /// # Safety
    ///
    /// There is at least one block.
    ClockRoutine fn(blocks: usize) -> u64: lb_clock_adds lb_clock_multiplies;
}

/// The exchange routines with one set of atomic instructions, a pair for each method: the first side and the second.
#[derive(Clone, Copy, Debug)]
pub struct Exchanges {
    /// An atomic compare and swap of one line, which also polls.
    pub cas: [ExchangeRoutine; 2],
    /// An atomic compare and swap of one line, but plain loads poll.
    pub read_cas: [ExchangeRoutine; 2],
    /// Plain loads and stores; each side stores to its own line.
    pub flag: [ExchangeRoutine; 2],
    /// Plain stores of the sender's counter, which both sides read: the only method that fills [`Delays`].
    pub message: [ExchangeRoutine; 2],
}

impl Exchanges {
    /// Returns the routines with these compare-and-swaps; the other methods have no atomic operation.
    pub(super) const fn with(cas: [ExchangeRoutine; 2], read_cas: [ExchangeRoutine; 2]) -> Exchanges {
        let flag: [ExchangeRoutine; 2] = [lb_cores_flag_first, lb_cores_flag_second];
        Exchanges { cas, read_cas, flag, message: [lb_cores_message_first, lb_cores_message_second] }
    }
}
