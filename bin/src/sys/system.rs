//! Facts that the kernel reports about itself and the memory of the whole machine.
//!
//! Other modules read /proc and /sys; this module works without them.
//!
//! # Safety
//!
//! Two calls get the address of a local record that is as large as the kernel's. rustix assumes that all three calls
//! cannot fail, but a seccomp filter makes any call fail.

use super::raw::syscall6;
use latency_core::units::Bytes;
use linux_raw_sys::general::{__NR_getpid, __NR_sysinfo, __NR_uname};

/// The names of the kernel: `struct new_utsname`, six fields with a NUL.
pub struct KernelNames([[u8; 65]; 6]);

impl KernelNames {
    /// Queries the running kernel; if that is forbidden, all names are empty.
    #[must_use]
    pub fn running() -> KernelNames {
        let mut names = [[0; 65]; 6];
        // SAFETY: the kernel writes one record of this size. If it does not, the names stay empty.
        let _ = unsafe { syscall6(__NR_uname, [&raw mut names as usize, 0, 0, 0, 0, 0]) };
        KernelNames(names)
    }

    /// Returns the release, such as `6.1.0-56-cloud-amd64`.
    #[must_use]
    pub fn release(&self) -> &str {
        self.name(2)
    }

    /// Returns the instruction set, by the name that the kernel has for it.
    #[must_use]
    pub fn machine(&self) -> &str {
        self.name(4)
    }

    /// Returns the host's name.
    #[must_use]
    pub fn host(&self) -> &str {
        self.name(1)
    }

    fn name(&self, index: usize) -> &str {
        let field = self.0.get(index).map_or(&[][..], |field| field);
        let name = field.split(|&byte| byte == 0).next().unwrap_or_default();
        core::str::from_utf8(name).ok().filter(|name| !name.is_empty()).unwrap_or("?")
    }
}

/// The memory of the whole machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineMemory {
    /// All memory that the kernel manages.
    pub total: Bytes,
    /// Unused memory, which is less than the available memory.
    pub free: Bytes,
}

/// Queries the memory of the machine; all values are zero if that is forbidden.
///
/// # References
/// `sysinfo(2)`: its record is 14 words, and the last one begins with the unit.
#[must_use]
pub fn memory() -> MachineMemory {
    let mut record = [0_u64; 14];
    // SAFETY: the kernel writes one record of this size. If it does not, the record stays zero.
    let _ = unsafe { syscall6(__NR_sysinfo, [&raw mut record as usize, 0, 0, 0, 0, 0]) };
    let [_, _, _, _, total, free, .., unit] = record;
    let unit = Bytes(u64::from(unit as u32).max(1));
    MachineMemory { total: unit.times(total), free: unit.times(free) }
}

/// Returns the number of this process; 0, which no process has, if the call is forbidden.
#[must_use]
pub fn process_id() -> u32 {
    // SAFETY: takes no argument.
    unsafe { syscall6(__NR_getpid, [0; 6]) }.unwrap_or(0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_names_itself() {
        let kernel = KernelNames::running();
        assert_eq!(kernel.machine(), std::env::consts::ARCH);
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        assert_eq!(kernel.release(), release.trim_end());
        assert_eq!(process_id(), std::process::id());
    }

    #[test]
    fn memory_is_counted_in_bytes() {
        let memory = memory();
        assert!(memory.total > Bytes::MIB.times(16) && memory.free < memory.total, "{memory:?}");
    }
}
