//! Tries each system call of the program in a process of its own, for `system --probe`.
//!
//! A filter may end the process at any call. This module runs before everything else, and makes no call of its own but
//! those for new processes and for its text.
//!
//! # Safety
//!
//! Arguments of all ones are neither addresses nor descriptors, so the calls that are tried access no memory. A new
//! process has a copy of all memory, and ends without a return.

use core::fmt::{self, Write};

use linux_raw_sys::general::*;

use super::arch::OWN_CALLS;
use super::arguments::Arguments;
use super::errno::Errno;
use super::raw::{exit, syscall6};

macro_rules! calls {
    ($($number:ident)*) => { &[$((stringify!($number), $number)),*] };
}

/// The system calls that every instruction set has.
const CALLS: &[(&str, u32)] = calls![
    __NR_clock_gettime __NR_clone __NR_close __NR_execve __NR_exit __NR_exit_group __NR_fchmod __NR_fchown __NR_fcntl
    __NR_fstat __NR_fsync __NR_futex __NR_get_mempolicy __NR_getcpu __NR_getpid __NR_getrusage __NR_gettid __NR_ioctl
    __NR_linkat __NR_madvise __NR_mbind __NR_mmap __NR_move_pages __NR_munmap __NR_nanosleep __NR_newfstatat
    __NR_openat __NR_perf_event_open __NR_ppoll __NR_prctl __NR_prlimit64 __NR_read __NR_readlinkat __NR_renameat
    __NR_rt_sigaction __NR_rt_sigpending __NR_rt_sigprocmask __NR_sched_getaffinity __NR_sched_setaffinity
    __NR_sched_yield __NR_set_mempolicy __NR_sysinfo __NR_uname __NR_unlinkat __NR_write
];

/// Arguments that no call accepts. A futex of an unknown operation would look like a missing call.
const fn arguments(number: u32) -> [usize; 6] {
    if number == __NR_futex { [0; 6] } else { [usize::MAX; 6] }
}

/// The standard output, without a buffer and a look at its kind.
struct BareOutput;

impl Write for BareOutput {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: the kernel reads the text, which is borrowed until the call returns.
        let written = unsafe { syscall6(__NR_write, [1, text.as_ptr() as usize, text.len(), 0, 0, 0]) };
        written.map(drop).map_err(|_| fmt::Error)
    }
}

/// The answer to a system call.
enum CallAnswer {
    Allowed,
    Fails(Errno),
    Ends(i32),
}

/// Tries the calls if the arguments ask for it, and returns the exit status: 0, 2 if one ends the process, or 4 if the
/// text cannot be written.
pub fn run(mut given: Arguments) -> Option<i32> {
    let words = [given.next(), given.next(), given.next()];
    let asked: [&[u8]; 2] = [b"system", b"--probe"];
    (words == [Some(asked[0]), Some(asked[1]), None]).then(|| probe(&mut BareOutput).unwrap_or(4))
}

fn probe(out: &mut dyn Write) -> Result<i32, fmt::Error> {
    let mut ended = 0;
    for (name, number) in OWN_CALLS.iter().chain(CALLS) {
        let name = name.strip_prefix("__NR_").unwrap_or(name);
        match tried(*number) {
            Ok(CallAnswer::Allowed) => writeln!(out, "{name}: allowed")?,
            Ok(CallAnswer::Fails(errno)) => writeln!(out, "{name}: refused: {errno}")?,
            Ok(CallAnswer::Ends(signal)) => {
                ended += 1;
                let signal = if signal == SIGSYS as i32 { "SIGSYS" } else { "a signal" };
                writeln!(out, "{name}: ends the process ({signal})")?;
            }
            Err(errno) => {
                writeln!(out, "{name}: not tried: no process: {errno}")?;
                return Ok(2);
            }
        }
    }
    let s = if ended == 1 { "" } else { "s" };
    writeln!(out, "{ended} system call{s} end{} the process.", if ended == 1 { "s" } else { "" })?;
    Ok(if ended > 0 { 2 } else { 0 })
}

/// Makes a call in a new process, and returns the answer.
fn tried(number: u32) -> Result<CallAnswer, Errno> {
    // SAFETY: without flags the new process has a copy of all memory, and the signal of its end.
    let child = unsafe { syscall6(__NR_clone, [SIGCHLD as usize, 0, 0, 0, 0, 0]) }?;
    if child == 0 {
        // SAFETY: the call accesses no memory with these arguments.
        let answer = unsafe { syscall6(number, arguments(number)) };
        exit(answer.err().map_or(0, Errno::code));
    }
    let mut status = 0i32;
    // SAFETY: the kernel writes the status alone, which lives until the call returns.
    unsafe { syscall6(__NR_wait4, [child, (&raw mut status).expose_provenance(), 0, 0, 0, 0]) }?;
    Ok(match (status & 0x7f, Errno::new(status >> 8 & 0xff)) {
        (0, errno @ (Errno::EPERM | Errno::ENOSYS)) => CallAnswer::Fails(errno),
        (0, _) => CallAnswer::Allowed,
        (signal, _) => CallAnswer::Ends(signal),
    })
}
