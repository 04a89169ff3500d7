//! The latency lab: machines with known latencies, and what the executable under test
//! says of them. The grammar of the models is in the documentation of
//! `latency_tests::lab`; `make lab` prints the comparisons.

use latency_tests::lab::{check, check_agreement, MODEL_VARIABLE};

#[test]
fn one_node() {
    check("one node", "latency=0:0:4000");
}

#[test]
fn two_nodes_unlike() {
    check("two nodes, asymmetric", "nodes=2 latency=0:0:7000,0:1:23000,1:0:13000,1:1:8000 kernel=index");
}

#[test]
fn four_nodes_with_all_pairs_different() {
    check(
        "four nodes, all pairs different",
        "nodes=4 latency=0:0:3000,0:1:6100,0:2:6700,0:3:7900,1:0:5500,1:1:3300,1:2:8300,1:3:6400,\
         2:0:7300,2:1:9100,2:2:3600,2:3:5800,3:0:9700,3:1:7000,3:2:5200,3:3:3900",
    );
}

#[test]
fn a_memory_only_node_slower_than_all() {
    check(
        "a memory-only node",
        "nodes=2 memory-only=1 latency=0:0:5000,0:1:9000,0:2:25000,1:0:8000,1:1:6000,1:2:31000 pages=2m",
    );
}

// A chase that leaves lines out would fit the cache, also one over every second line: its number of sets is odd.
#[test]
fn every_line_is_walked() {
    check("a cache of 3/4 of the working set", "latency=0:0:12000 level=6290688:12:2000 pages=2m");
}

#[test]
fn a_cache_that_holds_the_working_set_is_told() {
    check("a cache of twice the working set", "latency=0:0:20000 level=16M:16:3000 pages=2m");
}

// All initiators of a node go through one chain; nobody may follow in the lines that another has brought into its
// cache. Neither cache holds anything of four times its size, so each pair is what it is alone.
#[test]
fn the_other_nodes_cache_serves_nobody() {
    check(
        "last levels of two nodes",
        "nodes=2 latency=0:0:4000,0:1:7000,1:0:6500,1:1:4500 llc=4M:16:1500 size=16M iters=1000",
    );
}

// Random victims keep a fourteenth of three times the cache: 5 % less than memory takes.
#[test]
fn a_cache_that_nobody_reports_is_told() {
    check("a hidden cache", "latency=0:0:4000 hidden=12M:12:1500:random size=40M");
}

// 16 MiB are reported.
#[test]
fn a_last_level_that_is_not_there_holds_nothing() {
    check("a reported last level", "latency=0:0:5000 level=1M:16:1500 l3=on size=8M");
}

#[test]
fn a_disturbance_is_told_and_leaves_the_median_alone() {
    check("a disturbance of every fifth trial", "latency=0:0:6000 pause=515:3000000");
}

// What follows the load of a window of its own is not absorbed, some 100 ticks: hops are long here.
#[test]
fn one_slow_hop_in_fifty_and_another_in_two_hundred_are_found() {
    check("a tail of two lengths", "latency=0:0:40000 tail=50:80000 tail=200:270000 trials=15 pages=2m");
}

// Percentiles that stand exactly on the steps: the slower side is what has to be reported.
#[test]
fn one_slow_hop_in_a_hundred_and_another_in_a_thousand_are_found() {
    check(
        "a tail on the percentiles",
        "latency=0:0:40000 tail=100:80000 tail=1000:190000 trials=15 pages=2m",
    );
}

// One trial a round: nothing within the round stands out.
#[test]
fn a_disturbance_of_few_trials_is_told() {
    check("a disturbance of every fifth of 15 trials", "latency=0:0:6000 pause=515:3000000 trials=15");
}

// Rounds are spread over seconds: more than a period.
#[test]
fn a_slow_drift_is_averaged_or_told() {
    check("a drift of 3 s", "latency=0:0:4000 drift=3:3000 iters=200 trials=300");
}

#[test]
fn bursts_leave_the_median_alone_or_are_told() {
    check("bursts of 0.1 s", "latency=0:0:4000 burst=700:100:50 iters=200 trials=300");
}

#[test]
fn without_a_counter_the_kernels_clock_is_used() {
    check("no time-stamp counter", "nodes=2 latency=0:0:9000,0:1:15000,1:0:14000,1:1:8000 clock=kernel");
}

#[test]
fn without_a_clock_nothing_is_reported() {
    check("no clock", "latency=0:0:9000 clock=none");
}

// A lap of a curve's warm-up is as good as many where the least recently used line goes: where no level has random
// victims a few are enough.
#[test]
fn a_curve_shows_two_levels_with_random_victims_through_noise() {
    check(
        "a curve, two random levels, noise",
        "experiment=curve level=16K:8:1000:random level=128K:16:2500:random latency=0:0:5000 max-size=512K \
         noise=5:500 trials=15",
    );
}

#[test]
fn a_curve_shows_three_levels_of_both_kinds() {
    check(
        "a curve, three levels, the last random",
        "experiment=curve level=8K:8:1000 level=32K:8:2000 level=128K:16:3500:random latency=0:0:7000 \
         max-size=512K trials=7",
    );
}

#[test]
fn a_curve_shows_three_levels_through_noise() {
    check(
        "a curve, three levels, noise",
        "experiment=curve level=8K:8:1000 level=64K:8:2000 level=256K:16:4000 latency=0:0:8000 max-size=512K \
         noise=4:300 trials=15 warmup-iters=8K",
    );
}

#[test]
fn a_curve_shows_four_levels() {
    check(
        "a curve, four levels",
        "experiment=curve level=8K:4:1000 level=32K:8:2000 level=128K:8:3000 level=512K:16:4500 \
         latency=0:0:7000 max-size=1M trials=7 warmup-iters=10K",
    );
}

#[test]
fn a_curve_tells_translation_from_caches() {
    check(
        "a curve, a translation buffer",
        "experiment=curve level=8K:8:1000 level=256K:8:3000 latency=0:0:6000 tlb=32:500 max-size=1M trials=7 \
         warmup-iters=8K",
    );
}

// Half of the sets of the cache hold all of their lines, and half none. A trial is a lap.
#[test]
fn matrix_and_curve_agree_where_a_cache_holds_a_part() {
    check_agreement(
        "matrix and curve of a little more than a cache",
        "experiment=curve level=64K:16:2000 latency=0:0:5000 min-size=66K max-size=66K pages=2m pool=16M \
         trials=30 iters=1056",
        66 << 10,
        0.01,
    );
}

#[test]
fn a_prefetcher_helps_walks_in_order_alone() {
    check(
        "orders, a prefetcher",
        "experiment=order latency=0:0:3000 prefetch=8 level=32K:8:1000 size=4M iters=500 trials=210",
    );
}

#[test]
fn without_a_prefetcher_the_order_does_not_matter() {
    check(
        "orders, no prefetcher",
        "experiment=order latency=0:0:3000 level=32K:8:1000 size=4M iters=500 trials=210",
    );
}

#[test]
fn translation_costs_what_it_costs() {
    check(
        "pages, a translation buffer",
        "experiment=pages latency=0:0:3000 level=32K:8:1000 tlb=64:1500 size=8M pool=16M trials=80 \
         warmup-iters=4K",
    );
}

#[test]
#[ignore = "make lab LAB_ARGS='...' runs it with a model"]
fn the_model_given() {
    let line = std::env::var(MODEL_VARIABLE).unwrap_or_default();
    check("the model given", &line);
}
