//! Vector arithmetic for a Weyl cycle: 32 numbers at a time.
//!
//! The arithmetic is that of `chain::weyl`, for numbers of at most 32 bits; the tests compare
//! both. It is written in intrinsics, so that the speed of writing a chain does not depend on how a compiler that
//! optimises for size translates loops.
//!
//! # Safety
//!
//! NEON is part of every processor with this instruction set. Vectors are loaded and stored through references to
//! arrays of their size.

use core::arch::aarch64::{
    int32x4_t, uint32x4_t, vaddq_u32, vaddvq_u32, vandq_u32, vbslq_u32, vcleq_u32, vdupq_n_s32, vdupq_n_u32,
    veorq_u32, vget_low_u32, vld1q_u32, vminvq_u32, vmovl_high_u32, vmovl_u32, vmulq_u32, vshlq_u32,
    vst1q_u64,
};

pub use crate::arch::data::Cycle;

/// Number of values that are computed in lockstep: eight vectors of four, since the multiplications
/// of one vector depend on each other.
pub const LANES: usize = 32;

type Vectors = [uint32x4_t; 8];

/// Evaluates the expression for each of the eight vectors. A loop that is not unrolled would keep
/// the vectors in memory.
macro_rules! each {
    ($($lane:ident in $lanes:expr),+ => $value:expr) => {
        [each!(@ 0 $($lane in $lanes),+ => $value), each!(@ 1 $($lane in $lanes),+ => $value),
         each!(@ 2 $($lane in $lanes),+ => $value), each!(@ 3 $($lane in $lanes),+ => $value),
         each!(@ 4 $($lane in $lanes),+ => $value), each!(@ 5 $($lane in $lanes),+ => $value),
         each!(@ 6 $($lane in $lanes),+ => $value), each!(@ 7 $($lane in $lanes),+ => $value)]
    };
    (@ $place:literal $($lane:ident in $lanes:expr),+ => $value:expr) => {{
        $(let $lane = $lanes[$place];)+
        $value
    }};
}

/// Combines the eight vectors into one.
macro_rules! all_of {
    ($combine:ident, $vectors:expr) => {{
        let [a, b, c, d, e, f, g, h] = $vectors;
        $combine($combine($combine(a, b), $combine(c, d)), $combine($combine(e, f), $combine(g, h)))
    }};
}

/// The vector arithmetic, which every processor has.
#[derive(Clone, Copy, Debug)]
pub struct Lanes(());

impl Lanes {
    /// Returns the vector arithmetic.
    pub fn detect() -> Option<Lanes> {
        Some(Lanes(()))
    }

    /// Writes the successors of the nodes `first`, `first + 1`, … to `successors`.
    ///
    /// A number that is not a node has no successor: an arbitrary node is written for it.
    pub fn successors(self, cycle: &Cycle, first: u32, successors: &mut [u64; LANES]) {
        // SAFETY: every processor has NEON.
        unsafe { write_successors(cycle, first, successors) }
    }

    /// Follows the cycle from `time` in groups of [`LANES`] steps, while a group cannot exceed the
    /// `hops` hops that are left. Returns the time that is reached, and the number of hops that
    /// are left.
    pub fn advance(self, cycle: &Cycle, time: u32, hops: u64) -> (u32, u64) {
        // SAFETY: every processor has NEON.
        unsafe { count_hops(cycle, time, hops) }
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn all(number: u32) -> uint32x4_t {
    vdupq_n_u32(number)
}

/// Returns `first`, `first + 1`, … in all lanes.
#[inline]
#[target_feature(enable = "neon")]
fn ascending(first: u32) -> Vectors {
    const ORDER: [u32; 4] = [0, 1, 2, 3];
    // SAFETY: the array has the size of a vector.
    let order = vaddq_u32(all(first), unsafe { vld1q_u32(ORDER.as_ptr()) });
    each!(start in [0, 4, 8, 12, 16, 20, 24, 28] => vaddq_u32(order, all(start)))
}

/// Computes the xor-shift; a shift to the left by a negative number is a shift to the right.
#[inline]
#[target_feature(enable = "neon")]
fn fold(x: uint32x4_t, shift: int32x4_t) -> uint32x4_t {
    veorq_u32(x, vshlq_u32(x, shift))
}

/// Computes `G` of each lane if given the multipliers, and `G⁻¹` if given the inverses. It is a macro, since a
/// compiler that optimises for size would not inline a function, and then the vectors would go through memory.
macro_rules! mix {
    ($cycle:ident.$multipliers:ident, $lanes:expr) => {{
        let (mask, shift) = (all($cycle.mask), vdupq_n_s32(-$cycle.shift.cast_signed()));
        let mut lanes = $lanes;
        for &multiplier in &$cycle.$multipliers {
            let multiplier = all(multiplier);
            lanes = each!(x in lanes => vandq_u32(vmulq_u32(fold(x, shift), multiplier), mask));
        }
        each!(x in lanes => fold(x, shift))
    }};
}

/// Returns the successors of the nodes from `first` on.
///
/// All lanes take steps until every lane has met a node; a lane that met a node earlier keeps it.
/// If half of the numbers are nodes, this takes 6.3 steps on average instead of 2, and is still
/// cheaper than filling finished lanes with new numbers.
#[target_feature(enable = "neon")]
fn successors_from(cycle: &Cycle, first: u32) -> Vectors {
    let (mask, step, last) = (all(cycle.mask), all(cycle.step), all(cycle.last));
    let mut times = mix!(cycle.inverses, ascending(first));
    let mut nodes = times;
    let mut found = [all(0); 8];
    loop {
        times = each!(time in times => vandq_u32(vaddq_u32(time, step), mask));
        let met = mix!(cycle.multipliers, times);
        nodes = each!(node in nodes, other in met, keep in found => vbslq_u32(keep, node, other));
        found = each!(node in nodes => vcleq_u32(node, last));
        if vminvq_u32(all_of!(vandq_u32, found)) == u32::MAX {
            return nodes;
        }
    }
}

/// Widens the numbers of all vectors to 64 bits and writes them.
#[inline]
#[target_feature(enable = "neon")]
fn store(lanes: Vectors, numbers: &mut [u64; LANES]) {
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

#[target_feature(enable = "neon")]
fn write_successors(cycle: &Cycle, first: u32, successors: &mut [u64; LANES]) {
    store(successors_from(cycle, first), successors);
}

/// Counts hops as [`Lanes::advance`] does.
#[target_feature(enable = "neon")]
fn count_hops(cycle: &Cycle, time: u32, hops: u64) -> (u32, u64) {
    let group = cycle.step.wrapping_mul(LANES as u32);
    let (mask, step, last, stride) = (all(cycle.mask), all(cycle.step), all(cycle.last), all(group));
    let (mut time, mut left) = (time, hops);
    let start = all(time);
    let mut times = each!(place in ascending(1) => vaddq_u32(vmulq_u32(place, step), start));
    while left >= LANES as u64 {
        let numbers = mix!(cycle.multipliers, each!(time in times => vandq_u32(time, mask)));
        // A comparison that holds is all ones, which is -1.
        let found = all_of!(vaddq_u32, each!(x in numbers => vcleq_u32(x, last)));
        left -= u64::from(vaddvq_u32(found).wrapping_neg());
        times = each!(time in times => vaddq_u32(time, stride));
        time = time.wrapping_add(group);
    }
    (time & cycle.mask, left)
}
