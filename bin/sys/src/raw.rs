//! The system calls that rustix does not have, by their number.
//!
//! The module separates results from errors and does not interpret any call; the callers in this directory use numbers
//! from linux-raw-sys and wrap the results.
//!
//! # Safety
//!
//! A system call can do anything to the process, so `syscall6` is unsafe and
//! each caller states what its arguments may touch.

use super::arch;
use super::errno::Errno;
use core::sync::atomic::{AtomicUsize, Ordering};
use linux_raw_sys::general::{__NR_exit, __NR_exit_group, __NR_getpid};

/// Number of the process's threads other than the first; each counts from before its start until it has ended.
pub(super) static OTHER_THREADS: AtomicUsize = AtomicUsize::new(0);

/// Makes the system call `number` with six arguments; calls that take fewer ignore the rest.
///
/// # Errors
/// The negated return value, if the kernel returned one of -4095..=-1.
///
/// # Safety
/// Every argument that the kernel will use as an address must be valid for what
/// that call reads or writes there, and the call itself must leave the memory
/// that this program's references describe mapped and of their type.
pub(super) unsafe fn syscall6(number: u32, arguments: [usize; 6]) -> Result<usize, Errno> {
    // SAFETY: the caller promises all of this.
    checked(unsafe { arch::syscall6(number, arguments) })
}

/// Separates a result from a negated error.
pub(super) fn checked(result: isize) -> Result<usize, Errno> {
    match result {
        -4095..=-1 => Err(Errno::new(-result as i32)),
        _ => Ok(result as usize),
    }
}

/// Returns the number of this process; 0, which no process has, if the call is forbidden.
pub fn process_id() -> u32 {
    // SAFETY: takes no argument.
    unsafe { syscall6(__NR_getpid, [0; 6]) }.unwrap_or(0) as u32
}

/// Ends the process, with all its threads, with the exit status `status & 0xff`; if a seccomp filter forbids that, ends
/// it by the signal of an undefined instruction.
pub fn exit(status: i32) -> ! {
    let ways = [__NR_exit_group, __NR_exit];
    // The second call ends one thread only: with other threads, the process would continue without an explanation.
    // Relaxed: a thread sees itself counted (`thread::Crew::start`).
    let alone = OTHER_THREADS.load(Ordering::Relaxed) == 0;
    for &number in ways.iter().take(if alone { 2 } else { 1 }) {
        // SAFETY: neither call takes an address. If the calls are allowed, they do not return.
        let _ = unsafe { syscall6(number, [status as usize, 0, 0, 0, 0, 0]) };
    }
    arch::undefined()
}

#[cfg(test)]
mod tests {
    use super::*;
    use linux_raw_sys::general::__NR_close;

    // The executable's memory functions replace the host's in this test program, so that every test uses them; here
    // they are compared with Rust's.
    assemble!("../../asm", "mem.s");

    unsafe extern "C" {
        fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8;
        fn memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8;
        fn memset(to: *mut u8, value: i32, count: usize) -> *mut u8;
        fn memcmp(left: *const u8, right: *const u8, count: usize) -> i32;
        fn bcmp(left: *const u8, right: *const u8, count: usize) -> i32;
        fn strlen(text: *const u8) -> usize;
    }

    /// Returns 256 bytes that are all different.
    fn ramp() -> [u8; 256] {
        core::array::from_fn(|index| index as u8)
    }

    #[test]
    fn copies_of_every_length_and_overlap_write_only_their_target() {
        for count in 0..80 {
            for from in 0..36 {
                for to in 0..36 {
                    let (original, mut bytes) = (ramp(), ramp());
                    let start = bytes.as_mut_ptr();
                    let disjoint = from + count <= to || to + count <= from;
                    let copy = if disjoint && (from + to) % 2 == 0 { memcpy } else { memmove };
                    // SAFETY: all indices stay below 116 of 256; memcpy gets ranges that do not overlap.
                    let result = unsafe { copy(start.add(to), start.add(from), count) };
                    assert_eq!(result as usize - start as usize, to);
                    for (index, &byte) in bytes.iter().enumerate() {
                        let source =
                            if (to..to + count).contains(&index) { index - to + from } else { index };
                        assert_eq!(byte, original[source], "{count} bytes from {from} to {to}, at {index}");
                    }
                }
            }
        }
    }

    #[test]
    fn fills_of_every_length_write_only_their_target() {
        for count in 0..150 {
            for to in 0..20 {
                let mut bytes = ramp();
                // SAFETY: `to + count` stays below 256.
                let result = unsafe { memset(bytes.as_mut_ptr().add(to), 0x1A7, count) };
                assert_eq!(result as usize - bytes.as_ptr() as usize, to);
                for (index, &byte) in bytes.iter().enumerate() {
                    let inside = (to..to + count).contains(&index);
                    assert_eq!(byte, if inside { 0xA7 } else { index as u8 }, "{count} at {to}");
                }
            }
        }
    }

    #[test]
    fn comparisons_order_by_the_first_byte_that_differs() {
        for count in 0..40 {
            let left = ramp();
            // SAFETY: both ranges are 256 bytes long.
            assert_eq!(unsafe { memcmp(left.as_ptr(), ramp().as_ptr(), count) }, 0);
            for different in 0..40 {
                let mut right = ramp();
                right[different] = 0xF0;
                right[different + 1] = 0;
                let (left, right) = (left.as_ptr(), right.as_ptr());
                // SAFETY: both ranges are 256 bytes long.
                unsafe {
                    assert_eq!(memcmp(left, right, count) < 0, different < count);
                    assert_eq!(memcmp(right, left, count) > 0, different < count);
                    assert_eq!(bcmp(left, right, count) != 0, different < count);
                }
            }
        }
        for length in 0..30 {
            let mut text = [b'x'; 40];
            text[length] = 0;
            // SAFETY: there is a NUL inside the array.
            assert_eq!(unsafe { strlen(text.as_ptr()) }, length);
        }
    }

    #[test]
    fn results_and_errors_are_distinguished() {
        // SAFETY: getpid takes no argument.
        let pid = unsafe { syscall6(__NR_getpid, [0; 6]) };
        assert_eq!(pid, Ok(std::process::id() as usize));
        // SAFETY: closing a descriptor that cannot exist touches nothing.
        let closed = unsafe { syscall6(__NR_close, [usize::MAX, 0, 0, 0, 0, 0]) };
        assert_eq!(closed, Err(Errno::EBADF));
    }
}
