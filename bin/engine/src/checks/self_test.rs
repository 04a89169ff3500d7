//! A self-test of the tool: does a known latency come out right, in the test itself and at measured points?

use latency_core::arch::Line;
use latency_core::buffer::Buffer;
use latency_core::chain::{Chain, Order};
use latency_core::{Bytes, Interval, Summary, ToReal, kernel, math, stats};

use super::conditions::MOST_TOLD;
use crate::machine::{Machine, Platform};
use crate::result::{Counter, Health, Outcome, Point, Walk};
use crate::stopwatch::core_clock::{FASTEST_GIGAHERTZ, SELF_TEST_STEPS};
use crate::warning::{SeenCause, Warning, Warnings};

/// Maximum distance of a first-level hit from a whole number of cycles; beyond it, the clock or the chain is not
/// understood.
const WHOLE_CYCLES: f64 = 0.05;

/// Maximum number of tries: a core that is shared for a moment is free some milliseconds later.
pub const TRIES: usize = 8;

/// Measures a chase within the first-level cache and a chain of multiplications, in core cycles. That lasts some
/// milliseconds, or longer if the results are not whole numbers. A better result from an earlier call is kept.
pub fn look(counter: Option<&Counter>, platform: Platform, health: &mut Health) {
    let Some(counter) = counter else { return };
    // Under an emulator, further tries do not help: its instructions have no fixed number of cycles.
    let tries = if platform == Platform::Emulated { 1 } else { TRIES };
    look_by(tries, health, &mut || first_level_cycles(counter), &mut || counter.multiply_ratio());
}

/// Measures as [`look`] does, in at most `tries` tries, by functions that return the core cycles of a hit and the ratio
/// of a multiplication to an addition.
pub fn look_by(
    tries: usize,
    health: &mut Health,
    hit: &mut dyn FnMut() -> Option<f64>,
    ratio: &mut dyn FnMut() -> Option<f64>,
) {
    for _ in 0..tries {
        keep_whole(&mut health.l1_cycles, hit);
        keep_whole(&mut health.multiply_ratio, ratio);
        if is_whole(health.l1_cycles) && is_whole(health.multiply_ratio) {
            break;
        }
    }
}

/// Warns about numbers that are not whole both before and after the trials, and about points in the first-level cache
/// that are not.
pub fn warn(machine: &Machine, health: &Health, outcomes: &[Outcome], warnings: &mut Warnings) {
    if machine.processor.platform == Platform::Emulated {
        return;
    }
    // The cause is known when all conditions are.
    let cause = SeenCause::Unseen;
    if let Some(cycles) = health.l1_cycles.filter(|_| !is_whole(health.l1_cycles)) {
        warnings.push(Warning::L1NotInteger { cycles, cause });
    }
    if let Some(ratio) = health.multiply_ratio.filter(|_| !is_whole(health.multiply_ratio)) {
        warnings.push(Warning::MultiplyAddRatio { ratio, cause });
    }
    for Outcome { point, result } in outcomes {
        let Ok(measured) = result else { continue };
        let judged = machine.cache(1).is_some_and(|cache| is_first_level(point, cache));
        let Some(cycles) = measured.series.core_cycles.filter(|cycles| judged && !is_whole_within(cycles))
        else {
            continue;
        };
        let (from, to, size, cycles) = (point.initiator, point.target, point.size, cycles.median);
        warnings.push_worst_first(Warning::CoreSlowed { from, to, size, cycles, cause }, MOST_TOLD);
    }
}

/// Returns whether a point is a chain of loads that all hit a first-level cache of this size.
fn is_first_level(point: &Point, cache: Bytes) -> bool {
    matches!(point.walk, Walk::Chain) && 3 * point.size.0 <= 2 * cache.0
}

/// Returns whether the interval of a number, extended by [`WHOLE_CYCLES`], contains a whole number; true without an
/// interval, which has a warning of its own.
fn is_whole_within(cycles: &Summary) -> bool {
    let Some(Interval { low, high }) = cycles.interval else { return true };
    math::whole(high + WHOLE_CYCLES).real() >= low - WHOLE_CYCLES
}

/// Retries a cycle count that is not integral, and keeps the closer one.
fn keep_whole(best: &mut Option<f64>, measure: &mut dyn FnMut() -> Option<f64>) {
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
    use crate::tests::outcome::POINT;
    use latency_core::Pages;
    use std::cell::Cell;

    #[test]
    fn a_result_from_a_shared_core_is_replaced() {
        let found = [4.4, 4.18, 4.01, 4.3];
        let next = Cell::new(0);
        let mut measure = || Some(found[next.replace(next.get() + 1)]);
        let mut best = None;
        keep_whole(&mut best, &mut measure);
        assert!(best == Some(4.4) && !is_whole(best));
        keep_whole(&mut best, &mut measure);
        assert!(best == Some(4.18) && !is_whole(best));
        keep_whole(&mut best, &mut measure);
        keep_whole(&mut best, &mut measure);
        assert!(best == Some(4.01) && is_whole(best) && next.get() == 3);
    }

    fn series(low: f64, high: f64) -> Summary {
        Summary { median: (low + high) / 2.0, interval: Some(Interval { low, high }), ..Summary::default() }
    }

    #[test]
    fn a_point_is_judged_beyond_its_own_interval() {
        for (low, high) in [(4.99, 5.01), (5.03, 5.05), (4.9, 5.4), (3.96, 3.97), (4.4, 6.1)] {
            assert!(is_whole_within(&series(low, high)), "{low} to {high}");
        }
        for (low, high) in [(5.20, 5.21), (5.06, 5.4), (4.5, 4.94), (5.06, 5.94)] {
            assert!(!is_whole_within(&series(low, high)), "{low} to {high}");
        }
        assert!(is_whole_within(&Summary { median: 5.2, ..Summary::default() }));
    }

    #[test]
    fn chains_in_most_of_the_first_level_are_judged_and_others_are_not() {
        let like = Point { size: Bytes(16 << 10), pages: Pages::AUTO, ..POINT };
        let lanes = Walk::Lanes(&kernel::lanes::PARALLEL[0]);
        for (kibibytes, walk, expected) in [
            (16, Walk::Chain, true),
            (32, Walk::Chain, true),
            (33, Walk::Chain, false),
            (1024, Walk::Chain, false),
            (16, lanes, false),
        ] {
            let point = Point { size: Bytes(kibibytes << 10), walk, ..like };
            assert_eq!(is_first_level(&point, Bytes(48 << 10)), expected, "{kibibytes} KiB, {walk}");
        }
    }
}
