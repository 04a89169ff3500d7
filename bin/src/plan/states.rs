//! The points of `cores --states`: lines that one core holds in a known state, and another core reads or takes.

use latency_core::cores::{Pair, State, Walk as Access};
use latency_core::topology::Shared;
use latency_core::units::{Bytes, CpuId, NodeId};

use super::curve::first_level_cache;
use super::{EachPoint, single};
use crate::machine::Machine;
use crate::options::Options;
use crate::result::{LineLevel, Owned, Point, Walk};

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
pub const ACCESSES: [Access; 2] = [Access::Read, Access::Own];

/// Passes the points of one CPU's own lines to `each`, and the points of the lines of the other CPU of each pair;
/// `home` returns the node of a CPU's memory.
pub fn states(
    options: &Options<'_>,
    machine: &Machine,
    pairs: &[Option<Pair>; Shared::ALL.len()],
    home: &dyn Fn(CpuId) -> Option<NodeId>,
    each: EachPoint<'_>,
) {
    let stride = machine.line.times(STRIDE);
    let mut pairs = pairs.iter().flatten().peekable();
    let point: &mut dyn FnMut(CpuId, NodeId, Owned) = &mut |cpu, target, owned| {
        let initiator = machine.topology.node_of_cpu(cpu);
        let (Some(initiator), Some(lines)) = (initiator, lines(machine, owned.level)) else { return };
        let like = Point::like(options, machine, [initiator, target], cpu, stride.times(lines));
        each(Point { stride, walk: Walk::Owned(owned), ..like });
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

/// Returns the number of lines of a level: its cache has room for them, and the level before has not. Lines in memory
/// are flushed out of all caches. Returns `None` without that cache.
fn lines(machine: &Machine, level: LineLevel) -> Option<u64> {
    let (line, cache) = (machine.line, |level| single::cache(machine, level));
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
