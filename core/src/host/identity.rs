//! The names of the machine, which a reader of a saved result needs first.

use crate::text::Text;
use crate::topology::files;
use crate::topology::Files;

/// The names of a machine; each is empty where the system does not tell.
#[derive(Clone, Copy, Debug, Default)]
pub struct Identity {
    /// The host name.
    pub name: Text<64>,
    /// The random id that the kernel chose when it started.
    pub boot: Text<36>,
    /// The maker of the machine.
    pub vendor: Text<48>,
    /// The model of the machine.
    pub product: Text<48>,
    /// The version of its firmware.
    pub firmware: Text<48>,
    /// The revision of the processor's microcode.
    pub microcode: Text<16>,
}

impl Identity {
    /// An identity without any name.
    pub const EMPTY: Self = Self {
        name: Text::EMPTY,
        boot: Text::EMPTY,
        vendor: Text::EMPTY,
        product: Text::EMPTY,
        firmware: Text::EMPTY,
        microcode: Text::EMPTY,
    };

    /// Reads the names that every user may read.
    ///
    /// # References
    ///
    /// Linux Documentation/admin-guide/sysctl/kernel.rst (random); Documentation/ABI/testing/sysfs-class-dmi: only root
    /// can read the serial numbers there, so they are not read.
    pub(super) fn read(files: &impl Files) -> Self {
        let mut buffer = [0; 1 << 10];
        let processor = files.read("/proc/cpuinfo", &mut buffer).unwrap_or_default();
        Self {
            name: files::text(files, "/proc/sys/kernel/hostname"),
            boot: files::text(files, "/proc/sys/kernel/random/boot_id"),
            vendor: files::text(files, "/sys/class/dmi/id/sys_vendor"),
            product: files::text(files, "/sys/class/dmi/id/product_name"),
            firmware: files::text(files, "/sys/class/dmi/id/bios_version"),
            microcode: files::field(processor, "microcode").map_or(Text::EMPTY, Text::from_bytes),
        }
    }
}
