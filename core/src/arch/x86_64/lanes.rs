//! Vector arithmetic for a Weyl cycle: 32 numbers at a time for successors, 16 for counting hops.
//!
//! The arithmetic is that of `chain::weyl`, for numbers of at most 32 bits; the tests compare
//! both. It is written in intrinsics, so that the speed of writing a chain does not depend on how a compiler that
//! optimises for size translates loops.
//!
//! # Safety
//!
//! Only methods of [`Lanes`] call the functions compiled for AVX2, and [`Lanes::detect`] returns a
//! value only if CPUID and XCR0 report that these instructions may be executed.

use core::arch::x86_64::{
    __cpuid, __cpuid_count, __m128i, __m256i, _mm_add_epi32, _mm_and_si128, _mm_cmpeq_epi32, _mm_max_epu32,
    _mm_movemask_epi8, _mm_mullo_epi32, _mm_packs_epi16, _mm_packs_epi32, _mm_set1_epi32, _mm_setr_epi32,
    _mm_srlv_epi32, _mm_xor_si128, _mm256_add_epi32, _mm256_and_si256, _mm256_blendv_epi8,
    _mm256_castsi256_si128, _mm256_cmpeq_epi32, _mm256_cvtepu32_epi64, _mm256_extracti128_si256,
    _mm256_max_epu32, _mm256_movemask_epi8, _mm256_mullo_epi32, _mm256_packs_epi16, _mm256_packs_epi32,
    _mm256_set1_epi32, _mm256_setr_epi32, _mm256_setzero_si256, _mm256_srlv_epi32, _mm256_storeu_si256,
    _mm256_xor_si256, _xgetbv,
};
use core::sync::atomic::{AtomicU8, Ordering};

pub use crate::arch::data::Cycle;

/// Number of values that are computed in lockstep: four vectors of eight, since the multiplications
/// of one vector depend on each other.
pub const LANES: usize = 32;
/// Number of values that are tested in lockstep to count hops.
pub const HOP_LANES: usize = 16;

type Vectors = [__m256i; 4];

/// Evaluates the expression for each of the four vectors. A loop that is not unrolled would keep
/// the vectors in memory.
macro_rules! each {
    ($($lane:ident in $lanes:expr),+ => $value:expr) => {
        [each!(@ 0 $($lane in $lanes),+ => $value), each!(@ 1 $($lane in $lanes),+ => $value),
         each!(@ 2 $($lane in $lanes),+ => $value), each!(@ 3 $($lane in $lanes),+ => $value)]
    };
    (@ $place:literal $($lane:ident in $lanes:expr),+ => $value:expr) => {{
        $(let $lane = $lanes[$place];)+
        $value
    }};
}

/// Proof that AVX2 and POPCNT may be executed.
#[derive(Clone, Copy, Debug)]
pub struct Lanes(());

impl Lanes {
    /// Returns the proof if the processor has the instructions and the kernel saves their registers.
    ///
    /// CPUID is executed once: in a virtual machine it costs an exit to the hypervisor.
    pub fn detect() -> Option<Lanes> {
        const UNKNOWN: u8 = 0;
        const ABSENT: u8 = 1;
        const PRESENT: u8 = 2;
        static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);
        // Relaxed: every thread gets the same answer, and nothing else depends on it.
        let mut answer = ANSWER.load(Ordering::Relaxed);
        if answer == UNKNOWN {
            answer = if is_present() { PRESENT } else { ABSENT };
            ANSWER.store(answer, Ordering::Relaxed);
        }
        (answer == PRESENT).then_some(Lanes(()))
    }

    /// Writes the successors of the nodes `first`, `first + 1`, … to `successors`.
    ///
    /// A number that is not a node has no successor: an arbitrary node is written for it.
    pub fn successors(self, cycle: &Cycle, first: u32, successors: &mut [u64; LANES]) {
        // SAFETY: `self` proves that the processor has AVX2 and that the kernel saves its registers.
        unsafe { write_successors(cycle, first, successors) }
    }

    /// Follows the cycle from `time` in groups of [`HOP_LANES`] steps, while a group cannot exceed
    /// the `hops` hops that are left. Returns the time that is reached, and the number of hops that
    /// are left.
    pub fn advance(self, cycle: &Cycle, time: u32, hops: u64) -> (u32, u64) {
        // SAFETY: `self` proves that the processor has AVX2 and POPCNT and that the kernel saves its registers.
        unsafe { count_hops(cycle, time, hops) }
    }
}

/// Returns true if the processor has AVX2 and XCR0 shows that the kernel saves XMM and YMM state (Intel SDM vol. 1,
/// 14.7.1).
fn is_present() -> bool {
    const POPCNT_OSXSAVE_AVX: u32 = 1 << 23 | 1 << 27 | 1 << 28;
    if __cpuid(0).eax < 7 || __cpuid(1).ecx & POPCNT_OSXSAVE_AVX != POPCNT_OSXSAVE_AVX {
        return false;
    }
    #[target_feature(enable = "xsave")]
    fn saved_state() -> u64 {
        // SAFETY: register 0 exists wherever XGETBV does.
        unsafe { _xgetbv(0) }
    }
    // SAFETY: OSXSAVE shows that XGETBV exists and is enabled.
    let saved = unsafe { saved_state() };
    saved & 6 == 6 && __cpuid_count(7, 0).ebx & (1 << 5) != 0
}

#[inline]
#[target_feature(enable = "avx2")]
fn all(number: u32) -> __m256i {
    _mm256_set1_epi32(number.cast_signed())
}

/// Returns `first`, `first + 1`, … in all lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn ascending(first: u32) -> Vectors {
    let eight = all(8);
    let a = _mm256_add_epi32(all(first), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    let b = _mm256_add_epi32(a, eight);
    let c = _mm256_add_epi32(b, eight);
    [a, b, c, _mm256_add_epi32(c, eight)]
}

#[inline]
#[target_feature(enable = "avx2")]
fn xor_shift(x: __m256i, shift: __m256i) -> __m256i {
    _mm256_xor_si256(x, _mm256_srlv_epi32(x, shift))
}

/// Computes `G` of each lane if given the multipliers, and `G⁻¹` if given the inverses. It is a macro, since a
/// compiler that optimises for size would not inline a function, and then the vectors would go through memory.
macro_rules! mix {
    ($cycle:ident.$multipliers:ident, $lanes:expr) => {{
        let (mask, shift) = (all($cycle.mask), all($cycle.shift));
        let mut lanes = $lanes;
        for &multiplier in &$cycle.$multipliers {
            let multiplier = all(multiplier);
            lanes = each!(x in lanes =>
                _mm256_and_si256(_mm256_mullo_epi32(xor_shift(x, shift), multiplier), mask));
        }
        each!(x in lanes => xor_shift(x, shift))
    }};
}

/// Returns all ones in each lane that holds a node, and zero in the others. AVX2 compares only signed numbers, but has
/// an unsigned maximum.
#[inline]
#[target_feature(enable = "avx2")]
fn nodes_among(lanes: Vectors, last: __m256i) -> Vectors {
    each!(x in lanes => _mm256_cmpeq_epi32(_mm256_max_epu32(x, last), last))
}

/// Returns one bit per lane, in no useful order.
#[inline]
#[target_feature(enable = "avx2")]
fn bits([a, b, c, d]: Vectors) -> u32 {
    _mm256_movemask_epi8(_mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d)))
        .cast_unsigned()
}

/// Returns the successors of the nodes from `first` on.
///
/// All lanes take steps until every lane has met a node; a lane that met a node earlier keeps it.
/// If half of the numbers are nodes, this takes 6.3 steps on average instead of 2, and is still
/// cheaper than filling finished lanes with new numbers.
#[target_feature(enable = "avx2")]
fn successors_from(cycle: &Cycle, first: u32) -> Vectors {
    let (mask, step, last) = (all(cycle.mask), all(cycle.step), all(cycle.last));
    let mut times = mix!(cycle.inverses, ascending(first));
    let mut nodes = times;
    let none = _mm256_setzero_si256();
    let mut found = [none, none, none, none];
    loop {
        times = each!(time in times => _mm256_and_si256(_mm256_add_epi32(time, step), mask));
        let met = mix!(cycle.multipliers, times);
        nodes = each!(node in nodes, other in met, keep in found => _mm256_blendv_epi8(other, node, keep));
        found = nodes_among(nodes, last);
        if bits(found) == u32::MAX {
            return nodes;
        }
    }
}

/// Widens the numbers of four vectors to 64 bits and writes them.
#[inline]
#[target_feature(enable = "avx2")]
fn store([a, b, c, d]: Vectors, numbers: &mut [u64; LANES]) {
    let target = numbers.as_mut_ptr().cast::<__m256i>();
    let widen = |lanes: __m256i, place: usize| {
        let low = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(lanes));
        let high = _mm256_cvtepu32_epi64(_mm256_extracti128_si256::<1>(lanes));
        // SAFETY: LANES numbers are eight vectors, to which `&mut` gives exclusive access; `place` is 0, 2, 4 or 6;
        // and the stores need no alignment.
        unsafe {
            _mm256_storeu_si256(target.add(place), low);
            _mm256_storeu_si256(target.add(place + 1), high);
        }
    };
    widen(a, 0);
    widen(b, 2);
    widen(c, 4);
    widen(d, 6);
}

#[target_feature(enable = "avx2")]
fn write_successors(cycle: &Cycle, first: u32, successors: &mut [u64; LANES]) {
    store(successors_from(cycle, first), successors);
}

/// Counts hops as [`Lanes::advance`] does.
///
/// The vectors have 16 bytes, and not 32 as for writing a chain: hops are counted between two batches, and cores of
/// Skylake and Cascade Lake servers lower their clock for 0.7 ms after multiplications of 32-byte vectors (Intel's
/// licence levels).
#[target_feature(enable = "avx2,popcnt")]
fn count_hops(cycle: &Cycle, time: u32, hops: u64) -> (u32, u64) {
    // A macro for the same reason as `mix!`.
    macro_rules! all {
        ($number:expr) => {
            _mm_set1_epi32($number.cast_signed())
        };
    }
    let (mask, shift, last) = (all!(cycle.mask), all!(cycle.shift), all!(cycle.last));
    let stride = all!(cycle.step.wrapping_mul(HOP_LANES as u32));
    let (mut time, mut left) = (time, hops);
    let places: [__m128i; 4] = [
        _mm_setr_epi32(1, 2, 3, 4),
        _mm_setr_epi32(5, 6, 7, 8),
        _mm_setr_epi32(9, 10, 11, 12),
        _mm_setr_epi32(13, 14, 15, 16),
    ];
    let mut times =
        each!(place in places => _mm_add_epi32(_mm_mullo_epi32(place, all!(cycle.step)), all!(time)));
    while left >= HOP_LANES as u64 {
        let mut lanes = each!(time in times => _mm_and_si128(time, mask));
        for &multiplier in &cycle.multipliers {
            let multiplier = all!(multiplier);
            lanes = each!(x in lanes =>
                _mm_and_si128(_mm_mullo_epi32(_mm_xor_si128(x, _mm_srlv_epi32(x, shift)), multiplier), mask));
        }
        lanes = each!(x in lanes => _mm_xor_si128(x, _mm_srlv_epi32(x, shift)));
        let [a, b, c, d] = each!(x in lanes => _mm_cmpeq_epi32(_mm_max_epu32(x, last), last));
        let nodes = _mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d)));
        left -= u64::from(nodes.cast_unsigned().count_ones());
        times = each!(time in times => _mm_add_epi32(time, stride));
        time = time.wrapping_add(cycle.step.wrapping_mul(HOP_LANES as u32));
    }
    (time & cycle.mask, left)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns, for each of the first multiplications in the machine code of `count_hops`, true if its vectors have
    /// 32 bytes: VPMULLD is `C4 .. .. 40` in the map 0F38 with the prefix 66, and a bit of the third byte is the
    /// vector length.
    fn wide_multiplications() -> std::vec::Vec<bool> {
        const LONGEST: usize = 512;
        const FEWEST: usize = 4;
        let start = count_hops as unsafe fn(&Cycle, u32, u64) -> (u32, u64) as *const u8;
        // SAFETY: code can be read, and at least `LONGEST` bytes follow the start of any function in the test program.
        let code = unsafe { core::slice::from_raw_parts(start, LONGEST) };
        let multiplies =
            |bytes: &&[u8]| matches!(bytes, [0xc4, map, rest, 0x40] if map & 31 == 2 && rest & 3 == 1);
        code.windows(4).filter(multiplies).take(FEWEST).map(|bytes| bytes[2] & 4 != 0).collect()
    }

    #[test]
    fn the_proof_between_two_batches_uses_no_multiplications_that_lower_the_core_clock() {
        if Lanes::detect().is_some() {
            assert_eq!(wide_multiplications(), [false; 4]);
        }
    }
}
