//! The names that the folder of each instruction set must define, one line each.
//!
//! If a port lacks a name or gives it another type, this file does not compile; if its assembly lacks one of the
//! routines that `routine.rs` names, no program links. The documentation of each item describes its behaviour, and
//! the tests compare this behaviour with `core/tests/portable`.
//!
//! # Safety
//!
//! Nothing is called here.

use super::*;
use crate::units::{Hertz, LINE, LineSize};

// Transfers of lines between cores.
const _: Atomics = Atomics::BASELINE;
const _: fn(u64) -> Atomics = Atomics::detect;
const _: fn(Atomics) -> &'static str = Atomics::name;
const _: fn(Atomics) -> &'static Exchanges = exchanges;
const _: fn(Atomics) -> Routine = own_walk;

// Lines: stores that bypass the caches, and eviction. If STREAMS_BYPASS is false, `evicts` is true.
const _: () = assert!(size_of::<Line>() as u64 == LINE.0 && align_of::<Line>() as u64 == LINE.0);
const _: () = assert!(size_of::<SharedLine>() as u64 == LINE.0);
const _: fn() -> LineSize = shortest_line;
const _: fn(&mut Line, &[u64; 8]) = stream_line;
const _: [bool; 2] = [STREAM_EXACT, STREAMS_BYPASS];
const _: [fn() -> bool; 3] = [flushes, evicts, interrupt_mark_holds];
const _: [fn(); 2] = [streams_done, set_interrupt_mark];
const _: unsafe fn(&Line) = evict_line;

// Reads of whole lines by vectors of 16, 32 and 64 bytes, and the bytes of the widest ones that may be executed.
const _: [StreamRoutine; 3] = WHOLE_READS;
const _: fn() -> u32 = vector_bytes;

// Clocks.
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
const _: (&str, Words) = (ARCHITECTURE, WORDS);

// Vector arithmetic for the numbers of a computed cycle: `lanes.rs` names the operations of `vectors`.
