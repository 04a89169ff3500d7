//! The register that names the maker and the part of a core.
//!
//! # Safety
//!
//! The register is read only if the kernel reports that it emulates the read.

use core::arch::asm;

/// Returns MIDR_EL1 of the CPU that executes the call, if the kernel lets programs read it, according to `capabilities`
/// (AT_HWCAP of the auxiliary vector).
///
/// # References
///
/// Linux, Documentation/arch/arm64/cpu-feature-registers.rst: a kernel with `HWCAP_CPUID` emulates the read.
pub fn identification(capabilities: u64) -> Option<u32> {
    const HWCAP_CPUID: u64 = 1 << 11;
    (capabilities & HWCAP_CPUID != 0).then(|| {
        let register: u64;
        // SAFETY: the kernel promises to emulate the instruction, which writes nothing but its operand.
        unsafe { asm!("mrs {}, midr_el1", out(reg) register, options(nomem, nostack, preserves_flags)) };
        register as u32
    })
}

#[cfg(test)]
mod tests {
    use super::identification;

    #[test]
    fn it_is_read_only_where_the_kernel_allows_it() {
        assert_eq!(identification(0), None);
        assert_eq!(identification(!(1 << 11)), None);
        // Where the tests run, it is allowed. A revision of 0 and a part of 0 at once belong to no core.
        let register = identification(1 << 11).expect("a register that may be read");
        assert_ne!(register, 0);
    }
}
