//! The guest's system calls.
//!
//! # Safety
//!
//! Every call gets numbers and texts that end with a nul and live as long as the call.

use std::ffi::{CStr, CString};
use std::io::{Error, Result};

/// Mounts the kernel's file systems.
pub fn mount_all() -> std::result::Result<(), String> {
    for (kind, place) in
        [(c"proc", c"/proc"), (c"sysfs", c"/sys"), (c"devtmpfs", c"/dev"), (c"debugfs", c"/sys/kernel/debug")]
    {
        mount(kind, place).map_err(|error| format!("cannot mount {}: {error}", place.to_string_lossy()))?;
    }
    mount(c"cgroup2", c"/sys/fs/cgroup").map_err(|error| format!("cannot mount cgroup2: {error}"))
}

fn mount(kind: &CStr, place: &CStr) -> Result<()> {
    // SAFETY: three texts, no flags, no data.
    let result = unsafe { libc::mount(kind.as_ptr(), place.as_ptr(), kind.as_ptr(), 0, std::ptr::null()) };
    checked(result)
}

/// Unmounts a file system, at once or when its last user is done.
pub fn unmount(place: &str) -> Result<()> {
    let place = CString::new(place)?;
    // SAFETY: a text and a flag.
    checked(unsafe { libc::umount2(place.as_ptr(), libc::MNT_DETACH) })
}

/// Restricts this thread, and its children, to one CPU.
pub fn stay_on(cpu: usize) -> Result<()> {
    // SAFETY: a set of CPUs consists of plain bits, and zero is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the macro's function checks the number against the size of the set.
    unsafe { libc::CPU_SET(cpu, &mut set) };
    // SAFETY: the set lives during the call, and its size is passed with it.
    checked(unsafe { libc::sched_setaffinity(0, std::mem::size_of_val(&set), &set) })
}

/// Sets the clock of the day forward by `seconds`.
pub fn step_clock(seconds: i64) -> Result<()> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one record.
    checked(unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut time) })?;
    time.tv_sec += seconds;
    // SAFETY: the kernel reads one record.
    checked(unsafe { libc::clock_settime(libc::CLOCK_REALTIME, &raw const time) })
}

const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const GIVE: u32 = libc::BPF_RET | libc::BPF_K;
/// Offset of a call's number (struct seccomp_data), and of the low half of its third argument.
const NUMBER: u32 = 0;
const THIRD: u32 = 32;

fn step(code: u32, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt, jf, k }
}

/// Puts the system calls of this process, and of its children, under a filter.
fn filter(steps: &mut [libc::sock_filter]) -> Result<()> {
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: the kernel reads the program and its filter; both outlive the call.
    checked(unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program, 0, 0) })
}

/// Makes `madvise(MADV_POPULATE_WRITE)` fail as in a kernel without it.
pub fn forbid_populating() -> Result<()> {
    filter(&mut [
        step(LOAD, 0, 0, NUMBER),
        step(EQUAL, 0, 3, libc::SYS_madvise as u32),
        step(LOAD, 0, 0, THIRD),
        step(EQUAL, 0, 1, libc::MADV_POPULATE_WRITE as u32),
        step(GIVE, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EINVAL as u32),
        step(GIVE, 0, 0, libc::SECCOMP_RET_ALLOW),
    ])
}

/// Makes a system call be answered with SIGSYS, as filters of Android and of systemd do.
pub fn answer_with_signal(call: u32) -> Result<()> {
    filter(&mut [
        step(LOAD, 0, 0, NUMBER),
        step(EQUAL, 0, 1, call),
        step(GIVE, 0, 0, libc::SECCOMP_RET_TRAP),
        step(GIVE, 0, 0, libc::SECCOMP_RET_ALLOW),
    ])
}

/// Lets the parent of this process stop it at system calls that bind memory.
pub fn let_be_watched() -> Result<()> {
    // SAFETY: the request takes no address.
    if unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) } != 0 {
        return Err(Error::last_os_error());
    }
    // Only these calls stop the process. If every call stopped it, reading a clock would be too slow to measure
    // anything.
    filter(&mut [
        step(LOAD, 0, 0, NUMBER),
        step(EQUAL, 0, 1, libc::SYS_mbind as u32),
        step(GIVE, 0, 0, libc::SECCOMP_RET_TRACE),
        step(GIVE, 0, 0, libc::SECCOMP_RET_ALLOW),
    ])
}

/// The huge pages of a node, which are freed on drop.
#[derive(Debug)]
pub struct Pool {
    start: *mut libc::c_void,
    length: usize,
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: a mapping of this value alone.
        unsafe { libc::munmap(self.start, self.length) };
    }
}

/// Follows a traced child to its end. When it first binds a mapping, takes all free huge pages of the node.
/// Returns its exit status, or 128 and the signal that ended it.
pub fn take_pool_when_mapped(child: u32, node: usize) -> std::result::Result<i32, String> {
    let child = child as i32;
    let wrong = |what: &str| format!("{what}: {}", Error::last_os_error());
    let mut pool = None;
    let mut is_new = true;
    loop {
        let mut status = 0;
        // SAFETY: the kernel writes one number.
        if unsafe { libc::waitpid(child, &raw mut status, 0) } != child {
            return Err(wrong("cannot wait for the run"));
        }
        if libc::WIFEXITED(status) && pool.is_some() {
            return Ok(libc::WEXITSTATUS(status));
        }
        if libc::WIFSIGNALED(status) && pool.is_some() {
            return Ok(128 + libc::WTERMSIG(status));
        }
        if !libc::WIFSTOPPED(status) {
            return Err("the run was over before it bound memory".into());
        }
        let event = status >> 8 == libc::SIGTRAP | libc::PTRACE_EVENT_SECCOMP << 8;
        if event && pool.is_none() {
            pool = Some(take_pool(node)?);
        }
        // The first stop belongs to execve.
        let signal = if event || is_new { 0 } else { libc::WSTOPSIG(status) };
        if is_new {
            // SAFETY: takes a number.
            unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, child, 0, libc::PTRACE_O_TRACESECCOMP) };
        }
        is_new = false;
        // SAFETY: takes a number.
        if unsafe { libc::ptrace(libc::PTRACE_CONT, child, 0, signal) } != 0 {
            return Err(wrong("cannot follow the run"));
        }
    }
}

fn take_pool(node: usize) -> std::result::Result<Pool, String> {
    let path = format!("/sys/devices/system/node/node{node}/hugepages/hugepages-2048kB/free_hugepages");
    let free = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let free: usize = free.trim().parse().map_err(|_| format!("{path}: {free}"))?;
    let wrong = |what: &str| format!("{what}: {}", Error::last_os_error());
    let length = free << 21;
    let (bind, nodes, bits) = (libc::MPOL_BIND as i64, [1_u64 << node], 64_usize);
    // SAFETY: the kernel reads one word of nodes.
    if unsafe { libc::syscall(libc::SYS_set_mempolicy, bind, nodes.as_ptr(), bits) } != 0 {
        return Err(wrong("cannot bind to the node"));
    }
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_HUGETLB | libc::MAP_HUGE_2MB;
    // SAFETY: a new mapping at an address of the kernel's choice.
    let start =
        unsafe { libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(wrong("cannot map the pool"));
    }
    let pool = Pool { start, length };
    // SAFETY: makes pages of that mapping present.
    if unsafe { libc::madvise(start, length, libc::MADV_POPULATE_WRITE) } != 0 {
        return Err(wrong("cannot take the pool"));
    }
    // SAFETY: the list of nodes is empty, so the kernel reads nothing.
    unsafe { libc::syscall(libc::SYS_set_mempolicy, libc::MPOL_DEFAULT as i64, 0, 0) };
    Ok(pool)
}

/// Ends the machine.
pub fn power_off() -> ! {
    // SAFETY: takes nothing.
    unsafe { libc::sync() };
    // SAFETY: takes a number.
    unsafe { libc::reboot(libc::LINUX_REBOOT_CMD_POWER_OFF) };
    // Process 1 may not end: the kernel would panic, which looks like a reset to the emulator.
    std::process::exit(1)
}

fn checked(result: i32) -> Result<()> {
    if result == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}
