//! Interruption without handlers: signals are held back, and looked for between points.
//!
//! A handler would need a restorer in assembly and could run in the middle of a
//! timed loop. A blocked signal waits in the kernel until somebody asks.
//!
//! # Safety
//!
//! Three system calls get the addresses of local masks of the kernel's size, or of
//! a record that is larger than what the kernel writes.

use super::errno::Errno;
use super::raw::syscall6;
use core::mem::size_of;
use core::sync::atomic::{AtomicBool, Ordering};
use linux_raw_sys::general::{
    __NR_rt_sigaction, __NR_rt_sigpending, __NR_rt_sigprocmask, SIG_BLOCK, SIG_UNBLOCK, SIGCHLD, SIGCONT,
    SIGHUP, SIGINT, SIGKILL, SIGPIPE, SIGSTOP, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH, SIGXCPU,
    SIGXFSZ,
};
use rustix::time::Timespec;

/// The kernel's `sigset_t`: signal 1 is the lowest bit.
type SignalSet = u64;

const fn bit(signal: u32) -> SignalSet {
    1 << (signal - 1)
}

/// The signals that ask the program to stop; the last, when its CPU time ends.
const STOP: SignalSet = bit(SIGINT) | bit(SIGTERM) | bit(SIGHUP) | bit(SIGXCPU);

/// All that end a process by default and can be held back. Those of faults are: a fault of the program's own
/// ends it all the same.
const END: SignalSet = !(bit(SIGKILL)
    | bit(SIGSTOP)
    | bit(SIGTSTP)
    | bit(SIGTTIN)
    | bit(SIGTTOU)
    | bit(SIGCONT)
    | bit(SIGCHLD)
    | bit(SIGURG)
    | bit(SIGWINCH)
    | bit(SIGPIPE)
    | bit(SIGXFSZ));

/// Holds back the signals that ask the program to stop, and SIGPIPE and SIGXFSZ, so that a
/// write to a closed pipe or beyond `ulimit -f` is an error and not the end.
///
/// A signal that the parent had ignored (as `nohup` does with SIGHUP) stays ignored.
///
/// # Errors
/// None is documented; without this call the signals end the program as usual.
pub fn block() -> Result<(), Errno> {
    hold_back(STOP)
}

/// Holds back every signal that would end the process: each asks it to stop from now on.
///
/// # Errors
/// The errors of [`block`].
pub fn hold_back_all() -> Result<(), Errno> {
    hold_back(END)
}

fn hold_back(wanted: SignalSet) -> Result<(), Errno> {
    let mut set = bit(SIGPIPE) | bit(SIGXFSZ);
    for signal in 1..=SignalSet::BITS {
        // A blocked signal is kept even where it would be ignored.
        if wanted & bit(signal) != 0 && !is_ignored(signal)? {
            set |= bit(signal);
        }
    }
    change(SIG_BLOCK, set)
}

/// Lets the signals that ask the program to stop end it at once, as one that came before does, until [`block`]: where
/// there is nothing to write yet, and a read from a terminal or a pipe may take for ever.
///
/// # Errors
/// None is documented; without this call the signals wait.
pub fn unblock() -> Result<(), Errno> {
    change(SIG_UNBLOCK, STOP)
}

fn change(how: u32, set: SignalSet) -> Result<(), Errno> {
    let arguments = [how as usize, &raw const set as usize, 0, size_of::<SignalSet>(), 0, 0];
    // SAFETY: the kernel reads one mask of the size given; the old mask is not asked for.
    unsafe { syscall6(__NR_rt_sigprocmask, arguments) }?;
    Ok(())
}

/// Returns whether one of the signals that are held back has come, but for SIGPIPE and SIGXFSZ. Stays so.
#[must_use]
pub fn interrupted() -> bool {
    let mut pending: SignalSet = 0;
    let arguments = [&raw mut pending as usize, size_of::<SignalSet>(), 0, 0, 0, 0];
    // SAFETY: the kernel writes one mask of the size given.
    let asked = unsafe { syscall6(__NR_rt_sigpending, arguments) };
    // Of the others none waits unless it is held back.
    asked.is_ok() && pending & END != 0
}

/// The wait between two looks for a signal, in nanoseconds: a reader has as long to read on after one.
const LOOK_NS: i64 = 50_000_000;
/// True once a stream was given up: no other one is waited for.
static GAVE_UP: AtomicBool = AtomicBool::new(false);

/// Returns the time to wait for a stream before the next look for a signal.
pub(super) fn pause() -> Timespec {
    Timespec { tv_sec: 0, tv_nsec: if GAVE_UP.load(Ordering::Relaxed) { 0 } else { LOOK_NS } }
}

/// Returns whether a stream that has made the process wait for a [`pause`] is not to be waited for any longer.
pub(super) fn gives_up() -> bool {
    let found = interrupted();
    GAVE_UP.fetch_or(found, Ordering::Relaxed);
    found
}

/// The kernel's `struct sigaction` on x86-64.
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
    fn a_signal_to_stop_is_seen_and_a_broken_pipe_is_not() {
        // Masks and signals sent by tkill are a thread's own, and every test is a thread.
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
        // SIGHUP alone may be ignored where the tests run under nohup.
        if !is_ignored(SIGTERM).unwrap() {
            send(SIGTERM);
            assert!(interrupted());
            assert!(interrupted(), "asking does not take it away");
        }
    }

    #[test]
    fn the_standard_library_ignores_broken_pipes() {
        assert!(is_ignored(SIGPIPE).unwrap());
        assert!(!is_ignored(linux_raw_sys::general::SIGUSR1).unwrap());
    }
}
