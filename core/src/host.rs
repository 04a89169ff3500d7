//! The system's description of itself, apart from its nodes: caches, clocks, settings and
//! the limits that this process is under.
//!
//! All of it is reported beside the results, or decides what may be tried;
//! nothing is ever written. Facts come through [`Files`]; an absent fact
//! is empty or `None`, and never an error.

mod caches;
mod cgroup;
mod cpu_time;
mod identity;
mod memory_limit;
mod process;
mod throttle;
mod uncore;
mod ways;

pub use caches::{plausible, Cache, CacheKind, Caches, MAX_CACHES};
pub use cpu_time::CpuTime;
pub use identity::Identity;
pub use memory_limit::MemoryLimit;
pub use process::{Capability, Process, Seccomp};
pub use throttle::Throttle;
pub use uncore::Uncore;
pub use ways::Ways;

pub use crate::text::Text;

use crate::topology::files::{self, field, kilobytes_after, path};
use crate::topology::Files;
use crate::units::{Bytes, CpuId};

/// A name that the kernel gives to a setting.
pub type Word = Text<32>;

/// The facts about a host. About 11 KiB: it is filled in place by [`Host::read`].
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// The names of the machine.
    pub identity: Identity,
    /// The kernel's release, such as `6.1.0-25-amd64`.
    pub kernel: Text<64>,
    /// The CPU's name by `/proc/cpuinfo`.
    pub cpu_model: Text<64>,
    /// Caches of the CPU that was asked about.
    pub caches: Caches,
    /// The part of its third-level cache that resctrl lets this process fill.
    pub ways: Option<Ways>,
    /// The rules by which its clock changes.
    pub frequency: Frequency,
    /// The clock from which the kernel takes its time, such as `tsc`, `kvm-clock`, `hpet`.
    pub clock_source: Word,
    /// Transparent huge pages.
    pub huge_pages: TransparentHugePages,
    /// The mechanisms that may move or hide memory during a run.
    pub memory_policy: MemoryPolicy,
    /// `kernel.perf_event_paranoid`: above 2 there are no counters without a privilege.
    pub perf_event_paranoid: Option<i32>,
    /// The limits of this process.
    pub process: Process,
    /// All memory of the machine.
    pub memory_total: Option<Bytes>,
    /// The part of it that is available without swapping, by the kernel's estimate.
    pub memory_available: Option<Bytes>,
    /// The tightest memory limit of the control groups that this process is in.
    pub memory_limit: Option<MemoryLimit>,
    /// The quota of CPU time of those groups.
    pub throttle: Option<Throttle>,
    /// Tasks that run or wait for a CPU, including this one.
    pub runnable: Option<u32>,
}

/// The rules by which a core clock changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frequency {
    /// The cpufreq driver, such as `intel_pstate`; empty without cpufreq.
    pub driver: Word,
    /// The governor, such as `performance`; empty without cpufreq.
    pub governor: Word,
    /// True where the clock may rise above its nominal rate.
    pub boost: Option<bool>,
}

/// Settings of transparent huge pages.
#[derive(Clone, Copy, Debug, Default)]
pub struct TransparentHugePages {
    /// The mappings that get them: `always`, `madvise` or `never`; empty in a kernel without them.
    pub enabled: Word,
    /// The effort that a page fault makes to get one.
    pub defragment: Word,
    /// True where khugepaged may make room for a huge page, so that one may appear during a run.
    pub khugepaged_defragment: Option<bool>,
}

/// Settings by which the kernel chooses or changes the node of a page.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryPolicy {
    /// `kernel.numa_balancing`: if not 0, pages follow the CPUs that use them.
    pub numa_balancing: Option<u32>,
    /// True where cold pages are demoted to slower nodes.
    pub demotion: Option<bool>,
    /// `vm.zone_reclaim_mode`: if not 0, the kernel reclaims memory of a full node before
    /// it uses another one.
    pub zone_reclaim_mode: Option<u32>,
}

impl Host {
    /// A host without any known fact.
    pub const EMPTY: Self = Self::unknown();

    /// Returns [`Host::EMPTY`]. Its unknown switches are not zero
    /// bytes, so the constant would take 10 KiB of an executable.
    #[must_use]
    pub const fn unknown() -> Self {
        Self {
            identity: Identity::EMPTY,
            kernel: Text::EMPTY,
            cpu_model: Text::EMPTY,
            caches: Caches::EMPTY,
            ways: None,
            frequency: Frequency { driver: Text::EMPTY, governor: Text::EMPTY, boost: None },
            clock_source: Text::EMPTY,
            huge_pages: TransparentHugePages {
                enabled: Text::EMPTY,
                defragment: Text::EMPTY,
                khugepaged_defragment: None,
            },
            memory_policy: MemoryPolicy { numa_balancing: None, demotion: None, zone_reclaim_mode: None },
            perf_event_paranoid: None,
            process: Process::EMPTY,
            memory_total: None,
            memory_available: None,
            memory_limit: None,
            throttle: None,
            runnable: None,
        }
    }

    /// Reads every fact again. Caches and clock are those of `cpu`.
    pub fn read(&mut self, files: &impl Files, cpu: CpuId) {
        self.identity = Identity::read(files);
        self.kernel = files::text(files, "/proc/sys/kernel/osrelease");
        self.cpu_model = cpu_model(files);
        self.caches.read(files, cpu);
        self.ways = Ways::read(files, cpu);
        self.frequency = Frequency::read(files, cpu);
        self.clock_source =
            files::text(files, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
        self.huge_pages = TransparentHugePages::read(files);
        self.memory_policy = MemoryPolicy::read(files);
        self.perf_event_paranoid = files::signed_number(files, "/proc/sys/kernel/perf_event_paranoid");
        self.process.read(files);
        self.memory_total = from_meminfo(files, "MemTotal:");
        self.memory_available = from_meminfo(files, "MemAvailable:");
        self.memory_limit = MemoryLimit::read(files);
        self.throttle = Throttle::find(files);
        self.runnable = runnable(files);
    }
}

/// Returns an amount of the machine's memory as it is now: `MemAvailable:`.
#[must_use]
pub fn from_meminfo(files: &impl Files, name: &str) -> Option<Bytes> {
    kilobytes_after(files.read("/proc/meminfo", &mut [0; 4 << 10])?, name)
}

impl Frequency {
    fn read(files: &impl Files, cpu: CpuId) -> Self {
        const CPUS: &str = "/sys/devices/system/cpu";
        let setting =
            |name| files::text(files, path(format_args!("{CPUS}/cpu{cpu}/cpufreq/{name}")).as_str());
        // intel_pstate has its own switch, with the opposite meaning.
        let no_turbo = files::switch(files, path(format_args!("{CPUS}/intel_pstate/no_turbo")).as_str());
        let boost = || files::switch(files, path(format_args!("{CPUS}/cpufreq/boost")).as_str());
        Self {
            driver: setting("scaling_driver"),
            governor: setting("scaling_governor"),
            boost: no_turbo.map(|off| !off).or_else(boost),
        }
    }
}

impl TransparentHugePages {
    fn read(files: &impl Files) -> Self {
        const DIRECTORY: &str = "/sys/kernel/mm/transparent_hugepage";
        let choice = |name| chosen(files, path(format_args!("{DIRECTORY}/{name}")).as_str());
        let khugepaged = path(format_args!("{DIRECTORY}/khugepaged/defrag"));
        Self {
            enabled: choice("enabled"),
            defragment: choice("defrag"),
            khugepaged_defragment: files::switch(files, khugepaged.as_str()),
        }
    }
}

impl MemoryPolicy {
    fn read(files: &impl Files) -> Self {
        Self {
            numa_balancing: files::number(files, "/proc/sys/kernel/numa_balancing"),
            demotion: files::switch(files, "/sys/kernel/mm/numa/demotion_enabled"),
            zone_reclaim_mode: files::number(files, "/proc/sys/vm/zone_reclaim_mode"),
        }
    }
}

/// Returns the word in brackets, by which the kernel marks the active choice:
/// `always [madvise] never`.
fn chosen(files: &impl Files, path: &str) -> Word {
    let mut buffer = [0; 128];
    let content = files.read(path, &mut buffer).unwrap_or_default();
    let word = |content: &'_ [u8]| {
        let start = content.iter().position(|byte| *byte == b'[')? + 1;
        let length = content.get(start..)?.iter().position(|byte| *byte == b']')?;
        Some(Text::from_bytes(content.get(start..start + length)?))
    };
    word(content).unwrap_or_default()
}

fn cpu_model(files: &impl Files) -> Text<64> {
    // The name stands in the first lines of the first CPU.
    let mut buffer = [0; 1 << 10];
    let content = files.read("/proc/cpuinfo", &mut buffer).unwrap_or_default();
    field(content, "model name").map_or(Text::EMPTY, Text::from_bytes)
}

/// Returns the first half of the fourth word of `0.06 0.09 0.04 1/91 7580`.
fn runnable(files: &impl Files) -> Option<u32> {
    let mut buffer = [0; 128];
    let content = files.read("/proc/loadavg", &mut buffer)?;
    let tasks = content.split(u8::is_ascii_whitespace).nth(3)?;
    files::parse(tasks.split(|byte| *byte == b'/').next()?)
}
