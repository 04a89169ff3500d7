//! The CPU time of processes.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::Duration;

/// Waits for a process: returns its status, and the CPU time of it and of all processes that it waited for.
///
/// # Errors
///
/// The error of wait4(2).
pub fn wait(child: &Child) -> io::Result<(ExitStatus, Duration)> {
    Ok(wait4(child, 0)?.expect("an end: this wait has no limit"))
}

/// Returns the same as [`wait`] if the process has ended.
///
/// # Errors
///
/// The error of wait4(2).
pub fn ended(child: &Child) -> io::Result<Option<(ExitStatus, Duration)>> {
    wait4(child, libc::WNOHANG)
}

fn wait4(child: &Child, options: i32) -> io::Result<Option<(ExitStatus, Duration)>> {
    let mut status = 0;
    // SAFETY: a record of zero bits is valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes a number and a record of this frame.
    match unsafe { libc::wait4(child.id() as i32, &raw mut status, options, &raw mut usage) } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        _ => Ok(Some((ExitStatus::from_raw(status), time(&usage)))),
    }
}

/// Returns the CPU time of this process and of the processes that it has waited for.
pub fn own() -> Duration {
    [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN]
        .iter()
        .map(|&who| {
            // SAFETY: a record of zero bits is valid.
            let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
            // SAFETY: the kernel writes one record.
            unsafe { libc::getrusage(who, &raw mut usage) };
            time(&usage)
        })
        .sum()
}

/// Returns the time in programs and in the kernel.
fn time(usage: &libc::rusage) -> Duration {
    let of = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
    of(usage.ru_utime) + of(usage.ru_stime)
}
