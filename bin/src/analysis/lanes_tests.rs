//! Loads in flight and the reach of the reorder window, from synthetic times.

use super::*;
use crate::analysis::claims::{Claim, Source};
use latency_core::Summary;
use latency_core::kernel::lanes::{PARALLEL, WINDOW};
use latency_engine::result::RoundSeries;
use latency_engine::tests::outcome::outcome;
use std::vec::Vec;

#[test]
fn counts_of_all_lanes_are_divided_by_the_lanes() {
    let Ok(measured) = outcome(1 << 28, Walk::Chain, 80.0).result else { panic!("measured") };
    let cycles = Summary { median: 320.0, ..measured.series.nanoseconds };
    let mut per_hop = [None; latency_engine::result::series::EVENTS];
    (per_hop[0], per_hop[1]) = (Some(352.0), Some(24.0));
    let counters = Some(latency_engine::result::series::Counters { per_hop, running: 0.8 });
    let series = RoundSeries { core_cycles: Some(cycles), counters, ..measured.series };
    let mut shared = series;
    shared.share(8.0);
    let counted = shared.counters.unwrap();
    assert_eq!((counted.per_hop[0], counted.per_hop[1], counted.per_hop[2]), (Some(44.0), Some(3.0), None));
    assert_eq!(counted.instructions_per_cycle(), Some(3.0 / 44.0));
    // The ratio of core cycles by counters to core cycles by dependent additions; both are per load.
    assert_eq!((series.core_cycles_ratio(), shared.core_cycles_ratio()), (Some(1.1), Some(1.1)));
    assert_eq!(shared.counters.unwrap().running, 0.8);
}

#[test]
fn lanes_saturate_where_the_buffers_are_full() {
    let time = |lanes: usize| 96.0 / lanes.min(12) as f64;
    let point = |kernel| outcome(1 << 28, Walk::Lanes(kernel), time(kernel.lanes()));
    let outcomes: Vec<_> = PARALLEL.iter().map(point).collect();
    let region = regions(&outcomes).remove(0);
    let found = region.saturation().unwrap();
    assert!((found.in_flight.value - 12.0).abs() < 1e-9, "{found:?}");
    assert_eq!(found.from_lanes, 12);
    assert!((found.gigabytes_per_second(LineSize::LEAST) - 8.0).abs() < 1e-9, "{found:?}");
    let interval = found.in_flight.interval.unwrap();
    assert!(interval.low < 11.8 && interval.high > 12.2, "{interval:?}");
    assert_eq!(region.in_flight(48.0), Some(2.0));
    // More loads in flight than chains: the single chain was slowed.
    let slowed = |lanes: usize| if lanes == 1 { 96.0 * 8.0 } else { time(lanes) };
    let point = |kernel| outcome(1 << 28, Walk::Lanes(kernel), slowed(kernel.lanes()));
    let outcomes: Vec<_> = PARALLEL.iter().map(point).collect();
    assert!(regions(&outcomes)[0].saturation().is_none());
}

#[test]
fn without_some_numbers_of_chains_there_is_a_limit_only_where_more_bring_no_gain() {
    let saturation = |lanes: &[usize]| {
        let chosen = PARALLEL.iter().zip(limited(1 << 28, 96.0, 12));
        let chosen: Vec<_> = chosen.filter(|(kernel, _)| lanes.contains(&kernel.lanes())).collect();
        let outcomes: Vec<_> = chosen.into_iter().map(|(_, outcome)| outcome).collect();
        regions(&outcomes)[0].saturation()
    };
    assert_eq!(saturation(&[1]), None);
    assert_eq!(saturation(&[1, 2, 4, 8]), None, "more chains would be faster");
    assert_eq!(saturation(&[12, 16, 32]), None, "no chain alone to compare with");
    let found = saturation(&[1, 4, 14, 16, 32]).unwrap();
    assert!((found.in_flight.value - 12.0).abs() < 1e-9 && found.from_lanes == 14, "{found:?}");
}

/// Returns points with every number of chains in a working set, with at most `most` loads in flight.
fn limited(size: u64, alone: f64, most: usize) -> impl Iterator<Item = Outcome> {
    let time = move |lanes: usize| alone / lanes.min(most) as f64;
    PARALLEL.iter().map(move |kernel| outcome(size, Walk::Lanes(kernel), time(kernel.lanes())))
}

#[test]
fn the_last_level_cache_shows_the_buffers_and_memory_a_lower_bound() {
    let (near, last, memory) = (Bytes(1 << 20), Bytes(32 << 20), Bytes(256 << 20));
    let found = |outcomes: &[Outcome]| misses_in_flight(&regions(outcomes), near, last, memory);
    let all: Vec<_> = limited(1 << 19, 5.0, 8)
        .chain(limited(10 << 20, 40.0, 12))
        .chain(limited(256 << 20, 96.0, 10))
        .collect();
    let (caches, of_lanes) = all.split_at(2 * PARALLEL.len());
    let (Saturation { in_flight: misses, from_lanes, size, .. }, limit) = found(&all).unwrap();
    assert_eq!((limit, from_lanes, size), (Limit::Buffers, 12, Bytes(10 << 20)));
    assert!((misses.value - 12.0).abs() < 1e-9 && misses.interval.is_some(), "{misses:?}");
    let (Saturation { in_flight: misses, .. }, limit) = found(of_lanes).unwrap();
    assert!((misses.value - 10.0).abs() < 1e-9, "{misses:?}");
    assert_eq!(limit, Limit::BuffersOrMemory);
    assert_eq!(found(&caches[..PARALLEL.len()]), None, "half of the L2 fills no buffers");
    assert_eq!(found(&all[PARALLEL.len() + 1..]), None, "no chain alone to compare with");
    let slow: Vec<_> = limited(10 << 20, 90.0, 12).chain(limited(256 << 20, 96.0, 10)).collect();
    let (Saturation { size, .. }, limit) = found(&slow).unwrap();
    assert_eq!(
        (limit, size),
        (Limit::BuffersOrMemory, memory),
        "a working set as slow as memory is in no cache"
    );
    // A third of a reported cache: mostly in memory the first time, and served by the nearer cache the second time.
    for alone in [50.0, 6.0] {
        let part: Vec<_> = limited(1 << 19, 5.0, 8)
            .chain(limited(10 << 20, alone, 12))
            .chain(limited(256 << 20, 96.0, 10))
            .collect();
        assert_eq!(found(&part).unwrap().1, Limit::BuffersOrMemory, "{alone} ns");
    }
    let is_like = |outcomes: &[Outcome], bytes| is_like_memory(&regions(outcomes), Bytes(bytes), memory);
    assert_eq!([is_like(&slow, 10 << 20), is_like(&all, 10 << 20)], [Some(true), Some(false)]);
    let without_memory = caches;
    assert_eq!(is_like(without_memory, 10 << 20), None);
    assert_eq!(found(without_memory).unwrap().1, Limit::BuffersOrMemory, "nothing shows that it is a cache");
}

#[test]
fn a_working_set_is_in_the_smallest_cache_that_holds_it() {
    let mut claims = Claims::default();
    for (level, size) in [(1, 48 << 10), (2, 2 << 20), (3, 32 << 20)] {
        claims.add(Claim { level, size: Bytes(size), source: Source::Sysfs });
    }
    for (size, expected) in [
        (48 << 10, HierarchyPlace::Cache(1)),
        (49 << 10, HierarchyPlace::Cache(2)),
        (16 << 20, HierarchyPlace::Cache(3)),
        (17 << 20, HierarchyPlace::Unknown),
        (33 << 20, HierarchyPlace::Unknown),
        (128 << 20, HierarchyPlace::Memory),
    ] {
        assert_eq!(place(&claims, &[], Bytes(128 << 20), Bytes(size)), expected, "{size}");
    }
    assert_eq!(place(&Claims::default(), &[], Bytes(1 << 30), Bytes(4096)), HierarchyPlace::Unknown);
}

#[test]
fn without_a_lane_alone_there_is_nothing_to_compare_with() {
    let outcomes = [outcome(1 << 28, Walk::Lanes(&PARALLEL[3]), 30.0)];
    let region = regions(&outcomes).remove(0);
    assert_eq!((region.saturation(), region.in_flight(10.0)), (None, None));
}

/// Returns points with times per load that follow from the loads that the window leaves in flight.
fn worked(room: f64) -> Vec<Outcome> {
    let floor = |work: usize| 0.4 + work as f64 / 10.0;
    let memory = |instructions: usize| 160.0 / (room / instructions as f64 * 16.0).min(16.0);
    let cached = WINDOW.iter().map(|[plain, _]| outcome(1 << 14, Walk::Lanes(plain), floor(plain.work())));
    let distant =
        WINDOW.iter().map(|[plain, _]| outcome(1 << 28, Walk::Lanes(plain), memory(plain.instructions())));
    cached.chain(distant).collect()
}

#[test]
fn the_window_ends_between_two_amounts_of_work() {
    let reach = |room| {
        let outcomes = worked(room);
        let sets = regions(&outcomes);
        work_reach(sets.first(), &sets[1]).unwrap()
    };
    assert_eq!(reach(200.0), WorkReach { hidden: 208, exposed: Some(272) });
    assert_eq!(reach(1e6), WorkReach { hidden: 848, exposed: None });
}
