//! Misses per hop, without a clock: cachegrind simulates two caches of known size and counts, so every hop
//! above a capacity misses exactly once and no hop below it misses.
//!
//! This holds for every order: each is one cycle over all nodes, so a walk visits all other lines between two
//! visits to a line. If they do not all fit, a cache that replaces the least recently used line has evicted
//! it.
//!
//! Health checks, first estimates and building the chain also run chase loops, and some of them repeat until
//! their clock is steady, which it is not under valgrind. Two runs that differ only in hops have nearly the
//! same number of these other events. The test counts the difference of two runs, over enough hops to make
//! the remainder less than 1 %.

use latency_tests::attempts::retried;
use latency_tests::cachegrind::{Events, FIRST_LEVEL, LAST_LEVEL, available, run};
use latency_tests::lanes::of_everything;
use latency_tests::skip::skip;

/// Hops in the shorter and the longer run. Both are several laps of the larger chain.
const FEW: i64 = 131_072;
const MANY: i64 = 16 * FEW;

/// Tolerance of misses per hop, because the number of other events differs between the two runs by up to 9000.
const TOLERANCE: f64 = 0.01;

/// Returns the events of a run of `hops` hops through `size`.
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

/// Returns the misses of the first and the last level per hop.
fn rates(size: &str, order: &str, kernel: &str) -> (f64, f64) {
    let [shorter, longer] = [FEW, MANY].map(|hops| {
        let found = events(size, order, kernel, hops);
        // Each hop is exactly one load.
        assert!(found.reads >= hops, "{size}, {order}, {kernel}: {found:?}");
        found
    });
    let rate = |longer: i64, shorter: i64| (longer - shorter) as f64 / (MANY - FEW) as f64;
    (
        rate(longer.first_level_misses, shorter.first_level_misses),
        rate(longer.last_level_misses, shorter.last_level_misses),
    )
}

/// Asserts the misses per load in `size`, in each order and with each kernel.
fn assert_misses(size: &str, first_level: f64, last_level: f64) {
    if let Err(reason) = available() {
        return skip("cachegrind", &reason);
    }
    const ORDERS: [(&str, &str); 5] = [
        ("random", "pointer"),
        ("random", "index"),
        ("page-local", "pointer"),
        ("sequential", "pointer"),
        ("backward", "pointer"),
    ];
    // One order of each kernel shows that a kernel loads once per hop; the packages' own tests check the
    // orders.
    for (order, kernel) in of_everything(&ORDERS[..2], &ORDERS[..]) {
        retried(&format!("cachegrind, {size}, {order} order, {kernel} kernel"), |_| {
            let (first, last) = rates(size, order, kernel);
            for (level, found, expected) in [("first", first, first_level), ("last", last, last_level)] {
                let close = (found - expected).abs() <= TOLERANCE;
                assert!(close, "{found:.6} {level}-level misses per hop, expected {expected}");
            }
        });
    }
}

#[test]
fn no_hop_misses_in_a_working_set_below_the_first_level() {
    assert!(32 * 1024 < FIRST_LEVEL.0);
    assert_misses("32K", 0.0, 0.0);
}

#[test]
fn every_hop_misses_the_first_level_between_the_levels() {
    assert!((2 * FIRST_LEVEL.0..LAST_LEVEL.0).contains(&(1024 * 1024)));
    assert_misses("1M", 1.0, 0.0);
}

#[test]
fn every_hop_misses_both_levels_above_the_last() {
    assert!(4 * 1024 * 1024 >= 2 * LAST_LEVEL.0);
    assert_misses("4M", 1.0, 1.0);
}
