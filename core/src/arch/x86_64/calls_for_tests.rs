//! Calls of routines with a mark in every register that they must preserve, for the tests.
//!
//! # Safety
//!
//! The call keeps the registers of its caller on the stack; the arguments are the caller's responsibility.

/// The marks of the registers, in the order in which [`call_marked`] returns them.
pub const MARKS: [u64; 6] = [0x0b0b, 0x0505, 0x1212, 0x1313, 0x1414, 0x1515];

/// Calls a routine with a marker in each register that the callee has to
/// preserve, and returns its result and the content of these registers afterwards.
///
/// # Safety
///
/// `routine` is the address of a routine, and `arguments`, six at most, are valid for it.
pub unsafe fn call_marked<const COUNT: usize>(
    routine: usize,
    arguments: [usize; COUNT],
) -> (usize, [u64; MARKS.len()]) {
    let mut found = [0; MARKS.len()];
    let result;
    let argument = |number: usize| arguments.get(number).copied().unwrap_or_default();
    // SAFETY: rbx, rbp and r12 to r15 are saved on the stack and restored, the stack is aligned for the call,
    // and everything that a System V callee may destroy is declared so. The caller vouches for the arguments.
    unsafe {
        core::arch::asm!(
            "push rbx", "push rbp", "push r12", "push r13", "push r14", "push r15",
            "mov rbx, 0x0b0b", "mov rbp, 0x0505", "mov r12, 0x1212",
            "mov r13, 0x1313", "mov r14, 0x1414", "mov r15, 0x1515",
            "push r10", "mov r10, rsp", "and rsp, -16", "push r10", "push r10",
            "call r11",
            "pop rsp", "pop r10",
            "mov [r10], rbx", "mov [r10 + 8], rbp", "mov [r10 + 16], r12",
            "mov [r10 + 24], r13", "mov [r10 + 32], r14", "mov [r10 + 40], r15",
            "pop r15", "pop r14", "pop r13", "pop r12", "pop rbp", "pop rbx",
            in("r11") routine, in("r10") found.as_mut_ptr(),
            in("rdi") argument(0), in("rsi") argument(1), in("rdx") argument(2), in("rcx") argument(3),
            in("r8") argument(4), in("r9") argument(5), lateout("rax") result,
            clobber_abi("C"),
        );
    }
    (result, found)
}
