//! Misses per hop, without a clock: cachegrind simulates two caches of known size and
//! counts, so above a capacity every hop misses exactly once and below it never.
//!
//! That holds for every order: each is one cycle over all nodes, so between two visits
//! to a line all others are visited, and a cache that replaces the least recently used
//! line has lost it if they do not all fit.
//!
//! Calibration, health checks and building the chain run chase loops too. They are the
//! same in two runs that differ in hops alone, so the difference of two runs is counted.
//! The walks that choose a first estimate grow with a clock, and valgrind's is unsteady:
//! so misses are divided by the loads of the loops (of which a hop is one), and the
//! number of these is compared with less rigour.

use latency_tests::cachegrind::{available, run, Events, FIRST_LEVEL, LAST_LEVEL};
use latency_tests::skip::skip;

/// Hops in the shorter and the longer run. Both are several laps of the larger chain.
const FEW: i64 = 262_144;
const MANY: i64 = 4 * FEW;

/// Misses outside the chain that the difference may contain: code constants, the stack.
const SLACK: f64 = 64.0;

/// By what part of the hops the walks of two estimates may differ.
const ESTIMATES: f64 = 0.05;

struct Rates {
    loads: f64,
    first_level: f64,
    last_level: f64,
}

/// Events per load of a chase through `size`; loads per hop.
fn rates(size: &str, order: &str, kernel: &str) -> Rates {
    let events = |hops: i64| -> Events {
        let name = format!("{size}-{order}-{kernel}-{hops}");
        let own = [
            format!("--size={size}"),
            format!("--order={order}"),
            format!("--kernel={kernel}"),
            format!("--iters={hops}"),
        ];
        let shared = ["--trials=1", "--warmup-iters=0", "--pages=4k", "--quiet"];
        let arguments: Vec<&str> = own.iter().map(String::as_str).chain(shared).collect();
        run(&name, &arguments).unwrap_or_else(|reason| panic!("{reason}"))
    };
    let difference = events(MANY) - events(FEW);
    let loads = difference.reads as f64;
    Rates {
        loads: loads / (MANY - FEW) as f64,
        first_level: difference.first_level_misses as f64 / loads,
        last_level: difference.last_level_misses as f64 / loads,
    }
}

/// In `size`, walked in each order and with each kernel, every load misses so often.
fn assert_misses(size: &str, first_level: f64, last_level: f64) {
    if let Err(reason) = available() {
        return skip("cachegrind", &reason);
    }
    for (order, kernel) in [
        ("random", "pointer"),
        ("random", "index"),
        ("page-local", "pointer"),
        ("sequential", "pointer"),
        ("backward", "pointer"),
    ] {
        let found = rates(size, order, kernel);
        let what = format!("{size}, {order} order, {kernel} kernel");
        assert!((found.loads - 1.0).abs() <= ESTIMATES, "{what}: {} loads per hop", found.loads);
        let tolerance = SLACK / (MANY - FEW) as f64;
        for (level, found, expected) in
            [("first", found.first_level, first_level), ("last", found.last_level, last_level)]
        {
            let close = (found - expected).abs() <= tolerance;
            assert!(close, "{what}: {found:.6} {level}-level misses per load, expected {expected}");
        }
    }
}

#[test]
fn below_the_first_level_no_hop_misses() {
    assert!(32 * 1024 < FIRST_LEVEL.0);
    assert_misses("32K", 0.0, 0.0);
}

#[test]
fn between_the_levels_every_hop_misses_the_first() {
    assert!((2 * FIRST_LEVEL.0..LAST_LEVEL.0).contains(&(1024 * 1024)));
    assert_misses("1M", 1.0, 0.0);
}

#[test]
fn above_the_last_level_every_hop_misses_both() {
    assert!(4 * 1024 * 1024 >= 2 * LAST_LEVEL.0);
    assert_misses("4M", 1.0, 1.0);
}
