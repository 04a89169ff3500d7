//! Chooses the CPUs that generate traffic, and their memory. Pure, like the whole plan.

use latency_core::topology::Shared;
use latency_core::{Bytes, CpuId, CpuSet, LINE, NodeId};

use super::Planning;
use super::sizes::{check, within_half};
use crate::error::Failure;
use crate::options::{FlagId, Options};
use latency_core::traffic::{LoadFrom, PERMUTED_LINES, Threads};
use latency_engine::error::PlacementError;
use latency_engine::machine::sizes::{CACHES, LEAST_DEFAULT};
use latency_engine::machine::{Machine, Platform};
use latency_engine::result::{Point, Traffic, TrafficSubject, Walk};
use latency_engine::threads::generators::spread;
use latency_engine::warning::{Warning, Warnings};

/// Minimum part of each generator: the core's own caches hold only a small share of it.
const LEAST_PART: Bytes = Bytes(16 << 20);
/// The memory within which traffic is permuted: footprints consist of whole blocks.
const BLOCK: Bytes = LINE.times(PERMUTED_LINES as u64);

/// Returns the CPUs that may generate from a node: those that the user gave, or one of each core, or all.
pub fn cpus(options: &Options, machine: &Machine, from: NodeId) -> CpuSet {
    let own = || match options.load_from {
        LoadFrom::All => machine.cpus,
        _ => machine.topology.node(from).map_or(CpuSet::EMPTY, |node| machine.cpus_of(node)),
    };
    match (&options.load_cpus, options.load_threads) {
        (Some(asked), _) => asked.intersection(&machine.cpus),
        (None, Threads::All) => own(),
        (None, Threads::One) => machine.sharing.cores_of(&own()),
    }
}

/// Returns the CPUs whose bandwidth is measured from a node: a CPU that the user gave generates by itself, unless the
/// user gave others in addition.
pub fn measured(options: &Options, machine: &Machine, from: NodeId) -> CpuSet {
    let alone = options.load_cpus.is_none() && !options.given.contains(FlagId::LoadThreads);
    match options.cpu.filter(|_| alone) {
        Some(cpu) => [cpu.0].into_iter().collect(),
        None => cpus(options, machine, from),
    }
}

/// Returns a CPU of each last-level cache whose CPUs generate from a node: the first. A CPU whose cache the kernel does not
/// report has one for itself.
pub fn last_level_caches(options: &Options, machine: &Machine, from: NodeId) -> CpuSet {
    let mut seen = CpuSet::EMPTY;
    let is_first = |cpu: &u32| seen.insert(machine.sharing.lowest(Shared::L3, *cpu));
    measured(options, machine, from).iter().filter(is_first).collect()
}

/// Returns whether the CPUs that generate from a node have several last-level caches, and cores share one of them.
pub fn have_several_caches(options: &Options, machine: &Machine, from: NodeId) -> bool {
    let cores = machine.sharing.cores_of(&measured(options, machine, from));
    // Without an L3, the CPUs of one L2 seem to share one.
    machine.cache(3).is_some() && (2..cores.len()).contains(&last_level_caches(options, machine, from).len())
}

/// Returns the CPUs whose bandwidth is measured by some traffic.
pub fn measured_of(options: &Options, machine: &Machine, traffic: &Traffic) -> CpuSet {
    let all = measured(options, machine, traffic.from);
    let cache = |cpu| machine.sharing.lowest(Shared::L3, cpu);
    match traffic.subject {
        TrafficSubject::Cpu(cpu) => [cpu.0].into_iter().collect(),
        TrafficSubject::LastLevelCache(first) => {
            all.iter().filter(|cpu| cache(*cpu) == cache(first.0)).collect()
        }
        TrafficSubject::Node | TrafficSubject::WorkingSet(_) => all,
    }
}

/// Returns the CPUs of a point of traffic: the point's own, and the CPUs of its other generators.
pub fn generating(options: &Options, machine: &Machine, point: &Point, traffic: &Traffic) -> CpuSet {
    let others = others(options, machine, point, traffic);
    let count = traffic.generators.saturating_sub(1) as usize;
    let spread = (0..count).filter_map(|index| spread(&others, index, count));
    spread.chain([point.cpu]).map(|cpu| cpu.0).collect()
}

/// Returns the CPUs for the generators of a point that are not on its own CPU. The core of that CPU has no generator,
/// unless the user wants all threads of cores, or some CPUs, to generate.
pub fn others(options: &Options, machine: &Machine, point: &Point, traffic: &Traffic) -> CpuSet {
    let core = |cpu: u32| machine.sharing.core_of(cpu);
    let (cpus, shared) = match point.walk {
        Walk::Loaded(_) => (cpus(options, machine, traffic.from), options.load_cpus.is_some()),
        _ => (
            measured_of(options, machine, traffic),
            options.load_cpus.is_some() || options.load_threads == Threads::All,
        ),
    };
    let is_other = |cpu: &u32| *cpu != point.cpu.0 && (shared || core(*cpu) != core(point.cpu.0));
    cpus.iter().filter(is_other).collect()
}

/// Returns the node whose CPUs generate the load of a pair.
pub const fn side(options: &Options, initiator: NodeId, target: NodeId) -> NodeId {
    match options.load_from {
        LoadFrom::Target => target,
        LoadFrom::Initiator | LoadFrom::All => initiator,
    }
}

/// Returns the CPU of the first generator from a node: the CPU that the user gave, or the first of all.
pub fn first(options: &Options, machine: &Machine, from: NodeId) -> Option<CpuId> {
    options.cpu.or_else(|| cpus(options, machine, from).first().map(CpuId))
}

/// Refuses requested CPUs that this process cannot use. Returns the node of the first of them; `None` if the user gave
/// none.
///
/// # Errors
///
/// [`PlacementError::CpuNotAllowed`].
pub fn check_cpus(options: &Options, machine: &'static Machine) -> Result<Option<NodeId>, Failure> {
    let Some(asked) = &options.load_cpus else { return Ok(None) };
    if let Some(cpu) = asked.difference(&machine.cpus).first().filter(|_| !asked.is_all()).map(CpuId) {
        return Err(PlacementError::CpuNotAllowed { cpu, allowed: &machine.cpus }.into());
    }
    let nodes = asked.intersection(&machine.cpus);
    Ok(nodes.iter().find_map(|cpu| machine.topology.node_of_cpu(CpuId(cpu))))
}

/// Warns if generators may not saturate memory, or may share a core without a report by the system.
pub fn warn_of_few(machine: &Machine, generators: u32, warnings: &mut Warnings) {
    warnings.push_if(generators == 1, Warning::OneGenerator);
    let several_threads = machine.cpus.iter().any(|cpu| machine.sharing.core_of(cpu) != cpu);
    if machine.processor.platform == Platform::Virtual && machine.cpus.len() > 1 && !several_threads {
        warnings.push(Warning::VcpusMayShareCore);
    }
}

/// Returns the memory of some generators on a node, one of `targets`: the size that the user gave for each, or a size
/// that reaches memory.
///
/// # Errors
///
/// The errors of [`footprint_in_memory`].
pub fn footprint(
    planning: &mut Planning<'_>,
    cpus: &CpuSet,
    targets: (NodeId, usize),
    generators: u32,
) -> Result<Bytes, PlacementError> {
    let Some(size) = planning.options.size else { return footprint_in_memory(planning, cpus, targets) };
    let all = size.times(u64::from(generators));
    check(planning.options, planning.machine, targets.0, all)?;
    Ok(all)
}

/// Returns the memory of all generators on a node, one of `targets`: several times the caches of their CPUs, and at
/// most two fifths of the node's available memory.
///
/// # Errors
///
/// The errors of [`super::working_set`].
pub fn footprint_in_memory(
    planning: &mut Planning<'_>,
    cpus: &CpuSet,
    (target, targets): (NodeId, usize),
) -> Result<Bytes, PlacementError> {
    let machine = planning.machine;
    let caches: CpuSet = cpus.iter().map(|cpu| machine.sharing.lowest(Shared::L3, cpu)).collect();
    // If shared caches are not reported, each core seems to have its own.
    let told = cpus.first().is_some_and(|cpu| machine.sharing.tells_core_of(cpu));
    let caches = if told { caches.len().max(1) as u64 } else { 1 };
    let wanted = machine.largest_cache().times(CACHES * caches).max(LEAST_DEFAULT);
    let wanted = wanted.max(LEAST_PART.times(cpus.len() as u64));
    let half = within_half(planning, target, targets, Bytes(wanted.0.next_multiple_of(BLOCK.0)))?;
    Ok(two_fifths(machine, (target, targets), half))
}

/// Returns `wanted`, limited to two fifths of the available memory of a node, one of `targets`, which share a control
/// group. Two fifths remain for a chain alongside generators, and a fifth for other processes.
pub fn two_fifths(machine: &Machine, (node, targets): (NodeId, usize), wanted: Bytes) -> Bytes {
    let fifths = |bytes: Bytes| bytes.0 / 5 * 2;
    let most = machine.supply(node).map_or(u64::MAX, |supply| {
        let shared = supply.headroom.map_or(u64::MAX, |all| fifths(all) / targets.max(1) as u64);
        shared.min(fifths(supply.on_node()))
    });
    machine.whole_pages(Bytes(wanted.0.min(most))).max(BLOCK)
}
