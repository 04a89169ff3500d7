//! The machine for people: what is there, what is allowed, and what would allow the rest.

use core::fmt::{self, Write};

use latency_core::decimal::Decimal;
use latency_core::host::{Capability, Seccomp};
use latency_core::topology::{NodeKind, Source};
use latency_core::units::{Bytes, PageSize};

use super::facts::clock_line;
use super::Report;
use crate::machine::Machine;

/// Writes everything that the tool knows before it measures.
///
/// # Errors
///
/// Those of `out`.
pub fn text(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    let machine = report.machine;
    processor(out, machine)?;
    caches(out, machine)?;
    nodes(out, machine)?;
    settings(out, machine)?;
    clock_line(out, report)?;
    if let (Some(cycles), Some(ratio)) = (report.health.l1_cycles, report.health.multiply_ratio) {
        writeln!(
            out,
            "Health:     L1 hit {cycles:.2} core cycles; multiply/add {ratio:.2}",
            cycles = Decimal(cycles),
            ratio = Decimal(ratio)
        )?;
    }
    allowed(out, machine)
}

fn processor(out: &mut dyn Write, machine: &Machine) -> fmt::Result {
    let processor = &machine.processor;
    let (family, model, stepping) = processor.signature;
    let brand = if processor.brand.is_empty() { &machine.host.cpu_model } else { &processor.brand };
    writeln!(
        out,
        "Processor:  {brand} ({}, family {family} model {model} stepping {stepping})",
        processor.vendor
    )?;
    write!(out, "Platform:   {}", processor.platform.name())?;
    if !processor.hypervisor.is_empty() {
        write!(out, ", {}", processor.hypervisor)?;
    }
    writeln!(out, "; Linux {}", machine.host.kernel)?;
    writeln!(
        out,
        "CPUs:       {} online, {} allowed to this process",
        machine.topology.online_cpus(),
        machine.cpus
    )?;
    let prefetcher = if processor.data_dependent_prefetcher { "yes" } else { "none enumerated" };
    writeln!(out, "Prefetcher: data-dependent: {prefetcher}")
}

fn caches(out: &mut dyn Write, machine: &Machine) -> fmt::Result {
    let sysfs = machine.host.caches.as_slice();
    for cache in sysfs {
        writeln!(
            out,
            "Cache:      L{} {}: {}, {} ways, shared by CPUs {}",
            cache.level,
            cache.kind.name(),
            cache.size,
            cache.ways,
            cache.shared_by
        )?;
    }
    for claim in machine.processor.caches.iter().flatten() {
        let same = |cache: &&latency_core::host::Cache| {
            cache.level == u32::from(claim.level) && cache.kind.holds_data()
        };
        match sysfs.iter().find(same) {
            Some(cache) if cache.size == claim.size => {}
            _ => writeln!(out, "Cache:      L{} by CPUID: {}, {} ways", claim.level, claim.size, claim.ways)?,
        }
    }
    if sysfs.is_empty() && machine.processor.last_level_cache().is_none() {
        writeln!(
            out,
            "Cache:      neither sysfs nor CPUID tells; planned with {}",
            machine.last_level_cache()
        )?;
    }
    Ok(())
}

fn nodes(out: &mut dyn Write, machine: &Machine) -> fmt::Result {
    if machine.topology.source() == Source::Assumed {
        writeln!(out, "Nodes:      the kernel names none; taken as one")?;
    }
    for node in machine.topology.nodes() {
        let kind = match node.kind() {
            NodeKind::Full => "CPUs and memory",
            NodeKind::MemoryOnly => "memory only",
            NodeKind::CpuOnly => "CPUs only",
            NodeKind::Empty => "neither CPUs nor memory",
        };
        write!(out, "Node {:<7}{kind}", node.id)?;
        if !node.cpus.is_empty() {
            write!(out, "; CPUs {}", node.cpus)?;
        }
        if node.has_memory {
            write!(out, "; {}, {} free", node.memory_total, node.memory_free)?;
        }
        if let Some(package) = node.package {
            write!(out, "; package {package}")?;
        }
        for size in [PageSize::Huge2M, PageSize::Huge1G] {
            if let Some(pool) = node.page_pool(size) {
                write!(out, "; {size} pages: {} free of {}", pool.free, pool.total)?;
            }
        }
        if let Some(claim) = &node.claimed_latency {
            write!(out, "; firmware claims {} ns from nodes {}", claim.read.0 / 1000, claim.initiators)?;
        }
        if !machine.memory_nodes.contains(node.id.0) {
            out.write_str("; outside the cpuset")?;
        }
        writeln!(out)?;
    }
    if machine.topology.nodes().len() > 1 {
        for from in machine.topology.nodes() {
            write!(out, "Distance:   from {}:", from.id)?;
            for to in machine.topology.nodes() {
                match machine.topology.distance(from.id, to.id) {
                    Some(distance) => write!(out, " {distance}")?,
                    None => out.write_str(" -")?,
                }
            }
            writeln!(out, " (SLIT, not measured)")?;
        }
    }
    Ok(())
}

fn settings(out: &mut dyn Write, machine: &Machine) -> fmt::Result {
    let host = &machine.host;
    let or = |word: &str, otherwise: &'static str| {
        if word.is_empty() {
            host_word(otherwise)
        } else {
            host_word(word)
        }
    };
    writeln!(
        out,
        "Pages:      transparent huge pages {}; defragmentation {}",
        or(host.huge_pages.enabled.as_str(), "not in this kernel"),
        or(host.huge_pages.defragment.as_str(), "unknown")
    )?;
    writeln!(
        out,
        "Frequency:  governor {}, driver {}",
        or(host.frequency.governor.as_str(), "not shown"),
        or(host.frequency.driver.as_str(), "not shown")
    )?;
    if let Some(balancing) = host.memory_policy.numa_balancing {
        writeln!(out, "Balancing:  kernel.numa_balancing {balancing}")?;
    }
    if let Some(limit) = host.memory_limit {
        writeln!(out, "Memory:     limited to {} by a control group, {} left", limit.limit, limit.headroom)?;
    }
    if let Some(nodes) = machine.bound_to {
        writeln!(out, "Policy:     started bound to nodes {nodes}")?;
    }
    Ok(())
}

/// A word of the host as a text that outlives the closure that chose it.
fn host_word(word: &str) -> latency_core::text::Text<48> {
    latency_core::text::Text::from_bytes(word.as_bytes())
}

/// What may and may not be done here, with the one command that would allow it.
fn allowed(out: &mut dyn Write, machine: &Machine) -> fmt::Result {
    let process = &machine.host.process;
    writeln!(out, "\nHere this process may:")?;
    let filtered = matches!(process.seccomp, Some(Seccomp::Filter | Seccomp::Strict));
    let mut line = |can: bool, what: &str, remedy: &str| {
        if can {
            writeln!(out, "  yes  {what}")
        } else {
            writeln!(out, "  no   {what}; {remedy}")
        }
    };
    line(
        machine.policy_allowed,
        "place memory by policy (mbind)",
        "in a container: docker run --cap-add=SYS_NICE",
    )?;
    line(machine.has_proc, "see placements in /proc/self/numa_maps", "mount -t proc proc /proc")?;
    let pool = machine.topology.nodes().iter().any(|node| {
        node.page_pool(PageSize::Huge2M).is_some_and(|pool| Bytes(pool.free * (2 << 20)) >= Bytes(256 << 20))
    });
    line(pool, "take 256 MiB in 2 MiB pages from a pool", "as root: echo 512 > /proc/sys/vm/nr_hugepages")?;
    let thp = matches!(machine.host.huge_pages.enabled.as_str(), "always" | "madvise");
    line(
        thp,
        "get transparent huge pages",
        "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
    )?;
    let counters = machine.host.perf_event_paranoid.is_none_or(|level| level <= 2)
        && (!filtered || process.has(Capability::PerfMon));
    line(
        counters,
        "open performance counters, if the processor shows any",
        "as root: echo 2 > /proc/sys/kernel/perf_event_paranoid",
    )?;
    line(
        machine.cpus.len() == machine.topology.online_cpus().len(),
        "run on every CPU",
        "start it without taskset or in a wider cpuset",
    )
}
