//! Measures a list of points side by side: every round visits every point.
//!
//! Rounds of one point are thus spread over the whole run, and so are drift and
//! neighbours: an interval over rounds means what it says. An interval over contiguous batches would
//! cover the truth in 5 to 54 of 100 runs instead of 95.

use latency_core::buffer::{Buffer, Stores};
use latency_core::cpulist::NodeSet;
use latency_core::topology::MAX_NODES;
use latency_core::units::{NodeId, Picoseconds};

use crate::engine::clock::Timer;
use crate::engine::companion::{Alone, Companion};
use crate::engine::placement::{self, Placement, Witness};
use crate::engine::session::{Findings, Session};
use crate::engine::stopwatch::Stopwatch;
use crate::engine::subject::Subject;
use crate::engine::visit::{Pace, State};
use crate::engine::{arena, finish};
use crate::error::{Failure, PlacementError};
use crate::options::Pages;
use crate::plan::duration::ROUNDS;
use crate::result::{chain, Exclusion, Extra, Measurement, Outcome, Point, Round};
use crate::sys::table::Table;
use crate::warning::Warning;

/// The rounds of all points together, at the most: 400 KiB of results.
const ROUNDS_KEPT: usize = 8192;
/// The run is spread over at least this long, since drift is a matter of seconds.
pub const SPREAD_NS: f64 = 1e9;
/// A steady state that is so much faster than the first pass is a cache's. First passes over memory
/// proper were seen up to 1.15 times as slow, for the walks of nested page tables.
const CACHED_RATIO: f64 = 1.25;

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

/// Measures all points by batches alone: see [`run_with`].
///
/// # Errors
///
/// As [`run_with`].
pub fn run<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
) -> Result<Findings<'a>, Failure<'a>> {
    run_with(session, timer, points, &mut Alone)
}

/// Measures all points. Those of one target share one buffer, so they may differ in the initiator alone.
///
/// Points whose memory cannot be had are excluded, or fail the whole if they were asked for expressly.
///
/// # Errors
///
/// [`Failure`] before anything was measured. An interrupt later on ends the sweep, and what there is is kept.
pub fn run_with<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    companion: &mut dyn Companion,
) -> Result<Findings<'a>, Failure<'a>> {
    let Some(first) = points.first() else { return Err(PlacementError::NothingToMeasure.into()) };
    let targets: NodeSet = points.iter().map(|point| point.target.0).collect();
    let mut chains = Table::filled(targets.len(), chain::chain(first)?)?;
    let mut slots = [const { None::<Slot<'a>> }; MAX_NODES];
    let mut free = slots.iter_mut().zip(chains.iter_mut());
    for (index, point) in points.iter().enumerate() {
        let known = points.get(..index).unwrap_or_default().iter().any(|other| other.target == point.target);
        if known {
            continue;
        }
        let Some((slot, chain)) = free.next() else { break };
        *chain = chain::chain(point)?;
        *slot = Some(Slot { target: point.target, placement: place(session, point)? });
    }
    let mut memories = [const { None::<Memory<'_, 'a>> }; MAX_NODES];
    for ((memory, slot), chain) in memories.iter_mut().zip(&mut slots).zip(chains.iter()) {
        let Some(Slot { target, placement }) = slot else { break };
        session.progress.say(format_args!("writing the chain on node {target}"));
        let built = match placement {
            Ok(placement) => {
                let (lines, witness) = placement.split();
                let stores = Stores::choose(
                    lines,
                    timer.counter().map(|counter| counter.stamp),
                    session.machine.last_level_cache(),
                );
                Buffer::build_with(lines, chain, first.kernel.encoding, stores)
                    .map(|buffer| (buffer, witness))
                    .map_err(|_| PlacementError::NothingToMeasure)
            }
            Err(error) => Err(*error),
        };
        *memory = Some(Memory { target: *target, built });
    }
    measure(session, timer, points, &memories, companion)
}

/// The memory of a point; the inner error excludes it.
#[allow(clippy::type_complexity)]
fn place<'a>(
    session: &mut Session<'a, '_>,
    point: &Point,
) -> Result<Result<Placement, PlacementError<'a>>, Failure<'a>> {
    let options = session.options;
    match arena::place(session, point.target, point.size, point.pages) {
        // No way leads there from here: that is said in the matrix, unless this very node was asked for.
        Err(Failure::Placement(error @ PlacementError::NotReachable { .. })) if options.memnode.is_none() => {
            session.warnings.push(Warning::NotMeasurableHere { node: point.target });
            Ok(Err(error))
        }
        // What the defaults ask for may be left out; what was typed may not.
        Err(Failure::Placement(error))
            if options.memnode.is_none() && options.pages == Pages::Auto && options.size.is_none() =>
        {
            Ok(Err(error))
        }
        result => result.map(Ok),
    }
}

/// Warms every point up, then goes round until all are precise or out of time.
fn measure<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    memories: &[Option<Memory<'_, 'a>>],
    companion: &mut dyn Companion,
) -> Result<Findings<'a>, Failure<'a>> {
    let mut watch = Stopwatch::new(timer, arena::meter(session))?;
    let per_point =
        (ROUNDS_KEPT / points.len().max(1)).clamp(2 * ROUNDS, crate::engine::stopwatch::MOST_ROUNDS);
    let mut rounds = Table::filled(per_point * points.len(), Round::default())?;
    let mut states = Table::filled(points.len(), State::default())?;
    let memory_of = |target| memories.iter().flatten().find(|memory| memory.target == target);

    let mut interrupted = false;
    for step in 0..=per_point {
        let mut open = false;
        for (index, (point, state)) in points.iter().zip(states.iter_mut()).enumerate() {
            let Some(Memory { built: Ok((buffer, _)), .. }) = memory_of(point.target) else { continue };
            if state.done {
                continue;
            }
            let subject = Subject { buffer, kernel: point.kernel, side: None };
            placement::pin(point.cpu)?;
            let kept = rounds.get_mut(index * per_point..(index + 1) * per_point).unwrap_or_default();
            let visit = match step {
                0 => state.begin(session.options, &mut watch, &subject, session.options.warmup_iters),
                _ => advance(session, &mut watch, &subject, state, kept, points.len()),
            };
            let visit =
                visit.and_then(|()| match state.rounds.checked_sub(1).and_then(|last| kept.get(last)) {
                    Some(round) => companion.visit(index, &subject, &mut state.node, round),
                    None => Ok(()),
                });
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

    let mut outcomes = Table::empty()?;
    if let Some(&point) = points.first() {
        outcomes = Table::filled(points.len(), Outcome { point, result: Err(Exclusion::Interrupted) })?;
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
    Ok(Findings { outcomes, distributions: Table::empty()?, extra: Extra::default(), interrupted })
}

/// A later visit: brings the point back, and makes a round.
fn advance(
    session: &Session<'_, '_>,
    watch: &mut Stopwatch<'_>,
    subject: &Subject<'_>,
    state: &mut State,
    kept: &mut [Round],
    points: usize,
) -> Result<(), Failure<'static>> {
    if points > 1 {
        // Another point has been walked in between: what it left in caches and TLBs is not this one's.
        watch.refresh(subject, &mut state.node)?;
    }
    let pace = Pace {
        rounds: ROUNDS,
        round_ns: SPREAD_NS / (ROUNDS * points) as f64,
        limit_ns: session.options.point_limit_ns(),
    };
    state.advance(session.options, watch, subject, kept, &pace)
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
    if rounds.is_empty() {
        return Err(Exclusion::Interrupted);
    }
    let placed = finish::look_again(session, witness)?;
    let measured = finish::measurement(session, watch, placed, buffer.chain(), state, rounds)?;
    finish::doubt(session, point, &measured);
    let median = measured.series.nanoseconds.median;
    if let Some(cold_ns) = state.warm_up.cold_ns.filter(|cold| *cold > median * CACHED_RATIO) {
        let picoseconds = |nanoseconds: f64| Picoseconds((nanoseconds * 1e3) as u64);
        let (cold, warm) = (picoseconds(cold_ns), picoseconds(median));
        session.warnings.push(Warning::LooksCached { size: point.size, cold, warm });
    }
    Ok(measured)
}
