//! The settings by which a machine saves power, and the temperature of its memory devices.
//!
//! # References
//! Linux `Documentation/ABI/testing/sysfs-platform_profile`, `Documentation/admin-guide/pm/intel_pstate.rst`
//! (`energy_performance_preference`), `Documentation/admin-guide/pm/cpuidle.rst`, `Documentation/hwmon/jc42.rst` and
//! `Documentation/hwmon/spd5118.rst`.

use core::ops::RangeInclusive;

use crate::text::Text;
use crate::topology::{Files, files};
use crate::units::CpuId;

/// Maximum number of idle states of a CPU in Linux.
const MOST_STATES: u32 = 10;
/// Maximum number of sensors: their numbers have gaps, and servers have some dozens.
const MOST_SENSORS: u32 = 128;
/// Plausible temperatures in thousandths of a degree Celsius: the range of the sensors on memory devices.
const PLAUSIBLE: RangeInclusive<i32> = -40_000..=150_000;

/// The settings that trade speed for power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Power {
    /// The firmware's profile, such as `balanced`; empty without one.
    pub profile: Text<32>,
    /// The preference of a CPU, such as `balance_performance`; empty without one.
    pub preference: Text<32>,
    /// The deepest idle state that is enabled for a CPU, such as `C6`; empty if unknown.
    pub deepest_idle: Text<32>,
}

impl Power {
    /// Reads the profile, and the settings of `cpu`.
    pub(super) fn read(files: &impl Files, cpu: CpuId) -> Power {
        let cpu = format_args!("/sys/devices/system/cpu/cpu{cpu}");
        Power {
            profile: files::text(files, format_args!("/sys/firmware/acpi/platform_profile")),
            preference: files::text(files, format_args!("{cpu}/cpufreq/energy_performance_preference")),
            deepest_idle: deepest_idle(files, cpu).unwrap_or_default(),
        }
    }
}

/// Returns the deepest enabled idle state; `None` also if it is unknown for one of the states whether it is enabled.
fn deepest_idle(files: &impl Files, cpu: core::fmt::Arguments<'_>) -> Option<Text<32>> {
    let mut deepest = None;
    for state in 0..MOST_STATES {
        let state = format_args!("{cpu}/cpuidle/state{state}");
        let name: Text<32> = files::text(files, format_args!("{state}/name"));
        if name.is_empty() {
            break;
        }
        if files::number::<u64>(files, format_args!("{state}/disable"))? == 0 {
            deepest = Some(name);
        }
    }
    deepest
}

/// Returns the temperature of the hottest memory device in thousandths of a degree Celsius; `None` if no driver reads
/// their sensors.
pub fn hottest_dimm(files: &impl Files) -> Option<i32> {
    let mut hottest = None;
    for sensor in 0..MOST_SENSORS {
        let sensor = format_args!("/sys/class/hwmon/hwmon{sensor}");
        let driver: Text<32> = files::text(files, format_args!("{sensor}/name"));
        if matches!(driver.as_str(), "jc42" | "spd5118") {
            let degrees = files::number(files, format_args!("{sensor}/temp1_input"));
            hottest = hottest.max(degrees.filter(|degrees| PLAUSIBLE.contains(degrees)));
        }
    }
    hottest
}
