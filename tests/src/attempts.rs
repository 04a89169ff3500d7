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
pub fn retried<T>(test: &str, mut body: impl FnMut(u32) -> T) -> T {
    for attempt in 1..ATTEMPTS {
        match catch_unwind(AssertUnwindSafe(|| body(attempt))) {
            Ok(result) => return result,
            Err(reason) => say(test, attempt, &message(&*reason)),
        }
    }
    body(ATTEMPTS)
}

/// Runs `body` until it returns `Ok`, at most [`ATTEMPTS`] times; what the host kept from being conclusive in the last of
/// them, which `Err` says, is reported and no failure.
///
/// # Panics
///
/// As the last attempt does.
pub fn retried_where_quiet(test: &str, mut body: impl FnMut(u32) -> Result<(), String>) {
    let shown = retried(test, |attempt| match body(attempt) {
        Err(reason) if attempt < ATTEMPTS => panic!("not shown: {reason}"),
        shown => shown,
    });
    if let Err(reason) = shown {
        not_shown(test, &reason);
    }
}

/// Reports a failed attempt past the capture of a test that may pass in the end.
fn say(test: &str, attempt: u32, reason: &str) {
    // Nothing is left to tell it to when standard error is closed.
    let _ = writeln!(
        std::io::stderr(),
        "\n==== attempt {attempt} of {ATTEMPTS} failed: {test}\n{reason}\n==== end of the attempt"
    );
}

fn message(reason: &(dyn Any + Send)) -> String {
    let text = reason.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| reason.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_once_or_twice_passes() {
        let passes_at = |number| retried("a test of attempts", |attempt| assert!(attempt >= number));
        passes_at(1);
        passes_at(ATTEMPTS);
    }

    #[test]
    fn what_is_never_shown_passes_after_all_attempts() {
        let mut attempts = 0;
        retried_where_quiet("a test of attempts", |attempt| {
            attempts = attempt;
            Err("a busy host".into())
        });
        assert_eq!(attempts, ATTEMPTS);
    }

    #[test]
    #[should_panic(expected = "always")]
    fn what_always_fails_fails() {
        retried("a test of attempts", |_| panic!("always"));
    }
}
