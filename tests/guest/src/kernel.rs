//! What the guest asks of its kernel.
//!
//! # Safety
//!
//! Every call gets numbers and texts that end with a nul and live as long as the call.

use std::ffi::{CStr, CString};
use std::io::{Error, Result};

/// Mounts the file systems of the kernel.
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

/// Takes a file system away, at once or when nobody uses it any more.
pub fn unmount(place: &str) -> Result<()> {
    let place = CString::new(place)?;
    // SAFETY: a text and a flag.
    checked(unsafe { libc::umount2(place.as_ptr(), libc::MNT_DETACH) })
}

/// Allows this thread, and what it starts, one CPU alone.
pub fn stay_on(cpu: usize) -> Result<()> {
    // SAFETY: a set of CPUs is plain bits, and zero is the empty one.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the macro's function checks the number against the size of the set.
    unsafe { libc::CPU_SET(cpu, &mut set) };
    // SAFETY: the set lives during the call, and its size is its own.
    checked(unsafe { libc::sched_setaffinity(0, std::mem::size_of_val(&set), &set) })
}

/// Ends the machine.
pub fn power_off() -> ! {
    // SAFETY: takes nothing.
    unsafe { libc::sync() };
    // SAFETY: takes a number.
    unsafe { libc::reboot(libc::LINUX_REBOOT_CMD_POWER_OFF) };
    // Process 1 may not end: the kernel would end with it, which the emulator takes for a reset.
    std::process::exit(1)
}

fn checked(result: i32) -> Result<()> {
    if result == 0 {
        Ok(())
    } else {
        Err(Error::last_os_error())
    }
}
