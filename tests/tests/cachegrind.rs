//! Misses per hop, without a clock: cachegrind simulates two caches of known size and
//! counts, so above a capacity every hop misses exactly once and below it never.
//!
//! Calibration, health checks and building the chain run chase loops too. They are the
//! same in two runs that differ in hops alone, so the difference of two runs is counted.

use latency_tests::cachegrind::{available, run, Events, FIRST_LEVEL, LAST_LEVEL};
use latency_tests::skip::skip;

/// Hops in the shorter and the longer run. Both are several laps of the larger chain.
const FEW: i64 = 262_144;
const MANY: i64 = 2 * FEW;

/// Misses outside the chain that the difference may contain: code constants, the stack.
const SLACK: f64 = 64.0;

struct Rates {
    reads: f64,
    first_level: f64,
    last_level: f64,
}

/// Events per hop of a random chase through `size`.
fn rates(size: &str) -> Option<Rates> {
    if let Err(reason) = available() {
        skip("cachegrind", &reason);
        return None;
    }
    let events = |hops: i64| -> Events {
        let (size, hops) = (format!("--size={size}"), format!("--iters={hops}"));
        let arguments = ["--trials=1", "--warmup-iters=0", "--order=random", "--pages=4k", "--quiet"];
        let arguments: Vec<&str> = [size.as_str(), hops.as_str()].into_iter().chain(arguments).collect();
        run(&format!("{}-{}", &size[7..], &hops[8..]), &arguments).unwrap_or_else(|reason| panic!("{reason}"))
    };
    let difference = events(MANY) - events(FEW);
    let hops = (MANY - FEW) as f64;
    Some(Rates {
        reads: difference.reads as f64 / hops,
        first_level: difference.first_level_misses as f64 / hops,
        last_level: difference.last_level_misses as f64 / hops,
    })
}

fn assert_rate(what: &str, found: f64, expected: f64) {
    let tolerance = SLACK / (MANY - FEW) as f64;
    assert!((found - expected).abs() <= tolerance, "{what} per hop: {found:.6}, expected {expected}");
}

#[test]
fn below_the_first_level_no_hop_misses() {
    assert!(32 * 1024 < FIRST_LEVEL.0);
    let Some(rates) = rates("32K") else { return };
    assert_rate("reads", rates.reads, 1.0);
    assert_rate("first-level misses", rates.first_level, 0.0);
    assert_rate("last-level misses", rates.last_level, 0.0);
}

#[test]
fn between_the_levels_every_hop_misses_the_first() {
    assert!((2 * FIRST_LEVEL.0..LAST_LEVEL.0).contains(&(1024 * 1024)));
    let Some(rates) = rates("1M") else { return };
    assert_rate("first-level misses", rates.first_level, 1.0);
    assert_rate("last-level misses", rates.last_level, 0.0);
}

#[test]
fn above_the_last_level_every_hop_misses_both() {
    assert!(4 * 1024 * 1024 >= 2 * LAST_LEVEL.0);
    let Some(rates) = rates("4M") else { return };
    assert_rate("first-level misses", rates.first_level, 1.0);
    assert_rate("last-level misses", rates.last_level, 1.0);
}
