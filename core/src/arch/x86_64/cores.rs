//! The choice among the routines of `asm/x86_64/cores.s`.
//!
//! # Safety
//!
//! The routines access aligned words of eight bytes with instructions that x86-64 executes
//! atomically (Intel SDM vol. 3, 9.1.1), so there is no data race with an access to an
//! [`AtomicU64`](core::sync::atomic::AtomicU64).

use crate::arch::{Exchanges, Routine, routine};
use core::arch::x86_64::__cpuid;

/// The instructions for atomic operations: those with a lock prefix, which every x86-64 processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomics(());

impl Atomics {
    /// The instructions that every processor has.
    pub const BASELINE: Atomics = Atomics(());

    /// Returns the best instructions of a processor with these `capabilities` (AT_HWCAP of the auxiliary vector).
    pub const fn detect(_capabilities: u64) -> Atomics {
        Self::BASELINE
    }

    /// Returns the word for results.
    pub const fn name(self) -> &'static str {
        "locked"
    }
}

/// Returns the exchange routines with these instructions.
#[inline(always)]
pub const fn exchanges(_atomics: Atomics) -> &'static Exchanges {
    static LOCKED: Exchanges = Exchanges::with(
        [routine::lb_cores_cas_first, routine::lb_cores_cas_second],
        [routine::lb_cores_read_cas_first, routine::lb_cores_read_cas_second],
    );
    &LOCKED
}

/// Returns the walk that takes exclusive ownership of each node's line, by a locked addition of zero.
#[inline(always)]
pub const fn own_walk(_atomics: Atomics) -> Routine {
    routine::lb_cores_own
}

/// Returns whether the processor has CLFLUSH (Intel SDM vol. 2, CPUID leaf 1, EDX bit 19).
pub(crate) fn flushes() -> bool {
    __cpuid(1).edx & 1 << 19 != 0
}
