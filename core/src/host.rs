//! The system's description of itself, except its nodes: caches, clocks, settings, and the limits
//! of this process.
//!
//! These facts are reported with the results, or decide which measurements are possible; nothing is
//! ever written. Facts are read through [`Files`]; an absent fact is empty or `None`, and never an
//! error.

mod allowance;
mod caches;
mod cgroup;
mod cpu_time;
mod dimms;
mod edac;
mod power;
mod process;
mod uncore;
mod ways;

pub use allowance::{Allowance, Bound};
pub use caches::{Cache, CacheKind, Caches, plausible};
pub use cgroup::{MemoryLimit, Throttle};
pub use cpu_time::CpuTime;
pub use dimms::{Dimm, DimmSource, Dimms, TABLE, node_at, read_edac, read_table};
pub use edac::ErrorCounts;
pub use power::{Power, hottest_dimm};
pub use process::{Footprint, Process};
pub use uncore::Uncore;
pub use ways::Ways;

pub use crate::text::Text;

use crate::topology::Files;
use crate::topology::files::{self, field, kilobytes_after};
use crate::units::{Bytes, CpuId, PageSize};

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
