//! The routines of `asm/x86_64/cores.s`, by name, and the flush of lines.
//!
//! # Safety
//!
//! The routines follow the System V calling convention, and their source lists the registers that
//! they destroy. They access aligned words of eight bytes with instructions that x86-64 executes
//! atomically (Intel SDM vol. 3, 9.1.1), so there is no data race with an access to an
//! [`AtomicU64`]. [`Routine`] and [`ExchangeRoutine`](crate::arch::ExchangeRoutine) state what a
//! caller must guarantee. CLFLUSH is executed only through values that exist only if CPUID reported
//! the instruction.

use crate::arch::{Delays, Exchanges, Routine, SharedLine};
use core::arch::x86_64::__cpuid;
use core::sync::atomic::{AtomicU32, AtomicU64};

routines! {
    (
        mine: *const AtomicU64, theirs: *const AtomicU64, count: usize, stop: *const AtomicU32, polls: usize,
        delays: *mut Delays,
    ) -> usize:
    lb_cores_cas_first lb_cores_cas_second lb_cores_read_cas_first lb_cores_read_cas_second
    lb_cores_flag_first lb_cores_flag_second lb_cores_message_first lb_cores_message_second
}

routines! {
    (base: *const u8, cursor: usize, hops: usize, length: usize) -> usize:
    lb_cores_read lb_cores_own lb_cores_store
}

unsafe extern "C" {
    fn lb_cores_flush(first: *const SharedLine, lines: usize);
}

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
    &EXCHANGES
}

/// Returns the walk that takes exclusive ownership of each node's line, by a locked addition of zero.
#[inline(always)]
pub const fn own_walk(_atomics: Atomics) -> Routine {
    lb_cores_own
}

static EXCHANGES: Exchanges = Exchanges {
    cas: [lb_cores_cas_first, lb_cores_cas_second],
    read_cas: [lb_cores_read_cas_first, lb_cores_read_cas_second],
    flag: [lb_cores_flag_first, lb_cores_flag_second],
    message: [lb_cores_message_first, lb_cores_message_second],
};

/// Loads each node of a chain of addresses.
pub const READ_WALK: Routine = lb_cores_read;
/// Loads the word of each node and stores it back.
pub const STORE_WALK: Routine = lb_cores_store;

/// Proof that CLFLUSH may be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flusher(());

impl Flusher {
    /// Returns the proof if the processor has the instruction (Intel SDM vol. 2, CPUID leaf 1, EDX bit 19).
    pub fn detect() -> Option<Flusher> {
        (__cpuid(1).edx & 1 << 19 != 0).then_some(Flusher(()))
    }

    /// Flushes `lines` from the caches of all cores, and waits until this is complete.
    pub fn flush(self, lines: &[SharedLine]) {
        // SAFETY: `self` proves that the instruction is there; the routine changes no byte of the lines' memory.
        unsafe { lb_cores_flush(lines.as_ptr(), lines.len()) }
    }
}
