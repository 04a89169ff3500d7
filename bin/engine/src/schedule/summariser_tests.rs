//! Batches and rounds with known disturbances, and their summaries.

use std::vec::Vec;

use super::*;
use crate::seam::Walked;
use crate::tests::simulated::recorded_chain::RecordedChain;
use latency_sys::cpu;

fn batches(nanoseconds: &[f64]) -> Vec<Batch> {
    let batch = |&nanoseconds: &f64| Batch { nanoseconds, core_gigahertz: 3.0, hops: 1000, ..Batch::NONE };
    nanoseconds.iter().map(batch).collect()
}

/// Returns a round of those batches, each of `hops` hops.
fn judged(batches: &[Batch], hops: u64) -> Round {
    let mut summariser = Summariser::new().unwrap();
    let batches = summariser.batches.refill(batches.iter().copied());
    digest(batches, &mut summariser.scratch, hops)
}

#[test]
fn a_batch_three_microseconds_above_the_median_is_disturbed() {
    // With 1000 hops, the gap is 3 ns a hop.
    for (slow, disturbed) in [(103.0, 0), (103.1, 1), (97.0, 0), (20.0, 0)] {
        let round = judged(&batches(&[100.0, 100.0, 100.0, slow]), 1000);
        assert_eq!((round.batches, round.disturbed), (4, disturbed), "{slow} ns");
    }
    // With fewer hops, an interruption adds more to each hop; with more hops, it is hidden.
    for (hops, slow, disturbed) in [(10, 399.0, 0), (10, 401.0, 1), (0, 3099.0, 0), (0, 3101.0, 1)] {
        let round = judged(&batches(&[100.0, 100.0, 100.0, slow]), hops);
        assert_eq!(round.disturbed, disturbed, "{slow} ns of {hops} hops");
    }
    // If batches scatter, the bound is ten deviations: the median is 100, and half of all batches are within 2 of it.
    for (slow, disturbed) in [(119.0, 0), (121.0, 1)] {
        let round = judged(&batches(&[96.0, 98.0, 100.0, 102.0, slow]), 1000);
        assert_eq!(round.disturbed, disturbed, "{slow} ns");
    }
}

#[test]
fn disturbed_batches_count_only_if_all_are_disturbed() {
    let mut some = batches(&[100.0, 100.0, 100.0, 90.0, 90.0]);
    some[3].preempted = true;
    some[4].preempted = true;
    let round = judged(&some, 1000);
    assert_eq!((round.nanoseconds, round.core_cycles, round.disturbed), (100.0, 300.0, 2));
    assert_eq!((round.minimum_ns, round.core_gigahertz), (90.0, 3.0));
    let mut all = batches(&[100.0, 100.0, 100.0]);
    all.iter_mut().for_each(|batch| batch.preempted = true);
    let round = judged(&all, 1000);
    assert_eq!((round.nanoseconds, round.disturbed), (100.0, 3));
    // A batch during which the clock stepped back has no time.
    let round = judged(&batches(&[100.0, f64::NAN, 100.0]), 1000);
    assert_eq!((round.nanoseconds, round.stepped_back, round.disturbed), (100.0, 1, 1));
    assert!(judged(&batches(&[f64::NAN]), 1000).nanoseconds.is_nan());
}

#[test]
fn generator_disturbances_are_counted_and_the_batches_kept() {
    let mut some = batches(&[100.0, 90.0, 100.0, 100.0]);
    some[1].throttled = true;
    (some[2].unsettled, some[3].unsettled) = (true, true);
    let round = judged(&some, 1000);
    assert_eq!((round.throttled, round.unsettled, round.disturbed), (1, 2, 0));
    let series =
        Summariser::new().unwrap().summarise(&[round, round, judged(&batches(&[100.0]), 1000)]).unwrap();
    assert_eq!((series.throttled, series.unsettled, series.batches), (2, 4, 9));
}

#[test]
fn the_share_of_a_state_needs_ten_batches() {
    let of = |count: usize| judged(&batches(&[100.0; 12][..count]), 1000).state_share;
    assert!(of(9).is_nan());
    assert_eq!((of(10), of(12)), (1.0, 1.0));
}

#[test]
fn a_round_ends_by_its_batches_its_limit_or_the_deadline() {
    let round = |count: u32, limit_ns: f64, until_ns: f64| {
        let mut chain = RecordedChain::new(1 << 20, 100.0);
        let round =
            Summariser::new().unwrap().round(&mut chain, (0, 100), count, limit_ns, until_ns).unwrap();
        (round.batches, round.begun_ns, round.ended_ns)
    };
    // A batch lasts 10 us.
    assert_eq!(round(7, f64::INFINITY, f64::INFINITY), (7, 0.0, 7e4));
    assert_eq!(round(0, f64::INFINITY, f64::INFINITY), (1, 0.0, 1e4));
    assert_eq!(round(u32::MAX, f64::INFINITY, f64::INFINITY).0, MOST_BATCHES as u32);
    assert_eq!(round(7, 2e4, f64::INFINITY).0, 2);
    assert_eq!(round(7, 2.1e4, f64::INFINITY).0, 3);
    assert_eq!(round(7, f64::INFINITY, 2e4).0, 2);
    // The batch that the time limit ends early is the last, and only its completed hops count.
    assert_eq!(round(7, f64::INFINITY, 2.5e4), (3, 0.0, 2.5e4));
    assert_eq!(round(7, f64::INFINITY, -1.0), (1, 0.0, 100.0));
}

#[test]
fn the_uncore_clock_is_read_at_the_end_of_a_round() {
    let mut summariser = Summariser::new().unwrap();
    let mut round = |chain: RecordedChain| {
        summariser
            .round(&mut chain.on_uncore(|now_ns| 1.0 + now_ns / 1e5), (0, 100), 7, f64::INFINITY, 1e9)
            .unwrap()
    };
    let (short, long) =
        (round(RecordedChain::new(1 << 20, 100.0)), round(RecordedChain::new(1 << 20, 200.0)));
    assert_eq!((short.uncore_gigahertz, long.uncore_gigahertz), (1.7, 2.4));
    let unread =
        summariser.round(&mut RecordedChain::new(1 << 20, 100.0), (0, 100), 7, f64::INFINITY, 1e9).unwrap();
    assert!(unread.uncore_gigahertz.is_nan());
    let of = |summariser: &mut Summariser, rounds: &[Round]| {
        summariser.summarise(rounds).unwrap().uncore_gigahertz
    };
    assert_eq!(of(&mut summariser, &[long, unread, short, long]), Some(2.4));
    assert_eq!(of(&mut summariser, &[unread, unread]), None);
}

#[test]
fn the_later_half_of_parts_counts() {
    let later_half = |parts: &[f64]| {
        let mut summariser = Summariser::new().unwrap();
        for (index, &part) in parts.iter().enumerate() {
            summariser.note(index, part);
        }
        summariser.later_half(parts.len())
    };
    assert_eq!(later_half(&[]), None);
    assert_eq!(later_half(&[300.0]), Some(300.0));
    // The earlier half agrees better, and does not count.
    assert_eq!(later_half(&[300.0, 300.0, 300.0, 98.0, 100.0, 102.0]), Some(100.0));
    let many = |count: usize| -> Vec<f64> {
        let slow = |index: usize| index < count / 2;
        (0..count).map(|index| if slow(index) { 300.0 } else { 100.0 + (index % 2) as f64 * 0.001 }).collect()
    };
    for count in [MOST_BATCHES, MOST_BATCHES + 1, 2 * MOST_BATCHES] {
        let found = later_half(&many(count)).unwrap();
        assert!((found - 100.0).abs() < 0.01, "{found} of {count}");
    }
}

#[test]
fn a_lone_batch_is_disturbed_if_it_exceeds_other_rounds() {
    let rounds = |batches: u32, last: f64| -> Vec<Round> {
        let round = |index: usize| Round {
            nanoseconds: if index == 9 { last } else { 100.0 },
            minimum_ns: 90.0 - index as f64,
            maximum_ns: 110.0 + index as f64,
            batches,
            begun_ns: index as f64 * 1000.0,
            ended_ns: index as f64 * 1000.0 + 500.0,
            ..Round::default()
        };
        (0..10).map(round).collect()
    };
    let mut summariser = Summariser::new().unwrap();
    // A round of one or two batches is disturbed if it is slower by more than a tenth.
    for (batches, last, disturbed) in
        [(1, 111.0, 1), (2, 111.0, 2), (3, 111.0, 0), (1, 109.0, 0), (1, 50.0, 0)]
    {
        let series = summariser.summarise(&rounds(batches, last)).unwrap();
        assert_eq!(series.disturbed, disturbed, "{batches} batches, {last} ns");
        assert_eq!((series.batches, series.stepped_back), (10 * u64::from(batches), 0));
        assert_eq!((series.window_ns, series.minimum_ns), (9500.0, 81.0));
    }
    // A disturbance that the round itself detected is not counted twice.
    let mut own = rounds(2, 150.0);
    own[9].disturbed = 1;
    own[3].stepped_back = 1;
    let series = summariser.summarise(&own).unwrap();
    assert_eq!((series.disturbed, series.stepped_back), (1, 1));
    // In scattered rounds, a round within ten deviations is not disturbed: half of these are within 2 of 100.
    let mut scattered = rounds(1, 100.0);
    for (index, round) in scattered.iter_mut().enumerate() {
        round.nanoseconds = 100.0 + 2.0 * (index % 3) as f64 - 2.0;
    }
    for (last, disturbed) in [(118.0, 0), (140.0, 1)] {
        scattered[9].nanoseconds = last;
        assert_eq!(summariser.summarise(&scattered).unwrap().disturbed, disturbed, "{last} ns");
    }
    assert!(summariser.summarise(&[]).is_none());
}

#[test]
fn batches_without_a_core_clock_get_the_mean_of_their_neighbours() {
    let filled = |clocks: &[f64]| {
        let mut batches: Vec<Batch> =
            clocks.iter().map(|&core_gigahertz| Batch { core_gigahertz, ..Batch::NONE }).collect();
        fill_clocks(&mut batches);
        batches.iter().map(|batch| batch.core_gigahertz).collect::<Vec<f64>>()
    };
    const UNREAD: f64 = f64::NAN;
    assert_eq!(filled(&[UNREAD, 3.0, UNREAD, UNREAD, 2.0, 4.0, UNREAD]), [3.0, 3.0, 2.5, 2.5, 2.0, 4.0, 4.0]);
    assert!(filled(&[UNREAD, UNREAD]).iter().all(|clock| clock.is_nan()) && filled(&[]).is_empty());
}

/// A chain that needs no memory, with the page faults of this thread.
struct WithoutMemory;

impl Walkable for WithoutMemory {
    fn nodes(&self) -> u64 {
        1000
    }

    fn lanes(&self) -> Option<usize> {
        None
    }

    fn walk(&mut self, hops: u64, _: f64) -> Attempt<Walked> {
        Ok((hops, 100.0 * hops.real()))
    }

    fn batch(&mut self, hops: u64, _: f64) -> Attempt<Batch> {
        Ok(Batch { nanoseconds: 100.0, hops, ..Batch::NONE })
    }

    fn batch_ns(&self) -> f64 {
        1e5
    }

    fn software(&mut self) -> Software {
        let usage = cpu::thread_usage().unwrap();
        Software { faults: (usage.minor_faults, usage.major_faults), ..Software::default() }
    }
}

#[test]
fn batches_are_kept_without_page_faults() {
    let mut summariser = Summariser::new().unwrap();
    let mut faults = |batches: usize| {
        let (most, forever) = (batches as u32, f64::INFINITY);
        let round = summariser.round(&mut WithoutMemory, (0, 1000), most, forever, forever).unwrap();
        assert_eq!(round.batches, most);
        round.software.faults.0
    };
    // The first round brings in the pages of the code.
    faults(1);
    let all = faults(MOST_BATCHES);
    assert!(all < (MOST_BATCHES * size_of::<Batch>() / 4096) as u64 / 2, "{all} faults");
}
