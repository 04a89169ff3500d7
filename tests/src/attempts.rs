//! Retries for tests that a busy host can disturb: up to three attempts.
//!
//! A wrong program fails in each attempt; a busy host rarely disturbs three in a row. Every failed attempt is
//! printed, even if a later one passes.

use crate::skip::not_shown;
use std::any::Any;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Number of attempts, including the first.
pub const ATTEMPTS: u32 = 3;

/// Runs `body` until it returns, at most [`ATTEMPTS`] times.
///
/// # Panics
///
/// If the last attempt panics.
pub fn retried<T>(test: &str, body: impl FnMut(u32) -> T) -> T {
    attempts(body, |attempt, reason| failed_attempt(test, attempt, reason))
}

/// Runs `body` until it returns `Ok`, at most [`ATTEMPTS`] times. If even the last attempt is inconclusive
/// because of the host (`Err`), the test is reported as not shown.
///
/// # Panics
///
/// If the last attempt panics.
pub fn retried_where_quiet(test: &str, body: impl FnMut(u32) -> Result<(), String>) {
    let tell = |attempt, reason: &str| failed_attempt(test, attempt, reason);
    if let Err(reason) = attempts_where_quiet(body, tell) {
        not_shown(test, &reason);
    }
}

/// Reports a failed attempt that is followed by another one. It bypasses the capture of output, since the
/// test may pass in the end.
///
/// `latency_tests::lanes` counts these lines.
pub fn failed_attempt(test: &str, attempt: u32, reason: &str) {
    // If standard error is closed, there is no other place to report it.
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
    fn a_retry_passes_and_each_failed_attempt_is_reported() {
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
    fn an_inconclusive_test_is_reported_after_all_attempts() {
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
