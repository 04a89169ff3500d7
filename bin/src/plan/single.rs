//! Points of one pair of nodes: their common properties, and sizes derived from the caches.
//!
//! Pure, like the whole plan.

use latency_core::units::{Bytes, PageSize};

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
    Ok(Point::like(options, machine, [initiator, target], cpu, size))
}

/// Returns the size of a data cache that sysfs or the processor reports, if either does.
pub fn cache(machine: &Machine, level: u8) -> Option<Bytes> {
    let sysfs = machine.host.caches.data(level.into()).map(|cache| cache.size);
    let claims = || machine.processor.caches.iter().flatten();
    let claimed = || claims().find(|claim| claim.level == level).map(|claim| claim.size);
    sysfs.or_else(claimed).filter(|size| *size >= PageSize::LEAST.bytes())
}

/// Returns the size of the largest cache that the core does not share.
pub fn private_cache(machine: &Machine) -> Bytes {
    cache(machine, 2).or_else(|| cache(machine, 1)).unwrap_or_default()
}

/// Returns the least working set that is for the most part beyond that cache.
pub fn beyond_private(machine: &Machine) -> Bytes {
    private_cache(machine).times(2)
}

/// Returns a working set that the last-level cache serves: the size that a search found, or else a third of the
/// reported cache, because the cache is shared. Returns `None` if a search found none.
pub fn in_last_level(machine: &Machine) -> Option<Bytes> {
    match machine.sizing {
        Some(sizing) if sizing.cache_sought => sizing.in_cache,
        _ => cache(machine, 3).map(|cache| machine.page.whole(Bytes(cache.0 / 3))),
    }
}
