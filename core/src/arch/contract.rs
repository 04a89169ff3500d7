//! The names that the folder of each instruction set must define, one line each.
//!
//! If a port lacks a name or gives it another type, this file does not compile; if it lacks one of the routines that
//! `chases.rs` and `traffic.rs` name, no program links. The documentation of each item describes its behaviour, and
//! the tests compare this behaviour with `core/tests/portable`.

use super::*;
use crate::units::{Hertz, LINE, LineSize};

// Chases: one dependent load per hop and lane. The assembly defines the routines of `chases.rs`.
const _: [Routine; 6] =
    [POINTER_CHASE, INDEX_CHASE, INDEX4_CHASE, INDEX_CHECKED_CHASE, LINE_INDEX_CHASE, LINE_INDEX4_CHASE];
const _: &[(usize, LaneRoutine)] = &REGISTER_CHASES;
const _: (LaneRoutine, usize, usize) = (MEMORY_CHASE, REGISTER_LANES, MOST_LANES);
const _: &[(usize, [LaneRoutine; 2])] = &WINDOW_CHASES;
const _: (usize, usize, u32) = (WINDOW_LANES, WINDOW_OVERHEAD, WINDOW_ADDEND);
const _: [LaneRoutine; 3] = [REACH_NOP_CHASE, REACH_INTEGER_CHASE, REACH_MIXED_CHASE];
const _: usize = MOST_FILLERS;
const _: StridedRoutine = STRIDED_LOADS;
const _: [SpanRoutine; 2] = [SPAN_CHASE, SPAN_LOADS];

// Traffic. The assembly defines the routines of `traffic.rs`.
const _: [StreamRoutine; 4] = [STREAM_READ, STREAM_UPDATE3, STREAM_UPDATE2, STREAM_UPDATE1];
const _: [StreamRoutine; 4] = [STREAM_WRITE, STREAM_NT_WRITE, STREAM_COPY, STREAM_COPY_NT];
const _: [StreamRoutine; 2] = [STREAM_RANDOM, STREAM_PERMUTED];
const _: bool = STREAM_EXACT;

// Transfers of lines between cores.
const _: Atomics = Atomics::BASELINE;
const _: fn(u64) -> Atomics = Atomics::detect;
const _: fn(Atomics) -> &'static str = Atomics::name;
const _: fn(Atomics) -> &'static Exchanges = exchanges;
const _: fn(Atomics) -> Routine = own_walk;
const _: [Routine; 2] = [READ_WALK, STORE_WALK];
const _: fn() -> Option<Flusher> = Flusher::detect;
const _: fn(Flusher, &[SharedLine]) = Flusher::flush;

// Lines: stores that bypass the caches, and eviction. If STREAMS_BYPASS is false, there is always an Evictor.
const _: () = assert!(size_of::<Line>() as u64 == LINE.0 && align_of::<Line>() as u64 == LINE.0);
const _: () = assert!(size_of::<SharedLine>() as u64 == LINE.0);
const _: fn() -> LineSize = shortest_line;
const _: fn(&mut Line, &[u64; 8]) = stream_line;
const _: fn() = streams_done;
const _: bool = STREAMS_BYPASS;
const _: fn() -> Option<Evictor> = Evictor::detect;
const _: fn(Evictor, &[Line]) = Evictor::evict;

// Clocks.
const _: [fn(usize) -> u64; 2] = [dependent_adds, dependent_multiplies];
const _: u64 = CLOCK_BLOCK;
const _: fn() -> Option<Stamp> = Stamp::detect;
const _: fn(Stamp) -> u64 = Stamp::start;
const _: fn(Stamp) -> EndStamp = Stamp::end;
const _: fn(Stamp) -> &'static str = Stamp::name;
const _: fn(Stamp) -> u64 = unserialised_ticks;
const _: bool = Counter::STEADY;
const _: fn() -> Option<Hertz> = Counter::declared;

// The identification of a core, if there is a register for it; the argument is AT_HWCAP of the auxiliary vector.
const _: fn(u64) -> Option<u32> = identification;

// Words of results, in a file that is compiled for every target.
const _: &str = ARCHITECTURE;
const _: Words = WORDS;

// Interrupts.
const _: fn() = set_interrupt_mark;
const _: fn() -> bool = interrupt_mark_holds;

// Vector arithmetic for the numbers of a computed cycle.
const _: fn() -> Option<lanes::Lanes> = lanes::Lanes::detect;
const _: fn(lanes::Lanes, &lanes::Cycle, u32, &mut [u64; lanes::LANES]) = lanes::Lanes::successors;
const _: fn(lanes::Lanes, &lanes::Cycle, u32, u64) -> (u32, u64) = lanes::Lanes::advance;
const _: usize = lanes::LANES;
