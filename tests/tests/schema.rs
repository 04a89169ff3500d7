//! Real output against the schema of the documents, `tests/schema/latency-bench.schema.json`.

use latency_tests::attempts::retried;
use latency_tests::directory::Directory;
use latency_tests::document::{array, at, warnings};
use latency_tests::run::{NOTE, Run, WARNING, run};
use latency_tests::schema::{assert_valid, of_results, violations};
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn a_matrix_is_valid() {
    let document = run(&["--json", "--size=1M", "--iters=2000", "--trials=15"]).expect_json(0);
    assert_valid(&document);
    for (key, is_right) in [
        ("/iters", Value::is_u64 as fn(&Value) -> bool),
        ("/seed", Value::is_u64),
        ("/freq_ghz", Value::is_f64),
        ("/node_pairs/0/from", Value::is_u64),
        ("/node_pairs/0/to", Value::is_u64),
        ("/node_pairs/0/cycles", Value::is_number),
        ("/node_pairs/0/ns", Value::is_number),
        ("/rows/0/ns_high", Value::is_f64),
        ("/rows/0/max_ns", Value::is_f64),
    ] {
        assert!(is_right(at(&document, key)), "{key} in\n{document:#}");
    }
}

#[test]
fn a_matrix_of_few_trials_is_valid() {
    let options = ["--json", "--size=1M", "--iters=2000", "--trials=1", "--kernel=index", "--warmup-iters=0"];
    assert_valid(&run(&options).expect_json(0));
}

#[test]
fn every_order_and_every_kind_of_page_is_valid() {
    for order in ["random", "page-local", "sequential", "backward", "grouped"] {
        for pages in ["auto", "4k"] {
            let (order, pages) = (format!("--order={order}"), format!("--pages={pages}"));
            let options = ["--format=json", &order, &pages, "--size=1M", "--iters=2000", "--trials=3"];
            assert_valid(&run(&options).expect_json(0));
        }
    }
}

/// A curve of a few small sizes, which needs a second or two.
const SHORT_CURVE: [&str; 7] = [
    "curve",
    "--json",
    "--min-size=8K",
    "--max-size=1M",
    "--points-per-octave=2",
    "--trials=15",
    "--iters=2000",
];

#[test]
fn a_curve_and_its_comparison_and_fit_are_valid() {
    let directory = Directory::new("schema");
    let path = directory.path().join("curve.json");
    let document = run(&SHORT_CURVE).expect_json(0);
    assert_valid(&document);
    std::fs::write(&path, document.to_string()).expect("a scratch file");
    let path = path.to_str().expect("a path in UTF-8");
    assert_valid(&run(&["fit", "--json", "fixtures/saved/curve.json"]).expect_json(0));
    let comparison = run(&["compare", "--json", "--force", path, path]);
    // Points that another program disturbed may hide every difference.
    let is_blind = comparison.stdout.contains(r#""summary":{"verdict":"none""#);
    let comparison = comparison.expect_json(if is_blind { 6 } else { 0 });
    assert_valid(&comparison);
    assert_eq!(at(&comparison, "/summary/median_ratio"), 1.0);
}

#[test]
fn a_distribution_is_valid() {
    retried("schema::a_distribution_is_valid", |_| {
        let options = ["distribution", "--json", "--size=4M", "--trials=15", "--cpunode=0", "--memnode=0"];
        let document = run(&options).expect_json(0);
        assert_valid(&document);
        let median = array(&document, "/rows").iter().find(|row| row["percentile"] == 50.0).expect("a row");
        assert_eq!(at(&document, "/summary/p50_ns"), at(median, "/ns"), "{document:#}");
    });
}

#[test]
fn the_orders_are_valid() {
    retried("schema::the_orders_are_valid", |_| {
        let options = ["order", "--json", "--size=64M", "--counters", "--time-limit=0.3"];
        let document = run(&options).expect_json(0);
        assert_valid(&document);
        assert!(at(&document, "/strided_loads/ns").is_number(), "{document:#}");
        assert!(
            at(&document, "/summary/random_over_sequential").as_f64().is_some_and(|ratio| ratio > 3.0),
            "{document:#}"
        );
    });
}

#[test]
fn the_pages_are_valid() {
    let options = ["pages", "--json", "--size=8M", "--trials=3", "--iters=2000"];
    let document = run(&options).expect_json(0);
    assert_valid(&document);
    assert_eq!(at(&document, "/rows/0/pages_obtained"), "4k");
    assert_eq!(at(&document, "/translation/0/pages_asked"), "4k");
}

#[test]
fn the_variants_are_valid() {
    let options = ["variants", "--json", "--size=8M", "--trials=3", "--iters=2000", "--time-limit=0.02"];
    let document = run(&options).expect_json(0);
    assert_valid(&document);
    assert_eq!(at(&document, "/rows/0/variant"), "index4-packed");
    assert!(at(&document, "/rows/0/core_cycles").is_number(), "{document:#}");
}

#[test]
fn lanes_are_valid() {
    retried("schema::lanes_are_valid", |_| {
        let document = run(&["parallel", "--json", "--trials=7", "--size=4M"]).expect_json(0);
        assert_valid(&document);
        assert!(at(&document, "/saturation/0/memory_level_parallelism").is_number(), "{document:#}");
        let document = run(&["window", "--json", "--trials=7"]).expect_json(0);
        assert_valid(&document);
        assert_eq!(at(&document, "/filler_reach/2/filler"), "mixed", "{document:#}");
        assert!(at(&document, "/filler_reach/2/converged").is_boolean(), "{document:#}");
        assert!(at(&document, "/summary/fillers_agree").is_boolean(), "{document:#}");
        // If caches hold the working set, the window cannot be tested.
        let document = run(&["window", "--json", "--trials=2", "--size=64K"]).expect_json(0);
        assert_valid(&document);
        assert_eq!(at(&document, "/filler_reach").as_array().map(Vec::len), Some(0), "{document:#}");
        assert!(at(&document, "/work_reach/instructions_hidden").is_null(), "{document:#}");
        assert!(at(&document, "/summary/reorder_buffer_instructions").is_null(), "{document:#}");
    });
}

#[test]
fn the_system_is_valid() {
    assert_valid(&run(&["system", "--json"]).expect_json(0));
}

#[test]
fn json_and_text_have_the_same_warnings() {
    // Too short for an interval, which is a warning; and in a cache, which is a note.
    let options = ["--json", "--size=16K", "--iters=4000000", "--time-limit=0.001"];
    let lines = |found: &Run| {
        let is_one = |line: &&str| line.starts_with(WARNING) || line.starts_with(NOTE);
        found.stderr.lines().filter(is_one).count()
    };
    let found = run(&[&options[..], &["--verbose"]].concat());
    let document = found.expect_json(0);
    // Text has one line for each kind, and notes only on request.
    let kinds: BTreeSet<&str> = warnings(&document).into_iter().collect();
    assert_eq!(kinds.len(), lines(&found), "{found}");
    assert!(kinds.contains("cache-latency") && kinds.contains("precision-not-reached"), "{found}");
    let plain = run(&options);
    assert!(!plain.stderr.contains(NOTE) && plain.stderr.contains(WARNING), "{plain}");
}

#[test]
fn missing_and_unknown_keys_are_violations() {
    let document = run(&["--json", "--size=1M", "--iters=2000", "--trials=3"]).expect_json(0);
    let broken = |change: &dyn Fn(&mut Value)| {
        let mut document = document.clone();
        change(&mut document);
        !violations(of_results(), &document).is_empty()
    };
    assert!(!broken(&|_| {}));
    assert!(broken(&|document| document["seed"] = "42".into()));
    assert!(broken(&|document| document["another"] = 1.into()));
    assert!(broken(&|document| document["rows"][0]["verified"] = 1.into()));
    assert!(broken(&|document| document["rows"][0]["walk_order"] = "sorted".into()));
    assert!(broken(&|document| {
        document.as_object_mut().map(|members| members.remove("freq_ghz"));
    }));
}
