//! Impossible requests and meaningless arguments: exit status and message.

use super::*;
use latency_tests::run::ERROR;

/// Asserts that a run ended with `status` and an error with `words`, and that nothing was measured.
pub fn assert_refused(console: &Console, status: i32, words: &str) {
    console.expect_status(status).expect_line(&format!("{ERROR}{words}"));
    assert_pair_lines(console, &[]);
}

#[test]
fn requests_that_two_nodes_cannot_meet() {
    in_guests("emulator::requests_that_two_nodes_cannot_meet", || {
        let [initiator, target, larger] = uniform(2).boot_all([
            &options(&["--cpunode=9"]),
            &options(&["--memnode=0,9"]),
            // The kernel would end a process that fills a node it is bound to.
            &["--size=400M", "--pages=4k", "--memnode=1", "--trials=1"],
        ]);
        for console in [initiator, target] {
            assert_refused(&console, 1, "invalid node id 9 (max node = 1)");
        }
        larger.expect_status(2).expect_line(&format!("{ERROR}not enough memory on node 1: need 400 MiB"));
    });
}

#[test]
fn strict_accepts_an_emulated_machine_and_refuses_an_option_that_does_not_exist() {
    in_guests("emulator::strict_accepts_an_emulated_machine", || {
        let [strict, unknown] =
            uniform(1).boot_all([&options(&["--pages=4k", "--strict"]), &options(&["--strict", "--wombat"])]);
        assert_pair_lines(strict.expect_status(0), &[(0, 0)]);
        assert_refused(&unknown, 1, "unknown option '--wombat'");
    });
}

#[test]
fn help_ends_the_first_process_too() {
    in_guests("emulator::help_ends_the_first_process_too", || {
        uniform(1).boot(&["--help"]).expect_status(0).expect_line("Usage: latency-bench");
    });
}
