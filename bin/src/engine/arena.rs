//! Where the memory of an experiment comes from, and what a reader has to know of how it was had.
//!
//! One buffer for each initiator, target and size, or one region for each kind of pages that chains are
//! rewritten in. It knows no timing.

use core::array;

use latency_core::arch::Stamp;
use latency_core::buffer::Stores;
use latency_core::chain::Chain;
use latency_core::units::{Bytes, NodeId, Pages};

use super::counters::Meter;
use super::memory::{serves, Key, Site};
use super::new_chain;
use super::placement::{self, Placement};
use super::session::Session;
use crate::error::{Failure, PlacementError};
use crate::machine::Machine;
use crate::plan;
use crate::plan::budget::{Budget, Memory};
use crate::result::{chain, Means, Placed, Point, Walk};
use crate::sys::table::Table;
use crate::warning::{Warning, Warnings};

/// Pieces of memory, at most.
pub const SITES: usize = plan::regions::MOST;

/// Memory that was asked for.
struct Piece<'a> {
    key: Key,
    like: Point,
    placement: Result<Placement, PlacementError<'a>>,
}

/// All memory of a run.
pub struct Pieces<'a> {
    pieces: [Option<Piece<'a>>; SITES],
    chains: Table<Chain>,
    memory: Memory,
}

impl<'a> Pieces<'a> {
    /// Places the memory of `points`.
    ///
    /// # Errors
    ///
    /// As [`Placement::new`], but for what the budget lets be left out.
    pub fn place(
        session: &mut Session<'a, '_>,
        points: impl Iterator<Item = Point> + Clone,
        budget: &Budget,
    ) -> Result<Pieces<'a>, Failure<'a>> {
        let points = points.filter(has_chain);
        let mut pieces = array::from_fn(|_| None::<Piece<'a>>);
        let mut count = 0;
        for point in points.clone() {
            if pieces.iter().flatten().any(|piece| serves(&piece.key, &point)) {
                continue;
            }
            let (key, size) = wanted(session.machine, points.clone(), &point, budget);
            let placement = match place(session, point.target, size, point.pages) {
                Ok(placement) => Ok(placement),
                Err(Failure::Placement(&error)) if budget.optional.covers(&point, &error) => {
                    if matches!(error, PlacementError::NotReachable { .. }) {
                        session.warnings.push(Warning::NotMeasurableHere { node: point.target });
                    }
                    Err(error)
                }
                Err(error) => return Err(error),
            };
            let slot = pieces.get_mut(count).ok_or(PlacementError::NothingToMeasure)?;
            *slot = Some(Piece { key, like: point, placement });
            count += 1;
        }
        let mut chains = Table::empty()?;
        let stays = matches!(budget.memory, Memory::Kept | Memory::Shared);
        if let Some(first) = points.clone().next().filter(|_| stays) {
            chains = Table::filled(count, chain::chain(&first)?)?;
        }
        for (chain, piece) in chains.iter_mut().zip(pieces.iter().flatten()) {
            *chain = chain::chain(&piece.like)?;
        }
        Ok(Pieces { pieces, chains, memory: budget.memory })
    }

    /// Why the memory of a point could not be had, if so.
    #[must_use]
    pub fn missing(&self, point: &Point) -> Option<PlacementError<'a>> {
        let mut pieces = self.pieces.iter().flatten();
        pieces
            .find(|piece| serves(&piece.key, point))
            .and_then(|piece| piece.placement.as_ref().err().copied())
    }

    /// Returns the memory that could be had, each with its key and its first point. Chains in it are not needed any
    /// more.
    pub fn had(&mut self) -> impl Iterator<Item = (Key, Point, &mut Placement)> + use<'_, 'a> {
        let pieces = self.pieces.iter_mut().flatten();
        pieces.filter_map(|piece| Some((piece.key, piece.like, piece.placement.as_mut().ok()?)))
    }

    /// Opens what could be had to `sites`, with a chain in each that is to stay.
    ///
    /// Such a chain is written by the stores that a trial finds faster; `stamp` times it.
    ///
    /// # Errors
    ///
    /// That of mapping a table, and a chain that does not fit its memory.
    #[inline(never)] // offsets into a small frame are short
    pub fn open<'p>(
        &'p mut self,
        session: &mut Session<'_, '_>,
        stamp: Option<Stamp>,
        sites: &mut [Option<Site<'p>>; SITES],
    ) -> Result<(), Failure<'static>> {
        let Pieces { pieces, chains, memory } = self;
        let mut chains = chains.iter();
        for (site, piece) in sites.iter_mut().zip(pieces.iter_mut().flatten()) {
            let chain = chains.next();
            let Ok(placement) = &mut piece.placement else { continue };
            let (lines, witness) = placement.split();
            session.progress.say(format_args!("writing the chain on node {}", piece.key.target));
            *site = Some(match (*memory, chain) {
                (Memory::Rewritten { places }, _) => Site::rewritten(piece.key, witness, lines, places),
                (Memory::Kept | Memory::Shared, Some(chain)) => {
                    // The CPU that walks it writes it: what stays in a cache is in its own.
                    placement::pin(piece.like.cpu)?;
                    // Ordinary stores leave lines in a cache that is larger than reported: the first pass would be
                    // faster than memory. Only where a look saw no such cache there is a choice.
                    let seen = stamp.filter(|_| session.machine.is_clear(piece.like.size));
                    let stores = Stores::choose(lines, seen, session.machine.largest_cache());
                    let buffer = new_chain::write(lines, chain, piece.like.kernel.encoding, stores)?;
                    Site::kept(piece.key, witness, buffer, piece.like.initiator)?
                }
                (Memory::Kept | Memory::Shared, None) => return Err(PlacementError::NothingToMeasure.into()),
            });
        }
        Ok(())
    }
}

/// The region that the points with that key share.
fn region(machine: &Machine, points: impl Iterator<Item = Point>, key: &Key, places: u64) -> Option<Bytes> {
    let largest = points.filter(|point| serves(key, point)).map(|point| point.size).max()?;
    Some(if places > 1 { plan::curve::region(largest, machine, key.target, key.pages) } else { largest })
}

/// Whether all memory of `points` can be had at a time: of each node no more than half of what it can give, unless it
/// is one piece, and together no more than the control group has left.
pub fn fits(machine: &Machine, points: impl Iterator<Item = Point> + Clone, budget: &Budget) -> bool {
    let mut pieces = [None::<(Key, Bytes)>; SITES];
    let mut count = 0;
    for point in points
        .clone()
        .filter(|point| has_chain(point) && !matches!(point.pages, Pages::Huge2m | Pages::Huge1g))
    {
        if pieces.iter().flatten().any(|(key, _)| serves(key, &point)) {
            continue;
        }
        let (key, size) = wanted(machine, points.clone(), &point, budget);
        // What is too many for all has to come in parts.
        let Some(slot) = pieces.get_mut(count) else { return false };
        *slot = Some((key, size));
        count += 1;
    }
    let of = |target: Option<NodeId>| {
        let pieces =
            pieces.iter().flatten().filter(move |(key, _)| target.is_none_or(|node| node == key.target));
        pieces.fold((0, 0), |(count, sum), (_, size)| (count + 1, size.0.saturating_add(sum)))
    };
    pieces.iter().flatten().all(|(key, _)| {
        let Some(supply) = machine.supply(key.target) else { return true };
        let (here, everywhere) = (of(Some(key.target)), of(None));
        let on_node = here.0 < 2 || here.1 <= supply.on_node().0 / 2;
        on_node
            && supply.headroom.is_none_or(|headroom| everywhere.0 < 2 || everywhere.1 <= headroom.0 / 10 * 9)
    })
}

/// Whether a point is walked along a chain: the memory of generators and of helpers is placed before there are threads.
fn has_chain(point: &Point) -> bool {
    !matches!(point.walk, Walk::Traffic(_)) && !point.walk.is_of_cores()
}

/// The memory that a point shares with others of `points`, and how much it is.
fn wanted(
    machine: &Machine,
    points: impl Iterator<Item = Point>,
    point: &Point,
    budget: &Budget,
) -> (Key, Bytes) {
    let is_kept = budget.memory == Memory::Kept;
    let key = Key {
        initiator: is_kept.then_some(point.initiator),
        target: point.target,
        pages: point.pages,
        size: (is_kept || budget.memory == Memory::Shared).then_some(point.size),
    };
    let size = match budget.memory {
        Memory::Kept | Memory::Shared => point.size,
        Memory::Rewritten { places } => region(machine, points, &key, places).unwrap_or(point.size),
    };
    (key, size)
}

/// Places `size` bytes on `target`, and says what a reader must know of them.
pub fn place<'a>(
    session: &mut Session<'a, '_>,
    target: NodeId,
    size: Bytes,
    pages: Pages,
) -> Result<Placement, Failure<'a>> {
    session.progress.say(format_args!("placing {size} on node {target}"));
    let placement = Placement::new(session.machine, target, size, pages)?;
    tell(session.warnings, target, pages, &placement.witness().first());
    Ok(placement)
}

/// The hardware counters, if they are `wanted`; says why there are none.
#[inline(never)] // offsets into a small frame are short
pub fn meter(session: &mut Session<'_, '_>, wanted: bool) -> Option<Meter> {
    if !wanted {
        return None;
    }
    let machine = session.machine;
    Meter::open(&machine.processor, machine.host.perf_event_paranoid)
        .map_err(|why| session.warnings.push(Warning::CountersUnavailable { why }))
        .ok()
}

/// Says what a reader must know of memory on `target` for which pages were asked for.
pub fn tell(warnings: &mut Warnings, target: NodeId, asked: Pages, placed: &Placed) {
    let Placed { means, pages, mapped, before, .. } = *placed;
    if asked == Pages::Auto && pages == Pages::Small4k {
        warnings.push(Warning::PagesFellBack { found: pages.page_size() });
    }
    if let (Pages::Thp, Some(found)) = (pages, before.transparent_huge) {
        if found < mapped {
            warnings.push(Warning::ThpPartial { wanted: mapped, found });
        }
    }
    if pages == Pages::Thp && before.transparent_huge.is_none() && before.is_there() {
        let why = "nothing tells the size of its pages";
        warnings.push(Warning::PlacementUnverified { node: target, why });
    }
    if means == Means::FirstTouch {
        warnings.push(Warning::PlacedByFirstTouch { node: target });
    }
    if !before.is_there() {
        let why = "neither /proc/self/numa_maps nor move_pages answers";
        warnings.push(Warning::PlacementUnverified { node: target, why });
    }
}
