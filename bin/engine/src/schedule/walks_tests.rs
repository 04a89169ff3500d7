//! Walks over a chain that records its calls.

use std::vec;

use super::*;
use crate::budget::few;
use crate::tests::simulated::recorded_chain::{Call, RecordedChain};

const FOREVER: f64 = f64::INFINITY;

/// Nanoseconds of a hop in memory.
const COLD_NS: f64 = 100.0;

#[test]
fn batches_are_long_enough_for_the_clock() {
    assert_eq!(hops_per_batch(1e5, 100.0), 1000);
    assert_eq!((hops_per_batch(1e5, 1e6), hops_per_batch(1e5, 0.0)), (FEWEST_HOPS, 2_000_000));
    // Batches longer than a millisecond have proportionally more hops.
    assert_eq!([1e6, 5e7].map(|batch_ns| hops_per_batch(batch_ns, 0.0)), [1 << 22, 50 << 22]);
}

#[test]
fn few_hops_are_a_sixteenth_of_a_chain_within_bounds() {
    assert_eq!([1, 1 << 19, 1 << 30].map(few), [1 << 14, 1 << 15, 1 << 16]);
}

#[test]
fn parts_double_until_each_takes_a_quarter_of_a_batch() {
    let parts_of = |hop_ns: f64, hops: u64| {
        let mut chain = RecordedChain::new(1 << 20, hop_ns);
        let (made, _) = parts(&mut chain, &mut Summariser::new().unwrap(), hops, FOREVER).unwrap();
        assert_eq!(made, hops);
        chain.walks()
    };
    // A batch is 100 us: 128 hops last exactly a quarter of it.
    assert_eq!(parts_of(25_000.0 / 128.0, 500), [64, 128, 128, 128, 52]);
    assert_eq!(parts_of(25_000.0 / 129.0, 500), [64, 128, 256, 52]);
    // However fast hops are, an interruption must not disturb more than one of many parts.
    let longest = parts_of(0.01, 200_000);
    assert_eq!(longest[..3], [64, 128, 256]);
    assert_eq!(longest[10..], [1 << 16, 1 << 16, 200_000 - 3 * (1 << 16) + 64]);
}

#[test]
fn a_part_ends_with_the_first_lap_and_later_parts_do_not_count() {
    let cold_of = |nodes: u64, hops: u64| {
        let mut chain = RecordedChain::new(nodes, COLD_NS).warm(10.0);
        let (made, cold_ns) = parts(&mut chain, &mut Summariser::new().unwrap(), hops, FOREVER).unwrap();
        assert_eq!(made, hops);
        (chain.walks(), cold_ns)
    };
    assert_eq!(cold_of(100, 300), (vec![64, 36, 200], None));
    let (walks, cold_ns) = cold_of(5000, 20_000);
    assert!((0..walks.len()).any(|count| walks[..count].iter().sum::<u64>() == 5000), "{walks:?}");
    assert!(cold_ns.is_some_and(|cold_ns| (cold_ns - COLD_NS).abs() < 1e-6), "{cold_ns:?}");
    // With fewer hops than needed for a summary there is no latency, whatever the chain's length.
    for (nodes, hops, tells) in [(4096, 4096, true), (4095, 9000, false), (9000, 4095, false)] {
        assert_eq!(cold_of(nodes, hops).1.is_some(), tells, "{hops} hops over {nodes} nodes");
    }
}

#[test]
fn parts_end_at_the_deadline() {
    let mut chain = RecordedChain::new(1 << 20, COLD_NS);
    let (made, _) = parts(&mut chain, &mut Summariser::new().unwrap(), 1 << 20, 64.0 * COLD_NS).unwrap();
    assert_eq!((made, chain.walks()), (64, vec![64]));
}

#[test]
fn lanes_share_a_trail_of_at_most_a_chain() {
    let calls = |nodes: u64, lanes: u64, until_ns: f64| {
        let mut chain = RecordedChain::new(nodes, COLD_NS);
        trail(&mut chain, 1000, lanes, until_ns).unwrap();
        chain.calls
    };
    assert_eq!(calls(1000, 4, FOREVER), [Call::Walk(251)]);
    assert_eq!(calls(1000, 0, FOREVER), [Call::Walk(1001)]);
    assert_eq!(calls(999, 4, FOREVER), [Call::Rush(1024), Call::Rush(999), Call::Rush(11 * 999)]);
    // The trail ends at the caller's time or at the maximum of a fill: hops of 0.1 ms.
    for (until_ns, hops) in [(5e6, 50), (FOREVER, 400)] {
        let mut chain = RecordedChain::new(1000, 1e5);
        trail(&mut chain, 1000, 1, until_ns).unwrap();
        assert_eq!(chain.made, [hops]);
    }
}

#[test]
fn many_lanes_fill_for_the_requested_laps_if_they_are_faster() {
    let filled = |rush_ns: f64, laps: u64, alone_ns: f64| {
        let mut chain = RecordedChain::new(2000, COLD_NS).rushing(rush_ns);
        let made = fill(&mut chain, laps, alone_ns, FOREVER).unwrap();
        (made, chain.calls)
    };
    let tried = Call::Rush(1024);
    assert_eq!(filled(10.0, 12, COLD_NS), (24_000, vec![tried, Call::Rush(2000), Call::Rush(22_000)]));
    assert_eq!(filled(10.0, 1, COLD_NS), (2000, vec![tried, Call::Rush(2000)]));
    // Up to six tenths of one lane's time, lanes count as faster.
    assert_eq!(filled(60.0, 1, COLD_NS).0, 2000);
    assert_eq!(filled(60.1, 12, COLD_NS), (0, vec![tried]));
    // Nodes that lanes cannot walk are not filled.
    let mut chain = RecordedChain::new(2000, COLD_NS).without_lanes();
    assert_eq!(fill(&mut chain, 12, COLD_NS, FOREVER).unwrap(), 0);
    // The first lap is made however long it lasts, within the caller's time; the others must fit in 40 ms.
    for (rush_ns, until_ns, made) in [(5e4, FOREVER, 2000), (5e4, 5e7, 0), (1e4, FOREVER, 4000)] {
        let mut chain = RecordedChain::new(2000, COLD_NS).rushing(rush_ns);
        let walked = fill(&mut chain, 12, FOREVER, until_ns).unwrap();
        assert!(walked >= made && walked <= made + 2, "{walked} for {made}");
    }
}

#[test]
fn touching_makes_twelve_laps_or_ends_at_the_deadline() {
    let touched = |lap_ns: f64, until_ns: f64| {
        let mut chain = RecordedChain::new(2000, COLD_NS).touched_in(lap_ns);
        touch(&mut chain, until_ns).map(|loads| (loads, chain.calls.len()))
    };
    assert!(matches!(touched(1.0, FOREVER), Ok((24_000, 12))));
    assert!(matches!(touched(9e6, FOREVER), Ok((10_000, 5))));
    assert!(matches!(touched(9e6, 1e7), Ok((4000, 2))));
    let mut chain = RecordedChain::new(2000, COLD_NS).interrupted();
    assert!(matches!(touch(&mut chain, FOREVER), Err(MeasureError::Interrupted)));
    assert!(chain.calls.is_empty());
}

#[test]
fn an_estimate_is_the_median_of_three_walks_long_enough_for_the_clock() {
    let estimated = |hop_ns: f64| {
        let mut chain = RecordedChain::new(2000, hop_ns);
        (estimate(&mut chain, FOREVER).unwrap(), chain.walks())
    };
    let (hop_ns, walks) = estimated(25_000.0 / 128.0);
    assert!((hop_ns - 25_000.0 / 128.0).abs() < 1e-6);
    assert_eq!(walks, [64, 128, 128, 128, 128]);
    // Growth ends even if the clock stands still.
    assert_eq!(estimated(0.0).1[16..], [1 << 22; 4]);
    // An interruption of one walk in three does not change the estimate.
    let mut chain = RecordedChain::new(2000, 1000.0).disturbed_at(3);
    assert!((estimate(&mut chain, FOREVER).unwrap() - 1000.0).abs() < 1e-6);
}
