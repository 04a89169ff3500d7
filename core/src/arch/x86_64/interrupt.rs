//! Interrupts of this thread, by a trace that the processor leaves.
//!
//! # Safety
//!
//! A segment register that 64-bit code does not use is read, and loaded with null selectors.

use core::arch::asm;

/// True: an interrupt can be told by its mark.
///
/// If it is false, the mark always holds.
pub const INTERRUPT_MARK: bool = true;

/// Sets a mark that the next interrupt of this thread wipes out.
///
/// When the kernel returns from an interrupt or an exception to a program, the
/// processor clears segment registers that hold a null selector, also one with
/// privilege bits (Intel SDM vol. 2, IRET). Interrupts of a hypervisor or of the
/// firmware do not return through the kernel, and leave the mark; so does FRED, which returns in another way.
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
#[must_use]
pub fn interrupt_mark_holds() -> bool {
    let selector: u32;
    // SAFETY: reading ES changes nothing.
    unsafe { asm!("mov {0:e}, es", out(reg) selector, options(nomem, nostack, preserves_flags)) };
    selector == SELECTOR
}

/// The null selector with privilege level 3; Linux starts programs with level 0.
const SELECTOR: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_holds_until_an_interrupt_comes() {
        // One may come at any time, but not every time.
        assert!((0..1000).any(|_| {
            set_interrupt_mark();
            interrupt_mark_holds()
        }));
    }
}
