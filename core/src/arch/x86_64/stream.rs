//! Cache lines, and stores that go past the caches.
//!
//! # Safety
//!
//! SSE2 is part of x86-64; a line is written through the only reference to it.

use core::arch::x86_64::{__m128i, _mm_set_epi64x, _mm_sfence, _mm_stream_si128};

/// One cache line, the unit in which memory moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Line(pub [u64; 8]);

/// Writes a whole line past the caches.
///
/// The line is neither read first nor left behind in a cache. Follow the last
/// one with [`streams_done`].
#[inline(always)]
pub fn stream_line(line: &mut Line, words: &[u64; 8]) {
    let [a, b, c, d, e, f, g, h] = *words;
    let vector = |low: u64, high: u64| {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_set_epi64x(high.cast_signed(), low.cast_signed()) }
    };
    let target = core::ptr::from_mut(line).cast::<__m128i>();
    // SAFETY: SSE2 is part of x86-64; a `Line` holds four aligned vectors, and `&mut` makes it ours.
    unsafe {
        _mm_stream_si128(target, vector(a, b));
        _mm_stream_si128(target.add(1), vector(c, d));
        _mm_stream_si128(target.add(2), vector(e, f));
        _mm_stream_si128(target.add(3), vector(g, h));
    }
}

/// Makes all streamed lines visible.
pub fn streams_done() {
    // SAFETY: SFENCE is part of SSE, which is part of x86-64.
    unsafe { _mm_sfence() };
}
