//! The memory that the kernel still lets this process map, by limits other than those of control groups.

use crate::topology::Files;
use crate::topology::files::{kilobytes_after, number, parse};
use crate::units::Bytes;

/// A limit of memory that does not depend on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The memory limit of the control group.
    Group,
    /// The commit limit of the machine, with `vm.overcommit_memory=2`.
    Commit,
    /// The address space of the process (`RLIMIT_AS`).
    AddressSpace,
    /// The private writable memory of the process (`RLIMIT_DATA`).
    Data,
}

impl Bound {
    /// Returns the words for the memory that the limit leaves, and the way to raise the limit.
    pub const fn words(self) -> (&'static str, &'static str) {
        match self {
            Bound::Group => ("left in the cgroup", "raise memory.max"),
            Bound::Commit => ("left to commit (vm.overcommit_memory=2)", "raise vm.overcommit_ratio"),
            Bound::AddressSpace => ("left of the address space (RLIMIT_AS)", "raise ulimit -v"),
            Bound::Data => ("left of the data size (RLIMIT_DATA)", "raise ulimit -d"),
        }
    }
}

/// The memory that this process may still map, and the limit that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The bytes left.
    pub left: Bytes,
    /// The limit.
    pub by: Bound,
}

impl Allowance {
    /// Finds the tightest limit; returns `None` if there is none.
    ///
    /// # References
    ///
    /// Linux `Documentation/mm/overcommit-accounting.rst`; `proc_pid_limits(5)`, `proc_pid_status(5)`.
    pub fn read(files: &impl Files) -> Option<Self> {
        let (mut meminfo, mut limits, mut status) = ([0; 4 << 10], [0; 2 << 10], [0; 4 << 10]);
        let meminfo = files.read("/proc/meminfo", &mut meminfo).unwrap_or_default();
        let limits = files.read("/proc/self/limits", &mut limits).unwrap_or_default();
        let status = files.read("/proc/self/status", &mut status).unwrap_or_default();
        let is_strict = number(files, format_args!("/proc/sys/vm/overcommit_memory")) == Some(2);
        let mut tightest = None::<Self>;
        for (by, limit, used) in [
            (Bound::Commit, "CommitLimit:", "Committed_AS:"),
            (Bound::AddressSpace, "Max address space", "VmSize:"),
            (Bound::Data, "Max data size", "VmData:"),
        ] {
            let found = match by {
                Bound::Commit if !is_strict => continue,
                Bound::Commit => kilobytes_after(meminfo, limit).zip(kilobytes_after(meminfo, used)),
                _ => soft(limits, limit).zip(kilobytes_after(status, used)),
            };
            let Some((limit, used)) = found else { continue };
            let left = Bytes(limit.0.saturating_sub(used.0));
            if tightest.is_none_or(|known| left < known.left) {
                tightest = Some(Allowance { left, by });
            }
        }
        tightest
    }
}

/// Returns a limit in force, from the content of `limits`; `None` if it is unlimited.
fn soft(limits: &[u8], name: &str) -> Option<Bytes> {
    let rest = limits.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(name.as_bytes()))?;
    let word = rest.split(u8::is_ascii_whitespace).find(|word| !word.is_empty())?;
    parse(word).map(Bytes)
}
