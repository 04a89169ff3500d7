//! What cannot be had, and what makes no sense: exit status and message.

use super::*;
use latency_tests::vm::ready;

/// On `machine`, these arguments end with `status` and an error with `words`, and nothing is measured.
fn assert_refused(machine: &Machine, arguments: &[&str], status: i32, words: &str) {
    let console = machine.boot(&options(arguments));
    console.expect_status(status).expect_line(&format!("ERROR: {words}"));
    assert_pair_lines(&console, &[]);
}

#[test]
fn a_node_that_does_not_exist() {
    if ready("emulator::a_node_that_does_not_exist") {
        let words = "invalid node id 9 (max node = 1)";
        assert_refused(&uniform(2), &["--cpunode=9"], 1, words);
        assert_refused(&uniform(2), &["--memnode=0,9"], 1, words);
    }
}

#[test]
fn a_memory_only_node_is_no_initiator() {
    if ready("emulator::a_memory_only_node_is_no_initiator") {
        let arguments = ["--cpunode=2", "--memnode=0"];
        assert_refused(&with_memory_only_node(), &arguments, 2, "node 2 has no CPUs");
    }
}

#[test]
fn a_node_without_memory_is_no_target() {
    if ready("emulator::a_node_without_memory_is_no_target") {
        let arguments = ["--cpunode=0", "--memnode=1"];
        assert_refused(&with_cpu_only_node(), &arguments, 2, "node 1 has no memory");
    }
}

#[test]
fn a_cpu_that_is_switched_off() {
    if ready("emulator::a_cpu_that_is_switched_off") {
        let machine = uniform(2).kernel_parameter("maxcpus=1");
        assert_refused(&machine, &["--cpu=1"], 1, "CPU 1 is offline (online: 0)");
        assert_refused(&machine, &["--cpunode=1"], 2, "node 1 has no CPU");
    }
}

#[test]
fn more_memory_than_the_node_has() {
    if ready("emulator::more_memory_than_the_node_has") {
        // The kernel would end a process that fills a node it is bound to.
        let console = uniform(2).boot(&["--size=400M", "--pages=4k", "--memnode=1", "--trials=1"]);
        console.expect_status(2).expect_line("ERROR: 400 MiB wanted on node 1");
    }
}

#[test]
fn a_result_that_is_not_to_be_trusted() {
    if ready("emulator::a_result_that_is_not_to_be_trusted") {
        let console = uniform(1).boot(&options(&["--pages=4k", "--strict"]));
        console.expect_status(3).expect_line("ERROR: --strict");
        assert_pair_lines(&console, &[(0, 0)]);
    }
}

#[test]
fn an_option_that_does_not_exist() {
    if ready("emulator::an_option_that_does_not_exist") {
        assert_refused(&uniform(1), &["--wombat"], 1, "unknown option '--wombat'");
    }
}

#[test]
fn help_ends_the_first_process_too() {
    if ready("emulator::help_ends_the_first_process_too") {
        uniform(1).boot(&["--help"]).expect_status(0).expect_line("Usage: latency-bench");
    }
}
