//! The hits that turns of several chains leave in caches: as many as one chain has.

use std::boxed::Box;

use latency_core::chain::{Chain, Order};
use latency_core::words::When;
use latency_core::{Bytes, LineSize, PageSize};

use crate::budget::Budget;
use crate::progress::Progress;
use crate::schedule::Schedule;
use crate::schedule::tests::points;
use crate::tests::simulated::cached_chain::{CachedChain, Victim};

/// Runs a schedule over a working set of four times a cache. Returns nanoseconds of the random chain, and the shares of
/// hits of the random chain and of grouped chains.
fn run(size: Bytes, victim: Victim, is_split: bool) -> (f64, [f64; 2]) {
    let chain = match is_split {
        true => Chain::split(size, LineSize::LEAST, PageSize::KIB_4, 42),
        false => Chain::new(Order::Random, size, Bytes(64), 42),
    };
    let lines = (size.0 / 64) as usize;
    let place = Box::new(CachedChain::new(chain.unwrap(), lines, lines / 4, victim));
    // The rounds last for several laps.
    let walk_ns = 6.0 * lines as f64 * 100.0;
    let point = points(1).next().unwrap();
    let budget = Budget { walk_ns, warm_up: Some(2 * lines as u64), trials: None, ..Budget::DEFAULT };
    let mut schedule = Schedule::new(place, budget, &point, [point].into_iter()).unwrap();
    schedule.run(&mut Progress::new(When::Never)).unwrap();
    let (_, series) = schedule.series(0).unwrap();
    let shares = schedule.place.timed.map(|(all, hits)| hits as f64 / all.max(1) as f64);
    (series.nanoseconds.median, shares)
}

#[test]
fn chains_in_turn_hit_caches_of_a_quarter_of_the_set_as_one_chain_does() {
    for size in [Bytes(4 << 20), Bytes(12 << 20)] {
        for victim in [Victim::Oldest, Victim::Any] {
            let (alone_ns, [alone, _]) = run(size, victim, false);
            let (split_ns, shares) = run(size, victim, true);
            std::println!(
                "{size}, {victim:?}: alone {alone_ns} ns, {alone}; in turn {split_ns} ns, {shares:?}"
            );
            assert!((split_ns / alone_ns - 1.0).abs() < 0.005, "{size}, {victim:?}: {split_ns}, {alone_ns}");
            for share in shares {
                assert!((share - alone).abs() < 0.005, "{size}, {victim:?}: {shares:?}, {alone}");
            }
        }
    }
}
