//! The working sets of a curve: from half of the first-level cache to several times the last.
//!
//! Pure, like the whole plan. [`latency_core::model::refine`] adds further sizes while measuring.

use alloc::vec::Vec;

use latency_core::chain::Order;
use latency_core::math::{self, exp2};
use latency_core::{Bytes, NodeId, ToReal};

use super::{PlannedPoints, Planning, Scope};
use crate::error::Failure;
use crate::options::{Options, UsageError};
use latency_engine::error::PlacementError;
use latency_engine::machine::sizes::CACHES;
use latency_engine::machine::{Machine, Platform};
use latency_engine::result::{Point, point};
use latency_report::chart::vector;

/// Assumed size of a first-level data cache that is not reported; the smallest of this century is 8 KiB.
pub const UNKNOWN_L1: Bytes = Bytes(32 << 10);
/// Maximum working set that every first-level cache of this century holds.
pub const SMALLEST: Bytes = Bytes(4 << 10);
/// Minimum size of the largest working set under an emulator, so that the curve shows the caches that the emulator
/// models.
const EMULATED: Bytes = Bytes(16 << 20);
/// Number of working sets for each doubling: enough that refinement finds every knee.
const POINTS_PER_OCTAVE: u32 = 4;
/// Maximum number of working sets that refinement may add.
pub const REFINEMENTS: usize = 24;
/// Maximum points of a grid, so that a fit has room for them and for all added points. The usual numbers stay far below.
const MOST_POINTS: usize = 400;

/// Returns the first-level data cache that sysfs or the processor reports, or else the assumed size.
pub fn first_level_cache(machine: &Machine) -> Bytes {
    machine.cache(1).unwrap_or(UNKNOWN_L1)
}

/// Plans the points of a curve, by ascending size.
///
/// # Errors
///
/// The errors of [`Scope::resolve`]; [`UsageError`] for more than one pair of nodes, or sizes that leave no range.
pub fn points(planning: &mut Planning<'_>) -> PlannedPoints {
    let scope = Scope::resolve(planning)?;
    let Planning { options, machine, .. } = *planning;
    let (initiator, target) = scope.pair(options, machine)?;
    let Some(cpu) = scope.cpu(machine, initiator) else { return Err(Failure::NOTHING_TO_MEASURE) };
    let (least, most) = ends(planning, target)?;
    let like = super::chain(options, machine, [initiator, target], cpu, least);
    point::chain(&like)?;
    let sizes = sizes(options, machine, (least, most), POINTS_PER_OCTAVE)?;
    Ok(vector(sizes.into_iter().map(|size| Point { size, ..like })))
}

/// Returns the smallest and the largest working set.
///
/// # Errors
///
/// [`UsageError`] for sizes that leave no range; a largest working set that the node does not have.
pub fn ends(planning: &mut Planning<'_>, target: NodeId) -> Result<(Bytes, Bytes), Failure> {
    let Planning { options, machine, .. } = *planning;
    let half = match machine.processor.platform {
        // An emulator's reported caches do not exist.
        Platform::Emulated => SMALLEST,
        _ => Bytes(first_level_cache(machine).0 / 2),
    };
    let most = largest(planning, target)?;
    // If the user gives one end only, the other end must not make it an error.
    let least = options.min_size.unwrap_or(half.max(super::stride(options, machine).times(2)).min(most));
    if least > most {
        return Err(UsageError::RangeBackwards { least, most }.into());
    }
    Ok((least, most))
}

/// Returns the working sets between two ends: as many for each doubling as the user wants, or `usual`.
///
/// # Errors
///
/// [`UsageError`] for more points for each doubling than the range permits.
pub fn sizes(
    options: &Options,
    machine: &Machine,
    (least, most): (Bytes, Bytes),
    usual: u32,
) -> Result<Vec<Bytes>, UsageError> {
    let per_octave = options.points_per_octave.map_or(usual, u32::from);
    let has_room = |per_octave: &u32| grid(least, most, *per_octave).count() <= MOST_POINTS;
    if let Some(fit) = (1..=per_octave).rev().find(has_room).filter(|fit| *fit < per_octave) {
        return Err(UsageError::TooManySizes { per_octave, least, most, fit });
    }
    let granule = granule(options, machine);
    let mut sizes = vector(grid(least, most, per_octave).map(|size| Bytes(size.0 / granule.0 * granule.0)));
    // Small sizes have the same pages, or the same nodes far apart.
    sizes.dedup();
    Ok(sizes)
}

/// Returns the unit of sizes: whole nodes, and whole regions of a local order.
pub fn granule(options: &Options, machine: &Machine) -> Bytes {
    match options.order {
        crate::options::Order::PageLocal => machine.page.bytes(),
        _ => super::stride(options, machine).max(machine.line.bytes()),
    }
}

/// Returns true if a chain visits every line in random order. With other orders and strides the edge of the first level
/// and the TLB do not apply.
pub fn is_dense(like: &Point) -> bool {
    like.order == Order::Random && like.stride == like.line.bytes()
}

/// Returns the largest working set: large enough to show the plateau of memory, if there is enough free memory.
fn largest(planning: &mut Planning<'_>, target: NodeId) -> Result<Bytes, PlacementError> {
    let Planning { options, machine, .. } = *planning;
    if let Some(most) = options.max_size {
        super::sizes::check(options, machine, target, most)?;
        return Ok(most);
    }
    // Neighbours that leave little of a cache may leave more of it during the run.
    let wanted = machine.largest_cache().times(CACHES);
    let mut wanted = wanted.max(options.min_size.unwrap_or(Bytes(0)));
    // The curve also reaches the memory that a search found behind a cache that is larger than reported.
    if let Some(sizing) = machine.sizing.filter(|sizing| sizing.size > sizing.first) {
        wanted = wanted.max(sizing.size);
    }
    if machine.processor.platform == Platform::Emulated {
        wanted = wanted.max(EMULATED);
    }
    super::sizes::within_half(planning, target, 1, wanted)
}

/// Returns sizes in equal ratios from `least` to `most`, both included: `per_octave` for each doubling.
pub fn grid(least: Bytes, most: Bytes, per_octave: u32) -> impl Iterator<Item = Bytes> {
    let size = move |index: usize| {
        let (octave, part) = (index as u32 / per_octave, index as u32 % per_octave);
        let factor = exp2(f64::from(octave) + f64::from(part) / f64::from(per_octave));
        // Sizes that are powers of two times the smallest are exact.
        least.0.real() * factor + 0.5
    };
    // The last step may be short, but two sizes must differ by more than 2 %.
    let inner = (0..MOST_POINTS).map(size).take_while(move |size| *size < most.0.real() * 0.98);
    inner.map(|size| Bytes(math::whole(size))).chain([most])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn a_grid_contains_the_doublings() {
        let sizes: Vec<u64> = grid(Bytes(16 << 10), Bytes(128 << 20), 4).map(|size| size.0).collect();
        assert_eq!(sizes.len(), 13 * 4 + 1);
        for octave in 0..=13 {
            assert!(sizes.contains(&(16 << (10 + octave))), "{octave}");
        }
        assert_eq!(grid(Bytes(4096), Bytes(4096), 4).count(), 1);
    }

    proptest! {
        #[test]
        fn grids_ascend_and_end_where_they_should(least in 128u64..1 << 30, more in 0u64..1 << 40, per_octave in 1u32..65) {
            let most = Bytes(least + more);
            let sizes: Vec<Bytes> = grid(Bytes(least), most, per_octave).collect();
            prop_assert!(sizes.len() <= MOST_POINTS + 1);
            prop_assert!(sizes.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", sizes);
            prop_assert_eq!(sizes.last(), Some(&most));
        }
    }
}
