//! The working set: large enough to reach memory, and small enough to be had.

use latency_core::units::{Bytes, NodeId};

use crate::error::PlacementError;
use crate::machine::Machine;
use crate::options::Options;
use crate::warning::{Clipped, Warning, Warnings};

/// A working set below this is no measurement of memory on any machine of today.
const LEAST_DEFAULT: Bytes = Bytes(256 << 20);
/// Memory is reached when the working set is this many times the last-level cache:
/// of a cyclic random chase over 3.4 times a cache, 3.7 % of the hops still hit.
pub const CACHES: u64 = 4;

/// The working set on a node: what was asked for, or large enough to reach memory and small enough to be had.
///
/// # Errors
///
/// [`PlacementError::NotEnoughMemory`] where not even two pages of memory are left.
pub fn working_set(
    options: &Options<'_>,
    machine: &Machine,
    target: NodeId,
    warnings: &mut Warnings,
) -> Result<Bytes, PlacementError<'static>> {
    let cache = machine.last_level_cache();
    if let Some(size) = options.size {
        if size < cache.times(CACHES) {
            warnings.push(Warning::CacheCouldHold { size, cache });
        }
        return Ok(size);
    }
    let wanted = cache.times(CACHES).max(LEAST_DEFAULT);
    let size = within_half_of_free(machine, target, wanted, warnings)?;
    if size < cache.times(CACHES) {
        warnings.push(Warning::CacheCouldHold { size, cache });
    }
    Ok(size)
}

/// As much of `wanted` as half of what is free on a node; what is cut off is said.
pub fn within_half_of_free(
    machine: &Machine,
    target: NodeId,
    wanted: Bytes,
    warnings: &mut Warnings,
) -> Result<Bytes, PlacementError<'static>> {
    let free = machine.free_memory(target);
    // Whole 2 MiB pages, so that every kind of page can serve it.
    let half = Bytes(free.0 / 2 / (2 << 20) * (2 << 20));
    if half >= wanted || free.0 == 0 {
        return Ok(wanted);
    }
    if half.0 == 0 {
        return Err(PlacementError::NotEnoughMemory { node: target, wanted, free });
    }
    let on_node = machine.topology.node(target).map_or(Bytes(0), |node| node.memory_free);
    let why = if free < on_node { Clipped::ControlGroup } else { Clipped::HalfOfFree };
    warnings.push(Warning::SizeClipped { from: wanted, to: half, why });
    Ok(half)
}
