//! Chains that are walked between two readings of a coarse counter, as the program's own chase walks them.

use alloc::vec::Vec;

use super::CoarseMachine;
use crate::error::Attempt;
use crate::memory::ClockTurns;
use crate::result::{Point, Software, Timer};
use crate::seam::{Batch, Condition, Place, Walkable, Walked, Walker};

/// Hops of a rush per hop of one lane, in the same time.
const RUSH: f64 = 8.0;

/// A place whose chains have the latency that `hop_ns` returns for the bytes of a chain, and for a first load of a line.
pub struct CoarsePlace {
    /// The machine.
    pub machine: CoarseMachine,
    /// The latency of a hop, in nanoseconds.
    pub hop_ns: fn(u64, bool) -> f64,
    /// Nanoseconds of every walk so far, with its hops; none for walks that are not timed from stamp to stamp.
    pub walks: Vec<(u64, f64)>,
    /// Number of batches.
    pub batches: usize,
    /// Number of readings of the core's clock.
    pub clock_readings: usize,
}

impl CoarsePlace {
    /// Returns a place in a machine.
    pub fn new(machine: CoarseMachine, hop_ns: fn(u64, bool) -> f64) -> CoarsePlace {
        CoarsePlace { machine, hop_ns, walks: Vec::new(), batches: 0, clock_readings: 0 }
    }

    /// Calls `walker` with a chain of 64-byte lines over `bytes`, just written.
    pub fn with(&mut self, bytes: u64, walker: &mut Walker<'_>) -> Attempt {
        walker(&mut CoarseChain { place: self, bytes, loads: 0, turns: ClockTurns::FIRST })
    }
}

/// The chain of one visit.
struct CoarseChain<'p> {
    place: &'p mut CoarsePlace,
    bytes: u64,
    loads: u64,
    turns: ClockTurns,
}

impl CoarseChain<'_> {
    fn go(&mut self, hops: u64, faster: f64) -> f64 {
        let hop_ns = (self.place.hop_ns)(self.bytes, self.loads < self.nodes()) / faster;
        self.loads += hops;
        let machine = &mut self.place.machine;
        // A tenth of a percent of noise.
        let walk_ns = hops as f64 * hop_ns * (1.0 + 1e-3 * (machine.chance() - 0.5));
        let ticks = machine.ticks(walk_ns);
        let spent_ns = machine.counter.elapsed_ns(0, ticks);
        self.place.walks.push((hops, walk_ns));
        spent_ns
    }
}

impl Walkable for CoarseChain<'_> {
    fn nodes(&self) -> u64 {
        self.bytes / 64
    }

    fn lanes(&self) -> Option<usize> {
        None
    }

    fn condition(&self) -> Condition {
        Condition::Written
    }

    fn walk(&mut self, hops: u64, _: f64) -> Attempt<Walked> {
        Ok((hops, self.go(hops, 1.0)))
    }

    fn batch(&mut self, hops: u64, _: f64) -> Attempt<Batch> {
        let reads = self.turns.next(&self.place.machine.counter);
        let clock = |place: &mut CoarsePlace| {
            place.clock_readings += usize::from(reads);
            if reads { place.machine.core_clock() } else { f64::NAN }
        };
        let before = clock(self.place);
        let spent_ns = self.go(hops, 1.0);
        let core_gigahertz = (before + clock(self.place)) / 2.0;
        self.place.batches += 1;
        Ok(Batch { nanoseconds: spent_ns / hops as f64, core_gigahertz, hops, ..Batch::NONE })
    }

    fn rush(&mut self, hops: u64, _: f64) -> Attempt<Option<Walked>> {
        Ok(Some((hops, self.go(hops, RUSH))))
    }

    fn touch(&mut self) {
        self.loads += self.nodes();
    }

    fn now_ns(&self) -> f64 {
        self.place.machine.now_ns
    }

    fn interrupted(&self) -> bool {
        false
    }

    fn batch_ns(&self) -> f64 {
        Timer::Counter(self.place.machine.counter).batch_ns()
    }

    fn software(&mut self) -> Software {
        Software::default()
    }
}

impl Place for CoarsePlace {
    fn with_chain(&mut self, _: usize, point: &Point, _: u64, walker: &mut Walker<'_>) -> Attempt {
        self.with(point.size.0, walker)
    }

    fn now_ns(&self) -> f64 {
        self.machine.now_ns
    }

    fn pause(&mut self, until_ns: f64) -> Attempt {
        self.machine.now_ns = self.machine.now_ns.max(until_ns);
        Ok(())
    }
}
