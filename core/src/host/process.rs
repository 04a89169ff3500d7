//! The rights of this process, read from `/proc/self/status`.

use crate::cpulist::{CpuSet, IdSet, NodeSet};
use crate::topology::Files;
use crate::topology::files::{field, hexadecimal, kilobytes_after};
use crate::units::Bytes;

/// The rights of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Process {
    /// The CPUs on which the process may run (affinity and cpuset combined); empty if unknown.
    pub cpus_allowed: CpuSet,
    /// The nodes from which its cpuset lets it allocate memory; empty if unknown.
    pub mems_allowed: NodeSet,
    /// True if the process has the effective capability `CAP_PERFMON`, which hardware counters may need.
    pub perfmon: bool,
    /// True if seccomp restricts its system calls, as in containers.
    pub filtered: bool,
}

/// Bit number of `CAP_PERFMON` in the kernel's capability sets.
const PERFMON: u32 = 38;

impl Process {
    /// Reads the rights of the calling process, and replaces the previous content.
    pub fn read(&mut self, files: &impl Files) {
        // The file is short, except that the line of supplementary groups can be long.
        let mut buffer = [0; 16 << 10];
        let size = buffer.len();
        let mut status = files.read("/proc/self/status", &mut buffer).unwrap_or_default();
        if status.len() == size {
            // A line that was cut in two may still look like a list.
            let whole = status.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
            status = status.get(..whole).unwrap_or_default();
        }
        self.cpus_allowed = list(status, "Cpus_allowed_list");
        self.mems_allowed = list(status, "Mems_allowed_list");
        self.perfmon =
            field(status, "CapEff").and_then(hexadecimal).is_some_and(|bits| bits >> PERFMON & 1 == 1);
        // Modes of seccomp: 0 is off, 1 is strict, 2 is a filter.
        self.filtered = matches!(field(status, "Seccomp"), Some(b"1" | b"2"));
    }
}

/// The memory of this process at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Memory of its own and of files, in use. The kernel's page of zeros does not count.
    pub resident: Bytes,
    /// The lowest level of its page tables, which is nearly all of them.
    pub page_tables: Bytes,
}

impl Footprint {
    /// Reads the memory of the calling process; `None` if the kernel does not tell.
    pub fn read(files: &impl Files) -> Option<Footprint> {
        let mut buffer = [0; 4 << 10];
        let status = files.read("/proc/self/status", &mut buffer)?;
        let of = |name| kilobytes_after(status, name);
        Some(Footprint { resident: of("VmRSS:")?, page_tables: of("VmPTE:")? })
    }
}

fn list<const WORDS: usize>(status: &[u8], name: &str) -> IdSet<WORDS> {
    field(status, name).and_then(|list| IdSet::parse_kernel(list).ok()).unwrap_or_default()
}
