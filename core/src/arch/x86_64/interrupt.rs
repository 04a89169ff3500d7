//! Detection of this thread's interrupts by a segment register that the processor clears.
//!
//! # Safety
//!
//! Only a segment register that 64-bit code does not use is read and written, and only null selectors are written.

use core::arch::asm;

/// Sets a mark that the next interrupt of this thread wipes out.
///
/// When the kernel returns from an interrupt or an exception to a program, the processor clears each segment register
/// that holds a null selector, even a null selector with privilege bits (Intel SDM vol. 2, IRET). Interrupts that a
/// hypervisor or the firmware handles do not return through the kernel, and do not clear the mark. FRED does not
/// clear it either, since it returns by another instruction.
///
/// # References
///
/// X. Zhang et al., "SegScope: Probing Fine-grained Interrupts via Architectural Footprints", HPCA 2024.
#[inline(always)]
pub fn set_interrupt_mark() {
    // SAFETY: a null selector with any privilege bits may be loaded into ES, which 64-bit code does not use.
    unsafe { asm!("mov es, {0:x}", in(reg) SELECTOR, options(nomem, nostack, preserves_flags)) };
}

/// Returns whether no interrupt has come since [`set_interrupt_mark`].
#[inline(always)]
pub fn interrupt_mark_holds() -> bool {
    let selector: u32;
    // SAFETY: reading ES changes nothing.
    unsafe { asm!("mov {0:e}, es", out(reg) selector, options(nomem, nostack, preserves_flags)) };
    selector == SELECTOR
}

/// The null selector with privilege level 3; Linux starts programs with a null selector of level 0.
const SELECTOR: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_holds_until_an_interrupt_comes() {
        // An interrupt may come at any time, but not in each of 1000 attempts.
        assert!((0..1000).any(|_| {
            set_interrupt_mark();
            interrupt_mark_holds()
        }));
    }
}
