//! Runs in simulated time, over memory of known latency.

use crate::tests::outcome::POINT;
use core::ops::DerefMut;
use std::boxed::Box;
use std::vec::Vec;

use latency_core::kernel::lanes;
use latency_core::{Bytes, CpuId, Pages};

use super::*;
use crate::budget::{FEWEST_ROUNDS, MOST_ROUNDS, PLACES, ROUNDS};
use crate::error::MeasureError;
use crate::tests::simulated::place::{Fake, Hop, Visit};
use latency_core::words::When;

/// Size of memory far larger than any cache that the warm-up fills.
const SIZE: Bytes = Bytes(64 << 20);
/// Nanoseconds of a curve's budget for one point.
const SHARE_NS: f64 = 0.3e9;

pub fn point(size: Bytes) -> Point {
    Point { size, pages: Pages::AUTO, ..POINT }
}

/// Returns points that differ in their sizes.
pub fn points(count: u64) -> impl Iterator<Item = Point> + Clone {
    (0..count).map(|index| point(Bytes(SIZE.0 + 64 * index)))
}

fn rewritten() -> Budget {
    Budget::DEFAULT.rewritten(PLACES)
}

/// Runs `points` whose hops have the latency that `latency` returns.
pub fn run<F: FnMut(Hop) -> f64>(
    budget: Budget,
    points: impl Iterator<Item = Point> + Clone,
    latency: F,
) -> (Schedule<Box<Fake<F>>>, bool) {
    run_until(f64::INFINITY, budget, points, latency)
}

/// Runs points with an interrupt; returns true if the run was interrupted.
fn run_until<F: FnMut(Hop) -> f64>(
    interrupt_ns: f64,
    budget: Budget,
    points: impl Iterator<Item = Point> + Clone,
    latency: F,
) -> (Schedule<Box<Fake<F>>>, bool) {
    let mut fake = Fake::new(&budget, latency);
    fake.interrupt_ns = interrupt_ns;
    let mut schedule = Schedule::new(Box::new(fake), budget, &point(SIZE), points).unwrap();
    let ended = schedule.run(&mut Progress::new(When::Never));
    assert!(matches!(ended, Ok(()) | Err(MeasureError::Interrupted)));
    (schedule, ended.is_err())
}

fn rounds<A: DerefMut<Target: Place>>(schedule: &mut Schedule<A>) -> Vec<usize> {
    (0..schedule.count()).map(|index| schedule.entries[index].state.rounds).collect()
}

fn median<A: DerefMut<Target: Place>>(schedule: &mut Schedule<A>, index: usize) -> f64 {
    schedule.series(index).map_or(f64::NAN, |(_, series)| series.nanoseconds.median)
}

/// Returns numbers around one, uniform within `width` of it.
fn noise(seed: u64, width: f64) -> impl FnMut() -> f64 {
    let mut rng = Pcg32::new(seed, 7);
    move || 1.0 + width * (f64::from(rng.next_u32()) / f64::from(u32::MAX) * 2.0 - 1.0)
}

#[test]
fn a_point_stops_when_it_is_precise_and_not_before() {
    let mut quiet = noise(1, 0.001);
    let (mut schedule, _) = run(Budget::DEFAULT, points(1), |_| 100.0 * quiet());
    assert_eq!(rounds(&mut schedule), [ROUNDS]);
    // If visits are long, fewer rounds are enough.
    let budget = Budget { long_visit_ns: 1e6, ..rewritten() };
    let (mut schedule, _) = run(budget, points(2), |_| 100.0 * quiet());
    assert_eq!(rounds(&mut schedule), [FEWEST_ROUNDS; 2]);
    // Imprecise points continue: each round is off by up to a tenth.
    let mut place = noise(2, 0.1);
    let (mut offset, mut last) = (1.0, 0);
    let (mut schedule, _) = run(rewritten(), points(1), |hop| {
        if hop.place != last {
            (last, offset) = (hop.place, place());
        }
        100.0 * offset
    });
    let made = rounds(&mut schedule)[0];
    assert!(made > ROUNDS, "{made}");
    assert!(schedule.entries[0].state.spent_ns > 9e9 || schedule.series(0).unwrap().1.is_precise(0.01));
}

#[test]
fn points_stop_at_the_maximum_number_of_rounds() {
    let mut wild = noise(3, 0.5);
    let mut factor = 1.0;
    let budget = Budget { most: 40, point_ns: 1e12, ..rewritten() };
    let (mut schedule, _) = run(budget, points(3), |hop| {
        if hop.laps == 0.0 {
            factor = wild();
        }
        100.0 * factor
    });
    assert_eq!(rounds(&mut schedule), [40; 3]);
}

#[test]
fn the_time_limit_holds_within_trials_and_warm_up() {
    let limit = Budget { point_ns: 2e8, bounded: true, ..Budget::DEFAULT };
    let endless = [
        Budget { iters: Some(1 << 32), trials: Some(2), ..limit },
        Budget { warm_up: Some(u64::MAX), ..limit },
        Budget { warm_up: Some(u64::MAX), trials: Some(3), ..limit },
        Budget { iters: Some(u64::MAX), ..Budget { bounded: false, ..limit } },
    ];
    for budget in endless.into_iter().flat_map(|budget| [budget, budget.rewritten(PLACES)]) {
        let (schedule, _) = run(budget, points(1), |_| 150.0);
        let now_ns = schedule.place.now_ns;
        assert!(now_ns < 2.6e8, "{now_ns} {budget:?}");
        let (mut schedule, made) = (schedule, 1);
        // The point has a value from the hops that were made.
        let (entry, series) = schedule.series(0).unwrap();
        assert!(entry.state.rounds >= made && (series.nanoseconds.median - 150.0).abs() < 1e-6);
    }
    // If the user gave the number of trials and no limit, all are made, however long they last.
    let asked = Budget { iters: Some(1 << 20), trials: Some(100), point_ns: 1e9, ..Budget::DEFAULT };
    let (schedule, _) = run(asked, points(1), |_| 150.0);
    assert_eq!(schedule.entries[0].state.trials, 100);
}

// 16 MiB of lines of 20 us each, in six seconds: a whole pass would last five of them.
#[test]
fn a_first_pass_over_slow_memory_leaves_time_for_an_interval() {
    let budget = Budget { point_ns: 6e9, bounded: true, ..Budget::DEFAULT };
    let sizes = [Bytes(16 << 20), Bytes((16 << 20) + 64)];
    let (mut schedule, _) = run(budget, sizes.into_iter().map(point), |_| 20e3);
    assert!(schedule.place.now_ns < 13e9, "{}", schedule.place.now_ns);
    assert!(rounds(&mut schedule).iter().all(|&made| made >= FEWEST_ROUNDS), "{:?}", rounds(&mut schedule));
    let (_, series) = schedule.series(0).unwrap();
    assert!(series.nanoseconds.interval.is_some());
}

#[test]
fn rewriting_a_chain_counts_as_time_of_the_point() {
    let budget = Budget { point_ns: 1e9, bounded: true, precision: 0.0, ..rewritten() };
    // Writing the chain of each visit lasts 0.64 s, as with elements of four bytes.
    let mut fake = Fake::new(&budget, |_| 150.0);
    fake.byte_ns = 0.64e9 / SIZE.0 as f64;
    let mut schedule = Schedule::new(Box::new(fake), budget, &point(SIZE), points(4)).unwrap();
    schedule.run(&mut Progress::new(When::Never)).unwrap();
    assert!(schedule.place.now_ns < 4.0 * 2e9, "{}", schedule.place.now_ns);
    assert_eq!(rounds(&mut schedule), [2; 4]);
}

#[test]
fn time_between_batches_counts_as_time_of_the_point() {
    let budget = Budget { point_ns: 0.1e9, bounded: true, precision: 0.0, ..Budget::DEFAULT };
    let mut loud = noise(4, 0.05);
    let (schedule, _) = run(budget, points(8), |_| 150.0 * loud());
    let spent: f64 = schedule.entries.iter().map(|entry| entry.state.spent_ns).sum();
    let now_ns = schedule.place.now_ns;
    assert!((now_ns - spent).abs() < 0.01 * now_ns, "{spent} of {now_ns}");
    // A visit that has begun is completed: a warm-up of a hundredth and a round of two shares.
    assert!(now_ns < 8.0 * 0.13e9, "{now_ns}");
}

#[test]
fn every_round_visits_all_points_in_a_new_order() {
    let (schedule, _) = run(Budget::DEFAULT, points(12), |_| 100.0);
    let visits: Vec<usize> = schedule.place.visits.iter().map(|visit| visit.index).collect();
    let rounds: Vec<&[usize]> = visits.chunks(12).collect();
    assert_eq!(rounds.len(), ROUNDS);
    for round in &rounds {
        let mut sorted = round.to_vec();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..12), "{round:?}");
    }
    let mut distinct = rounds.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), rounds.len());
    // No point always has the same predecessor.
    let before: Vec<usize> = rounds
        .iter()
        .filter_map(|round| round.windows(2).find(|two| two[1] == 5).map(|two| two[0]))
        .collect();
    assert!(before.iter().any(|&one| one != before[0]), "{before:?}");
}

#[test]
fn points_with_equal_lane_counts_are_visited_in_a_row() {
    let lanes = [1, 4, 4, 2, 4, 2].map(|lanes| lanes::parallel(lanes).unwrap());
    let points = lanes.into_iter().map(|kernel| Point { walk: Walk::Lanes(kernel), ..point(SIZE) });
    let budget = Budget { trail: 1 << 16, ..Budget::DEFAULT };
    let (schedule, _) = run(budget, points, |_| 100.0);
    for round in schedule.place.visits.chunks(6) {
        let walked: Vec<usize> = round.iter().map(|visit| lanes[visit.index].lanes()).collect();
        assert_eq!(walked.chunk_by(|one, other| one == other).count(), 3, "{walked:?}");
    }
}

#[test]
fn an_interrupt_keeps_the_rounds_so_far() {
    let budget = Budget { trials: Some(150), iters: Some(1000), ..Budget::DEFAULT };
    let (whole, interrupted) = run(budget, points(4), |_| 100.0);
    assert!(!interrupted);
    let ended = whole.place.now_ns;
    for part in [0.0, 0.01, 0.3, 0.7, 0.999] {
        let (mut schedule, interrupted) = run_until(ended * part, budget, points(4), |_| 100.0);
        assert!(interrupted, "{part}");
        // No hops follow the interrupt.
        assert!(schedule.place.now_ns < ended * part + 1e6, "{part}");
        let made = rounds(&mut schedule);
        let (least, most) = (*made.iter().min().unwrap(), *made.iter().max().unwrap());
        assert!(most - least <= 1 && most <= ROUNDS && least < ROUNDS, "{part} {made:?}");
        for (index, made) in made.into_iter().enumerate() {
            assert_eq!(schedule.series(index).is_some(), made > 0, "{part}");
        }
    }
}

#[test]
fn an_interrupt_ends_warm_ups_of_any_length() {
    // A lap lasts 0.2 s; a requested warm-up never ends.
    let large = || (0..3).map(|index| point(Bytes((64 << 20) + 64 * index)));
    for warm_up in [None, Some(u64::MAX)] {
        for budget in [Budget::DEFAULT, rewritten()] {
            for ended in [0.0, 3e6, 0.15e9, 0.7e9] {
                let budget = Budget { warm_up, ..budget };
                let (mut schedule, interrupted) = run_until(ended, budget, large(), |_| 200.0);
                assert!(interrupted && schedule.place.now_ns < ended + 1e7, "{warm_up:?} {ended}");
                let made: usize = rounds(&mut schedule).iter().sum();
                assert!(warm_up.is_none() || made == 0, "{made} rounds without a warm-up");
            }
        }
    }
}

#[test]
fn all_points_get_an_interval_before_time_is_up() {
    // 20 points in 6 s; a visit to a large one lasts 40 ms and more.
    let budget = Budget { share_ns: SHARE_NS, precision: 1e-6, ..rewritten() };
    let mut unsteady = noise(5, 0.02);
    let (mut schedule, _) = run(budget, points(20), |_| 120.0 * unsteady());
    let now_ns = schedule.place.now_ns;
    assert!(now_ns > 20.0 * SHARE_NS && now_ns < 20.0 * SHARE_NS * OVERTIME * 1.05, "{now_ns}");
    let made = rounds(&mut schedule);
    assert!(made.iter().all(|&made| (FEWEST_ROUNDS..MOST_ROUNDS).contains(&made)), "{made:?}");
}

#[test]
fn drift_affects_all_points_alike() {
    // Latency rises by a tenth every ten seconds.
    let budget = Budget { precision: 1e-6, most: 30, ..rewritten() };
    let (mut schedule, _) = run(budget, points(10), |hop| 100.0 * (1.0 + hop.now_ns / 1e11));
    let medians: Vec<f64> = (0..10).map(|index| median(&mut schedule, index)).collect();
    let (low, high) =
        medians.iter().fold((f64::MAX, 0.0_f64), |(low, high), &it| (low.min(it), high.max(it)));
    assert!(schedule.place.now_ns > 2e9, "the latency drifts by 2 %");
    assert!(high / low < 1.004, "{medians:?}");
}

#[test]
fn bursts_count_as_disturbed_and_two_states_stay_visible() {
    // About one in seven batches is interrupted for three times its length.
    let mut rng = Pcg32::new(6, 1);
    let (mut schedule, _) =
        run(Budget::DEFAULT, points(1), |_| if rng.below(7) == 0 { 400.0 } else { 100.0 });
    let (_, series) = schedule.series(0).unwrap();
    assert!((series.nanoseconds.median - 100.0).abs() < 1.0);
    assert!((0.08..0.25).contains(&series.disturbed_share()), "{}", series.disturbed_share());
    // Two states, 12 % apart, alternate every sixth of a second: the interval covers both, and the point is imprecise.
    let budget = Budget { most: 60, ..rewritten() };
    let (mut schedule, _) =
        run(
            budget,
            points(20),
            |hop| if ((hop.now_ns / 1.7e8) as u64).is_multiple_of(2) { 100.0 } else { 112.0 },
        );
    let series = schedule.series(3).unwrap().1;
    let interval = series.nanoseconds.interval.unwrap();
    assert!(interval.low < 101.0 && interval.high > 111.0 && !series.is_precise(0.01), "{interval:?}");
}

#[test]
fn several_positions_show_variation_that_one_hides() {
    // Near a cache's size, the pages decide the latency: 41 or 177 ns.
    let latency = |hop: Hop| if hop.place % PLACES < 9 { 41.0 } else { 177.0 };
    let (mut several, _) = run(Budget { most: 40, ..rewritten() }, points(1), latency);
    let series = several.series(0).unwrap().1;
    let interval = series.nanoseconds.interval.unwrap();
    assert!(interval.low < 42.0 && interval.high > 176.0 && !series.is_precise(0.01));
    let places: std::collections::BTreeSet<u64> =
        several.place.visits.iter().map(|visit| visit.place % PLACES).collect();
    assert_eq!(places.len() as u64, PLACES);
    let (count, spread) = several.placements(0);
    assert_eq!(count as u64, PLACES);
    assert!(spread.is_some_and(|spread| (0.7..3.5).contains(&spread)), "{spread:?}");
    let (even, _) = run(rewritten(), points(2), |_| 100.0);
    assert!(even.placements(1).0 >= FEWEST_ROUNDS && even.placements(1).1 == Some(0.0));
    // Rounds at a single position agree with each other, whichever position it is.
    let (mut one, _) = run(Budget::DEFAULT, points(1), latency);
    assert!(one.series(0).unwrap().1.is_precise(0.01));
    assert_eq!(one.placements(0), (1, None));
}

#[test]
fn cached_sets_are_measured_warm_and_memory_is_walked_once() {
    // A cache that is warm after two laps, compared with memory.
    let cached = |hop: Hop| if hop.laps < 2.0 { 100.0 } else { 30.0 };
    let (mut schedule, _) = run(rewritten(), points(1), cached);
    assert!((median(&mut schedule, 0) - 30.0).abs() < 0.1);
    let (mut schedule, _) = run(rewritten(), points(20), |_| 100.0);
    assert!((median(&mut schedule, 0) - 100.0).abs() < 0.1);
    let nodes = SIZE.0 / 64;
    let last = schedule.place.visits.last().unwrap();
    assert!(last.hops < nodes / 4, "{last:?} of {nodes} nodes");
    assert_eq!(rounds(&mut schedule), [ROUNDS; 20]);
}

#[test]
fn intervals_cover_the_truth_at_their_nominal_rate() {
    // The rounds differ by position, and the memory drifts slowly.
    const RUNS: u64 = 120;
    let mut held = 0;
    for seed in 0..RUNS {
        let mut place = noise(seed, 0.03);
        let phase = noise(seed ^ 0xff, 1.0)() * 3.0;
        let mut factor = 1.0;
        let budget = Budget { precision: 0.02, walk_ns: 0.0, ..rewritten() };
        let (mut schedule, _) = run(budget, points(4), |hop| {
            if hop.laps == 0.0 {
                factor = place();
            }
            // A drift of one percent, within a fraction of the run.
            let turn = (hop.now_ns / 4e8 + phase) % 2.0;
            let drift = if turn < 1.0 { turn } else { 2.0 - turn };
            100.0 * factor * (0.995 + 0.01 * drift)
        });
        let interval = schedule.series(0).unwrap().1.nanoseconds.interval.unwrap();
        held += u64::from(interval.low <= 100.0 && 100.0 <= interval.high);
    }
    // The interval covers the truth in at least 93 of 100 runs, within the error of this number of runs.
    assert!(held * 100 >= RUNS * 90, "{held} of {RUNS}");
}

#[test]
fn trials_that_disagree_are_reported() {
    // Most trials are slowed by up to 30 %; none is slow enough to count as interrupted.
    let mut rng = Pcg32::new(8, 1);
    let mut uniform = move || f64::from(rng.next_u32()) / f64::from(u32::MAX);
    let mut slowed = move || {
        let noise = (0..6).map(|_| uniform()).sum::<f64>() - 3.0;
        let slower = if uniform() < 0.7 { 0.3 * uniform() } else { 0.0 };
        (100.0 + 2.0 * noise) * (1.0 + slower)
    };
    let (mut schedule, _) = run(Budget::DEFAULT, points(1), |_| slowed());
    let series = schedule.series(0).unwrap().1;
    let value = series.nanoseconds.median;
    assert!(series.state_share.unwrap() < 0.7 || (value - 100.0).abs() < 1.0, "{series:?}");
    // Trials of a quiet machine agree.
    let mut quiet = noise(9, 0.02);
    let (mut schedule, _) = run(Budget::DEFAULT, points(1), |_| 100.0 * quiet());
    assert!(schedule.series(0).unwrap().1.state_share.unwrap() > 0.85);
    // The agreement of single trials is unknown.
    let (mut schedule, _) = run(Budget { trials: Some(15), ..Budget::DEFAULT }, points(1), |_| 100.0);
    assert_eq!(schedule.series(0).unwrap().1.state_share, None);
}

#[test]
fn trials_with_a_clock_step_back_count_without_a_time() {
    let mut rng = Pcg32::new(10, 1);
    let (mut schedule, _) =
        run(Budget::DEFAULT, points(1), |_| if rng.below(50) == 0 { -100.0 } else { 100.0 });
    let series = schedule.series(0).unwrap().1;
    let share = series.stepped_back as f64 / series.batches as f64;
    assert!((0.01..0.03).contains(&share) && series.disturbed == series.stepped_back, "{series:?}");
    assert_eq!((series.nanoseconds.median, series.minimum_ns), (100.0, 100.0));
}

#[test]
fn rounds_of_few_points_are_spread_and_those_of_many_are_not_delayed() {
    let budget = Budget { spread_ns: 5e9, ..Budget::DEFAULT };
    let window = |series: RoundSeries| series.window_ns;
    for count in [1, 4] {
        let (mut schedule, _) = run(budget, points(count), |_| 100.0);
        let now_ns = schedule.place.now_ns;
        assert!((4.9e9..5.6e9).contains(&now_ns), "{count}: {now_ns}");
        for index in 0..count as usize {
            let (entry, series) = schedule.series(index).unwrap();
            assert_eq!(entry.state.rounds, ROUNDS);
            assert!((window(series) / 5e9 - 1.0).abs() < 0.12, "{count}: {}", window(series));
        }
        // Rounds keep a minimum distance.
        let begun: Vec<f64> = schedule.place.visits.iter().map(|visit| visit.begun_ns).collect();
        let firsts: Vec<f64> = begun.chunks(count as usize).map(|round| round[0]).collect();
        assert!(firsts[1..].windows(2).all(|two| two[1] - two[0] > 0.1e9), "{firsts:?}");
    }
    // Without a spread, rounds follow each other at once.
    let (mut schedule, _) = run(Budget::DEFAULT, points(1), |_| 100.0);
    assert!(window(schedule.series(0).unwrap().1) < 1.3e9);
    // Many points last longer than the spread anyway.
    let many = |spread_ns| {
        let (schedule, _) = run(Budget { spread_ns, ..Budget::DEFAULT }, points(64), |_| 150.0);
        schedule.place.now_ns
    };
    assert!((many(5e9) / many(0.0) - 1.0).abs() < 0.001);
}

#[test]
fn searches_before_the_run_have_no_pauses() {
    // A refined curve adds a point, makes a few rounds of it, and repeats that.
    let sought = |spread_ns: f64| {
        let budget = Budget { spread_ns, walk_ns: 0.0, more: 20, ..Budget::DEFAULT };
        let fake = Fake::new(&budget, |_: Hop| 100.0);
        let mut schedule = Schedule::new(Box::new(fake), budget, &point(SIZE), points(1)).unwrap();
        for more in 1..=20 {
            schedule.reach(&mut Progress::new(When::Never), 3).unwrap();
            assert!(schedule.add(point(Bytes(SIZE.0 + 64 * more))));
        }
        schedule
    };
    let mut spread = sought(50e9);
    let sought_ns = spread.place.now_ns;
    assert_eq!(sought_ns, sought(0.0).place.now_ns);
    spread.run(&mut Progress::new(When::Never)).unwrap();
    assert!(spread.place.now_ns - sought_ns > 30e9, "{}", spread.place.now_ns);
}

#[test]
fn pauses_count_as_time_and_end_at_an_interrupt() {
    // The time limit includes pauses, and points share it.
    let mut wild = noise(11, 0.2);
    let budget = Budget { spread_ns: 1.4e9, point_ns: 2e9, bounded: true, ..Budget::DEFAULT };
    for count in [1, 3] {
        let mut place = 1.0;
        let (schedule, _) = run(budget, points(count), |hop| {
            if hop.laps == 0.0 {
                place = wild();
            }
            100.0 * place
        });
        let now_ns = schedule.place.now_ns;
        assert!(now_ns < 2.2e9 * count as f64 && now_ns > 1.4e9, "{count}: {now_ns}");
    }
    // The interrupt comes in the middle of a pause.
    let budget = Budget { spread_ns: 5e9, walk_ns: 0.0, ..Budget::DEFAULT };
    let (mut schedule, interrupted) = run_until(2.5e9, budget, points(1), |_| 100.0);
    assert!(interrupted && schedule.place.now_ns < 2.51e9);
    assert!(schedule.series(0).is_some_and(|(entry, _)| entry.state.rounds > 4));
    // A requested number of trials is spread, too, if a spread was requested.
    let budget = Budget { trials: Some(5), spread_ns: 1e9, ..Budget::DEFAULT };
    let (mut schedule, _) = run(budget, points(1), |_| 100.0);
    assert!((schedule.series(0).unwrap().1.window_ns / 1e9 - 1.0).abs() < 0.15);
}

#[test]
fn a_pause_ends_when_all_waiting_points_are_out_of_time() {
    // Rounds of 30 ms, due every 0.7 s, of points with 2 s each.
    let budget = Budget { spread_ns: 10e9, point_ns: 2e9, bounded: true, walk_ns: 0.0, ..Budget::DEFAULT };
    let (schedule, _) = run(budget, points(2), |_| 100.0);
    let now_ns = schedule.place.now_ns;
    assert!((3.9e9..4.2e9).contains(&now_ns), "{now_ns}");
    let begun: Vec<f64> = schedule.place.visits.chunks(2).map(|round| round[0].begun_ns).collect();
    // The remaining time goes into one last pause, and is not halved repeatedly.
    assert!(begun[1..].windows(2).all(|two| two[1] - two[0] > 0.3e9), "{begun:?}");
}

#[test]
fn a_rewritten_chain_is_measured_like_a_kept_one() {
    // The working set is four times a cache with random replacement: no load of a first pass hits, 3 % of later loads
    // do.
    let latency = |hop: Hop| if hop.laps < 1.0 { 100.0 } else { 98.0 };
    let trail = SIZE.0 / 64 / 4 * 3 / 2;
    let (mut schedule, _) = run(Budget { trail, walk_ns: 0.0, ..rewritten() }, points(1), latency);
    assert!((median(&mut schedule, 0) / 98.0 - 1.0).abs() < 0.003);
    // No lap of one lane is needed for that.
    assert!(schedule.place.visits.last().unwrap().hops < SIZE.0 / 64 / 4);
}

#[test]
fn disturbed_visits_do_not_reduce_the_rounds() {
    // In two of three visits another task runs for 30 ms.
    let (mut visit, mut begun_ns) = (0, 0.0);
    let budget = Budget { long_visit_ns: 20e6, walk_ns: 0.0, ..rewritten() };
    let (mut schedule, _) = run(budget, (0..1).map(|_| point(Bytes(1 << 20))), |hop| {
        if hop.laps == 0.0 {
            (visit, begun_ns) = (visit + 1, hop.now_ns);
        }
        if hop.now_ns < begun_ns + 30e6 && visit % 3 > 0 { 4000.0 } else { 100.0 }
    });
    let visits = schedule.place.visits.windows(2).map(|two| two[1].begun_ns - two[0].begun_ns);
    assert!(visits.filter(|&visit_ns| visit_ns > 20e6).count() > 5);
    assert_eq!(rounds(&mut schedule), [ROUNDS]);
}

#[test]
fn a_probe_is_the_median_of_its_visits_and_leaves_the_schedule_alone() {
    let mut visits = 0;
    let (mut schedule, _) = run(rewritten(), points(2), |hop| {
        visits += usize::from(hop.laps == 0.0 && hop.nodes == 1000);
        // The second of five visits is disturbed.
        if hop.nodes == 1000 && visits == 2 { 900.0 } else { 50.0 }
    });
    let before = (rounds(&mut schedule), schedule.count());
    let (nanoseconds, core_cycles) = schedule.probe(&point(Bytes(64_000)), 5).unwrap();
    assert!((nanoseconds - 50.0).abs() < 1e-6 && (core_cycles - 150.0).abs() < 1e-6);
    assert_eq!((rounds(&mut schedule), schedule.count()), before);
    let probed = |visit: &&Visit| visit.index == 2;
    assert_eq!(schedule.place.visits.iter().filter(probed).count(), 5);
    assert!(schedule.probe(&point(Bytes(64_000)), 0).unwrap().0.is_nan());
}

#[test]
fn the_minimum_rounds_suffice_for_one_long_trial_each() {
    // A trial of 0.1 s or of 0.4 s: of ten seconds, a round has two thirds of a second.
    for (iters, batches, expected) in [(1 << 20, 6, ROUNDS), (1 << 22, 1, FEWEST_ROUNDS)] {
        let budget = Budget { iters: Some(iters), ..Budget::DEFAULT };
        let (mut schedule, _) = run(budget, points(1), |_| 100.0);
        assert_eq!(rounds(&mut schedule), [expected], "{iters} hops");
        assert_eq!(schedule.rounds(0)[0].batches, batches);
    }
}

#[test]
fn no_interval_is_narrower_than_the_calibration_of_the_clock() {
    let (mut schedule, _) = run(Budget::DEFAULT, points(1), |_| 100.0);
    let interval = schedule.series(0).unwrap().1.nanoseconds.interval.unwrap();
    assert!(interval.low <= 99.99 && interval.high >= 100.01, "{interval:?}");
}

#[test]
fn points_beside_others_are_visited_in_every_second_round_and_end_with_them() {
    let mut quiet = noise(5, 0.001);
    let budget = Budget { steady: 1, ..Budget::DEFAULT };
    let on = |cpu| Point { cpu: CpuId(cpu), ..point(SIZE) };
    let (mut schedule, _) = run(budget, (0..3).map(on), |_| 100.0 * quiet());
    // The round of the first visits is shared between them.
    let [all, one, other] = rounds(&mut schedule)[..] else { panic!("three points") };
    assert_eq!((all, one + other), (ROUNDS, ROUNDS));
    assert!(one.abs_diff(other) == 1, "{one} {other}");
    // Their rounds are shorter.
    let batches = |index: usize| schedule.rounds(index)[1].batches;
    assert!(batches(1) < batches(0), "{} {}", batches(1), batches(0));
}
