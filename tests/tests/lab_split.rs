//! Memory and translation of known cost: the tool tells them apart, or says that it cannot.

use latency_core::chain::{Chain as Buffer, WINDOWS};
use latency_core::units::{Bytes, LineSize, PageSize};
use latency_tests::attempts::retried;
use latency_tests::lab::chains::{Chain, Window};
use latency_tests::lab::{Boot, Model, architecture, model, ticks_per_second};
use serde_json::Value;

/// Maximum difference of reported memory from the delivered load, as a fraction.
const MEMORY_TOLERANCE: f64 = 0.01;
/// The same in a run that reports a wider interval of memory, on a busy host: half of that interval, and at most this.
const DISTURBED_TOLERANCE: f64 = 0.03;
/// Maximum difference of reported translation from the delivered one, as a fraction of it, and of memory where it is small.
const TRANSLATION_TOLERANCE: [f64; 2] = [0.02, 0.005];
/// Maximum distance of the delivered load from the interval of memory, as a fraction: the emulator's stamps are some ticks
/// late.
const INTERVAL_TOLERANCE: f64 = 0.002;
/// The seed of the tool's chains.
const SEED: u64 = 42;
/// Number of chains: the random one and four grouped ones.
const CHAINS: usize = 5;

/// Returns true for a batch of the random chain, or of a grouped chain: the number of windows that is nearest to it. The probe of the TLB after the run walks other chains in the same memory, by 512 loads at most.
fn is_batch(model: &Model, window: &Window) -> bool {
    let hops = model.hops();
    let whole = |loads: u64| (hops - loads / 2).next_multiple_of(loads);
    window.hops == hops || WINDOWS.iter().any(|chain| window.hops == whole(chain.loads()))
}

/// Boots the machine that `line` describes, and passes each pair of nodes with its row and its point of the report, its
/// warnings, and what was delivered on each chain, to `check`, which returns a line of a table and whether it is right.
fn each_pair(
    test: &str,
    line: &str,
    check: impl Fn(&Model, [&Value; 2], &[String], &[Chain; CHAINS]) -> (String, bool),
) {
    let Some(model) = model(test, architecture(), line) else { return };
    let size = Bytes(model.one_size());
    let buffer = Buffer::split(size, LineSize::LEAST, PageSize::KIB_4, SEED).expect("room for windows");
    let owners = owners(&buffer);
    retried(test, |_| {
        let boot = Boot::new(&model).unwrap_or_else(|reason| panic!("{test}: {reason}"));
        let document = boot.console.expect_json(0);
        let codes: Vec<String> = document["warnings"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|warning| Some(warning["code"].as_str()?.to_owned()))
            .collect();
        let mut table = format!("{test} ({line}), {:.0?}\n", boot.console.elapsed);
        let mut is_right = true;
        for latency in &model.latencies {
            let pair = [latency.from, latency.to];
            let chains: [Chain; CHAINS] = boot
                .listing
                .by_chain(
                    0,
                    pair,
                    |window| is_batch(&model, window),
                    |offset| *owners.get(usize::try_from(offset / 64).ok()?)?,
                )
                .unwrap_or_else(|reason| panic!("{table}{reason}\n{}", boot.console.framed()));
            let mut rows = document["rows"].as_array().into_iter().flatten();
            let of_pair = |row: &&Value| row["initiator_node"] == pair[0] && row["target_node"] == pair[1];
            let index = rows.position(|row| of_pair(&row)).expect("a row of the pair");
            let mut points = document["points"].as_array().into_iter().flatten();
            let point = points.find(|point| point["row"] == index).expect("a point of the row");
            let (text, good) = check(&model, [&document["rows"][index], point], &codes, &chains);
            is_right &= good;
            table += &format!("  {} to {}: {text}{}\n", pair[0], pair[1], if good { "" } else { "  WRONG" });
        }
        assert!(is_right, "{table}{}", boot.console.framed());
        println!("\n{table}");
    });
}

/// Returns the number of the chain of each line of the buffer.
fn owners(buffer: &Buffer) -> Vec<Option<usize>> {
    let nodes = |number| match buffer.cycle(number).expect("a chain") {
        (_, nodes) if number == 0 => 0..nodes,
        (first, nodes) => first..first + nodes,
    };
    let mut owners = Vec::new();
    for number in 0..CHAINS {
        for node in nodes(number) {
            let line = (buffer.offset(node) / 64) as usize;
            owners.resize(owners.len().max(line + 1), None);
            owners[line] = Some(number);
        }
    }
    owners
}

/// Compares reported memory and translation with those delivered.
fn is_told_apart(test: &str, line: &str) {
    each_pair(test, line, |model, [row, point], codes, chains| {
        let ticks = |key: &str| row[key].as_f64().unwrap_or(f64::NAN) * ticks_per_second() / 1e9;
        let [memory, low, high] = ["memory_ns", "memory_ns_low", "memory_ns_high"].map(ticks);
        let translation = ticks("translation_ns");
        let reported =
            point["grouped_chains"].as_array().into_iter().flatten().filter_map(|chain| chain["ns"].as_f64());
        let [random, grouped @ ..] = chains;
        let batches = Chain {
            windows: random.windows.iter().filter(|window| window.hops == model.hops()).copied().collect(),
        };
        let loads: u64 = grouped.iter().map(Chain::loads).sum();
        let hops: u64 = grouped.iter().map(Chain::hops).sum();
        let delivered = loads as f64 / hops as f64;
        let walk = batches.load_and_translation().delivered - delivered;
        let [of_walk, of_memory] = TRANSLATION_TOLERANCE;
        let within = |value: f64, tolerance: f64| {
            low <= value * (1.0 + tolerance) && high >= value * (1.0 - tolerance)
        };
        // Translation is what memory leaves of the random load, so the interval is that of both.
        let uncertain = ((high - low) / 2.0).min(DISTURBED_TOLERANCE * delivered);
        let good = (memory - delivered).abs() < uncertain.max(MEMORY_TOLERANCE * delivered)
            && within(delivered, INTERVAL_TOLERANCE)
            && (translation - walk.max(0.0)).abs()
                < uncertain.max(of_walk * walk.abs() + of_memory * delivered)
            && !codes.iter().any(|code| code == "translation-not-separated");
        let text = format!(
            "memory {memory:.0} ({low:.0} to {high:.0}) of {delivered:.0} delivered, translation \
             {translation:.0} of {walk:.0}, random load {:.0} of {:.0}, grouped loads {}",
            ticks("ns"),
            random.load_and_translation().delivered,
            reported
                .zip(grouped)
                .map(|(ns, chain)| format!(
                    "{:.0} of {:.0}",
                    ns * ticks_per_second() / 1e9,
                    chain.load_and_translation().delivered
                ))
                .collect::<Vec<_>>()
                .join(", "),
        );
        (text, good)
    });
}

#[test]
fn within_the_reach_of_the_tlb_there_is_no_translation() {
    is_told_apart(
        "a set of the TLB's reach",
        "latency=0:0:6000 tlb=64:300 tlb=2048:3000 size=8M iters=300 trials=300",
    );
}

#[test]
fn four_times_the_reach_of_the_tlb() {
    is_told_apart(
        "a set of four times the TLB's reach",
        "latency=0:0:6000 tlb=64:300 tlb=2048:3000 tables=0 level=1M:16:2000 size=32M iters=300 trials=900",
    );
}

#[test]
fn sixteen_times_the_reach_of_the_tlb() {
    is_told_apart(
        "a set of sixteen times the TLB's reach",
        "memory=512M latency=0:0:6000 tlb=64:300 tlb=2048:1000 tables=0 level=1M:16:2000 size=128M iters=300 trials=900",
    );
}

#[test]
fn two_nodes_with_page_tables_on_one() {
    is_told_apart(
        "two nodes, page tables on node 1",
        "nodes=2 latency=0:0:6000,0:1:11000,1:0:10000,1:1:7000 tlb=64:300 tlb=2048:1000 tables=1 size=32M iters=300 \
         trials=1500",
    );
}

#[test]
fn beside_a_prefetcher_of_adjacent_lines() {
    is_told_apart(
        "an adjacent-line prefetcher",
        "latency=0:0:6000 tlb=64:300 tlb=2048:3000 level=1M:16:2000 adjacent=on size=32M iters=300 trials=900",
    );
}

#[test]
fn beside_a_prefetcher_of_streams() {
    is_told_apart(
        "a stream prefetcher",
        "latency=0:0:6000 tlb=64:300 tlb=2048:3000 level=1M:16:2000 prefetch=8 size=32M iters=300 trials=900",
    );
}

#[test]
fn large_pages_in_small_pages_of_the_host() {
    is_told_apart(
        "2 MiB pages in pages of 4 KiB of the host",
        "latency=0:0:6000 tlb=64:300 tlb=2048:1000 tables=0 host-pages=4k pages=2m size=32M iters=300 trials=900",
    );
}

#[test]
fn a_tlb_that_does_not_hold_a_window_is_reported_and_gives_no_value() {
    each_pair(
        "a TLB of 16 entries",
        "latency=0:0:6000 tlb=16:3000 size=32M iters=300 trials=300",
        |_, [row, _], codes, _| {
            let keys = ["memory_ns", "without_translation_ns", "translation_ns"];
            let none = keys.iter().all(|key| row[*key].is_null());
            let said = codes.iter().any(|code| code == "translation-not-separated");
            (format!("values {:?}, codes {codes:?}", keys.map(|key| &row[key])), none && said)
        },
    );
}
