//! Points of the other cores of a node, which load from its memory beside the CPU that measures for the node. Pure, like the
//! whole plan.
//!
//! A core's place on the die, its chiplet or its kind changes the latency of the node's own memory.

use alloc::vec::Vec;

use latency_core::topology::Shared;
use latency_core::traffic::View;
use latency_core::{CpuId, CpuSet};

use super::PAIRS_NS;
use crate::options::{FlagId, FlagSet, Options, Order};
use latency_engine::machine::Machine;
use latency_engine::result::Point;

/// Minimum ratio of a working set to the private caches of all cores that walk it: beyond it, hardly a line is still in
/// the cache of another core when it is loaded again.
const PRIVATE_CACHES: u64 = 4;
/// Nanoseconds that each core needs for an interval, and for each byte if its chain is written for each visit.
const CORE_NS: f64 = 0.3e9;
const BYTE_NS: f64 = 2.5;
/// Options that limit a run, or name its CPU or view. A run with one of them does not measure other cores.
const ALONE: FlagSet = FlagSet::of(&[
    FlagId::Cpu,
    FlagId::View,
    FlagId::Trials,
    FlagId::Iters,
    FlagId::TimeLimit,
    FlagId::Budget,
    FlagId::Until,
]);

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

/// Adds the other cores of each node's own pair to the points of pairs. Unless all are wanted, they share a last-level cache,
/// and walk one chain.
pub fn add(options: &Options, machine: &Machine, points: &mut Vec<Point>) {
    let (all, sharing) = (options.view == View::Cores, &machine.sharing);
    let is_alone = options.given.intersection(ALONE) != FlagSet::EMPTY;
    if !all && (is_alone || options.order != Order::Random) {
        return;
    }
    let cache = |cpu: CpuId| sharing.lowest(Shared::L3, cpu.0);
    let cores = sharing.cores_of(&machine.cpus);
    for index in 0..points.len() {
        let Some(&own) = points.get(index) else { return };
        if own.initiator != own.target || !(all || machine.may_tell_apart(&own)) {
            continue;
        }
        let mut others = Vec::new();
        for cpu in cores.iter().map(CpuId) {
            let is_here = machine.topology.node_of_cpu(cpu) == Some(own.initiator);
            let is_other = sharing.core_of(cpu.0) != sharing.core_of(own.cpu.0);
            if is_here && is_other && (all || cache(cpu) == cache(own.cpu)) {
                others.push(cpu);
            }
        }
        let kind = |cpu: &CpuId| machine.kind_of(*cpu);
        let of_other_kind = others.iter().rfind(|cpu| kind(cpu) != kind(&own.cpu));
        let places = [of_other_kind, others.get(others.len() / 2), others.last()];
        for cpu in &others {
            let is_busy = machine.instead.iter().any(|instead| instead.first == *cpu);
            if all || places.contains(&Some(cpu)) && !is_busy {
                points.push(Point { cpu: *cpu, ..own });
            }
        }
    }
    // If time is short, each last-level cache has one core.
    let each = points.first().map_or(0.0, |point| CORE_NS + BYTE_NS * point.size.0 as f64);
    if all && each * points.len() as f64 > PAIRS_NS.min(options.visits_ns()) {
        let (mut seen, mut pairs) = (CpuSet::EMPTY, pairs(points));
        points.retain(|point| {
            let is_first = seen.insert(cache(point.cpu));
            let is_pair = pairs > 0;
            pairs = pairs.saturating_sub(1);
            is_first || is_pair
        });
    }
}
