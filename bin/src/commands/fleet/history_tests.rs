//! Tests with simulated years of hosts: lasting changes are found, and noise, outliers and reboots are not named.

use std::vec::Vec;

use latency_core::math::ln;
use latency_core::rng::Pcg32;

use super::history::{FEWEST_RESULTS, HistoryScan, PastResult};

const DAY: u32 = 86_400;
const THRESHOLD: f64 = 0.03;

/// Returns nearly normal noise with standard deviation 1.
fn noise(random: &mut Pcg32) -> f64 {
    (0..12).map(|_| unit(random)).sum::<f64>() - 6.0
}

/// Returns noise with standard deviation 1 and heavier tails: Student's distribution with 5 degrees of freedom.
fn heavy(random: &mut Pcg32) -> f64 {
    let squares: f64 = (0..5).map(|_| noise(random).powi(2)).sum();
    noise(random) / (squares / 3.0).sqrt()
}

fn unit(random: &mut Pcg32) -> f64 {
    f64::from(random.next_u32()) / f64::from(u32::MAX)
}

/// A host with one result on each day, except for gaps.
struct SimulatedHost {
    /// The seed of its noise.
    seed: u64,
    /// The number of points of a result. Each scatters by 2%.
    points: usize,
    /// The number of days.
    days: u32,
    /// Makes its noise.
    noise: fn(&mut Pcg32) -> f64,
}

impl SimulatedHost {
    /// Returns the series of the mean of all points, and with several points the series of each. There is a reboot about
    /// once a month, a gap of some days about twice a year, and one outlier in 200 results. `level` is the level of a day.
    fn all_series(&self, level: impl Fn(u32) -> f64) -> Vec<Vec<PastResult>> {
        let mut random = Pcg32::new(self.seed, 77);
        let points = self.points;
        let count = if points > 1 { points + 1 } else { 1 };
        let (mut state, mut gap, mut series) = (0, 0, std::vec![Vec::new(); count]);
        for day in 0..self.days {
            state += u32::from(unit(&mut random) < 1.0 / 30.0);
            if unit(&mut random) < 1.0 / 180.0 {
                gap = 1 + random.next_u32() % 9;
            }
            let outlier = if unit(&mut random) < 0.005 { 0.3 * unit(&mut random) } else { 0.0 };
            let noises: Vec<f64> = (0..points).map(|_| 0.02 * (self.noise)(&mut random)).collect();
            if gap > 0 {
                gap -= 1;
                continue;
            }
            let mean = noises.iter().sum::<f64>() / points as f64;
            for (series, noise) in series.iter_mut().zip([mean].iter().chain(&noises)) {
                let log = ln(98.0 * level(day)) + noise + outlier;
                series.push(PastResult { started: day * DAY, state, log, error: 0.0025 });
            }
        }
        series
    }

    /// Returns the series of the mean alone.
    fn results(&self, level: impl Fn(u32) -> f64) -> Vec<PastResult> {
        self.all_series(level).swap_remove(0)
    }
}

/// Returns the changes that are named after each result: the index of the first result after the change, and the
/// direction.
fn named(results: &[PastResult], series: f64) -> Vec<Option<(usize, f64)>> {
    let mut scan = HistoryScan::new(THRESHOLD, series);
    (1..=results.len())
        .map(|count| {
            scan.add(&results[..count]);
            scan.found(&results[..count]).map(|(change, _)| (change.start, change.direction))
        })
        .collect()
}

/// Returns the number of alarms: results after which a change is named that was not named before.
fn alarms(named: &[Option<(usize, f64)>]) -> usize {
    let mut known = Vec::new();
    for change in named.iter().flatten() {
        if !known.contains(&change.0) {
            known.push(change.0);
        }
    }
    known.len()
}

/// Asserts the rate of false alarms in 1000 host-days, in all series of a host together.
fn assert_false_alarms(points: usize, hosts: u64, days: u32, noise: fn(&mut Pcg32) -> f64, most: f64) {
    let (mut false_alarms, mut all_days) = (0, 0);
    for host in 0..hosts {
        let all = SimulatedHost { seed: 1_000_003 + host, points, days, noise }.all_series(|_| 1.0);
        all_days += all[0].len();
        false_alarms += all.iter().map(|results| alarms(&named(results, all.len() as f64))).sum::<usize>();
    }
    let rate = 1000.0 * false_alarms as f64 / all_days as f64;
    std::println!("{points} points, {days} days: {rate:.2} false alarms in 1000 of {all_days} days");
    assert!(rate < most, "{rate}");
}

/// Asserts the shares of hosts, in percent, whose step of 5% is named in one of their series after up to 3 and 5 results.
fn assert_found(points: usize, hosts: u64, least: [f64; 2]) {
    let mut found = [0_usize; 2];
    for host in 0..hosts {
        // The step is on a day of the second to the twelfth month.
        let step = 30 + (host * 37 % 330) as u32;
        let of_year = SimulatedHost { seed: 1_000_003 + host, points, days: 365, noise };
        let all = of_year.all_series(|day| if day >= step { 1.05 } else { 1.0 });
        let first = all[0].iter().position(|result| result.started >= step * DAY).unwrap();
        let all: Vec<_> = all.iter().map(|results| named(results, all.len() as f64)).collect();
        for (found, after) in found.iter_mut().zip([3, 5]) {
            let mut within = all.iter().flat_map(|named| named.iter().skip(first).take(after).flatten());
            *found += usize::from(within.any(|(_, direction)| *direction > 0.0));
        }
    }
    let found = found.map(|found| 100.0 * found as f64 / hosts as f64);
    std::println!("{points} points: {found:.1?} % found");
    assert!(found[0] > least[0] && found[1] > least[1], "{found:?}");
}

#[test]
fn a_step_of_5_percent_is_found_within_three_results_of_four_points() {
    assert_found(4, 250, [98.0, 99.0]);
}

#[test]
fn a_step_of_5_percent_is_mostly_found_within_three_results_of_one_point() {
    assert_found(1, 1000, [62.0, 89.0]);
}

#[test]
fn noise_is_rarely_named() {
    assert_false_alarms(4, 250, 365, noise, 0.8);
    assert_false_alarms(1, 500, 365, noise, 0.8);
}

#[test]
fn noise_with_heavier_tails_is_rarely_named() {
    assert_false_alarms(4, 250, 365, heavy, 1.0);
    assert_false_alarms(1, 500, 365, heavy, 1.0);
}

#[test]
fn noise_of_hosts_with_few_results_is_rarely_named() {
    assert_false_alarms(4, 500, 40, noise, 1.0);
    assert_false_alarms(1, 1000, 40, noise, 1.0);
}

#[test]
fn the_time_of_a_step_is_found_and_a_step_back_too() {
    let (mut near, mut near_back) = (0, 0);
    for seed in 0..100 {
        let host = SimulatedHost { seed, points: 4, days: 200, noise };
        let results = host.results(|day| if day >= 120 { 1.08 } else { 1.0 });
        let first = results.iter().position(|result| result.started >= 120 * DAY).unwrap();
        let (start, direction) = named(&results, 5.0).last().copied().flatten().expect("a change");
        assert_eq!(direction, 1.0);
        near += usize::from(start.abs_diff(first) <= 1);
        let back = host.results(|day| if (60..120).contains(&day) { 1.08 } else { 1.0 });
        let (start, direction) = named(&back, 5.0).last().copied().flatten().expect("a change");
        assert_eq!(direction, -1.0, "{seed}");
        let first = back.iter().position(|result| result.started >= 120 * DAY).unwrap();
        near_back += usize::from(start.abs_diff(first) <= 1);
    }
    assert!(near >= 90 && near_back >= 90, "{near} {near_back}");
}

#[test]
fn a_slow_drift_is_named_and_a_smaller_one_is_not() {
    let mut of_small = 0;
    for seed in 0..50 {
        let host = SimulatedHost { seed, points: 4, days: 365, noise };
        let drift = |by: f64| named(&host.results(|day| 1.0 + by * f64::from(day) / 365.0), 5.0);
        let last = drift(0.12).last().copied().flatten();
        assert_eq!(last.map(|(_, direction)| direction), Some(1.0), "{seed}");
        of_small += usize::from(drift(0.01).last().unwrap().is_some());
    }
    assert!(of_small <= 1, "{of_small} of 50");
}

#[test]
fn a_single_outlier_of_any_size_is_not_named() {
    let mut named_outliers = 0;
    for seed in 0..400 {
        let host = SimulatedHost { seed, points: 4, days: 60, noise };
        let mut results = host.results(|_| 1.0);
        let before = alarms(&named(&results, 5.0));
        let place = 20 + seed as usize % 20;
        results[place].log += [0.1, 0.5, 3.0, -0.5][seed as usize % 4];
        named_outliers += usize::from(alarms(&named(&results, 5.0)) > before);
    }
    assert!(named_outliers <= 10, "{named_outliers} of 400");
}

#[test]
fn few_results_are_never_named() {
    for count in 0..FEWEST_RESULTS {
        let result = |place: usize| PastResult {
            started: place as u32,
            state: 0,
            log: if place * 2 > count { 1.0 } else { 0.0 },
            error: 0.0,
        };
        let results: Vec<_> = (0..count).map(result).collect();
        assert_eq!(alarms(&named(&results, 1.0)), 0);
    }
}

#[test]
fn results_with_wide_intervals_do_not_make_a_change() {
    let result = |place: u32, error: f64| PastResult {
        started: place,
        state: 0,
        log: if place < 30 { 0.0 } else { 0.1 } + 0.001 * f64::from(place % 3),
        error,
    };
    let results = |error: f64| (0..36).map(|place| result(place, error)).collect::<Vec<_>>();
    assert!(named(&results(0.002), 1.0).last().unwrap().is_some());
    assert!(named(&results(0.2), 1.0).last().unwrap().is_none());
}

#[test]
fn a_large_step_between_equal_values_is_named_after_two_results() {
    let result = |place: u32| PastResult {
        started: place,
        state: 0,
        log: if place < 20 { 4.0 } else { 4.7 },
        error: 0.0,
    };
    let results: Vec<_> = (0..40).map(result).collect();
    let named = named(&results, 1.0);
    assert_eq!(named[20], None);
    assert!(named[21..].iter().all(|change| *change == Some((20, 1.0))), "{named:?}");
}
