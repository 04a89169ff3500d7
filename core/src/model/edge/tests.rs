//! Tests of the edge search on laws of caches and on measured edges.

use super::*;

fn search(from: u64, to: u64, measure: impl Fn(f64) -> f64) -> Result<Edge, EdgeError> {
    let mut search = EdgeSearch::new(Bytes(64), Bytes(from), Bytes(to));
    let mut steps = 0;
    while let Some(size) = search.next_size() {
        search.record(measure(size.0 as f64));
        steps += 1;
        assert!(steps <= MAX_MEASUREMENTS);
    }
    search.edge()
}

/// Returns the law of an LRU cache, with about 1 % of noise derived from the size.
fn lru(capacity: f64, ways: f64, hit: f64, miss: f64) -> impl Fn(f64) -> f64 {
    move |size| {
        let share = ((ways + 1.0) * (size - capacity) / size).clamp(0.0, 1.0);
        let noise = ((size / 64.0 * 12.9898).sin() * 43_758.547).fract() * 0.01;
        (hit + (miss - hit) * share) * (1.0 + noise)
    }
}

#[test]
fn finds_size_and_ways_of_common_caches() {
    for (kib, ways) in [(16, 4), (32, 8), (48, 12), (64, 4), (64, 2), (64, 16), (128, 8), (24, 6), (192, 6)] {
        for factor in [2, 3] {
            let size = kib << 10;
            let edge =
                search(size / factor, size * factor, lru(size as f64, ways as f64, 4.0, 14.0)).unwrap();
            assert_eq!((edge.capacity, edge.ways), (Bytes(size), Some(ways)), "{edge:?}");
        }
    }
}

/// Uses core cycles of a chase on an AMD Zen 4 guest with 4 KiB pages: 32 KiB, 8 ways.
#[test]
fn reads_a_measured_32_kib_edge() {
    const MEASURED: [(f64, f64); 20] = [
        (30.0, 4.004),
        (32.0, 4.576),
        (32.25, 5.030),
        (32.5, 5.729),
        (32.75, 6.315),
        (33.0, 6.965),
        (33.25, 7.684),
        (33.5, 8.092),
        (33.75, 8.671),
        (34.0, 9.141),
        (34.25, 10.018),
        (34.5, 10.524),
        (34.75, 11.376),
        (35.0, 11.887),
        (35.25, 12.537),
        (35.5, 13.074),
        (35.75, 13.535),
        (36.0, 14.200),
        (38.0, 14.040),
        (64.0, 14.007),
    ];
    let edge = search(16 << 10, 64 << 10, |size| interpolate(&MEASURED, size / 1024.0)).unwrap();
    assert_eq!((edge.capacity, edge.ways), (Bytes(32 << 10), Some(8)), "{edge:?}");
}

/// Uses core cycles of a chase on an Intel Emerald Rapids guest: 48 KiB, 12 ways.
#[test]
fn reads_a_measured_48_kib_edge() {
    const MEASURED: [(f64, f64); 8] = [
        (24.0, 5.04),
        (48.0, 5.1),
        (48.25, 5.71),
        (49.0, 7.74),
        (50.0, 10.76),
        (51.0, 13.46),
        (52.0, 15.80),
        (96.0, 16.0),
    ];
    let edge = search(24 << 10, 96 << 10, |size| interpolate(&MEASURED, size / 1024.0)).unwrap();
    assert_eq!((edge.capacity, edge.ways), (Bytes(48 << 10), Some(12)), "{edge:?}");
}

fn interpolate(table: &[(f64, f64)], at: f64) -> f64 {
    let above = table.partition_point(|(x, _)| *x < at).clamp(1, table.len() - 1);
    let ((x0, y0), (x1, y1)) = (table[above - 1], table[above]);
    y0 + (y1 - y0) * ((at - x0) / (x1 - x0)).clamp(0.0, 1.0)
}

#[test]
fn random_replacement_has_no_ways() {
    // m = 1 - exp(-m x) rises more slowly than any law of sets, and is not straight.
    let random = |size: f64| {
        let mut share = 1.0;
        for _ in 0..500 {
            share = 1.0 - f64::exp(-share * size / 32768.0);
        }
        4.0 + 10.0 * share
    };
    for far in [128, 256, 512] {
        let edge = search(16 << 10, far << 10, random).unwrap();
        assert_eq!(edge.ways, None, "{edge:?}");
        let kib = edge.capacity.0 as f64 / 1024.0;
        assert!((24.0..40.0).contains(&kib), "{edge:?}");
    }
}

#[test]
fn returns_the_reason_why_there_is_no_edge() {
    assert_eq!(search(16 << 10, 64 << 10, |_| 4.0), Err(EdgeError::NoEdge));
    assert_eq!(search(64 << 10, 16 << 10, |_| 4.0), Err(EdgeError::NoEdge));
    assert_eq!(search(0, 0, |_| 4.0), Err(EdgeError::NoEdge));
    assert_eq!(search(16 << 10, 64 << 10, |_| f64::NAN), Err(EdgeError::InvalidLatency));
    let cliff = |size: f64| if size <= 32768.0 { 4.0 } else { 14.0 };
    assert_eq!(search(16 << 10, 64 << 10, cliff), Err(EdgeError::NoRamp));
    let unfinished = EdgeSearch::new(Bytes(64), Bytes(1 << 10), Bytes(1 << 20));
    assert_eq!(unfinished.edge(), Err(EdgeError::Unfinished));
}

#[test]
fn the_search_ends_for_any_measurements() {
    let mut state = 1u64;
    for round in 0..200u64 {
        let mut search = EdgeSearch::new(Bytes(round % 3), Bytes(round * 7), Bytes(u64::MAX >> (round % 64)));
        let mut steps = 0;
        while search.next_size().is_some() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            search.record(1.0 + (state >> 60) as f64);
            steps += 1;
            assert!(steps <= MAX_MEASUREMENTS);
        }
        assert_ne!(search.edge(), Err(EdgeError::Unfinished));
    }
}
