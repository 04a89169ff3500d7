//! The instructions by which the program enters the kernel, in the form of one instruction set.
//!
//! Each folder of `asm` has a file here that defines the same names: `syscall6`, `undefined`, the calls
//! that others lack, and the macro that assembles a file of the folder.
//!
//! # Safety
//!
//! A thread shares all memory with its creator, so `clone_thread` is unsafe, and its caller states what the thread uses.

#[cfg(target_arch = "aarch64")]
#[macro_use]
mod aarch64;
#[cfg(target_arch = "x86_64")]
#[macro_use]
mod x86_64;

use core::ffi::c_void;
use core::sync::atomic::AtomicU32;

#[cfg(target_arch = "aarch64")]
pub(super) use aarch64::*;
#[cfg(target_arch = "x86_64")]
pub(super) use x86_64::*;

assemble!("../../asm", "thread.s");

/// The function that a new thread runs, with the pointer that is its stack; it must not unwind.
pub(super) type Routine = extern "C" fn(*mut c_void);

unsafe extern "C" {
    fn lb_thread_clone(flags: usize, stack: *mut c_void, tid: *const AtomicU32, routine: Routine) -> isize;
}

/// Starts a thread that runs `routine(stack)`, and returns its number or a negated error number.
///
/// # Safety
/// `stack` must be a multiple of 16, with enough memory below it, which only the thread uses until it has ended; `tid`
/// must be valid for the same time; `routine` must accept `stack` as its argument; and `flags` must make a thread
/// without thread-local storage.
#[inline(always)]
pub(super) unsafe fn clone_thread(
    flags: u32,
    stack: *mut c_void,
    tid: *const AtomicU32,
    routine: Routine,
) -> isize {
    // SAFETY: the caller promises all of this; the thread never returns into code of this one.
    unsafe { lb_thread_clone(flags as usize, stack, tid, routine) }
}
