//! The only timed code: walks between two stamps, and the proof of where each ended.
//!
//! It knows a buffer and a clock. Where the buffer lies and what is made of the
//! figures is the business of others.

mod lanes;

use core::cell::Cell;

use latency_core::buffer::{Astray, Cursor};
use latency_core::chain::SATTOLO_LIMIT;
use latency_core::clock;

use super::clock::{Counter, Timer};
use super::counters::{self, Meter};
use super::ground::{Batch, Condition, Ground, Walked};
use super::single_hops::Singles;
use super::subject::Subject;
use crate::error::{Failure, TimingError};
use crate::result::counters::{Counted, Software};
use crate::result::Round;
use crate::sys::{cpu, signal, time};

pub use lanes::{start, NEEDS_COUNTER};
use lanes::{Rush, RUSHING_LANES};

/// A walk is cut here: half a second at 120 ns a hop.
const LONGEST_WALK: u64 = 1 << 22;
/// Hops between two looks at the clock and for an interrupt take about so long, or two batches.
const PIECE_NS: f64 = 5e6;
/// The fewest of them: a piece is long beside its stamps.
const LEAST_PIECE: u64 = 64;
/// A hop is taken to be so long until one was timed: 5000 make a piece.
const UNKNOWN_HOP_NS: f64 = 1e3;

/// Times walks on one CPU with one clock.
#[derive(Debug)]
pub struct Stopwatch {
    timer: Timer,
    meter: Option<Meter>,
    migrations: Cell<u64>,
    cpu: Cell<Option<u32>>,
}

impl Stopwatch {
    /// A stopwatch on `timer`, with counters beside it if they are wanted.
    #[must_use]
    pub const fn new(timer: Timer, meter: Option<Meter>) -> Self {
        Stopwatch { timer, meter, migrations: Cell::new(0), cpu: Cell::new(None) }
    }

    /// The clock.
    #[must_use]
    pub const fn timer(&self) -> &Timer {
        &self.timer
    }

    /// Walks once from stamp to stamp, proves where the walk ended, and gives the nanoseconds that it took.
    fn walk(&self, subject: &Subject<'_>, node: &mut u64, hops: u64) -> Result<f64, Failure<'static>> {
        if let Some(side) = subject.side {
            return self.walk_lanes(subject.buffer, side, hops);
        }
        let (ended, nanoseconds) = self.timed(subject, *node, hops)?;
        let proven = subject.buffer.prove(*node, hops, ended);
        *node = proven.map_err(|Astray { .. }| TimingError::HopsNotProven)?;
        Ok(nanoseconds)
    }

    #[inline(always)]
    fn timed(&self, subject: &Subject<'_>, node: u64, hops: u64) -> Result<(Cursor, f64), Failure<'static>> {
        let wrong = |_| Failure::HOPS_NOT_PROVEN;
        match &self.timer {
            Timer::Counter(counter) => {
                let walk = subject
                    .buffer
                    .timed_walk(subject.kernel, node, hops as usize, counter.stamp)
                    .map_err(wrong)?;
                let ticks = walk.end.ticks.saturating_sub(walk.start).saturating_sub(counter.overhead.0);
                Ok((walk.ended, clock::nanoseconds(ticks as f64, counter.frequency)))
            }
            Timer::Kernel(clock) => {
                let start = time::monotonic_raw_ns();
                let ended = subject.buffer.walk(subject.kernel, node, hops as usize).map_err(wrong)?;
                let spent = time::monotonic_raw_ns().saturating_sub(start).saturating_sub(clock.overhead_ns);
                Ok((ended, spent as f64))
            }
        }
    }

    /// What the kernel has done to the thread so far.
    fn software(&self) -> Software {
        let usage = cpu::thread_usage().unwrap_or_default();
        let now = cpu::current().ok().map(|(cpu, _)| cpu.0);
        if self.cpu.get().is_some() && self.cpu.get() != now {
            self.migrations.set(self.migrations.get() + 1);
        }
        self.cpu.set(now);
        Software {
            switches: (usage.voluntary_switches, usage.involuntary_switches),
            migrations: self.migrations.get(),
            faults: (usage.minor_faults, usage.major_faults),
        }
    }
}

/// A chase over a buffer: the ground that is no test's.
pub struct Chase<'g> {
    watch: &'g Stopwatch,
    subject: Subject<'g>,
    condition: Condition,
    /// The node on which it stands.
    pub node: u64,
    /// The lanes of a rush, once there was one.
    rush: Option<Rush>,
    /// Nanoseconds per hop of the last piece.
    hop_ns: f64,
    /// The single hops of the point with that index.
    singles: Option<(usize, &'g mut Singles)>,
}

impl<'g> Chase<'g> {
    /// A chase that stands on `node`.
    #[must_use]
    pub const fn new(watch: &'g Stopwatch, subject: Subject<'g>, condition: Condition, node: u64) -> Self {
        Chase { watch, subject, condition, node, rush: None, hop_ns: UNKNOWN_HOP_NS, singles: None }
    }

    /// The same, with single hops after each round of the `index`-th point.
    #[must_use]
    pub fn with(self, singles: Option<&'g mut Singles>, index: usize) -> Self {
        Chase { singles: singles.map(|singles| (index, singles)), ..self }
    }
}

/// Has `walk` walk `hops` hops in pieces, each as long as suits `hop_ns`, until `until_ns`.
fn in_pieces(
    hops: u64,
    until_ns: f64,
    hop_ns: &mut f64,
    piece_ns: f64,
    mut walk: impl FnMut(u64) -> Result<f64, Failure<'static>>,
) -> Result<Walked, Failure<'static>> {
    let (mut left, mut spent_ns) = (hops, 0.0);
    while left > 0 {
        if signal::interrupted() {
            return Err(Failure::Interrupted);
        }
        let piece = left.min(((piece_ns / hop_ns.max(0.05)) as u64).clamp(LEAST_PIECE, LONGEST_WALK));
        let took_ns = walk(piece)?;
        if piece >= LEAST_PIECE {
            *hop_ns = took_ns / piece as f64;
        }
        spent_ns += took_ns;
        left -= piece;
        if until_ns.is_finite() && left > 0 && now_ns() >= until_ns {
            break;
        }
    }
    Ok((hops - left, spent_ns))
}

fn now_ns() -> f64 {
    time::monotonic_raw_ns() as f64
}

impl Ground for Chase<'_> {
    fn nodes(&self) -> u64 {
        self.subject.buffer.chain().nodes()
    }

    fn lanes(&self) -> Option<usize> {
        self.subject.side.map(|side| side.walk.lanes())
    }

    fn condition(&self) -> Condition {
        self.condition
    }

    fn walk(&mut self, hops: u64, until_ns: f64) -> Result<Walked, Failure<'static>> {
        let Self { watch, subject, node, hop_ns, .. } = self;
        let piece_ns = PIECE_NS.max(2.0 * watch.timer.batch_ns());
        in_pieces(hops, until_ns, hop_ns, piece_ns, |piece| watch.walk(subject, node, piece))
    }

    fn batch(&mut self, hops: u64, until_ns: f64) -> Result<Batch, Failure<'static>> {
        if self.nodes() <= SATTOLO_LIMIT {
            // The table that proves a small chain lies in the same cache. A lap untimed brings the chain back.
            let _ = self.subject.buffer.walk(self.subject.kernel, self.node, self.nodes() as usize);
        }
        let counter = self.watch.timer.counter();
        let before = cpu::thread_usage().map(|usage| usage.involuntary_switches);
        let clock_before = counter.and_then(Counter::core_clock);
        let (made, spent_ns) = self.walk(hops, until_ns)?;
        let clock_after = counter.and_then(Counter::core_clock);
        let after = cpu::thread_usage().map(|usage| usage.involuntary_switches);
        let nanoseconds = spent_ns / made.max(1) as f64;
        let core_gigahertz = match (counter, clock_before, clock_after) {
            (Some(counter), Some(before), Some(after)) => {
                (before + after) / 2.0 * counter.frequency.gigahertz()
            }
            _ => f64::NAN,
        };
        let preempted = matches!((before, after), (Ok(before), Ok(after)) if before != after);
        Ok(Batch {
            nanoseconds,
            core_cycles: nanoseconds * core_gigahertz,
            core_gigahertz,
            preempted,
            hops: made,
        })
    }

    fn rush(&mut self, hops: u64, until_ns: f64) -> Result<Option<Walked>, Failure<'static>> {
        if self.rush.is_none() {
            self.rush = Rush::over(self.subject.buffer);
        }
        let (Some(rush), watch, buffer) = (&mut self.rush, self.watch, self.subject.buffer) else {
            return Ok(None);
        };
        let piece_ns = PIECE_NS.max(2.0 * watch.timer.batch_ns());
        let lanes = RUSHING_LANES as u64;
        let (made, spent_ns) = in_pieces(hops / lanes + 1, until_ns, &mut rush.hop_ns, piece_ns, |piece| {
            watch.walk_lanes(buffer, &rush.side, piece)
        })?;
        Ok(Some((made * lanes, spent_ns)))
    }

    fn touch(&mut self) {
        self.subject.buffer.touch();
    }

    fn rewind(&mut self, part: u64) {
        self.node = self.subject.buffer.chain().start(part, RUSHING_LANES as u64);
    }

    fn now_ns(&self) -> f64 {
        now_ns()
    }

    fn interrupted(&self) -> bool {
        signal::interrupted()
    }

    fn batch_ns(&self) -> f64 {
        self.watch.timer.batch_ns()
    }

    fn software(&mut self) -> Software {
        self.watch.software()
    }

    fn count(&mut self, hops: u64) -> Result<Counted, Failure<'static>> {
        match (&self.watch.meter, self.subject.side) {
            (Some(meter), Some(side)) => {
                self.watch.count_lanes(meter, self.subject.buffer, side, counters::hops(hops))
            }
            (meter, _) => Ok(counters::walk(meter.as_ref(), &self.subject, &mut self.node, hops)?),
        }
    }

    fn beside(&mut self, round: &Round) -> Result<(), Failure<'static>> {
        match &mut self.singles {
            Some((index, singles)) => singles.visit(*index, &self.subject, &mut self.node, round),
            None => Ok(()),
        }
    }
}
