//! Interruption without handlers: signals are blocked, and the program checks for them between points.
//!
//! A handler could run in the middle of a timed loop. A blocked signal stays pending in the kernel until the program
//! checks for it. Only SIGSYS has a handler, which the entry of the program installs: it is the answer to a system call.
//!
//! # Safety
//!
//! Three system calls get the addresses of local masks of the kernel's size, or of a record that is larger than the
//! kernel's.

use super::errno::Errno;
use super::raw::syscall6;
use super::time;
use core::mem::size_of;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use latency_core::math;
use linux_raw_sys::general::{
    __NR_rt_sigaction, __NR_rt_sigpending, __NR_rt_sigprocmask, SIG_BLOCK, SIG_UNBLOCK, SIGCHLD, SIGCONT,
    SIGHUP, SIGINT, SIGKILL, SIGPIPE, SIGSTOP, SIGSYS, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH,
    SIGXCPU, SIGXFSZ,
};
use rustix::time::Timespec;

/// The kernel's `sigset_t`: signal 1 is the lowest bit.
type SignalSet = u64;

const fn bit(signal: u32) -> SignalSet {
    1 << (signal - 1)
}

/// The signals that ask the program to stop; the last one comes before its CPU time ends.
const STOP: SignalSet = bit(SIGINT) | bit(SIGTERM) | bit(SIGHUP) | bit(SIGXCPU);

/// All signals that end a process by default and can be blocked, except those of faults: a fault of the program itself
/// ends it even if the signal is blocked. SIGSYS has a handler.
const END: SignalSet = !(bit(SIGKILL)
    | bit(SIGSTOP)
    | bit(SIGTSTP)
    | bit(SIGTTIN)
    | bit(SIGTTOU)
    | bit(SIGCONT)
    | bit(SIGCHLD)
    | bit(SIGURG)
    | bit(SIGSYS)
    | bit(SIGWINCH)
    | bit(SIGPIPE)
    | bit(SIGXFSZ));

/// Blocks the signals that ask the program to stop, and SIGPIPE and SIGXFSZ, so that a write to a closed pipe or beyond
/// `ulimit -f` is an error and does not end the program.
///
/// A signal that the parent had ignored (as `nohup` does with SIGHUP) stays ignored.
///
/// # Errors
/// None is documented; without this call the signals end the program as usual.
pub fn block() -> Result<(), Errno> {
    hold_back(STOP)
}

/// Blocks every signal that would end the process; from now on, each of them asks the process to stop.
///
/// # Errors
/// The errors of [`block`].
pub fn hold_back_all() -> Result<(), Errno> {
    hold_back(END)
}

fn hold_back(wanted: SignalSet) -> Result<(), Errno> {
    let mut set = bit(SIGPIPE) | bit(SIGXFSZ);
    for signal in 1..=SignalSet::BITS {
        // A blocked signal stays pending even if it would be ignored.
        if wanted & bit(signal) != 0 && !is_ignored(signal)? {
            set |= bit(signal);
        }
    }
    change(SIG_BLOCK, set)
}

/// Unblocks the signals that ask the program to stop, so that they end it at once, including pending ones, until
/// [`block`]. This is for times when there is nothing to write yet, and a read from a terminal or a pipe may block for
/// ever.
///
/// # Errors
/// None is documented; without this call the signals stay pending.
pub fn unblock() -> Result<(), Errno> {
    change(SIG_UNBLOCK, STOP)
}

fn change(how: u32, set: SignalSet) -> Result<(), Errno> {
    let arguments = [how as usize, &raw const set as usize, 0, size_of::<SignalSet>(), 0, 0];
    // SAFETY: the kernel reads one mask of the size given; the old mask is not requested.
    unsafe { syscall6(__NR_rt_sigprocmask, arguments) }?;
    Ok(())
}

/// The time of the monotonic clock at which a measurement ends as if a signal had come. Its accesses are relaxed, because
/// nothing else depends on it.
static END_NS: AtomicU64 = AtomicU64::new(u64::MAX);

/// The end of the time for a measurement, which is in force until this is dropped, and then the end before.
#[derive(Debug)]
pub struct Deadline(u64);

impl Deadline {
    /// Ends the measurement at `end_ns` of the monotonic clock; never if that is infinite.
    pub fn at(end_ns: f64) -> Deadline {
        Deadline(END_NS.swap(math::whole(end_ns), Ordering::Relaxed))
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        END_NS.store(self.0, Ordering::Relaxed);
    }
}

/// Returns true if the measurement must stop: at the request of a signal, or at the [`Deadline`].
pub fn interrupted() -> bool {
    let end_ns = END_NS.load(Ordering::Relaxed);
    requested() || (end_ns < u64::MAX && time::monotonic_raw_ns() >= end_ns)
}

/// Returns true if one of the blocked signals is pending, except SIGPIPE and SIGXFSZ. Once true, it stays true.
pub fn requested() -> bool {
    let mut pending: SignalSet = 0;
    let arguments = [&raw mut pending as usize, size_of::<SignalSet>(), 0, 0, 0, 0];
    // SAFETY: the kernel writes one mask of the size given.
    let asked = unsafe { syscall6(__NR_rt_sigpending, arguments) };
    // Only blocked signals can be pending, so all signals of `END` are tested.
    asked.is_ok() && pending & END != 0
}

/// Nanoseconds between two checks for a signal; after a signal, a reader has this time to continue reading.
const LOOK_NS: i64 = 50_000_000;
/// True once the program has given up a stream: then it does not wait for other streams. Its accesses are relaxed,
/// because nothing else depends on it.
static GAVE_UP: AtomicBool = AtomicBool::new(false);

/// Returns the time to wait for a stream before the next check for a signal.
pub(super) fn pause() -> Timespec {
    Timespec { tv_sec: 0, tv_nsec: if GAVE_UP.load(Ordering::Relaxed) { 0 } else { LOOK_NS } }
}

/// Returns true if the program must not wait any longer for a stream that was not ready during a [`pause`].
pub(super) fn gives_up() -> bool {
    let found = requested();
    GAVE_UP.fetch_or(found, Ordering::Relaxed);
    found
}

/// The kernel's `struct sigaction`, the same for both instruction sets.
#[repr(C)]
#[derive(Default)]
struct Action {
    handler: usize,
    flags: u64,
    restorer: usize,
    mask: SignalSet,
}

fn is_ignored(signal: u32) -> Result<bool, Errno> {
    const SIG_IGN: usize = 1;
    let mut action = Action::default();
    let arguments = [signal as usize, 0, &raw mut action as usize, size_of::<SignalSet>(), 0, 0];
    // SAFETY: no new action is given; the kernel writes the old one, a `struct sigaction`.
    unsafe { syscall6(__NR_rt_sigaction, arguments) }?;
    Ok(action.handler == SIG_IGN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linux_raw_sys::general::{__NR_gettid, __NR_tkill};

    #[test]
    fn a_stop_signal_interrupts_and_a_broken_pipe_does_not() {
        // Masks, and signals sent by tkill, belong to one thread, and every test runs on its own thread.
        let send = |signal: u32| {
            // SAFETY: neither call takes an address; the signal is blocked.
            unsafe {
                let thread = syscall6(__NR_gettid, [0; 6]).unwrap();
                syscall6(__NR_tkill, [thread, signal as usize, 0, 0, 0, 0]).unwrap();
            }
        };
        block().unwrap();
        assert!(!interrupted());
        send(SIGPIPE);
        assert!(!interrupted());
        // If the tests run under nohup, SIGHUP is ignored, but no other signal.
        if !is_ignored(SIGTERM).unwrap() {
            send(SIGTERM);
            assert!(interrupted());
            assert!(interrupted(), "the check leaves the signal pending");
        }
    }

    #[test]
    fn the_standard_library_ignores_broken_pipes() {
        assert!(is_ignored(SIGPIPE).unwrap());
        assert!(!is_ignored(linux_raw_sys::general::SIGUSR1).unwrap());
    }
}
