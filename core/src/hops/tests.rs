//! Tests of the analysis on known distributions.

use super::*;
use proptest::prelude::*;
use std::vec::Vec;

/// A simulated memory with refresh and interrupts: its median, its tail, and the frequency of each.
struct Memory {
    hops: Tally,
    histogram: Histogram,
    random: Pcg32,
}

impl Memory {
    fn new(count: u32) -> Memory {
        let mut memory = Memory { hops: Tally::EMPTY, histogram: Histogram::EMPTY, random: Pcg32::new(7, 7) };
        memory.add(count, 380, 200);
        memory.add(count / 20, 700, 400);
        memory
    }

    fn add(&mut self, count: u32, least: u32, spread: u32) {
        for _ in 0..count {
            let value = u64::from(least + self.random.below(spread));
            self.hops.record(value);
            self.histogram.record(value);
        }
    }
}

fn sample(histogram: &Histogram, below: Option<u64>, step: u64) -> Sample<'_> {
    Sample { histogram, below, step, overhead: 0.0, entries: 0.0 }
}

fn gaps(count: u32, least: u32, spread: u32) -> Tally {
    let (mut gaps, mut random) = (Tally::EMPTY, Pcg32::new(3, 9));
    for _ in 0..count {
        gaps.record(u64::from(least + random.below(spread)));
    }
    gaps
}

#[test]
fn hops_as_frequent_as_gaps_without_memory_are_interrupted() {
    let mut memory = Memory::new(200_000);
    memory.add(40, 20_000, 40_000);
    let gaps = gaps(35, 15_000, 30_000);
    let watch = Watch { gaps: &gaps, exposure: 1.0, switches: 0 };
    let from = interrupted_from(&memory.hops, 480, &watch).unwrap();
    assert!((1_100..=16_384).contains(&from), "{from}");
    assert_eq!(memory.hops.count_from(from), 40);
}

#[test]
fn a_long_tail_that_is_more_frequent_than_gaps_is_caused_by_memory() {
    let mut memory = Memory::new(200_000);
    memory.add(400, 20_000, 4_000);
    memory.add(30, 200_000, 40_000);
    let gaps = gaps(30, 150_000, 90_000);
    let watch = Watch { gaps: &gaps, exposure: 1.0, switches: 0 };
    let from = interrupted_from(&memory.hops, 480, &watch).unwrap();
    assert!((24_000..=196_608).contains(&from), "{from}");
    assert_eq!(memory.hops.count_from(from), 30);
}

#[test]
fn context_switches_explain_hops_without_a_matching_gap() {
    let mut memory = Memory::new(200_000);
    memory.add(12, 9_000_000, 1_000_000);
    let none = Tally::EMPTY;
    let watch = |switches| Watch { gaps: &none, exposure: 1.0, switches };
    assert_eq!(
        interrupted_from(&memory.hops, 480, &watch(0)),
        None,
        "hops without gaps or switches belong to memory"
    );
    let from = interrupted_from(&memory.hops, 480, &watch(12)).unwrap();
    assert_eq!(memory.hops.count_from(from), 12);
    assert!((watch(12).expected(1 << 30) - 12.0).abs() < 1e-9);
}

#[test]
fn gaps_explain_hops_of_the_same_length_and_of_half_an_octave_more() {
    let explained = |hop: u32, gap: u32| {
        let mut memory = Memory::new(200_000);
        memory.add(30, hop, 500);
        let gaps = gaps(30, gap, 500);
        let watch = Watch { gaps: &gaps, exposure: 1.0, switches: 0 };
        interrupted_from(&memory.hops, 480, &watch).is_some()
    };
    assert!(explained(70_000, 70_000));
    assert!(explained(70_000, 55_000));
    assert!(!explained(1_000_000, 20_000), "no gap has this length");
}

#[test]
fn without_long_hops_nothing_is_interrupted() {
    let memory = Memory::new(1000);
    let gaps = gaps(50, 20_000, 20_000);
    let watch = Watch { gaps: &gaps, exposure: 2.0, switches: 0 };
    assert_eq!(interrupted_from(&memory.hops, 600, &watch), None);
}

#[test]
fn planted_percentiles_are_found_through_interruptions() {
    let (base, hundredth, thousandth) = (10_000, 30_000, 90_000);
    let mut memory = Memory { hops: Tally::EMPTY, histogram: Histogram::EMPTY, random: Pcg32::new(7, 7) };
    for hop in 1u32..=250_000 {
        let value = base
            + if hop % 40 == 0 { hundredth - base } else { 0 }
            + if hop % 400 == 0 { thousandth - hundredth } else { 0 };
        memory.add(1, value, 40);
    }
    memory.add(25, 1_000_000, 1_000_000);
    let gaps = gaps(25, 800_000, 1_000_000);
    let watch = Watch { gaps: &gaps, exposure: 1.0, switches: 0 };
    let below = interrupted_from(&memory.hops, 10_000, &watch);
    for (percent, truth) in [(50.0, base), (95.0, base), (99.0, hundredth), (99.9, thousandth)] {
        let found = sample(&memory.histogram, below, 26).percentile(percent).unwrap();
        assert!((found / f64::from(truth) - 1.0).abs() < 0.005, "p{percent}: {found}, planted {truth}");
    }
    let most = maximum(&memory.histogram, below).unwrap();
    assert!((90_000..91_000).contains(&most), "{most}");
}

#[test]
fn a_coarse_counter_is_interpolated() {
    // Uniform between 400 and 500, rounded to steps of 26 by a counter of random phase.
    let (mut histogram, mut random) = (Histogram::EMPTY, Pcg32::new(5, 1));
    for _ in 0..100_000 {
        let start = u64::from(random.below(2600));
        let end = start + 400 + u64::from(random.below(100));
        histogram.record(end / 26 * 26 - start / 26 * 26);
    }
    for (percent, truth) in [(25.0, 425.0), (50.0, 450.0), (75.0, 475.0)] {
        let found = sample(&histogram, None, 26).percentile(percent).unwrap();
        assert!((found - truth).abs() < 4.0, "p{percent}: {found}");
    }
}

/// Simulates hops, with every 100th and every 1000th slower, while the kernel is entered `entries` times per tick.
fn steps(hops: u32, entries: f64) -> Memory {
    let mut memory = Memory { hops: Tally::EMPTY, histogram: Histogram::EMPTY, random: Pcg32::new(9, 4) };
    for hop in 1..=hops {
        let value =
            30_000 + if hop % 100 == 0 { 60_000 } else { 0 } + if hop % 1000 == 0 { 140_000 } else { 0 };
        // A hop is recorded only if the kernel was not entered during it.
        if f64::from(memory.random.below(1 << 20)) / f64::from(1 << 20) >= entries * f64::from(value) {
            memory.add(1, value, 300);
        }
    }
    memory
}

#[test]
fn a_percentile_on_a_step_is_on_the_slower_side() {
    let memory = steps(245_760, 0.0);
    let quantile = |percent| sample(&memory.histogram, None, 1).quantile(percent).unwrap();
    for (percent, truth, on_step) in
        [(50.0, 30_000.0, false), (95.0, 30_000.0, false), (99.0, 90_000.0, true), (99.9, 230_000.0, true)]
    {
        let found = quantile(percent);
        assert!((found.value / truth - 1.0).abs() < 0.015, "p{percent}: {found:?}");
        assert_eq!(found.on_step, on_step, "p{percent}: {found:?}");
        assert!(found.low <= found.value && found.value <= found.high, "p{percent}: {found:?}");
    }
    assert!((quantile(99.9).low / 90_000.0 - 1.0).abs() < 0.015 && quantile(99.99).low > 229_000.0);
}

#[test]
fn hops_that_interrupts_hide_are_corrected_for() {
    // One interrupt in 2.6 million ticks loses 9 % of hops of 230000 ticks, more than the width of the interval of
    // a million hops.
    let entries = 1.0 / 2.6e6;
    let memory = steps(2_000_000, entries);
    let with = |entries| Sample { entries, ..sample(&memory.histogram, None, 1) };
    let found = with(entries).quantile(99.9).unwrap();
    assert!(found.on_step && (found.value / 230_000.0 - 1.0).abs() < 0.015, "{found:?}");
    assert!(with(0.0).quantile(99.9).unwrap().value < 100_000.0, "without a correction the tail is lost");
    let truth = 30_000.0 + 600.0 + 140.0 + 150.0;
    let mean = memory.hops.weighted_mean(None, |ticks| weight(ticks, entries)).unwrap();
    assert!((mean / truth - 1.0).abs() < 0.000_7, "{mean}, {truth}");
    assert!((memory.hops.mean_below(None).unwrap() / truth - 1.0) < -0.000_8);
}

#[test]
fn a_sparse_tail_and_a_coarse_counter_are_not_steps() {
    let mut memory = Memory::new(250_000);
    (0..40u32).for_each(|hop| memory.add(1, 1_100 + hop * 100, 10));
    let found = sample(&memory.histogram, None, 1).quantile(99.99).unwrap();
    assert!(found.high > 1.1 * found.low && !found.on_step, "{found:?}");
    assert!(found.low < found.value && found.value < found.high, "{found:?}");
    // There is no hop between the slowest of a few hops.
    let mut few = Histogram::EMPTY;
    (0..1000u64).for_each(|hop| few.record(400 + hop / 10));
    few.record(5_000);
    assert!(!sample(&few, None, 1).quantile(99.9).unwrap().on_step);
    // Two adjacent readings of a counter with coarse steps.
    let mut coarse = Histogram::EMPTY;
    (0..10_000u64).for_each(|hop| coarse.record(if hop < 9_000 { 260 } else { 312 }));
    assert!(!sample(&coarse, None, 52).quantile(90.0).unwrap().on_step);
    assert!(sample(&coarse, None, 4).quantile(90.0).unwrap().on_step);
    assert_eq!(sample(&Histogram::EMPTY, None, 1).quantile(50.0), None);
}

#[test]
fn the_interval_follows_order_statistics() {
    let mut histogram = Histogram::EMPTY;
    (0..10_000u64).for_each(|value| histogram.record(100_000 + value));
    let found = sample(&histogram, None, 1).quantile(50.0).unwrap();
    // 1.96 x sqrt(10000 / 4) = 98 ranks in each direction, to within the width of a bucket.
    assert!((found.high - found.low - 196.0).abs() < 20.0 && !found.on_step, "{found:?}");
}

#[test]
fn slow_hops_and_as_many_others_are_selected() {
    let log: Vec<Stamped> =
        (0..10_000).map(|at| Stamped { at, window: if at % 20 == 7 { 900 } else { 400 } }).collect();
    let (mut slow, mut others) = ([0; 1000], [0; 1000]);
    let (slow_count, other_count) = pick(&log, 800, Some(2000), &mut slow, &mut others);
    assert_eq!(slow_count, 500);
    assert!((400..600).contains(&other_count), "{other_count}");
    assert!(slow[..500].iter().all(|at| at % 20 == 7) && others[..other_count].is_sorted());
    assert_eq!(pick(&log, 800, Some(900), &mut slow, &mut others).0, 0, "all slow hops are interrupted");
    assert_eq!(pick(&log, 800, None, &mut slow[..3], &mut others).0, 3);
    assert_eq!(pick(&[], 800, None, &mut slow, &mut others), (0, 0));
}

proptest! {
    #[test]
    fn percentiles_ascend_and_stay_near_the_values(
        values in prop::collection::vec(0u64..1 << 20, 1..200), step in 1u64..100,
    ) {
        let mut histogram = Histogram::EMPTY;
        values.iter().for_each(|&value| histogram.record(value));
        let mut last = 0.0;
        for percent in [0.0, 1.0, 50.0, 90.0, 99.0, 99.9, 100.0] {
            let found = sample(&histogram, None, 1).percentile(percent).unwrap();
            prop_assert!(found >= last);
            last = found;
            let near = sample(&histogram, None, step).percentile(percent).unwrap();
            prop_assert!((near - found).abs() <= step as f64);
        }
        let largest = *values.iter().max().unwrap() as f64;
        prop_assert!((last - largest).abs() <= largest / 128.0 + 1.0);
        prop_assert_eq!(sample(&histogram, Some(0), step).percentile(50.0), None);
    }
}
