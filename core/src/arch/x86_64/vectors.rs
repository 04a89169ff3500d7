//! Vectors of AVX2: 32 bytes for successors, 16 for counting hops.
//!
//! # Safety
//!
//! [`Lanes`](crate::arch::lanes::Lanes) calls the functions compiled for AVX2 only if [`are_present`] returned true: if
//! CPUID and XCR0 report that these instructions may be executed.

use core::arch::x86_64::{
    __cpuid, __cpuid_count, __m128i, __m256i, _mm_add_epi32, _mm_and_si128, _mm_cmpeq_epi32, _mm_max_epu32,
    _mm_movemask_epi8, _mm_mullo_epi32, _mm_packs_epi16, _mm_packs_epi32, _mm_set1_epi32, _mm_setr_epi32,
    _mm_srlv_epi32, _mm_xor_si128, _mm256_blendv_epi8, _mm256_castsi256_si128, _mm256_cmpeq_epi32,
    _mm256_cvtepu32_epi64, _mm256_extracti128_si256, _mm256_max_epu32, _mm256_movemask_epi8,
    _mm256_packs_epi16, _mm256_packs_epi32, _mm256_set1_epi32, _mm256_setr_epi32, _mm256_srlv_epi32,
    _mm256_storeu_si256, _mm256_xor_si256, _xgetbv,
};
pub(crate) use core::arch::x86_64::{
    _mm256_add_epi32 as add, _mm256_and_si256 as and, _mm256_mullo_epi32 as multiply,
};
use core::sync::atomic::{AtomicU8, Ordering};

use crate::arch::data::{Cycle, LANES};

/// Number of values that are tested in lockstep to count hops.
const HOP_LANES: usize = 16;

/// Evaluates the expression for each of the four vectors.
macro_rules! each {
    ($($lane:ident in $lanes:expr),+ => $value:expr) => {
        each_of!([0 1 2 3] [$($lane in $lanes),+] $value)
    };
}

/// Compiles functions for these vectors.
macro_rules! vectorised {
    ($($function:item)+) => {
        $(#[target_feature(enable = "avx2")] $function)+
    };
}

pub(crate) type Vectors = [__m256i; 4];

/// Returns true if AVX2 and POPCNT may be executed.
///
/// CPUID is executed once: in a virtual machine it costs an exit to the hypervisor.
pub(crate) fn are_present() -> bool {
    const UNKNOWN: u8 = u8::MAX;
    static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);
    // Relaxed: every thread gets the same answer, and nothing else depends on it.
    let mut answer = ANSWER.load(Ordering::Relaxed);
    if answer == UNKNOWN {
        answer = is_present().into();
        ANSWER.store(answer, Ordering::Relaxed);
    }
    answer == true.into()
}

/// Returns true if the processor has AVX2 and POPCNT, and the kernel saves the state of AVX.
fn is_present() -> bool {
    const POPCNT: u32 = 1 << 23;
    const AVX2: u32 = 1 << 5;
    vector_bytes() > 16 && __cpuid(1).ecx & POPCNT != 0 && extensions() & AVX2 != 0
}

/// Returns the extensions of leaf 7 (EBX), or none without that leaf.
fn extensions() -> u32 {
    if __cpuid(0).eax < 7 { 0 } else { __cpuid_count(7, 0).ebx }
}

/// Returns the bytes of the widest vectors whose loads may be executed: 16, 32 with AVX, and 64 with AVX-512, if XCR0 shows
/// that the kernel saves their state (Intel SDM vol. 1, 14.3 and 15.2).
pub fn vector_bytes() -> u32 {
    const OSXSAVE_AVX: u32 = 1 << 27 | 1 << 28;
    const AVX512F: u32 = 1 << 16;
    // Bits of XCR0 for XMM and YMM, and with the masks and the ZMM registers.
    const YMM: u64 = 0x06;
    const ZMM: u64 = 0xe6;
    #[target_feature(enable = "xsave")]
    fn saved_state() -> u64 {
        // SAFETY: register 0 exists wherever XGETBV does.
        unsafe { _xgetbv(0) }
    }
    if __cpuid(1).ecx & OSXSAVE_AVX != OSXSAVE_AVX {
        return 16;
    }
    // SAFETY: OSXSAVE shows that XGETBV exists and is enabled.
    match unsafe { saved_state() } {
        saved if saved & ZMM == ZMM && extensions() & AVX512F != 0 => 64,
        saved if saved & YMM == YMM => 32,
        _ => 16,
    }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn all(number: u32) -> __m256i {
    _mm256_set1_epi32(number.cast_signed())
}

/// Returns `first`, `first + 1`, … in all lanes.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn ascending(first: u32) -> Vectors {
    let eight = all(8);
    let a = add(all(first), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    let b = add(a, eight);
    let c = add(b, eight);
    [a, b, c, add(c, eight)]
}

#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn xor_shift(x: __m256i, shift: __m256i) -> __m256i {
    _mm256_xor_si256(x, _mm256_srlv_epi32(x, shift))
}

/// Returns the distance of [`xor_shift`].
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn shift_by(bits: u32) -> __m256i {
    all(bits)
}

/// Returns all ones in each lane that is at most `last`, and zero in the others. AVX2 compares only signed numbers, but
/// has an unsigned maximum.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn at_most(x: __m256i, last: __m256i) -> __m256i {
    _mm256_cmpeq_epi32(_mm256_max_epu32(x, last), last)
}

/// Returns the lanes of `one` where `keep` is all ones, and of `other` elsewhere.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn select(keep: __m256i, one: __m256i, other: __m256i) -> __m256i {
    _mm256_blendv_epi8(other, one, keep)
}

/// Returns true if all lanes are all ones.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn are_all([a, b, c, d]: Vectors) -> bool {
    let bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    _mm256_movemask_epi8(bytes).cast_unsigned() == u32::MAX
}

/// Widens the numbers of four vectors to 64 bits and writes them.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn store([a, b, c, d]: Vectors, numbers: &mut [u64; LANES]) {
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

/// Counts hops as [`Lanes::advance`](crate::arch::lanes::Lanes::advance) does.
///
/// The vectors have 16 bytes, and not 32 as for writing a chain: hops are counted between two batches, and cores of
/// Skylake and Cascade Lake servers lower their clock for 0.7 ms after multiplications of 32-byte vectors (Intel's
/// licence levels).
#[target_feature(enable = "avx2,popcnt")]
pub(crate) fn count_hops(cycle: &Cycle, time: u32, hops: u64) -> (u32, u64) {
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
        if are_present() {
            assert_eq!(wide_multiplications(), [false; 4]);
        }
    }
}
