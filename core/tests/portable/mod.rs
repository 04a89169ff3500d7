//! Chases and traffic in plain Rust: the oracle that every assembly routine is tested against.
//!
//! # Safety
//!
//! The caller vouches for the chain, as it does for a [`Routine`](latency_core::arch::Routine) and the other routine types.

#![allow(dead_code)] // each test uses some

use latency_core::arch::Line;
use latency_core::kernel::Encoding;

/// The addend of one unit of work, which is added to the low half of the loaded pointer.
const WINDOW_ADDEND: u32 = 0x9e37_79b9;

/// Walks `hops` hops from `cursor`, and returns the cursor at the end.
///
/// # Safety
///
/// The conditions of [`Routine`](latency_core::arch::Routine), for nodes of this encoding.
pub unsafe fn chase(encoding: Encoding, base: *const u8, cursor: usize, hops: usize) -> usize {
    let mut cursor = cursor;
    for _ in 0..hops {
        let node = match encoding {
            Encoding::Pointer => core::ptr::with_exposed_provenance(cursor),
            _ => base.wrapping_add(cursor * encoding.unit().0 as usize),
        };
        cursor = if encoding.width().0 == 4 {
            // SAFETY: the caller vouches that the cursor stands on a node, which holds the place of another.
            unsafe { node.cast::<u32>().read_volatile() as usize }
        } else {
            // SAFETY: the same.
            unsafe { node.cast::<usize>().read_volatile() }
        };
    }
    cursor
}

/// Walks `hops` hops from each of `cursors`, and returns the exclusive or of all pointers after `work` units of work
/// on each.
///
/// # Safety
///
/// The conditions of [`LaneRoutine`](latency_core::arch::LaneRoutine), with one lane for each cursor.
pub unsafe fn lane_chase(cursors: &mut [usize], hops: usize, work: usize) -> u64 {
    let mut digest = 0;
    for _ in 0..hops {
        for cursor in cursors.iter_mut() {
            // SAFETY: the caller vouches that each cursor stands on a node that holds the address of another.
            *cursor = unsafe { chase(Encoding::Pointer, core::ptr::null(), *cursor, 1) };
            digest ^= match work {
                0 => *cursor as u64,
                work => u64::from((*cursor as u32).wrapping_add(WINDOW_ADDEND.wrapping_mul(work as u32))),
            };
        }
    }
    digest
}

/// Returns the wrapping sum of the words at the first `loads` multiples of `stride`.
///
/// # Safety
///
/// The conditions of [`StridedRoutine`](latency_core::arch::StridedRoutine).
pub unsafe fn strided_loads(base: *const u8, stride: usize, loads: usize) -> u64 {
    let sum = |sum: u64, load: usize| {
        // SAFETY: the caller vouches for eight readable bytes at each of these places.
        sum.wrapping_add(unsafe { base.add(load * stride).cast::<u64>().read_volatile() })
    };
    (0..loads).fold(0, sum)
}

/// Adds one to the first two words of each `every`-th line, with a line count that continues from `state`, and returns
/// the new count.
pub fn stream_update(lines: &mut [Line], every: u64, state: u64) -> u64 {
    let mut state = state;
    for Line([low, high, ..]) in lines {
        state += 1;
        if state == every {
            (*low, *high) = (low.wrapping_add(1), high.wrapping_add(1));
            state = 0;
        }
    }
    state
}

/// Fills each line with the next number, starting with `state`, and returns the number after the last one.
pub fn stream_write(lines: &mut [Line], state: u64) -> u64 {
    let mut state = state;
    for line in lines {
        *line = Line([state; 8]);
        state = state.wrapping_add(1);
    }
    state
}

/// Copies each line, adds the next number, starting with `state`, to each of its words, and returns the number after
/// the last one.
pub fn stream_copy(from: &[Line], to: &mut [Line], state: u64) -> u64 {
    let mut state = state;
    for (from, to) in from.iter().zip(to) {
        *to = Line(from.0.map(|word| word.wrapping_add(state)));
        state = state.wrapping_add(1);
    }
    state
}

/// Returns the line that a random read of `field` lines loads after `state`, and the new state.
///
/// # References
///
/// D. Knuth, "The Art of Computer Programming", volume 2, 3.3.4, table 1, line 26 (MMIX).
#[must_use]
pub fn stream_random(field: usize, state: u64) -> (usize, u64) {
    let state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let line = (u128::from(state) * field as u128) >> 64;
    (line as usize, state)
}

/// Returns the line that a permuted read loads at the place `state` of a block of `field` lines, and the next place.
#[must_use]
pub fn stream_permuted(field: usize, state: u64) -> (usize, u64) {
    let half = field.ilog2().div_ceil(2);
    let mix = |x: u64| x ^ x >> half;
    let place = state.wrapping_add((state >> 40).wrapping_mul(0x2e4d));
    let x = place.wrapping_mul(0x5a95) % field as u64;
    let line = match field {
        1 => 0,
        _ => mix(mix(x).wrapping_mul(0x64e5) % field as u64),
    };
    (line as usize, state.wrapping_add(1))
}
