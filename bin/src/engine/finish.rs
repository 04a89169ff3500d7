//! From the rounds of a point to its measurement, and to what a reader has to know of it.
//!
//! Shared by everything that measures. The memory is looked at once more here:
//! what did not stay where it was proven to be is no result.

use latency_core::chain::Chain;

use super::placement::Witness;
use super::session::Session;
use super::stopwatch::Stopwatch;
use super::visit::State;
use crate::error::PlacementError;
use crate::result::{Exclusion, Measurement, Placed, Point, Round};
use crate::warning::Warning;

/// From this share of disturbed trials on it is said.
pub const DISTURBED_SHARE: f64 = 0.1;
/// Counted and estimated core cycles that differ by more: one of them is not what it seems.
const CYCLES_TOLERANCE: f64 = 0.05;
/// A/A ratios further from one are said.
const REPEAT_TOLERANCE: f64 = 0.03;

/// Looks at a point's memory after the last trial.
///
/// # Errors
///
/// [`Exclusion::Placement`] where pages are elsewhere than they were.
pub fn look_again<'a>(session: &mut Session<'_, '_>, witness: &Witness) -> Result<Placed, Exclusion<'a>> {
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

/// Makes a measurement of the rounds of a point.
///
/// # Errors
///
/// [`Exclusion::Interrupted`] where there is no round.
pub fn measurement<'a>(
    session: &Session<'_, '_>,
    watch: &mut Stopwatch<'_>,
    placed: Placed,
    chain: &Chain,
    state: &State,
    rounds: &[Round],
) -> Result<Measurement, Exclusion<'a>> {
    let series = watch.summarise(rounds).ok_or(Exclusion::Interrupted)?;
    Ok(Measurement {
        placed,
        hops: state.hops,
        warm_up: state.warm_up,
        series,
        rounds: rounds.len(),
        precise: series.is_precise(session.options.precision),
        fingerprint: chain.fingerprint(),
        nodes: chain.nodes(),
    })
}

/// Says what speaks against one point, for experiments with few of them.
pub fn doubt(session: &mut Session<'_, '_>, point: &Point, measured: &Measurement) {
    let (from, to, size) = (point.initiator, point.target, point.size);
    let series = &measured.series;
    if !measured.precise && session.options.trials.is_none() {
        let (found, wanted) = (series.half_width(), session.options.precision);
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
}
