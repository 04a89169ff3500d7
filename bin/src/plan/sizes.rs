//! The working set: large enough to reach memory, and small enough to be available; sizes derived from the caches; and
//! the point from which the others of an experiment are derived.
//!
//! Pure, like the whole plan.

use latency_core::chain::Order;
use latency_core::{Bytes, NodeId, PageSource, kernel};

use super::{Planning, Scope};
use crate::error::Failure;
use crate::options::Options;
use latency_engine::error::PlacementError;
use latency_engine::machine::sizes::{CACHES, LEAST_DEFAULT};
use latency_engine::machine::{Machine, Sizing};
use latency_engine::result::{Point, Walk};
use latency_engine::warning::{Clipped, Warning};

/// Returns the working set on a node, one of `targets` that are measured: the size that the user gave, or one that is
/// large enough to reach memory and small enough to be available.
///
/// # Errors
///
/// [`PlacementError::NotEnoughMemory`] if the node lacks the memory that the user requested, or even two pages, and
/// [`PlacementError::NotEnoughInGroup`].
pub fn working_set(
    planning: &mut Planning<'_>,
    target: NodeId,
    targets: usize,
) -> Result<Bytes, PlacementError> {
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

/// Returns the point of the search before the run: the largest, if the program chooses its size; otherwise `None`.
pub fn point_of_search(options: &Options, machine: &Machine, points: &[Point]) -> Option<Point> {
    let chosen = options.size.is_none() && options.max_size.is_none();
    let is_walked = |point: &&Point| chosen && !point.walk.is_of_cores();
    let largest = points.iter().filter(is_walked).max_by_key(|point| point.size)?;
    let (kernel, order, walk) = (&kernel::POINTER, Order::Random, Walk::Chain);
    let first = points.iter().find(|point| point.size == largest.size).unwrap_or(largest);
    let (pages, stride) = (super::pages(options, machine), super::stride(options, machine));
    Some(Point { kernel, order, walk, pages, stride, ..*first })
}

/// Refuses a working set that a node cannot provide, before the expected duration is shown.
///
/// # Errors
///
/// The errors of [`Supply::check`].
pub fn check(
    options: &Options,
    machine: &Machine,
    target: NodeId,
    size: Bytes,
) -> Result<(), PlacementError> {
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
    planning: &mut Planning<'_>,
    target: NodeId,
    targets: usize,
    wanted: Bytes,
) -> Result<Bytes, PlacementError> {
    let machine = planning.machine;
    let Some(supply) = machine.supply(target) else { return Ok(wanted) };
    let half = machine.half_of(&supply, targets);
    if half >= wanted {
        return Ok(wanted);
    }
    if half.0 == 0 {
        return Err(match supply.check(target, wanted) {
            Err(error) => error,
            Ok(()) => PlacementError::NothingToMeasure,
        });
    }
    let why = if half < machine.whole_pages(Bytes(supply.on_node().0 / 2)) {
        Clipped::By(supply.by)
    } else {
        Clipped::HalfOfFree
    };
    planning.warnings.push(Warning::SizeClipped { from: wanted, to: half, why });
    Ok(half)
}

/// Returns the point from which the others of an experiment are derived: the first initiator and its own memory, with
/// the default working set.
///
/// # Errors
///
/// The errors of [`Scope::resolve`], [`Scope::pair`] and [`super::working_set`].
pub fn base_point(planning: &mut Planning<'_>) -> Result<Point, Failure> {
    let scope = Scope::resolve(planning)?;
    let Planning { options, machine, .. } = *planning;
    let (initiator, target) = scope.pair(options, machine)?;
    let cpu = scope.cpu(machine, initiator).ok_or(Failure::NOTHING_TO_MEASURE)?;
    let size = super::working_set(planning, target, 1)?;
    Ok(super::chain(options, machine, [initiator, target], cpu, size))
}
