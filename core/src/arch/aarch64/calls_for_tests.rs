//! Calls of routines with a mark in every register that they must preserve, for the tests.
//!
//! # Safety
//!
//! The call keeps the registers of its caller on the stack; the arguments are the caller's responsibility.

/// The marks of x18 to x29, then those of d8 to d15, in the order in which [`call_marked`] returns them.
pub const MARKS: [u64; 20] = {
    let mut marks = [0; 20];
    let mut place = 0;
    while place < marks.len() {
        marks[place] = 0x1800_0000 + place as u64;
        place += 1;
    }
    marks
};

/// Calls a routine with a mark in each register that the callee has to preserve, and in x18, which belongs to the
/// platform. Returns its result and the content of these registers afterwards.
///
/// # Safety
///
/// `routine` is the address of a routine, and `arguments`, six at most, are valid for it.
pub unsafe fn call_marked<const COUNT: usize>(
    routine: usize,
    arguments: [usize; COUNT],
) -> (usize, [u64; MARKS.len()]) {
    let mut registers = MARKS;
    let result;
    let argument = |number: usize| arguments.get(number).copied().unwrap_or_default();
    // SAFETY: x18 to x29 and d8 to d15 are saved on the stack and restored, the stack stays aligned, and everything
    // that a callee may destroy is declared so. The caller vouches for the arguments.
    unsafe {
        core::arch::asm!(
            "sub sp, sp, #192",
            "stp x18, x19, [sp]", "stp x20, x21, [sp, #16]", "stp x22, x23, [sp, #32]",
            "stp x24, x25, [sp, #48]", "stp x26, x27, [sp, #64]", "stp x28, x29, [sp, #80]",
            "stp d8, d9, [sp, #96]", "stp d10, d11, [sp, #112]",
            "stp d12, d13, [sp, #128]", "stp d14, d15, [sp, #144]",
            "str x7, [sp, #160]",
            "ldp x18, x19, [x7]", "ldp x20, x21, [x7, #16]", "ldp x22, x23, [x7, #32]",
            "ldp x24, x25, [x7, #48]", "ldp x26, x27, [x7, #64]", "ldp x28, x29, [x7, #80]",
            "ldp d8, d9, [x7, #96]", "ldp d10, d11, [x7, #112]",
            "ldp d12, d13, [x7, #128]", "ldp d14, d15, [x7, #144]",
            "blr x6",
            "ldr x7, [sp, #160]",
            "stp x18, x19, [x7]", "stp x20, x21, [x7, #16]", "stp x22, x23, [x7, #32]",
            "stp x24, x25, [x7, #48]", "stp x26, x27, [x7, #64]", "stp x28, x29, [x7, #80]",
            "stp d8, d9, [x7, #96]", "stp d10, d11, [x7, #112]",
            "stp d12, d13, [x7, #128]", "stp d14, d15, [x7, #144]",
            "ldp x18, x19, [sp]", "ldp x20, x21, [sp, #16]", "ldp x22, x23, [sp, #32]",
            "ldp x24, x25, [sp, #48]", "ldp x26, x27, [sp, #64]", "ldp x28, x29, [sp, #80]",
            "ldp d8, d9, [sp, #96]", "ldp d10, d11, [sp, #112]",
            "ldp d12, d13, [sp, #128]", "ldp d14, d15, [sp, #144]",
            "add sp, sp, #192",
            in("x6") routine, in("x7") registers.as_mut_ptr(),
            inlateout("x0") argument(0) => result, in("x1") argument(1), in("x2") argument(2),
            in("x3") argument(3), in("x4") argument(4), in("x5") argument(5),
            clobber_abi("C"),
        );
    }
    (result, registers)
}
