//! The end of every run: where the memory is now, what the rounds of each point say, and what a reader has to know
//! of it.
//!
//! What did not stay where it was proven to be is no result.

use core::array;

use latency_core::chain::Order;
use latency_core::units::Picoseconds;

use super::arena::SITES;
use super::memory::Memory;
use super::placement::Witness;
use super::schedule::Schedule;
use super::session::Session;
use super::warm_up::is_held;
use crate::error::{Failure, PlacementError};
use crate::plan::budget::Budget;
use crate::result::{chain, Exclusion, Measurement, Outcome, Placed, Point, Walk};
use crate::warning::Warning;

/// From this share of disturbed trials on it is said.
const DISTURBED_SHARE: f64 = 0.1;
/// Counted and estimated core cycles that differ by more: one of them is not what it seems.
const CYCLES_TOLERANCE: f64 = 0.05;
/// A/A ratios further from one are said.
const REPEAT_TOLERANCE: f64 = 0.03;
/// Of more points, warnings say how many they are about and not which.
const FEW_POINTS: usize = 16;

/// Gives the outcome of every point of a schedule to `each`, in the order in which they were added.
///
/// # Errors
///
/// That of a point without a chain.
#[inline(never)] // offsets into a small frame are short
pub fn outcomes(
    session: &mut Session<'_, '_>,
    schedule: &mut Schedule<Memory<'_>>,
    mut each: impl FnMut(Outcome<'static>),
) -> Result<(), Failure<'static>> {
    // All points of a piece of memory lie there, and it takes long to look at.
    let mut looked: [_; SITES] = array::from_fn(|_| None::<Result<Placed, Exclusion<'static>>>);
    for index in 0..schedule.len() {
        let Some(point) = schedule.point(index) else { break };
        let site = schedule.arena.site(&point);
        let witness = site.and_then(|site| Some(*schedule.arena.sites.get(site)?.as_ref()?.witness()));
        let placed = match (witness, site.and_then(|site| looked.get_mut(site))) {
            (Some(witness), Some(slot)) => *slot.get_or_insert_with(|| look_again(session, &witness)),
            _ => Err(Exclusion::Interrupted),
        };
        let result = match placed {
            Ok(placed) => measurement(schedule, index, placed)?,
            Err(excluded) => Err(excluded),
        };
        each(Outcome { point, result });
    }
    Ok(())
}

/// Looks at a piece of memory after the last trial.
fn look_again(session: &mut Session<'_, '_>, witness: &Witness) -> Result<Placed, Exclusion<'static>> {
    let (placed, node) = (witness.again(), witness.target);
    match placed.moved(node) {
        None => Ok(placed),
        Some(moved) => {
            session.warnings.push(Warning::PagesMoved { node, pages: moved });
            let pages = placed.after.counts().map_or(0, |counts| counts.total());
            Err(Exclusion::Placement(PlacementError::MovedDuringRun { node, elsewhere: moved, pages }))
        }
    }
}

/// Makes a measurement of the rounds of a point; the inner error is that there is none.
#[allow(clippy::type_complexity)]
#[inline(never)] // offsets into a small frame are short
fn measurement(
    schedule: &mut Schedule<Memory<'_>>,
    index: usize,
    placed: Placed,
) -> Result<Result<Measurement, Exclusion<'static>>, Failure<'static>> {
    let Some((course, series)) = schedule.series(index) else { return Ok(Err(Exclusion::Interrupted)) };
    let (point, state) = (course.point, course.state);
    let chain = chain::chain(&point)?;
    let precise = series.is_precise(schedule.budget.precision);
    // Of several lanes, what a hop takes is shared by their loads.
    let series = match point.walk {
        Walk::Chain => series,
        walk => series.shared_by(walk.lanes() as f64),
    };
    Ok(Ok(Measurement {
        placed,
        hops: state.hops,
        warm_up: state.warmth.found(),
        series,
        rounds: state.rounds,
        precise,
        fingerprint: chain.fingerprint(),
        nodes: chain.nodes(),
    }))
}

/// Warns about points that are imprecise, disturbed or inconsistent: about each, or about their number where they are
/// many.
pub fn warn(session: &mut Session<'_, '_>, outcomes: &[Outcome<'_>], budget: &Budget) {
    if outcomes.len() <= FEW_POINTS {
        for outcome in outcomes {
            if let Ok(measured) = &outcome.result {
                warn_of_one(session, &outcome.point, measured, budget);
            }
        }
        return;
    }
    let (mut imprecise, mut disturbed) = (0, 0);
    for measured in outcomes.iter().filter_map(|outcome| outcome.result.as_ref().ok()) {
        imprecise += u32::from(!measured.precise);
        disturbed += u32::from(measured.series.disturbed_share() >= DISTURBED_SHARE);
    }
    let of = outcomes.len() as u32;
    if imprecise > 0 && budget.trials.is_none() {
        session.warnings.push(Warning::PointsNotPrecise { points: imprecise, of, wanted: budget.precision });
    }
    if disturbed > 0 {
        let share = DISTURBED_SHARE;
        session.warnings.push(Warning::PointsDisturbed { points: disturbed, of, share });
    }
}

fn warn_of_one(session: &mut Session<'_, '_>, point: &Point, measured: &Measurement, budget: &Budget) {
    let (from, to, size) = (point.initiator, point.target, point.size);
    let series = &measured.series;
    let cut = budget.trials.is_some_and(|trials| series.batches < u64::from(trials));
    if cut || !measured.precise && budget.trials.is_none() {
        let (found, wanted) = (series.half_width(), budget.precision);
        session.warnings.push(Warning::PrecisionNotReached { from, to, size, found, wanted });
    }
    let share = series.disturbed_share();
    if share >= DISTURBED_SHARE {
        session.warnings.push(Warning::Disturbed { from, to, size, share });
    }
    if let Some(ratio) = series.core_cycles_ratio().filter(|ratio| (ratio - 1.0).abs() > CYCLES_TOLERANCE) {
        session.warnings.push(Warning::CoreCyclesDiffer { ratio });
    }
    if let Some(ratio) = series.repeat_ratio.filter(|ratio| (ratio - 1.0).abs() > REPEAT_TOLERANCE) {
        session.warnings.push(Warning::RepeatRatio { ratio });
    }
    let warm = series.nanoseconds.median;
    // What may still be the noise of one run is no cache.
    let slowest = series.nanoseconds.interval.map_or(warm, |interval| interval.high);
    let cold = measured.warm_up.cold_ns.filter(|&cold| is_held(cold, slowest));
    if let (Some(cold), Walk::Chain, Order::Random | Order::Local(_)) = (cold, point.walk, point.order) {
        let picoseconds = |nanoseconds: f64| Picoseconds((nanoseconds * 1e3) as u64);
        let (cold, warm) = (picoseconds(cold), picoseconds(warm));
        session.warnings.push(Warning::LooksCached { size, cold, warm });
    }
}
