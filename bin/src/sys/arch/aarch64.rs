//! System calls, the start of a thread and an undefined instruction on aarch64.
//!
//! # Safety
//!
//! A system call can do anything to the process, so `syscall6` and `clone_thread` are unsafe, and
//! each caller states what its arguments may touch.

use core::arch::{asm, global_asm};
use core::ffi::c_void;
use core::sync::atomic::AtomicU32;

use super::Routine;

global_asm!(include_str!("../../../../asm/aarch64/thread.s"), options(raw));

unsafe extern "C" {
    fn lb_thread_clone(flags: usize, stack: *mut c_void, tid: *const AtomicU32, routine: Routine) -> isize;
}

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
pub(in crate::sys) unsafe fn syscall6(number: u32, [a, b, c, d, e, f]: [usize; 6]) -> isize {
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

/// Starts a thread that runs `routine(stack)`, and returns its number or a negated error number.
///
/// # Safety
/// `stack` must be a multiple of 16, with enough memory below it, which only the thread uses until it has ended; `tid`
/// must be valid for the same time; `routine` must accept `stack` as its argument; and `flags` must make a thread
/// without thread-local storage.
#[inline(always)]
pub(in crate::sys) unsafe fn clone_thread(
    flags: u32,
    stack: *mut c_void,
    tid: *const AtomicU32,
    routine: Routine,
) -> isize {
    // SAFETY: the caller promises all of this; the thread never returns into code of this one.
    unsafe { lb_thread_clone(flags as usize, stack, tid, routine) }
}

/// Executes an undefined instruction: its signal ends every thread.
#[inline(always)]
pub(in crate::sys) fn undefined() -> ! {
    // SAFETY: the instruction is defined to raise an exception and does nothing else.
    unsafe { asm!("udf #0", options(noreturn)) }
}

/// Assembles the memory functions that compiled code calls by name.
#[doc(hidden)]
#[macro_export]
macro_rules! assemble_memory_functions {
    () => {
        core::arch::global_asm!(
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../asm/aarch64/mem.s")),
            options(raw)
        );
    };
}

/// Assembles the entry of the process, which calls `lb_start`.
///
/// A macro, because the library must not define it: programs of the host that link the library have their own entry.
#[doc(hidden)]
#[macro_export]
macro_rules! assemble_start {
    () => {
        core::arch::global_asm!(
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../asm/aarch64/start.s")),
            options(raw)
        );
    };
}
