//! The working set: large enough to reach memory, and small enough to be available; sizes derived from the caches; and
//! the point from which the others of an experiment are derived.
//!
//! Pure, like the whole plan.

use latency_core::chain::Order;
use latency_core::host::Bound;
use latency_core::{Bytes, NodeId, NodeSet, PageSize, PageSource, kernel};

use super::{Planning, Scope};
use crate::error::{Failure, PlacementError};
use crate::machine::{Machine, Sizing, Supply};
use crate::options::Options;
use crate::result::{Point, Walk};
use crate::warning::{Clipped, Warning};

/// Minimum default working set: smaller ones fit into caches of today's machines.
pub const LEAST_DEFAULT: Bytes = Bytes(256 << 20);
/// Minimum ratio of the working set to the last-level cache that reaches memory: in a cyclic random chase over 3.4
/// times a cache, 3.7 % of the hops still hit.
pub const CACHES: u64 = 4;

/// Returns the working set on a node, one of `targets` that are measured: the size that the user gave, or one that is
/// large enough to reach memory and small enough to be available.
///
/// # Errors
///
/// [`PlacementError::NotEnoughMemory`] if the node lacks the memory that the user requested, or even two pages, and
/// [`PlacementError::NotEnoughInGroup`].
pub fn working_set(
    planning: &mut Planning<'_, '_>,
    target: NodeId,
    targets: usize,
) -> Result<Bytes, PlacementError<'static>> {
    let Planning { options, machine, .. } = *planning;
    let cache = machine.largest_cache();
    let size = match options.size {
        Some(size) => {
            check(options, machine, target, size)?;
            size
        }
        None => within_half(planning, target, targets, default_size(machine))?,
    };
    let asked = options.size.is_some();
    match machine.cache_that_holds(size).filter(|_| asked) {
        Some((level, cache)) => planning.warnings.push(Warning::CacheLatency { size, level, cache }),
        // A measured size overrides the reported one.
        None if machine.is_served(size) || size < cache.times(CACHES) && !machine.is_clear(size) => {
            let seen = machine.is_served(size);
            planning.warnings.push(Warning::CacheCouldHold { size, cache, asked, seen });
        }
        None => {}
    }
    Ok(size)
}

/// Returns the working set that reaches memory. If the machine reports a last-level cache, the report alone decides, so
/// that all runs have the same; otherwise a search does.
pub fn default_size(machine: &Machine) -> Bytes {
    let beyond = |cache: Bytes| cache.times(CACHES).max(LEAST_DEFAULT);
    match (machine.reported_cache(), machine.sizing) {
        (Some(reported), _) => beyond(reported),
        // A search that ended at a smaller size had no memory for more.
        (None, Some(Sizing { size, clear: Some(_), .. })) => size.max(LEAST_DEFAULT),
        (None, Some(Sizing { size, .. })) => size.max(beyond(machine.largest_cache())),
        (None, None) => beyond(machine.largest_cache()),
    }
}

/// Returns the point of the search before the run: the largest, if the program chooses its size.
pub fn looked_at(options: &Options<'_>, machine: &Machine, points: &[Point]) -> Option<Point> {
    let chosen = options.size.is_none() && options.max_size.is_none();
    let is_walked = |point: &&Point| chosen && !point.walk.is_of_cores();
    let largest = points.iter().filter(is_walked).max_by_key(|point| point.size)?;
    let (kernel, order, walk) = (&kernel::POINTER, Order::Random, Walk::Chain);
    let first = points.iter().find(|point| point.size == largest.size).unwrap_or(largest);
    let (pages, stride) = (super::pages(options, machine), super::stride(options, machine));
    Some(Point { kernel, order, walk, pages, stride, ..*first })
}

/// Returns the largest available working set for `like` and the other targets of `points`.
pub fn most(machine: &Machine, like: &Point, points: &[Point]) -> Bytes {
    let targets: NodeSet = points.iter().map(|point| point.target.0).collect();
    let half = |supply| half_of(machine, &supply, targets.len());
    machine.supply(like.target).map_or(Bytes(1 << 40), half)
}

/// Refuses a working set that a node cannot provide, before the expected duration is shown.
///
/// # Errors
///
/// The errors of [`Supply::check`].
pub fn check(
    options: &Options<'_>,
    machine: &Machine,
    target: NodeId,
    size: Bytes,
) -> Result<(), PlacementError<'static>> {
    // Pages of a pool are not part of free memory.
    let pool = match super::pages(options, machine).source() {
        PageSource::Pool => return Ok(()),
        PageSource::Auto => machine.pool_holds(target, machine.huge_page(), size),
        PageSource::Base | PageSource::Thp => false,
    };
    match machine.supply(target) {
        Some(supply) if !pool => supply.check(target, size),
        _ => Ok(()),
    }
}

/// Returns `wanted`, limited to half of the available memory of `target`, one of `targets` nodes; warns if that is
/// less.
pub fn within_half(
    planning: &mut Planning<'_, '_>,
    target: NodeId,
    targets: usize,
    wanted: Bytes,
) -> Result<Bytes, PlacementError<'static>> {
    let machine = planning.machine;
    let Some(supply) = machine.supply(target) else { return Ok(wanted) };
    let half = half_of(machine, &supply, targets);
    if half >= wanted {
        return Ok(wanted);
    }
    if half.0 == 0 {
        return Err(match supply.check(target, wanted) {
            Err(error) => error,
            Ok(()) => PlacementError::NothingToMeasure,
        });
    }
    let why = if half < whole_pages(machine, Bytes(supply.on_node().0 / 2)) {
        Clipped::By(supply.by)
    } else {
        Clipped::HalfOfFree
    };
    planning.warnings.push(Warning::SizeClipped { from: wanted, to: half, why });
    Ok(half)
}

/// Returns half of a node's available memory. All targets share the headroom of a control group, unless a share is less
/// than enough to reach memory: then each target uses half of the headroom, one after another.
fn half_of(machine: &Machine, supply: &Supply, targets: usize) -> Bytes {
    let enough = machine.largest_cache().times(CACHES);
    let whole = |bytes: u64| whole_pages(machine, Bytes(bytes));
    let on_node = whole(supply.on_node().0 / 2);
    let Some(headroom) = supply.headroom else { return on_node };
    // A limit of mappings also counts a second piece of memory, which checks the first.
    let most = headroom.0 / if supply.by == Bound::Group { 2 } else { 3 };
    let share = whole(most / targets.max(1) as u64);
    let share = if share < enough { whole(most).min(enough) } else { share };
    on_node.min(share)
}

/// Rounds down to whole huge pages, so that every kind of page can serve the working set; to whole 2 MiB where this would
/// lose much of it.
pub fn whole_pages(machine: &Machine, size: Bytes) -> Bytes {
    /// Least number of huge pages in a working set that may lose one by rounding.
    const MANY: u64 = 16;
    let huge = machine.huge_page();
    if size >= huge.bytes().times(MANY) { huge.whole(size) } else { PageSize::MIB_2.whole(size) }
}

/// Returns the point from which the others of an experiment are derived: the first initiator and its own memory, with
/// the default working set.
///
/// # Errors
///
/// The errors of [`Scope::resolve`], [`Scope::pair`] and [`super::working_set`].
pub fn base_point<'a>(planning: &mut Planning<'_, 'a>) -> Result<Point, Failure<'a>> {
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
