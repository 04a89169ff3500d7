//! Points of one pair of nodes: their common properties, and sizes derived from the caches.
//!
//! Pure, like the whole plan.

use latency_core::units::{Bytes, NodeId, PageSize, Pages};

use super::{Planning, Scope};
use crate::error::Failure;
use crate::machine::Machine;
use crate::result::Point;

/// Returns the point from which the others of an experiment are derived: the first initiator and its own memory, with
/// the default working set.
///
/// # Errors
///
/// The errors of [`Scope::resolve`], [`Scope::pair`] and [`super::working_set`].
pub fn like<'a>(planning: &mut Planning<'_, 'a>) -> Result<Point, Failure<'a>> {
    let scope = Scope::resolve(planning)?;
    let Planning { options, machine, .. } = *planning;
    let (initiator, target) = scope.pair(options, machine)?;
    let cpu = scope.cpu(machine, initiator).ok_or(Failure::NOTHING_TO_MEASURE)?;
    let size = super::working_set(planning, target, 1)?;
    Ok(Point::like(options, [initiator, target], cpu, size))
}

/// Returns the size of a data cache that sysfs or the processor reports, if either does.
#[must_use]
pub fn cache(machine: &Machine, level: u8) -> Option<Bytes> {
    let sysfs = machine.host.caches.data(level.into()).map(|cache| cache.size);
    let claims = || machine.processor.caches.iter().flatten();
    let claimed = || claims().find(|claim| claim.level == level).map(|claim| claim.size);
    sysfs.or_else(claimed).filter(|size| size.0 >= 4096)
}

/// Returns a working set that the last-level cache serves: the size that a search found, or else a third of the
/// reported cache, because the cache is shared. Returns `None` if a search found none.
#[must_use]
pub fn in_last_level(machine: &Machine) -> Option<Bytes> {
    match machine.sizing {
        Some(sizing) if sizing.cache_sought => sizing.in_cache,
        _ => cache(machine, 3).map(|cache| Bytes(cache.0 / 3 / 4096 * 4096)),
    }
}

/// Returns the kind of 2 MiB pages that the machine offers: from the pool if it holds `size` bytes, otherwise
/// transparent ones.
#[must_use]
pub fn two_megabyte_pages(machine: &Machine, target: NodeId, size: Bytes) -> Pages {
    match machine.pool_holds(target, PageSize::Huge2M, size) {
        true => Pages::Huge2m,
        false => Pages::Thp,
    }
}
