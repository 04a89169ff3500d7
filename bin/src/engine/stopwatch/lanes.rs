//! Walks of several lanes between two stamps: the timed part of a batch of lanes.
//!
//! Lanes continue where they stopped. If they began at the same nodes again, they would find their own lines in a
//! cache: on a core with 14 loads in flight, the result was 29.

use core::cell::Cell;

use latency_core::buffer::{Buffer, Cursor};
use latency_core::chain::Chain;
use latency_core::kernel::POINTER;
use latency_core::kernel::lanes::{self, MOST_LANES};

use crate::engine::seam::RUSHING_LANES;
use crate::engine::stopwatch::clock::Timer;
use crate::engine::stopwatch::counters;
use crate::engine::stopwatch::counters::Meter;
use crate::engine::stopwatch::subject::{Positions, SideBySide};
use crate::engine::stopwatch::{Stopwatch, elapsed_ns};
use crate::error::{Failure, TimingError};
use crate::result::Walk;
use crate::result::counters::Counted;
use crate::sys::time;

/// Initial estimate of the nanoseconds of a hop, used until one is measured (5,000 hops per piece).
pub(super) const UNKNOWN_HOP_NS: f64 = 1e3;

/// Error of a walk without a time-stamp counter: loads with instructions between them are timed from stamp to stamp.
pub const NEEDS_COUNTER: TimingError =
    TimingError::NeedsCounter { what: "measurements of the out-of-order window", instead: "parallel" };

/// Returns nodes at equal distances on the cycle.
pub fn start(chain: &Chain, lanes: usize) -> Positions {
    let mut positions = [0; MOST_LANES];
    for (lane, position) in positions.iter_mut().enumerate().take(lanes) {
        *position = chain.start(lane as u64, lanes as u64);
    }
    positions
}

/// Returns the error of a walk that did not end at the expected node, or could not begin.
pub(super) fn not_proven<E>(_: E) -> Failure<'static> {
    Failure::HOPS_NOT_PROVEN
}

/// Lanes that walk a chain of addresses as fast as memory allows.
pub(super) struct Rush {
    /// The current node of each lane.
    pub(super) side: SideBySide,
    /// Nanoseconds of a hop of all lanes.
    pub(super) hop_ns: f64,
}

impl Rush {
    /// Returns lanes at equal distances on the chain of this number; `None` if nodes hold no addresses.
    pub(super) fn over(buffer: &Buffer<'_>, number: usize) -> Option<Rush> {
        let kernel = lanes::parallel(RUSHING_LANES).filter(|_| buffer.encoding() == POINTER.encoding)?;
        let chain = buffer.chain();
        let mut positions = start(chain, RUSHING_LANES);
        if let Some((first, nodes)) = chain.cycle(number).filter(|_| number > 0) {
            (0..).zip(&mut positions).take(RUSHING_LANES).for_each(|(lane, position)| {
                *position = first + nodes / RUSHING_LANES as u64 * lane;
            });
        }
        let positions = Cell::new(positions);
        Some(Rush { side: SideBySide { walk: Walk::Lanes(kernel), positions }, hop_ns: UNKNOWN_HOP_NS })
    }
}

impl Stopwatch {
    /// Walks every lane `hops` hops, verifies where each ended, and returns the nanoseconds of the walk.
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

    /// Returns events per hop of every lane, from counted, untimed walks, one for each group of events.
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

    /// Calls `walk` with the lanes at their current nodes, and verifies where each ended.
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
        Ok(match (&self.timer, walk) {
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
                    Walk::Chain | Walk::Traffic(_) | Walk::Loaded(_) | Walk::PingPong(_) | Walk::Owned(_) => {
                        return Err(not_proven(()));
                    }
                };
                let timed = timed.map_err(not_proven)?;
                self.ended(counter, timed.start, timed.end)
            }
            (Timer::Kernel(clock), Walk::Lanes(kernel)) => {
                let start = time::monotonic_raw_ns();
                buffer.walk_lanes(kernel, starts, ends, hops as usize).map_err(not_proven)?;
                elapsed_ns(clock, start)
            }
            (Timer::Kernel(_), _) => return Err(NEEDS_COUNTER.into()),
        })
    }
}
