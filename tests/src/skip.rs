//! Reports tests that were skipped, or that the host kept from being conclusive; a skip fails if the test is
//! required.

use std::io::Write;

/// If this variable is set (and not `0`), no test that needs an emulator may be skipped.
pub const REQUIRE_VARIABLE: &str = "LATENCY_BENCH_REQUIRE_EMULATOR";

/// Reports on the real standard error that `test` did not run, and why.
///
/// The test harness captures `eprintln!` of a test that passes, and a skipped test passes; so this function
/// bypasses the capture. The line begins with `SKIPPED`; `latency_tests::lanes` counts it as skipped and not
/// as passed.
///
/// # Panics
///
/// If [`REQUIRE_VARIABLE`] is set.
pub fn skip(test: &str, reason: &str) {
    let required = std::env::var_os(REQUIRE_VARIABLE).is_some_and(|value| !value.is_empty() && value != "0");
    assert!(!required, "{test} must run ({REQUIRE_VARIABLE} is set), but: {reason}");
    // If standard error is closed, there is no other place to report it.
    let _ = writeln!(std::io::stderr(), "\nSKIPPED {test}: {reason}");
}

/// Reports on the real standard error that `test` ran but was inconclusive, because of other work on the host
/// or because the host lacks an optional feature.
///
/// The test is counted as not shown, and neither as passed nor as failed: the program ran, and the parts of
/// its output that do not depend on a quiet host were checked.
pub fn not_shown(test: &str, reason: &str) {
    // If standard error is closed, there is no other place to report it.
    let _ = writeln!(std::io::stderr(), "\nNOT SHOWN {test}: {reason}");
}
