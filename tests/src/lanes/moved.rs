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
        "lab::two_nodes_unlike",
        "an error that needs more than two nodes and a wrong latency; emulator::nodes has four nodes without latencies",
    ),
    moved_to_all(
        "lab::every_line_is_walked",
        "cachegrind::above_the_last_level_every_hop_misses_both",
        "the same by latency",
    ),
    moved_to_all(
        "lab::a_cache_that_holds_the_working_set_is_told",
        "lab::a_cache_that_nobody_reports_is_told",
        "a warning about a cache that the processor reports",
    ),
    moved_to_all(
        "lab::the_other_nodes_cache_serves_nobody",
        "lab_pairs (in everything), lab::two_nodes_unlike",
        "memory that another node's cache serves",
    ),
    moved_to_all(
        "lab::a_last_level_that_is_not_there_holds_nothing",
        "lab::a_cache_that_nobody_reports_is_told",
        "a cache that the processor claims and does not have",
    ),
    moved_to_all(
        "lab::a_disturbance",
        "lab::one_slow_hop_in_fifty_and_another_in_two_hundred_are_found; the schedule's unit tests",
        "disturbances through the whole program",
    ),
    moved_to_all(
        "lab::one_slow_hop_in_a_hundred",
        "lab::one_slow_hop_in_fifty_and_another_in_two_hundred_are_found",
        "tails of another frequency",
    ),
    moved_to_all(
        "lab::a_slow_drift_is_averaged_or_told",
        "the schedule's unit tests of coverage",
        "drift through the whole program",
    ),
    moved_to_all(
        "lab::bursts_leave_the_median_alone_or_are_told",
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
        "lab::a_curve_tells_translation_from_caches",
        "lab::translation_costs_what_it_costs",
        "translation taken for a cache",
    ),
    moved_to_all(
        "lab::without_a_prefetcher_the_order_does_not_matter",
        "lab::a_prefetcher_helps_walks_in_order_alone",
        "an order that matters without a prefetcher",
    ),
    moved_to_all(
        "lab_load::cores::states_of_lines_are_ranked",
        "lab_load::cores::pairs_cost_what_their_class_does_and_a_slow_line_is_found",
        "lines in other states",
    ),
    moved_to_all(
        "lab_load::limits",
        "lab_load::bandwidth, lab_load::levels",
        "what limits the bandwidth, told wrongly",
    ),
    moved_to_all("lab_load::low_rates", "lab_load::levels", "low rates that a cache serves"),
    moved_to_all("lab_load::waiting", "lab_load::levels", "queues that are not those of theory"),
    moved_to_all("lab_pairs::", "lab::two_nodes_unlike", "caches and directories that one pair leaves to the next"),
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
    if is_everything() {
        all
    } else {
        some
    }
}

/// Returns whether a test of the suite is left to the run of everything.
pub(super) fn is_moved(test: &str) -> bool {
    MOVED.iter().any(|moved| test.starts_with(moved.tests))
}
