//! The memory devices that the kernel's drivers for memory errors (EDAC) know, and the errors that they have counted.
//!
//! # References
//! Linux `Documentation/admin-guide/RAS/main.rst` and `Documentation/ABI/testing/sysfs-devices-edac`.

use crate::text::Text;
use crate::topology::{Files, files};

/// Maximum number of memory controllers, and of devices of each: a processor has up to twelve controllers, and only
/// populated slots have a directory, so their numbers have gaps.
const MOST: [u32; 2] = [128, 128];

/// A device, or a rank of it.
pub struct EdacDevice {
    /// Its directory.
    pub directory: Text<64>,
    /// Its capacity in MiB.
    pub size: u64,
    /// True if it is only a rank.
    pub is_rank: bool,
}

/// Passes each device to `each`.
pub fn visit(files: &impl Files, each: &mut dyn FnMut(&EdacDevice)) {
    for controller in 0..MOST[0] {
        let own: Text<64> = Text::of(format_args!("/sys/devices/system/edac/mc/mc{controller}"));
        if files::read(files, format_args!("{own}/mc_name"), &mut [0; 64]).is_none() {
            continue;
        }
        for device in 0..2 * MOST[1] {
            let (is_rank, device) = (device >= MOST[1], device % MOST[1]);
            let name = if is_rank { "rank" } else { "dimm" };
            let directory = Text::of(format_args!("{own}/{name}{device}"));
            if let Some(size) = files::number(files, format_args!("{directory}/size")) {
                each(&EdacDevice { directory, size, is_rank });
            }
        }
    }
}

/// The errors of a device, or of a rank of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCounts {
    /// Its name, in the words of the firmware or of the driver.
    pub locator: Text<64>,
    /// The directory of its counters, which distinguishes devices of one name.
    pub directory: Text<64>,
    /// The corrected and the uncorrected errors since the kernel started, and both since an earlier reading; `None` if
    /// unknown.
    pub counts: [Option<u64>; 4],
}

impl ErrorCounts {
    /// Passes the counts of each device since the kernel started to `each`.
    pub fn read(files: &impl Files, each: &mut dyn FnMut(&ErrorCounts)) {
        visit(files, &mut |EdacDevice { directory, .. }| {
            let count = |kind| files::number(files, format_args!("{directory}/dimm_{kind}_count"));
            each(&ErrorCounts {
                locator: files::text(files, format_args!("{directory}/dimm_label")),
                directory: *directory,
                counts: [count("ce"), count("ue"), None, None],
            });
        });
    }

    /// Returns true if both are counts of one device.
    pub fn is_of(&self, other: &ErrorCounts) -> bool {
        (&self.directory, &self.locator) == (&other.directory, &other.locator)
    }
}
