//! The points of `cores`: the CPUs that exchange lines, and the nodes of these lines; with `--states`, lines that one core
//! holds in a known state, and another core reads or takes.

use alloc::vec::Vec;

use latency_core::cores::{Choice, Exchange, Pair, State, Walk as Access};
use latency_core::topology::Shared;
use latency_core::{Bytes, CpuId, CpuSet, NodeId, NodeSet};

use super::curve::first_level_cache;
use super::{PlannedPoints, Planning, Scope, not_empty};
use crate::error::Failure;
use crate::options::{Options, Pairs};
use latency_engine::error::PlacementError;
use latency_engine::machine::{Machine, Platform};
use latency_engine::result::{LineLevel, Owned, PingPong, Point, Walk};
use latency_engine::warning::{Warning, Warnings};

/// Number of lines, unless the user gave one.
const LINES: u32 = 16;
/// Memory of the lines that every first-level cache has room for.
const FEW: Bytes = Bytes(16 << 10);
/// Size of the lines in the second level, as a multiple of the first-level cache.
const CACHES: u64 = 4;
/// Distance from one line to the next, in lines. An odd number of lines uses all sets of a cache, and with a distance of
/// three no fetch of a pair of lines brings in two of them.
const STRIDE: u64 = 3;
/// Minimum ratio of a third-level cache to a second-level one for lines that are in the third level only.
const LEAST_L3: u64 = 4;

/// The accesses to lines.
const ACCESSES: [Access; 2] = [Access::Read, Access::Own];

/// Plans a point for each pair of CPUs.
///
/// # Errors
///
/// The errors of [`Scope::resolve`]; CPUs that this process may not use; [`PlacementError::NeedsSecondCpu`].
pub fn cores(planning: &mut Planning<'_>) -> PlannedPoints {
    let scope = Scope::resolve(planning)?;
    let Planning { options, machine, warnings } = planning;
    let (options, machine) = (*options, *machine);
    if let Pairs::These(list) = &options.pairs {
        for &(a, b) in list {
            super::scope::cpu_node(machine, a)?;
            super::scope::cpu_node(machine, b)?;
        }
    }
    let cpus = among(options, machine)?;
    if cpus.len() < 2 || options.cpu.is_some() {
        let (experiment, why) = ("cores", "one CPU sends, the other replies");
        return Err(PlacementError::NeedsSecondCpu { experiment, why }.into());
    }
    warnings.push_if(core_unknown(machine), Warning::VcpusMayShareCore);
    let class_of = |a: CpuId, b: CpuId| machine.sharing.between(a.0, b.0);
    let home = |cpu: CpuId| home(machine, &scope.targets, cpu);
    let mut firsts = [None; Shared::ALL.len()];
    let mut points = Vec::new();
    let mut add = |pair: Pair| {
        if let Some(first) = firsts.get_mut(pair.class as usize) {
            *first = first.or(Some(pair));
        }
        points.extend(point(options, machine, &home, pair));
    };
    match &options.pairs {
        Pairs::These(list) => {
            list.iter().for_each(|&(a, b)| add(Pair { a, b, class: class_of(a, b) }));
        }
        Pairs::Of(choice) => {
            let most = super::budget::most_pairs(options);
            let choice = affordable(*choice, cpus.len(), most, warnings);
            let none = Pair { a: CpuId(0), b: CpuId(0), class: Shared::Core };
            let mut pairs = vec![none; choice.most(cpus.len())];
            let chosen = choice.choose(cpus, &class_of, options.seed, &mut pairs);
            let most = most_of_class(chosen, cpus.len(), most, warnings);
            let mut met = [0; Shared::ALL.len()];
            for pair in chosen {
                if let Some(met) = met.get_mut(pair.class as usize).filter(|met| **met < most) {
                    *met += 1;
                    add(*pair);
                }
            }
        }
    }
    if options.states {
        states(options, machine, &firsts, &home, &mut points);
    }
    not_empty(points)
}

/// Returns the CPUs among which pairs are chosen: those that the user gave, or all.
fn among<'m>(options: &'m Options, machine: &'static Machine) -> Result<&'m CpuSet, Failure> {
    let Some(asked) = options.cpus.as_ref().filter(|asked| !asked.is_all()) else { return Ok(&machine.cpus) };
    for cpu in asked.iter().map(CpuId) {
        super::scope::cpu_node(machine, cpu)?;
    }
    Ok(asked)
}

/// Returns true if two CPUs that seem to be two cores may be threads of one core: a hypervisor need not report that.
pub fn core_unknown(machine: &Machine) -> bool {
    machine.processor.platform == Platform::Virtual
        && machine.sharing.cores_of(&machine.cpus).len() == machine.cpus.len()
}

/// Returns the choice of pairs if there is time for all of them, otherwise a few pairs of each class.
fn affordable(choice: Choice, cpus: usize, most: usize, warnings: &mut Warnings) -> Choice {
    let all = choice.most(cpus);
    if all <= most || choice == Choice::Classes {
        return choice;
    }
    warnings.push(Warning::PairsOfClasses { of: all as u32 });
    Choice::Classes
}

/// Returns the number of chosen pairs of each class that the time allows: at least one.
fn most_of_class(chosen: &[Pair], cpus: usize, most: usize, warnings: &mut Warnings) -> usize {
    if chosen.len() <= most {
        return chosen.len();
    }
    let has = |class: &&Shared| chosen.iter().any(|pair| pair.class == **class);
    warnings.push(Warning::PairsOfClasses { of: Choice::All.most(cpus) as u32 });
    (most / Shared::ALL.iter().filter(has).count().max(1)).max(1)
}

/// Returns the node of a CPU's lines: the CPU's own node, if that is one of the targets.
fn home(machine: &Machine, targets: &NodeSet, cpu: CpuId) -> Option<NodeId> {
    let own = machine.topology.node_of_cpu(cpu).filter(|node| targets.contains(node.0));
    own.or(targets.first().map(NodeId))
}

/// Returns the point of a pair, with half of the lines on the node of each CPU; `None` without a node for them.
fn point(
    options: &Options,
    machine: &Machine,
    home: &dyn Fn(CpuId) -> Option<NodeId>,
    pair: Pair,
) -> Option<Point> {
    let Pair { a, b, class } = pair;
    let homes = [home(a)?, home(b)?];
    let lines = options.lines.map_or(LINES, u32::from);
    let nodes = [machine.topology.node_of_cpu(a)?, homes[0]];
    Some(Point {
        stride: Exchange::PLACE,
        pages: machine.pages_or_base(super::pages(options, machine)),
        walk: Walk::PingPong(PingPong { partner: b, class, method: options.method, lines, homes }),
        ..super::chain(options, machine, nodes, a, Exchange::PLACE.times(lines.into()))
    })
}

/// Adds the points of one CPU's own lines, and those of the lines of the other CPU of each pair;
/// `home` returns the node of a CPU's memory.
fn states(
    options: &Options,
    machine: &Machine,
    pairs: &[Option<Pair>; Shared::ALL.len()],
    home: &dyn Fn(CpuId) -> Option<NodeId>,
    points: &mut Vec<Point>,
) {
    let stride = machine.line.times(STRIDE);
    let mut pairs = pairs.iter().flatten().peekable();
    let point: &mut dyn FnMut(CpuId, NodeId, Owned) = &mut |cpu, target, owned| {
        let initiator = machine.topology.node_of_cpu(cpu);
        let (Some(initiator), Some(lines)) = (initiator, lines(machine, owned.level)) else { return };
        let like = super::chain(options, machine, [initiator, target], cpu, stride.times(lines));
        points.push(Point { stride, walk: Walk::Owned(owned), ..like });
    };
    if let Some((cpu, home)) = pairs.peek().and_then(|pair| Some((pair.a, home(pair.a)?))) {
        for access in ACCESSES {
            for level in LineLevel::ALL {
                point(cpu, home, Owned { owner: None, third: None, state: State::Exclusive, access, level });
            }
        }
    }
    for Pair { a, b, class } in pairs.copied() {
        let (Some(near), Some(far)) = (home(a), home(b)) else { continue };
        let third = third(machine, a, b);
        for access in ACCESSES {
            for state in State::ALL {
                let third = third.filter(|_| state.takes_another());
                if third.is_none() && state.takes_another() {
                    continue;
                }
                let owner = Some((b, class));
                for &home in [near, far].iter().take(1 + usize::from(far != near)) {
                    for level in [LineLevel::L1, LineLevel::L2] {
                        point(a, home, Owned { owner, third, state, access, level });
                    }
                }
            }
        }
    }
}

/// Returns the number of lines of a level: its cache has room for them, and the cache before it does not. Lines in
/// memory are flushed out of all caches. Returns `None` if the machine reports no cache of that level.
fn lines(machine: &Machine, level: LineLevel) -> Option<u64> {
    let (line, cache) = (machine.line, |level| machine.cache(level));
    let second = || {
        let most = cache(2).map_or(u64::MAX, |cache| cache.0 / 2);
        line.within(Bytes((first_level_cache(machine).0 * CACHES).min(most)))
    };
    match level {
        LineLevel::L1 => Some(line.within(FEW)),
        LineLevel::L2 | LineLevel::Memory => Some(second()),
        LineLevel::L3 => {
            cache(2).filter(|l2| cache(3) >= Some(l2.times(LEAST_L3))).map(|l2| line.within(l2.times(2)))
        }
    }
}

/// Returns a CPU of a third core, on the node of `b` if there is one there.
fn third(machine: &Machine, a: CpuId, b: CpuId) -> Option<CpuId> {
    let core = |cpu: u32| machine.sharing.core_of(cpu);
    let others = || machine.cpus.iter().filter(|cpu| ![core(a.0), core(b.0)].contains(&core(*cpu)));
    let node = |cpu: u32| machine.topology.node_of_cpu(CpuId(cpu));
    others().find(|cpu| node(*cpu) == node(b.0)).or_else(|| others().next()).map(CpuId)
}
