//! The share of intervals that cover the truth, in simulated time: over noise of every kind, with the rule that ends a
//! run.
//!
//! The test makes 100 runs of each kind, or LATENCY_BENCH_COVERAGE_RUNS of them if that variable is set.

use latency_core::chain::WINDOWS;
use std::boxed::Box;
use std::f64::consts::TAU;
use std::vec::Vec;

use latency_core::{Estimate, Interval, PageSize, Pcg32, ToReal};

use crate::budget::Budget;
use crate::schedule::tests::{points, run};
use crate::tests::simulated::place::Hop;

/// The latency without noise.
const TRUTH: f64 = 100.0;
/// Nanoseconds over which rounds are spread.
const SPREAD_NS: f64 = 5e9;
/// Standard deviation of an undisturbed round, as a fraction.
const QUIET: f64 = 0.003;

/// A source of random numbers of several distributions.
struct Chance(Pcg32);

impl Chance {
    fn uniform(&mut self) -> f64 {
        f64::from(self.0.next_u32()) / f64::from(u32::MAX)
    }

    /// Returns a nearly normal number, with a standard deviation of one.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    /// Returns an exponentially distributed time with that mean, as between independent events.
    fn wait(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.uniform()).max(1e-9).ln()
    }
}

/// A function from simulated time to latency, as a fraction of the truth, drawn for each run.
type Noise = Box<dyn FnMut(&mut Chance, bool, f64) -> f64>;

/// A kind of noise and the true median under it.
struct Kind {
    name: &'static str,
    median: f64,
    make: fn(&mut Chance) -> Noise,
}

/// Returns noise whose consecutive rounds have that correlation.
fn correlated(chance: &mut Chance, correlation: f64) -> Noise {
    let mut value = chance.normal();
    let new = (1.0 - correlation * correlation).sqrt();
    Box::new(move |chance, first, _| {
        if first {
            value = correlation * value + new * chance.normal();
        }
        1.0 + 0.01 * value
    })
}

/// Returns noise that a sine moves by 2 % either way; `period` is its period as a share of the spread.
fn sine(chance: &mut Chance, period: f64) -> Noise {
    let phase = chance.uniform();
    let mut quiet = correlated(chance, 0.0);
    Box::new(move |chance, first, now_ns| {
        let own = 1.0 + (quiet(chance, first, now_ns) - 1.0) * QUIET / 0.01;
        own + 0.02 * (TAU * (now_ns / SPREAD_NS / period + phase)).sin()
    })
}

/// Returns noise that alternates between two states, each with a mean length of some seconds; the addition of the
/// second state is drawn each time.
fn states(chance: &mut Chance, (fast, slow): (f64, f64), adds: fn(&mut Chance) -> f64) -> Noise {
    let is_slow = chance.uniform() < slow / (fast + slow);
    let mut added = if is_slow { adds(chance) } else { 0.0 };
    let mut until_ns = chance.wait(if is_slow { slow } else { fast }) * 1e9;
    let mut quiet = correlated(chance, 0.0);
    Box::new(move |chance, first, now_ns| {
        while until_ns <= now_ns {
            let is_slow = added == 0.0;
            added = if is_slow { adds(chance) } else { 0.0 };
            until_ns += chance.wait(if is_slow { slow } else { fast }) * 1e9;
        }
        1.0 + (quiet(chance, first, now_ns) - 1.0) * QUIET / 0.01 + added
    })
}

const KINDS: [Kind; 9] = [
    Kind { name: "quiet", median: 1.0, make: |chance| states(chance, (1e9, 1e-9), |_| 0.0) },
    Kind { name: "neighbours alike by 0.3", median: 1.0, make: |chance| correlated(chance, 0.3) },
    Kind { name: "neighbours alike by 0.7", median: 1.0, make: |chance| correlated(chance, 0.7) },
    Kind { name: "sine, 0.1 of the spread", median: 1.0, make: |chance| sine(chance, 0.1) },
    Kind { name: "sine, 0.2 of the spread", median: 1.0, make: |chance| sine(chance, 0.2) },
    Kind { name: "sine, 0.3 of the spread", median: 1.0, make: |chance| sine(chance, 0.3) },
    Kind { name: "sine, 0.5 of the spread", median: 1.0, make: |chance| sine(chance, 0.5) },
    Kind {
        name: "bursts",
        // A tenth of the time is slower, so the median of all is at the 5/9 quantile of the fast state.
        median: 1.0 + 0.14 * QUIET,
        make: |chance| states(chance, (2.7, 0.3), |chance| 0.05 + 0.25 * chance.uniform()),
    },
    Kind {
        name: "two states",
        // 35 % of the time is slower, so the median of all is at the quantile 0.5 / 0.65, 0.74 deviations above the
        // middle of the fast state.
        median: 1.0 + 0.736 * QUIET,
        make: |chance| states(chance, (0.65, 0.35), |_| 0.12),
    },
];

/// Simulates runs. Returns the number of intervals that cover the median, the means of their half widths and of rounds,
/// and the number of precise runs.
fn simulated(kind: &Kind, runs: u64) -> (u64, f64, f64, u64) {
    let (mut held, mut width, mut rounds, mut precise) = (0, 0.0, 0, 0);
    for seed in 0..runs {
        let mut chance = Chance(Pcg32::new(seed, 99));
        let mut noise = (kind.make)(&mut chance);
        let budget = Budget { rounds: 31, walk_ns: 0.0, spread_ns: SPREAD_NS, ..Budget::DEFAULT };
        let latency = |hop: Hop| {
            let own = 1.0 + 0.005 * (chance.uniform() - 0.5);
            TRUTH * own * noise(&mut chance, hop.laps == 0.0, hop.now_ns)
        };
        let (mut schedule, _) = run(budget, points(1), latency);
        let (entry, series) = schedule.series(0).unwrap();
        let interval = series.nanoseconds.interval.unwrap();
        let truth = TRUTH * kind.median;
        held += u64::from(interval.low <= truth && truth <= interval.high);
        precise += u64::from(series.is_precise(budget.precision));
        width += series.half_width();
        rounds += entry.state.rounds;
    }
    (held, width / runs.real(), rounds.real() / runs.real(), precise)
}

/// Nanoseconds of memory, and of a page walk in grouped chains and of the translation of a random load.
const MEMORY: f64 = 150.0;
const WALK: f64 = 80.0;
const ADDED: f64 = 120.0;
/// Standard deviation of the turn of a chain in a round, as a fraction, independent of other chains.
const SCATTER: f64 = 0.01;

/// Simulates runs of grouped chains. Returns the numbers of intervals that cover memory and that cover translation, and
/// the mean half width of those of memory, as a fraction.
fn split_in_two(kind: &Kind, runs: u64) -> (u64, u64, f64) {
    let (mut of_memory, mut of_translation, mut width) = (0, 0, 0.0);
    for seed in 0..runs {
        let mut chance = Chance(Pcg32::new(seed, 101));
        let mut noise = (kind.make)(&mut chance);
        let split = Some(PageSize::KIB_4);
        let budget = Budget { rounds: 31, walk_ns: 0.0, spread_ns: SPREAD_NS, split, ..Budget::DEFAULT };
        let (mut own, mut last) = (1.0, usize::MAX);
        let latency = |hop: Hop| {
            if core::mem::replace(&mut last, hop.chain) != hop.chain {
                own = 1.0 + SCATTER * chance.normal();
            }
            let nanoseconds = match hop.chain.checked_sub(1).and_then(|index| WINDOWS.get(index)) {
                Some(window) => MEMORY + WALK / window.visits.real(),
                None => MEMORY + ADDED,
            };
            nanoseconds * own * noise(&mut chance, hop.laps == 0.0, hop.now_ns)
        };
        let (mut schedule, _) = run(budget, points(1), latency);
        let (_, series) = schedule.series(0).unwrap();
        let parts = series.parts().expect("windows are alike");
        let covers = |found: Estimate, truth: f64| {
            let Interval { low, high } = found.interval.unwrap();
            u64::from(low <= truth * kind.median && truth * kind.median <= high)
        };
        of_memory += covers(parts.without_translation, MEMORY);
        of_translation += covers(parts.translation, ADDED);
        width += parts.without_translation.half().unwrap();
    }
    (of_memory, of_translation, width / runs.real())
}

#[test]
fn intervals_of_memory_and_translation_cover_the_truth_in_93_of_100_runs() {
    let runs: u64 =
        std::env::var("LATENCY_BENCH_COVERAGE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(100);
    let mut missed = Vec::new();
    for kind in &KINDS {
        let (of_memory, of_translation, width) = split_in_two(kind, runs);
        let shares = [of_memory, of_translation].map(|held| held.real() / runs.real());
        std::println!("{}: {shares:?} of {runs} runs; memory +- {:.2} %", kind.name, width * 100.0);
        let least = 0.93 - if runs < 2000 { 0.03 } else { 0.0 };
        if shares.iter().any(|share| *share < least) || kind.name == "quiet" && width > 0.04 {
            missed.push((kind.name, shares, width));
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn intervals_cover_the_truth_in_93_of_100_runs_under_every_noise() {
    let runs: u64 =
        std::env::var("LATENCY_BENCH_COVERAGE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(100);
    let mut missed = Vec::new();
    for kind in &KINDS {
        let (held, width, rounds, precise) = simulated(kind, runs);
        let share = held.real() / runs.real();
        std::println!(
            "{}: {:.1} % of {runs} intervals hold it; +- {:.2} %, {rounds:.0} rounds, {:.0} % precise",
            kind.name,
            share * 100.0,
            width * 100.0,
            precise.real() / runs.real() * 100.0
        );
        // The share over 100 runs has a standard error of 2.6 %.
        if share < 0.93 - if runs < 2000 { 0.03 } else { 0.0 } {
            missed.push((kind.name, share));
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}
