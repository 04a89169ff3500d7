//! The clock of the uncore, which is everything between the cores of a package and its memory, including the
//! last-level cache and the memory controllers.
//!
//! This clock follows the load within milliseconds, and latencies change with it. Linux reports it on Intel's
//! servers, to root only: by package and die, or, if there are more clocks, by numbered domains that name the parts
//! that they serve. Each reading accesses the hardware, on another CPU if necessary: this takes microseconds, so the
//! clock must not be read while something is timed.
//!
//! # References
//! Linux `Documentation/admin-guide/pm/intel_uncore_frequency_scaling.rst`.

use core::fmt;
use core::ops::RangeInclusive;

use crate::cpulist::CpuSet;
use crate::topology::{Files, files};

const CPUS: &str = "/sys/devices/system/cpu";
const CLOCKS: &str = "/sys/devices/system/cpu/intel_uncore_frequency";

/// Maximum number of dies of one node, which is the whole machine if NUMA is switched off. Further dies are left out.
const MOST_DIES: usize = 8;
/// Maximum number of domains of a machine: eight packages with five domains each have 40. Further domains are left
/// out.
const MOST_DOMAINS: u32 = 64;
/// Range of values of the register in kilohertz: it holds a multiple of 100 MHz in seven bits.
const POSSIBLE: RangeInclusive<u32> = 100_000..=12_700_000;

/// The clocks of the uncore that serve the memory of one node.
#[derive(Clone, Copy, Debug)]
pub struct Uncore {
    /// The dies of the node's CPUs.
    dies: [Option<Die>; MOST_DIES],
    /// The domains of these dies, one bit each; empty if each die has its own clock.
    domains: u64,
}

#[derive(Clone, Copy, Debug)]
struct Die {
    package: u32,
    number: u32,
}

impl Uncore {
    /// Finds the clocks of the dies of `cpus`, which are all CPUs of a node; returns `None` if the clocks cannot be
    /// read.
    ///
    /// Only the domains of these dies that serve memory count. Older kernels report neither the parts that a domain
    /// serves nor its die: all domains of the package then count.
    pub fn find(files: &impl Files, cpus: &CpuSet) -> Option<Self> {
        let mut found = Self { dies: dies_of(files, cpus), domains: 0 };
        for domain in 0..MOST_DOMAINS {
            // Domains are numbered without gaps.
            let Some(package) = number(files, domain, "package_id") else { break };
            let die = number(files, domain, "die_id");
            let same = |own: &Die| own.package == package && die.is_none_or(|die| own.number == die);
            if found.dies.iter().flatten().any(same) && serves_memory(files, domain) {
                found.domains |= 1 << domain;
            }
        }
        found.gigahertz(files).map(|_| found)
    }

    /// Reads the clock, or the mean of several clocks. Returns `None` unless each clock has a possible value.
    pub fn gigahertz(&self, files: &impl Files) -> Option<f64> {
        let (mut sum, mut count) = (0.0, 0.0);
        let mut add = |directory: fmt::Arguments<'_>| {
            let clock = files::number(files, format_args!("{CLOCKS}/{directory}/current_freq_khz"));
            let kilohertz = clock.filter(|clock| POSSIBLE.contains(clock))?;
            (sum, count) = (sum + f64::from(kilohertz), count + 1.0);
            Some(())
        };
        if self.domains == 0 {
            for Die { package, number } in self.dies.iter().flatten() {
                add(format_args!("package_{package:02}_die_{number:02}"))?;
            }
        }
        for domain in (0..MOST_DOMAINS).filter(|domain| self.domains >> domain & 1 == 1) {
            add(format_args!("uncore{domain:02}"))?;
        }
        (count > 0.0).then(|| sum / count / 1e6)
    }
}

/// Returns the dies of the CPUs. A CPU for which the kernel reports no die counts as part of the first CPU's die.
fn dies_of(files: &impl Files, cpus: &CpuSet) -> [Option<Die>; MOST_DIES] {
    let mut dies = [None; MOST_DIES];
    let mut left = *cpus;
    for slot in &mut dies {
        let Some(cpu) = left.first() else { break };
        let number = |name: &str| files::number(files, format_args!("{CPUS}/cpu{cpu}/topology/{name}"));
        let package = number("physical_package_id");
        *slot = package.map(|package| Die { package, number: number("die_id").unwrap_or(0) });
        let same = files::set(files, format_args!("{CPUS}/cpu{cpu}/topology/die_cpus_list"));
        let Some(same) = same.filter(|same: &CpuSet| same.contains(cpu)) else { break };
        left = left.difference(&same);
    }
    dies
}

fn number(files: &impl Files, domain: u32, name: &str) -> Option<u32> {
    files::number(files, format_args!("{CLOCKS}/uncore{domain:02}/{name}"))
}

/// Returns true if a domain serves memory, or if the kernel does not name the parts that it serves.
fn serves_memory(files: &impl Files, domain: u32) -> bool {
    let mut buffer = [0; 64];
    let agents = format_args!("{CLOCKS}/uncore{domain:02}/agent_types");
    let agents = files::read(files, agents, &mut buffer).unwrap_or_default().trim_ascii();
    agents.is_empty() || agents.split(u8::is_ascii_whitespace).any(|agent| agent == b"memory")
}
