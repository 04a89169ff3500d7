//! The end of every run: queries the memory again, makes an outcome of the rounds of each point, and warns about it.
//!
//! A point is excluded if its memory did not stay on the node where it was verified to be.

use latency_core::arch::Cycles;
use latency_core::chain::Order;
use latency_core::{Bytes, NodeId, Picoseconds, ToReal, math};

use crate::budget::Budget;
use crate::error::{Attempt, PlacementError};
use crate::machine::Machine;
use crate::memory::RealSchedule;
use crate::placement::Witness;
use crate::regions::MOST;
use crate::result::outcome::LATENCIES;
use crate::result::{
    Exclusion, Measurement, Outcome, PerLine, Placed, PlacedField, Point, Repeat, Round, RoundSeries, Timer,
    Undisturbed, Walk, lack_core_clock,
};
use crate::schedule::undisturbed::undisturbed;
use crate::schedule::warm_up::{SERVES_SOME, is_held};
use crate::session::{Noted, Session};
use crate::warning::{SeenCause, Warning, Warnings};
use crate::words::words;

/// Minimum share of disturbed trials for a warning.
const DISTURBED_SHARE: f64 = 0.1;
/// Maximum relative difference of counted and estimated core cycles; beyond it, one of them is wrong.
const CYCLES_TOLERANCE: f64 = 0.05;
/// Minimum share of trials that agree on a value; below it, the point has several values.
const STATE_SHARE: f64 = 0.7;
/// Maximum ratio of a latency to the latency while neighbours are quiet; above it, a warning names the neighbours.
const NEIGHBOURS: f64 = 1.1;
/// Minimum steps of the timer in a trial, so that a step is below 1 % of it.
const FEWEST_STEPS: f64 = 100.0;
/// Minimum working set, in memory-side caches, that measures memory itself: these caches are direct-mapped, so four
/// lines that share a place in one evict each other before a lap comes back to them.
const SIDE_CACHES: u64 = 4;
/// Maximum ratio of rounds to a single first pass at which a cache serves some of a set: a pass of some milliseconds is
/// one moment, in which neighbours may raise the latency by 15 %, and lines that a cache serves lower it much more.
const ONE_PASS: f64 = 0.8;
/// Maximum points that warnings name one by one; for more points, and for pairs of CPUs, warnings give the number.
const FEW_POINTS: usize = 16;

/// Calls `each` with the outcome of every point of a schedule, in the order of the points.
///
/// # Errors
///
/// The error of a point without a chain.
pub fn outcomes(
    session: &mut Session<'_>,
    schedule: &mut RealSchedule<'_>,
    mut each: impl FnMut(Outcome),
) -> Attempt {
    // Points that share a piece of memory share one query of it, because a query is slow.
    let mut looked = [None::<(usize, Result<Placed, Exclusion>)>; 2 * MOST];
    session.noted.moves += schedule.place.moves();
    for index in 0..schedule.count() {
        let Some(point) = schedule.point(index) else { break };
        // A core of another kind has another clock.
        if index < schedule.budget.steady {
            note(&mut session.noted, schedule.rounds(index));
        }
        let again: &mut dyn FnMut(&Witness) -> _ = &mut |witness| {
            let address = witness.address;
            let mut slots = looked.iter_mut();
            let slot = slots.find(|slot| slot.is_none_or(|(known, _)| known == address));
            let look = || (address, stayed(session.warnings, witness.again(), witness.target));
            slot.map_or(Err(Exclusion::Interrupted), |slot| slot.get_or_insert_with(look).1)
        };
        let found = schedule.place.witnesses(&point).ok_or(Exclusion::Interrupted);
        let found = found.and_then(|(own, other)| {
            let placed = again(&own)?;
            let other = other.map(|other| Ok(PlacedField::of(&again(&other)?, other.target))).transpose()?;
            Ok((placed, other))
        });
        let result = match found {
            Ok((placed, traffic)) => {
                let lines = schedule.place.per_line(index, &point);
                measurement(schedule, index, placed, traffic, lines)?
            }
            Err(excluded) => Err(excluded),
        };
        each(Outcome { point, result });
    }
    Ok(())
}

/// Records the clocks of rounds.
pub fn note(noted: &mut Noted, rounds: &[Round]) {
    for round in rounds {
        noted.clocks.note(round.core_gigahertz);
        noted.steps_back += u64::from(round.stepped_back);
    }
}

/// Returns the final state of a piece of memory on `node`, and warns about changes.
///
/// # Errors
///
/// [`PlacementError::MovedDuringRun`] if pages are on another node after the last trial.
pub fn stayed(warnings: &mut Warnings, placed: Placed, node: NodeId) -> Result<Placed, Exclusion> {
    if let Some((before, after)) = placed.huge_pages_changed() {
        let mapped = placed.mapped;
        warnings.push(Warning::HugePagesChanged { node, before, after, mapped });
    }
    match placed.moved(node) {
        None => Ok(placed),
        Some(moved) => {
            warnings.push(Warning::PagesMoved { node, pages: moved });
            let pages = placed.after.counts().map_or(0, |counts| counts.total());
            Err(Exclusion::Placement(PlacementError::MovedDuringRun { node, elsewhere: moved, pages }))
        }
    }
}

/// Returns the measurement that the rounds of a point give; the inner error is the reason if there is none.
///
/// # Errors
///
/// The error of a point without a chain.
#[allow(clippy::type_complexity)]
pub fn measurement(
    schedule: &mut RealSchedule<'_>,
    index: usize,
    placed: Placed,
    traffic: Option<PlacedField>,
    lines: Option<PerLine>,
) -> Attempt<Result<Measurement, Exclusion>> {
    let Some((entry, mut series)) = schedule.series(index) else { return Ok(Err(Exclusion::Interrupted)) };
    let (point, state) = (entry.point, entry.state);
    let (fingerprint, nodes) = match point.walk {
        Walk::Traffic(traffic) => (0, traffic.footprint.0 / 64),
        Walk::PingPong(pair) => (0, pair.lines.into()),
        _ => schedule.budget.chain(&point).map(|chain| (chain.fingerprint(), chain.end()))?,
    };
    if let Some(why) = without_value(&point, &series) {
        return Ok(Err(why));
    }
    let precise = series.is_precise(schedule.budget.precision);
    if let Walk::Chain = point.walk {
        series.undisturbed = undisturbed(schedule.rounds(index), schedule.budget.looked_ns);
    }
    let (placements, placement_spread) = schedule.placements(index);
    // With several lanes, the time of a hop is divided by the number of loads that share it.
    if let Walk::Lanes(_) | Walk::Apart(_) = point.walk {
        series.share(point.walk.lanes().real());
    }
    Ok(Ok(Measurement {
        placed,
        hops: state.hops,
        warm_up: state.warmth.found(),
        series,
        rounds: state.rounds,
        placements,
        placement_spread,
        precise,
        fingerprint,
        nodes,
        traffic,
        lines,
    }))
}

/// Returns the reason why rounds give no value: the load alongside a chain was absent in most of them, or the clock did not
/// advance.
fn without_value(point: &Point, series: &RoundSeries) -> Option<Exclusion> {
    let is_absent = series.delivered.is_some_and(|found| found.median <= 0.0);
    match point.walk {
        Walk::Loaded(_) if is_absent => Some(Exclusion::Starved),
        _ if LATENCIES.contains(&series.nanoseconds.median) => None,
        _ => Some(Exclusion::Placement(PlacementError::BelowClock)),
    }
}

/// Warns about points that are imprecise, disturbed or inconsistent: about each point, or about their number if there
/// are many.
///
/// `repeat` is the comparison of a point that was measured twice.
pub fn warn(session: &mut Session<'_>, outcomes: &[Outcome], budget: &Budget, repeat: Option<Repeat>) {
    warn_of_trials(session, outcomes);
    warn_of_windows(session.warnings, outcomes);
    warn_of_core_clock(session.warnings, &session.timer, outcomes);
    warn_of_side_caches(session.machine, session.warnings, outcomes);
    warn_of_neighbours(session.warnings, outcomes);
    let is_disturbed = |(_, measured): (&Point, &Measurement)| {
        matches!(measured.series.undisturbed, Some(Undisturbed::AtMost(_)))
    };
    if budget.until_quiet && measured(outcomes).any(is_disturbed) {
        session.warnings.push(Warning::NotQuiet { seconds: budget.point_ns / 1e9 });
    }
    let of_nodes = outcomes.iter().all(|outcome| !outcome.point.walk.is_of_cores());
    if outcomes.len() <= FEW_POINTS && of_nodes {
        measured(outcomes).for_each(|(point, measured)| warn_of_one(session, point, measured, budget));
        warn_of_hits(session.machine, session.warnings, outcomes, repeat);
        return;
    }
    let (mut imprecise, mut unknown, mut disturbed) = (0, 0, 0);
    for (_, measured) in measured(outcomes) {
        imprecise += u32::from(!measured.precise);
        unknown += u32::from(measured.series.nanoseconds.interval.is_none());
        disturbed += u32::from(measured.series.disturbed_share() >= DISTURBED_SHARE);
        warn_of_counters(session, measured);
    }
    let of = outcomes.len() as u32;
    if imprecise > 0 && budget.trials.is_none() {
        let (wanted, limit) = (budget.precision, session.noted.limit);
        session.warnings.push(Warning::PointsNotPrecise {
            points: imprecise,
            unknown,
            of,
            wanted,
            limit,
            cause: SeenCause::Unseen,
        });
    }
    if disturbed > 0 {
        let share = DISTURBED_SHARE;
        session.warnings.push(Warning::PointsDisturbed {
            points: disturbed,
            of,
            share,
            cause: SeenCause::Unseen,
        });
    }
}

/// Warns if results that show core cycles have a point without them: then all of them show ticks.
pub fn warn_of_core_clock(warnings: &mut Warnings, timer: &Timer, outcomes: &[Outcome]) {
    if words().cycles_are == Cycles::Core && timer.counter().is_some() && lack_core_clock(outcomes) {
        warnings.push(Warning::NoCoreClock { cause: SeenCause::Unseen });
    }
}

/// Returns the measured points.
fn measured(outcomes: &[Outcome]) -> impl Iterator<Item = (&Point, &Measurement)> {
    outcomes.iter().filter_map(|Outcome { point, result }| Some((point, result.as_ref().ok()?)))
}

/// Warns about memory with a higher latency than while its neighbours are quiet.
fn warn_of_neighbours(warnings: &mut Warnings, outcomes: &[Outcome]) {
    for (&Point { initiator: from, target: to, size, .. }, Measurement { series, .. }) in measured(outcomes) {
        let Some(Undisturbed::Seen { nanoseconds, .. }) = series.undisturbed else { continue };
        let ratio = series.nanoseconds.median / nanoseconds;
        warnings.push_if(ratio > NEIGHBOURS, Warning::Neighbours { from, to, size, ratio });
    }
}

/// Warns about points whose translation could not be told apart from memory, because the TLB holds too few pages.
fn warn_of_windows(warnings: &mut Warnings, outcomes: &[Outcome]) {
    for (&Point { initiator: from, target: to, size, .. }, Measurement { series, .. }) in measured(outcomes) {
        let ratio = series.split.and_then(|split| split.windows_differ);
        warnings.extend(ratio.map(|ratio| Warning::TranslationNotSeparated { from, to, size, ratio }));
    }
}

/// Warns about trials that do not agree, that are too short for the timer, or during which the timer stepped back.
fn warn_of_trials(session: &mut Session<'_>, outcomes: &[Outcome]) {
    let (mut points, mut share, mut steps, mut trials) = (0, STATE_SHARE, FEWEST_STEPS, 0);
    for (point, Measurement { series, hops, .. }) in measured(outcomes) {
        if let Some(found) = series.state_share.filter(|found| *found < STATE_SHARE) {
            points += 1;
            share = share.min(found);
        }
        let trial_ns = series.nanoseconds.median * hops.real() * point.walk.lanes().real();
        steps = steps.min(trial_ns / session.timer.step_ns().max(f64::MIN_POSITIVE));
        trials += series.stepped_back;
    }
    let (of, cause) = (outcomes.len() as u32, SeenCause::Unseen);
    session.warnings.push_if(points > 0, Warning::StateShare { points, of, share, cause });
    session.warnings.push_if(steps < FEWEST_STEPS, Warning::FewSteps { steps: math::whole(steps) });
    session.warnings.push_if(trials > 0, Warning::TimerSteppedBack { trials });
}

fn warn_of_one(session: &mut Session<'_>, point: &Point, measured: &Measurement, budget: &Budget) {
    let (from, to, size, cause) = (point.initiator, point.target, point.size, SeenCause::Unseen);
    let series = &measured.series;
    let cut = budget.trials.is_some_and(|trials| series.batches < u64::from(trials));
    if cut || !measured.precise && budget.trials.is_none() {
        let (found, wanted, limit) = (series.half_width(), budget.precision, session.noted.limit);
        session.warnings.push(Warning::PrecisionNotReached { from, to, size, found, wanted, limit, cause });
    }
    let share = series.disturbed_share();
    session.warnings.push_if(share >= DISTURBED_SHARE, Warning::Disturbed { from, to, size, share, cause });
    warn_of_counters(session, measured);
}

/// Warns if first passes show that a cache serves a working set that should not fit in a cache.
///
/// A first pass is one moment of a run, so several must agree: most of those from one node over sets of one size. A
/// search before the run, or a repeat after it in new memory, overrides the first passes for the node on which it ran.
pub fn warn_of_hits(
    machine: &Machine,
    warnings: &mut Warnings,
    outcomes: &[Outcome],
    repeat: Option<Repeat>,
) {
    for point in outcomes.iter().map(|outcome| &outcome.point) {
        let size = point.size;
        // The plan already warned about a working set that fits a reported cache.
        if machine.cache_that_holds(size).is_some() {
            continue;
        }
        let (mut passes, mut moments, mut hits, mut holds, mut told) = (0, 0, 0, 0, None);
        for (other, measured) in measured(outcomes) {
            let random = matches!(
                (other.walk, other.order),
                (Walk::Chain, Order::Random | Order::Local(_) | Order::Grouped { .. })
            );
            let alike = random && (other.initiator, other.size) == (point.initiator, size);
            passes += usize::from(alike && measured.warm_up.passes > 0);
            moments += if alike { measured.warm_up.passes } else { 0 };
            if let Some(cold) = served(measured).filter(|_| alike) {
                hits += 1;
                holds += usize::from(holds_much(measured, cold));
                told = told.or(Some((cold, measured.series.nanoseconds.median)));
            }
        }
        let Some(both) = told.filter(|_| 2 * hits > passes) else { continue };
        let is_clear = machine.is_clear(size);
        let again = repeat.filter(|repeat| repeat.size == size).and_then(|repeat| repeat.served);
        let is_alone = moments == 1 && !machine.is_served(size) && again != Some(true);
        if is_alone && both.1 > ONE_PASS * both.0 {
            continue;
        }
        let here = outcomes.first().is_some_and(|first| first.point.initiator == point.initiator);
        if here && (is_clear || again == Some(false)) {
            continue;
        }
        let [cold, warm] = [both.0, both.1].map(|nanoseconds| Picoseconds(math::whole(nanoseconds * 1e3)));
        if 2 * holds > passes {
            warnings.push(Warning::LooksCached { size, cold, warm });
        } else if !is_clear {
            // If a search before the run saw no hits, a difference this small is only the difference between two
            // moments.
            warnings.push(Warning::CacheServesPart { size, cold, warm });
        }
    }
}

/// Warns about nodes whose memory was measured through a memory-side cache: no working set of the node, and no
/// footprint of generators, was four times as large as the cache.
pub fn warn_of_side_caches(machine: &Machine, warnings: &mut Warnings, outcomes: &[Outcome]) {
    for node in machine.topology.nodes() {
        let Some(cache) = node.attributes.side_cache else { continue };
        // The largest working set of a curve is its memory. Chains alongside generators have a largest set of their
        // own.
        let (mut chains, mut footprints) = (None, None);
        for (point, _) in measured(outcomes).filter(|(point, _)| !point.walk.is_of_cores()) {
            let traffic = point.walk.traffic();
            if let Some(traffic) = traffic.filter(|traffic| traffic.node == node.id) {
                footprints = footprints.max(Some(traffic.footprint));
            }
            if point.target == node.id && !matches!(point.walk, Walk::Traffic(_)) {
                chains = chains.max(Some(point.size));
            }
        }
        // A working set in a CPU's cache is not a measurement of memory.
        let in_memory = |size: &Bytes| machine.cache_that_holds(*size).is_none();
        let Some(size) = chains.into_iter().chain(footprints).filter(in_memory).min() else { continue };
        let wanted = cache.size.times(SIDE_CACHES);
        if size < wanted {
            let fits = machine.supply(node.id).is_some_and(|supply| supply.check(node.id, wanted).is_ok());
            let (node, cache) = (node.id, cache.size);
            warnings.push(Warning::SideCache { node, cache, size, fits });
        }
    }
}

/// Returns the latency of the first pass, in nanoseconds, if the rounds were faster: then a cache serves some loads.
pub fn served(measured: &Measurement) -> Option<f64> {
    let series = &measured.series;
    match series.warm_over_cold {
        // Each round has both latencies, so neighbours affected both alike.
        Some(ratio) => ratio
            .interval
            .filter(|interval| interval.high < SERVES_SOME)
            .map(|_| series.nanoseconds.median / ratio.median),
        None => measured.warm_up.cold_ns.filter(|&cold| slowest(measured) < SERVES_SOME * cold),
    }
}

/// Returns true if a cache serves more of a set than chance explains, by the latency of a first pass.
fn holds_much(measured: &Measurement, cold_ns: f64) -> bool {
    match measured.series.warm_over_cold.and_then(|ratio| ratio.interval) {
        Some(interval) => is_held(1.0, interval.high),
        None => is_held(cold_ns, slowest(measured)),
    }
}

/// Returns the upper bound of the rounds' latency that is compared with a first pass. A single pass is one moment, like
/// any round, so the bound is the slowest round. Several passes have a median, like the rounds, so the bound is the
/// upper end of the rounds' interval.
fn slowest(measured: &Measurement) -> f64 {
    let found = &measured.series.nanoseconds;
    match (found.interval, measured.warm_up.passes) {
        (Some(interval), 2..) => interval.high,
        _ => found.maximum,
    }
}

/// Warns if counted and estimated core cycles contradict each other.
fn warn_of_counters(session: &mut Session<'_>, measured: &Measurement) {
    let ratio = measured.series.core_cycles_ratio().filter(|ratio| (ratio - 1.0).abs() > CYCLES_TOLERANCE);
    session.warnings.extend(ratio.map(|ratio| Warning::CoreCyclesDiffer { ratio, cause: SeenCause::Unseen }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::outcome::outcome;

    #[test]
    fn no_latency_of_zero_is_a_value() {
        for (ns, has_value) in
            [(5.0, true), (1e-6, true), (1e-7, false), (0.0, false), (-1.0, false), (f64::NAN, false)]
        {
            let Outcome { point, result } = outcome(1 << 20, Walk::Chain, ns);
            let why = without_value(&point, &result.unwrap().series);
            assert_eq!(why.is_none(), has_value, "{ns}");
        }
    }
}
