//! Cache lines: stores that go past the caches, and eviction.
//!
//! # Safety
//!
//! SSE2 is part of x86-64; a line is written through the only reference to it. CLFLUSHOPT is
//! executed only where CPUID reported the instruction.

use crate::arch::{Line, StreamRoutine, lb_stream_whole16};
use crate::units::LineSize;
use core::arch::x86_64::{__cpuid, __cpuid_count, __m128i, _mm_set_epi64x, _mm_sfence, _mm_stream_si128};

/// True: a line that is written with the stores of traffic that bypass the caches is never read first.
///
/// If this is false, the processor may ignore the hint in these stores.
pub const STREAM_EXACT: bool = true;

/// True: [`stream_line`] leaves no line in a cache.
///
/// If this is false, the processor may ignore the hint in the store, and lines have to be evicted.
pub const STREAMS_BYPASS: bool = true;

routines! {
    fn(from: *mut u8, lines: usize, to: *mut u8, state: u64, field: usize) -> u64:
        lb_stream_whole32 lb_stream_whole64;
}

/// Reads of whole lines by vectors of SSE2, AVX and AVX-512.
pub(crate) const WHOLE_READS: [StreamRoutine; 3] = [lb_stream_whole16, lb_stream_whole32, lb_stream_whole64];

/// Returns the size of the shortest line of all data caches, which is 64 bytes in every processor.
pub const fn shortest_line() -> LineSize {
    LineSize::LEAST
}

/// Writes a whole line to memory with stores that bypass the caches.
///
/// The line is neither read first nor left in a cache. After the last line, call [`streams_done`].
#[inline(always)]
pub fn stream_line(line: &mut Line, words: &[u64; 8]) {
    let [a, b, c, d, e, f, g, h] = *words;
    let vector = |low: u64, high: u64| {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_set_epi64x(high.cast_signed(), low.cast_signed()) }
    };
    let target = core::ptr::from_mut(line).cast::<__m128i>();
    // SAFETY: SSE2 is part of x86-64; a `Line` holds four aligned vectors, and `&mut` gives exclusive access to it.
    unsafe {
        _mm_stream_si128(target, vector(a, b));
        _mm_stream_si128(target.add(1), vector(c, d));
        _mm_stream_si128(target.add(2), vector(e, f));
        _mm_stream_si128(target.add(3), vector(g, h));
    }
}

/// Returns whether the processor has CLFLUSHOPT (Intel SDM vol. 2, CPUID leaf 7, EBX bit 23).
pub(crate) fn evicts() -> bool {
    __cpuid(0).eax >= 7 && __cpuid_count(7, 0).ebx & 1 << 23 != 0
}

/// Evicts a line from all caches.
///
/// # Safety
///
/// The processor has CLFLUSHOPT: see [`evicts`].
#[inline(always)]
pub(crate) unsafe fn evict_line(line: &Line) {
    // SAFETY: the caller promises that the instruction exists; it changes no byte of memory.
    unsafe { core::arch::asm!("clflushopt [{}]", in(reg) line, options(nostack, preserves_flags)) };
}

/// Makes all streamed lines visible, and waits for evictions.
pub fn streams_done() {
    // SAFETY: SFENCE is part of SSE, which is part of x86-64. It is needed because other stores may overtake streamed
    // lines and CLFLUSHOPT.
    unsafe { _mm_sfence() };
}
