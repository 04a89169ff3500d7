//! Tests of what a busy host can spoil: a failed attempt is made again, up to three in all.
//!
//! A program that is wrong is wrong in each attempt; a host that was busy in one is rarely so in three at the same
//! moment. Every failed attempt is printed, also where a later one passes.

use crate::skip::not_shown;
use std::any::Any;
use std::io::Write;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// Attempts, the first included.
pub const ATTEMPTS: u32 = 3;

/// Runs `body` until it returns, at most [`ATTEMPTS`] times.
///
/// # Panics
///
/// As the last attempt does.
pub fn retried<T>(test: &str, body: impl FnMut(u32) -> T) -> T {
    attempts(body, |attempt, reason| failed_attempt(test, attempt, reason))
}

/// Runs `body` until it returns `Ok`, at most [`ATTEMPTS`] times. Where even the last attempt is not conclusive because of
/// the host, which `Err` says, the test is reported as not shown.
///
/// # Panics
///
/// As the last attempt does.
pub fn retried_where_quiet(test: &str, body: impl FnMut(u32) -> Result<(), String>) {
    let tell = |attempt, reason: &str| failed_attempt(test, attempt, reason);
    if let Err(reason) = attempts_where_quiet(body, tell) {
        not_shown(test, &reason);
    }
}

/// Reports an attempt that failed and is followed by another one, past the capture of a test that may pass in the end.
///
/// `latency_tests::lanes` counts these lines.
pub fn failed_attempt(test: &str, attempt: u32, reason: &str) {
    // Nothing is left to tell it to when standard error is closed.
    let _ = writeln!(
        std::io::stderr(),
        "\n==== attempt {attempt} of {ATTEMPTS} failed: {test}\n{reason}\n==== end of the attempt"
    );
}

fn attempts<T>(mut body: impl FnMut(u32) -> T, tell: impl Fn(u32, &str)) -> T {
    for attempt in 1..ATTEMPTS {
        match catch_unwind(AssertUnwindSafe(|| body(attempt))) {
            Ok(result) => return result,
            Err(reason) => tell(attempt, &message(&*reason)),
        }
    }
    body(ATTEMPTS)
}

fn attempts_where_quiet(
    mut body: impl FnMut(u32) -> Result<(), String>,
    tell: impl Fn(u32, &str),
) -> Result<(), String> {
    let body = |attempt| match body(attempt) {
        Err(reason) if attempt < ATTEMPTS => panic!("not shown: {reason}"),
        shown => shown,
    };
    attempts(body, tell)
}

fn message(reason: &(dyn Any + Send)) -> String {
    let text = reason.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| reason.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const QUIETLY: fn(u32, &str) = |_, _| {};

    #[test]
    fn a_test_that_fails_once_or_twice_passes_and_each_failure_is_told() {
        for passes_at in [1, ATTEMPTS] {
            let told = Cell::new(0);
            let tell = |attempt, reason: &str| {
                assert!(reason.contains("too early"), "{reason}");
                told.set(attempt);
            };
            attempts(|attempt| assert!(attempt >= passes_at, "too early"), tell);
            assert_eq!(told.get(), passes_at - 1);
        }
    }

    #[test]
    fn a_test_that_is_never_conclusive_says_so_after_all_attempts() {
        let mut made = 0;
        let shown = attempts_where_quiet(
            |attempt| {
                made = attempt;
                Err("a busy host".into())
            },
            QUIETLY,
        );
        assert_eq!((made, shown), (ATTEMPTS, Err("a busy host".into())));
    }

    #[test]
    #[should_panic(expected = "always")]
    fn a_test_that_always_fails_fails() {
        attempts(|_| panic!("always"), QUIETLY);
    }
}
