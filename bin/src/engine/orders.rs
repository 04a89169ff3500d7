//! The same nodes walked in several orders: cold, warm, and as loads that wait for nothing.
//!
//! A visit writes the chain anew past the caches, times a first pass over it, and
//! then so many hops of warm walk. The first pass is a whole lap in the first visit; in
//! later ones it is shorter, unless a cache held some of it. The orders take turns, so
//! that drift is shared by all. Which orders there are is the caller's business.

use latency_core::arch::Line;
use latency_core::buffer::Buffer;
use latency_core::chain::Order;
use latency_core::clock;
use latency_core::stats;
use latency_core::units::Bytes;

use super::clock::{Counter, Timer};
use super::session::{Findings, Session};
use super::stopwatch::{Stopwatch, MOST_BATCHES};
use super::subject::Subject;
use super::visit::State;
use super::{arena, finish, placement};
use crate::error::{Failure, PlacementError, TimingError};
use crate::plan::duration::FEWEST_ROUNDS;
use crate::result::{chain, Exclusion, Extra, Orders, Outcome, Point, Round, Strided};
use crate::sys::signal;
use crate::sys::table::Table;

/// Warm hops of each order, over all visits.
pub const HOPS: u64 = 20_000_000;
/// The most orders.
pub const MOST_ORDERS: usize = 4;
/// Where no cache holds the chain, TLBs and page tables are as a whole lap leaves them after so many hops.
pub const SHORT_PASS: u64 = 1 << 20;
/// Where the warm walk of the first visit took less than this share of the cold one, a cache holds a part of the chain.
const CACHED_RATIO: f64 = 0.9;
/// Independent loads are timed over so much memory at once: 60 microseconds at 30 GB/s.
const SLICE: Bytes = Bytes(2 << 20);
/// The most slices in a visit.
const SLICES: usize = 128;

/// One order under way.
#[derive(Clone, Copy, Debug, Default)]
struct Walk {
    state: State,
    rounds: [Round; FEWEST_ROUNDS],
    cold_ns: [f64; FEWEST_ROUNDS],
}

/// Walks `points`, which differ in their order alone, and loads the nodes of the sequential one side by side.
///
/// # Errors
///
/// [`Failure`] before anything was measured. An interrupt later on ends the run, and what there is is kept.
pub fn run<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
) -> Result<Findings<'a>, Failure<'a>> {
    let Some(first) = points.first().filter(|_| points.len() <= MOST_ORDERS) else {
        return Err(PlacementError::NothingToMeasure.into());
    };
    let mut placement = arena::place(session, first.target, first.size, first.pages)?;
    placement::pin(first.cpu)?;
    let mut watch = Stopwatch::new(timer, arena::meter(session))?;
    let mut walks = [Walk::default(); MOST_ORDERS];
    let mut strided = [f64::NAN; FEWEST_ROUNDS];
    let mut loads = 0;
    let rounds =
        session.options.trials.map_or(FEWEST_ROUNDS, |trials| FEWEST_ROUNDS.min(trials.get() as usize));
    let mut visit = |session: &mut Session<'a, '_>, round: usize| -> Result<(), Failure<'static>> {
        for (walk, point) in walks.iter_mut().zip(points) {
            session.progress.say(format_args!("round {} of {rounds}", round + 1));
            let chain = chain::chain(point)?;
            let (lines, _) = placement.split();
            let buffer = Buffer::build(lines, &chain, point.kernel.encoding)
                .map_err(|_| PlacementError::NothingToMeasure)?;
            let subject = Subject { buffer: &buffer, kernel: point.kernel, side: None };
            walk.visit(session, &mut watch, &subject, rounds)?;
            if let (Order::Sequential, Some(counter)) = (point.order, timer.counter()) {
                let (lines, _) = placement.split();
                if let (Some(slot), Some(ns)) = (strided.get_mut(round), strided_ns(lines, point, counter)?) {
                    *slot = ns;
                    loads = round + 1;
                }
            }
        }
        Ok(())
    };
    let mut interrupted = false;
    for round in 0..rounds {
        match visit(session, round) {
            Ok(()) => {}
            Err(Failure::Interrupted) => {
                interrupted = true;
                break;
            }
            Err(error) => return Err(error),
        }
    }
    session.progress.clear();
    let placed = finish::look_again(session, placement.witness());
    let unmeasured = Outcome { point: *first, result: Err(Exclusion::Interrupted) };
    let mut outcomes = Table::filled(points.len(), unmeasured)?;
    let mut orders = Orders::default();
    for ((outcome, walk), point) in outcomes.iter_mut().zip(&mut walks).zip(points) {
        outcome.point = *point;
        let chain = chain::chain(point)?;
        let made = walk.state.rounds;
        walk.state.warm_up.cold_ns = walk.cold_ns.get_mut(..made).and_then(stats::median);
        let rounds = walk.rounds.get(..made).unwrap_or_default();
        outcome.result = placed
            .and_then(|placed| finish::measurement(session, &mut watch, placed, &chain, &walk.state, rounds));
        if let Ok(measured) = &outcome.result {
            finish::doubt(session, point, measured);
        }
    }
    let clock = outcomes.iter().find_map(|outcome| outcome.result.as_ref().ok()?.series.core_gigahertz);
    orders.strided = strided.get_mut(..loads).and_then(stats::median).map(|nanoseconds| Strided {
        nanoseconds,
        core_cycles: clock.map(|clock| clock.median * nanoseconds),
        rounds: loads,
    });
    let extra = Extra { orders: Some(orders), ..Extra::default() };
    Ok(Findings { outcomes, distributions: Table::empty()?, extra, interrupted })
}

impl Walk {
    /// One lap cold and a share of the warm hops, over a chain just written.
    fn visit(
        &mut self,
        session: &Session<'_, '_>,
        watch: &mut Stopwatch<'_>,
        subject: &Subject<'_>,
        rounds: usize,
    ) -> Result<(), Failure<'static>> {
        let options = session.options;
        let made = self.state.rounds;
        let lap = subject.buffer.chain().nodes();
        let mut first = self.rounds.iter().zip(&self.cold_ns).take(1);
        let cached = made == 0 || first.any(|(round, cold)| round.nanoseconds < CACHED_RATIO * cold);
        let pass = if cached { lap } else { lap.min(SHORT_PASS) };
        let lap = options.warmup_iters.unwrap_or(pass);
        self.state.begin(options, watch, subject, Some(lap))?;
        let share = HOPS.div_ceil(rounds.max(1) as u64);
        if options.iters.is_none() {
            self.state.hops = self.state.hops.max(share.div_ceil(MOST_BATCHES as u64));
        }
        let batches = match options.trials {
            Some(trials) => u64::from(trials.get()) / rounds.max(1) as u64,
            None => share.div_ceil(self.state.hops),
        };
        let batches = batches.clamp(1, MOST_BATCHES as u64) as u32;
        let limit_ns = options.point_limit_ns() / rounds.max(1) as f64;
        let round = watch.round(subject, &mut self.state.node, self.state.hops, batches, limit_ns)?;
        if let (Some(slot), Some(cold)) = (self.rounds.get_mut(made), self.cold_ns.get_mut(made)) {
            *slot = round;
            *cold = self.state.warm_up.cold_ns.unwrap_or(f64::NAN);
            self.state.rounds = made + 1;
            self.state.trials += u64::from(round.batches);
        }
        Ok(())
    }
}

/// What one of many independent loads in address order takes: the mode over slices of the memory.
///
/// A slice is written past the caches and read at once, in a time that falls between two interruptions.
fn strided_ns(lines: &mut [Line], point: &Point, counter: &Counter) -> Result<Option<f64>, Failure<'static>> {
    let slice = Point { size: SLICE.min(point.size), ..*point };
    let chain = chain::chain(&slice)?;
    let loads = chain.nodes() as usize;
    let mut times = [f64::NAN; SLICES];
    let mut made = 0;
    let slices = lines.chunks_exact_mut((slice.size.0 / 64).max(1) as usize);
    for (time, lines) in times.iter_mut().zip(slices) {
        if signal::interrupted() {
            return Err(Failure::Interrupted);
        }
        let Ok(buffer) = Buffer::build(lines, &chain, point.kernel.encoding) else { return Ok(None) };
        let Ok(timed) = buffer.timed_strided_loads(loads, counter.stamp) else { return Ok(None) };
        buffer.prove_strided(loads as u64, timed.ended).map_err(|_| TimingError::HopsNotProven)?;
        let ticks = timed.end.ticks.saturating_sub(timed.start).saturating_sub(counter.overhead.0);
        *time = clock::nanoseconds(ticks as f64, counter.frequency) / loads as f64;
        made += 1;
    }
    Ok(times.get_mut(..made).and_then(stats::half_sample_mode))
}
