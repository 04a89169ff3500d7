//! Measures a list of points side by side: every round visits every point.
//!
//! Rounds of one point are thus spread over the whole run, and so are drift and
//! neighbours: an interval over rounds means what it says. An interval over contiguous batches would
//! cover the truth in 5 to 54 of 100 runs instead of 95.

use latency_core::buffer::Buffer;
use latency_core::cpulist::NodeSet;
use latency_core::topology::MAX_NODES;
use latency_core::units::{NodeId, Picoseconds};

use crate::error::{Failure, PlacementError};
use crate::experiment::{Findings, Session};
use crate::measure::{Stopwatch, Subject};
use crate::options::{FlagId, Pages};
use crate::placement::{self, Placement, Witness};
use crate::plan;
use crate::result::{Exclusion, Means, Measurement, Outcome, Point, Round, WarmUp};
use crate::store::Store;
use crate::timer::Timer;
use crate::warning::Warning;

/// Rounds before the confidence interval is looked at: over 15 it holds the median in 96.5 of 100 runs.
const ROUNDS: usize = 15;
/// Rounds that are enough where each trial by itself is longer than a whole round usually is.
const LONG_ROUNDS: usize = 7;
/// The rounds of all points together, at the most: 400 KiB of results.
const ROUNDS_KEPT: usize = 8192;
/// The batches of a round, at the least, where their length is chosen here.
const BATCHES: f64 = 20.0;
/// The run is spread over at least this long, since drift is a matter of seconds.
const SPREAD_NS: f64 = 1e9;
/// A steady state that is so much faster than the first pass is a cache's. First passes over memory
/// proper were seen up to 1.15 times as slow, for the walks of nested page tables.
const CACHED_RATIO: f64 = 1.25;
/// From this share of disturbed trials on it is said.
const DISTURBED_SHARE: f64 = 0.1;
/// A/A ratios further from one are said.
const REPEAT_TOLERANCE: f64 = 0.03;

/// The memory of one target, or why there is none.
struct Slot<'a> {
    target: NodeId,
    placement: Result<Placement, PlacementError<'a>>,
}

/// The chain in it.
struct Memory<'p, 'a> {
    target: NodeId,
    built: Result<(Buffer<'p>, Witness), PlacementError<'a>>,
}

/// One point under way.
#[derive(Clone, Copy, Default)]
struct State {
    node: u64,
    warm_up: WarmUp,
    hops: u64,
    rounds: usize,
    trials: u64,
    spent_ns: f64,
    done: bool,
}

/// Measures all points. Those of one target share one buffer, so they may differ in the initiator alone.
///
/// Points whose memory cannot be had are excluded, or fail the whole if they were asked for expressly.
///
/// # Errors
///
/// [`Failure`] before anything was measured. An interrupt later on ends the sweep, and what there is is kept.
pub fn run<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
) -> Result<Findings<'a>, Failure<'a>> {
    let Some(first) = points.first() else { return Err(PlacementError::NothingToMeasure.into()) };
    let targets: NodeSet = points.iter().map(|point| point.target.0).collect();
    let mut chains = Store::filled(targets.len(), plan::chain(first)?)?;
    let mut slots = [const { None::<Slot<'a>> }; MAX_NODES];
    let mut free = slots.iter_mut().zip(chains.iter_mut());
    for (index, point) in points.iter().enumerate() {
        let known = points.get(..index).unwrap_or_default().iter().any(|other| other.target == point.target);
        if known {
            continue;
        }
        let Some((slot, chain)) = free.next() else { break };
        *chain = plan::chain(point)?;
        *slot = Some(Slot { target: point.target, placement: place(session, point)? });
    }
    let mut memories = [const { None::<Memory<'_, 'a>> }; MAX_NODES];
    for ((memory, slot), chain) in memories.iter_mut().zip(&mut slots).zip(chains.iter()) {
        let Some(Slot { target, placement }) = slot else { break };
        session.progress.say(format_args!("writing the chain on node {target}"));
        let built = match placement {
            Ok(placement) => {
                let (lines, witness) = placement.split();
                Buffer::build(lines, chain, first.kernel.encoding)
                    .map(|buffer| (buffer, witness))
                    .map_err(|_| PlacementError::NothingToMeasure)
            }
            Err(error) => Err(*error),
        };
        *memory = Some(Memory { target: *target, built });
    }
    measure(session, timer, points, &memories)
}

/// The memory of a point; the inner error excludes it.
#[allow(clippy::type_complexity)]
fn place<'a>(
    session: &mut Session<'a, '_>,
    point: &Point,
) -> Result<Result<Placement, PlacementError<'a>>, Failure<'a>> {
    session.progress.say(format_args!("placing {} on node {}", point.size, point.target));
    let options = session.options;
    match Placement::new(session.machine, point.target, point.size, point.pages) {
        Ok(placement) => {
            report_placement(session, &placement);
            Ok(Ok(placement))
        }
        Err(Failure::Placement(error))
            if options.memnode.is_none() && options.pages == Pages::Auto && options.size.is_none() =>
        {
            if matches!(error, PlacementError::NotReachable { .. }) {
                session.warnings.push(Warning::NotMeasurableHere { node: point.target });
            }
            Ok(Err(error))
        }
        Err(error) => Err(error),
    }
}

/// Says what a reader must know of how the memory was had.
fn report_placement(session: &mut Session<'_, '_>, placement: &Placement) {
    let Witness { target, pages, mapped, .. } = *placement.witness();
    if session.options.pages == Pages::Auto && pages == Pages::Small4k {
        session.warnings.push(Warning::PagesFellBack { found: pages.page_size() });
    }
    if let (Pages::Thp, Some(found)) = (pages, placement.evidence().transparent_huge) {
        if found < mapped {
            session.warnings.push(Warning::ThpPartial { wanted: mapped, found });
        }
    }
    if placement.means() == Means::FirstTouch {
        session.warnings.push(Warning::PlacedByFirstTouch { node: target });
    }
    if !placement.evidence().is_there() {
        let why = "neither /proc/self/numa_maps nor move_pages answers";
        session.warnings.push(Warning::PlacementUnverified { node: target, why });
    }
}

/// Warms every point up, then goes round until all are precise or out of time.
fn measure<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    memories: &[Option<Memory<'_, 'a>>],
) -> Result<Findings<'a>, Failure<'a>> {
    let mut watch = Stopwatch::new(timer)?;
    let per_point = (ROUNDS_KEPT / points.len().max(1)).clamp(2 * ROUNDS, crate::measure::MOST_ROUNDS);
    let mut rounds = Store::filled(per_point * points.len(), Round::default())?;
    let mut states = Store::filled(points.len(), State::default())?;
    let memory_of = |target| memories.iter().flatten().find(|memory| memory.target == target);

    let mut interrupted = false;
    for step in 0..=per_point {
        let mut open = false;
        for (index, (point, state)) in points.iter().zip(states.iter_mut()).enumerate() {
            let Some(Memory { built: Ok((buffer, _)), .. }) = memory_of(point.target) else { continue };
            if state.done {
                continue;
            }
            let subject = Subject { buffer, kernel: point.kernel };
            placement::pin(point.cpu)?;
            let kept = rounds.get_mut(index * per_point..(index + 1) * per_point).unwrap_or_default();
            let visit = match step {
                0 => begin(session, &mut watch, &subject, state),
                _ => advance(session, &mut watch, &subject, state, kept, points.len()),
            };
            match visit {
                Ok(()) => open |= !state.done,
                Err(Failure::Interrupted) => interrupted = true,
                Err(error) => return Err(error),
            }
            if interrupted {
                break;
            }
        }
        session.progress.say(format_args!("round {step} of at least {ROUNDS}, {} pairs", points.len()));
        if interrupted || !open {
            break;
        }
    }
    session.progress.clear();

    let mut outcomes = Store::empty()?;
    if let Some(&point) = points.first() {
        outcomes = Store::filled(points.len(), Outcome { point, result: Err(Exclusion::Interrupted) })?;
    }
    for (index, ((point, state), outcome)) in
        points.iter().zip(states.iter()).zip(outcomes.iter_mut()).enumerate()
    {
        let kept = rounds.get(index * per_point..index * per_point + state.rounds).unwrap_or_default();
        outcome.point = *point;
        outcome.result = match memory_of(point.target) {
            Some(Memory { built: Ok((buffer, witness)), .. }) => {
                conclude(session, &mut watch, buffer, witness, state, kept, point)
            }
            Some(Memory { built: Err(error), .. }) => Err(Exclusion::Placement(*error)),
            None => Err(Exclusion::Placement(PlacementError::NothingToMeasure)),
        };
    }
    Ok(Findings { outcomes, interrupted })
}

/// The first visit: warm up, and choose the length of a trial.
fn begin(
    session: &Session<'_, '_>,
    watch: &mut Stopwatch<'_>,
    subject: &Subject<'_>,
    state: &mut State,
) -> Result<(), Failure<'static>> {
    state.node = subject.buffer.chain().start(0, 1);
    state.warm_up = watch.warm_up(subject, &mut state.node, session.options.warmup_iters)?;
    state.hops = match session.options.iters {
        Some(iters) => iters.get(),
        None => watch.hops_per_batch(state.warm_up.estimate_ns),
    };
    Ok(())
}

/// A later visit: one round, and whether it was the last.
fn advance(
    session: &Session<'_, '_>,
    watch: &mut Stopwatch<'_>,
    subject: &Subject<'_>,
    state: &mut State,
    kept: &mut [Round],
    points: usize,
) -> Result<(), Failure<'static>> {
    let options = session.options;
    let limit_ns = options.time_limit.0 as f64 / 1e3;
    let trial_ns = state.hops as f64 * state.warm_up.estimate_ns;
    let round_limit = limit_ns / ROUNDS as f64;
    let count = match options.trials {
        Some(trials) => {
            let trials = u64::from(trials.get());
            let rounds = trials.min(ROUNDS as u64);
            let index = state.rounds as u64;
            trials / rounds + u64::from(index < trials % rounds)
        }
        None => {
            let share = (SPREAD_NS / (ROUNDS * points) as f64).max(BATCHES * trial_ns).min(round_limit);
            (share / trial_ns.max(1.0)) as u64
        }
    };
    if points > 1 {
        // Another point has been walked in between: what it left in caches and TLBs is not this one's.
        watch.refresh(subject, &mut state.node)?;
    }
    let cap = if options.trials.is_some() && !options.given.contains(FlagId::TimeLimit) {
        f64::INFINITY
    } else {
        round_limit * 2.0
    };
    let round =
        watch.round(subject, &mut state.node, state.hops, count.clamp(1, u64::from(u32::MAX)) as u32, cap)?;
    let Some(slot) = kept.get_mut(state.rounds) else {
        state.done = true;
        return Ok(());
    };
    *slot = round;
    state.rounds += 1;
    state.trials += u64::from(round.batches);
    state.spent_ns += round.nanoseconds * state.hops as f64 * f64::from(round.batches);
    let made = kept.get(..state.rounds).unwrap_or_default();
    state.done = match options.trials {
        Some(trials) => {
            state.trials >= u64::from(trials.get()) || (cap.is_finite() && state.spent_ns >= limit_ns)
        }
        None => {
            let precise = watch.summarise(made).is_some_and(|series| series.is_precise(options.precision));
            let enough = if count > 1 { ROUNDS } else { LONG_ROUNDS };
            state.spent_ns >= limit_ns || state.rounds >= enough && precise || state.rounds == kept.len()
        }
    };
    Ok(())
}

/// Looks at the memory again, and makes a result of the rounds, with its warnings.
fn conclude<'a>(
    session: &mut Session<'a, '_>,
    watch: &mut Stopwatch<'_>,
    buffer: &Buffer<'_>,
    witness: &Witness,
    state: &State,
    rounds: &[Round],
    point: &Point,
) -> Result<Measurement, Exclusion<'a>> {
    let series = watch.summarise(rounds).ok_or(Exclusion::Interrupted)?;
    let placed = witness.again();
    let (from, to, size) = (point.initiator, point.target, point.size);
    if let Some(moved) = placed.moved(to) {
        session.warnings.push(Warning::PagesMoved { node: to, pages: moved });
        let pages = placed.after.counts().map_or(0, |counts| counts.total());
        return Err(Exclusion::Placement(PlacementError::MovedDuringRun {
            node: to,
            elsewhere: moved,
            pages,
        }));
    }
    let found = series.half_width();
    let precise = series.is_precise(session.options.precision);
    if !precise && session.options.trials.is_none() {
        let wanted = session.options.precision;
        session.warnings.push(Warning::PrecisionNotReached { from, to, size, found, wanted });
    }
    let share = series.disturbed as f64 / series.batches.max(1) as f64;
    if share >= DISTURBED_SHARE {
        session.warnings.push(Warning::Disturbed { from, to, size, share });
    }
    if let Some(cold_ns) =
        state.warm_up.cold_ns.filter(|cold| *cold > series.nanoseconds.median * CACHED_RATIO)
    {
        let picoseconds = |nanoseconds: f64| Picoseconds((nanoseconds * 1e3) as u64);
        let warm = picoseconds(series.nanoseconds.median);
        session.warnings.push(Warning::LooksCached { size, cold: picoseconds(cold_ns), warm });
    }
    if let Some(ratio) = series.repeat_ratio.filter(|ratio| (ratio - 1.0).abs() > REPEAT_TOLERANCE) {
        session.warnings.push(Warning::RepeatRatio { ratio });
    }
    Ok(Measurement {
        placed,
        hops: state.hops,
        warm_up: state.warm_up,
        series,
        rounds: rounds.len(),
        precise,
        fingerprint: buffer.chain().fingerprint(),
        nodes: buffer.chain().nodes(),
    })
}
