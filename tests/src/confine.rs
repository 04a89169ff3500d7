//! Restrictions for a process before it starts: its root directory, system calls, memory, CPUs, a descriptor,
//! the time-stamp counter.
//!
//! # Safety
//!
//! Each step runs between fork and exec, when only the calling thread exists: the steps make system calls and
//! touch memory that was prepared before the fork.

use libc::{c_int, c_long, sock_filter, sock_fprog};
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// The calls that the default profiles of Docker and Podman refuse, among those that the tool makes.
pub const CONTAINER: [c_long; 5] = [
    libc::SYS_mbind,
    libc::SYS_set_mempolicy,
    libc::SYS_get_mempolicy,
    libc::SYS_move_pages,
    libc::SYS_perf_event_open,
];

/// An argument of a system call, counted from 0, as its lower 32 bits.
#[derive(Clone, Copy, Debug)]
pub enum Argument {
    /// It equals this number.
    Is(u32, u32),
    /// It is at least this number.
    AtLeast(u32, u32),
    /// It has at least one of these bits.
    Has(u32, u32),
}

/// Restrictions of a command.
pub trait Confine {
    /// Runs it with `directory` as its root; only root can do this.
    fn rooted(&mut self, directory: &Path) -> &mut Self;
    /// Runs it as the user nobody; only root can do this.
    fn as_nobody(&mut self) -> &mut Self;
    /// Runs it as the user and the group with this number; only root can do this.
    fn as_user(&mut self, number: u32) -> &mut Self;
    /// Makes the system calls with these numbers fail with `errno`.
    fn denied(&mut self, calls: &[c_long], errno: c_int) -> &mut Self;
    /// Does the same for calls of one number whose argument matches.
    fn denied_where(&mut self, call: c_long, argument: Argument, errno: c_int) -> &mut Self;
    /// Limits a resource, such as `RLIMIT_AS`.
    fn limited(&mut self, resource: c_int, limit: u64) -> &mut Self;
    /// Lets it run on one CPU.
    fn on_cpu(&mut self, cpu: usize) -> &mut Self;
    /// Gives it nearly all of the time of its CPUs, beside programs of the usual priority; only root can do this, and
    /// for others nothing changes.
    fn with_priority(&mut self) -> &mut Self;
    /// Closes a descriptor.
    fn closed(&mut self, descriptor: c_int) -> &mut Self;
    /// Makes `rdtsc` fatal.
    fn without_counter(&mut self) -> &mut Self;
    /// Resets a signal to its default action: whoever started the tests may have had it ignored, as shells do
    /// in the background.
    fn hearing(&mut self, signal: c_int) -> &mut Self;
}

impl Confine for Command {
    fn rooted(&mut self, directory: &Path) -> &mut Self {
        let path = CString::new(directory.as_os_str().as_bytes()).expect("a path without NUL");
        step(self, move || {
            // SAFETY: a string with a NUL that outlives the call.
            check(unsafe { libc::chroot(path.as_ptr()) })?;
            // SAFETY: a literal with a NUL.
            check(unsafe { libc::chdir(c"/".as_ptr()) })
        })
    }

    fn as_nobody(&mut self) -> &mut Self {
        const NOBODY: u32 = 65_534;
        self.as_user(NOBODY)
    }

    fn as_user(&mut self, number: u32) -> &mut Self {
        // This is a step like the others, and the steps run in the order of the requests: only root changes
        // its root.
        step(self, move || {
            // SAFETY: the list of groups is empty, so the kernel reads nothing.
            check(unsafe { libc::setgroups(0, std::ptr::null()) })?;
            // SAFETY: takes a number.
            check(unsafe { libc::setgid(number) })?;
            // SAFETY: takes a number.
            check(unsafe { libc::setuid(number) })
        })
    }

    fn denied(&mut self, calls: &[c_long], errno: c_int) -> &mut Self {
        filtered(self, filter(calls, errno))
    }

    fn denied_where(&mut self, call: c_long, argument: Argument, errno: c_int) -> &mut Self {
        filtered(self, filter_where(call, argument, errno))
    }

    fn limited(&mut self, resource: c_int, limit: u64) -> &mut Self {
        step(self, move || {
            let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
            // SAFETY: the kernel reads one record.
            check(unsafe { libc::setrlimit(resource as libc::__rlimit_resource_t, &raw const limit) })
        })
    }

    fn on_cpu(&mut self, cpu: usize) -> &mut Self {
        step(self, move || allow_cpus(&[cpu]))
    }

    fn with_priority(&mut self) -> &mut Self {
        const FIRST: c_int = -20;
        step(self, || {
            // SAFETY: takes numbers. A test that needs the time says so, if it is not root.
            unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, FIRST) };
            Ok(())
        })
    }

    fn closed(&mut self, descriptor: c_int) -> &mut Self {
        // SAFETY: this process does not use the descriptor between here and exec.
        step(self, move || check(unsafe { libc::close(descriptor) }))
    }

    fn without_counter(&mut self) -> &mut Self {
        // SAFETY: the call takes numbers; neither this closure nor exec reads the counter.
        step(self, || check(unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_SIGSEGV, 0, 0, 0) }))
    }

    fn hearing(&mut self, signal: c_int) -> &mut Self {
        step(self, move || {
            // SAFETY: the default action needs no handler that could disappear.
            match unsafe { libc::signal(signal, libc::SIG_DFL) } {
                libc::SIG_ERR => Err(std::io::Error::last_os_error()),
                _ => Ok(()),
            }
        })
    }
}

/// Returns true if this process is root.
pub fn is_root() -> bool {
    // SAFETY: takes nothing, and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// Returns the CPUs that this process may use.
///
/// # Panics
///
/// If the kernel call fails.
pub fn allowed_cpus() -> Vec<usize> {
    // SAFETY: a set of zero bits is an empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes at most one set, of the size given.
    let asked = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) };
    assert_eq!(asked, 0, "sched_getaffinity: {}", io::Error::last_os_error());
    // SAFETY: the number is below the size of the set.
    (0..libc::CPU_SETSIZE as usize).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).collect()
}

/// Restricts this thread, and the processes that it starts from now on, to these CPUs. Allocates nothing.
///
/// # Errors
///
/// The errors of sched_setaffinity(2).
pub fn allow_cpus(cpus: &[usize]) -> io::Result<()> {
    // SAFETY: a set of zero bits is an empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for &cpu in cpus {
        // SAFETY: checks the number against the size of the set, and writes within it.
        unsafe { libc::CPU_SET(cpu, &mut set) };
    }
    // SAFETY: the kernel reads one set, of the size given.
    check(unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) })
}

/// Has the process do a step before it executes the command.
pub(crate) fn step(
    command: &mut Command,
    step: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) -> &mut Command {
    // SAFETY: the steps of this file and of `enclose` make system calls on memory that they own, and allocate nothing.
    unsafe { command.pre_exec(step) }
}

/// Returns the error of a call that returned anything but zero.
pub(crate) fn check(result: c_int) -> io::Result<()> {
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Gives the process an additional filter.
fn filtered(command: &mut Command, filter: Vec<sock_filter>) -> &mut Command {
    step(command, move || {
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

/// Returns a seccomp program: this call fails with `errno` if its argument matches.
///
/// # References
///
/// The same as [`filter`]; the arguments are its words of 64 bits from byte 16 on, the lower half first.
fn filter_where(call: c_long, argument: Argument, errno: c_int) -> Vec<sock_filter> {
    let instruction = |code: u32, jt: u8, jf: u8, k: u32| sock_filter { code: code as u16, jt, jf, k };
    let (index, jump, value) = match argument {
        Argument::Is(index, value) => (index, libc::BPF_JEQ, value),
        Argument::AtLeast(index, value) => (index, libc::BPF_JGE, value),
        Argument::Has(index, bits) => (index, libc::BPF_JSET, bits),
    };
    vec![
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 3, call as u32),
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 16 + 8 * index),
        instruction(libc::BPF_JMP | jump | libc::BPF_K, 0, 1, value),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | errno as u32),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

/// Returns a seccomp program: these calls fail with `errno`, all others are allowed.
///
/// # References
///
/// seccomp(2), "struct seccomp_data": the number is its first word.
fn filter(calls: &[c_long], errno: c_int) -> Vec<sock_filter> {
    let instruction = |code: u32, jt: u8, k: u32| sock_filter { code: code as u16, jt, jf: 0, k };
    let mut program = vec![instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0)];
    for (index, &call) in calls.iter().enumerate() {
        let rest = u8::try_from(calls.len() - index).expect("few calls");
        // Jump over the remaining calls and the permission, to the refusal.
        program.push(instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, rest, call as u32));
    }
    program.push(instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW));
    program.push(instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | errno as u32));
    program
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denied_call_fails_and_others_do_not() {
        let shell = |calls: &[c_long]| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", "umask 022 && cd /"]).denied(calls, libc::EPERM);
            command.stderr(std::process::Stdio::null()).status().expect("a shell").success()
        };
        assert!(shell(&[libc::SYS_mbind]));
        assert!(!shell(&[libc::SYS_mbind, libc::SYS_chdir]));
        assert!(!shell(&[libc::SYS_chdir, libc::SYS_mbind]));
    }

    #[test]
    fn a_call_may_be_denied_by_its_argument() {
        let masked = |argument: Argument| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", "umask 022 && umask"]);
            let output = command.denied_where(libc::SYS_umask, argument, libc::EPERM).output();
            String::from_utf8_lossy(&output.expect("a shell").stdout).trim().to_string()
        };
        let ends = |argument| masked(argument).ends_with("22");
        assert!(
            ends(Argument::Is(0, 0o23)) && ends(Argument::AtLeast(0, 0o1000)) && ends(Argument::Has(0, 0o4))
        );
        assert!(
            !ends(Argument::Is(0, 0o22)) && !ends(Argument::AtLeast(0, 0o22)) && !ends(Argument::Has(0, 0o2))
        );
    }

    #[test]
    fn limits_and_cpus_are_inherited() {
        let told = |command: &mut Command| {
            let output = command.output().expect("a shell");
            String::from_utf8_lossy(&output.stdout).trim().to_string()
        };
        let cpu = *allowed_cpus().last().expect("a CPU");
        let shell = |text: &str| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", text]);
            command
        };
        assert_eq!(told(shell("ulimit -f").limited(libc::RLIMIT_FSIZE as c_int, 1 << 20)), "2048");
        let list = told(shell("grep Cpus_allowed_list /proc/self/status").on_cpu(cpu));
        assert!(list.ends_with(&format!("\t{cpu}")), "{list}");
    }
}
