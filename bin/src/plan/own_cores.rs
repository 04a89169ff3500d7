//! Points of the other cores of a node, which load from its memory beside the CPU that measures for the node. Pure, like the
//! whole plan.
//!
//! A core's place on the die, its chiplet or its kind changes the latency of the node's own memory.

use latency_core::topology::Shared;

use latency_engine::machine::Machine;
use latency_engine::result::Point;

/// Minimum ratio of a working set to the private caches of all cores that walk it: beyond it, hardly a line is still in
/// the cache of another core when it is loaded again.
const PRIVATE_CACHES: u64 = 4;
/// Returns the number of points at the beginning that are of pairs of nodes, each of one pair; those behind them are of
/// other cores of the same pairs.
pub fn pairs(points: &[Point]) -> usize {
    let pair = |point: &Point| (point.initiator, point.target);
    let is_last = |two: &[Point]| matches!(two, [one, other] if pair(other) <= pair(one));
    points.windows(2).position(is_last).map_or(points.len(), |last| last + 1)
}

/// Returns true if cores of one node would find lines of a common chain in each other's caches: in several last-level
/// caches, or in many private ones.
pub fn are_apart(machine: &Machine, points: &[Point]) -> bool {
    let cache = |point: &Point| machine.sharing.lowest(Shared::L3, point.cpu.0);
    let private = machine.private_cache().times(points.len() as u64 * PRIVATE_CACHES);
    points.iter().any(|own| {
        let is_apart = |other: &Point| other.initiator == own.initiator && cache(other) != cache(own);
        private > own.size || points.iter().any(is_apart)
    })
}
