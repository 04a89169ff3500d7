//! Collects the facts about the machine from the system.

use latency_core::arch::{self, Atomics};
use latency_core::host::{Dimm, DimmSource, Dimms, Host, TABLE, node_at, read_edac, read_table};
use latency_core::topology::{Files, Groups, Sharing, Source, Topology, files};
use latency_core::{CpuId, CpuSet, LineSize, NodeId, NodeSet, Text};

use super::Machine;
use super::processor::{self, Platform, Processor};
use crate::warning::{ShortText, Warning, Warnings};
use latency_sys::{Errno, SystemFiles, Table, auxv, cpu, numa};

/// Adds the hardware that the machine's CPUs share, which `files` describe, for experiments that choose among CPUs.
///
/// # Errors
///
/// The error of mapping memory for it.
pub fn sharing(machine: &mut Machine, files: &impl Files) -> Result<(), Errno> {
    // A guest may have several packages in one node, which are not those of the hardware.
    let mut nodes = machine.topology.nodes().iter();
    let packages =
        machine.processor.platform == Platform::Hardware || !nodes.any(|node| node.packages.len() > 1);
    let places = Table::filled(Sharing::places(&machine.cpus), Groups::EMPTY)?;
    machine.sharing = Sharing::read(files, &machine.topology, &machine.cpus, packages, places.leak());
    Ok(())
}

/// Detects the machine, from the CPU that the user gave or the first one of the node: caches and the kind of core
/// differ between cores of one package. The result is large, so it is in mapped memory.
///
/// The CPUs in `named` that the kernel lets this process use are its CPUs too: the inherited mask lacks isolated ones.
/// The calling thread stays on the CPU given if it may run there.
///
/// # Errors
///
/// The error of mapping memory for it; facts that cannot be read are left empty.
pub fn machine(cpu: Option<CpuId>, node: Option<NodeId>, named: &CpuSet) -> Result<Table<Machine>, Errno> {
    let files = SystemFiles;
    let mut table = Table::filled(
        1,
        Machine {
            topology: Topology::EMPTY,
            host: Host::default(),
            page: auxv::page_size(),
            line: LineSize::LEAST,
            processor: Processor::UNKNOWN,
            atomics: Atomics::detect(auxv::hardware_capabilities()),
            nodes: NodeSet::EMPTY,
            cpus: CpuSet::EMPTY,
            memory_nodes: NodeSet::EMPTY,
            bound_to: None,
            policy_allowed: false,
            has_numa: true,
            has_proc: files.read("/proc/self/stat", &mut [0; 16]).is_some(),
            sharing: Sharing::EMPTY,
            dimms: None,
            sizing: None,
            instead: &[],
            isolated: CpuSet::EMPTY,
            small: None,
        },
    )?;
    for machine in table.iter_mut() {
        let current = || cpu::current().into_iter().map(|(cpu, _)| cpu.0).collect();
        machine.cpus = cpu::allowed().unwrap_or_else(|_| {
            machine.host.process.read(&files);
            machine.host.process.cpus_allowed.intersection(&listed(&files, "devices/system/cpu/online"))
        });
        if machine.cpus.is_empty() {
            machine.cpus = current();
        }
        let inherited = machine.cpus;
        for cpu in named.difference(&inherited).iter().filter(|cpu| cpu::pin_to(CpuId(*cpu)).is_ok()) {
            machine.cpus.insert(cpu);
        }
        if machine.cpus != inherited {
            // The mask is as before until a CPU is chosen. Nothing depends on it if it cannot be restored.
            let _ = cpu::pin(&inherited);
        }
        machine.isolated = isolated(&files).difference(&machine.cpus);
        machine.topology.read(&files, &machine.cpus);
        machine.nodes = machine.topology.ids();
        let asked = cpu.filter(|cpu| machine.cpus.contains(cpu.0));
        let measured = asked.or_else(|| machine.cpu_of(node?)).or(machine.cpus.first().map(CpuId));
        machine.host.read(&files, measured.unwrap_or(CpuId(0)));
        // A processor describes the core that asks. A later check reports that the process may not run on that CPU.
        let _ = measured.map(cpu::pin_to);
        machine.processor = processor::identify(&files, measured.unwrap_or(CpuId(0)));
        machine.small = processor::small_cores(&files, &machine.topology.online_cpus);
        machine.processor.core = measured.and_then(|cpu| machine.kind_of(cpu)).or(machine.processor.core);
        machine.line = line(&machine.host);
        machine.dimms = dimms(&files, &machine.topology);
        machine.memory_nodes = memory_nodes(&machine.host, &machine.topology);
        let bound_to = numa::bound_to();
        machine.policy_allowed = bound_to.is_ok();
        machine.has_numa = !lacks_numa(&files, machine, bound_to.err());
        machine.bound_to = bound_to.ok().flatten();
    }
    Ok(table)
}

/// Returns whether the kernel was built without NUMA: it has neither the call nor the files, although both file systems
/// are mounted. A filter of system calls alone does not hide the files.
fn lacks_numa(files: &impl Files, machine: &Machine, refused: Option<Errno>) -> bool {
    let has = |path| files.read(path, &mut [0; 16]).is_some();
    refused == Some(Errno::ENOSYS)
        && machine.topology.source == Source::Assumed
        && machine.has_proc
        && has("/sys/devices/system/cpu/online")
        && !has("/proc/self/numa_maps")
}

/// Returns the CPUs in a file of /sys; none if it cannot be read.
fn listed(files: &impl Files, path: &str) -> CpuSet {
    files::set(files, format_args!("/sys/{path}")).unwrap_or(CpuSet::EMPTY)
}

/// Returns the CPUs that the kernel keeps free of processes, unless these choose them.
fn isolated(files: &impl Files) -> CpuSet {
    listed(files, "devices/system/cpu/isolated").union(&listed(files, "fs/cgroup/cpuset.cpus.isolated"))
}

/// Returns the description of the processor alone: of the CPU that executes the call, or of CPU 0 where files have it.
pub fn processor() -> Processor {
    processor::identify(&SystemFiles, CpuId(0))
}

/// Maximum size of the firmware's table that is read: tables of large servers have tens of KiB.
const MOST_OF_TABLE: usize = 256 << 10;
/// Maximum number of memory devices: the largest servers have fewer slots.
const MOST_DIMMS: usize = 512;

/// Returns the memory devices, by the firmware's table if this process may read it, or else by EDAC.
pub fn dimms(files: &impl Files, topology: &Topology) -> Option<Dimms<'static>> {
    let mut found: Table<Dimm> = Table::new(MOST_DIMMS + 1).ok()?;
    let with_memory = || topology.nodes().iter().filter(|node| node.has_memory).map(|node| node.id);
    let read = |found: &mut Table<Dimm>| {
        let mut table = Table::zeroed(MOST_OF_TABLE).ok()?;
        let table = files.read(TABLE, &mut table).filter(|table| table.len() < MOST_OF_TABLE)?;
        // All addresses are on the only node with memory.
        let only = with_memory().next().filter(|_| with_memory().nth(1).is_none());
        let node_at = |address| node_at(files, with_memory(), address);
        let slots = read_table(table, &node_at, &mut |dimm| _ = found.push(*dimm))?;
        found.iter_mut().for_each(|dimm| dimm.node = only.or(dimm.node));
        Some(slots)
    };
    let (mut source, slots) = (DimmSource::Smbios, read(&mut found));
    if slots.is_none() {
        found.truncate(0);
        read_edac(files, &mut |dimm| _ = found.push(*dimm))?;
        source = DimmSource::Edac;
    }
    let slots = slots.flatten();
    // An incomplete list would be counted wrongly.
    (found.len() <= MOST_DIMMS).then(|| Dimms { source, slots, populated: found.leak() })
}

/// Returns the longest cache line. A kernel without descriptions of caches (a device tree) does not report it; then it is
/// the shortest line according to the processor.
pub fn line(host: &Host) -> LineSize {
    host.caches.line(arch::shortest_line())
}

/// Returns the nodes that the cpuset allows: by system call, by /proc if containers forbid the call, otherwise all
/// nodes.
fn memory_nodes(host: &Host, topology: &Topology) -> NodeSet {
    match numa::mems_allowed() {
        Ok(nodes) if !nodes.is_empty() => nodes,
        _ if !host.process.mems_allowed.is_empty() => host.process.mems_allowed,
        _ => topology.ids(),
    }
}

/// Warns about properties of the machine that matter to every reader of a result.
pub fn warn(machine: &Machine, warnings: &mut Warnings) {
    let Machine { topology, host, processor, .. } = machine;
    warnings.push_if(!machine.has_proc, Warning::NoProc);
    if !machine.has_numa {
        warnings.push(Warning::NoNuma);
    } else if topology.source == Source::Assumed {
        warnings.push(Warning::NoSys);
    } else if topology.nodes().len() == 1 && machine.node_of_packages().is_none() {
        warnings.push(Warning::OneNode);
    }
    if let Some((node, packages)) = machine.node_of_packages() {
        warnings.push(Warning::NodeOfPackages { node, packages });
    }
    if topology.omitted > 0 {
        let held = topology.nodes().len() as u32;
        warnings.push(Warning::TooManyNodes { found: held + topology.omitted as u32, held });
    }
    let (allowed, online) = (machine.cpus.len() as u32, topology.online_cpus.len() as u32);
    if let Some((level, size)) = host.caches.implausible {
        warnings.push(Warning::CacheSizeImplausible { level, size });
    }
    if machine.reported_cache().is_none() {
        warnings.push(Warning::CacheUnknown { assumed: machine.last_level_cache() });
    }
    let isolated = machine.isolated.intersection(&topology.online_cpus);
    if let Some(first) = isolated.first() {
        let list = Text::<64>::of(format_args!("{isolated}"));
        let words = match ShortText::from_bytes(list.as_str().as_bytes()) {
            whole if whole.as_str() == list.as_str() => whole,
            _ => Text::of(format_args!("{first}, ...")),
        };
        warnings.push(Warning::CpusIsolated { cpus: words });
    }
    warnings.push_if(allowed + (isolated.len() as u32) < online, Warning::CpusetPartial { allowed, online });
    if let Some(throttle) = host.throttle.filter(|throttle| throttle.cpus < 1.0) {
        warnings.push(Warning::CpuQuota { cpus: throttle.cpus });
    }
    if let Some(dimms) = &machine.dimms
        && processor.platform == Platform::Hardware
    {
        let sockets = machine.packages().max(1) as u32;
        if dimms.are_unequal(sockets) {
            warnings.push(Warning::ChannelsUnequal { dimms: dimms.populated.len() as u32, sockets });
        }
    }
    if !matches!(host.frequency.governor.as_str(), "" | "performance") {
        warnings.push(Warning::FrequencyScaling {
            governor: ShortText::from_bytes(host.frequency.governor.as_str().as_bytes()),
        });
    }
    if host.numa_balancing.unwrap_or(0) != 0 && topology.nodes().len() > 1 {
        warnings.push(Warning::NumaBalancing);
    }
    if processor.platform == Platform::Emulated {
        warnings
            .push(Warning::Emulated { by: ShortText::from_bytes(processor.hypervisor.as_str().as_bytes()) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpus_under_the_test_have_cores() {
        let [machine] = machine(None, None, &CpuSet::EMPTY).unwrap().leak() else { panic!("one machine") };
        assert_eq!(machine.sharing.cores_of(&machine.cpus), machine.cpus);
        sharing(machine, &SystemFiles).unwrap();
        let cores = machine.sharing.cores_of(&machine.cpus);
        assert!(!cores.is_empty() && cores.difference(&machine.cpus).is_empty());
        assert!(machine.cpus.iter().all(|cpu| machine.sharing.core_of(cpu) <= cpu));
    }
}
