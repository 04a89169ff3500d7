//! The instructions by which the program enters the kernel, in the form of one instruction set.
//!
//! Each folder of `asm` has a file here that defines the same names: `syscall6`, `clone_thread`,
//! `undefined`, and the macros that assemble the start of the executable and its memory functions.

#[cfg(target_arch = "aarch64")]
#[macro_use]
mod aarch64;
#[cfg(target_arch = "x86_64")]
#[macro_use]
mod x86_64;

use core::ffi::c_void;

#[cfg(target_arch = "aarch64")]
pub(super) use aarch64::*;
#[cfg(target_arch = "x86_64")]
pub(super) use x86_64::*;

/// The function that a new thread runs, with the pointer that is its stack; it must not unwind.
pub(super) type Routine = extern "C" fn(*mut c_void);
