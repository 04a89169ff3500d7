//! The traffic routines of `asm/x86_64/stream.s`, by name.
//!
//! Not to be confused with `stream.rs` beside it, which writes chains past the
//! caches: these routines keep a memory busy, and the words that they write have no meaning.
//!
//! # Safety
//!
//! The routines keep the System V calling convention and state in their source
//! what they destroy. Nothing is called here: [`StreamRoutine`] says what a caller guarantees.

use crate::arch::routine::StreamRoutine;

core::arch::global_asm!(include_str!("../../../asm/x86_64/stream.s"), options(raw));

routines! {
    (from: *mut u8, lines: usize, to: *mut u8, state: u64, field: usize) -> u64:
    lb_stream_read lb_stream_update3 lb_stream_update2 lb_stream_update1 lb_stream_write lb_stream_ntwrite
    lb_stream_copy lb_stream_copynt lb_stream_random lb_stream_permuted
}

/// True: a line that is stored past the caches is never read first.
///
/// If it is false, these stores are a hint that the processor may ignore.
pub const STREAM_EXACT: bool = true;

/// Loads from each line.
pub const STREAM_READ: StreamRoutine = lb_stream_read;
/// Loads from each line, and stores to every third.
pub const STREAM_UPDATE3: StreamRoutine = lb_stream_update3;
/// Loads from each line, and stores to every second.
pub const STREAM_UPDATE2: StreamRoutine = lb_stream_update2;
/// Loads from each line, and stores to it.
pub const STREAM_UPDATE1: StreamRoutine = lb_stream_update1;
/// Stores every byte of each line.
pub const STREAM_WRITE: StreamRoutine = lb_stream_write;
/// Stores every byte of each line past the caches.
pub const STREAM_NT_WRITE: StreamRoutine = lb_stream_ntwrite;
/// Copies each line.
pub const STREAM_COPY: StreamRoutine = lb_stream_copy;
/// Copies each line; the stores go past the caches.
pub const STREAM_COPY_NT: StreamRoutine = lb_stream_copynt;
/// Loads from lines chosen at random.
pub const STREAM_RANDOM: StreamRoutine = lb_stream_random;
/// Loads from each line of a block in a permuted order.
pub const STREAM_PERMUTED: StreamRoutine = lb_stream_permuted;
