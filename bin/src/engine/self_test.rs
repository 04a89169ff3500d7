//! The tool measures itself: does a known latency come out as what it is?

use latency_core::arch::Line;
use latency_core::buffer::Buffer;
use latency_core::chain::{Chain, Order};
use latency_core::kernel;
use latency_core::stats;
use latency_core::units::Bytes;

use super::clock::Counter;
use crate::machine::processor::Platform;
use crate::result::Health;
use crate::warning::{Warning, Warnings};

/// A first-level hit off a whole number of cycles by more says that clock or chain is not understood.
const WHOLE_CYCLES: f64 = 0.05;

/// A chase within the first-level cache and a chain of multiplications, in core cycles. Takes some milliseconds.
#[must_use]
pub fn health(counter: Option<&Counter>, platform: Platform, warnings: &mut Warnings) -> Health {
    let Some(counter) = counter else { return Health::default() };
    let health = Health {
        l1_cycles: first_level_cycles(counter),
        multiply_ratio: counter.multiply_ratio(),
        ..Health::default()
    };
    // A translator keeps to no cycles at all.
    if platform != Platform::Emulated {
        if let Some(cycles) = health.l1_cycles.filter(|&cycles| distance_from_whole(cycles) > WHOLE_CYCLES) {
            warnings.push(Warning::L1NotInteger { cycles });
        }
        if let Some(ratio) = health.multiply_ratio.filter(|&ratio| distance_from_whole(ratio) > WHOLE_CYCLES)
        {
            warnings.push(Warning::MultiplyAddRatio { ratio });
        }
    }
    health
}

/// How far a positive number is from the nearest whole one that is not zero.
fn distance_from_whole(number: f64) -> f64 {
    let below = number as u64 as f64;
    (number - below.max(1.0)).abs().min((below + 1.0 - number).abs())
}

/// Core cycles per hop over 4 KiB: the difference of two lengths, so that every fixed cost cancels.
fn first_level_cycles(counter: &Counter) -> Option<f64> {
    const SIZE: usize = 4096;
    const SHORT: usize = 1024;
    const LONG: usize = 9216;
    const TIMES: usize = 31;
    let chain = Chain::new(Order::Random, Bytes(SIZE as u64), Bytes(64), 1).ok()?;
    let mut lines = [Line([0; 8]); SIZE / 64];
    let buffer = Buffer::build(&mut lines, &chain, kernel::POINTER.encoding).ok()?;
    let ticks = |hops| {
        let walk = buffer.timed_walk(&kernel::POINTER, 0, hops, counter.stamp).ok()?;
        buffer.prove(0, hops as u64, walk.ended).ok()?;
        Some(walk.end.ticks.saturating_sub(walk.start) as f64)
    };
    let sample = || {
        let before = counter.core_clock()?;
        let difference = ticks(LONG)? - ticks(SHORT)?;
        let after = counter.core_clock()?;
        Some(difference / (LONG - SHORT) as f64 * (before + after) / 2.0)
    };
    // A sample that was interrupted makes no sense, and another one is soon had.
    let mut samples = [0.0; TIMES];
    let mut count = 0;
    for (slot, cycles) in samples.iter_mut().zip((0..2 * TIMES).filter_map(|_| sample())) {
        *slot = cycles;
        count += 1;
    }
    samples.get_mut(..count).and_then(stats::half_sample_mode)
}
