//! The system's description of itself, except its nodes: clocks, settings, and the rights of this process. The files
//! below have caches, memory devices, and the limits of this process.
//!
//! These facts are reported with the results, or decide which measurements are possible; nothing is
//! ever written. Facts are read through [`Files`]; an absent fact is empty or `None`, and never an
//! error.
//!
//! # References
//! Linux `Documentation/ABI/testing/sysfs-platform_profile`, `Documentation/admin-guide/pm/intel_pstate.rst`
//! (`energy_performance_preference`), `Documentation/admin-guide/pm/cpuidle.rst`, `Documentation/hwmon/jc42.rst` and
//! `Documentation/hwmon/spd5118.rst`.

mod caches;
mod cpu_time;
mod dimms;
mod limits;
mod uncore;

use core::ops::RangeInclusive;

use crate::cpulist::{CpuSet, IdSet, NodeSet};
use crate::topology::Files;
use crate::topology::files::{self, field, hexadecimal, kilobytes_after};
use crate::units::{Bytes, CpuId, PageSize};

pub use crate::text::Text;
pub use caches::{Cache, CacheKind, Caches, Ways, plausible};
pub use cpu_time::CpuTime;
pub use dimms::{Dimm, DimmSource, Dimms, ErrorCounts, TABLE, node_at, read_edac, read_table};
pub use limits::{Allowance, Bound, MemoryLimit, Throttle};
pub use uncore::Uncore;

/// The directory of transparent huge pages.
const TRANSPARENT: &str = "/sys/kernel/mm/transparent_hugepage";

/// The kernel's name for a setting or a choice.
pub type Word = Text<32>;

/// The facts about a host. They occupy about 11 KiB, so [`Host::read`] fills them in place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Host {
    /// The names of the machine.
    pub identity: Identity,
    /// The kernel's release, such as `6.1.0-25-amd64`.
    pub kernel: Text<64>,
    /// The CPU's name according to `/proc/cpuinfo`.
    pub cpu_model: Text<64>,
    /// The caches of the CPU that was passed to [`Host::read`].
    pub caches: Caches,
    /// The part of this CPU's third-level cache that resctrl lets this process fill.
    pub ways: Option<Ways>,
    /// The rules by which this CPU's clock changes.
    pub frequency: Frequency,
    /// The settings that trade speed for power.
    pub power: Power,
    /// The temperature of the hottest memory device in thousandths of a degree Celsius; `None` if unknown.
    pub dimm_heat: Option<i32>,
    /// The kernel's clock source, such as `tsc`, `kvm-clock`, `hpet`.
    pub clock_source: Word,
    /// Transparent huge pages.
    pub huge_pages: TransparentHugePages,
    /// `kernel.numa_balancing`: if not 0, pages may migrate during a run to the node of the CPUs that use them.
    pub numa_balancing: Option<u32>,
    /// `kernel.perf_event_paranoid`: above 2, hardware counters need a privilege.
    pub perf_event_paranoid: Option<i32>,
    /// The limits of this process.
    pub process: Process,
    /// The total memory of the machine.
    pub memory_total: Option<Bytes>,
    /// The part of the memory that is available without swapping, as the kernel estimates it.
    pub memory_available: Option<Bytes>,
    /// The memory that the kernel no longer uses because of errors (`HardwareCorrupted`).
    pub memory_given_up: Option<Bytes>,
    /// The tightest memory limit of the control groups that this process is in.
    pub memory_limit: Option<MemoryLimit>,
    /// The memory that this process may map by other limits.
    pub allowance: Option<Allowance>,
    /// The tightest quota of CPU time of these control groups.
    pub throttle: Option<Throttle>,
}

/// The names of a machine; each is empty if the system does not provide it.
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

/// The rules by which a core clock changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frequency {
    /// The cpufreq driver, such as `intel_pstate`; empty without cpufreq.
    pub driver: Word,
    /// The governor, such as `performance`; empty without cpufreq.
    pub governor: Word,
}

/// Settings of transparent huge pages.
#[derive(Clone, Copy, Debug, Default)]
pub struct TransparentHugePages {
    /// The mappings that get huge pages: `always`, `madvise` or `never`; empty in a kernel without transparent huge
    /// pages.
    pub enabled: Word,
    /// The effort that a page fault makes to get a huge page.
    pub defragment: Word,
    /// The size of a huge page; `None` if the kernel does not report it, as before Linux 4.10.
    pub size: Option<PageSize>,
}

impl Host {
    /// Reads every fact again; the caches and the clock of `cpu`.
    ///
    /// # References
    ///
    /// Linux Documentation/admin-guide/sysctl/kernel.rst (random); Documentation/ABI/testing/sysfs-class-dmi.
    pub fn read(&mut self, files: &impl Files, cpu: CpuId) {
        // The first lines describe the first CPU.
        let mut buffer = [0; 1 << 10];
        let cpuinfo = files.read("/proc/cpuinfo", &mut buffer).unwrap_or_default();
        // Only root can read the serial numbers in class/dmi, so they are not read.
        self.identity = Identity {
            name: files::text(files, format_args!("/proc/sys/kernel/hostname")),
            boot: files::text(files, format_args!("/proc/sys/kernel/random/boot_id")),
            vendor: files::text(files, format_args!("/sys/class/dmi/id/sys_vendor")),
            product: files::text(files, format_args!("/sys/class/dmi/id/product_name")),
            firmware: files::text(files, format_args!("/sys/class/dmi/id/bios_version")),
            microcode: text_of(cpuinfo, "microcode"),
        };
        self.kernel = files::text(files, format_args!("/proc/sys/kernel/osrelease"));
        self.cpu_model = text_of(cpuinfo, "model name");
        self.caches.read(files, cpu);
        self.ways = Ways::read(files, cpu);
        let clock = format_args!("/sys/devices/system/cpu/cpu{cpu}/cpufreq");
        self.frequency = Frequency {
            driver: files::text(files, format_args!("{clock}/scaling_driver")),
            governor: files::text(files, format_args!("{clock}/scaling_governor")),
        };
        self.power = Power::read(files, cpu);
        self.dimm_heat = hottest_dimm(files);
        self.clock_source = files::text(
            files,
            format_args!("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        );
        let size = format_args!("{TRANSPARENT}/hpage_pmd_size");
        self.huge_pages = TransparentHugePages {
            enabled: chosen(files, "enabled"),
            defragment: chosen(files, "defrag"),
            size: files::number(files, size).and_then(|size| PageSize::of(Bytes(size))),
        };
        self.numa_balancing = files::number(files, format_args!("/proc/sys/kernel/numa_balancing"));
        self.perf_event_paranoid = files::number(files, format_args!("/proc/sys/kernel/perf_event_paranoid"));
        self.process.read(files);
        self.memory_total = from_meminfo(files, "MemTotal:");
        self.memory_available = from_meminfo(files, "MemAvailable:");
        self.memory_given_up = from_meminfo(files, "HardwareCorrupted:");
        self.memory_limit = MemoryLimit::read(files);
        self.allowance = Allowance::read(files);
        self.throttle = Throttle::find(files);
    }
}

/// Returns one current amount from `/proc/meminfo`, such as `MemAvailable:`.
pub fn from_meminfo(files: &impl Files, name: &str) -> Option<Bytes> {
    kilobytes_after(files.read("/proc/meminfo", &mut [0; 4 << 10])?, name)
}

/// Returns the active choice of a setting, which the kernel puts in brackets: `always [madvise]
/// never`.
fn chosen(files: &impl Files, setting: &str) -> Word {
    let mut buffer = [0; 128];
    let path = format_args!("{TRANSPARENT}/{setting}");
    let content = files::read(files, path, &mut buffer).unwrap_or_default();
    let word = |content: &'_ [u8]| {
        let start = content.iter().position(|byte| *byte == b'[')? + 1;
        let length = content.get(start..)?.iter().position(|byte| *byte == b']')?;
        Some(Text::from_bytes(content.get(start..start + length)?))
    };
    word(content).unwrap_or_default()
}

/// Returns the value of a line `name: value`; empty if the line is missing.
fn text_of<const N: usize>(content: &[u8], name: &str) -> Text<N> {
    field(content, name).map_or(Text::EMPTY, Text::from_bytes)
}

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
    fn read(files: &impl Files, cpu: CpuId) -> Power {
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
