//! Runs a property over generated cases: a fixed number in `make test`, as many as time allows in `make
//! fuzz`.
//!
//! A seed determines the cases. `FUZZ_SECONDS` or `FUZZ_CASES` select the long form, with a limit for each
//! target; it starts from a new seed each time (`FUZZ_SEED` repeats one) and prints a summary.

use core::fmt::Debug;
use std::io::Write;
use std::string::String;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};
use std::{format, thread};

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseResult, TestError, TestRng, TestRunner};

/// Cases between two readings of the clock.
const BATCH: u64 = 1000;
/// Time after which one case of the long form counts as an endless loop.
const ENDLESS: Duration = Duration::from_secs(300);

fn asked(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{variable}={text}")))
}

/// The effort for a target.
struct Effort {
    cases: u64,
    seconds: Option<u64>,
    seed: u64,
    is_long: bool,
}

impl Effort {
    fn asked_for(usual: u64) -> Effort {
        let (cases, seconds) = (asked("FUZZ_CASES"), asked("FUZZ_SECONDS"));
        let is_long = cases.is_some() || seconds.is_some();
        let now = || SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos() as u64);
        let seed = asked("FUZZ_SEED").unwrap_or_else(|| if is_long { now() } else { 42 });
        let cases = cases.unwrap_or(if is_long { u64::MAX } else { usual });
        Effort { cases, seconds, seed, is_long }
    }
}

/// Checks `property` for `usual` values of `strategy`, or for as many as the environment requests.
///
/// # Panics
///
/// If the property does not hold, with the smallest value found.
pub fn check<S: Strategy>(
    target: &'static str,
    usual: u64,
    strategy: &S,
    property: impl Fn(S::Value) -> TestCaseResult,
) where
    S::Value: Debug,
{
    let effort = Effort::asked_for(usual);
    let mut seed = [0; 32];
    for (bytes, salt) in seed.chunks_mut(8).zip(0..) {
        bytes.copy_from_slice(&effort.seed.wrapping_add(salt).to_le_bytes());
    }
    let done = Arc::new(AtomicU64::new(0));
    if effort.is_long {
        watch(target, Arc::clone(&done));
    }
    let begun = Instant::now();
    let config = Config {
        failure_persistence: None,
        max_global_rejects: u32::MAX,
        ..Config::with_cases(BATCH.min(usual).min(effort.cases) as u32)
    };
    let mut runner =
        TestRunner::new_with_rng(config.clone(), TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    while done.load(Ordering::Relaxed) < effort.cases
        && effort.seconds.is_none_or(|limit| begun.elapsed().as_secs() < limit)
    {
        let counted = |value: S::Value| {
            done.fetch_add(1, Ordering::Relaxed);
            property(value)
        };
        match runner.run(strategy, counted) {
            Ok(()) => {}
            Err(TestError::Fail(why, value)) => {
                panic!("{target}, FUZZ_SEED={}: {why}\nfor {value:?}", effort.seed)
            }
            Err(TestError::Abort(why)) => panic!("{target}: {why}"),
        }
        // A runner counts its cases; the next one continues the sequence of numbers.
        runner = TestRunner::new_with_rng(config.clone(), runner.new_rng());
    }
    let (cases, seconds) = (done.load(Ordering::Relaxed), begun.elapsed().as_secs_f64());
    done.store(u64::MAX, Ordering::Relaxed);
    if effort.is_long {
        let rate = cases as f64 / seconds;
        say(&format!(
            "{target:24} {cases:>10} cases {seconds:>7.1} s {rate:>9.0} a second  seed {}",
            effort.seed
        ));
    }
}

/// Prints a line from a passing test, bypassing the capture.
fn say(line: &str) {
    // If standard error is closed, there is no other place to report it.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Ends the process if the number of cases stops changing before it reaches the maximum.
fn watch(target: &'static str, done: Arc<AtomicU64>) {
    thread::spawn(move || {
        let mut last = (0, Instant::now());
        loop {
            thread::sleep(Duration::from_secs(1));
            match done.load(Ordering::Relaxed) {
                u64::MAX => return,
                now if now != last.0 => last = (now, Instant::now()),
                _ if last.1.elapsed() > ENDLESS => {
                    say(&format!("{target}: one case takes more than {ENDLESS:?}"));
                    std::process::abort();
                }
                _ => {}
            }
        }
    });
}

/// Returns the first character of a text that could control a terminal.
pub fn steers(text: &str) -> Option<String> {
    let control = text.chars().find(|character| character.is_control() && *character != '\n')?;
    Some(format!("{control:?} in {text:?}"))
}
