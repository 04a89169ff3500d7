//! Walks over lines in a known state: before each lap, their owner brings them into its caches again.

use latency_core::ToReal;
use latency_core::cores::{Ring, State};

use crate::error::{Attempt, MeasureError};
use crate::result::{Counter, LineLevel, Owned, Software};
use crate::seam::{Batch, Walkable, Walked};
use crate::stopwatch::Stopwatch;
use crate::threads::partners::{Others, PartnerTask, SharedByPartners};
use latency_sys::signal;

/// Nanoseconds of a window, so that the clock's step is negligible.
const WINDOW_NS: f64 = 100e3;
/// Steps of a coarse counter in a window.
const WINDOW_STEPS: u32 = 2000;

/// A chain that is walked lap by lap.
pub struct OwnedWalk<'s> {
    /// The state that all threads share.
    pub shared: &'s SharedByPartners<'s>,
    /// The chain.
    pub ring: &'s Ring<'s>,
    /// Its site.
    pub site: usize,
    /// The owner and the state of the lines.
    pub owned: Owned,
    /// The owner and the third CPU, if there are any.
    pub others: Others<'s>,
    /// The stopwatch.
    pub watch: &'s Stopwatch,
    /// The counter of that stopwatch.
    pub counter: &'s Counter,
}

impl OwnedWalk<'_> {
    /// Brings the lines into their state, and walks over them once. Returns the nanoseconds of the walk.
    fn lap(&self) -> Attempt<f64> {
        let OwnedWalk { shared, ring, site, owned, counter, .. } = *self;
        let [owner, third] = self.others;
        let flusher = shared.flusher.ok_or(MeasureError::HOPS_NOT_PROVEN)?;
        let not_proven = |_| MeasureError::HOPS_NOT_PROVEN;
        match owner {
            Some(owner) => owner.obeys(PartnerTask::Prepare(site, owned.state))?,
            None if owned.level == LineLevel::Memory => ring.flush(flusher),
            None => ring.prepare(owned.state, flusher).map_err(not_proven)?,
        }
        if let (Some(third), State::Shared) = (third, owned.state) {
            third.obeys(PartnerTask::Read(site))?;
        }
        let lap =
            ring.timed_walk(owned.access, 0, ring.nodes() as usize, counter.stamp).map_err(not_proven)?;
        Ok(self.watch.ended(counter, lap.start, lap.end) - counter.excess_ns())
    }
}

impl Walkable for OwnedWalk<'_> {
    fn nodes(&self) -> u64 {
        self.ring.nodes()
    }

    /// Returns one lane, so that no first pass is made: each lap prepares its lines.
    fn lanes(&self) -> Option<usize> {
        Some(1)
    }

    fn walk(&mut self, hops: u64, _: f64) -> Attempt<Walked> {
        let laps = hops.div_ceil(self.nodes().max(1));
        let mut spent_ns = 0.0;
        for _ in 0..laps {
            if signal::interrupted() {
                return Err(MeasureError::Interrupted);
            }
            spent_ns += self.lap()?;
        }
        Ok((laps * self.nodes(), spent_ns))
    }

    fn batch(&mut self, hops: u64, until_ns: f64) -> Attempt<Batch> {
        let others = self.others;
        let moves = || others.iter().flatten().map(|other| other.moves()).sum::<u32>();
        let (before, moves_before) = (self.watch.software(), moves());
        let (made, spent_ns) = self.walk(hops, until_ns)?;
        let after = self.watch.software().since(&before);
        let moved = self.watch.brought_back()?;
        Ok(Batch {
            nanoseconds: spent_ns / made.max(1).real(),
            preempted: moved || moves() != moves_before || after.switches.1 > 0,
            hops: made.max(hops),
            ..Batch::NONE
        })
    }

    fn batch_ns(&self) -> f64 {
        WINDOW_NS.max(self.counter.at_least(WINDOW_STEPS))
    }

    fn software(&mut self) -> Software {
        self.watch.software()
    }
}
