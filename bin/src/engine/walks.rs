//! Walks that do not count: what warm-ups are made of.

use latency_core::stats;

use super::ground::{Ground, Walked};
use super::judge::Judge;
use crate::error::Failure;
use crate::plan::budget::{FEW_HOPS, FILLING_LAPS, LONGEST_FILL_NS};

/// Fewer hops of a first pass say nothing.
pub const ENOUGH_TO_JUDGE: u64 = 1 << 12;
/// The fewest hops of a walk whose length is chosen here: the remainder loop and the stamps vanish in it.
pub const FEWEST_HOPS: u64 = 64;
/// The most hops of a batch whose length is chosen here.
const LONGEST_BATCH: u64 = 1 << 22;
/// That of batches as long as these; longer ones may have as many more.
const USUAL_BATCH_NS: f64 = 1e6;

/// How many hops make a good batch at this latency.
#[must_use]
pub fn hops_per_batch(batch_ns: f64, estimate_ns: f64) -> u64 {
    ((batch_ns / estimate_ns.max(0.05)) as u64).clamp(FEWEST_HOPS, longest(batch_ns))
}

/// The most hops of a batch that is to take so long.
fn longest(batch_ns: f64) -> u64 {
    (LONGEST_BATCH as f64 * (batch_ns / USUAL_BATCH_NS).max(1.0)) as u64
}

/// Hops that bring TLBs, page tables and near caches back.
pub fn few(nodes: u64) -> u64 {
    (nodes / 16).clamp(FEW_HOPS.0, FEW_HOPS.1)
}

/// Walks `hops` hops in short parts: the hops made, and what one took in most parts of the later half, if that says
/// something.
pub fn parts(
    ground: &mut dyn Ground,
    judge: &mut Judge,
    hops: u64,
    until_ns: f64,
) -> Result<(u64, Option<f64>), Failure<'static>> {
    /// Parts double from few hops up to so many.
    const LONGEST_PART: u64 = 1 << 16;
    let nodes = ground.nodes();
    let (mut made, mut noted, mut told) = (0, 0, 0);
    let mut part = FEWEST_HOPS;
    while made < hops {
        // No part is half cold.
        let cold = if made < nodes { nodes - made } else { u64::MAX };
        let (walked, part_ns) = ground.walk(part.min(hops - made).min(cold), until_ns)?;
        made += walked;
        // Only what is met for the first time is cold. Later parts take the places of the first.
        if made <= nodes {
            judge.note(noted, part_ns / walked.max(1) as f64);
            (noted, told) = (noted + 1, made);
        }
        if until_ns.is_finite() && ground.now_ns() >= until_ns {
            break;
        }
        // Short enough for most parts to fall between two interruptions, however slow memory is.
        if part_ns < ground.batch_ns() / 4.0 {
            part = (part * 2).min(LONGEST_PART);
        }
    }
    let cold_ns = judge.later_half(noted).filter(|_| told >= ENOUGH_TO_JUDGE);
    Ok((made, cold_ns))
}

/// Leaves a trail of other lines of the same chain that fills the caches, or fills them with all of it where it is
/// shorter: what a walk of other lanes has left there would be met as a hit.
pub fn trail(ground: &mut dyn Ground, trail: u64, lanes: u64, until_ns: f64) -> Result<(), Failure<'static>> {
    if ground.nodes() < trail {
        return fill(ground, FILLING_LAPS, f64::INFINITY, until_ns).map(drop);
    }
    let until_ns = until_ns.min(ground.now_ns() + LONGEST_FILL_NS);
    ground.walk(trail / lanes.max(1) + 1, until_ns).map(drop)
}

/// Brings a working set into the caches that hold it, by so many laps of many lanes, which are fast: the hops made.
///
/// None where many lanes are hardly faster than one, which takes `alone_ns`: in an emulator. A chase that begins at
/// the start of the cycle meets what was touched longest ago, as after a lap of its own; further on it meets lines
/// earlier than that.
pub fn fill(
    ground: &mut dyn Ground,
    laps: u64,
    alone_ns: f64,
    until_ns: f64,
) -> Result<u64, Failure<'static>> {
    /// Hops that tell.
    const TRIED: u64 = 1024;
    const HARDLY: f64 = 0.6;
    let Some((tried, tried_ns)) = ground.rush(TRIED, until_ns)? else { return Ok(0) };
    if tried_ns > HARDLY * alone_ns * tried as f64 {
        return Ok(0);
    }
    let nodes = ground.nodes();
    let end_ns = until_ns.min(ground.now_ns() + LONGEST_FILL_NS);
    let one: Walked = ground.rush(nodes, until_ns)?.unwrap_or_default();
    let more = match laps > 1 && ground.now_ns() < end_ns {
        true => ground.rush((laps - 1) * nodes, end_ns)?.unwrap_or_default(),
        false => Walked::default(),
    };
    Ok(one.0 + more.0)
}

/// Touches a working set, which a lap is to follow, until caches that take lines in slowly hold it: the loads made.
pub fn touch(ground: &mut dyn Ground, until_ns: f64) -> Result<u64, Failure<'static>> {
    let end_ns = until_ns.min(ground.now_ns() + LONGEST_FILL_NS);
    let mut touched = 0;
    for _ in 0..FILLING_LAPS {
        if ground.interrupted() {
            return Err(Failure::Interrupted);
        }
        ground.touch();
        touched += ground.nodes();
        if ground.now_ns() > end_ns {
            break;
        }
    }
    Ok(touched)
}

/// Nanoseconds per hop, from walks that grow until they fill a batch; the middle of three.
pub fn estimate(ground: &mut dyn Ground, until_ns: f64) -> Result<f64, Failure<'static>> {
    let mut hops = FEWEST_HOPS;
    loop {
        let (_, spent_ns) = ground.walk(hops, until_ns)?;
        if spent_ns >= ground.batch_ns() / 4.0 || hops >= longest(ground.batch_ns()) {
            break;
        }
        hops *= 2;
    }
    let mut estimates = [0.0; 3];
    for estimate in &mut estimates {
        let (made, spent_ns) = ground.walk(hops, until_ns)?;
        *estimate = spent_ns / made.max(1) as f64;
    }
    Ok(stats::median(&mut estimates).unwrap_or(f64::NAN))
}

#[cfg(test)]
#[path = "walks_tests.rs"]
mod tests;
