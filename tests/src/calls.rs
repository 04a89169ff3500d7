//! The system calls that the tool makes.

use libc::c_long;

/// The system calls of all experiments and commands, and of a run that writes a file.
pub const CALLS: [(&str, c_long); 43] = [
    ("access", libc::SYS_access),
    ("clock_gettime", libc::SYS_clock_gettime),
    ("clone", libc::SYS_clone),
    ("close", libc::SYS_close),
    ("execve", libc::SYS_execve),
    ("exit", libc::SYS_exit),
    ("exit_group", libc::SYS_exit_group),
    ("fchmod", libc::SYS_fchmod),
    ("fchown", libc::SYS_fchown),
    ("fcntl", libc::SYS_fcntl),
    ("fstat", libc::SYS_fstat),
    ("fsync", libc::SYS_fsync),
    ("futex", libc::SYS_futex),
    ("get_mempolicy", libc::SYS_get_mempolicy),
    ("getcpu", libc::SYS_getcpu),
    ("getpid", libc::SYS_getpid),
    ("getrusage", libc::SYS_getrusage),
    ("gettid", libc::SYS_gettid),
    ("ioctl", libc::SYS_ioctl),
    ("linkat", libc::SYS_linkat),
    ("madvise", libc::SYS_madvise),
    ("mbind", libc::SYS_mbind),
    ("mmap", libc::SYS_mmap),
    ("move_pages", libc::SYS_move_pages),
    ("munmap", libc::SYS_munmap),
    ("nanosleep", libc::SYS_nanosleep),
    ("newfstatat", libc::SYS_newfstatat),
    ("open", libc::SYS_open),
    ("openat", libc::SYS_openat),
    ("perf_event_open", libc::SYS_perf_event_open),
    ("ppoll", libc::SYS_ppoll),
    ("prctl", libc::SYS_prctl),
    ("prlimit64", libc::SYS_prlimit64),
    ("read", libc::SYS_read),
    ("readlinkat", libc::SYS_readlinkat),
    ("renameat", libc::SYS_renameat),
    ("rt_sigaction", libc::SYS_rt_sigaction),
    ("rt_sigpending", libc::SYS_rt_sigpending),
    ("rt_sigprocmask", libc::SYS_rt_sigprocmask),
    ("sched_getaffinity", libc::SYS_sched_getaffinity),
    ("sched_setaffinity", libc::SYS_sched_setaffinity),
    ("set_mempolicy", libc::SYS_set_mempolicy),
    ("write", libc::SYS_write),
];

/// System calls that replace others after a failure: for names that are missing in /proc, a file without a name, a
/// processor that could not be changed.
pub const IN_THEIR_PLACE: [(&str, c_long); 4] = [
    ("sched_yield", libc::SYS_sched_yield),
    ("sysinfo", libc::SYS_sysinfo),
    ("uname", libc::SYS_uname),
    ("unlinkat", libc::SYS_unlinkat),
];

/// Calls without which nothing can be handled, said or ended.
pub const NEEDED: [&str; 4] = ["execve", "exit_group", "rt_sigaction", "write"];

/// Returns the words of an error that names the purpose of a call in place of the call.
#[must_use]
pub fn said_for(name: &str) -> &str {
    match name {
        "clock_gettime" => "no usable clock",
        _ => name,
    }
}
