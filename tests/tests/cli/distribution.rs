//! Single hops on this machine: every format, and facts that hold on every machine.

use latency_tests::attempts::retried;
use latency_tests::document::{array, at, decimal, number, warnings};
use latency_tests::run::run;
use serde_json::Value;

const PERCENTILES: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

fn options<'a>(more: &[&'a str]) -> Vec<&'a str> {
    ["distribution", "--size=64M", "--trials=15", "--pages=4k", "--time-limit=0.5"]
        .into_iter()
        .chain(more.iter().copied())
        .collect()
}

fn hops(document: &Value) -> &Value {
    at(document, "/distributions/0")
}

#[test]
fn percentiles_ascend_and_the_buckets_hold_every_window() {
    retried("distribution::percentiles_ascend_and_the_buckets_hold_every_window", |_| {
        let document = run(&options(&["--json"])).expect_json(0);
        let hops = hops(&document);
        let values = PERCENTILES.map(|percent| {
            let of_it = |row: &&Value| row["percentile"] == percent;
            decimal(array(&document, "/rows").iter().find(of_it).expect("a row"), "/ns")
        });
        assert!(values.is_sorted() && values[0] > 0.0, "{values:?}");
        assert!(values[5] <= decimal(hops, "/load_max_ns") * 1.01, "{hops:#}");
        let buckets = array(hops, "/buckets");
        let in_buckets: u64 = buckets.iter().map(|bucket| bucket[2].as_u64().unwrap()).sum();
        let marked = number(hops, "/interruptions/by_mark/windows");
        assert_eq!(in_buckets + marked, number(hops, "/windows"), "{hops:#}");
        let edges: Vec<f64> = buckets.iter().map(|bucket| bucket[0].as_f64().unwrap()).collect();
        assert!(edges.is_sorted(), "{edges:?}");
        for bucket in buckets {
            let (low, high) = (bucket[0].as_f64().unwrap(), bucket[1].as_f64().unwrap());
            assert!(low <= high, "{bucket}");
        }
        // The agreement of the two latencies depends on other work, but their ratio is always reported.
        let ratio = decimal(&document, "/rows/0/batch_ratio");
        assert!((0.5..2.0).contains(&ratio), "{ratio}");
        let off = (ratio - 1.0).abs();
        if (off - 0.03).abs() > 0.001 {
            assert_eq!(off > 0.03, warnings(&document).contains(&"hop-mean-differs"), "{ratio}");
        }
    });
}

#[test]
fn hops_too_short_to_be_timed_alone_are_reported() {
    // Fifteen hops decide how many make a window, and a busy host can disturb all fifteen.
    retried("distribution::hops_too_short_to_be_timed_alone_are_reported", |_| {
        let document = run(&["distribution", "--json", "--size=16K", "--trials=15"]).expect_json(0);
        assert!(number(hops(&document), "/loads_per_window") > 1, "{document:#}");
        assert!(warnings(&document).contains(&"hops-too-short"), "{document:#}");
        run(&["distribution", "--size=16K", "--trials=15", "--strict"]).expect_status(3);
    });
}

#[test]
fn text_begins_with_percentiles_and_has_one_mean() {
    retried("distribution::text_begins_with_percentiles_and_has_one_mean", |_| {
        let options = options(&["--cpunode=0", "--memnode=0"]);
        let found = run(&options);
        found.expect_status(0);
        for label in ["Node 0 -> Node 0: ", "Trust: "] {
            assert!(found.stdout.lines().any(|line| line.starts_with(label)), "no line {label:?}: {found}");
        }
        for words in ["Median latency of a single load", " timed loads were interrupted "] {
            assert!(found.stdout.contains(words), "no {words:?}: {found}");
        }
        let heading = found.stdout.lines().find(|line| line.contains("p99.99")).expect("a table");
        let names: Vec<&str> = heading.split_whitespace().collect();
        assert_eq!(names, ["ns", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "max", "mean"], "{found}");
        assert!(found.stdout.lines().all(|line| line.chars().count() <= 100), "{found}");
        // The details are shown only on request.
        let found = run(&[&options[..], &["--verbose"]].concat());
        for label in ["Check: ", "Timer: ", "Excluded: ", "Interruptions: "] {
            assert!(found.stdout.lines().any(|line| line.starts_with(label)), "no line {label:?}: {found}");
        }
        // If there is a period, it is always shown.
        let refresh = ["Slow loads (", "DRAM refresh: "];
        assert!(
            found.stdout.lines().any(|line| refresh.iter().any(|label| line.starts_with(label))),
            "nothing of refresh: {found}"
        );
    });
}

#[test]
fn a_row_of_csv_has_a_field_for_each_name() {
    for more in [&["--csv"][..], &["--csv", "--counters"]] {
        let found = run(&options(more));
        found.expect_status(0);
        let fields: Vec<usize> = found.stdout.lines().map(|line| line.split(',').count()).collect();
        // The median of batches, and six percentiles.
        assert_eq!(fields.len(), 1 + 1 + PERCENTILES.len(), "{found}");
        assert!(fields.iter().all(|count| *count == fields[0]), "{found}");
        let names: Vec<&str> = found.stdout.lines().next().unwrap_or("").split(',').collect();
        assert_eq!(&names[..4], ["host", "started", "experiment", "tool_version"], "{found}");
        for name in ["percentile", "ns", "ns_low", "ns_high", "core_cycles", "trials"] {
            assert!(names.contains(&name), "{name} in {found}");
        }
    }
}

#[test]
fn the_picture_is_valid_svg() {
    let found = run(&options(&["--format=svg"]));
    found.expect_status(0);
    assert!(found.stdout.starts_with("<svg") && found.stdout.trim_end().ends_with("</svg>"), "{found}");
}
