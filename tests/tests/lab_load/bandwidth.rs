//! Bandwidth of memory that serves a known number of lines a second, and the lines of each kind of traffic.

use latency_tests::attempts::retried_where_quiet;
use latency_tests::lab::load::{Loaded, bytes_per_second, middle};
use latency_tests::lab::{ready, ticks_per_second};
use serde_json::Value;

use super::{microseconds, model, number, records};

/// Kinds of traffic, the names of their kernels, and the lines that each step reads and writes.
const KINDS: [(&str, &str, u64, u64); 6] = [
    ("3:1", "update3", 3, 1),
    ("2:1", "update2", 2, 1),
    ("1:1", "update1", 1, 1),
    ("nt-write", "ntwrite", 0, 1),
    ("random", "random", 1, 0),
    ("copy", "copy", 1, 1),
];

#[test]
fn bandwidth_matches_the_servers_and_lines_are_counted_exactly() {
    const TEST: &str = "bandwidth of two servers";
    const TOLERANCE: f64 = 0.01;
    /// Maximum deviation of medians on a busy host, as a fraction.
    const BUSY: f64 = 0.2;
    /// Maximum number of outstanding lines, so that a server has work for some 10 ms while the host runs something
    /// else.
    const OUTSTANDING: u64 = 2048;
    if !ready(TEST) {
        return;
    }
    // A cache of 4 KiB serves one in 500 randomly chosen lines.
    let services = [4.0, 7.0].map(microseconds);
    let [first, second] = services;
    let model = model(&format!(
        "nodes=2 memory=128M level=4K:8:300 latency=0:0:4000,0:1:4000,1:0:4000,1:1:4000 \
         server=0:{first} server=1:{second} outstanding={OUTSTANDING}"
    ));
    let runs = [
        "bandwidth --json --progress=never --size=2M --pages=4k --budget=4",
        "bandwidth --json --progress=never --size=2M --pages=4k --budget=4 --cpunode=0 --memnode=1 \
         --traffic=3:1,2:1,1:1,nt-write,random,copy",
    ];
    retried_where_quiet(TEST, |attempt| {
        let boot = Loaded::boot(&model, runs).unwrap_or_else(|reason| panic!("{TEST}: {reason}"));
        let mut table = format!("{TEST}, boot {attempt}, {:.0?}\n", boot.consoles[0].elapsed);
        let (mut is_good, mut is_calm) = (true, true);
        let mut compare = |record: &Value, kernel: &str| {
            let place = |key| record[key].as_u64().unwrap_or(u64::MAX);
            let (from, to) = (place("initiator_node"), place("target_node"));
            let service = services[to as usize] as f64;
            // The tests for a steady rate are windows, too, with a tenth of the lines.
            let fewest = 0.8 * 0.05 * ticks_per_second() / service;
            let windows = boot.log.windows().iter().filter(|window| {
                (window.name.as_str(), u64::from(window.cpu), u64::from(window.node)) == (kernel, from, to)
                    && window.lines as f64 > fewest
            });
            let given =
                bytes_per_second(middle(windows.map(|window| window.lines as f64 / window.ticks as f64)));
            let found = number(record, "bytes_per_second");
            let off = found / given - 1.0;
            let of_server = found / bytes_per_second(1.0 / service) - 1.0;
            let good = off.abs() <= TOLERANCE && of_server.abs() <= BUSY;
            is_good &= good;
            is_calm &= of_server.abs() <= TOLERANCE;
            table += &format!(
                "  {kernel}, node {from} from {to}: {found:.0} bytes/s, given {:+.2} %, server {:+.2} %{}\n",
                off * 100.0,
                of_server * 100.0,
                if good { "" } else { "  WRONG" }
            );
        };
        let (nodes, kinds) = (boot.document(0), boot.document(1));
        let traffic = |document: &Value| -> Vec<Value> {
            let rows = records(document, "/rows").iter();
            rows.filter(|row| row["traffic"].is_string()).cloned().collect()
        };
        let (nodes, kinds) = (traffic(&nodes), traffic(&kinds));
        assert_eq!((nodes.len(), kinds.len()), (4, KINDS.len()));
        nodes.iter().for_each(|record| compare(record, "read"));
        for (kind, kernel, reads, writes) in KINDS {
            let record =
                kinds.iter().find(|record| record["traffic"] == kind).expect("each kind has a record");
            compare(record, kernel);
            let lines = boot.log.stream(kernel);
            let visits = record["rounds"].as_u64().unwrap_or(0) + 1;
            // The last group of a visit may be incomplete.
            let off = (lines.read * writes).abs_diff(lines.written * reads);
            let is_exact = lines.read + lines.written > 0 && off < visits * (reads + writes);
            assert!(is_exact, "{kind}: {lines:?} in {visits} visits");
            let told = ["read_bytes_per_second", "write_bytes_per_second"].map(|key| number(record, key));
            assert!((told[0] * writes as f64 - told[1] * reads as f64).abs() <= 4.0, "{record}");
        }
        assert!(is_good, "{table}");
        println!("{table}");
        is_calm.then_some(()).ok_or(format!("generators did not have all of a server\n{table}"))
    });
}
