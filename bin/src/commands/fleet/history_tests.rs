//! Tests with simulated years of hosts: lasting changes are found, and noise, outliers and reboots are not named.

use std::vec::Vec;

use latency_core::Pcg32;
use latency_core::math::ln;

use super::history::{DETECTED_IN, FEWEST_RESULTS, HistoryScan, PastResult, Undecided};
use super::settled::PassingChanges;

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
#[derive(Clone, Copy)]
struct SimulatedHost {
    /// The seed of its noise.
    seed: u64,
    /// The number of points of a result.
    points: usize,
    /// The number of days.
    days: u32,
    /// Makes its noise.
    noise: fn(&mut Pcg32) -> f64,
    /// The scatter of each point.
    scatter: f64,
    /// The correlation of a result with the next one.
    correlation: f64,
    /// The second state of the host, if it has two.
    states: States,
}

/// A state of a host whose results are slower by 8%.
#[derive(Clone, Copy)]
enum States {
    None,
    /// Each boot is in it with this probability.
    Boot(f64),
    /// It begins and ends at each result with this probability.
    Result(f64),
}

const HOST: SimulatedHost = SimulatedHost {
    seed: 0,
    points: 1,
    days: 365,
    noise,
    scatter: 0.02,
    correlation: 0.0,
    states: States::None,
};

impl SimulatedHost {
    /// Returns the series of the mean of all points, and with several points the series of each. There is a reboot about
    /// once a month, a gap of some days about twice a year, and one outlier in 200 results. `level` is the level of a day.
    fn all_series(&self, level: impl Fn(u32) -> f64) -> Vec<Vec<PastResult>> {
        // The states have random numbers of their own.
        let (mut random, mut chance) = (Pcg32::new(self.seed, 77), Pcg32::new(self.seed, 78));
        let points = self.points;
        let count = if points > 1 { points + 1 } else { 1 };
        let (mut state, mut gap, mut series) = (0, 0, std::vec![Vec::new(); count]);
        let mut noises: Vec<f64> = (0..points).map(|_| noise(&mut chance)).collect();
        let mut is_second =
            unit(&mut chance) < if let States::Boot(share) = self.states { share } else { 0.5 };
        for day in 0..self.days {
            let is_boot = unit(&mut random) < 1.0 / 30.0;
            state += u32::from(is_boot);
            match self.states {
                States::Boot(share) if is_boot => is_second = unit(&mut chance) < share,
                States::Result(share) if unit(&mut chance) < share => is_second = !is_second,
                _ => {}
            }
            let second = if is_second && !matches!(self.states, States::None) { 0.08 } else { 0.0 };
            if unit(&mut random) < 1.0 / 180.0 {
                gap = 1 + random.next_u32() % 9;
            }
            let outlier = if unit(&mut random) < 0.005 { 0.3 * unit(&mut random) } else { 0.0 };
            let rest = (1.0 - self.correlation * self.correlation).sqrt();
            for noise in &mut noises {
                *noise = self.correlation * *noise + rest * (self.noise)(&mut random);
            }
            if gap > 0 {
                gap -= 1;
                continue;
            }
            let mean = noises.iter().sum::<f64>() / points as f64;
            for (series, noise) in series.iter_mut().zip([mean].iter().chain(&noises)) {
                let log = ln(98.0 * level(day)) + self.scatter * noise + outlier + second;
                series.push(PastResult {
                    started: day * DAY,
                    state,
                    of_state: [state, 0],
                    log,
                    error: 0.0025,
                });
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
fn assert_false_alarms(hosts: u64, like: SimulatedHost, most: f64) {
    let (mut false_alarms, mut listed, mut all_days) = (0, 0, 0);
    for host in 0..hosts {
        let all = SimulatedHost { seed: 1_000_003 + host, ..like }.all_series(|_| 1.0);
        let named: Vec<_> = all.iter().map(|results| named(results, all.len() as f64)).collect();
        all_days += all[0].len();
        false_alarms += named.iter().map(|named| alarms(named)).sum::<usize>();
        listed += (0..all[0].len()).filter(|day| named.iter().any(|named| named[*day].is_some())).count();
    }
    let share = |count: usize| count as f64 / all_days as f64;
    let (rate, listed) = (1000.0 * share(false_alarms), 100.0 * share(listed));
    std::println!(
        "{rate:.2} false alarms in 1000 of {all_days} days, {listed:.1}% of days with a listed change"
    );
    assert!(rate < most, "{rate}");
}

/// Asserts the shares of hosts, in percent, whose step is named in one of their series after up to 3 and 5 results.
fn assert_found(hosts: u64, like: SimulatedHost, size: f64, least: [f64; 2]) {
    let mut found = [0_usize; 2];
    for host in 0..hosts {
        // The step is on a day of the second to the twelfth month.
        let step = 30 + (host * 37 % 330) as u32;
        let of_year = SimulatedHost { seed: 1_000_003 + host, ..like };
        let all = of_year.all_series(|day| if day >= step { 1.0 + size } else { 1.0 });
        let first = all[0].iter().position(|result| result.started >= step * DAY).unwrap();
        let all: Vec<_> = all.iter().map(|results| named(results, all.len() as f64)).collect();
        for (found, after) in found.iter_mut().zip([3, 5]) {
            let mut within = all.iter().flat_map(|named| named.iter().skip(first).take(after).flatten());
            // A change that was listed before the step is another one.
            *found += usize::from(within.any(|(start, direction)| *direction > 0.0 && start + 3 >= first));
        }
    }
    let found = found.map(|found| 100.0 * found as f64 / hosts as f64);
    std::println!("{found:.1?} % found");
    assert!(found[0] > least[0] && found[1] > least[1], "{found:?}");
}

#[test]
fn a_step_of_5_percent_is_found_within_three_results_of_four_points() {
    assert_found(80, SimulatedHost { points: 4, ..HOST }, 0.05, [92.0, 94.0]);
}

#[test]
fn a_step_of_5_percent_is_mostly_found_within_five_results_of_one_point() {
    assert_found(300, HOST, 0.05, [52.0, 80.0]);
}

#[test]
fn a_step_of_10_percent_is_found_within_five_results_unless_it_is_at_a_reboot() {
    assert_found(300, HOST, 0.1, [93.0, 94.0]);
}

#[test]
fn a_larger_step_is_found_in_correlated_results() {
    assert_found(100, SimulatedHost { correlation: 0.5, ..HOST }, 0.1, [76.0, 84.0]);
    assert_found(100, SimulatedHost { correlation: 0.8, scatter: 0.04, ..HOST }, 0.4, [70.0, 74.0]);
    assert_found(100, SimulatedHost { states: States::Result(0.1), ..HOST }, 0.2, [44.0, 55.0]);
}

#[test]
fn noise_is_rarely_named() {
    assert_false_alarms(60, SimulatedHost { points: 4, ..HOST }, 1.0);
    assert_false_alarms(200, HOST, 1.0);
}

#[test]
fn noise_with_heavier_tails_is_rarely_named() {
    assert_false_alarms(150, SimulatedHost { noise: heavy, ..HOST }, 1.0);
}

#[test]
fn noise_of_hosts_with_few_results_is_rarely_named() {
    assert_false_alarms(200, SimulatedHost { points: 4, days: 40, ..HOST }, 1.0);
    assert_false_alarms(600, SimulatedHost { days: 40, ..HOST }, 1.0);
}

#[test]
fn correlated_noise_is_rarely_named() {
    for (correlation, scatter) in [(0.5, 0.02), (0.5, 0.04), (0.8, 0.04)] {
        assert_false_alarms(150, SimulatedHost { correlation, scatter, ..HOST }, 1.0);
    }
}

#[test]
fn two_states_are_rarely_named() {
    for states in [States::Boot(0.5), States::Boot(0.2), States::Result(0.2), States::Result(0.1)] {
        assert_false_alarms(150, SimulatedHost { states, ..HOST }, 1.0);
    }
}

/// Returns the false alarms in 1000 host-days of fleets of `count` hosts, by series alone and beside the changes of the
/// other hosts that did not last; and the shares of hosts with a step whose step is named within five results.
fn of_fleets(hosts: usize, count: usize, like: SimulatedHost, step: f64) -> ([f64; 2], [f64; 2]) {
    let (mut days, mut alarms, mut found) = (0_usize, [0_usize; 2], [0_usize; 2]);
    let fleets = hosts / count;
    for fleet in 0..fleets {
        let seed = |host: usize| 5_000_000 + (fleet * count + host) as u64;
        let begins = 120 + (fleet * 37 % 200) as u32;
        let level = |host: usize, day: u32| if host == 0 && day >= begins { 1.0 + step } else { 1.0 };
        let hosts: Vec<_> = (0..count)
            .map(|host| SimulatedHost { seed: seed(host), ..like }.results(|day| level(host, day)))
            .collect();
        let mut scans = std::vec![HistoryScan::new(THRESHOLD, 1.0); count];
        let mut passing = PassingChanges::default();
        let (mut known, mut faster) = (Vec::new(), Vec::new());
        for day in 0..like.days {
            let mut changes = Vec::new();
            for (host, (results, scan)) in hosts.iter().zip(&mut scans).enumerate() {
                let end = results.partition_point(|result| result.started <= day * DAY);
                if end == 0 || results[end - 1].started < day * DAY {
                    continue;
                }
                (days, passing.results) = (days + 1, passing.results + 1);
                let before = scan.passed.0;
                scan.add(&results[..end]);
                if scan.passed.0 > before {
                    passing.add(scan.passed.1);
                }
                if let Some((change, [before, after, _])) = scan.found(&results[..end]) {
                    changes.push((host, change, (after - before).abs()));
                    if change.direction < 0.0 && !faster.contains(&(host, change.start)) {
                        faster.push((host, change.start));
                        passing.add(before - after);
                    }
                }
            }
            for (host, change, size) in changes {
                let is_usual = passing.are_usual(size, usize::from(change.direction < 0.0));
                for rule in 0..if is_usual { 1 } else { 2 } {
                    if known.contains(&(host, change.start, rule)) {
                        continue;
                    }
                    known.push((host, change.start, rule));
                    let started = hosts[host][change.start].started;
                    let is_step = step > 0.0 && host == 0 && started + 3 * DAY >= begins * DAY;
                    let in_time = hosts[host]
                        .iter()
                        .filter(|result| result.started >= begins * DAY && result.started <= day * DAY);
                    found[rule] += usize::from(is_step && change.direction > 0.0 && in_time.count() <= 5);
                    alarms[rule] += usize::from(!is_step);
                }
            }
        }
    }
    let rates = alarms.map(|alarms| 1000.0 * alarms as f64 / days as f64);
    (rates, found.map(|found| 100.0 * found as f64 / fleets as f64))
}

#[test]
fn states_that_last_for_weeks_are_rarely_named_in_a_fleet() {
    for every in [30.0, 60.0] {
        let states = States::Result(1.0 / every);
        let ([alone, rate], _) = of_fleets(160, 20, SimulatedHost { states, ..HOST }, 0.0);
        std::println!("changed at one result in {every}: {alone:.2} alone, {rate:.2} in a fleet of 20");
        assert!(rate < 1.0, "{rate}");
    }
}

#[test]
fn a_step_of_10_percent_is_found_in_a_fleet_of_steady_hosts() {
    let ([_, rate], [alone, found]) = of_fleets(240, 4, HOST, 0.1);
    std::println!("{rate:.2} false alarms; {alone:.1}% found alone, {found:.1}% in a fleet of 4");
    assert!(rate < 1.0 && found > 90.0 && found + 4.0 > alone, "{rate} {found} {alone}");
}

#[test]
#[ignore = "minutes: the table of the guide"]
fn fleets_of_the_guide() {
    for every in [20.0, 30.0, 40.0, 60.0] {
        for count in [1, 5, 10, 20, 100] {
            let like = SimulatedHost { states: States::Result(1.0 / every), ..HOST };
            let (rates, _) = of_fleets(400, count, like, 0.0);
            let (_, found) = of_fleets(400, count, like, 0.2);
            std::println!("{every} {count}: {rates:.2?} {found:.1?}");
        }
    }
    for count in [1, 4, 20, 100] {
        std::println!(
            "steady {count}: {:.2?} {:?}",
            of_fleets(400, count, HOST, 0.1),
            of_fleets(400, count, HOST, 0.05).1
        );
    }
}

#[test]
#[ignore = "minutes: the table of the guide"]
fn table_of_the_guide() {
    let cases = [
        ("independent", HOST),
        ("independent, 4 points", SimulatedHost { points: 4, ..HOST }),
        ("heavy", SimulatedHost { noise: heavy, ..HOST }),
        ("heavy, 4 points", SimulatedHost { noise: heavy, points: 4, ..HOST }),
        ("0.5, 2%", SimulatedHost { correlation: 0.5, ..HOST }),
        ("0.5, 4%", SimulatedHost { correlation: 0.5, scatter: 0.04, ..HOST }),
        ("0.8, 4%", SimulatedHost { correlation: 0.8, scatter: 0.04, ..HOST }),
        ("0.8, 4%, 4 points", SimulatedHost { correlation: 0.8, scatter: 0.04, points: 4, ..HOST }),
        ("0.8, 4%, 60 days", SimulatedHost { correlation: 0.8, scatter: 0.04, days: 60, ..HOST }),
        ("boot, 1/2", SimulatedHost { states: States::Boot(0.5), ..HOST }),
        ("boot, 1/5", SimulatedHost { states: States::Boot(0.2), ..HOST }),
        ("every 5", SimulatedHost { states: States::Result(0.2), ..HOST }),
        ("every 10", SimulatedHost { states: States::Result(0.1), ..HOST }),
        ("every 30", SimulatedHost { states: States::Result(1.0 / 30.0), ..HOST }),
        ("every 30, three years", SimulatedHost { states: States::Result(1.0 / 30.0), days: 1095, ..HOST }),
    ];
    for (name, like) in cases {
        std::print!("{name}: ");
        let hosts = if like.points > 1 { 250 } else { 1000 };
        assert_false_alarms(hosts, like, f64::MAX);
        for size in [0.05, 0.1, 0.2, 0.4] {
            assert_found(hosts / 2, SimulatedHost { days: 365, ..like }, size, [-1.0; 2]);
        }
    }
}

#[test]
fn the_detectable_step_is_found_in_nine_of_ten_cases() {
    let cases = [(HOST, 86.0..96.0), (SimulatedHost { correlation: 0.5, ..HOST }, 86.0..98.0)];
    for (like, expected) in cases {
        let (mut found, mut judged) = (0, 0);
        for seed in 0..200 {
            let mut results = SimulatedHost { seed: 3_000_000 + seed, ..like }.results(|_| 1.0);
            let count = 40 + seed as usize * 37 % 280;
            // A step at a reboot waits for further ones.
            results.iter_mut().for_each(|result| result.of_state = [0; 2]);
            let mut scan = HistoryScan::new(THRESHOLD, 1.0);
            (1..=count).for_each(|count| scan.add(&results[..count]));
            if scan.undecided(&results[..count]).is_some() || scan.found(&results[..count]).is_some() {
                continue;
            }
            judged += 1;
            let step = ln(1.0 + scan.detectable().unwrap());
            results[count..].iter_mut().for_each(|result| result.log += step);
            found += usize::from((count + 1..=count + DETECTED_IN).any(|count| {
                scan.add(&results[..count]);
                scan.found(&results[..count]).is_some()
            }));
        }
        let share = 100.0 * f64::from(found as u32) / f64::from(judged);
        std::println!("{share:.1}% of {judged} found");
        assert!(judged > 170 && expected.contains(&share), "{share} of {judged}");
    }
}

/// Returns results that scatter a little, at levels that have a number of boots each, with ten results a boot.
fn boots(levels: &[(f64, u32)], facts: impl Fn(u32) -> u32) -> Vec<PastResult> {
    let boots = levels.iter().flat_map(|(level, boots)| (0..*boots).map(move |_| *level));
    let results = boots.zip(0..).flat_map(|(level, boot)| (0..10).map(move |day| (level, boot, day)));
    let noise = |day: u32| 0.01 * f64::from(day * 7 % 5) - 0.02;
    let result = |(level, boot, day): (f64, u32, u32)| PastResult {
        started: boot * 10 + day,
        state: boot,
        of_state: [boot, facts(boot)],
        log: level + noise(day),
        error: 0.001,
    };
    results.map(result).collect()
}

/// Returns whether a change is named at the end, and the reason why the newest results are not judged.
fn judged(results: &[PastResult]) -> (bool, Option<Undecided>) {
    let mut scan = HistoryScan::new(THRESHOLD, 1.0);
    (1..=results.len()).for_each(|count| scan.add(&results[..count]));
    (scan.found(results).is_some(), scan.undecided(results).map(|(why, _)| why))
}

#[test]
fn a_step_at_a_reboot_is_named_after_further_reboots_or_with_a_changed_fact() {
    let same = |_: u32| 0;
    for (after, expected) in [(1, Some(Undecided::Boot)), (2, Some(Undecided::Boot)), (3, None)] {
        assert_eq!(
            judged(&boots(&[(4.0, 6), (4.1, after)], same)),
            (expected.is_none(), expected),
            "{after}"
        );
    }
    assert_eq!(judged(&boots(&[(4.0, 6), (4.1, 1)], |boot| u32::from(boot > 5))), (true, None));
    // A step between reboots does not come from placement.
    let mut within = boots(&[(4.0, 6)], same);
    within[55..].iter_mut().for_each(|result| result.log += 0.1);
    assert_eq!(judged(&within), (true, None));
}

#[test]
fn a_return_to_an_earlier_level_is_not_named() {
    let facts = |boot: u32| boot;
    let back = boots(&[(4.0, 4), (4.1, 3), (4.0, 1)], facts);
    assert_eq!(judged(&back[..70]), (true, None));
    assert_eq!(judged(&back), (false, Some(Undecided::Returned)));
    // A third level is a change.
    assert!(judged(&boots(&[(4.0, 4), (4.1, 3), (4.0, 3), (4.3, 1)], facts)).0);
}

#[test]
fn correlated_results_are_too_few_and_then_judged() {
    let host = SimulatedHost { correlation: 0.8, scatter: 0.04, ..HOST };
    let mut counts = [0; 2];
    for seed in 0..50 {
        let results = SimulatedHost { seed, ..host }.results(|_| 1.0);
        for (count, length) in counts.iter_mut().zip([40, 300]) {
            *count += u32::from(judged(&results[..length]).1 == Some(Undecided::Correlated));
        }
    }
    assert!(counts[0] > 40 && counts[1] < 25, "{counts:?}");
    let few = HOST.results(|_| 1.0);
    assert_eq!(judged(&few[..9]).1, Some(Undecided::Few));
    assert_eq!(judged(&few[..50]).1, None);
}

/// Returns the number of 200 hosts with 20 independent results, and 5 more after a step, that fulfil `is`.
fn of_25_results(step: f64, is: impl Fn((bool, Option<Undecided>)) -> bool) -> usize {
    let of = |seed: &u64| {
        let mut random = Pcg32::new(*seed, 79);
        let result = |place: u32| PastResult {
            started: place * DAY,
            state: 0,
            of_state: [0; 2],
            log: 0.02 * noise(&mut random) + if place < 20 { 0.0 } else { ln(1.0 + step) },
            error: 0.0025,
        };
        is(judged(&(0..25).map(result).collect::<Vec<_>>()))
    };
    (0..200).filter(of).count()
}

#[test]
fn a_large_step_is_found_after_20_independent_results() {
    let is_found = |judged: (bool, _)| judged.0;
    let found = [0.0, 0.25, 0.5].map(|step| of_25_results(step, is_found));
    let refused = of_25_results(0.0, |judged| judged.1.is_some());
    std::println!("{found:?} found, {refused} refused");
    assert!(found[0] <= 1 && found[1] >= 195 && found[2] >= 195 && refused <= 10);
}

#[test]
fn the_time_of_a_step_is_found_and_a_step_back_ends_it() {
    let mut near = 0;
    for seed in 0..100 {
        let host = SimulatedHost { seed, points: 4, days: 200, ..HOST };
        let results = host.results(|day| if day >= 120 { 1.08 } else { 1.0 });
        let first = results.iter().position(|result| result.started >= 120 * DAY).unwrap();
        // If there is a reboot on that day, further ones have to confirm it.
        let is_near = |change: &Option<(usize, f64)>| {
            change.is_some_and(|(start, direction)| direction > 0.0 && start.abs_diff(first) <= 1)
        };
        near += usize::from(named(&results, 5.0).last().is_some_and(is_near));
        let back = host.results(|day| if (60..120).contains(&day) { 1.08 } else { 1.0 });
        assert_eq!(named(&back, 5.0).last(), Some(&None), "{seed}");
    }
    assert!(near >= 90, "{near}");
}

#[test]
fn a_slow_drift_is_named_and_a_smaller_one_is_not() {
    let (mut of_large, mut of_small) = (0, 0);
    for seed in 0..50 {
        let host = SimulatedHost { seed, points: 4, ..HOST };
        let last = |by: f64| {
            let named = named(&host.results(|day| 1.0 + by * f64::from(day) / 365.0), 5.0);
            named.last().copied().flatten().map(|(_, direction)| direction)
        };
        of_large += usize::from(last(0.12) == Some(1.0));
        of_small += usize::from(last(0.01).is_some());
    }
    // A faster drift looks like correlated results.
    assert!(of_large >= 45, "{of_large} of 50");
    assert!(of_small <= 1, "{of_small} of 50");
}

#[test]
fn a_single_outlier_of_any_size_is_not_named() {
    let mut named_outliers = 0;
    for seed in 0..400 {
        let host = SimulatedHost { seed, points: 4, days: 60, ..HOST };
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
            of_state: [0; 2],
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
        of_state: [0; 2],
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
        of_state: [0; 2],
        log: if place < 20 { 4.0 } else { 4.7 },
        error: 0.0,
    };
    let results: Vec<_> = (0..40).map(result).collect();
    let named = named(&results, 1.0);
    assert_eq!(named[20], None);
    assert!(named[21..].iter().all(|change| *change == Some((20, 1.0))), "{named:?}");
}
