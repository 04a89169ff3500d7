//! The process's own waiting: the wall-clock time without the time in which the process was ready and had no CPU.
//!
//! A busy host changes only the time without a CPU, in which no process could end.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// The promised maximum from a signal to the end.
pub const LIMIT: Duration = Duration::from_millis(200);
/// Maximum wall-clock time until the end. A process that has not ended by then never will.
const PATIENCE: Duration = Duration::from_secs(20);

/// Returns the time in which the first thread of a process was ready and had no CPU; the process has not been
/// waited for.
pub fn waited(process: u32) -> Duration {
    let text = std::fs::read_to_string(format!("/proc/{process}/schedstat")).unwrap_or_default();
    // Without these figures of the kernel, all waiting counts.
    let ns = text.split_whitespace().nth(1).and_then(|word| word.parse().ok());
    Duration::from_nanos(ns.unwrap_or(0))
}

/// Sends a signal to a process that has not been waited for.
pub fn send(child: &Child, signal: i32) {
    // SAFETY: takes numbers; the process has not been waited for, so its number is still valid.
    assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
}

/// Returns true if a process has ended; it still has to be waited for.
pub fn is_over(process: u32) -> bool {
    // SAFETY: a record of zero bits is one.
    let mut found: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let how = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the kernel writes one record, and leaves the process to be waited for.
    assert_eq!(unsafe { libc::waitid(libc::P_PID, process, &raw mut found, how) }, 0);
    // SAFETY: written by waitid, or zero as before.
    unsafe { found.si_pid() != 0 }
}

/// Waits for the end of a process that got a signal at `begun`; returns its status and its own waiting.
/// Returns `None` if it does not end; it is then killed.
pub fn ended(child: &mut Child, begun: Instant, before: Duration) -> Option<(ExitStatus, Duration)> {
    while !is_over(child.id()) {
        if begun.elapsed() > PATIENCE {
            // This fails only if the process has already ended.
            let _ = child.kill();
            let status = child.wait().expect("a child");
            return Some((status, PATIENCE)).filter(|(status, _)| status.signal() != Some(libc::SIGKILL));
        }
        std::thread::sleep(Duration::from_micros(500));
    }
    let wall = begun.elapsed();
    let own = wall.saturating_sub(waited(child.id()).saturating_sub(before));
    Some((child.wait().expect("a child"), own))
}
