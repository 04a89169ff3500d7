//! A test that cannot run here says so where it is seen, or fails where it must run; one that the host kept from being
//! conclusive says that.

use std::io::Write;

/// When this variable is set (and not `0`), nothing that needs an emulator may be skipped.
pub const REQUIRE_VARIABLE: &str = "LATENCY_BENCH_REQUIRE_EMULATOR";

/// Reports on the real standard error that `test` did not run, and why.
///
/// The test harness captures `eprintln!` of a test that passes, and a skipped
/// test passes; so the line is written past the capture. It begins with
/// `SKIPPED`; `latency_tests::lanes` counts it as skipped, and not as passed.
///
/// # Panics
///
/// When [`REQUIRE_VARIABLE`] is set.
pub fn skip(test: &str, reason: &str) {
    let required = std::env::var_os(REQUIRE_VARIABLE).is_some_and(|value| !value.is_empty() && value != "0");
    assert!(!required, "{test} must run ({REQUIRE_VARIABLE} is set), but: {reason}");
    // Nothing is left to tell it to when standard error is closed.
    let _ = writeln!(std::io::stderr(), "\nSKIPPED {test}: {reason}");
}

/// Reports on the real standard error that `test` ran and showed nothing either way, because of what else the host did,
/// or because it has not what would be good to have.
///
/// It is counted as not shown, and neither as passed nor as failed: the program ran, and its output was compared with
/// everything that can be known on a busy host.
pub fn not_shown(test: &str, reason: &str) {
    // Nothing is left to tell it to when standard error is closed.
    let _ = writeln!(std::io::stderr(), "\nNOT SHOWN {test}: {reason}");
}
