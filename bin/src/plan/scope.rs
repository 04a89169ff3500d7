//! The nodes and the CPU of an experiment.
//!
//! Impossible requests are refused here, before anything is mapped.

use latency_core::{CpuId, NodeId, NodeSet};

use super::Planning;
use crate::error::Failure;
use crate::options::{Options, UsageError};
use latency_engine::error::PlacementError;
use latency_engine::machine::Machine;
use latency_engine::warning::{Warning, Warnings};

/// The initiator nodes and the target nodes of an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    /// The nodes on which chases run.
    pub initiators: NodeSet,
    /// The nodes whose memory they walk.
    pub targets: NodeSet,
    /// The CPU, if the user gave one.
    cpu: Option<CpuId>,
    /// True if each initiator walks only its own memory.
    pub(super) local: bool,
}

impl Scope {
    /// Returns the nodes that options and machine allow.
    ///
    /// # Errors
    ///
    /// [`UsageError`] for nodes and CPUs that do not exist, [`PlacementError`] for unreachable ones and for pages that
    /// the kernel does not have.
    pub fn resolve(planning: &mut Planning<'_>) -> Result<Scope, Failure> {
        let Planning { options, machine, .. } = *planning;
        machine.check_pages(super::pages(options, machine))?;
        let [from, to] =
            [&options.cpunode, &options.memnode].map(|asked| asked.as_ref().filter(|nodes| !nodes.is_all()));
        for asked in [from, to].into_iter().flatten() {
            checked(asked, |node| exists(machine, node))?;
        }
        let initiators = match (options.cpu, from) {
            (Some(cpu), _) => only(cpu_node(machine, cpu)?),
            (None, Some(asked)) => checked(asked, |node| can_run(machine, node))?,
            (None, None) => machine.initiators(),
        };
        let mut targets = match to {
            Some(asked) => checked(asked, |node| has_memory(machine, node))?,
            None => default_targets(machine, planning.warnings),
        };
        if options.local {
            targets = targets.intersection(&initiators);
            if targets.is_empty() {
                return Err(Failure::NOTHING_TO_MEASURE);
            }
        }
        Ok(Scope { initiators, targets, cpu: options.cpu, local: options.local })
    }

    /// Returns the nodes whose memory an initiator walks.
    pub fn targets_of(&self, initiator: NodeId) -> NodeSet {
        if self.local { self.targets.intersection(&only(initiator)) } else { self.targets }
    }

    /// Returns the only pair of nodes to be measured.
    ///
    /// # Errors
    ///
    /// [`UsageError::OneNodeOnly`] if the user gave several; [`PlacementError`] if there is none.
    pub fn pair(&self, options: &Options, machine: &'static Machine) -> Result<(NodeId, NodeId), Failure> {
        let asked =
            [("cpunode", options.cpunode, self.initiators), ("memnode", options.memnode, self.targets)];
        for (option, asked, nodes) in asked {
            if asked.is_some() && nodes.len() > 1 {
                return Err(UsageError::OneNodeOnly { option, found: nodes.len() }.into());
            }
        }
        let initiator = self.initiators.first().map(NodeId).ok_or(Failure::NOTHING_TO_MEASURE)?;
        let local = self.targets.contains(initiator.0).then_some(initiator);
        let near = || {
            let distance = |target: &NodeId| machine.topology.distance(initiator, *target).unwrap_or(u8::MAX);
            self.targets.iter().map(NodeId).min_by_key(distance)
        };
        let target = local.or_else(near).ok_or(Failure::NOTHING_TO_MEASURE)?;
        Ok((initiator, target))
    }

    /// Returns the CPU that measures for an initiator.
    pub fn cpu(&self, machine: &Machine, initiator: NodeId) -> Option<CpuId> {
        self.cpu.or_else(|| machine.cpu_of(initiator))
    }

    /// Returns the scope, reduced to one pair of its nodes.
    pub fn narrowed(self, from: NodeId, to: NodeId) -> Scope {
        Scope { initiators: only(from), targets: only(to), ..self }
    }
}

/// Returns the nodes that the user gave, if each of them passes a check.
fn checked<E>(asked: &NodeSet, check: impl Fn(NodeId) -> Result<(), E>) -> Result<NodeSet, E> {
    asked.iter().map(NodeId).try_for_each(check)?;
    Ok(*asked)
}

fn only(node: NodeId) -> NodeSet {
    [node.0].into_iter().collect()
}

fn exists(machine: &'static Machine, node: NodeId) -> Result<(), UsageError> {
    let last = machine.topology.max_node();
    if node > last {
        return Err(UsageError::NodeTooLarge { node, last });
    }
    match machine.topology.node(node) {
        Some(_) => Ok(()),
        None => Err(UsageError::NodeAbsent { node, nodes: &machine.nodes }),
    }
}

fn can_run(machine: &'static Machine, node: NodeId) -> Result<(), PlacementError> {
    match machine.topology.node(node) {
        Some(found) if found.cpus.is_empty() => Err(PlacementError::NodeWithoutCpus { node }),
        Some(found) if machine.cpus_of(found).is_empty() => {
            Err(PlacementError::NoAllowedCpu { node, allowed: &machine.cpus })
        }
        _ => Ok(()),
    }
}

/// Refuses a node that does not exist, or has no memory for this process.
///
/// # Errors
///
/// [`UsageError`] or [`PlacementError`].
pub fn check_memory(machine: &'static Machine, node: NodeId) -> Result<(), Failure> {
    exists(machine, node)?;
    Ok(has_memory(machine, node)?)
}

fn has_memory(machine: &'static Machine, node: NodeId) -> Result<(), PlacementError> {
    match machine.topology.node(node) {
        Some(found) if !found.has_memory => Err(PlacementError::NodeWithoutMemory { node }),
        Some(_) if !machine.memory_nodes.contains(node.0) => {
            Err(PlacementError::NodeNotAllowed { node, allowed: &machine.memory_nodes })
        }
        _ => Ok(()),
    }
}

/// Returns the node of a CPU that the user gave by number.
pub fn cpu_node(machine: &'static Machine, cpu: CpuId) -> Result<NodeId, Failure> {
    let online = &machine.topology.online_cpus;
    match machine.topology.node_of_cpu(cpu) {
        _ if !online.contains(cpu.0) => Err(match machine.topology.present_cpus.contains(cpu.0) {
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

/// Returns every node with memory that the process may use, restricted by `numactl --membind` if it was started with
/// that.
fn default_targets(machine: &Machine, warnings: &mut Warnings) -> NodeSet {
    let all = machine.targets();
    for node in machine.topology.nodes().iter().filter(|node| node.has_memory) {
        warnings.push_if(!all.contains(node.id.0), Warning::NodeLeftOut { node: node.id });
    }
    match machine.bound_to.map(|bound| bound.intersection(&all)) {
        Some(bound) if !bound.is_empty() && bound != all => {
            warnings.push(Warning::InheritedPolicy { policy: "bind" });
            bound
        }
        _ => all,
    }
}
