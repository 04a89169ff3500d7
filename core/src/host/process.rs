//! The rights of this process, by `/proc/self/status`.

use core::fmt;

use crate::cpulist::{CpuSet, NodeSet};
use crate::topology::files::field;
use crate::topology::Files;

use super::ways::hexadecimal;

/// The rights of this process.
#[derive(Clone, Copy, Debug)]
pub struct Process {
    /// The CPUs that it may run on (affinity and cpuset together); empty where unknown.
    pub cpus_allowed: CpuSet,
    /// The nodes that its cpuset lets it take memory from; empty where unknown.
    pub mems_allowed: NodeSet,
    /// The effective capabilities, one bit each.
    pub capabilities: Option<u64>,
    /// The restriction of system calls.
    pub seccomp: Option<Seccomp>,
}

/// The restriction of a process's system calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seccomp {
    /// No restriction. The zero is left to `None`, so that [`Process::EMPTY`] takes no room in an executable.
    Off = 1,
    /// Only read, write, exit and sigreturn.
    Strict,
    /// A filter, as in containers.
    Filter,
}

/// A privilege that matters for measuring, with its bit in the kernel's sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Capability {
    /// `CAP_IPC_LOCK`: huge pages outside of the group of `vm.hugetlb_shm_group`, locked memory.
    IpcLock = 14,
    /// `CAP_SYS_ADMIN`.
    SysAdmin = 21,
    /// `CAP_SYS_NICE`: memory policy in containers with the usual filter.
    SysNice = 23,
    /// `CAP_PERFMON`: hardware counters.
    PerfMon = 38,
}

impl Process {
    /// A process without any known fact.
    pub const EMPTY: Self =
        Self { cpus_allowed: CpuSet::EMPTY, mems_allowed: NodeSet::EMPTY, capabilities: None, seccomp: None };

    /// Reads the rights of the calling process, in place of those read before.
    pub fn read(&mut self, files: &impl Files) {
        // Only the line of supplementary groups can be long.
        let mut buffer = [0; 16 << 10];
        let size = buffer.len();
        let mut status = files.read("/proc/self/status", &mut buffer).unwrap_or_default();
        if status.len() == size {
            // A line that was cut in two may still look like a list.
            let whole = status.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
            status = status.get(..whole).unwrap_or_default();
        }
        self.cpus_allowed = field(status, "Cpus_allowed_list")
            .and_then(|list| CpuSet::parse_kernel(list).ok())
            .unwrap_or_default();
        self.mems_allowed = field(status, "Mems_allowed_list")
            .and_then(|list| NodeSet::parse_kernel(list).ok())
            .unwrap_or_default();
        self.capabilities = field(status, "CapEff").and_then(hexadecimal);
        self.seccomp = field(status, "Seccomp").and_then(|mode| match mode {
            b"0" => Some(Seccomp::Off),
            b"1" => Some(Seccomp::Strict),
            b"2" => Some(Seccomp::Filter),
            _ => None,
        });
    }

    /// Returns whether the process is known to have this privilege.
    #[must_use]
    pub fn has(&self, capability: Capability) -> bool {
        self.capabilities.is_some_and(|bits| bits >> (capability as u8) & 1 == 1)
    }
}

impl fmt::Display for Seccomp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Off => "off",
            Self::Strict => "strict",
            Self::Filter => "filter",
        })
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::IpcLock => "CAP_IPC_LOCK",
            Self::SysAdmin => "CAP_SYS_ADMIN",
            Self::SysNice => "CAP_SYS_NICE",
            Self::PerfMon => "CAP_PERFMON",
        })
    }
}
