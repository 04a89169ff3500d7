//! Knees, bends and verdicts of synthetic curves.

use super::*;
use latency_core::LineSize;
use proptest::prelude::*;
use std::vec::Vec;

const GB: f64 = 1e9;
const LIMIT: f64 = 100.0 * GB;
const IDLE_NS: f64 = 100.0;
/// Service time of the queue.
const SERVICE_NS: f64 = 40.0;

/// Returns an estimate with an interval of `part` of the value to either side.
fn about(value: f64, part: f64) -> Estimate {
    Estimate { value, interval: Some(Interval { low: value * (1.0 - part), high: value * (1.0 + part) }) }
}

fn level(offered: Option<f64>, delivered: f64, latency: f64) -> LoadLevel {
    LoadLevel { offered, delivered: about(delivered, 0.002), latency: about(latency, 0.005) }
}

/// Returns the latency of an M/D/1 queue.
fn queueing(rho: f64) -> f64 {
    IDLE_NS + SERVICE_NS * rho / (1.0 - rho) / 2.0
}

/// Returns levels that deliver these shares of the limit, with a factor for the latency of each.
fn made(shares: &[f64], noise: impl Fn(usize) -> f64) -> Vec<LoadLevel> {
    let each = shares.iter().enumerate();
    each.map(|(index, share)| level(Some(share * LIMIT), share * LIMIT, queueing(*share) * noise(index)))
        .collect()
}

/// Returns the default shares of the limit, with the last just below the limit.
fn shares() -> Vec<f64> {
    let of = |index| share(index, 10).unwrap_or(0.985);
    (0..10).map(of).collect()
}

/// Returns the share of the limit at which the queue has `ratio` times the idle latency.
fn true_knee(ratio: f64) -> f64 {
    let load = (ratio - 1.0) * IDLE_NS / (SERVICE_NS / 2.0);
    load / (1.0 + load)
}

#[test]
fn knees_of_a_queue_are_found_at_their_true_loads() {
    let shares: Vec<f64> = (0..60).map(|index| f64::from(index) / 60.0).collect();
    let curve = Curve::of(&made(&shares, |_| 1.0)).unwrap();
    assert_eq!((curve.idle.value, curve.levels().len()), (IDLE_NS, 60));
    for ratio in KNEES {
        let bandwidth = curve.knee(ratio).unwrap();
        let truth = true_knee(ratio) * LIMIT;
        assert!((bandwidth.value / truth - 1.0).abs() < 0.005, "{ratio}: {} is not {truth}", bandwidth.value);
        let Interval { low, high } = bandwidth.interval.unwrap();
        assert!(low < truth && truth < high && high - low < 0.1 * truth, "{ratio}: {low} .. {high}");
    }
    assert_eq!(curve.bend, None);
}

#[test]
fn a_knee_lies_between_its_neighbours_by_their_latencies() {
    let levels = [
        level(Some(0.0), 0.0, 100.0),
        level(Some(10.0 * GB), 10.0 * GB, 150.0),
        level(None, 20.0 * GB, 250.0),
    ];
    let curve = Curve::of(&levels).unwrap();
    // The queue through 150 ns at 10 GB/s and 250 ns at 20 GB/s has its limit at 40 GB/s and ns = 150: at 16 GB/s it
    // adds 100 ns. A straight line adds 100 ns at 15 GB/s.
    let Estimate { value, interval } = curve.knee(2.0).unwrap();
    assert!((value / (16.0 * GB) - 1.0).abs() < 1e-12, "{value}");
    let Interval { low, high } = interval.unwrap();
    assert!(low < 15.5 * GB && 16.5 * GB < high && high - low < 2.5 * GB, "{low} {high}");
    // Between idle memory and the first level, only the largest bandwidth, 20 GB/s, determines the queue: the knee is
    // at 6.67 GB/s by the queue, and at 5 GB/s by a straight line.
    let Estimate { value, interval } = curve.knee(1.25).unwrap();
    assert!((value / (GB * (5.0 + 20.0 / 3.0) / 2.0) - 1.0).abs() < 1e-12, "{value}");
    let Interval { low, high } = interval.unwrap();
    assert!(low < 5.0 * GB && 6.66 * GB < high && high < 7.5 * GB, "{low} {high}");
    let [one, two] = curve.beside(2.0).unwrap();
    assert!((one / (40.0 / 3.0 * GB) - 1.0).abs() < 1e-12 && (two / (50.0 / 3.0 * GB) - 1.0).abs() < 1e-12);
}

/// Approximately normal random numbers: sums of twelve.
struct Noise(u64);

impl Noise {
    fn even(&mut self) -> f64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut state = self.0;
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((state ^ (state >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.even()).sum::<f64>() - 6.0
    }

    /// Returns an estimate of `truth` with a 95 % interval of `part` of it to either side.
    fn estimate(&mut self, truth: f64, part: f64) -> Estimate {
        about(truth * (1.0 + self.normal() * part / 1.96), part)
    }
}

#[test]
fn intervals_of_knees_cover_the_truth_at_random_levels() {
    const CURVES: usize = 500;
    let mut noise = Noise(20_261_123);
    // For each of 1.25 and twice the lowest latency: the number of knees, the number with the truth in the interval,
    // and the sum of the errors.
    let mut found = [(0, 0, 0.0_f64); 2];
    for _ in 0..CURVES {
        // Any idle latency, any service time of the queue, 4 to 11 levels anywhere, and intervals of any width.
        let (idle, service) = (60.0 + 200.0 * noise.even(), 10.0 + 90.0 * noise.even());
        let part = 0.002 + 0.02 * noise.even();
        let count = 2 + (noise.even() * 8.0) as usize;
        let mut shares: Vec<f64> = (0..count).map(|_| 0.03 + 0.93 * noise.even()).collect();
        shares.extend([0.0, 0.985]);
        let level = |share: f64, noise: &mut Noise| LoadLevel {
            offered: (share < 0.98).then_some(share * LIMIT),
            delivered: noise.estimate(share * LIMIT, 0.002),
            latency: noise.estimate(idle + service * share / (1.0 - share) / 2.0, part),
        };
        let levels: Vec<LoadLevel> = shares.iter().map(|share| level(*share, &mut noise)).collect();
        let curve = Curve::of(&levels).unwrap();
        for (ratio, (knees, covered, off)) in KNEES.into_iter().zip(&mut found) {
            let load = (ratio - 1.0) * idle / (service / 2.0);
            let truth = LIMIT * load / (1.0 + load);
            let Some(Estimate { value, interval: Some(ends) }) = curve.knee(ratio) else {
                continue;
            };
            *knees += 1;
            *covered += usize::from(ends.low <= truth && truth <= ends.high);
            *off += value / truth - 1.0;
            assert!(ends.low <= value && value <= ends.high);
        }
    }
    for (ratio, (knees, covered, off)) in KNEES.into_iter().zip(found) {
        assert!(knees > CURVES * 9 / 10, "{ratio}: {knees}");
        assert!(covered * 100 >= knees * 93, "{ratio}: {covered} of {knees}");
        // Knees by straight lines are 10 % early.
        let mean = off / knees as f64;
        assert!(mean.abs() < 0.02, "{ratio}: {mean:.4} off");
    }
}

#[test]
fn straight_latencies_have_straight_knees() {
    // The latency rises by 2 ns per GB/s: the late knee of a queue through idle memory and one level is within the
    // interval.
    for shares in [&[0.0, 0.1, 0.45, 0.8, 1.0][..], &[0.0, 0.8, 1.0]] {
        let of = |share: &f64| level(Some(share * LIMIT), share * LIMIT, IDLE_NS + 200.0 * share);
        let levels: Vec<LoadLevel> = shares.iter().map(of).collect();
        let curve = Curve::of(&levels).unwrap();
        for (ratio, truth) in [(1.25, 0.125 * LIMIT), (2.0, 0.5 * LIMIT)] {
            let Estimate { value, interval } = curve.knee(ratio).unwrap();
            let Interval { low, high } = interval.unwrap();
            assert!(low <= truth && truth <= high, "{ratio}: {low} {value} {high}");
            assert!(shares.len() < 5 || ratio < 2.0 || (value / truth - 1.0).abs() < 0.01, "{value}");
        }
    }
}

#[test]
fn knees_are_multiples_of_the_lowest_latency_where_idle_memory_sleeps() {
    let asleep = |idle: f64, next: f64| {
        let mut levels = made(&shares(), |_| 1.0);
        levels[0].latency = about(idle, 0.005);
        levels[1].latency = about(next, 0.005);
        Curve::of(&levels).unwrap()
    };
    let awake = Curve::of(&made(&shares(), |_| 1.0)).unwrap();
    assert_eq!(awake.fastest, None);
    assert_eq!(awake.lowest.value, IDLE_NS);
    // The second memory is awake at 15 % of the limit, where its latency is 3.5 % above its minimum.
    for (curve, off) in [(asleep(130.0, queueing(0.05)), 0.03), (asleep(130.0, 115.0), 0.08)] {
        assert_eq!(curve.idle.value, 130.0);
        let fastest = curve.fastest.unwrap();
        assert!(
            curve.lowest.value == fastest.latency.value && curve.lowest.value < 105.0,
            "{}",
            curve.lowest.value
        );
        for ratio in KNEES {
            let knee = curve.knee(ratio).unwrap().value;
            let truth = awake.knee(ratio).unwrap().value;
            assert!((knee / truth - 1.0).abs() < off, "{ratio}: {knee} {truth}");
        }
        let queue = curve.queue(LIMIT).unwrap();
        assert!((queue.ns - SERVICE_NS / 2.0).abs() < 2.0, "{queue:?}");
    }
    // A difference within the intervals or below 2 % does not count: both levels are the lowest.
    let mut levels = made(&shares(), |_| 1.0);
    levels[0].latency = about(106.0, 0.05);
    let curve = Curve::of(&levels).unwrap();
    assert_eq!(curve.fastest, None);
    assert!((curve.lowest.value - (106.0 + queueing(0.05)) / 2.0).abs() < 1e-9);
    assert_eq!(asleep(102.5, queueing(0.05)).fastest, None);
}

#[test]
fn a_curve_that_ends_before_a_knee_has_none() {
    let curve = Curve::of(&made(&[0.0, 0.1, 0.3, 0.5, 0.7], |_| 1.0)).unwrap();
    assert_eq!(curve.knee(2.0), None);
    assert_eq!(curve.beside(2.0), None);
    assert!(curve.knee(1.25).is_some());
    // The latency is reached, but not with certainty.
    let levels = [level(Some(0.0), 0.0, 100.0), level(None, 10.0 * GB, 200.2)];
    let knee = Curve::of(&levels).unwrap().knee(2.0).unwrap();
    assert_eq!(knee.interval, None);
    // A flat curve: one generator that memory does not feel.
    let flat: Vec<LoadLevel> =
        (0..10).map(|index| level(Some(f64::from(index) * GB), f64::from(index) * GB, 100.0)).collect();
    let flat = Curve::of(&flat).unwrap();
    assert_eq!((flat.knee(1.25), flat.queue(LIMIT)), (None, None));
}

#[test]
fn without_an_idle_level_there_is_no_curve() {
    assert!(Curve::of(&[]).is_none());
    assert!(Curve::of(&[level(None, 10.0 * GB, 100.0)]).is_none());
    assert!(Curve::of(&[level(Some(0.0), 0.0, f64::NAN), level(None, GB, 100.0)]).is_none());
    let alone = Curve::of(&[level(Some(0.0), 0.0, 100.0)]).unwrap();
    assert_eq!(
        (alone.knee(2.0), alone.beside(2.0), alone.queue(LIMIT), alone.bend),
        (None, None, None, None)
    );
}

#[test]
fn a_bend_is_reported_and_does_not_shift_the_knee() {
    let mut levels = made(&shares(), |_| 1.0);
    let before = Curve::of(&levels).unwrap().knee(2.0);
    levels.push(level(Some(1.2 * LIMIT), 0.6 * LIMIT, 900.0));
    levels.push(level(None, 0.45 * LIMIT, 1200.0));
    let curve = Curve::of(&levels).unwrap();
    let bend = curve.bend.unwrap();
    assert_eq!(bend.best.offered, Some(0.985 * LIMIT));
    assert!((bend.lost - (1.0 - 0.45 / 0.985)).abs() < 1e-12, "{}", bend.lost);
    assert_eq!((curve.knee(2.0), curve.levels().len()), (before, 10));
}

#[test]
fn a_loss_within_the_intervals_is_not_a_bend() {
    let near = |part| {
        let mut levels = made(&shares(), |_| 1.0);
        levels.push(LoadLevel { delivered: about(0.94 * LIMIT, part), ..level(None, 0.0, 2000.0) });
        Curve::of(&levels).unwrap().bend.is_some()
    };
    assert!(near(0.01) && !near(0.06));
    let mut levels = made(&shares(), |_| 1.0);
    levels.push(level(None, 0.975 * LIMIT, 2000.0));
    assert_eq!(Curve::of(&levels).unwrap().bend, None);
}

#[test]
fn the_service_time_of_a_queue_is_found_and_no_other_curve_has_one() {
    let curve = Curve::of(&made(&shares(), |index| if index % 2 == 0 { 1.003 } else { 0.997 })).unwrap();
    let queue = curve.queue(LIMIT).unwrap();
    assert!((queue.ns - SERVICE_NS / 2.0).abs() < 1.0, "{queue:?}");
    assert!(queue.residual < 0.02, "{queue:?}");
    // Latency that rises with the square root of load.
    let root: Vec<LoadLevel> = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9]
        .map(|share: f64| level(Some(share * LIMIT), share * LIMIT, 100.0 + 90.0 * share.sqrt()))
        .to_vec();
    assert_eq!(Curve::of(&root).unwrap().queue(LIMIT), None);
    // Too few levels, and no limit.
    assert_eq!(Curve::of(&made(&[0.0, 0.2, 0.5], |_| 1.0)).unwrap().queue(LIMIT), None);
    assert_eq!(curve.queue(0.0), None);
    assert_eq!(curve.queue(f64::NAN), None);
}

#[test]
fn values_become_monotone_by_pooling() {
    for (values, expected) in [
        (&[][..], &[][..]),
        (&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]),
        (&[3.0, 2.0, 1.0], &[2.0, 2.0, 2.0]),
        (&[1.0, 3.0, 2.0, 2.5, 9.0], &[1.0, 2.5, 2.5, 2.5, 9.0]),
        (&[5.0, 1.0, 4.0, 2.0], &[3.0, 3.0, 3.0, 3.0]),
    ] {
        let mut found = values.to_vec();
        make_monotone(&mut found);
        assert_eq!(found, expected);
    }
}

#[test]
fn verdicts_follow_the_growth_from_half_of_the_cores() {
    for (cores, all, half, verdict) in [
        (1, 12.0, None, Verdict::OneGenerator),
        (1, 12.0, Some(12.0), Verdict::OneGenerator),
        (8, 125.0, Some(100.0), Verdict::LimitReached),
        (8, 91.0, Some(100.0), Verdict::LimitReached),
        (8, 89.0, Some(100.0), Verdict::OverSaturated),
        (8, 140.0, Some(100.0), Verdict::NotShown),
        (8, 160.0, Some(100.0), Verdict::NotShown),
        (2, 199.0, Some(100.0), Verdict::GeneratorsExhausted),
        (8, 100.0, None, Verdict::NotShown),
        (8, 100.0, Some(0.0), Verdict::NotShown),
        (8, f64::NAN, Some(100.0), Verdict::NotShown),
        // Three generators deliver two thirds of the sum of three alone, all of it, little more than one alone, and
        // less than one.
        (3, 26.0, Some(13.0), Verdict::NotShown),
        (3, 39.0, Some(13.0), Verdict::GeneratorsExhausted),
        (3, 18.0, Some(13.0), Verdict::LimitReached),
        // A memory that one and a half cores saturate.
        (3, 18.0, Some(12.0), Verdict::LimitReached),
        (3, 11.0, Some(13.0), Verdict::OverSaturated),
        (5, 163.0, Some(100.0), Verdict::NotShown),
        (5, 250.0, Some(100.0), Verdict::GeneratorsExhausted),
        (5, 130.0, Some(100.0), Verdict::LimitReached),
        (7, 165.0, Some(100.0), Verdict::NotShown),
        (7, 233.0, Some(100.0), Verdict::GeneratorsExhausted),
        (7, 130.0, Some(100.0), Verdict::LimitReached),
    ] {
        assert_eq!(Verdict::of(cores, all, half), verdict, "{cores} {all} {half:?}");
    }
}

/// Returns the share of its limit that a memory delivers to generators. Each generator has enough lines in flight to
/// demand `demand` of the limit from idle memory. The share is found by bisection, since latency depends on the
/// delivered rate.
fn share_delivered(generators: f64, demand: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let share = (low + high) / 2.0;
        let asked = generators * demand * IDLE_NS / queueing(share);
        if asked > share {
            low = share;
        } else {
            high = share;
        }
    }
    low
}

#[test]
fn odd_numbers_of_generators_are_judged_by_what_a_doubling_adds() {
    // The bounds are for the growth from exactly half of the generators, which is one and a half for three.
    let doubling = |demand: f64, all: f64| share_delivered(all, demand) / share_delivered(all / 2.0, demand);
    for cores in [2, 3, 4, 5, 7, 8, 23] {
        let all = cores as f64;
        let half = (cores / 2) as f64;
        let mut seen = Vec::new();
        for step in 1..200 {
            let demand = f64::from(step) * 0.02 / all;
            let delivered = |generators| LIMIT * share_delivered(generators, demand);
            let verdict = Verdict::of(cores, delivered(all), Some(delivered(half)));
            let truth = doubling(demand, all);
            // Close to a bound, the estimate may fall on either side of it.
            let expected = match truth {
                _ if (truth - 1.25).abs() < 0.06 || (truth - 1.6).abs() < 0.06 => verdict,
                _ if truth <= 1.25 => Verdict::LimitReached,
                _ if truth > 1.6 => Verdict::GeneratorsExhausted,
                _ => Verdict::NotShown,
            };
            assert_eq!(verdict, expected, "{cores} generators, {truth:.3} for a doubling");
            if seen.last() != Some(&verdict) {
                seen.push(verdict);
            }
        }
        let order = [Verdict::GeneratorsExhausted, Verdict::NotShown, Verdict::LimitReached];
        assert_eq!(seen, order, "{cores} generators");
    }
}

#[test]
fn lines_in_flight_follow_from_bandwidth_and_latency() {
    // Example of a server: 132 GB/s of reads at 261 ns by 23 cores.
    assert!((lines_in_flight(132.2e9, 261.0, 23, LineSize::LEAST).unwrap() - 23.44).abs() < 0.01);
    assert_eq!(lines_in_flight(0.0, 98.4, 23, LineSize::LEAST), Some(0.0));
    assert_eq!(
        (lines_in_flight(0.0, 98.4, 0, LineSize::LEAST), lines_in_flight(1e9, f64::NAN, 1, LineSize::LEAST)),
        (None, None)
    );
}

#[test]
fn rates_that_are_not_delivered_count_below_the_limit_alone() {
    let mut levels = made(&shares(), |_| 1.0);
    assert_eq!(not_delivered(&levels, LIMIT), None);
    levels.push(level(Some(0.9 * LIMIT), 0.7 * LIMIT, 200.0));
    levels.push(level(None, LIMIT, 300.0));
    assert_eq!(not_delivered(&levels, LIMIT), None);
    levels.push(level(Some(0.5 * LIMIT), 0.48 * LIMIT, 110.0));
    let more = level(Some(0.2 * LIMIT), 0.21 * LIMIT, 110.0);
    levels.push(more);
    let (worst, part) = not_delivered(&levels, LIMIT).unwrap();
    assert_eq!(worst, more);
    assert!((part - 0.0479).abs() < 1e-4, "{part}");
    // A value within the interval does not differ.
    let wide = LoadLevel { delivered: about(0.48 * LIMIT, 0.05), ..levels[12] };
    assert_eq!(not_delivered(&[wide], LIMIT), None);
}

#[test]
fn levels_run_from_idle_to_the_largest_load() {
    let part = |index, levels| share(index, levels).map_or(1.0, |part| (part * 1e6).round() / 1e6);
    let of = |levels| (0..levels).map(|index| part(index, levels)).collect::<Vec<_>>();
    assert_eq!(of(10), [0.0, 0.05, 0.15, 0.3, 0.45, 0.6, 0.75, 0.87, 0.95, 1.0]);
    assert_eq!(of(6), [0.0, 0.15, 0.45, 0.75, 0.95, 1.0]);
    assert_eq!(of(3), [0.0, 0.95, 1.0]);
    assert_eq!(of(2), [0.0, 1.0]);
    assert_eq!((of(1), of(0)), (std::vec![1.0], std::vec![]));
    for levels in 2..40 {
        assert!(of(levels).is_sorted_by(|one, two| one < two), "{levels}");
    }
}

/// Generates values that a broken measurement may give, and sound ones.
fn odd() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 0.0..1e12_f64,
        1 => prop::sample::select(&[f64::NAN, f64::INFINITY, -1.0, 0.0, f64::MIN_POSITIVE, f64::MAX][..]),
    ]
}

fn odd_estimate() -> impl Strategy<Value = Estimate> {
    (odd(), prop::option::of((odd(), odd()))).prop_map(|(value, ends)| Estimate {
        value,
        interval: ends.map(|(low, high)| Interval { low, high }),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn the_knee_of_a_noisy_queue_is_near_the_truth_and_in_its_interval(
        noise in prop::collection::vec(-1.0..1.0_f64, 10),
        order in Just((0..10).collect::<Vec<usize>>()).prop_shuffle(),
    ) {
        let levels = made(&shares(), |index| 1.0 + 0.004 * noise[index]);
        let shuffled: Vec<LoadLevel> = order.iter().map(|index| levels[*index]).collect();
        let curve = Curve::of(&shuffled).unwrap();
        prop_assert_eq!(curve.bend, None);
        for ratio in KNEES {
            prop_assert_eq!(curve.knee(ratio), Curve::of(&levels).unwrap().knee(ratio));
            let Estimate { value, interval } = curve.knee(ratio).unwrap();
            let truth = true_knee(ratio);
            prop_assert!((value / LIMIT - truth).abs() < 0.02, "{} {}", ratio, value);
            let Interval { low, high } = interval.unwrap();
            prop_assert!(low <= truth * LIMIT && truth * LIMIT <= high, "{} {} {}", ratio, low, high);
            prop_assert!(low <= value && value <= high);
        }
        let queue = curve.queue(LIMIT).unwrap();
        prop_assert!((queue.ns - SERVICE_NS / 2.0).abs() < 1.5, "{:?}", queue);
    }

    #[test]
    fn a_bend_is_found_wherever_the_best_level_is(best in 2..9_usize, lost in 0.05..0.9_f64) {
        let mut levels = made(&shares(), |_| 1.0);
        let most = levels[best].delivered.value;
        for level in &mut levels[best + 1..] {
            level.delivered = about(most * (1.0 - lost), 0.002);
        }
        let bend = Curve::of(&levels).unwrap().bend.unwrap();
        prop_assert_eq!(bend.best, levels[best]);
        prop_assert!((bend.lost - lost).abs() < 1e-9);
    }

    #[test]
    fn pooling_is_monotone_keeps_the_sum_and_changes_nothing_twice(
        values in prop::collection::vec(0.0..1e3_f64, 0..=MOST_LEVELS),
    ) {
        let mut found = values.clone();
        make_monotone(&mut found);
        prop_assert!(found.windows(2).all(|pair| pair[0] <= pair[1]));
        let sum = |values: &[f64]| values.iter().sum::<f64>();
        prop_assert!((sum(&found) - sum(&values)).abs() < 1e-6);
        let mut again = found.clone();
        make_monotone(&mut again);
        prop_assert!(again.iter().zip(&found).all(|(one, two)| (one - two).abs() < 1e-9));
    }

    #[test]
    fn any_levels_give_finite_numbers_or_none(
        levels in prop::collection::vec(
            (prop::option::of(odd()), odd_estimate(), odd_estimate())
                .prop_map(|(offered, delivered, latency)| LoadLevel { offered, delivered, latency }),
            0..100,
        ),
        limit in odd(),
    ) {
        let worst = not_delivered(&levels, limit);
        prop_assert!(worst.is_none_or(|(_, part)| part > 0.0));
        let Some(curve) = Curve::of(&levels) else { return Ok(()) };
        prop_assert!(curve.levels().len() <= MOST_LEVELS);
        prop_assert!(curve.bend.is_none_or(|bend| bend.lost > 0.0 && bend.lost <= 1.0));
        prop_assert!(curve.queue(limit).is_none_or(|queue| queue.ns > 0.0 && queue.residual < 0.05));
        for ratio in KNEES {
            if let Some(Estimate { value, interval }) = curve.knee(ratio) {
                prop_assert!(value.is_finite() && value >= 0.0, "{}", value);
                prop_assert!(interval.is_none_or(|ends| ends.low <= value && value <= ends.high));
            }
            prop_assert!(curve.beside(ratio).is_none_or(|[one, two]| one.is_finite() && one <= two));
        }
    }
}

#[test]
fn all_cores_reach_the_limit_only_if_their_interval_allows_it() {
    let all = |value, low, high| Estimate { value, interval: Some(Interval { low, high }) };
    // Half of two cores deliver 28; both deliver less, but their windows do not agree.
    for (rate, verdict) in [
        (all(24.7, 20.0, 28.4), Verdict::LimitReached),
        (all(20.0, 19.0, 21.0), Verdict::LimitReached),
        (all(7.3, 5.4, 44.0), Verdict::NotShown),
        (all(27.9, 7.6, 29.1), Verdict::LimitReached),
        (all(50.0, 49.0, 51.0), Verdict::GeneratorsExhausted),
    ] {
        assert_eq!(Verdict::of_all(2, &rate, Some(28.2)), verdict, "{rate:?}");
    }
}
