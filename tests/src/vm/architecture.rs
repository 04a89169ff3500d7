//! The instruction set of a guest, and everything that differs by it.

use crate::program::{AARCH64_VARIABLE, built, chosen, try_binary};
use std::path::PathBuf;

/// An instruction set that guests have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Architecture {
    /// The one of the hosts of these tests.
    #[default]
    X86_64,
    /// 64-bit ARM.
    Aarch64,
}

impl Architecture {
    /// Returns the emulator and the Debian package that has it.
    pub(super) const fn emulator(self) -> [&'static str; 2] {
        match self {
            Architecture::X86_64 => ["qemu-system-x86_64", "qemu-system-x86"],
            Architecture::Aarch64 => ["qemu-system-aarch64", "qemu-system-arm"],
        }
    }

    /// Returns the emulator's board.
    pub(super) const fn board(self) -> &'static str {
        match self {
            Architecture::X86_64 => "q35",
            Architecture::Aarch64 => "virt,gic-version=3",
        }
    }

    /// Returns the properties of a processor with which guests boot faster, to append to its name.
    pub(super) fn properties(self, cpu_model: &str) -> &'static str {
        match self {
            // Strings of bytes, one at a time: a kernel uses them to clear every page if they are offered, and otherwise
            // clears eight bytes at a time.
            Architecture::X86_64 => ",-erms,-fsrm",
            // The emulator computes the architecture's cipher of pointers at each call otherwise.
            Architecture::Aarch64 if cpu_model == "max" => ",pauth-impdef=on",
            Architecture::Aarch64 => "",
        }
    }

    /// Returns the kernel's name of the serial line.
    pub(super) const fn console(self) -> &'static str {
        match self {
            Architecture::X86_64 => "ttyS0",
            Architecture::Aarch64 => "ttyAMA0",
        }
    }

    /// Returns parameters with which the kernel boots faster or more reliably.
    pub(super) const fn kernel_parameters(self) -> &'static [&'static str] {
        match self {
            // To a guest, a host that is busy at the wrong moment looks like a broken timer; locks are removed from the
            // kernel's code again if there is one CPU.
            Architecture::X86_64 => &["no_timer_check", "noreplace-smp"],
            Architecture::Aarch64 => &[],
        }
    }

    /// Returns Debian's name.
    pub(super) const fn debian(self) -> &'static str {
        match self {
            Architecture::X86_64 => "amd64",
            Architecture::Aarch64 => "arm64",
        }
    }

    /// Returns the executable under test.
    ///
    /// # Errors
    ///
    /// A sentence that names the missing file and the command that builds it.
    pub fn binary(self) -> Result<PathBuf, String> {
        match self {
            Architecture::X86_64 => try_binary(),
            Architecture::Aarch64 => {
                chosen(AARCH64_VARIABLE, "target/aarch64/latency-bench", "make ARCH=aarch64")
            }
        }
    }

    /// Returns the program that is process 1 of guests with a prepared condition.
    ///
    /// # Errors
    ///
    /// A sentence that names the missing file and the command that builds it.
    pub(super) fn guest(self) -> Result<PathBuf, String> {
        match self {
            Architecture::X86_64 => {
                built("target/x86_64-unknown-linux-gnu/release/latency-guest", "make guest")
            }
            Architecture::Aarch64 => {
                built("target/aarch64-unknown-linux-musl/release/latency-guest", "make guest ARCH=aarch64")
            }
        }
    }
}
