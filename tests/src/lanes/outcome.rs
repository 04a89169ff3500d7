//! Counts the outcomes in the output of the test harness.

use std::collections::BTreeSet;
use std::ops::AddAssign;
use std::time::Duration;

/// The number of tests with each outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tests that passed and were conclusive.
    pub passed: usize,
    /// Tests that failed, or did not end.
    pub failed: usize,
    /// Tests that could not run here.
    pub skipped: usize,
    /// Tests that ran, but were inconclusive because of the host.
    pub not_shown: usize,
    /// Number of attempts beyond the first.
    pub retried: usize,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.not_shown += other.not_shown;
        self.retried += other.retried;
    }
}

/// The outcome of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The counts of its tests.
    pub counts: Counts,
    /// The CPU time of all its processes.
    pub cpu: Duration,
    /// The part of the output to show: everything if the job failed, otherwise the lines that bypassed the capture.
    pub shown: String,
}

impl Outcome {
    /// Parses the output of a process with `tests` tests.
    pub fn new(output: &str, succeeded: bool, tests: usize) -> Outcome {
        let lines = || output.lines().map(str::trim_end);
        let named = |mark: &str| {
            let names = lines().filter_map(|line| line.strip_prefix(mark)?.split(": ").next());
            names.collect::<BTreeSet<_>>().len()
        };
        let (skipped, not_shown) = (named("SKIPPED "), named("NOT SHOWN "));
        let passed = lines().filter(|line| line.starts_with("test ") && line.ends_with("... ok")).count();
        // `ok` is on a separate line if the test wrote a line that bypassed the capture.
        let passed = passed + lines().filter(|&line| line == "ok").count();
        // If the process died, some of its tests did not end.
        let failed = if succeeded { 0 } else { tests.saturating_sub(passed).max(1) };
        let counts = Counts {
            passed: tests.saturating_sub(failed + skipped + not_shown),
            failed,
            skipped,
            not_shown,
            retried: lines().filter(|line| line.starts_with("==== attempt ")).count(),
        };
        let shown = if succeeded { past_the_capture(output) } else { output.into() };
        Outcome { counts, cpu: Duration::ZERO, shown }
    }
}

/// Returns the lines that are not from the harness.
fn past_the_capture(output: &str) -> String {
    let of_the_harness = |line: &str| {
        line.is_empty()
            || line == "ok"
            || line.starts_with("running ")
            || line.starts_with("test ") && (line.ends_with("... ok") || line.ends_with("... "))
            || line.starts_with("test result: ok")
    };
    output.lines().filter(|line| !of_the_harness(line)).flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_counted_by_how_they_ended() {
        let output = "\nrunning 4 tests\ntest a ... ok\ntest b ... \nSKIPPED b: no emulator\nok\n\
                      test c ... \n==== attempt 1 of 3 failed: c\nbusy\n==== end of the attempt\n\nNOT SHOWN c: busy\n\
                      ok\ntest d ... ok\n\ntest result: ok. 4 passed; 0 failed; 0 ignored\n";
        let outcome = Outcome::new(output, true, 4);
        let counts = Counts { passed: 2, skipped: 1, not_shown: 1, retried: 1, failed: 0 };
        assert_eq!(outcome.counts, counts);
        assert!(outcome.shown.starts_with("SKIPPED b: no emulator\n==== attempt"), "{}", outcome.shown);
        assert!(!outcome.shown.contains("test "), "{}", outcome.shown);
    }

    #[test]
    fn tests_that_a_dead_process_did_not_finish_have_failed() {
        let died = Outcome::new("test a ... ok\ntest b ... ", false, 4);
        assert_eq!((died.counts.passed, died.counts.failed), (1, 3));
        assert!(died.shown.contains("test a"));
        let failed = Outcome::new("test a ... ok\ntest b ... FAILED\n", false, 2);
        assert_eq!((failed.counts.passed, failed.counts.failed), (1, 1));
    }
}
