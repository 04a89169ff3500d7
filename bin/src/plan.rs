//! From options and machine to a finite list of points. Pure: no system is asked.
//!
//! What cannot be is refused here, before anything is mapped; what is made
//! smaller or left out is said.

pub mod curve;
pub mod duration;
pub mod lanes;
pub mod single;

use latency_core::chain::{Chain, Order, PAGE_LOCAL};
use latency_core::cpulist::NodeSet;
use latency_core::kernel::{self, Kernel};
use latency_core::units::{Bytes, CpuId, NodeId};

use crate::error::{Failure, PlacementError, UsageError};
use crate::machine::Machine;
use crate::options::{self, Choice, Options};
use crate::result::{Point, Walk};
use crate::warning::{Clipped, Warning, Warnings};

/// A working set below this is no measurement of memory on any machine of today.
const LEAST_DEFAULT: Bytes = Bytes(256 << 20);
/// Memory is reached when the working set is this many times the last-level cache:
/// of a cyclic random chase over 3.4 times a cache, 3.7 % of the hops still hit.
const CACHES: u64 = 4;

/// Which nodes measure which.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    /// The nodes on which chases run.
    pub initiators: NodeSet,
    /// The nodes whose memory they walk.
    pub targets: NodeSet,
    /// The CPU, where it was given.
    cpu: Option<CpuId>,
}

impl Scope {
    /// The nodes that options and machine leave.
    ///
    /// # Errors
    ///
    /// [`UsageError`] for nodes and CPUs that do not exist, [`PlacementError`] for those out of reach.
    pub fn resolve<'a>(
        options: &Options<'a>,
        machine: &'a Machine,
        warnings: &mut Warnings,
    ) -> Result<Scope, Failure<'a>> {
        for node in [options.cpunode, options.memnode].iter().flatten().flat_map(NodeSet::iter) {
            exists(machine, NodeId(node))?;
        }
        let initiators = match (options.cpu, options.cpunode) {
            (Some(cpu), _) => only(cpu_node(machine, cpu)?),
            (None, Some(asked)) => {
                for node in asked.iter() {
                    can_run(machine, NodeId(node))?;
                }
                asked
            }
            (None, None) => machine.initiators(),
        };
        let targets = match options.memnode {
            Some(asked) => {
                for node in asked.iter() {
                    has_memory(machine, NodeId(node))?;
                }
                asked
            }
            None => default_targets(machine, warnings),
        };
        Ok(Scope { initiators, targets, cpu: options.cpu })
    }

    /// The CPU that stands for an initiator.
    #[must_use]
    pub fn cpu(&self, machine: &Machine, initiator: NodeId) -> Option<CpuId> {
        self.cpu.or_else(|| machine.cpu_of(initiator))
    }

    /// The number of pairs.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.initiators.len() * self.targets.len()
    }
}

fn only(node: NodeId) -> NodeSet {
    [node.0].into_iter().collect()
}

fn exists(machine: &Machine, node: NodeId) -> Result<(), UsageError<'_>> {
    let last = machine.topology.max_node();
    if node > last {
        return Err(UsageError::NodeTooLarge { node, last });
    }
    match machine.topology.node(node) {
        Some(_) => Ok(()),
        None => Err(UsageError::NodeAbsent { node, nodes: &machine.nodes }),
    }
}

fn can_run(machine: &Machine, node: NodeId) -> Result<(), PlacementError<'_>> {
    match machine.topology.node(node) {
        Some(found) if found.cpus.is_empty() => Err(PlacementError::NodeWithoutCpus { node }),
        Some(found) if machine.cpus_of(found).is_empty() => {
            Err(PlacementError::NoAllowedCpu { node, allowed: &machine.cpus })
        }
        _ => Ok(()),
    }
}

fn has_memory(machine: &Machine, node: NodeId) -> Result<(), PlacementError<'_>> {
    match machine.topology.node(node) {
        Some(found) if !found.has_memory => Err(PlacementError::NodeWithoutMemory { node }),
        Some(_) if !machine.memory_nodes.contains(node.0) => {
            Err(PlacementError::NodeNotAllowed { node, allowed: &machine.memory_nodes })
        }
        _ => Ok(()),
    }
}

/// The node of a CPU that was asked for by number.
fn cpu_node(machine: &Machine, cpu: CpuId) -> Result<NodeId, Failure<'_>> {
    let online = machine.topology.online_cpus();
    match machine.topology.node_of_cpu(cpu) {
        _ if !online.contains(cpu.0) => Err(match machine.topology.present_cpus().contains(cpu.0) {
            true => UsageError::CpuOffline { cpu, online }.into(),
            false => UsageError::CpuAbsent { cpu, online }.into(),
        }),
        Some(_) if !machine.cpus.contains(cpu.0) => {
            Err(PlacementError::CpuNotAllowed { cpu, allowed: &machine.cpus }.into())
        }
        Some(node) => Ok(node),
        None => Err(UsageError::CpuAbsent { cpu, online }.into()),
    }
}

/// Every node with memory that the process may use; those that `numactl --membind` left, if it was started so.
fn default_targets(machine: &Machine, warnings: &mut Warnings) -> NodeSet {
    let all = machine.targets();
    for node in machine.topology.nodes().iter().filter(|node| node.has_memory) {
        if !all.contains(node.id.0) {
            warnings.push(Warning::NodeLeftOut { node: node.id });
        }
    }
    match machine.bound_to.map(|bound| bound.intersection(&all)) {
        Some(bound) if !bound.is_empty() && bound != all => {
            warnings.push(Warning::InheritedPolicy { policy: "bind" });
            bound
        }
        _ => all,
    }
}

/// The working set on a node: what was asked for, or large enough to reach memory and small enough to be had.
///
/// # Errors
///
/// [`PlacementError::NotEnoughMemory`] where not even two pages of memory are left.
pub fn working_set(
    options: &Options<'_>,
    machine: &Machine,
    target: NodeId,
    warnings: &mut Warnings,
) -> Result<Bytes, PlacementError<'static>> {
    let cache = machine.last_level_cache();
    if let Some(size) = options.size {
        if size < cache.times(CACHES) {
            warnings.push(Warning::CacheCouldHold { size, cache });
        }
        return Ok(size);
    }
    let wanted = cache.times(CACHES).max(LEAST_DEFAULT);
    let size = within_half_of_free(machine, target, wanted, warnings)?;
    if size < cache.times(CACHES) {
        warnings.push(Warning::CacheCouldHold { size, cache });
    }
    Ok(size)
}

/// As much of `wanted` as half of what is free on a node; what is cut off is said.
fn within_half_of_free(
    machine: &Machine,
    target: NodeId,
    wanted: Bytes,
    warnings: &mut Warnings,
) -> Result<Bytes, PlacementError<'static>> {
    let free = machine.free_memory(target);
    // Whole 2 MiB pages, so that every kind of page can serve it.
    let half = Bytes(free.0 / 2 / (2 << 20) * (2 << 20));
    if half >= wanted || free.0 == 0 {
        return Ok(wanted);
    }
    if half.0 == 0 {
        return Err(PlacementError::NotEnoughMemory { node: target, wanted, free });
    }
    let on_node = machine.topology.node(target).map_or(Bytes(0), |node| node.memory_free);
    let why = if free < on_node { Clipped::ControlGroup } else { Clipped::HalfOfFree };
    warnings.push(Warning::SizeClipped { from: wanted, to: half, why });
    Ok(half)
}

/// The order of a chain by the option's value.
#[must_use]
pub const fn order(option: options::Order) -> Order {
    match option {
        options::Order::Random => Order::Random,
        options::Order::PageLocal => PAGE_LOCAL,
        options::Order::Sequential => Order::Sequential,
        options::Order::Backward => Order::Backward,
    }
}

/// The kernel by the option's value.
#[must_use]
pub const fn kernel(option: options::Kernel) -> &'static Kernel {
    match option {
        options::Kernel::Pointer => &kernel::POINTER,
        options::Kernel::Index => &kernel::INDEX,
    }
}

/// The points of the matrix, by initiator and then by target, given to `each`.
///
/// # Errors
///
/// As [`Scope::resolve`] and [`working_set`]; [`UsageError`] for a chain that cannot be.
pub fn matrix<'a>(
    options: &Options<'a>,
    machine: &'a Machine,
    scope: &Scope,
    warnings: &mut Warnings,
    mut each: impl FnMut(Point),
) -> Result<(), Failure<'a>> {
    if options.order != options::Order::Random {
        warnings.push(Warning::PrefetchAssisted { order: options.order.word() });
    }
    for initiator in scope.initiators.iter().map(NodeId) {
        let Some(cpu) = scope.cpu(machine, initiator) else { continue };
        for target in scope.targets.iter().map(NodeId) {
            let point = Point {
                initiator,
                cpu,
                target,
                kernel: kernel(options.kernel),
                order: order(options.order),
                size: working_set(options, machine, target, warnings)?,
                stride: options.stride,
                seed: options.seed,
                pages: options.pages,
                walk: Walk::Chain,
            };
            chain(&point)?;
            each(point);
        }
    }
    Ok(())
}

/// The chain of a point.
///
/// # Errors
///
/// [`UsageError::NoSuchChain`] where size, stride and order do not go together.
pub fn chain(point: &Point) -> Result<Chain, UsageError<'static>> {
    Chain::new(point.order, point.size, point.stride, point.seed)
        .map_err(|_| UsageError::NoSuchChain { size: point.size, stride: point.stride })
}

#[cfg(test)]
pub(crate) mod tests;
