//! Measures points on several kinds of pages: a rotation for each kind, which take turns round by round.
//!
//! What drifts meets all kinds alike then, so that they compare. Where memory does
//! not suffice for all of them at a time, they come one after another. A kind that
//! cannot be had is no failure unless it was asked for: its points say why they
//! have no number. Which points there are is the caller's business.

use latency_core::units::Bytes;

use super::rotation::{Limits, Rotation};
use crate::engine::clock::Timer;
use crate::engine::session::{Findings, Session};
use crate::error::{Failure, PlacementError};
use crate::options::Pages;
use crate::plan;
use crate::result::{Exclusion, Extra, Outcome, Point};
use crate::sys::table::Table;

/// Every kind that a point may ask for.
const KINDS: [Pages; 5] = [Pages::Auto, Pages::Small4k, Pages::Thp, Pages::Huge2m, Pages::Huge1g];

/// Measures `points`, within `share_ns` for each, unless a time limit is given.
///
/// Outcomes are in the order of the points.
///
/// # Errors
///
/// [`Failure`] but for kinds of pages that cannot be had and were not asked for. An interrupt ends
/// the run, and what there is is kept.
pub fn run<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    share_ns: f64,
) -> Result<Findings<'a>, Failure<'a>> {
    let Some(&first) = points.first() else { return Err(PlacementError::NothingToMeasure.into()) };
    let mut outcomes =
        Table::filled(points.len(), Outcome { point: first, result: Err(Exclusion::Interrupted) })?;
    for (outcome, point) in outcomes.iter_mut().zip(points) {
        outcome.point = *point;
    }
    let asked = session.options.pages;
    let has_points = |pages: &Pages| points.iter().any(|point| point.pages == *pages);
    // What was asked for comes first: without it the others are not wanted.
    let others = KINDS.into_iter().filter(|pages| *pages != asked);
    let mut kinds = KINDS;
    let mut count = 0;
    for (slot, pages) in kinds.iter_mut().zip([asked].into_iter().chain(others).filter(has_points)) {
        *slot = pages;
        count += 1;
    }
    let kinds = kinds.get(..count).unwrap_or_default();
    let together = if fit(session, points, kinds) { count } else { 1 };
    let mut interrupted = false;
    for kinds in kinds.chunks(together.max(1)) {
        let mut rotations: [Option<Rotation<'_>>; KINDS.len()] = [const { None }; KINDS.len()];
        for (slot, &pages) in rotations.iter_mut().zip(kinds) {
            match place(session, timer, points, pages) {
                Ok(rotation) => *slot = rotation,
                Err(Failure::Placement(error)) if pages != asked || pages == Pages::Auto => {
                    for outcome in outcomes.iter_mut().filter(|outcome| outcome.point.pages == pages) {
                        outcome.result = Err(Exclusion::Placement(error));
                    }
                }
                Err(Failure::Interrupted) => {
                    interrupted = true;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        if !interrupted {
            let placed = rotations.iter().flatten().map(Rotation::len).sum::<usize>();
            let run_ns = session.options.run_limit_ns(share_ns * placed as f64);
            rotations.iter_mut().flatten().for_each(|rotation| rotation.limit(run_ns));
            match take_turns(session, &mut rotations) {
                Err(Failure::Interrupted) => interrupted = true,
                ended => ended?,
            }
        }
        for (rotation, &pages) in rotations.into_iter().zip(kinds) {
            let Some(rotation) = rotation else { continue };
            let found = rotation.finish(session, interrupted)?;
            let mine = outcomes.iter_mut().filter(|outcome| outcome.point.pages == pages);
            for (outcome, found) in mine.zip(found.outcomes.iter()) {
                *outcome = *found;
            }
        }
        if interrupted {
            break;
        }
    }
    Ok(Findings { outcomes, distributions: Table::empty()?, extra: Extra::default(), interrupted })
}

/// The largest point of a kind, with the memory for it and for room to lie elsewhere in.
fn region(session: &Session<'_, '_>, points: &[Point], pages: Pages) -> Option<(Point, Bytes)> {
    let largest = points.iter().filter(|point| point.pages == pages).max_by_key(|point| point.size)?;
    Some((*largest, plan::curve::region(largest.size, session.machine, largest.target, pages)))
}

/// Whether half of the free memory suffices for all kinds that come out of it.
fn fit(session: &Session<'_, '_>, points: &[Point], kinds: &[Pages]) -> bool {
    let Some(first) = points.first() else { return false };
    let free = session.machine.free_memory(first.target);
    let from_pools = |pages: &Pages| matches!(pages, Pages::Huge2m | Pages::Huge1g);
    let regions = kinds.iter().filter(|pages| !from_pools(pages));
    let wanted = regions.filter_map(|pages| region(session, points, *pages)).map(|(_, size)| size.0);
    wanted.sum::<u64>() <= free.0 / 2
}

/// The rotation of one kind; `None` where it has no points.
fn place<'a, 't>(
    session: &mut Session<'a, '_>,
    timer: &'t Timer,
    points: &[Point],
    pages: Pages,
) -> Result<Option<Rotation<'t>>, Failure<'a>> {
    let Some((like, size)) = region(session, points, pages) else { return Ok(None) };
    let mine = || points.iter().filter(|point| point.pages == pages);
    // For how long it may go on depends on which others can be had.
    let limits = Limits { point_ns: session.options.point_limit_ns(), run_ns: f64::INFINITY };
    let mut rotation = Rotation::new(session, timer, &like, size, mine().count(), limits)?;
    for point in mine() {
        rotation.add(*point);
    }
    Ok(Some(rotation))
}

/// Goes round in every rotation in turn, until all have what they need.
fn take_turns(
    session: &mut Session<'_, '_>,
    rotations: &mut [Option<Rotation<'_>>],
) -> Result<(), Failure<'static>> {
    loop {
        let mut went = false;
        for rotation in rotations.iter_mut().flatten() {
            went |= rotation.go(session)?;
        }
        if !went {
            return Ok(());
        }
    }
}
