//! The auxiliary vector, in which the kernel describes the machine to a new process.
//!
//! It needs no `/proc`. The start-up code passes it before anything else runs.
//!
//! # Safety
//!
//! [`keep`] follows the kernel's vector, and states what its caller must guarantee.

use core::sync::atomic::{AtomicU64, Ordering};

/// `AT_NULL`, the type of the last entry.
const END: usize = 0;
/// `AT_HWCAP`.
const HARDWARE_CAPABILITIES: usize = 16;

/// The capabilities; 0 if the vector was not passed, as in tests. It is written before other threads exist, and orders
/// nothing.
static CAPABILITIES: AtomicU64 = AtomicU64::new(0);

/// Keeps what the program needs of the vector.
///
/// # Safety
/// `vector` must point at pairs of words, a type and its value, and the type of the last pair must be `AT_NULL`.
///
/// # References
/// getauxval(3); Linux, `include/uapi/linux/auxvec.h`.
pub unsafe fn keep(mut vector: *const [usize; 2]) {
    loop {
        // SAFETY: `vector` starts at the first pair and only moves past pairs that are not the last.
        let [kind, value] = unsafe { vector.read() };
        match kind {
            END => return,
            HARDWARE_CAPABILITIES => CAPABILITIES.store(value as u64, Ordering::Relaxed),
            _ => {}
        }
        // SAFETY: this was not the last pair.
        vector = unsafe { vector.add(1) };
    }
}

/// Returns the capabilities of the processor in the kernel's words for this instruction set (`AT_HWCAP`).
#[must_use]
pub fn hardware_capabilities() -> u64 {
    CAPABILITIES.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_found_among_other_entries() {
        let vector =
            [[6, 4096], [HARDWARE_CAPABILITIES, 0x1ff], [9, 0x40_0000], [END, 0], [HARDWARE_CAPABILITIES, 1]];
        // SAFETY: there is an end.
        unsafe { keep(vector.as_ptr()) };
        assert_eq!(hardware_capabilities(), 0x1ff);
    }
}
