//! Tests that compare deadlines with the theory of a Poisson process, and of a queue with these arrivals.

use super::*;
use std::vec::Vec;

/// Number of draws, for which means have a standard error of a few thousandths.
const DRAWS: usize = 200_000;

/// Converts a gap with fractional bits to ticks.
fn ticks(gap: u64) -> f64 {
    gap as f64 / f64::from(1 << FRACTION_BITS)
}

/// Returns the gaps for a seed, scaled to a mean of 1.
fn draws(seed: u64) -> Vec<f64> {
    let mut pacer = Pacer::new(Pacing::Poisson, gap(1000.0), seed, 0);
    (0..DRAWS).map(|_| ticks(pacer.gap()) / 1000.0).collect()
}

/// Returns the correlation of two series that both have the exponential distribution with mean 1.
fn correlation(first: &[f64], second: &[f64]) -> f64 {
    let products = first.iter().zip(second).map(|(first, second)| (first - 1.0) * (second - 1.0));
    products.sum::<f64>() / first.len().min(second.len()) as f64
}

#[test]
fn the_mean_of_the_table_is_exactly_one() {
    let sum: u64 = GAPS.iter().map(|&gap| u64::from(gap)).sum();
    assert_eq!(sum, 1 << (GAP_BITS + INDEX_BITS));
}

#[test]
fn the_table_is_the_exponential_distribution() {
    let mut gaps = GAPS.map(|gap| f64::from(gap) / f64::from(1 << GAP_BITS));
    gaps.sort_by(f64::total_cmp);
    let count = gaps.len() as f64;
    let distance = gaps.iter().enumerate().fold(0.0, |most: f64, (place, gap)| {
        let probability = 1.0 - (-gap).exp();
        let (below, above) = (place as f64 / count, (place + 1) as f64 / count);
        most.max((probability - below).abs()).max((probability - above).abs())
    });
    assert!(distance < 0.01, "Kolmogorov distance {distance}");
    // The second moment determines the length of a queue; for the exponential distribution it is 2.
    let second = gaps.iter().map(|gap| gap * gap).sum::<f64>() / count;
    assert!((second - 2.0).abs() < 0.01, "second moment {second}");
}

#[test]
fn gaps_do_not_depend_on_each_other() {
    let (first, other) = (draws(1), draws(2));
    // The standard error is 0.0022.
    for (name, found) in [
        ("next gap", correlation(&first, &first[1..])),
        ("the gap after it", correlation(&first, &first[2..])),
        ("next seed", correlation(&first, &other)),
    ] {
        assert!(found.abs() < 0.01, "{name}: {found}");
    }
    let mean = first.iter().sum::<f64>() / DRAWS as f64;
    assert!((mean - 1.0).abs() < 0.01, "mean {mean}");
}

/// Returns the share of the deadlines before tick `until` that a generator meets, if a counter read takes `look`
/// ticks and an access takes `cost` ticks.
fn delivered(pacer: &Pacer, look: u64, cost: u64, until: u64) -> f64 {
    let (mut pacer, mut ideal) = (pacer.clone(), pacer.clone());
    let (mut now, mut touches, mut offered) = (0, 0, 0);
    while now < until {
        now += look;
        if pacer.due(now) {
            touches += 1;
            pacer.advance(now);
            now += cost;
        }
    }
    while ideal.due(until) {
        offered += 1;
        ideal.advance(ideal.deadline);
    }
    f64::from(touches) / f64::from(offered)
}

#[test]
fn offered_traffic_below_the_limit_is_delivered() {
    for pacing in [Pacing::Poisson, Pacing::Even] {
        // The last case has the highest rate that `burst` allows.
        for (mean, look, cost) in [(100.3, 1, 1), (100.3, 5, 10), (1e4, 25, 100), (100.3, 25, 5)] {
            let pacer = Pacer::new(pacing, gap(mean), 3, 0);
            let found = delivered(&pacer, look, cost, 300_000 * mean as u64);
            assert!((found - 1.0).abs() < 1e-3, "{pacing:?} {mean} {look} {cost}: {found}");
        }
    }
}

#[test]
fn traffic_above_the_limit_is_lost() {
    let pacer = Pacer::new(Pacing::Poisson, gap(100.0), 3, 0);
    let found = delivered(&pacer, 20, 180, 100_000_000);
    assert!((0.48..0.51).contains(&found), "{found}");
}

#[test]
fn a_fraction_of_a_tick_is_not_lost() {
    let mut pacer = Pacer::new(Pacing::Even, gap(2.75), 3, u64::MAX - 1000);
    let start = pacer.deadline;
    for _ in 0..4000 {
        pacer.advance(pacer.deadline);
    }
    assert_eq!(pacer.deadline.wrapping_sub(start), 11_000);
}

#[test]
fn a_busy_generator_catches_up() {
    // An access takes 80 % of the mean gap: with random gaps the generator falls behind, and catches up.
    let pacer = Pacer::new(Pacing::Poisson, gap(100.0), 3, 0);
    let found = delivered(&pacer, 1, 79, 100_000_000);
    assert!((found - 1.0).abs() < 1e-3, "{found}");
}

#[test]
fn lateness_is_kept_up_to_some_mean_gaps() {
    let mut pacer = Pacer::new(Pacing::Even, gap(100.0), 3, 0);
    let first = pacer.deadline;
    assert!(first < 100 && !pacer.due(first - 1) && pacer.due(first));
    let most = 100 * DEBT;
    pacer.advance(first + most + 50);
    assert_eq!(pacer.deadline, first + 100);
    // After the deadline has advanced, the caller is two gaps later than the limit: one of the two is dropped.
    let late = first + most + 300;
    pacer.advance(late);
    assert_eq!(pacer.deadline, first + 300);
    // The caller catches up with all other deadlines.
    for _ in 0..=DEBT {
        assert!(pacer.due(late));
        pacer.advance(late);
    }
    assert!(!pacer.due(late));
}

#[test]
fn a_generator_catches_up_after_an_interrupt_for_any_gap() {
    // The interruption is a hundred gaps long, which exceeds the debt: the generator accesses lines half of the time,
    // and is interrupted for a hundredth of the time.
    for (patience, range) in [(0, 0.99..0.995), (10_000, 0.999..1.001)] {
        let mut pacer = Pacer::new(Pacing::Poisson, gap(100.0), 3, 0).patient(patience);
        let (mut now, mut touches) = (0, 0);
        while now < 100_000_000 {
            now += if now % 1_000_000 < 50 { 10_000 } else { 1 };
            if pacer.due(now) {
                touches += 1;
                pacer.advance(now);
                now += 49;
            }
        }
        let found = f64::from(touches) * 100.0 / now as f64;
        assert!(range.contains(&found), "patience {patience}: {found}");
    }
}

#[test]
fn seeds_give_even_gaps_their_phases() {
    let mut quarters = [0; 4];
    for seed in 0..400 {
        let pacer = Pacer::new(Pacing::Even, gap(400.0), seed, 7);
        quarters[(pacer.deadline - 7) as usize / 100] += 1;
    }
    // A hundred are expected in each quarter, with a standard deviation of 9.
    assert!(quarters.iter().all(|count| (60..140).contains(count)), "{quarters:?}");
}

#[test]
fn bursts_are_as_short_as_the_counter_allows() {
    for (ticks, cost, least, lines) in [
        (100.0, 25, 0, 1),
        (99.0, 25, 0, 2),
        (50.0, 25, 0, 2),
        (25.0, 25, 0, 4),
        (7.0, 25, 0, 16),
        (6.25, 25, 0, 16),
        (6.0, 25, 0, 32),
        (4.0, 25, 0, 64),
        (3.0, 25, 0, 128),
        (1.0, 25, 0, 128),
        // A read costs less than a tick of a coarse counter.
        (4.0, 0, 4, 1),
        (3.9, 0, 4, 2),
        (0.15, 0, 4, 32),
        (0.15, 1, 4, 64),
        (0.01, 0, 4, 128),
    ] {
        assert_eq!(burst(gap(ticks), cost, least), lines, "{ticks}");
    }
    assert_eq!((burst(0, 0, 0), burst(u64::MAX, u64::MAX >> 32, 4)), (1, 1));
}

/// Returns the mean wait of a chase at a server that serves requests in order, in `SERVICE` ticks each.
///
/// Requests arrive at the pacer's deadlines. The chase makes each request when the last one has returned, `IDLE`
/// ticks after its service.
fn wait(pacing: Pacing, load: f64, hops: u32) -> f64 {
    const SERVICE: u64 = 1000;
    const IDLE: u64 = 40 * SERVICE;
    let mut pacer = Pacer::new(pacing, gap(SERVICE as f64 / load), 11, 0);
    let (mut chase, mut free, mut waited) = (0, 0, 0);
    for _ in 0..hops {
        while pacer.deadline <= chase {
            free = pacer.deadline.max(free) + SERVICE;
            pacer.advance(pacer.deadline);
        }
        let start = chase.max(free);
        waited += start - chase;
        free = start + SERVICE;
        chase = free + IDLE;
    }
    waited as f64 / f64::from(hops) / SERVICE as f64
}

#[test]
fn a_chase_waits_in_a_queue_as_theory_says_only_with_exponential_gaps() {
    for load in [0.2, 0.5, 0.8] {
        // The mean waiting time in the queue of a server with constant service times (Pollaczek and Khinchine).
        let theory = load / (2.0 * (1.0 - load));
        let found = wait(Pacing::Poisson, load, 200_000);
        assert!((found - theory).abs() < 0.1, "load {load}: {found} for {theory}");
        let even = wait(Pacing::Even, load, 200_000);
        // At a low load both waiting times are short.
        assert!(load < 0.5 || (even - theory).abs() > 0.1, "load {load}: even gaps make it wait {even}");
    }
}
