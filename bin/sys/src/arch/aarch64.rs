//! System calls and an undefined instruction on aarch64.
//!
//! # Safety
//!
//! A system call can do anything to the process, so `syscall6` is unsafe, and each caller states what its arguments
//! may touch.

use core::arch::asm;

/// The system calls of the program that the other instruction set lacks or does not use.
pub(crate) const OWN_CALLS: &[(&str, u32)] = &[("faccessat", linux_raw_sys::general::__NR_faccessat)];

/// Makes a system call and returns its result, or a negated error number.
///
/// # Safety
/// Every argument that the kernel will use as an address must be valid for what
/// that call reads or writes there, and the call itself must leave the memory
/// that this program's references describe mapped and of their type.
///
/// # References
/// Linux, `arch/arm64/kernel/entry.S`; syscall(2), "Architecture calling conventions".
#[inline(always)]
pub(crate) unsafe fn syscall6(number: u32, [a, b, c, d, e, f]: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: `svc` changes x0 only, which is declared. The caller promises that the kernel may access its arguments'
    // memory, and the block is not marked `nomem`.
    unsafe {
        asm!(
            "svc #0",
            in("x8") number as usize,
            inlateout("x0") a => result,
            in("x1") b,
            in("x2") c,
            in("x3") d,
            in("x4") e,
            in("x5") f,
            options(nostack),
        );
    }
    result
}

/// Executes an undefined instruction: its signal ends every thread.
#[inline(always)]
pub(crate) fn undefined() -> ! {
    // SAFETY: the instruction is defined to raise an exception and does nothing else.
    unsafe { asm!("udf #0", options(noreturn)) }
}

/// Assembles a file of this instruction set, such as `"mem.s"`; the first argument is the path from the package to the folder
/// `asm`.
///
/// A macro, because the library must not define the entry and the memory functions: programs of the host that link the
/// library have their own.
#[doc(hidden)]
#[macro_export]
macro_rules! assemble {
    ($asm:literal, $file:literal) => {
        core::arch::global_asm!(
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $asm, "/aarch64/", $file)),
            options(raw)
        );
    };
}
