//! The choice among the routines of `asm/aarch64/cores.s`.
//!
//! # Safety
//!
//! The routines access aligned words of eight bytes with instructions that are single-copy
//! atomic (Arm ARM, DDI 0487, "Requirements for single-copy atomicity"), so there is no data race
//! with an access to an [`AtomicU64`](core::sync::atomic::AtomicU64). Routines with instructions of LSE are reached
//! only through values that exist only if the kernel reported the instructions.

use crate::arch::{Delays, Exchanges, Routine, routine};
use core::sync::atomic::{AtomicU32, AtomicU64};

routines! {
    fn(base: *const u8, cursor: usize, hops: usize, length: usize) -> usize: lb_cores_lse_own;
    fn(
        mine: *const AtomicU64, theirs: *const AtomicU64, count: usize, stop: *const AtomicU32, polls: usize,
        delays: *mut Delays,
    ) -> usize:
    lb_cores_lse_cas_first lb_cores_lse_cas_second lb_cores_lse_read_cas_first lb_cores_lse_read_cas_second;
}

/// The instructions for atomic operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomics(Set);

/// A set of instructions for atomic operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    /// Pairs of a load and a store, which every processor has.
    Exclusives,
    /// FEAT_LSE: single instructions.
    Lse,
}

impl Atomics {
    /// The instructions that every processor has.
    pub const BASELINE: Atomics = Atomics(Set::Exclusives);

    /// Returns the best instructions of a processor with these `capabilities` (AT_HWCAP of the auxiliary vector).
    ///
    /// # References
    ///
    /// Linux, Documentation/arch/arm64/elf_hwcaps.rst: HWCAP_ATOMICS is bit 8.
    pub const fn detect(capabilities: u64) -> Atomics {
        const HWCAP_ATOMICS: u64 = 1 << 8;
        if capabilities & HWCAP_ATOMICS != 0 { Atomics(Set::Lse) } else { Self::BASELINE }
    }

    /// Returns the word for results.
    pub const fn name(self) -> &'static str {
        match self.0 {
            Set::Exclusives => "exclusives",
            Set::Lse => "lse",
        }
    }
}

/// Returns the exchange routines with these instructions.
pub fn exchanges(atomics: Atomics) -> &'static Exchanges {
    static EXCLUSIVES: Exchanges = Exchanges::with(
        [routine::lb_cores_cas_first, routine::lb_cores_cas_second],
        [routine::lb_cores_read_cas_first, routine::lb_cores_read_cas_second],
    );
    static LSE: Exchanges = Exchanges::with(
        [lb_cores_lse_cas_first, lb_cores_lse_cas_second],
        [lb_cores_lse_read_cas_first, lb_cores_lse_read_cas_second],
    );
    match atomics.0 {
        Set::Exclusives => &EXCLUSIVES,
        Set::Lse => &LSE,
    }
}

/// Returns the walk that takes exclusive ownership of each node's line, by an atomic addition of zero.
pub fn own_walk(atomics: Atomics) -> Routine {
    match atomics.0 {
        Set::Exclusives => routine::lb_cores_own,
        Set::Lse => lb_cores_lse_own,
    }
}

/// Returns true: Linux lets every program flush lines, by DC CIVAC.
pub(crate) fn flushes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_8_of_the_capabilities_chooses_the_instructions() {
        for (capabilities, name) in
            [(0, "exclusives"), (0xff, "exclusives"), (1 << 8, "lse"), (u64::MAX, "lse")]
        {
            assert_eq!(Atomics::detect(capabilities).name(), name, "{capabilities:#x}");
        }
        let [exclusives, lse] = [0, 1 << 8].map(|capabilities| exchanges(Atomics::detect(capabilities)));
        assert!(exclusives.cas != lse.cas && exclusives.read_cas != lse.read_cas);
        assert!(exclusives.flag == lse.flag && exclusives.message == lse.message);
    }
}
