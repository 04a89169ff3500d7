//! Reads of the time-stamp counter.
//!
//! # Safety
//!
//! Instructions beyond the baseline (RDTSCP) are executed only through values that exist only if CPUID reported the
//! instruction.

use core::arch::x86_64::{__cpuid, __rdtscp, _mm_lfence, _rdtsc};

use crate::arch::EndStamp;
use crate::units::Hertz;

/// The way in which the time-stamp counter is read at the end of a timed window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// `rdtscp; lfence`: waits for the loads before it, and reads the CPU's number.
    Rdtscp,
    /// `lfence; rdtsc; lfence`, for processors without RDTSCP (QEMU's qemu64).
    Lfence,
}

/// Serialised reads of the time-stamp counter.
///
/// Loads inside the window cannot start before the first read nor end after the second. The reads
/// do not wait for stores. LFENCE waits for earlier instructions on Intel, and on AMD if the kernel
/// has set MSR C001_1029\[1\], as Linux does; a self-test has to show that LFENCE waits (Intel SDM
/// vol. 2, RDTSC; AMD APM vol. 3, LFENCE).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp(End);

impl Stamp {
    /// Returns the best pair of reads that the processor has, or `None` if it has no counter.
    ///
    /// The caller must have checked that the kernel lets user code read the counter
    /// (`prctl(PR_GET_TSC)`).
    pub fn detect() -> Option<Stamp> {
        let basic = __cpuid(1);
        if basic.edx & (1 << 4) == 0 {
            return None;
        }
        let extended = __cpuid(0x8000_0000).eax;
        let rdtscp = extended >= 0x8000_0001 && __cpuid(0x8000_0001).edx & (1 << 27) != 0;
        Some(Stamp(if rdtscp { End::Rdtscp } else { End::Lfence }))
    }

    /// Opens a timed window.
    #[inline(always)]
    pub fn start(self) -> u64 {
        // SAFETY: SSE2 (LFENCE) is part of x86-64; CPUID reported the counter when `self` was made.
        unsafe {
            _mm_lfence(); // the counter is not read before earlier instructions, loads among them, are complete
            let ticks = _rdtsc();
            _mm_lfence(); // no load of the window starts before the counter was read
            ticks
        }
    }

    /// Closes a timed window.
    #[inline(always)]
    pub fn end(self) -> EndStamp {
        match self.0 {
            // SAFETY: CPUID reported RDTSCP when `self` was made.
            End::Rdtscp => unsafe {
                let mut processor = 0;
                let ticks = __rdtscp(&mut processor); // waits for earlier loads by itself
                _mm_lfence(); // nothing after the window starts before the counter was read
                EndStamp { ticks, processor }
            },
            End::Lfence => EndStamp { ticks: self.start(), processor: 0 },
        }
    }

    /// Returns the name of the closing read.
    pub const fn name(self) -> &'static str {
        match self.0 {
            End::Rdtscp => "rdtscp; lfence",
            End::Lfence => "lfence; rdtsc; lfence",
        }
    }
}

/// The name of the instruction set, as Linux prints it.
pub const ARCHITECTURE: &str = "x86_64";

/// The properties of the counter that stamps read.
#[derive(Clone, Copy, Debug)]
pub struct Counter;

impl Counter {
    /// False: the architecture does not promise one rate in all power states.
    ///
    /// Some processors have a time-stamp counter that follows the core's clock; CPUID reports it if the rate is
    /// constant.
    pub const STEADY: bool = false;

    /// Returns the rate that the counter itself declares: none, since CPUID does, whose leaves the processor's
    /// description reads.
    pub const fn declared() -> Option<Hertz> {
        None
    }
}

/// Reads the counter by a bare `rdtsc`, which waits for no other instruction.
#[inline(always)]
pub fn unserialised_ticks(_proof: Stamp) -> u64 {
    // SAFETY: CPUID reported the counter when the `Stamp` was made.
    unsafe { _rdtsc() }
}
