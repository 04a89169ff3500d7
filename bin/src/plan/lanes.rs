//! The points of the experiments that walk several lanes: their loops and working sets.

use alloc::vec::Vec;

use latency_core::kernel::lanes::{self, Filler, Gap};
use latency_core::{Bytes, NodeId};

use super::{PlannedPoints, Planning, Scope, working_set};
use crate::analysis::claims::Claims;
use crate::error::Failure;
use latency_engine::machine::Machine;
use latency_engine::result::{Point, Walk, point};

/// Number of fillers between two points of the window test.
const STEP: usize = 64;

/// Returns the working set in the cache of a level: half of a private cache, or the served part of a shared one.
fn in_cache(machine: &Machine, level: u32) -> Option<Bytes> {
    let claims = Claims::of(machine);
    let claim = claims.level(level)?;
    match level {
        3 => machine.in_last_level(),
        _ => Some(machine.page.whole(Bytes(claim.size.0 / 2))).filter(|size| size.0 > 0),
    }
}

/// Returns the common point, from which all others differ in size and walk: in the memory of the first node, from that
/// node.
fn base(planning: &mut Planning<'_>) -> Result<Point, Failure> {
    let scope = Scope::resolve(planning)?;
    let Planning { options, machine, .. } = *planning;
    let initiator = scope.initiators.first().map(NodeId).ok_or(Failure::NOTHING_TO_MEASURE)?;
    let own = scope.targets.contains(initiator.0).then_some(initiator);
    let target = own.or(scope.targets.first().map(NodeId)).ok_or(Failure::NOTHING_TO_MEASURE)?;
    let cpu = scope.cpu(machine, initiator).ok_or(Failure::NOTHING_TO_MEASURE)?;
    let size = working_set(planning, target, 1)?;
    let point = super::chain(options, machine, [initiator, target], cpu, size);
    point::chain(&point)?;
    Ok(point)
}

/// Plans the points of `parallel`: every number of lanes in the second and third level and in memory, or in
/// the size given.
///
/// # Errors
///
/// The errors of [`Scope::resolve`] and [`working_set`].
pub fn parallel(planning: &mut Planning<'_>) -> PlannedPoints {
    let base = base(planning)?;
    let mut points = Vec::new();
    let Planning { options, machine, .. } = *planning;
    let caches = [2, 3].map(|level| in_cache(machine, level).filter(|_| options.size.is_none()));
    for size in caches.into_iter().flatten().filter(|size| *size < base.size).chain([base.size]) {
        for kernel in lanes::PARALLEL.iter().filter(|kernel| options.has_chains(kernel)) {
            points.push(Point { size, walk: Walk::Lanes(kernel), ..base });
        }
    }
    Ok(points)
}

/// Plans the points of `window`: every amount of work in the first-level cache and in memory; then gaps, if
/// the working set is in memory.
///
/// # Errors
///
/// The errors of [`Scope::resolve`] and [`working_set`].
pub fn window(planning: &mut Planning<'_>) -> PlannedPoints {
    let base = base(planning)?;
    let mut points = Vec::new();
    let machine = planning.machine;
    let floor = in_cache(machine, 1).filter(|size| *size < base.size);
    for size in floor.into_iter().chain([base.size]) {
        for kernel in lanes::WINDOW.iter().flatten() {
            points.push(Point { size, walk: Walk::Lanes(kernel), ..base });
        }
    }
    // A load that hits in a cache completes before the window is full.
    for filler in Filler::ALL.into_iter().filter(|_| machine.reaches_memory(base.size)) {
        for gap in (0..=Gap::MOST).step_by(STEP).filter_map(|fillers| Gap::new(filler, fillers)) {
            points.push(Point { walk: Walk::Apart(gap), ..base });
        }
    }
    Ok(points)
}
