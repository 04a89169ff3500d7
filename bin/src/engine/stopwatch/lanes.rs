//! Walks of several lanes between two stamps: the timed part of a batch of lanes.
//!
//! Lanes continue where they stopped. If they began at the same nodes again, they would find their own lines in a
//! cache: on a core with 14 loads in flight, the result was 29.

use core::cell::Cell;

use latency_core::buffer::{Buffer, Cursor};
use latency_core::chain::Chain;
use latency_core::kernel::lanes::{self, MOST_LANES};
use latency_core::kernel::{Kernel, POINTER};

use crate::engine::seam::RUSHING_LANES;
use crate::engine::stopwatch::{Meter, Stopwatch, counters, elapsed_ns, not_proven};
use crate::error::{Attempt, TimingError};
use crate::result::{Counted, Timer, Walk};
use crate::sys::time;

/// The chain or the lanes of a chase.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'b> {
    /// The chain in memory.
    pub buffer: &'b Buffer<'b>,
    /// The loop that walks the chain.
    pub kernel: &'static Kernel,
    /// The lanes, if more than one chain is walked.
    pub side: Option<&'b SideBySide>,
}

/// The node of each lane.
pub type Positions = [u64; MOST_LANES];

/// Lanes to be walked.
#[derive(Debug)]
pub struct SideBySide {
    /// The kind of walk; never [`Walk::Chain`], which has no lanes.
    pub walk: Walk,
    /// The node of each lane.
    pub positions: Cell<Positions>,
}

/// Initial estimate of the nanoseconds of a hop, used until one is measured (5,000 hops per piece).
pub const UNKNOWN_HOP_NS: f64 = 1e3;

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

/// Lanes that walk a chain of addresses as fast as memory allows.
pub struct Rush {
    /// The current node of each lane.
    pub side: SideBySide,
    /// Nanoseconds of a hop of all lanes.
    pub hop_ns: f64,
}

impl Rush {
    /// Returns lanes at equal distances on the chain of this number; `None` if nodes hold no addresses.
    pub fn over(buffer: &Buffer<'_>, number: usize) -> Option<Rush> {
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
    pub fn walk_lanes(&self, buffer: &Buffer<'_>, side: &SideBySide, hops: u64) -> Attempt<f64> {
        let mut nanoseconds = Ok(0.0);
        self.proven(buffer, side, hops, |starts, ends| {
            nanoseconds = self.timed_lanes(buffer, side.walk, (starts, ends), hops);
        })?;
        nanoseconds
    }

    /// Returns events per hop of every lane, from counted, untimed walks, one for each group of events.
    pub fn count_lanes(
        &self,
        meter: &Meter,
        buffer: &Buffer<'_>,
        side: &SideBySide,
        hops: u64,
    ) -> Attempt<Counted> {
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
    ) -> Attempt {
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
    ) -> Attempt<f64> {
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
