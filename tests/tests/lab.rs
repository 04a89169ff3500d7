//! The latency lab: compares the executable's reports with machines of known latencies. The grammar of the
//! models is in the documentation of `latency_tests::lab`; `make lab` prints the comparisons.

use latency_tests::lab::{MODEL_VARIABLE, architecture, check, check_agreement};
use latency_tests::vm::Architecture;

/// Two nodes with caches that hold nothing, each pair with a latency of its own.
pub const TWO_NODES: &str = "nodes=2 latency=0:0:7000,0:1:23000,1:0:13000,1:1:8000 kernel=index";

/// Three levels, the last with random victims.
pub const THREE_LEVELS: &str = "experiment=curve level=8K:8:1000 level=32K:8:2000 level=128K:16:3500:random \
                                latency=0:0:7000 max-size=512K trials=7";

#[test]
fn one_node() {
    check("one node", "latency=0:0:4000");
}

#[test]
fn two_asymmetric_nodes() {
    check("two nodes, asymmetric", TWO_NODES);
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
fn a_memory_only_node_is_the_slowest() {
    check(
        "a memory-only node",
        "nodes=2 memory-only=1 latency=0:0:5000,0:1:9000,0:2:25000,1:0:8000,1:1:6000,1:2:31000 pages=2m",
    );
}

// A chase that leaves out lines would fit into the cache, even a chase over every second line, because the number of
// sets is odd.
#[test]
fn every_line_is_walked() {
    check("a cache of 3/4 of the working set", "latency=0:0:12000 level=6290688:12:2000 pages=2m");
}

#[test]
fn a_cache_that_holds_the_working_set_is_reported() {
    check("a cache of twice the working set", "latency=0:0:20000 level=16M:16:3000 pages=2m");
}

// All initiators of a node share one chain, and none may profit from lines that another one has brought into
// its cache. Neither cache keeps any part of four times its size, so each pair has its latency alone.
#[test]
fn the_other_nodes_cache_serves_no_timed_hop() {
    check(
        "last levels of two nodes",
        "nodes=2 latency=0:0:4000,0:1:7000,1:0:6500,1:1:4500 llc=4M:16:1500 size=16M iters=1000",
    );
}

// With random victims the cache keeps a fourteenth of three times its size: 5 % below the memory's latency.
#[test]
fn a_hidden_cache_is_reported() {
    check("a hidden cache", "latency=0:0:4000 hidden=12M:12:1500:random size=40M");
}

// The processor reports 16 MiB.
#[test]
fn a_last_level_that_only_the_processor_claims_is_ignored() {
    check("a reported last level", "latency=0:0:5000 level=1M:16:1500 l3=on size=8M");
}

#[test]
fn a_disturbance_is_reported_and_does_not_change_the_median() {
    check("a disturbance of every fifth trial", "latency=0:0:6000 pause=515:3000000");
}

// In a window of one load, the emulator's time after the load is not absorbed, some 100 ticks: hops are long
// here.
#[test]
fn tails_of_one_in_50_and_one_in_200_are_found() {
    check("a tail of two lengths", "latency=0:0:40000 tail=50:80000 tail=200:270000 trials=15 pages=2m");
}

// Percentiles exactly on the steps: the slower side has to be reported.
#[test]
fn tails_of_one_in_100_and_one_in_1000_are_found() {
    check(
        "a tail on the percentiles",
        "latency=0:0:40000 tail=100:80000 tail=1000:190000 trials=15 pages=2m",
    );
}

// One trial per round: no trial differs from others of its round.
#[test]
fn a_disturbance_of_few_trials_is_reported() {
    check("a disturbance of every fifth of 15 trials", "latency=0:0:6000 pause=515:3000000 trials=15");
}

// The rounds are spread over seconds, which is more than a period.
#[test]
fn a_slow_drift_is_averaged_or_reported() {
    check("a drift of 3 s", "latency=0:0:4000 drift=3:3000 iters=200 trials=300");
}

#[test]
fn bursts_are_reported_or_do_not_change_the_median() {
    check("bursts of 0.1 s", "latency=0:0:4000 burst=700:100:50 iters=200 trials=300");
}

#[test]
fn without_a_counter_the_kernels_clock_is_used() {
    // A reading of this clock costs some microseconds more after a chase than before it: the emulator has forgotten the
    // pages of the program and of the kernel. That is 3 % of 103 loads, and 0.7 % of 415.
    check(
        "no time-stamp counter",
        "nodes=2 latency=0:0:9000,0:1:15000,1:0:14000,1:1:8000 clock=kernel iters=415",
    );
}

#[test]
fn without_a_clock_nothing_is_reported() {
    check("no clock", "latency=0:0:9000 clock=none");
}

// With LRU, one lap of a curve's warm-up is as good as many: if no level has random victims, a few are
// enough.
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
    check("a curve, three levels, the last random", THREE_LEVELS);
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
fn a_curve_distinguishes_translation_from_caches() {
    check(
        "a curve, a translation buffer",
        "experiment=curve level=8K:8:1000 level=256K:8:3000 latency=0:0:6000 tlb=32:500 max-size=1M trials=7 \
         warmup-iters=8K",
    );
}

// Half of the sets of the cache hold all of their lines, and half hold none. A trial is a lap.
#[test]
fn matrix_and_curve_agree_on_a_partly_cached_working_set() {
    check_agreement(
        "matrix and curve of a little more than a cache",
        "experiment=curve level=64K:16:2000 latency=0:0:5000 min-size=66K max-size=66K pages=2m pool=16M \
         trials=30 iters=1056",
        66 << 10,
        0.01,
    );
}

#[test]
fn a_prefetcher_speeds_up_only_walks_in_order() {
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

// The emulator searches a page for up to 1900 ticks on aarch64 when its own buffer misses, and on a busy host longer: a
// hop has to last longer.
#[test]
fn the_cost_of_translation_is_measured() {
    let [memory, hit, miss] = match architecture() {
        Architecture::X86_64 => [6000, 2000, 3000],
        Architecture::Aarch64 => [9000, 3000, 4500],
    };
    check(
        "pages, a translation buffer",
        &format!(
            "experiment=pages latency=0:0:{memory} level=32K:8:{hit} tlb=64:{miss} size=8M pool=16M trials=80 \
             warmup-iters=4K"
        ),
    );
}

// Beyond some hundred pages the emulator's own buffer misses: a hop has to last longer.
#[test]
fn both_levels_of_a_tlb_are_found_over_spans_of_addresses() {
    check(
        "pages, a TLB of two levels",
        "experiment=pages latency=0:0:9000 level=32K:8:3000 tlb=64:2400 tlb=384:7200 size=1M trials=20 warmup-iters=2K",
    );
}

#[test]
fn without_a_tlb_no_cost_of_translation_is_visible() {
    check(
        "pages, no TLB",
        "experiment=pages latency=0:0:9000 level=32K:8:3000 size=1M trials=20 warmup-iters=2K",
    );
}

#[test]
fn a_neighbour_throws_lines_out_at_its_rate() {
    check(
        "residency, a neighbour",
        "experiment=residency latency=0:0:5000 llc=16M:16:2000:random l3=on neighbour=200 size=2M trials=15 \
         warmup-iters=2K",
    );
}

#[test]
fn a_cache_that_keeps_everything_has_no_half_life() {
    check(
        "residency, nobody else",
        "experiment=residency latency=0:0:5000 llc=16M:16:2000 l3=on size=1M trials=15 warmup-iters=2K",
    );
}

// What is not held is told from what is thrown out.
#[test]
fn without_a_cache_nothing_stays() {
    check("residency, no cache", "experiment=residency latency=0:0:5000 size=512K trials=15 warmup-iters=2K");
}

#[test]
#[ignore = "make lab LAB_ARGS='...' runs it with a model"]
fn the_model_of_the_environment_variable() {
    let line = std::env::var(MODEL_VARIABLE).unwrap_or_default();
    check("the model given", &line);
}
