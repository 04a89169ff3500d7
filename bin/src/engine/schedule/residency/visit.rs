//! One visit: a set fills the cache, and after a wait some of its lines are loaded again, each timed alone.

use latency_core::buffer::TimedHops;
use latency_core::math::ToReal;
use latency_core::sort::sort_by_key;
use latency_core::units::Bytes;

use crate::engine::seam::{RUSHING_LANES, Walkable};
use crate::error::Attempt;
use crate::plan::budget::{FILLING_LAPS, LONGEST_FILL_NS};

/// Number of lanes that fill the cache.
const LANES: u64 = RUSHING_LANES as u64;
/// Maximum single loads at a look, and maximum loads before them that bring in page tables.
const SAMPLES: usize = 1024;
const WARM_UP: u64 = 512;
/// Fraction of the samples right after the fill that are surely hits, if there are any; and of those before the fill
/// that are loads from memory alone. The others may wait for page tables, too: where the host of a guest has small
/// pages, half of the loads of a large set took twice as long as memory does.
const SURE: usize = 10;
/// The lanes whose first lines are loaded before the fill, after the wait, and for a second look.
const BEFORE: u64 = 0;
const AFTER: u64 = LANES / 2;
const AGAIN: u64 = LANES * 3 / 4;

/// The share of lines that a look found in the cache, and the mean nanoseconds since they were loaded.
#[derive(Clone, Copy, Debug)]
pub struct LookFound {
    pub share: f64,
    pub after_ns: f64,
}

/// The conditions of a visit.
#[derive(Clone, Copy, Debug)]
pub struct VisitTerms {
    /// The size of the private caches.
    pub near: Bytes,
    /// The size of a line.
    pub line: Bytes,
    /// Nanoseconds between the fill and the look.
    pub wait_ns: f64,
    /// The ticks of a load that is surely in the cache.
    pub hit_ticks: u32,
}

/// A visit: the ticks of a load in the cache and in the memory, and the shares of lines found in the cache.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResidencyVisit {
    pub hit_ticks: Option<u32>,
    pub memory_ticks: u32,
    pub look: Option<LookFound>,
    /// The look at other lines right after it, at visits without a wait.
    pub again: Option<LookFound>,
    /// Interrupts that were seen during the wait.
    pub interrupts: u64,
    /// True if the kernel gave the CPU to another task during the wait.
    pub switched: bool,
}

/// Room for the samples of a look.
struct LookRoom {
    warm_up: u64,
    count: usize,
    samples: [TimedHops; SAMPLES],
    ticks: [u32; SAMPLES],
}

impl LookRoom {
    /// Loads the first lines of a lane, and times as many of them as there is room for. Returns the time in the middle,
    /// and the ticks of the loads that nothing interrupted, in ascending order; `None` without a counter.
    fn look(&mut self, chain: &mut dyn Walkable, lane: u64) -> Attempt<Option<(f64, &[u32])>> {
        let samples = self.samples.get_mut(..self.count).unwrap_or_default();
        chain.rewind(lane);
        chain.walk(self.warm_up, f64::INFINITY)?;
        let first_ns = chain.now_ns();
        if !chain.each(samples)? {
            return Ok(None);
        }
        let middle_ns = first_ns.midpoint(chain.now_ns());
        let mut count = 0;
        let counted = samples.iter().filter(|sample| !sample.interrupted);
        for (slot, sample) in self.ticks.iter_mut().zip(counted) {
            *slot = sample.window;
            count += 1;
        }
        let ticks = self.ticks.get_mut(..count).unwrap_or_default();
        sort_by_key(ticks, |ticks| *ticks);
        Ok(Some((middle_ns, ticks)))
    }
}

/// Makes a visit to a chain that was just written past the caches.
///
/// # Errors
///
/// The errors of a walk, including an interrupt.
pub fn make(chain: &mut dyn Walkable, terms: &VisitTerms, visit: &mut ResidencyVisit) -> Attempt {
    // A third of the lines of a lane that no private cache holds is enough for each part.
    let lane = chain.nodes() / LANES;
    let part = lane.saturating_sub(terms.near.0 / terms.line.0.max(1) / LANES) / 3;
    let (warm_up, count) = (part.min(WARM_UP), part.min(SAMPLES as u64) as usize);
    if count < SURE {
        return Ok(());
    }
    let mut room = LookRoom { warm_up, count, samples: [TimedHops::default(); SAMPLES], ticks: [0; SAMPLES] };
    // The part that is loaded from memory is not that which is loaded after the wait.
    let Some((_, memory)) = room.look(chain, BEFORE)? else { return Ok(()) };
    visit.memory_ticks = sure(memory).unwrap_or_default();
    let threshold = terms.hit_ticks.midpoint(visit.memory_ticks);
    let by_chance = share(memory, threshold);
    let begun_ns = chain.now_ns();
    let mut lap = (begun_ns, begun_ns);
    for _ in 0..FILLING_LAPS {
        let lap_ns = chain.now_ns();
        if lap_ns - begun_ns > LONGEST_FILL_NS {
            break;
        }
        if chain.rush(chain.nodes(), f64::INFINITY)?.is_none() {
            return Ok(());
        }
        lap = (lap_ns, chain.now_ns());
    }
    let before = chain.software().switches;
    visit.interrupts = chain.idle(lap.1 + terms.wait_ns)?;
    visit.switched = chain.software().switches != before;
    let place = (warm_up.real() + count.real() / 2.0) / lane.max(1).real();
    let loaded_ns = lap.0 + (lap.1 - lap.0) * place;
    for lane in [AFTER, AGAIN] {
        let Some((middle_ns, ticks)) = room.look(chain, lane)? else { break };
        // Some loads from memory are as fast as hits.
        let share = ((share(ticks, threshold) - by_chance) / (1.0 - by_chance)).max(0.0);
        let look = Some(LookFound { share, after_ns: middle_ns - loaded_ns });
        if lane == AGAIN {
            visit.again = look;
        } else {
            visit.look = look;
            visit.hit_ticks = sure(ticks);
        }
        if terms.wait_ns > 0.0 {
            break;
        }
    }
    Ok(())
}

/// Returns the tick that a tenth of ascending ticks are below.
fn sure(ticks: &[u32]) -> Option<u32> {
    ticks.get(ticks.len() / SURE).copied()
}

/// Returns the share of ascending ticks below a threshold.
fn share(ticks: &[u32], threshold: u32) -> f64 {
    ticks.partition_point(|ticks| *ticks < threshold).real() / ticks.len().real()
}
