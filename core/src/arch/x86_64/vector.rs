//! Wider vectors than the baseline has, where the processor has them.
//!
//! # Safety
//!
//! Code compiled for AVX2 runs only after CPUID and XCR0 said that processor and kernel have it.

use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use core::sync::atomic::{AtomicU8, Ordering};

/// Runs `work` compiled for AVX2 where processor and kernel have it.
///
/// For arithmetic over arrays that is inlined into `work` (`#[inline(always)]`
/// all the way): the baseline of x86-64 has no 32-bit vector multiplication.
#[inline]
pub fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    #[target_feature(enable = "avx2")]
    fn wide<R>(work: impl FnOnce() -> R) -> R {
        work()
    }
    if has_avx2() {
        // SAFETY: the processor has AVX2 and the kernel saves its registers.
        unsafe { wide(work) }
    } else {
        work()
    }
}

/// Asked once: in a virtual machine each CPUID costs an exit to the hypervisor.
fn has_avx2() -> bool {
    const UNKNOWN: u8 = 0;
    const ABSENT: u8 = 1;
    const PRESENT: u8 = 2;
    static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);
    match ANSWER.load(Ordering::Relaxed) {
        UNKNOWN => {
            let present = detect_avx2();
            ANSWER.store(if present { PRESENT } else { ABSENT }, Ordering::Relaxed);
            present
        }
        answer => answer == PRESENT,
    }
}

/// Intel SDM vol. 1, 14.7.1: AVX2, and XCR0 says that the kernel saves XMM and YMM state.
fn detect_avx2() -> bool {
    const OSXSAVE_AND_AVX: u32 = 1 << 27 | 1 << 28;
    if __cpuid(0).eax < 7 || __cpuid(1).ecx & OSXSAVE_AND_AVX != OSXSAVE_AND_AVX {
        return false;
    }
    #[target_feature(enable = "xsave")]
    fn saved_state() -> u64 {
        // SAFETY: register 0 exists wherever XGETBV does.
        unsafe { _xgetbv(0) }
    }
    // SAFETY: OSXSAVE says that XGETBV is there and enabled.
    let saved = unsafe { saved_state() };
    saved & 6 == 6 && __cpuid_count(7, 0).ebx & (1 << 5) != 0
}
