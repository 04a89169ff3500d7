//! Reads of the system counter.
//!
//! The registers of the reads are fixed, so that an emulator can tell them apart: x9 opens a window, x10 closes it, and
//! an unserialised read uses x11. Messages between cores use x12 (`asm/aarch64/cores.s`).
//!
//! # Safety
//!
//! CNTVCT_EL0 and CNTFRQ_EL0 are part of every processor, and Linux lets programs read them,
//! or reads them for the program.

use core::arch::asm;

use crate::arch::EndStamp;
use crate::arch::aarch64_words::END_STAMP;
use crate::units::Hertz;

/// Serialised reads of the system counter.
///
/// Loads inside the window cannot start before the first read nor end after the second. The reads
/// do not wait for stores.
///
/// # References
///
/// Arm ARM, DDI 0487: "The virtual counter" (a read may be executed early and out of order), "Instruction
/// Synchronization Barrier", and "Data Synchronization Barrier" (system registers may be read before it completes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp(());

impl Stamp {
    /// Returns the reads; every processor has the counter.
    ///
    /// The caller must have checked that the kernel lets user code read the counter
    /// (`prctl(PR_GET_TSC)`).
    pub fn detect() -> Option<Stamp> {
        Some(Stamp(()))
    }

    /// Opens a timed window.
    #[inline(always)]
    pub fn start(self) -> u64 {
        let ticks;
        // SAFETY: the barriers and the read change only x9.
        unsafe {
            asm!(
                "isb",                  // the counter is not read before earlier instructions have been executed
                "mrs x9, cntvct_el0",
                "isb",                  // no load of the window starts before the counter was read
                out("x9") ticks,
                options(nostack, preserves_flags)
            );
        }
        ticks
    }

    /// Closes a timed window.
    #[inline(always)]
    pub fn end(self) -> EndStamp {
        let ticks;
        // SAFETY: the barriers and the read change only x10.
        unsafe {
            asm!(
                "dsb nshld",            // all loads are complete, even those with a value that nothing waits for
                "isb",                  // the counter is not read before that: DSB does not delay reads of registers
                "mrs x10, cntvct_el0",
                "isb",                  // nothing after the window starts before the counter was read
                out("x10") ticks,
                options(nostack, preserves_flags)
            );
        }
        EndStamp { ticks, processor: 0 }
    }

    /// Returns the name of the closing read.
    pub const fn name(self) -> &'static str {
        END_STAMP
    }
}

/// The name of the instruction set, as Linux prints it.
pub const ARCHITECTURE: &str = "aarch64";

/// The properties of the counter that stamps read.
#[derive(Clone, Copy, Debug)]
pub struct Counter;

impl Counter {
    /// True: the architecture promises one rate in all power states, and one count for all cores.
    pub const STEADY: bool = true;

    /// Returns the rate that the firmware wrote to CNTFRQ_EL0, or `None` if that is zero.
    pub fn declared() -> Option<Hertz> {
        let frequency: u64;
        // SAFETY: the read changes only one register.
        unsafe { asm!("mrs {}, cntfrq_el0", out(reg) frequency, options(nomem, nostack, preserves_flags)) };
        (frequency != 0).then_some(Hertz(frequency))
    }
}

/// Reads the counter without a barrier, so that the read waits for no other instruction.
#[inline(always)]
pub fn unserialised_ticks(_proof: Stamp) -> u64 {
    let ticks;
    // SAFETY: the read changes only x11.
    unsafe { asm!("mrs x11, cntvct_el0", out("x11") ticks, options(nostack, preserves_flags)) };
    ticks
}
