//! Searches in simulated time, with caches of known size.

use crate::tests::outcome::POINT;
use latency_core::math::exp;
use latency_core::{PageSize, Pages, Pcg32};

use super::*;
use crate::budget::Budget;
use crate::tests::simulated::place::{Fake, Hop};

const MEMORY_NS: f64 = 100.0;
const MIB: Bytes = Bytes::MIB;

const LIKE: Point = Point { size: FIRST, pages: Pages::AUTO, ..POINT };

const KNOWN: Known = Known {
    reported: Some(Bytes(32 << 20)),
    near: MIB,
    page: PageSize::KIB_4,
    most: Bytes(8 << 30),
    seeks_cache: true,
    limit_ns: 3e9,
};

/// Returns the steady share of hits of a cache with random replacement in a cyclic walk over `size` bytes.
fn random_hits(cache: f64, size: f64) -> f64 {
    if size <= cache {
        return 1.0;
    }
    (0..200).fold(0.5, |hits, _| exp(-(1.0 - hits) * size / cache))
}

/// Returns the share of hits of a cache with LRU replacement.
fn lru_hits(cache: f64, size: f64) -> f64 {
    f64::from(u8::from(size <= cache))
}

/// Returns the latency of a load after some laps, with a private cache of 1 MiB and a cache of `cache` MiB that serves
/// `hits`.
fn load_ns(hits: fn(f64, f64) -> f64, cache: f64, hop: &Hop) -> f64 {
    let size = hop.nodes as f64 * 64.0;
    if hop.laps < 1.0 {
        MEMORY_NS
    } else if size <= (1 << 20) as f64 {
        5.0
    } else {
        MEMORY_NS - hits(cache * (1 << 20) as f64, size) * (MEMORY_NS - 35.0)
    }
}

fn look(known: &Known, latency: impl FnMut(Hop) -> f64) -> (Sizing, f64) {
    let mut fake = Fake::new(&Budget::DEFAULT.rewritten(1), latency);
    let sizing = search(&mut fake, &LIKE, known).unwrap().expect("something was found");
    (sizing, fake.now_ns / 1e9)
}

#[test]
fn a_cache_that_is_larger_than_reported_doubles_the_working_set() {
    let known = Known { reported: Some(MIB.times(16)), ..KNOWN };
    for seeks_cache in [true, false] {
        let known = Known { seeks_cache, ..known };
        let (sizing, seconds) = look(&known, |hop| load_ns(random_hits, 96.0, &hop));
        assert_eq!((sizing.first, sizing.size, sizing.clear), (FIRST, MIB.times(512), Some(true)));
        let hits = random_hits(96.0, 512.0);
        assert!(hits * 0.65 < 0.02, "printed {} below memory", hits * 0.65);
        let cache = sizing.cache.unwrap().0 as f64 / MIB.0 as f64;
        assert!((75.0..140.0).contains(&cache), "{cache} MiB");
        assert!(seconds < 0.8 && sizing.seconds <= seconds, "{seconds} s");
    }
}

#[test]
fn a_cache_that_is_smaller_than_reported_is_found() {
    let known = Known { reported: Some(MIB.times(300)), ..KNOWN };
    for hits in [lru_hits, random_hits] {
        let (sizing, seconds) = look(&known, |hop| load_ns(hits, 12.0, &hop));
        assert_eq!((sizing.size, sizing.clear, sizing.cache_sought), (FIRST, Some(true), true));
        let cache = sizing.cache.unwrap();
        assert!(cache >= MIB.times(10) && cache <= MIB.times(18), "{cache}");
        // The cache is not 100 MiB, a third of 300 MiB.
        assert!(sizing.in_cache.is_some_and(|size| size >= MIB.times(4) && size <= MIB.times(8)));
        assert!(seconds < 0.5, "{seconds} s");
    }
}

#[test]
fn a_cache_close_to_the_reported_size_keeps_it() {
    for (hits, cache) in [(lru_hits as fn(f64, f64) -> f64, 32.0), (random_hits, 32.0), (lru_hits, 24.0)] {
        let (sizing, _) = look(&KNOWN, |hop| load_ns(hits, cache, &hop));
        assert_eq!((sizing.size, sizing.clear, sizing.cache), (FIRST, Some(true), None), "{cache} MiB");
        let in_cache = sizing.in_cache.unwrap();
        assert!(in_cache >= MIB.times(4) && in_cache <= MIB.times(16), "{in_cache}");
    }
    let unknown = Known { reported: None, ..KNOWN };
    assert!(look(&unknown, |hop| load_ns(lru_hits, 32.0, &hop)).0.cache.is_some());
}

#[test]
fn the_search_ends_in_a_cache_as_large_as_reported() {
    let known = Known { reported: Some(MIB.times(300)), ..KNOWN };
    let (sizing, seconds) = look(&known, |hop| load_ns(lru_hits, 300.0, &hop));
    assert_eq!((sizing.size, sizing.clear, sizing.cache), (FIRST, Some(false), None));
    assert!(seconds < 0.5, "{seconds} s");
}

#[test]
fn no_cache_is_found_without_a_shared_cache() {
    let (sizing, _) = look(&KNOWN, |hop| load_ns(lru_hits, 1.0, &hop));
    assert_eq!((sizing.in_cache, sizing.cache), (None, Some(MIB)));
}

#[test]
fn cache_hits_are_reported_if_memory_is_too_small_for_a_larger_set() {
    let known = Known { most: MIB.times(300), ..KNOWN };
    let (sizing, _) = look(&known, |hop| load_ns(random_hits, 256.0, &hop));
    assert_eq!((sizing.size, sizing.clear), (FIRST, Some(false)));
    let small = Known { most: MIB.times(16), ..KNOWN };
    let (sizing, _) = look(&small, |hop| load_ns(lru_hits, 32.0, &hop));
    assert_eq!((sizing.first, sizing.size, sizing.clear), (MIB.times(16), MIB.times(16), Some(false)));
}

/// Returns the number of passes over a working set, the settled ratio and true if a cache serves the set; `ratio` gives
/// the ratio of steady walk to first pass for each pass in turn.
fn settled(mut ratio: impl FnMut() -> f64) -> (usize, f64, Option<bool>) {
    let (mut passes, mut now) = (0, f64::NAN);
    let latency = |hop: Hop| {
        if hop.laps == 0.0 && passes == 0 {
            (passes, now) = (1, ratio());
        } else if hop.laps >= 1.0 {
            passes = 0;
        }
        MEMORY_NS * if hop.laps < 1.0 { 1.0 } else { now }
    };
    let mut fake = Fake::new(&Budget::DEFAULT.rewritten(1), latency);
    let mut search = Search {
        place: &mut fake,
        like: LIKE,
        known: KNOWN,
        until_ns: f64::INFINITY,
        fastest_ns: f64::INFINITY,
    };
    let (look, served) = search.settled(FIRST).unwrap().unwrap();
    (fake.visits.len(), look.ratio, served)
}

/// Returns ratios of passes with noise between passes and no noise within one.
fn noisy(ratio: f64, deviation: f64, seed: u64) -> impl FnMut() -> f64 {
    let mut rng = Pcg32::new(seed, 3);
    move || {
        let normal = (0..12).map(|_| f64::from(rng.next_u32()) / f64::from(u32::MAX)).sum::<f64>() - 6.0;
        ratio + deviation * normal
    }
}

#[test]
fn passes_are_repeated_until_they_agree() {
    let of = |ratios: &[f64]| {
        let mut ratios = ratios.iter().copied();
        let (passes, ratio, served) = settled(|| ratios.next().expect("a pass more than there should be"));
        (passes, (ratio * 1000.0).round() / 1000.0, served)
    };
    // One clear pass is never enough; two suffice if they agree.
    assert_eq!(of(&[0.998, 1.002]), (2, 1.0, Some(false)));
    assert_eq!(of(&[0.99, 1.03, 1.0, 1.01]), (4, 1.008, Some(false)));
    // A clear share of hits needs two passes, a small share needs more.
    assert_eq!(of(&[0.6, 0.6]), (2, 0.6, Some(true)));
    assert_eq!(of(&[0.88, 0.9, 0.89, 0.89]).2, Some(true));
    assert_eq!(of(&[0.95; 5]), (4, 0.95, Some(true)));
    // One disturbed pass among many.
    assert_eq!(of(&[1.0, 0.7, 1.0, 1.0, 1.0, 1.0, 1.0]), (7, 0.957, None));
    assert_eq!(of(&[0.983; 7]), (7, 0.983, None));
}

#[test]
fn one_noisy_pass_neither_ends_a_search_nor_causes_a_warning() {
    const RUNS: u64 = 1000;
    let count = |ratio, deviation, is: fn((usize, f64, Option<bool>)) -> bool| {
        (0..RUNS).filter(|seed| is(settled(noisy(ratio, deviation, *seed)))).count()
    };
    for deviation in [0.03, 0.05] {
        let clear = count(0.95, deviation, |(.., served)| served == Some(false));
        assert!(clear <= 40, "{clear} of {RUNS} sets with hits are clear at {deviation}");
        let served = count(1.0, deviation, |(.., served)| served == Some(true));
        assert!(served <= 1, "{served} of {RUNS} sets without hits are served at {deviation}");
    }
    // On a steadier machine, 3 to 5 % of hits are distinguished from none, and sets without hits need few passes.
    for ratio in [0.95, 0.97] {
        let found = count(ratio, 0.002, |(.., served)| served == Some(true));
        assert!(found >= 800, "{found} of {RUNS} at {ratio}");
        assert_eq!(count(ratio, 0.01, |(.., served)| served == Some(false)), 0, "{ratio}");
    }
    assert!(count(1.0, 0.005, |(passes, _, served)| passes <= 3 && served == Some(false)) >= 950);
}

#[test]
fn the_latency_of_the_found_cache_gives_its_share_of_hits() {
    // Memory behind CXL, fast client memory, and local memory of a server.
    for hit_ns in [12.0, 25.0, 40.0] {
        let (sizing, _) = look(&Known { reported: Some(MIB.times(300)), ..KNOWN }, |hop| {
            let size = hop.nodes as f64 * 64.0;
            match hop.laps < 1.0 {
                true => MEMORY_NS,
                false if size <= MIB.0 as f64 => 5.0,
                false => MEMORY_NS - random_hits(96.0 * MIB.0 as f64, size) * (MEMORY_NS - hit_ns),
            }
        });
        let cache = sizing.cache.unwrap().0 as f64 / MIB.0 as f64;
        assert!((87.0..106.0).contains(&cache), "{cache} MiB for 96, hits of {hit_ns} ns");
    }
}

/// Noise of 8 % between passes, which no number of passes resolves: the last-level cache is still searched for.
#[test]
fn a_search_without_a_verdict_leaves_time_for_the_cache() {
    let mut noise = noisy(1.0, 0.08, 1);
    let (mut level, mut until_ns) = (1.0, 0.0);
    let known = Known { reported: Some(MIB.times(300)), limit_ns: 2e9, ..KNOWN };
    let (sizing, seconds) = look(&known, |hop| {
        while hop.now_ns >= until_ns {
            (level, until_ns) = (noise(), until_ns + 50e6);
        }
        // Memory of 330 ns: a pass lasts a quarter of a second, and the search 0.8 s.
        load_ns(lru_hits, 12.0, &hop) * level * 3.3
    });
    assert_eq!((sizing.clear, sizing.cache_sought), (None, true), "{seconds} s");
    assert!(sizing.cache.unwrap() <= MIB.times(24) && seconds < 2.1, "{seconds} s, {:?}", sizing.cache);
}

#[test]
fn the_time_of_a_search_is_limited() {
    let mut fake = Fake::new(&Budget::DEFAULT.rewritten(1), |_| 10_000.0);
    assert_eq!(search(&mut fake, &LIKE, &KNOWN).unwrap(), None);
    assert!(fake.now_ns < 1.1 * KNOWN.limit_ns, "{} s", fake.now_ns / 1e9);
}

/// Memory without a cache, with noise that stays the same for some 50 ms: 2 %, and bursts.
#[test]
fn noise_does_not_double_the_working_set() {
    let mut doubled = 0;
    for seed in 0..100 {
        let mut rng = Pcg32::new(seed, 1);
        let (mut level, mut burst, mut until_ns) = (0.0, 0.0, 0.0);
        let (sizing, _) = look(&KNOWN, |hop| {
            let mut uniform = || f64::from(rng.next_u32()) / f64::from(u32::MAX);
            while hop.now_ns >= until_ns {
                let normal: f64 = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
                level = 0.6 * level + 0.016 * normal;
                burst = if uniform() < 0.02 { 0.3 * uniform() } else { 0.0 };
                until_ns += 25e6;
            }
            load_ns(lru_hits, 24.0, &hop) * (1.0 + level + burst)
        });
        doubled += u32::from(sizing.size > FIRST);
    }
    assert!(doubled <= 2, "{doubled} of 100");
}

/// The same noise does not hide the hits of a large cache.
#[test]
fn noise_does_not_hide_hits() {
    let (mut doubled, mut clear) = (0, 0);
    for seed in 0..40 {
        let mut rng = Pcg32::new(seed, 2);
        let (sizing, _) = look(&KNOWN, |hop| {
            let normal = (0..12).map(|_| f64::from(rng.next_u32()) / f64::from(u32::MAX)).sum::<f64>() - 6.0;
            load_ns(random_hits, 105.0, &hop) * (1.0 + 0.02 * normal)
        });
        doubled += u32::from(sizing.size >= MIB.times(512) && sizing.clear != Some(false));
        clear += u32::from(sizing.clear == Some(true));
    }
    // Half a percent of hits remains at that size, so not every search can decide.
    assert!(doubled >= 39 && clear >= 34, "{doubled} and {clear} of 40");
}
