//! The memory of a run: one piece for all points that can share it, placed and verified before anything is timed.
//!
//! Chains, traffic and lines between CPUs all come from this module. They differ in the regions that a point needs
//! ([`placement`](crate::placement)) and in the contents of a piece. The module times nothing.

use core::array;

use latency_core::arch::Line;
use latency_core::chain::Chain;
use latency_core::{Bytes, NodeId, Pages};

use crate::budget::{Budget, Memory};
use crate::error::{Attempt, MeasureError, PlacementError};
use crate::machine::Machine;
use crate::placement::{Missing, Placement, RegionsOf, Site, Sites, chain_of};
use crate::regions::{self, MOST, PlannedRegion, Regions};
use crate::result::{Means, Placed, Point};
use crate::session::Session;
use crate::warning::{Warning, Warnings};
use latency_sys::{Errno, Table};

/// A piece of memory that was placed, with its region and the first point that needs it.
pub struct Piece {
    /// The region that it serves.
    pub region: PlannedRegion,
    /// The first point that needs it.
    pub like: Point,
    /// The memory.
    pub placement: Placement,
}

/// A function that writes the contents of a piece; its point is the first that needs the piece.
pub type Open<'o, 'p, T> = dyn FnMut(&Point, &'p mut [Line]) -> Attempt<T> + 'o;

/// All memory of one kind that points need.
pub struct Pieces {
    list: [Option<Piece>; MOST],
    /// The regions that could not be placed.
    pub missing: Missing,
}

impl Pieces {
    /// Places the memory that some of `points` need: the points that `is_mine` selects. `needs` returns the regions of
    /// a point.
    ///
    /// # Errors
    ///
    /// The errors of [`Placement::new`], except for memory that the budget allows to be missing.
    pub fn place(
        session: &mut Session<'_>,
        points: &[Point],
        is_mine: &dyn Fn(&Point) -> bool,
        needs: RegionsOf,
        budget: &Budget,
    ) -> Attempt<Pieces> {
        let memory = budget.memory;
        let mine = || points.iter().filter(|point| is_mine(point));
        let regions = Regions::of(memory, &mut mine().copied(), &needs);
        if !regions.are_few() {
            return Err(MeasureError::NOTHING_TO_MEASURE);
        }
        let missing = Missing { list: [None; MOST], needs, memory };
        let mut pieces = Pieces { list: array::from_fn(|_| None), missing };
        let slots = pieces.list.iter_mut().zip(&mut pieces.missing.list);
        for ((slot, missing), region) in slots.zip(regions.iter()) {
            let serves = |point: &Point| {
                needs(point).iter().flatten().any(|needed| region.is_one_with(needed, memory))
            };
            let Some(&like) = mine().find(|point| serves(point)) else { continue };
            let region = with_room(session.machine, region, memory);
            match place(session, region.on, region.size, region.pages) {
                Ok(placement) => *slot = Some(Piece { region, like, placement }),
                Err(MeasureError::Placement(&error)) if budget.optional.covers(&like, &error) => {
                    if matches!(error, PlacementError::NotReachable { .. }) {
                        session.warnings.push(Warning::NotMeasurableHere { node: region.on });
                    }
                    *missing = Some((region, error));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(pieces)
    }

    /// Returns the pieces that were placed.
    pub fn placed(&mut self) -> impl Iterator<Item = &mut Piece> {
        self.list.iter_mut().flatten()
    }

    /// Returns the chain to be written to each piece: the chain of the piece's first point. Returns none where chains
    /// are rewritten. The table is in mapped memory, because chains are too large for the stack.
    ///
    /// # Errors
    ///
    /// The error of mapping a table.
    pub fn chains(&self, budget: &Budget) -> Result<Table<Option<Chain>>, Errno> {
        let stay = matches!(self.missing.memory, Memory::Kept | Memory::Shared);
        let mut placed = self.list.iter().flatten().filter(|_| stay);
        Table::made(placed.clone().count(), |_| budget.chain(&placed.next()?.like).ok())
    }

    /// Writes the contents of each piece by calling `open`.
    ///
    /// # Errors
    ///
    /// The errors of `open`.
    pub fn open<'p, T>(&'p mut self, open: &mut Open<'_, 'p, T>) -> Attempt<Sites<T>> {
        let mut sites = Sites { list: array::from_fn(|_| None), memory: self.missing.memory };
        for (slot, piece) in sites.list.iter_mut().zip(self.list.iter_mut().flatten()) {
            let Piece { region, like, placement } = piece;
            let (lines, witness) = placement.split();
            *slot = Some(Site { region: *region, witness, holds: open(like, lines)? });
        }
        Ok(sites)
    }
}

/// Returns a region as it is placed: with room for several positions where chains are rewritten.
fn with_room(machine: &Machine, region: &PlannedRegion, memory: Memory) -> PlannedRegion {
    match memory {
        Memory::Rewritten { places: 2.. } if !region.is_of_traffic => PlannedRegion {
            size: regions::size_with_room(region.size, machine, region.on, region.pages),
            ..*region
        },
        _ => *region,
    }
}

/// Returns true if all chains of `points` fit in memory together: on each node in half of its free memory, unless there
/// is one piece, and together in the memory that the control group has left.
pub fn fits(machine: &Machine, points: &mut dyn Iterator<Item = Point>, budget: &Budget) -> bool {
    let needs =
        |point: &Point| chain_of(point).map(|region| region.filter(|region| region.pages.pool().is_none()));
    let regions = Regions::of(budget.memory, points, &needs);
    // More regions than the list holds are measured in parts.
    if !regions.are_few() {
        return false;
    }
    let of = |target: Option<NodeId>| {
        let regions = regions.iter().filter(|region| target.is_none_or(|node| node == region.on));
        let sizes = regions.map(|region| with_room(machine, region, budget.memory).size.0);
        let (count, sum) = sizes.fold((0, 0_u64), |(count, sum), size| (count + 1, size.saturating_add(sum)));
        // A single region is placed whatever its size, since it cannot be divided.
        if count < 2 { 0 } else { sum }
    };
    let mut all = regions.iter();
    all.all(|region| {
        machine.supply(region.on).is_none_or(|supply| supply.has_room(of(Some(region.on)), of(None)))
    })
}

/// Places `size` bytes on `target`, and warns about properties of the memory that matter to the reader.
fn place(session: &mut Session<'_>, target: NodeId, size: Bytes, pages: Pages) -> Attempt<Placement> {
    session.progress.say(format_args!("placing {size} on node {target}"));
    let placement = Placement::new(session.machine, target, size, pages)?;
    tell(session.machine, session.warnings, (target, size, pages), &placement.witness.first());
    Ok(placement)
}

/// Warns about properties of memory that matter to the reader: `size` bytes on `target`, for which the kind of pages
/// `asked` was requested.
pub fn tell(
    machine: &Machine,
    warnings: &mut Warnings,
    (target, size, asked): (NodeId, Bytes, Pages),
    placed: &Placed,
) {
    /// Minimum size of a huge page for which a warning says that it is much larger than the working set.
    const LARGE: Bytes = Bytes(4 << 20);
    let Placed { means, pages, mapped, before, .. } = *placed;
    if pages.are_base() && asked == Pages::AUTO {
        let found = machine.page;
        warnings.push(match machine.thp_is_too_large(size) {
            true => Warning::ThpTooLarge { page: machine.huge_page(), size, found },
            false => Warning::PagesFellBack { found },
        });
    }
    if pages.are_transparent() {
        let page = machine.huge_page();
        if page.bytes() >= LARGE && page.bytes().0 > size.0 / 2 {
            warnings.push(Warning::ThpRoundedUp { page, size, mapped });
        }
        match before.transparent_huge {
            Some(found) if found < mapped => warnings.push(Warning::ThpPartial { wanted: mapped, found }),
            _ => {}
        }
    }
    // Base pages are what every kernel gives.
    if pages.are_transparent()
        && (before.is_there() || means == Means::NoNuma)
        && !placed.pages_are_verified()
    {
        warnings.push(Warning::PageSizeUnverified { node: target, pages });
    }
    warnings.push_if(means == Means::FirstTouch, Warning::PlacedByFirstTouch { node: target });
    if !before.is_there() && means != Means::NoNuma {
        let why = "neither /proc/self/numa_maps nor move_pages is available";
        warnings.push(Warning::PlacementUnverified { node: target, why });
    }
}
