//! The rights of this process, by `/proc/self/status`.

use crate::cpulist::{CpuSet, IdSet, NodeSet};
use crate::topology::Files;
use crate::topology::files::{field, hexadecimal};

/// The rights of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Process {
    /// The CPUs that it may run on (affinity and cpuset together); empty where unknown.
    pub cpus_allowed: CpuSet,
    /// The nodes that its cpuset lets it take memory from; empty where unknown.
    pub mems_allowed: NodeSet,
    /// True with the effective capability `CAP_PERFMON`, for hardware counters.
    pub perfmon: bool,
    /// True where seccomp restricts its system calls, as in containers.
    pub filtered: bool,
}

/// The bit of `CAP_PERFMON` in the kernel's sets.
const PERFMON: u32 = 38;

impl Process {
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
        self.cpus_allowed = list(status, "Cpus_allowed_list");
        self.mems_allowed = list(status, "Mems_allowed_list");
        self.perfmon =
            field(status, "CapEff").and_then(hexadecimal).is_some_and(|bits| bits >> PERFMON & 1 == 1);
        // 0 is off, 1 is strict, 2 is a filter.
        self.filtered = matches!(field(status, "Seccomp"), Some(b"1" | b"2"));
    }
}

fn list<const WORDS: usize>(status: &[u8], name: &str) -> IdSet<WORDS> {
    field(status, name).and_then(|list| IdSet::parse_kernel(list).ok()).unwrap_or_default()
}
