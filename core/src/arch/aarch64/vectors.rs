//! Vectors of NEON.
//!
//! # Safety
//!
//! NEON is part of every processor with this instruction set. Vectors are loaded and stored through references to
//! arrays of their size.

use core::arch::aarch64::{
    int32x4_t, uint32x4_t, vaddvq_u32, vdupq_n_s32, veorq_u32, vget_low_u32, vld1q_u32, vminvq_u32,
    vmovl_high_u32, vmovl_u32, vshlq_u32, vst1q_u64,
};
pub(crate) use core::arch::aarch64::{
    vaddq_u32 as add, vandq_u32 as and, vbslq_u32 as select, vcleq_u32 as at_most, vdupq_n_u32 as all,
    vmulq_u32 as multiply,
};

use crate::arch::data::{Cycle, LANES};

/// Evaluates the expression for each of the eight vectors.
macro_rules! each {
    ($($lane:ident in $lanes:expr),+ => $value:expr) => {
        each_of!([0 1 2 3 4 5 6 7] [$($lane in $lanes),+] $value)
    };
}

/// Compiles functions for these vectors.
macro_rules! vectorised {
    ($($function:item)+) => {
        $(#[target_feature(enable = "neon")] $function)+
    };
}

pub(crate) type Vectors = [uint32x4_t; 8];

/// Combines the eight vectors into one.
macro_rules! all_of {
    ($combine:ident, $vectors:expr) => {{
        let [a, b, c, d, e, f, g, h] = $vectors;
        $combine($combine($combine(a, b), $combine(c, d)), $combine($combine(e, f), $combine(g, h)))
    }};
}

/// Returns true: every processor has NEON.
pub(crate) const fn are_present() -> bool {
    true
}

/// Returns `first`, `first + 1`, … in all lanes.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn ascending(first: u32) -> Vectors {
    const ORDER: [u32; 4] = [0, 1, 2, 3];
    // SAFETY: the array has the size of a vector.
    let order = add(all(first), unsafe { vld1q_u32(ORDER.as_ptr()) });
    each!(start in [0, 4, 8, 12, 16, 20, 24, 28] => add(order, all(start)))
}

/// Computes the xor-shift; a shift to the left by a negative number is a shift to the right.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn xor_shift(x: uint32x4_t, shift: int32x4_t) -> uint32x4_t {
    veorq_u32(x, vshlq_u32(x, shift))
}

/// Returns the distance of [`xor_shift`].
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn shift_by(bits: u32) -> int32x4_t {
    vdupq_n_s32(-bits.cast_signed())
}

/// Returns true if all lanes are all ones.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn are_all(found: Vectors) -> bool {
    vminvq_u32(all_of!(and, found)) == u32::MAX
}

/// Widens the numbers of all vectors to 64 bits and writes them.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn store(lanes: Vectors, numbers: &mut [u64; LANES]) {
    let (pairs, _) = numbers.as_chunks_mut::<4>();
    for (four, lanes) in pairs.iter_mut().zip(lanes) {
        let (low, high) = four.split_at_mut(2);
        // SAFETY: each half has two numbers, the size of a vector, and `&mut` gives exclusive access to it.
        unsafe {
            vst1q_u64(low.as_mut_ptr(), vmovl_u32(vget_low_u32(lanes)));
            vst1q_u64(high.as_mut_ptr(), vmovl_high_u32(lanes));
        }
    }
}

/// Counts hops as [`Lanes::advance`](crate::arch::lanes::Lanes::advance) does.
#[target_feature(enable = "neon")]
pub(crate) fn count_hops(cycle: &Cycle, time: u32, hops: u64) -> (u32, u64) {
    let group = cycle.step.wrapping_mul(LANES as u32);
    let (mask, step, last, stride) = (all(cycle.mask), all(cycle.step), all(cycle.last), all(group));
    let (mut time, mut left) = (time, hops);
    let start = all(time);
    let mut times = each!(place in ascending(1) => add(multiply(place, step), start));
    while left >= LANES as u64 {
        let numbers = mix!(cycle.multipliers, each!(time in times => and(time, mask)));
        // A comparison that holds is all ones, which is -1.
        let found = all_of!(add, each!(x in numbers => at_most(x, last)));
        left -= u64::from(vaddvq_u32(found).wrapping_neg());
        times = each!(time in times => add(time, stride));
        time = time.wrapping_add(group);
    }
    (time & cycle.mask, left)
}
