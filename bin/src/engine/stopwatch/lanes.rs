//! Walks of several lanes between two stamps: the timed part of a batch of them.
//!
//! Lanes go on from where they stand. Those that set out from the same nodes
//! again would find the lines that they left in a cache: 29 loads in flight were
//! seen so where there are 14.

use core::cell::Cell;

use latency_core::buffer::{Buffer, Cursor};
use latency_core::chain::Chain;
use latency_core::clock;
use latency_core::kernel::lanes::{self, MOST_LANES};
use latency_core::kernel::POINTER;

use super::Stopwatch;
use crate::engine::clock::Timer;
use crate::engine::counters::{self, Meter};
use crate::engine::subject::{Positions, SideBySide, Subject};
use crate::error::{Failure, TimingError};
use crate::result::counters::Counted;
use crate::result::Walk;
use crate::sys::time;

/// As many as memory serves well on every machine known.
const FILLING_LANES: usize = 16;
/// Laps that fill a cache. After other data has streamed past it, the L3 of Zen 4 takes lines in but slowly:
/// after two laps a load took 59 ns that takes 17 in the end.
pub const FILLING_LAPS: u64 = 12;
/// Filling takes no longer, but for the first lap: 25 MiB of single dependent loads.
pub const LONGEST_FILL_NS: f64 = 40e6;

/// Loads with instructions between them are walked from stamp to stamp.
pub const NEEDS_COUNTER: TimingError = TimingError::NeedsCounter {
    what: "the reach of the window (loads with other instructions between them)",
    instead: "parallel",
};

/// Nodes at equal distances on the cycle.
#[must_use]
pub fn start(chain: &Chain, lanes: usize) -> Positions {
    let mut positions = [0; MOST_LANES];
    for (lane, position) in positions.iter_mut().enumerate().take(lanes) {
        *position = chain.start(lane as u64, lanes as u64);
    }
    positions
}

fn not_proven<E>(_: E) -> Failure<'static> {
    Failure::Timing(TimingError::HopsNotProven)
}

impl Stopwatch<'_> {
    /// Brings a working set into the caches that hold it, by laps of many lanes, which are fast: the hops made.
    ///
    /// None where nodes hold no addresses, or where many lanes are hardly faster than one, which takes `alone_ns`: in
    /// an emulator. A chase that begins at the start of the cycle meets what was touched
    /// longest ago, as after a lap of its own; further on it meets lines earlier than that.
    ///
    /// # Errors
    ///
    /// As [`warm_up`](Self::warm_up).
    pub fn fill(&self, buffer: &Buffer<'_>, alone_ns: f64) -> Result<u64, Failure<'static>> {
        /// Hops of each lane that tell.
        const TRIED: u64 = 64;
        const HARDLY: f64 = 0.6;
        let Some(kernel) = lanes::parallel(FILLING_LANES) else { return Ok(0) };
        if buffer.encoding() != POINTER.encoding {
            return Ok(0);
        }
        let chain = buffer.chain();
        let side =
            SideBySide { walk: Walk::Lanes(kernel), positions: Cell::new(start(chain, FILLING_LANES)) };
        let subject = Subject { buffer, kernel: &POINTER, side: Some(&side) };
        let (tried, tried_ns) = self.walk_for(&subject, &mut 0, TRIED, f64::INFINITY)?;
        if tried_ns > HARDLY * alone_ns * (tried * FILLING_LANES as u64) as f64 {
            return Ok(0);
        }
        let lap = chain.nodes() / FILLING_LANES as u64 + 1;
        let (_, lap_ns) = self.walk_for(&subject, &mut 0, lap, f64::INFINITY)?;
        let (more, _) =
            self.walk_for(&subject, &mut 0, (FILLING_LAPS - 1) * lap, LONGEST_FILL_NS - lap_ns)?;
        Ok((lap + more) * FILLING_LANES as u64)
    }

    /// Walks every lane `hops` hops, proves where each ended, and gives the nanoseconds that it took.
    pub(super) fn walk_lanes(
        &self,
        buffer: &Buffer<'_>,
        side: &SideBySide,
        hops: u64,
    ) -> Result<f64, Failure<'static>> {
        let mut nanoseconds = Ok(0.0);
        self.proven(buffer, side, hops, |starts, ends| {
            nanoseconds = self.timed_lanes(buffer, side.walk, (starts, ends), hops);
        })?;
        nanoseconds
    }

    /// Events per hop of every lane, in walks that are counted and not timed, one for each group of events.
    pub(super) fn count_lanes(
        &self,
        meter: &Meter,
        buffer: &Buffer<'_>,
        side: &SideBySide,
        hops: u64,
    ) -> Result<Counted, Failure<'static>> {
        let mut all = Counted::default();
        for group in 0..counters::WALKS {
            let mut walked = Ok(0.0);
            self.proven(buffer, side, hops, |starts, ends| {
                let walk = || walked = self.timed_lanes(buffer, side.walk, (starts, ends), hops);
                all = all.and(&meter.count(group, hops, walk));
            })?;
            walked?;
        }
        Ok(all)
    }

    /// Has `walk` take the lanes from where they stand, and proves where each ended.
    fn proven(
        &self,
        buffer: &Buffer<'_>,
        side: &SideBySide,
        hops: u64,
        walk: impl FnOnce(&[u64], &mut [Cursor]),
    ) -> Result<(), Failure<'static>> {
        let mut positions = side.positions.get();
        let mut ends = [Cursor::default(); MOST_LANES];
        let lanes = side.walk.lanes();
        let (Some(starts), Some(ends)) = (positions.get_mut(..lanes), ends.get_mut(..lanes)) else {
            return Err(not_proven(()));
        };
        walk(starts, ends);
        buffer.prove_lanes(starts, hops, ends).map_err(not_proven)?;
        side.positions.set(positions);
        Ok(())
    }

    #[inline(always)]
    fn timed_lanes(
        &self,
        buffer: &Buffer<'_>,
        walk: Walk,
        (starts, ends): (&[u64], &mut [Cursor]),
        hops: u64,
    ) -> Result<f64, Failure<'static>> {
        Ok(match (self.timer, walk) {
            (Timer::Counter(counter), walk) => {
                let timed = match walk {
                    Walk::Lanes(kernel) => {
                        buffer.timed_walk_lanes(kernel, starts, ends, hops as usize, counter.stamp)
                    }
                    Walk::Apart(gap) => {
                        let (starts, ends) = (starts.first_chunk(), ends.first_chunk_mut());
                        let (Some(starts), Some(ends)) = (starts, ends) else { return Err(not_proven(())) };
                        buffer.timed_walk_apart(gap, starts, ends, hops as usize, counter.stamp)
                    }
                    Walk::Chain => return Err(not_proven(())),
                };
                let timed = timed.map_err(not_proven)?;
                let ticks = timed.end.ticks.saturating_sub(timed.start).saturating_sub(counter.overhead.0);
                clock::nanoseconds(ticks as f64, counter.frequency)
            }
            (Timer::Kernel(clock), Walk::Lanes(kernel)) => {
                let start = time::monotonic_raw_ns();
                buffer.walk_lanes(kernel, starts, ends, hops as usize).map_err(not_proven)?;
                time::monotonic_raw_ns().saturating_sub(start).saturating_sub(clock.overhead_ns) as f64
            }
            (Timer::Kernel(_), _) => return Err(NEEDS_COUNTER.into()),
        })
    }
}
