//! Whole environments for a process before it starts: its system calls, its view of the file system, limits
//! that leave room for a warning, no arguments.
//!
//! # Safety
//!
//! The same as in `confine`: each step runs between fork and exec, makes system calls on memory that was
//! prepared before the fork, and allocates nothing.

use crate::confine::{check, step};
use libc::{c_int, c_long, sock_filter, sock_fprog};
use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use std::ptr::null;

/// The result of a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is allowed.
    Made,
    /// It fails with this error.
    Fails(c_int),
    /// It ends the process by SIGSYS.
    Ends,
    /// It is answered with SIGSYS, which the process may handle.
    Trapped,
}

impl Fate {
    const fn returned(self) -> u32 {
        match self {
            Fate::Made => libc::SECCOMP_RET_ALLOW,
            Fate::Fails(errno) => libc::SECCOMP_RET_ERRNO | errno as u32,
            Fate::Trapped => libc::SECCOMP_RET_TRAP,
            Fate::Ends => libc::SECCOMP_RET_KILL_PROCESS,
        }
    }
}

/// The environment of a command.
pub trait Enclose {
    /// Decides every system call: the listed ones by their own fate, all others by `others`. This is the last
    /// step before exec: the process starts only if `execve` is allowed.
    fn fated(&mut self, calls: &[(c_long, Fate)], others: Fate) -> &mut Self;
    /// Hides the content of these directories; if the process may not mount, it does not start.
    fn covered(&mut self, directories: &[&CStr]) -> &mut Self;
    /// Forbids writing any file; otherwise the same as `covered`.
    fn read_only(&mut self) -> &mut Self;
    /// Limits a resource to `soft`, which the process may raise to `hard`.
    fn limited_softly(&mut self, resource: c_int, soft: u64, hard: u64) -> &mut Self;
    /// Starts `program` without any argument, not even its name, and without an environment. This is the last
    /// step.
    fn without_arguments(&mut self, program: &Path) -> &mut Self;
}

impl Enclose for Command {
    fn fated(&mut self, calls: &[(c_long, Fate)], others: Fate) -> &mut Self {
        let filter = filter(calls, others);
        step(self, move || {
            let length = u16::try_from(filter.len()).expect("a short filter");
            let program = sock_fprog { len: length, filter: filter.as_ptr().cast_mut() };
            // SAFETY: the call takes numbers.
            check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
            // SAFETY: the kernel reads the program and its filter; both outlive the call.
            check(unsafe {
                libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program, 0, 0)
            })
        })
    }

    fn covered(&mut self, directories: &[&CStr]) -> &mut Self {
        let directories: Vec<CString> = directories.iter().map(|&path| path.to_owned()).collect();
        step(self, move || {
            own_mounts()?;
            directories.iter().try_for_each(|path| mount(c"tmpfs", path, c"tmpfs", 0))
        })
    }

    fn read_only(&mut self) -> &mut Self {
        step(self, || {
            own_mounts()?;
            // Bound to itself it is a separate mount, whatever the root is.
            mount(c"/", c"/", c"", libc::MS_BIND | libc::MS_REC)?;
            mount(c"", c"/", c"", libc::MS_BIND | libc::MS_REMOUNT | libc::MS_RDONLY)?;
            // SAFETY: two literals with a NUL; a new look-up from the root sees the new mount.
            check(unsafe { libc::chroot(c"/".as_ptr()) })?;
            // SAFETY: a literal with a NUL.
            check(unsafe { libc::chdir(c"/".as_ptr()) })
        })
    }

    fn limited_softly(&mut self, resource: c_int, soft: u64, hard: u64) -> &mut Self {
        step(self, move || {
            let limit = libc::rlimit { rlim_cur: soft, rlim_max: hard };
            // SAFETY: the kernel reads one record.
            check(unsafe { libc::setrlimit(resource as libc::__rlimit_resource_t, &raw const limit) })
        })
    }

    fn without_arguments(&mut self, program: &Path) -> &mut Self {
        let program = CString::new(program.as_os_str().as_bytes()).expect("a path without NUL");
        step(self, move || {
            let nothing = [null()];
            // SAFETY: a string with a NUL, and two empty vectors; if the call returns, it has changed
            // nothing.
            unsafe { libc::execve(program.as_ptr(), nothing.as_ptr(), nothing.as_ptr()) };
            Err(io::Error::last_os_error())
        })
    }
}

/// Returns true if this process may give a child its own mounts.
#[must_use]
pub fn may_mount() -> bool {
    Command::new("/bin/true").covered(&[c"/mnt"]).status().is_ok_and(|status| status.success())
}

/// Gives the process a private copy of all mounts, whose changes no other process sees.
fn own_mounts() -> io::Result<()> {
    // SAFETY: takes numbers.
    check(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
    mount(c"", c"/", c"", libc::MS_REC | libc::MS_PRIVATE)
}

fn mount(source: &CStr, target: &CStr, kind: &CStr, flags: u64) -> io::Result<()> {
    // SAFETY: three strings with a NUL that outlive the call, and no data.
    check(unsafe { libc::mount(source.as_ptr(), target.as_ptr(), kind.as_ptr(), flags, null()) })
}

/// Returns a seccomp program: each of these calls has its fate, all other calls have the fate `others`.
///
/// # References
///
/// seccomp(2), "struct seccomp_data": the number is its first word.
fn filter(calls: &[(c_long, Fate)], others: Fate) -> Vec<sock_filter> {
    let instruction = |code: u32, jf: u8, k: u32| sock_filter { code: code as u16, jt: 0, jf, k };
    let end = |fate: Fate| instruction(libc::BPF_RET | libc::BPF_K, 0, fate.returned());
    let mut program = vec![instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0)];
    for &(call, fate) in calls {
        program.push(instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, call as u32));
        program.push(end(fate));
    }
    program.push(end(others));
    program
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;

    #[test]
    fn each_call_is_allowed_fails_or_kills() {
        let ended = |calls: &[(c_long, Fate)], others| {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", "cd /"]).stderr(Stdio::null()).fated(calls, others).status().expect("a shell")
        };
        assert!(ended(&[(libc::SYS_mbind, Fate::Ends)], Fate::Made).success());
        assert_eq!(ended(&[(libc::SYS_chdir, Fate::Ends)], Fate::Made).signal(), Some(libc::SIGSYS));
        assert_eq!(ended(&[(libc::SYS_execve, Fate::Made)], Fate::Ends).signal(), Some(libc::SIGSYS));
        let refused = ended(&[(libc::SYS_chdir, Fate::Fails(libc::EPERM))], Fate::Made);
        assert!(refused.code().is_some_and(|code| code != 0), "{refused}");
    }

    #[test]
    fn a_program_may_have_no_arguments() {
        let mut shell = Command::new("/bin/sh");
        let output = shell.arg("-c").without_arguments(Path::new("/usr/bin/env")).output().expect("env");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    }
}
