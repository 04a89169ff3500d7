//! Walks that are not measured: the parts of a warm-up.

use latency_core::{ToReal, math, stats};

use crate::budget::{FILLING_LAPS, LONGEST_FILL_NS};
use crate::error::{Attempt, MeasureError};
use crate::result::may_be_coarse;
use crate::schedule::grouped::rush_others;
use crate::schedule::summariser::Summariser;
use crate::seam::{FEWEST_HOPS, Walkable, Walked};

/// Minimum hops of a first pass for a meaningful latency.
pub const ENOUGH_TO_JUDGE: u64 = 1 << 12;
/// Maximum hops of a batch of [`USUAL_BATCH_NS`] or less; it scales up with longer ones.
const LONGEST_BATCH: u64 = 1 << 22;
/// Nanoseconds of a usual batch.
const USUAL_BATCH_NS: f64 = 1e6;

/// Returns the hops of a batch of `batch_ns` at an estimated latency.
pub fn hops_per_batch(batch_ns: f64, estimate_ns: f64) -> u64 {
    math::whole(batch_ns / estimate_ns.max(0.05)).clamp(FEWEST_HOPS, longest(batch_ns))
}

/// Returns the maximum hops of a batch of `batch_ns`.
fn longest(batch_ns: f64) -> u64 {
    math::whole(LONGEST_BATCH as f64 * (batch_ns / USUAL_BATCH_NS).max(1.0))
}

/// Walks `hops` hops in short parts. Returns the hops made, and the dominant nanoseconds per hop of the later half of
/// the parts, if enough hops were made to summarise them.
pub fn parts(
    chain: &mut dyn Walkable,
    summariser: &mut Summariser,
    hops: u64,
    until_ns: f64,
) -> Attempt<(u64, Option<f64>)> {
    /// Maximum hops of a part; parts double up to it.
    const LONGEST_PART: u64 = 1 << 16;
    let nodes = chain.nodes();
    let (mut made, mut noted, mut told) = (0, 0, 0);
    let mut part = FEWEST_HOPS;
    while made < hops {
        // A part must not be half cold: it ends where the first lap ends.
        let cold = if made < nodes { nodes - made } else { u64::MAX };
        let (walked, part_ns) = chain.walk(part.min(hops - made).min(cold), until_ns)?;
        made += walked;
        // Only the first lap is cold. Later parts overwrite the first ones.
        if made <= nodes {
            summariser.note(noted, part_ns / walked.max(1).real());
            (noted, told) = (noted + 1, made);
        }
        if until_ns.is_finite() && chain.now_ns() >= until_ns {
            break;
        }
        // Parts are so short that most fall between two interruptions, however slow memory is.
        if part_ns < chain.batch_ns() / 4.0 {
            part = (part * 2).min(LONGEST_PART);
        }
    }
    let cold_ns = summariser.later_half(noted).filter(|_| told >= ENOUGH_TO_JUDGE);
    Ok((made, cold_ns))
}

/// Returns the hops of a timed walk that is long enough for a coarse clock, from another walk, whose time may be a few
/// steps only, or none; zero on an instruction set without coarse clocks.
pub fn hops_in_window(chain: &dyn Walkable, (made, spent_ns): Walked) -> u64 {
    /// Excess that covers the error of the other walk.
    const MARGIN: f64 = 1.25;
    if may_be_coarse() { math::whole(made.real() * MARGIN * window_ns(chain) / spent_ns) } else { 0 }
}

/// Returns the minimum nanoseconds of a timed walk that is not a batch: a quarter of a batch, which is 500 steps of a
/// coarse counter or more.
fn window_ns(chain: &dyn Walkable) -> f64 {
    chain.batch_ns() / 4.0
}

/// Walks `hops` hops and returns nanoseconds per hop. If that is too short for a coarse clock, walks on for as many hops
/// as its time needs, but at most `most`, and returns their time.
pub fn timed(chain: &mut dyn Walkable, hops: u64, most: u64, until_ns: f64) -> Attempt<f64> {
    let (mut made, mut spent_ns) = chain.walk(hops, until_ns)?;
    if may_be_coarse() && spent_ns < window_ns(chain) {
        let longer = hops_in_window(chain, (made, spent_ns)).min(most);
        if longer > hops {
            (made, spent_ns) = chain.walk(longer, until_ns)?;
        }
    }
    Ok(spent_ns / made.max(1).real())
}

/// Fills the caches by walking a trail of other lines of the same chain, or the whole chain if it is shorter than the
/// trail. Without the trail, lines that a walk of other lanes left there would be hits.
pub fn trail(chain: &mut dyn Walkable, trail: u64, lanes: u64, until_ns: f64) -> Attempt {
    if chain.nodes() < trail {
        return fill(chain, FILLING_LAPS, f64::INFINITY, until_ns).map(drop);
    }
    let until_ns = until_ns.min(chain.now_ns() + LONGEST_FILL_NS);
    chain.walk(trail / lanes.max(1) + 1, until_ns).map(drop)
}

/// Brings a working set into the caches that hold it, by laps of many lanes, which are fast. Returns the hops made.
///
/// Returns at once if many lanes are hardly faster than one lane at `alone_ns` a hop, as in an emulator. After the
/// laps, a chase from the start of the cycle loads the least recently used lines first, as after a lap of its own; a
/// chase from elsewhere loads lines that were used more recently.
pub fn fill(chain: &mut dyn Walkable, laps: u64, alone_ns: f64, until_ns: f64) -> Attempt<u64> {
    /// Hops of the trial that compares lanes with one lane.
    const TRIED: u64 = 1024;
    /// Maximum share of one lane's time per hop at which lanes count as faster.
    const HARDLY: f64 = 0.6;
    let Some((tried, tried_ns)) = chain.rush(TRIED, until_ns)? else { return Ok(0) };
    if tried_ns > HARDLY * alone_ns * tried.real() {
        return Ok(0);
    }
    let nodes = chain.nodes();
    let end_ns = until_ns.min(chain.now_ns() + LONGEST_FILL_NS);
    let one: Walked = chain.rush(nodes, until_ns)?.unwrap_or_default();
    let more = match laps > 1 && chain.now_ns() < end_ns {
        true => chain.rush((laps - 1) * nodes, end_ns)?.unwrap_or_default(),
        false => Walked::default(),
    };
    let made = one.0 + more.0;
    rush_others(chain, made, until_ns)?;
    Ok(made)
}

/// Touches a working set before a lap, until caches that fill slowly hold it. Returns the loads made.
pub fn touch(chain: &mut dyn Walkable, until_ns: f64) -> Attempt<u64> {
    let end_ns = until_ns.min(chain.now_ns() + LONGEST_FILL_NS);
    let mut touched = 0;
    for _ in 0..FILLING_LAPS {
        if chain.interrupted() {
            return Err(MeasureError::Interrupted);
        }
        chain.touch();
        touched += chain.nodes();
        if chain.now_ns() > end_ns {
            break;
        }
    }
    Ok(touched)
}

/// Estimates nanoseconds per hop by walks that grow until they last as long as a batch: returns the median of three.
pub fn estimate(chain: &mut dyn Walkable, until_ns: f64) -> Attempt<f64> {
    let mut hops = FEWEST_HOPS;
    loop {
        let (_, spent_ns) = chain.walk(hops, until_ns)?;
        if spent_ns >= chain.batch_ns() / 4.0 || hops >= longest(chain.batch_ns()) {
            break;
        }
        hops *= 2;
    }
    let mut estimates = [0.0; 3];
    for estimate in &mut estimates {
        let (made, spent_ns) = chain.walk(hops, until_ns)?;
        *estimate = spent_ns / made.max(1).real();
    }
    Ok(stats::median(&mut estimates).unwrap_or(f64::NAN))
}

#[cfg(test)]
#[path = "walks_tests.rs"]
mod tests;
