//! The only code that differs by processor, and the only inline assembly of this crate.
//!
//! # Safety
//!
//! Routines and instructions are wrapped so that each unsafe call sits beside
//! the fact that makes it sound. What a routine needs of its caller, it says.

pub mod avx2;
pub mod portable;
pub mod x86_64;

pub use x86_64::*;

/// A chase loop: `(base, cursor, hops)` to the cursor after exactly that many hops.
///
/// # Safety
///
/// `base` is the start of a buffer that holds a chain in the encoding that the
/// routine follows, and `cursor` stands on one of its nodes.
pub type Routine = unsafe extern "C" fn(base: *const u8, cursor: usize, hops: usize) -> usize;

#[cfg(test)]
mod tests {
    use crate::kernel::{Encoding, KERNELS};

    /// Calls `routine` with a marker in each register that the callee has to
    /// preserve; gives its result and what the registers hold afterwards.
    fn call_marked(
        routine: super::Routine,
        base: *const u8,
        cursor: usize,
        hops: usize,
    ) -> (usize, [u64; 6]) {
        let mut found = [0u64; 6];
        let result;
        // SAFETY: rbx, rbp and r12 to r15 are saved on the stack and restored, the stack is aligned for the call,
        // and everything that a System V callee may destroy is declared so. The caller gives a chain in memory.
        unsafe {
            core::arch::asm!(
                "push rbx", "push rbp", "push r12", "push r13", "push r14", "push r15",
                "mov rbx, 0x0b0b", "mov rbp, 0x0505", "mov r12, 0x1212",
                "mov r13, 0x1313", "mov r14, 0x1414", "mov r15, 0x1515",
                "push r9", "mov r10, rsp", "and rsp, -16", "push r10", "push r10",
                "call r8",
                "pop rsp", "pop r9",
                "mov [r9], rbx", "mov [r9 + 8], rbp", "mov [r9 + 16], r12",
                "mov [r9 + 24], r13", "mov [r9 + 32], r14", "mov [r9 + 40], r15",
                "pop r15", "pop r14", "pop r13", "pop r12", "pop rbp", "pop rbx",
                in("r8") routine, in("r9") found.as_mut_ptr(),
                in("rdi") base, in("rsi") cursor, in("rdx") hops, lateout("rax") result,
                clobber_abi("C"),
            );
        }
        (result, found)
    }

    #[test]
    fn every_kernel_preserves_what_its_callee_must() {
        // Three nodes in a ring, in both encodings.
        let mut words = [0usize; 24];
        for kernel in KERNELS {
            let base = words.as_ptr().expose_provenance();
            let place = |node: usize| match kernel.encoding {
                Encoding::Pointer => base + node * 64,
                Encoding::Index => node * 8,
            };
            for node in 0..3 {
                words[node * 8] = place((node + 1) % 3);
            }
            for hops in [0, 1, 2, 7, 8, 9, 15, 16, 17, 80, 83] {
                let (ended, found) = call_marked(kernel.routine, words.as_ptr().cast(), place(0), hops);
                assert_eq!(ended, place(hops % 3), "{} after {hops} hops", kernel.name);
                assert_eq!(found, [0x0b0b, 0x0505, 0x1212, 0x1313, 0x1414, 0x1515], "{}", kernel.name);
            }
        }
    }
}
