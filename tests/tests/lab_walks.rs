//! Page walks of known cost: the plugin delivers the modelled ticks of translation, and the tool reports a random load
//! with them.

use latency_tests::attempts::retried;
use latency_tests::lab::chains::Chain;
use latency_tests::lab::{Boot, Model, architecture, model};

/// Maximum difference of the delivered ticks of translation from the expected ones, as a fraction.
const TRANSLATION_TOLERANCE: f64 = 0.01;
/// Maximum difference of a reported latency from the delivered one, as a fraction.
const LATENCY_TOLERANCE: f64 = 0.01;

/// Entries of the TLB of each model here, and the ticks of a miss without its walk.
const TLB: (u64, f64) = (64, 500.0);

/// Boots the machine that `line` describes. Compares the ticks of translation of each pair with those of a miss whose walk
/// is a load of `walk` ticks, from the node of the pair's CPU, and the reported latency with the delivered one.
fn check(test: &str, line: &str, walk: impl Fn(&Model, u32) -> f64) {
    let Some(model) = model(test, architecture(), line) else { return };
    retried(test, |_| {
        let boot = Boot::new(&model).unwrap_or_else(|reason| panic!("{test}: {reason}"));
        let document = boot.console.expect_json(0);
        let mut table = format!("{test} ({line}), {:.0?}\n", boot.console.elapsed);
        let mut is_right = true;
        for latency in &model.latencies {
            let pair = [latency.from, latency.to];
            let [chain]: [Chain; 1] = boot
                .listing
                .by_chain(0, pair, |window| window.hops == model.hops(), |_| Some(0))
                .unwrap_or_else(|reason| panic!("{table}{reason}\n{}", boot.console.framed()));
            // A lap visits each line once, in random order: a page is in the TLB only by chance.
            let hits = TLB.0 as f64 * 4096.0 / model.one_size() as f64;
            let expected = (1.0 - hits) * (TLB.1 + walk(&model, latency.from));
            let translation = chain.mean_translation();
            let rows = document["rows"].as_array().into_iter().flatten();
            let mut of_pair =
                rows.filter(|row| row["initiator_node"] == pair[0] && row["target_node"] == pair[1]);
            let reported = of_pair.next().and_then(|row| row["ns"].as_f64()).unwrap_or(f64::NAN);
            let reported = reported * latency_tests::lab::ticks_per_second() / 1e9;
            let (load, truth) = (chain.load(), chain.load_and_translation());
            let good = (translation / expected - 1.0).abs() < TRANSLATION_TOLERANCE
                && load.asked == latency.ticks as f64
                && reported > truth.low * (1.0 - LATENCY_TOLERANCE)
                && reported < truth.high * (1.0 + LATENCY_TOLERANCE);
            is_right &= good;
            table += &format!(
                "  {} to {}: load {:.0}, translation {translation:.1} of {expected:.1}, delivered {:.0}, reported \
                 {reported:.0} ({:+.2} %), {} hops{}\n",
                pair[0],
                pair[1],
                load.asked,
                truth.delivered,
                (reported / truth.delivered - 1.0) * 100.0,
                chain.hops(),
                if good { "" } else { "  WRONG" }
            );
        }
        assert!(is_right, "{table}{}", boot.console.framed());
        println!("\n{table}");
    });
}

#[test]
fn page_tables_on_the_other_node_have_its_latency() {
    // Without a cache each walk loads from memory of node 1, wherever its page is.
    check(
        "page tables on node 1",
        "nodes=2 latency=0:0:7000,0:1:13000,1:0:12000,1:1:8000 tlb=64:500 tables=1",
        |model, from| {
            let to_tables = model.latencies.iter().find(|latency| (latency.from, latency.to) == (from, 1));
            to_tables.map_or(f64::NAN, |latency| latency.ticks as f64)
        },
    );
}

#[test]
fn large_pages_in_small_pages_of_the_host_miss_the_tlb_and_find_the_table_in_a_cache() {
    // The cache keeps the 256 lines of the table, each used again after some 256 loads, and no line of data.
    check(
        "2 MiB pages in pages of 4 KiB of the host",
        "latency=0:0:8000 level=1M:16:2000 tlb=64:500 tables=0 host-pages=4k pages=2m",
        |model, _| model.levels[0].ticks as f64,
    );
}
