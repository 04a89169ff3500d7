//! A control group for one test: a limit of processes, of CPU time or of memory, in either version of control groups.
//!
//! # Safety
//!
//! A process enters the group between fork and exec: it writes to a file that was opened before the fork.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// Mount points of the first version, by controller, and of the second.
const FIRST: &str = "/sys/fs/cgroup";
const SECOND: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];

/// The limit of a group.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// The number of processes and threads.
    Processes(u32),
    /// The CPU time in a period of 100 ms, in percent of a CPU. The group goes before others, so that the limit ends its
    /// time, and not they.
    CpuTime(u32),
    /// The memory in bytes.
    Memory(u64),
}

impl Limit {
    const fn controller(self) -> &'static str {
        match self {
            Limit::Processes(_) => "pids",
            Limit::CpuTime(_) => "cpu",
            Limit::Memory(_) => "memory",
        }
    }

    /// Returns the file of a version, and the text to write to it.
    fn setting(self, version: u32) -> (&'static str, String) {
        match (self, version) {
            (Limit::Processes(count), _) => ("pids.max", count.to_string()),
            (Limit::CpuTime(percent), 1) => ("cpu.cfs_quota_us", (percent * 1000).to_string()),
            (Limit::Memory(bytes), 1) => ("memory.limit_in_bytes", bytes.to_string()),
            (Limit::Memory(bytes), _) => ("memory.max", bytes.to_string()),
            (Limit::CpuTime(percent), _) => ("cpu.max", format!("{} 100000", percent * 1000)),
        }
    }

    /// Returns the file of a version, and the text that gives the group nearly all of the time that others want, too.
    const fn priority(self, version: u32) -> Option<(&'static str, &'static str)> {
        match (self, version) {
            (Limit::CpuTime(_), 1) => Some(("cpu.shares", "262144")),
            (Limit::CpuTime(_), _) => Some(("cpu.weight", "10000")),
            _ => None,
        }
    }
}

/// A control group, which is deleted on drop: then no process is in it.
#[derive(Debug)]
pub struct Group(PathBuf);

impl Group {
    /// Makes a group with a limit, if this process may do so; `name` separates the groups of one test
    /// program.
    pub fn new(name: &str, limit: Limit) -> Option<Self> {
        let own = format!("latency-bench-{name}-{}", std::process::id());
        let first = (1, PathBuf::from(FIRST).join(limit.controller()));
        let places = [first].into_iter().chain(SECOND.map(|root| (2, PathBuf::from(root))));
        places.into_iter().find_map(|(version, root)| {
            let path = root.join(&own);
            let (file, value) = limit.setting(version);
            // A directory that is not a mount point of groups accepts neither file.
            fs::create_dir(&path).ok()?;
            let group = Group(path);
            OpenOptions::new().write(true).open(group.0.join("cgroup.procs")).ok()?;
            let set = |file: &str, value: &str| {
                let setting = OpenOptions::new().write(true).open(group.0.join(file));
                io::Write::write_all(&mut setting.ok()?, value.as_bytes()).ok()
            };
            set(file, &value)?;
            if let Some((file, value)) = limit.priority(version) {
                set(file, value)?;
            }
            Some(group)
        })
    }

    /// Makes a command run in the group.
    ///
    /// # Panics
    ///
    /// If the group no longer exists.
    pub fn hold<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let members: File =
            OpenOptions::new().write(true).open(self.0.join("cgroup.procs")).expect("a group");
        // SAFETY: the step makes one system call on its own file, and allocates nothing.
        unsafe {
            command.pre_exec(move || {
                // SAFETY: a literal of one byte; 0 is the writing process.
                match libc::write(members.as_raw_fd(), c"0".as_ptr().cast(), 1) {
                    1 => Ok(()),
                    _ => Err(io::Error::last_os_error()),
                }
            })
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A group that is still in use stays.
        let _ = fs::remove_dir(&self.0);
    }
}
