//! The calls of warm-ups to chains of every length.

use std::vec;
use std::vec::Vec;

use super::*;
use crate::tests::simulated::recorded_chain::Call::{self, Rewind, Rush, Touch, Walk};
use crate::tests::simulated::recorded_chain::RecordedChain;

const FOREVER: f64 = f64::INFINITY;
const COLD_NS: f64 = 100.0;
/// Lines of one and a half last-level caches of 32 MiB.
const TRAIL: u64 = 3 << 18;

const BUDGET: Budget = Budget { trail: TRAIL, ..Budget::DEFAULT };

/// Returns the calls that fill a cache with many lanes and return to the start.
fn filled(nodes: u64) -> Vec<Call> {
    vec![Rush(1024), Rush(nodes), Rush(11 * nodes), Rewind(0)]
}

/// Makes one visit and returns its calls, without the walks of the estimate, which only the first visit makes. The
/// round has a latency of `round_ns` per hop.
fn visit(warmth: &mut Warmth, chain: &mut RecordedChain, budget: &Budget, round_ns: f64) -> Vec<Call> {
    if chain.condition == Condition::Written {
        chain.rewrite();
    }
    let mut summariser = Summariser::new().unwrap();
    // Makes the four walks of the estimate distinguishable from other walks.
    warmth.warm_up(chain, &mut summariser, budget, FOREVER).unwrap();
    if warmth.visits == 1 {
        let estimate: Vec<Call> = chain.calls.split_off(chain.calls.len() - 3);
        let Walk(hops) = estimate[0] else { panic!("{estimate:?}") };
        assert_eq!(estimate, [Walk(hops); 3]);
        let growing: Vec<u64> = (0..).map(|double| 64 << double).take_while(|&each| each <= hops).collect();
        let rest = chain.calls.split_off(chain.calls.len() - growing.len());
        assert_eq!(rest, growing.into_iter().map(Walk).collect::<Vec<_>>());
    }
    warmth.note(round_ns);
    chain.take()
}

#[test]
fn a_slower_first_pass_shows_a_cache() {
    // Noise of the same memory, and a cache that serves a tenth of the hops in a third of the time.
    assert!(!is_held(100.0, 100.0) && !is_held(100.0, 97.0) && !is_held(100.0, 130.0));
    assert!(is_held(100.0, 100.0 * (0.9 + 0.1 / 3.0)) && is_held(100.0, 20.0));
    assert!(!is_held(f64::NAN, 20.0) && !is_held(100.0, 95.0));
}

#[test]
fn short_chains_are_walked_until_laps_stop_getting_faster() {
    let mut warmth = Warmth::default();
    let mut chain = RecordedChain::new(1000, COLD_NS).warm(5.0);
    // A first pass of 16384 hops, laps of at least 2048 hops: the second is not faster than the first.
    assert_eq!(visit(&mut warmth, &mut chain, &BUDGET, 5.0), [Walk((1 << 14) + 2 * 2048)]);
    assert_eq!(warmth.first.hops, (1 << 14) + 2 * 2048);
    assert!((warmth.first.estimate_ns - 5.0).abs() < 1e-9);
    // A pass over too few nodes gives no latency.
    assert_eq!((warmth.first.cold_ns, warmth.found().cold_ns), (None, None));
    // Without that pass the first lap is slow, and another one is needed.
    for _ in 2..=3 {
        assert_eq!(visit(&mut warmth, &mut chain, &BUDGET, 5.0), [Walk(3 * 2048)]);
    }
    // From the fourth visit on, the visit makes as many laps as were faster than the one before.
    assert_eq!(visit(&mut warmth, &mut chain, &BUDGET, 5.0), [Walk(2 * 2048)]);
    assert_eq!(warmth.first.hops, (1 << 14) + 2 * 2048, "the findings of the first visit stay");
}

#[test]
fn laps_continue_while_they_become_faster() {
    /// Returns the laps of a chain whose laps become faster by a factor of `by` each.
    fn laps(by: f64) -> (usize, u32) {
        let mut warmth = Warmth { visits: 1, ..Warmth::default() };
        let mut chain = RecordedChain::new(4096, COLD_NS).faster_by(by);
        warmth.until_steady(&mut chain, FOREVER).unwrap();
        (chain.walks().len(), warmth.laps)
    }
    assert_eq!(laps(1.0), (2, 1));
    assert_eq!(laps(0.99), (2, 1));
    assert_eq!(laps(0.98), (16, 16));
    // A lap that the time limit ends early is the last.
    let mut warmth = Warmth { visits: 1, ..Warmth::default() };
    let mut chain = RecordedChain::new(4096, COLD_NS);
    assert_eq!(warmth.until_steady(&mut chain, 1000.0 * COLD_NS).unwrap(), 1000);
    assert_eq!(warmth.laps, 0);
    // Later visits make the largest number of laps that a visit needed; until the third, each visit finds its own
    // number.
    let mut warmth = Warmth { visits: 3, laps: 5, ..Warmth::default() };
    let mut chain = RecordedChain::new(4096, COLD_NS);
    assert_eq!(warmth.until_steady(&mut chain, FOREVER).unwrap(), 2 * 4096);
    assert_eq!(warmth.laps, 5);
    warmth.visits = 4;
    assert_eq!(warmth.until_steady(&mut chain, FOREVER).unwrap(), 5 * 4096);
}

#[test]
fn caches_that_may_hold_a_chain_are_filled_by_many_lanes() {
    for nodes in [1 << 14, 1 << 16] {
        let mut warmth = Warmth::default();
        let mut chain = RecordedChain::new(nodes, COLD_NS).warm(20.0);
        let mut expected = vec![Walk(1 << 14)];
        expected.extend(filled(nodes));
        expected.push(Walk(2 * nodes));
        assert_eq!(visit(&mut warmth, &mut chain, &BUDGET, 20.0), expected);
        assert_eq!(warmth.first.hops, (1 << 14) + 12 * nodes + 2 * nodes);
        assert!(warmth.first.cold_ns.is_some_and(|cold_ns| (cold_ns - COLD_NS).abs() < 1e-6));
        // Later visits need no first pass, because a chain this short is always in a cache.
        assert_eq!(visit(&mut warmth, &mut chain, &BUDGET, 20.0), expected[1..]);
    }
    // With one node less, single hops bring the chain in.
    let mut chain = RecordedChain::new((1 << 14) - 1, COLD_NS).warm(20.0);
    let calls = visit(&mut Warmth::default(), &mut chain, &BUDGET, 20.0);
    assert_eq!(calls, [Walk((1 << 14) + 2 * ((1 << 14) - 1))]);
}

#[test]
fn every_node_is_touched_if_lanes_are_not_faster() {
    let touches = [Touch; 12];
    let with_touches = |before: &[Call], after: &[Call]| [before, &touches, after].concat();
    // Nodes that lanes cannot walk, and lanes in an emulator.
    let mut chain = RecordedChain::new(1 << 16, COLD_NS).warm(20.0).rushing(COLD_NS);
    let calls = visit(&mut Warmth::default(), &mut chain, &BUDGET, 20.0);
    assert_eq!(calls, with_touches(&[Walk(1 << 14), Rush(1024)], &[Walk(2 << 16)]));
    // Chains longer than 128 MiB are not touched: two laps are walked, of at most four million hops in all.
    for (nodes, lap) in [((1 << 21) + 64, 1 << 22), (3 << 20, 1 << 22)] {
        let mut chain = RecordedChain::new(nodes, COLD_NS).without_lanes();
        let calls = visit(&mut Warmth::default(), &mut chain, &Budget { trail: 1 << 22, ..BUDGET }, COLD_NS);
        assert_eq!(calls, [Walk(1 << 16), Rush(1024), Walk(lap)]);
    }
    let mut chain = RecordedChain::new(1 << 21, COLD_NS).warm(20.0).without_lanes();
    let calls = visit(&mut Warmth::default(), &mut chain, &BUDGET, 20.0);
    assert_eq!(calls, with_touches(&[Walk(1 << 16), Rush(1024)], &[Walk((1 << 14) + (1 << 21))]));
}

#[test]
fn three_visits_test_if_a_cache_holds_a_chain() {
    // The chain has 16 MiB and a line, much of it in a cache: laps follow in each visit, and a first pass in three
    // visits.
    let nodes = (1 << 18) + 1;
    let mut warmth = Warmth::default();
    let mut chain = RecordedChain::new(nodes, COLD_NS).warm(50.0);
    let mut expected = vec![Walk(1 << 14)];
    expected.extend(filled(nodes));
    expected.push(Walk(nodes));
    for _ in 0..3 {
        assert_eq!(visit(&mut warmth, &mut chain, &BUDGET, 50.0), expected);
    }
    assert_eq!(warmth.held, Some(true));
    assert_eq!(visit(&mut warmth, &mut chain, &BUDGET, 50.0), expected[1..]);
    // If no cache holds any of it, from the fourth visit on a lap by lanes is enough, with a first pass before it.
    let mut warmth = Warmth::default();
    let mut chain = RecordedChain::new(nodes, COLD_NS);
    for _ in 0..3 {
        assert_eq!(visit(&mut warmth, &mut chain, &BUDGET, COLD_NS), expected);
    }
    assert_eq!((warmth.held, warmth.passed), (Some(false), 3));
    let short = [Walk(1 << 14), Rush(1024), Rush(nodes), Rewind(0)];
    assert_eq!(visit(&mut warmth, &mut chain, &BUDGET, COLD_NS), short);
    // A chain much larger than the cache does not even need the lap by lanes.
    for (trail, expected) in [(nodes / 4 + 1, &short[..]), (nodes / 4, &short[..1])] {
        let mut chain = RecordedChain::new(nodes, COLD_NS);
        let mut warmth = warmth;
        assert_eq!(visit(&mut warmth, &mut chain, &Budget { trail, ..BUDGET }, COLD_NS), expected);
    }
}

#[test]
fn testing_the_start_of_a_lane_avoids_a_long_lap() {
    let nodes = 1 << 20;
    let look = nodes / 128;
    let first = [vec![Walk(1 << 16)], filled(nodes)].concat();
    // In memory: no lap, and the next walk begins where another lane began.
    let mut warmth = Warmth::default();
    let calls = visit(&mut warmth, &mut RecordedChain::new(nodes, COLD_NS).rushing(1.0), &BUDGET, COLD_NS);
    assert_eq!(calls, [&first[..], &[Walk(look), Rewind(1)]].concat());
    assert_eq!(warmth.first.hops, (1 << 16) + 12 * nodes + look);
    // If a cache holds some of it: a lap.
    let mut warmth = Warmth::default();
    let calls =
        visit(&mut warmth, &mut RecordedChain::new(nodes, COLD_NS).warm(50.0).rushing(1.0), &BUDGET, 50.0);
    assert_eq!(calls, [&first[..], &[Walk(look + nodes)]].concat());
    assert_eq!(warmth.first.hops, (1 << 16) + 12 * nodes + look + nodes);
    // A chain of half of 32 MiB is walked without this test.
    let mut chain = RecordedChain::new(1 << 19, COLD_NS);
    let calls = visit(&mut Warmth::default(), &mut chain, &BUDGET, COLD_NS);
    assert_eq!(calls, [vec![Walk(1 << 15)], filled(1 << 19), vec![Walk(1 << 19)]].concat());
}

#[test]
fn memory_that_no_cache_can_hold_is_not_filled() {
    let nodes = (1 << 21) + 1;
    let mut chain = RecordedChain::new(nodes, COLD_NS);
    let calls = visit(&mut Warmth::default(), &mut chain, &BUDGET, COLD_NS);
    assert_eq!(calls, [Walk(1 << 16)]);
    // If a cache of that size is known, lanes fill it, and no lap is walked.
    let mut chain = RecordedChain::new(nodes, COLD_NS);
    let calls = visit(&mut Warmth::default(), &mut chain, &Budget { trail: nodes, ..BUDGET }, COLD_NS);
    assert_eq!(calls, [vec![Walk(1 << 16)], filled(nodes), vec![Walk(0)]].concat());
}

#[test]
fn a_reported_first_pass_is_a_whole_lap_if_a_cache_may_hold_it() {
    let budget = Budget { pass: Pass::Lap, ..BUDGET };
    let nodes = SHORT_PASS + 5;
    for (warm_ns, later) in [(50.0, nodes), (COLD_NS, SHORT_PASS)] {
        let mut warmth = Warmth::default();
        let mut chain = RecordedChain::new(nodes, COLD_NS);
        assert_eq!(visit(&mut warmth, &mut chain, &budget, warm_ns), [Walk(nodes)]);
        assert_eq!(visit(&mut warmth, &mut chain, &budget, warm_ns), [Walk(later)]);
    }
    // Up to 4 MiB, a cache always holds the chain.
    let mut warmth = Warmth::default();
    let mut chain = RecordedChain::new(1 << 16, COLD_NS);
    for _ in 0..2 {
        assert_eq!(visit(&mut warmth, &mut chain, &budget, COLD_NS), [Walk(1 << 16)]);
    }
    // If the user gave the hops of the warm-up, only these are walked.
    let budget = Budget { warm_up: Some(777), ..budget };
    assert_eq!(visit(&mut Warmth::default(), &mut chain, &budget, COLD_NS), [Walk(777)]);
}

#[test]
fn a_chain_that_stays_is_warmed_up_once() {
    let kept = |condition: Condition, nodes: u64| {
        let mut chain = RecordedChain::new(nodes, COLD_NS);
        chain.condition = condition;
        chain
    };
    for condition in [Condition::Disturbed, Condition::Undisturbed] {
        let mut warmth = Warmth::default();
        assert_eq!(visit(&mut warmth, &mut kept(condition, 5000), &BUDGET, COLD_NS), [Walk(5000)]);
        let later = visit(&mut warmth, &mut kept(condition, 1 << 19), &BUDGET, COLD_NS);
        let expected: &[Call] = if condition == Condition::Disturbed { &[Walk(1 << 15)] } else { &[] };
        assert_eq!(later, expected);
        let mut long = kept(condition, SHORT_PASS * 2);
        assert_eq!(visit(&mut Warmth::default(), &mut long, &BUDGET, COLD_NS), [Walk(SHORT_PASS)]);
        let asked = Budget { warm_up: Some(99), ..BUDGET };
        assert_eq!(visit(&mut Warmth::default(), &mut long, &asked, COLD_NS), [Walk(99)]);
    }
    // Lanes walk a trail behind them, and the first visit walks a little more.
    let mut warmth = Warmth::default();
    let mut chain = kept(Condition::Disturbed, 1 << 21).of_lanes(4);
    let budget = Budget { trail: 1 << 20, ..BUDGET };
    let trail = (1 << 18) + 1;
    assert_eq!(visit(&mut warmth, &mut chain, &budget, COLD_NS), [Walk(trail + (1 << 12) + 1)]);
    assert_eq!(visit(&mut warmth, &mut chain, &budget, COLD_NS), [Walk(trail)]);
    chain.condition = Condition::Undisturbed;
    assert_eq!(visit(&mut warmth, &mut chain, &budget, COLD_NS), []);
    let mut chain = kept(Condition::Disturbed, 1 << 21).of_lanes(4);
    let budget = Budget { warm_up: Some(99), ..budget };
    assert_eq!(visit(&mut Warmth::default(), &mut chain, &budget, COLD_NS), [Walk(trail + 99)]);
}

#[test]
fn the_shortest_times_of_three_visits_decide_if_a_cache_holds_a_chain() {
    let mut warmth =
        Warmth { passes: [100.0, 90.0, 110.0, 1.0, 1.0, 1.0, 1.0], passed: 3, ..Warmth::default() };
    warmth.note(88.0);
    assert_eq!(warmth.held, Some(false));
    // The shortest round counts, not the last one.
    warmth.visits = 3;
    warmth.note(50.0);
    warmth.note(88.0);
    assert_eq!((warmth.held, warmth.warm_ns), (Some(true), Some(50.0)));
    // The result has the median of first passes.
    assert_eq!(warmth.found().cold_ns, Some(100.0));
    // From the fourth visit on the decision stays.
    let mut warmth = Warmth { visits: 4, passed: 3, held: Some(false), ..warmth };
    warmth.note(1.0);
    assert_eq!(warmth.held, Some(false));
    assert!(!warmth.may_be_held((1 << 16) + 1) && warmth.may_be_held(1 << 16));
    assert!(Warmth::default().may_be_held(u64::MAX));
}
