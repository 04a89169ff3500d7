//! The tests that only `make test-all` runs, with the reasons.
//!
//! `make test` protects each commit, so it has a test of everything that a change can break. It leaves out tests that
//! run for minutes and differ from one of its own tests only in their numbers. It also renders only some of the
//! goldens' pages, wide texts and anonymous forms (`bin/src/tests/golden`).

/// Environment variable that requests all tests if its value is `all`.
pub const TESTS_VARIABLE: &str = "LATENCY_BENCH_TESTS";

/// Tests of one kind that `make test` leaves out.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// The path of a test in the suite, or the beginning of the paths of several.
    pub tests: &'static str,
    /// The tests of the same behaviour that `make test` runs.
    pub stays: &'static str,
    /// The errors that only `make test-all` finds.
    pub only: &'static str,
}

const fn moved_to_all(tests: &'static str, stays: &'static str, only: &'static str) -> Moved {
    Moved { tests, stays, only }
}

/// All tests that only `make test-all` runs.
pub const MOVED: &[Moved] = &[
    moved_to_all(
        "lab::four_nodes_with_all_pairs_different",
        "lab::two_asymmetric_nodes",
        "an error that needs more than two nodes and a wrong latency; emulator::nodes has four nodes without latencies",
    ),
    moved_to_all(
        "lab_split::two_nodes_with_page_tables_on_one",
        "lab_split::four_times_the_reach_of_the_tlb, lab_walks::page_tables_on_the_other_node_have_its_latency",
        "memory and translation of a pair of nodes that are mixed up only where tables are on the other node",
    ),
    moved_to_all(
        "lab_split::sixteen_times_the_reach_of_the_tlb",
        "lab_split::four_times_the_reach_of_the_tlb",
        "the same over a larger set",
    ),
    moved_to_all(
        "lab_split::beside_a_prefetcher_of_streams",
        "lab_split::beside_a_prefetcher_of_adjacent_lines",
        "the same beside another prefetcher",
    ),
    moved_to_all(
        "lab_split::large_pages_in_small_pages_of_the_host",
        "lab_split::four_times_the_reach_of_the_tlb",
        "the same in large pages that the TLB treats as small ones",
    ),
    moved_to_all(
        "lab_causes::",
        "tests::golden::causes of the program",
        "a signature that real documents of a known cause do not have, or that two equal machines have; forty boots",
    ),
    moved_to_all(
        "lab::matrix_and_curve_agree",
        "lab::one_node, lab::a_curve_shows_four_levels",
        "two experiments that differ over a working set of which a cache holds a part",
    ),
    moved_to_all(
        "lab::every_line_is_walked",
        "cachegrind::every_hop_misses_both_levels_above_the_last",
        "the same by latency",
    ),
    moved_to_all(
        "lab::a_cache_that_holds_the_working_set_is_reported",
        "lab::a_hidden_cache_is_reported",
        "a warning about a cache that the processor reports",
    ),
    moved_to_all(
        "lab::the_other_nodes_cache_serves_no_timed_hop",
        "lab_pairs (in everything), lab::two_asymmetric_nodes",
        "memory that another node's cache serves",
    ),
    moved_to_all(
        "lab::a_last_level_that_only_the_processor_claims_is_ignored",
        "lab::a_hidden_cache_is_reported",
        "a cache that the processor claims and does not have",
    ),
    moved_to_all(
        "lab::a_disturbance",
        "lab::tails_of_one_in_50_and_one_in_200_are_found; the schedule's unit tests",
        "disturbances through the whole program",
    ),
    moved_to_all(
        "lab::tails_of_one_in_100",
        "lab::tails_of_one_in_50_and_one_in_200_are_found",
        "tails of another frequency",
    ),
    moved_to_all(
        "lab::a_slow_drift_is_averaged_or_reported",
        "the schedule's unit tests of coverage",
        "drift through the whole program",
    ),
    moved_to_all(
        "lab::bursts_are_reported_or_do_not_change_the_median",
        "the schedule's unit tests of coverage",
        "bursts through the whole program",
    ),
    moved_to_all(
        "lab::a_curve_shows_three_levels",
        "lab::a_curve_shows_four_levels; hierarchy",
        "other hierarchies through the whole program",
    ),
    moved_to_all(
        "lab::a_curve_shows_two_levels",
        "lab::a_curve_shows_four_levels; hierarchy",
        "levels with random victims, through noise",
    ),
    moved_to_all(
        "lab::the_cost_of_translation_is_measured",
        "the unit tests of analysis::spans; emulator::pages::spans_of_addresses",
        "the cost of translation by the difference of two kinds of pages",
    ),
    moved_to_all(
        "lab::both_levels_of_a_tlb_are_found_over_spans_of_addresses",
        "the unit tests of analysis::spans; emulator::pages::spans_of_addresses",
        "the second level of a TLB through the whole program; other work beside it hides the level, so it runs alone",
    ),
    moved_to_all(
        "lab::without_a_tlb_no_cost_of_translation_is_visible",
        "the unit tests of analysis::spans; emulator::pages::spans_of_addresses",
        "a cost of translation where there is none, through the whole program",
    ),
    moved_to_all(
        "lab::a_cache_that_keeps_everything",
        "lab::a_neighbour_throws_lines_out_at_its_rate; the goldens of residency",
        "lines that leave a cache without others",
    ),
    moved_to_all(
        "lab::a_memory_only_node_is_the_slowest",
        "lab::two_asymmetric_nodes; the goldens with such a node",
        "a wrong latency of a node without CPUs",
    ),
    moved_to_all(
        "lab::a_curve_distinguishes_translation_from_caches",
        "the unit tests of analysis::spans; emulator::pages::spans_of_addresses",
        "translation taken for a cache",
    ),
    moved_to_all(
        "lab::without_a_prefetcher_the_order_does_not_matter",
        "lab::a_prefetcher_speeds_up_only_walks_in_order",
        "an order that matters without a prefetcher",
    ),
    moved_to_all(
        "lab_load::cores",
        "cli::cores; the tests of exchanges and walks with two threads",
        "times between cores that are wrong by some percent; the slowest of many lines depends on neighbours of the host",
    ),
    moved_to_all(
        "lab_load::limits",
        "lab_load::bandwidth, lab_load::levels",
        "what limits the bandwidth, told wrongly",
    ),
    moved_to_all("lab_load::low_rates", "lab_load::levels", "low rates that a cache serves"),
    moved_to_all("lab_load::waiting", "lab_load::levels", "queues that are not those of theory"),
    moved_to_all(
        "lab_pairs::",
        "lab::two_asymmetric_nodes",
        "caches and directories that one pair leaves to the next",
    ),
    moved_to_all(
        "emulator::scenes::memory_full_of_file_pages",
        "experiment::memory_tests of the program",
        "memory that a real kernel reclaims for a measurement of 256 MiB",
    ),
    moved_to_all(
        "emulator::kernels::eight_nodes",
        "emulator::nodes::four_nodes_and_a_selection_of_them",
        "an error that needs more than four nodes",
    ),
    moved_to_all(
        "emulator::kernels::every_experiment_runs_with_the",
        "the kernel of this system's release in all other guests",
        "calls that the oldest or the newest kernel answers differently",
    ),
    moved_to_all(
        "emulator::scenes::four_nodes_share_the_limit_of_a_control_group",
        "emulator::scenes::a_small_control_group_does_not_kill_the_run",
        "four nodes that divide the memory of a control group",
    ),
    moved_to_all(
        "emulator::firmware::",
        "the goldens with firmware's claims; trees::mutated",
        "firmware's claims as a real kernel shows them",
    ),
    moved_to_all(
        "hostile::calls::in_podman",
        "hostile::calls::in_docker",
        "the profile of calls of another container runtime",
    ),
    moved_to_all(
        "cli::files::results_with_the_most_points_are_read_in_time",
        "cli::files::a_file_of_the_largest_size_is_read_in_time",
        "times that grow with the square of the number of points",
    ),
    moved_to_all(
        "cli::asked::a_report_passes_its_options_to_every_experiment",
        "cli::asked::the_plan_of_a_report_contains_every_experiments_plan",
        "options that a report plans with and does not measure with",
    ),
    moved_to_all(
        "lab_arm64::",
        "lab::two_asymmetric_nodes; lab::a_curve_shows_four_levels",
        "wrong times of the executable for aarch64, which only `make test-all` builds",
    ),
    moved_to_all(
        "emulator::arm64",
        "the tests of the kernels by `make test-aarch64`",
        "the executable for aarch64, which only `make test-all` builds",
    ),
];

/// Returns true if all tests were requested.
pub fn is_everything() -> bool {
    std::env::var_os(TESTS_VARIABLE).is_some_and(|value| value == "all")
}

/// Returns `some` in `make test`, and `all` if all tests were requested.
pub fn of_everything<T>(some: T, all: T) -> T {
    if is_everything() { all } else { some }
}

/// Returns the row of a test of the suite that only `make test-all` runs.
pub(super) fn moved(test: &str) -> Option<&'static str> {
    MOVED.iter().map(|row| row.tests).find(|tests| test.starts_with(tests))
}
