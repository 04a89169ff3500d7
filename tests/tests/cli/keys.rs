//! Rows of saved results are distinct: no two have the same conditions, in CSV and in JSON.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use latency_tests::directory::Directory;
use latency_tests::document::at;
use latency_tests::run::run;

/// Every measuring experiment, with options that make it short.
const EXPERIMENTS: [&[&str]; 11] = [
    &["matrix", "--size=1M"],
    &["curve", "--min-size=8K", "--max-size=1M", "--points-per-octave=2"],
    &["curve", "--min-size=8K", "--max-size=32K", "--points-per-octave=4", "--order=page-local"],
    &["parallel", "--size=1M"],
    // Large enough for the test of the window.
    &["window"],
    &["distribution", "--size=1M"],
    &["order", "--size=1M"],
    &["pages", "--size=8M"],
    &["residency", "--size=8M", "--time-limit=1"],
    &["variants", "--size=8M", "--time-limit=0.02"],
    &["bandwidth", "--view=scaling", "--size=64K", "--traffic=read,2:1,write", "--time-limit=0.2"],
];

/// Columns with conditions of the measurement, not with its results.
const CONDITIONS: [&str; 19] = [
    "initiator_node",
    "target_node",
    "percentile",
    "variant",
    "chains",
    "work",
    "prefetch",
    "filler",
    "fillers",
    "traffic",
    "cores",
    "footprint_bytes",
    "working_set_bytes",
    "stride_bytes",
    "walk_order",
    "kernel",
    "pages_asked",
    "pages_obtained",
    "seed",
];

fn short<'a>(experiment: &[&'a str], save: &'a str) -> Vec<&'a str> {
    let mut line = experiment.to_vec();
    line.extend(["--progress=never", "--csv", save]);
    if experiment.first() != Some(&"bandwidth") {
        line.extend(["--trials=2", "--iters=200", "--warmup-iters=100"]);
    }
    line
}

/// Returns the CSV and the JSON of each experiment: run once, for all tests.
fn results() -> &'static [[String; 2]] {
    static RESULTS: OnceLock<Vec<[String; 2]>> = OnceLock::new();
    RESULTS.get_or_init(|| {
        let directory = Directory::new("keys-results");
        let document = directory.path().join("result.json");
        let save = format!("--save={}", document.display());
        let saved = |experiment: &[&str]| {
            let table = run(&short(experiment, &save)).expect_status(0).stdout.clone();
            [table, std::fs::read_to_string(&document).expect("a document")]
        };
        EXPERIMENTS.into_iter().map(saved).collect()
    })
}

/// Returns the cells of a line. A cell with a comma is in quotes, which stay; the program's reasons contain no quotes.
fn cells(line: &str) -> Vec<&str> {
    let mut in_quotes = false;
    let is_end = |character: char| {
        in_quotes ^= character == '"';
        character == ',' && !in_quotes
    };
    line.split(is_end).collect()
}

#[test]
fn no_two_rows_of_an_experiment_have_the_same_conditions() {
    for (experiment, [table, _]) in EXPERIMENTS.into_iter().zip(results()) {
        let rows: Vec<Vec<&str>> = table.lines().map(cells).collect();
        let (names, rows) = rows.split_first().expect("a header");
        let mut seen = BTreeSet::new();
        for row in rows {
            assert_eq!(row.len(), names.len(), "{experiment:?}: {row:?}");
            let conditions = names.iter().zip(row).filter(|(name, _)| CONDITIONS.contains(name));
            let key: Vec<(&str, &str)> = conditions.map(|(name, cell)| (*name, *cell)).collect();
            assert!(seen.insert(key.clone()), "{experiment:?} has two rows of {key:?}");
        }
        assert!(!rows.is_empty(), "{experiment:?}");
    }
}

/// If a row were mistaken for another, the latencies would differ.
#[test]
fn every_row_of_a_saved_result_matches_only_itself() {
    let directory = Directory::new("keys");
    for (experiment, [table, document]) in EXPERIMENTS.into_iter().zip(results()) {
        for (format, saved) in [("CSV", table), ("JSON", document)] {
            let path = directory.path().join("saved");
            std::fs::write(&path, saved).expect("a file");
            let path = path.to_str().expect("a path in UTF-8");
            let compared = run(&["compare", "--json", "--force", path, path]);
            // Points that another program disturbed may hide every difference.
            let is_blind = compared.stdout.contains(r#""summary":{"verdict":"none""#);
            let compared = compared.expect_json(if is_blind { 6 } else { 0 });
            for point in at(&compared, "/rows").as_array().expect("points") {
                assert_eq!(at(point, "/ratio"), 1.0, "{experiment:?} {format}: {point}");
                assert_eq!(at(point, "/interpolated"), false, "{experiment:?} {format}: {point}");
            }
        }
    }
}
