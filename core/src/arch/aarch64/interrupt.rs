//! Interrupts of this thread, which leave no trace that a program can read.
//!
//! The return from an exception restores all registers of a program. It also clears the exclusive monitor, but so do
//! evictions, and a chase evicts lines all the time: a cleared monitor does not show an interrupt.

/// Does nothing, since no mark shows an interrupt.
#[inline(always)]
pub fn set_interrupt_mark() {}

/// Returns true.
#[inline(always)]
pub fn interrupt_mark_holds() -> bool {
    true
}
