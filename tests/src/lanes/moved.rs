//! The tests that `make test` leaves to `make test-all`, and why.
//!
//! `make test` protects a commit: whatever a change can break has a test there. Left out is what takes minutes and
//! differs from a test that stays in its numbers alone.

/// Environment variable that asks for everything, when it is `all`.
pub const TESTS_VARIABLE: &str = "LATENCY_BENCH_TESTS";

/// Tests of one kind that `make test` leaves out.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// The path of a test in the suite, or the beginning of several.
    pub tests: &'static str,
    /// The tests of the same behaviour that stay.
    pub stays: &'static str,
    /// The errors that only `make test-all` finds.
    pub only: &'static str,
}

const fn moved_to_all(tests: &'static str, stays: &'static str, only: &'static str) -> Moved {
    Moved { tests, stays, only }
}

/// Everything that moved.
pub const MOVED: &[Moved] = &[
    moved_to_all(
        "lab::four_nodes_with_all_pairs_different",
        "lab::two_asymmetric_nodes",
        "an error that needs more than two nodes and a wrong latency; emulator::nodes has four nodes without latencies",
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
        "lab::a_curve_shows_two_levels_with_random_victims_through_noise; hierarchy",
        "other hierarchies through the whole program",
    ),
    moved_to_all(
        "lab::a_curve_shows_four_levels",
        "lab::a_curve_shows_two_levels_with_random_victims_through_noise; hierarchy",
        "other hierarchies through the whole program",
    ),
    moved_to_all(
        "lab::a_curve_distinguishes_translation_from_caches",
        "lab::the_cost_of_translation_is_measured",
        "translation taken for a cache",
    ),
    moved_to_all(
        "lab::without_a_prefetcher_the_order_does_not_matter",
        "lab::a_prefetcher_speeds_up_only_walks_in_order",
        "an order that matters without a prefetcher",
    ),
    moved_to_all(
        "lab_load::cores::states_of_lines_are_ranked",
        "lab_load::cores::pairs_have_the_cost_of_their_class_and_a_slow_line_is_found",
        "lines in other states",
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
        "emulator::kernels::every_experiment_runs_with_the",
        "the kernel of this system's release in all other guests",
        "calls that the oldest or the newest kernel answers differently",
    ),
];

/// Returns whether everything was asked for.
pub fn is_everything() -> bool {
    std::env::var_os(TESTS_VARIABLE).is_some_and(|value| value == "all")
}

/// Returns `some` in `make test`, and `all` where everything was asked for.
pub fn of_everything<T>(some: T, all: T) -> T {
    if is_everything() { all } else { some }
}

/// Returns the row of a test of the suite that is left to the run of everything.
pub(super) fn moved(test: &str) -> Option<&'static str> {
    MOVED.iter().map(|row| row.tests).find(|tests| test.starts_with(tests))
}
