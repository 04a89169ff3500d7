//! A second measurement of a point (A/A), in other memory and in the same rounds.
//!
//! Rounds of one series share their pages, so they agree with each other by construction. A second series in other
//! memory shows the influence of the pages. Both series take turns, so neighbours affect both alike, and the ratio of
//! each round is the ratio of the memory.

use latency_core::buffer::Stores;
use latency_core::chain::Chain;
use latency_core::{Bytes, Summary};

use crate::budget::Memory;
use crate::error::Attempt;
use crate::machine::Machine;
use crate::memory::chains::Chains;
use crate::memory::{RealSchedule, chains};
use crate::placement::{self, Placement, Site, chain_of};
use crate::result::{Point, Repeat, Walk, point};
use crate::schedule::ScheduledPoint;
use crate::schedule::warm_up::SERVES_SOME;
use crate::warning::{SeenCause, Warning, Warnings};
use latency_sys::Table;

/// Maximum relative difference of two results that agree.
pub const CLOSE: f64 = 0.03;

/// Returns the suitability of a point for a second measurement: 0 for a point in memory, 1 for a point well within the
/// nearest cache, and `None` for any other point.
pub fn kind_of(machine: &Machine, point: &Point) -> Option<usize> {
    let nearest = machine.host.caches.data(1).map_or(Bytes(0), |cache| cache.size);
    match point.walk {
        Walk::Chain if machine.reaches_memory(point.size) => Some(0),
        Walk::Chain if point.size.times(2) <= nearest => Some(1),
        _ => None,
    }
}

/// Returns true if memory for `like` also serves `point`.
fn is_same(like: &Point, point: &Point) -> bool {
    (like.target, like.pages, like.size) == (point.target, point.pages, point.size)
}

/// Returns the index of the point that is measured twice; `None` if none is suitable, or if the node has too little
/// memory.
fn chosen(machine: &Machine, points: &[Point]) -> Option<(usize, Point)> {
    let fit = |kind| points.iter().position(|point| kind_of(machine, point) == Some(kind));
    let index = fit(0).or_else(|| fit(1))?;
    let point = *points.get(index)?;
    let (mut wanted, mut all) = (point.size.0, point.size.0);
    for other in points {
        wanted += if other.target == point.target { other.size.0 } else { 0 };
        all += other.size.0;
    }
    let fits = machine.supply(point.target).is_none_or(|supply| supply.has_room(wanted, all));
    fits.then_some((index, point))
}

/// Returns true if memory for `like` serves a second measurement of one of `points`; other memory must be released
/// first.
pub fn uses(machine: &Machine, points: &[Point], like: &Point) -> bool {
    chosen(machine, points).is_some_and(|(_, point)| is_same(like, &point))
}

/// Other memory for the second measurement of a point.
pub struct Second {
    /// The index of the point.
    pub index: usize,
    point: Point,
    placement: Placement,
    chain: Table<Chain>,
}

impl Second {
    /// Places memory for a second measurement of one of `points`; returns `None` if none is suitable, or if the node
    /// has too little memory for both.
    ///
    /// # Errors
    ///
    /// [`MeasureError::Interrupted`](crate::error::MeasureError::Interrupted), and the error of mapping a table.
    pub fn place(
        machine: &Machine,
        points: &[Point],
        spare: Option<(Point, Placement)>,
    ) -> Attempt<Option<Second>> {
        let Some((index, point)) = chosen(machine, points) else { return Ok(None) };
        let placed = match spare.filter(|(like, _)| is_same(like, &point)) {
            Some((_, placement)) => placement::pin(point.cpu).map(|_| Some(placement))?,
            None => Placement::optional(machine, &point)?,
        };
        let Some(placement) = placed else { return Ok(None) };
        Ok(Some(Second { index, point, placement, chain: Table::filled(1, point::chain(&point)?)? }))
    }

    /// Opens the memory for the point. The chain in it stays unless the `memory` of the run is rewritten.
    ///
    /// # Errors
    ///
    /// The error of mapping a table, and [`MeasureError::Interrupted`](crate::error::MeasureError::Interrupted).
    pub fn open(&mut self, memory: Memory) -> Attempt<Option<Site<Chains<'_>>>> {
        let Second { point, placement, chain, .. } = self;
        let (lines, witness) = placement.split();
        let ([Some(region), _], Some(chain)) = (chain_of(point), chain.first()) else { return Ok(None) };
        let holds = match memory {
            Memory::Rewritten { .. } => Chains::Rewritten(lines, 1),
            Memory::Kept | Memory::Shared => {
                let buffer = chains::write(lines, chain, point.kernel.encoding, Stores::STREAMING)?;
                Chains::kept(buffer, point.initiator)?
            }
        };
        Ok(Some(Site { region, witness, holds }))
    }
}

/// Compares both measurements of a point that were made in turn, and warns if their ratio is beyond the tolerance.
/// Returns `None` if no point was measured twice.
pub fn in_turn(schedule: &mut RealSchedule<'_>, warnings: &mut Warnings) -> Option<Repeat> {
    let ([first, second], ratio) = schedule.both()?;
    let (ScheduledPoint { point, .. }, first) = schedule.of(first)?;
    let (again, second) = schedule.of(second)?;
    warnings.extend(beyond(&ratio).map(|ratio| Warning::RepeatRatio { ratio, cause: SeenCause::Unseen }));
    let served = second.warm_over_cold.and_then(|ratio| ratio.interval).map(|ratio| ratio.high < SERVES_SOME);
    let served = served.or_else(|| {
        let found = again.state.warmth.found();
        found.cold_ns.map(|cold_ns| second.nanoseconds.maximum < SERVES_SOME * cold_ns)
    });
    let [first, second] = [first, second].map(|series| series.nanoseconds.median);
    Some(Repeat { size: point.size, first, second, served })
}

/// Returns the ratio of two measurements made in turn if its interval is beyond the tolerance.
fn beyond(ratio: &Summary) -> Option<f64> {
    let interval = ratio.interval?;
    (interval.low > 1.0 + CLOSE || interval.high < 1.0 - CLOSE).then_some(ratio.median)
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::Interval;

    #[test]
    fn memory_differs_if_most_rounds_differ() {
        let ratio = |low: f64, median: f64, high: f64| {
            let interval = Some(Interval { low, high });
            beyond(&Summary { count: 31, median, minimum: low, maximum: high, mad: 0.01, interval })
        };
        assert_eq!(ratio(0.99, 1.0, 1.01), None);
        assert_eq!(ratio(1.02, 1.05, 1.08), None);
        assert_eq!(ratio(1.04, 1.05, 1.06), Some(1.05));
        assert_eq!(ratio(0.90, 0.92, 0.96), Some(0.92));
    }
}
