//! A self-test of the tool: does a known latency come out right?

use latency_core::arch::Line;
use latency_core::buffer::Buffer;
use latency_core::chain::{Chain, Order};
use latency_core::kernel;
use latency_core::math::{self, ToReal};
use latency_core::stats;
use latency_core::units::Bytes;

use crate::engine::stopwatch::clock::Counter;
use crate::engine::stopwatch::core_clock::{FASTEST_GIGAHERTZ, SELF_TEST_STEPS};
use crate::machine::processor::Platform;
use crate::result::Health;
use crate::warning::{Warning, Warnings};

/// Maximum distance of a first-level hit from a whole number of cycles; beyond it, the clock or the chain is not
/// understood.
const WHOLE_CYCLES: f64 = 0.05;

/// Maximum number of tries: a core that is shared for a moment is free some milliseconds later.
const TRIES: usize = 8;

/// Measures a chase within the first-level cache and a chain of multiplications, in core cycles. That lasts some
/// milliseconds, or longer if the results are not whole numbers. A better result from an earlier call is kept.
pub fn look(counter: Option<&Counter>, platform: Platform, health: &mut Health) {
    let Some(counter) = counter else { return };
    // Under an emulator, further tries do not help: its instructions have no fixed number of cycles.
    let tries = if platform == Platform::Emulated { 1 } else { TRIES };
    for _ in 0..tries {
        keep_whole(&mut health.l1_cycles, || first_level_cycles(counter));
        keep_whole(&mut health.multiply_ratio, || counter.multiply_ratio());
        if is_whole(health.l1_cycles) && is_whole(health.multiply_ratio) {
            break;
        }
    }
}

/// Measures the failed numbers again, and warns if they fail again: then the program had to share the core both before
/// and after the trials.
pub fn conclude(counter: Option<&Counter>, platform: Platform, health: &mut Health, warnings: &mut Warnings) {
    if platform == Platform::Emulated {
        return;
    }
    look(counter, platform, health);
    if let Some(cycles) = health.l1_cycles.filter(|_| !is_whole(health.l1_cycles)) {
        warnings.push(Warning::L1NotInteger { cycles });
    }
    if let Some(ratio) = health.multiply_ratio.filter(|_| !is_whole(health.multiply_ratio)) {
        warnings.push(Warning::MultiplyAddRatio { ratio });
    }
}

/// Retries a cycle count that is not integral, and keeps the closer one.
fn keep_whole(best: &mut Option<f64>, measure: impl Fn() -> Option<f64>) {
    if best.is_some() && is_whole(*best) {
        return;
    }
    let off = |value: Option<f64>| value.map_or(f64::INFINITY, math::distance_from_whole);
    let found = measure();
    if off(found) < off(*best) {
        *best = found;
    }
}

/// Returns whether a number is integral within [`WHOLE_CYCLES`]; one that could not be measured passes.
fn is_whole(number: Option<f64>) -> bool {
    number.is_none_or(|number| math::distance_from_whole(number) <= WHOLE_CYCLES)
}

/// Returns the core cycles of a hop over 4 KiB.
fn first_level_cycles(counter: &Counter) -> Option<f64> {
    const SIZE: usize = 4096;
    let chain = Chain::new(Order::Random, Bytes(SIZE as u64), Bytes(64), 1).ok()?;
    let mut lines = [Line([0; 8]); SIZE / 64];
    let buffer = Buffer::build(&mut lines, &chain, kernel::POINTER.encoding).ok()?;
    let core_clock = || counter.core_clock();
    hit_cycles(counter, core_clock, |hops| {
        let walk = buffer.timed_walk(&kernel::POINTER, 0, hops, counter.stamp).ok()?;
        buffer.prove(0, hops as u64, walk.ended).ok()?;
        Some(walk.end.ticks.saturating_sub(walk.start))
    })
}

/// Returns the core cycles of a hop, from the core cycles per tick that `core_clock` returns and from the ticks of some
/// hops: the difference of two lengths, so that every fixed cost cancels.
pub(crate) fn hit_cycles(
    counter: &Counter,
    mut core_clock: impl FnMut() -> Option<f64>,
    mut ticks: impl FnMut(usize) -> Option<u64>,
) -> Option<f64> {
    const SHORT: usize = 1024;
    const LONG: usize = 9216;
    const TIMES: usize = 31;
    /// Minimum core cycles of a hit.
    const LEAST_CYCLES: f64 = 3.0;
    let hit_ns = LEAST_CYCLES / FASTEST_GIGAHERTZ;
    let long = LONG.max(SHORT + (counter.at_least(SELF_TEST_STEPS) / hit_ns) as usize);
    let mut sample = || {
        let before = core_clock()?;
        let difference = ticks(long)?.real() - ticks(SHORT)?.real();
        let after = core_clock()?;
        Some(difference / (long - SHORT).real() * (before + after) / 2.0)
    };
    // The difference from an interrupted sample can be absurd; another sample is cheap.
    let samples = (0..2 * TIMES).filter_map(|_| sample());
    stats::half_sample_mode(stats::gather(&mut [0.0; TIMES], samples))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_result_from_a_shared_core_is_replaced() {
        let found = [4.4, 4.18, 4.01, 4.3];
        let next = Cell::new(0);
        let measure = || Some(found[next.replace(next.get() + 1)]);
        let mut best = None;
        keep_whole(&mut best, measure);
        assert!(best == Some(4.4) && !is_whole(best));
        keep_whole(&mut best, measure);
        assert!(best == Some(4.18) && !is_whole(best));
        keep_whole(&mut best, measure);
        keep_whole(&mut best, measure);
        assert!(best == Some(4.01) && is_whole(best) && next.get() == 3);
    }
}
