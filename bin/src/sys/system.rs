//! What the kernel says of itself and of the memory of the whole machine.
//!
//! Everything that /proc and /sys say is read elsewhere; this works without them.

use core::ffi::CStr;
use latency_core::units::Bytes;
use rustix::system::{sysinfo, uname, Uname};

/// The kernel's names.
pub struct Kernel(Uname);

impl Kernel {
    /// Asks the running kernel.
    #[must_use]
    pub fn running() -> Kernel {
        Kernel(uname())
    }

    /// The release, such as `6.1.0-56-cloud-amd64`.
    #[must_use]
    pub fn release(&self) -> &str {
        text(self.0.release())
    }

    /// The instruction set, such as `x86_64`.
    #[must_use]
    pub fn machine(&self) -> &str {
        text(self.0.machine())
    }

    /// The host's name.
    #[must_use]
    pub fn host(&self) -> &str {
        text(self.0.nodename())
    }
}

fn text(name: &CStr) -> &str {
    name.to_str().unwrap_or("?")
}

/// The memory of the whole machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// All that the kernel manages.
    pub total: Bytes,
    /// What is used for nothing at all: less than what is available.
    pub free: Bytes,
}

/// Asks the kernel for the memory of the machine.
///
/// # References
/// `sysinfo(2)`.
#[must_use]
pub fn memory() -> Memory {
    let info = sysinfo();
    let unit = Bytes(u64::from(info.mem_unit.max(1)));
    Memory { total: unit.times(info.totalram), free: unit.times(info.freeram) }
}

/// The number of this process.
#[must_use]
pub fn process_id() -> u32 {
    rustix::process::getpid().as_raw_nonzero().get().unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_names_itself() {
        let kernel = Kernel::running();
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
