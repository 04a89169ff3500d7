//! Points of one pair of nodes: what they have in common, and the sizes that the caches suggest.
//!
//! Pure, as all of the plan.

use latency_core::units::{Bytes, NodeId, PageSize, Pages};

use super::{Planning, Scope};
use crate::error::{Failure, PlacementError};
use crate::machine::Machine;
use crate::result::Point;

/// Returns the point that the others of an experiment are made from: the first initiator and its own memory, at the
/// default working set.
///
/// # Errors
///
/// The errors of [`Scope::resolve`], [`Scope::pair`] and [`super::working_set`].
pub fn like<'a>(planning: &mut Planning<'_, 'a>) -> Result<Point, Failure<'a>> {
    let scope = Scope::resolve(planning)?;
    let Planning { options, machine, .. } = *planning;
    let (initiator, target) = scope.pair(options, machine)?;
    let cpu = scope.cpu(machine, initiator).ok_or(PlacementError::NothingToMeasure)?;
    let size = super::working_set(planning, target, 1)?;
    Ok(Point::like(options, [initiator, target], cpu, size))
}

/// Returns the size of a data cache by sysfs or CPUID, if it is told.
#[must_use]
pub fn cache(machine: &Machine, level: u8) -> Option<Bytes> {
    let sysfs = machine.host.caches.data(level.into()).map(|cache| cache.size);
    let claims = || machine.processor.caches.iter().flatten();
    let claimed = || claims().find(|claim| claim.level == level).map(|claim| claim.size);
    sysfs.or_else(claimed).filter(|size| size.0 >= 4096)
}

/// A working set that the last-level cache serves, by what a look found, or else a third of what is reported: it is
/// shared. `None` where a look found none.
#[must_use]
pub fn in_last_level(machine: &Machine) -> Option<Bytes> {
    match machine.sizing {
        Some(sizing) if sizing.cache_sought => sizing.in_cache,
        _ => cache(machine, 3).map(|cache| Bytes(cache.0 / 3 / 4096 * 4096)),
    }
}

/// Pages of 2 MiB as the machine has them: out of the pool if it holds `size` bytes, else transparent ones.
#[must_use]
pub fn two_megabyte_pages(machine: &Machine, target: NodeId, size: Bytes) -> Pages {
    match machine.pool_holds(target, PageSize::Huge2M, size) {
        true => Pages::Huge2m,
        false => Pages::Thp,
    }
}
