//! The traffic routines, `stream.s` of each folder of `asm`, by name.
//!
//! They are unrelated to `stream.rs` of each instruction set, which writes chains with stores that
//! bypass the caches: traffic routines only keep a memory busy, and the words that they write have
//! no meaning.
//!
//! # Safety
//!
//! The routines follow the calling convention of C, and their source lists the registers that they
//! destroy. Nothing is called here: [`StreamRoutine`] states what a caller must guarantee.

use super::routine::StreamRoutine;

routines! {
    (from: *mut u8, lines: usize, to: *mut u8, state: u64, field: usize) -> u64:
    lb_stream_read lb_stream_update3 lb_stream_update2 lb_stream_update1 lb_stream_write lb_stream_ntwrite
    lb_stream_copy lb_stream_copynt lb_stream_random lb_stream_permuted
}

/// Loads from each line.
pub const STREAM_READ: StreamRoutine = lb_stream_read;
/// Loads from each line, and stores to every third line.
pub const STREAM_UPDATE3: StreamRoutine = lb_stream_update3;
/// Loads from each line, and stores to every second line.
pub const STREAM_UPDATE2: StreamRoutine = lb_stream_update2;
/// Loads from each line, and stores to it.
pub const STREAM_UPDATE1: StreamRoutine = lb_stream_update1;
/// Stores every byte of each line.
pub const STREAM_WRITE: StreamRoutine = lb_stream_write;
/// Stores every byte of each line with stores that bypass the caches.
pub const STREAM_NT_WRITE: StreamRoutine = lb_stream_ntwrite;
/// Copies each line.
pub const STREAM_COPY: StreamRoutine = lb_stream_copy;
/// Copies each line with stores that bypass the caches.
pub const STREAM_COPY_NT: StreamRoutine = lb_stream_copynt;
/// Loads from lines chosen at random.
pub const STREAM_RANDOM: StreamRoutine = lb_stream_random;
/// Loads from each line of a block in a permuted order.
pub const STREAM_PERMUTED: StreamRoutine = lb_stream_permuted;
