//! Misses per hop, without a clock: cachegrind simulates two caches of known size and
//! counts, so above a capacity every hop misses exactly once and below it never.
//!
//! That holds for every order: each is one cycle over all nodes, so between two visits
//! to a line all others are visited, and a cache that replaces the least recently used
//! line has lost it if they do not all fit.
//!
//! Health checks, first estimates and building the chain run chase loops too. They are the
//! same in two runs that differ in hops alone, so the difference of two runs is counted.
//! Some of them go on until a clock is content, and valgrind's is unsteady: two runs are
//! compared where they differ by as many loads as they do in hops, a load being a hop, but for
//! a few that are no more than the misses that a rate may be off by.

use latency_tests::cachegrind::{available, run, Events, FIRST_LEVEL, LAST_LEVEL};
use latency_tests::skip::skip;

/// Hops in the shorter and the longer run. Both are several laps of the larger chain.
const FEW: i64 = 262_144;
const MANY: i64 = 4 * FEW;

/// Loads, and misses, outside the chain that the difference may contain: checks of the clock, constants, the stack.
const SLACK: f64 = 64.0;

/// Runs of each length, at the most, until two can be compared.
const ATTEMPTS: usize = 12;

/// Events of so many hops through `size`.
fn events(size: &str, order: &str, kernel: &str, hops: i64) -> Events {
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
}

/// Misses of the first and the last level per hop.
fn rates(size: &str, order: &str, kernel: &str) -> (f64, f64) {
    let hops = MANY - FEW;
    let (mut shorter, mut longer) = (Vec::new(), Vec::new());
    for _ in 0..ATTEMPTS {
        shorter.push(events(size, order, kernel, FEW));
        longer.push(events(size, order, kernel, MANY));
        let mut differences = longer.iter().flat_map(|&long| shorter.iter().map(move |&short| long - short));
        let close = |difference: &Events| (difference.reads - hops).abs() as f64 <= SLACK;
        if let Some(found) = differences.find(close) {
            let rate = |misses: i64| misses as f64 / hops as f64;
            return (rate(found.first_level_misses), rate(found.last_level_misses));
        }
    }
    panic!("{size}, {order}, {kernel}: no two runs differ by {hops} loads\n{shorter:#?}\n{longer:#?}")
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
        let (first, last) = rates(size, order, kernel);
        let what = format!("{size}, {order} order, {kernel} kernel");
        let tolerance = SLACK / (MANY - FEW) as f64;
        for (level, found, expected) in [("first", first, first_level), ("last", last, last_level)] {
            let close = (found - expected).abs() <= tolerance;
            assert!(close, "{what}: {found:.6} {level}-level misses per hop, expected {expected}");
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
