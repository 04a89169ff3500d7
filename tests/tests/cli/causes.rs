//! The likely causes of differences between hosts, and between two results in one report.
//!
//! The documents are results of the lab with a prefetcher and without one; only their hosts and times are changed.

use latency_tests::directory::Directory;
use latency_tests::document::{array, at};
use latency_tests::program::workspace;
use latency_tests::run::{Run, finish};
use latency_tests::schema::assert_valid;
use serde_json::Value;
use std::fs;

/// The results with a prefetcher and without one.
const WITH: &str = "order-prefetch";
const WITHOUT: &str = "order-plain";

/// The sentence of a host whose prefetchers are off.
const OFF: &str = "odd: Looks like the hardware prefetchers: walks in order are slower by ";

fn fixture(name: &str) -> String {
    format!("{}/tests/fixtures/saved/{name}.json", workspace().display())
}

/// Returns a result as one of a host on a day, on one line.
fn line(name: &str, host: &str, day: usize) -> String {
    let text = fs::read_to_string(fixture(name)).expect("a document");
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    document["host"]["name"] = host.into();
    document["host"]["boot_id"] = format!("{host}-0000").into();
    document["started"] = format!("2026-10-{day:02}T01:20:00Z").into();
    document.to_string() + "\n"
}

/// Returns results of six hosts, and then one of the host `odd`.
fn seven(usual: &str, odd: &str) -> String {
    let six: String = (1..=6).map(|host| line(usual, &format!("h{host}"), 1)).collect();
    six + &line(odd, "odd", 1)
}

/// Runs the program in a folder with a file `all.jsonl`, and returns the text without its line breaks.
fn said(name: &str, all: &str, arguments: &[&str]) -> (String, Run) {
    let directory = Directory::new(name);
    fs::write(directory.path().join("all.jsonl"), all).expect("a file");
    let found = finish(&mut directory.command(arguments));
    (found.stdout.split_whitespace().collect::<Vec<_>>().join(" "), found)
}

#[test]
fn fleet_names_the_likely_cause_of_a_slow_host_in_every_format() {
    let all = seven(WITH, WITHOUT);
    let (text, _) = said("causes-text", &all, &["fleet", "all.jsonl"]);
    assert!(text.starts_with("1 of 7 hosts is slow: odd (") && text.contains(OFF), "{text}");
    assert_eq!(text.matches("Looks like").count(), 1, "{text}");
    let document = said("causes-json", &all, &["fleet", "all.jsonl", "--json"]).1.expect_json(5);
    assert_valid(&document);
    let causes = array(&document, "/likely_causes");
    assert_eq!((causes.len(), at(&causes[0], "/host")), (1, &"odd".into()), "{causes:?}");
    assert_eq!(at(&causes[0], "/name"), "prefetchers");
    assert!(at(&causes[0], "/text").as_str().expect("words").starts_with(&OFF["odd: ".len()..]));
    assert!(array(&document, "/rows").iter().all(|row| at(row, "/likely_cause") == "prefetchers"));
    for format in ["csv", "md"] {
        let (text, _) = said("causes-format", &all, &["fleet", "all.jsonl", &format!("--format={format}")]);
        assert!(text.contains(if format == "csv" { ",prefetchers," } else { OFF }), "{text}");
    }
}

#[test]
fn fleet_names_the_likely_cause_of_a_fast_host() {
    let (text, _) = said("causes-fast", &seven(WITHOUT, WITH), &["fleet", "all.jsonl"]);
    assert!(
        text.contains("odd: Looks like the hardware prefetchers: walks in order are faster by "),
        "{text}"
    );
}

#[test]
fn fleet_names_no_cause_without_a_signature() {
    let mut odd: Value = serde_json::from_str(&line(WITH, "odd", 1)).expect("JSON");
    for row in odd["rows"].as_array_mut().expect("rows") {
        for key in ["ns", "ns_low", "ns_high"] {
            row[key] = (row[key].as_f64().expect("a number") * 1.5).into();
        }
    }
    let six: String = (1..=6).map(|host| line(WITH, &format!("h{host}"), 1)).collect();
    let all = six + &odd.to_string() + "\n";
    let document = said("causes-none", &all, &["fleet", "all.jsonl", "--json"]).1.expect_json(5);
    assert!(array(&document, "/likely_causes").is_empty(), "{document:#}");
    assert_eq!(at(&document, "/rows/0/likely_cause"), &Value::Null);
    // A host like the others has no cause, either.
    let document =
        said("causes-like", &seven(WITH, WITH), &["fleet", "all.jsonl", "--json"]).1.expect_json(0);
    assert!(array(&document, "/likely_causes").is_empty(), "{document:#}");
}

#[test]
fn fleet_names_the_likely_cause_of_a_change() {
    let days = (1..=24).map(|day| line(if day < 20 { WITH } else { WITHOUT }, "odd", day));
    let all: String = days.collect();
    let (text, _) = said("causes-history", &all, &["fleet", "--history", "all.jsonl"]);
    assert!(text.contains("Became slower: 1 of 1 hosts: odd.") && text.contains(OFF), "{text}");
    let days = (1..=24).map(|day| line(if day < 20 { WITHOUT } else { WITH }, "odd", day));
    let (text, _) = said("causes-history", &days.collect::<String>(), &["fleet", "--history", "all.jsonl"]);
    assert!(
        text.contains("odd: Looks like the hardware prefetchers: walks in order are faster by"),
        "{text}"
    );
}

#[test]
fn fleet_takes_typical_results_from_the_baseline() {
    let directory = Directory::new("causes-baseline");
    let base: String = (1..=3).map(|host| line(WITH, &format!("h{host}"), 1)).collect();
    fs::write(directory.path().join("base.jsonl"), base).expect("a file");
    fs::write(directory.path().join("odd.json"), line(WITHOUT, "odd", 1)).expect("a file");
    let found = finish(&mut directory.command(&["fleet", "--baseline=base.jsonl", "odd.json"]));
    assert!(found.expect_status(5).stdout.contains("odd: Looks like the hardware prefetchers"), "{found}");
}

#[test]
fn fleet_says_why_it_seeks_no_cause_in_a_pipe() {
    let why = "Likely causes: not sought, because a pipe cannot be read a second time; name files.";
    let directory = Directory::new("causes-pipe");
    for (odd, is_said) in [(WITHOUT, true), (WITH, false)] {
        fs::write(directory.path().join("all.jsonl"), seven(WITH, odd)).expect("a file");
        let pipe = "cat all.jsonl | ./latency-bench fleet -";
        let mut shell = std::process::Command::new("sh");
        let found = finish(shell.args(["-c", pipe]).current_dir(directory.path()));
        let text = found.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text.contains(why), is_said, "{found}");
        assert!(!text.contains("Looks like"), "{found}");
    }
}

#[test]
fn a_report_of_two_results_has_the_likely_cause_that_compare_names() {
    let directory = Directory::new("causes-report");
    let (with, without) = (fixture(WITH), fixture(WITHOUT));
    let sentence = "Looks like the hardware prefetchers: walks in order are slower by ";
    let of = |arguments: &[&str]| finish(&mut directory.command(arguments));
    let compared = of(&["compare", &with, &without, "--json"]).expect_json(5);
    let document = of(&["report", &with, &without, "--json"]).expect_json(0);
    assert_valid(&document);
    assert_eq!(at(&document, "/likely_cause/name"), "prefetchers");
    assert_eq!(at(&document, "/likely_cause"), at(&compared, "/likely_cause"));
    for format in ["text", "html", "md"] {
        let found = of(&["report", &with, &without, &format!("--format={format}")]);
        let text = found.expect_status(0).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(sentence), "{format}: {found}");
    }
    // One result has no cause, and three are not two sides.
    for files in [&[with.as_str()][..], &[&with, &with, &without], &[&with, &with]] {
        let document = of(&[&["report", "--json"], files].concat()).expect_json(0);
        assert_eq!(at(&document, "/likely_cause"), &Value::Null, "{files:?}");
    }
}

#[test]
fn compare_reads_what_report_and_show_write_of_saved_results() {
    let directory = Directory::new("causes-again");
    let of = |arguments: &[&str]| finish(&mut directory.command(arguments));
    for name in ["curve", "matrix-a", "bandwidth-a", "pages", "order-plain", "server-a"] {
        let path = fixture(name);
        for command in ["report", "show"] {
            of(&[command, &path, "--json", "-o", "again.json"]).expect_status(0);
            let document = of(&["compare", &path, "again.json", "--json"]).expect_json(0);
            assert_eq!(at(&document, "/summary/verdict"), "same", "{command} {name}");
            assert_eq!(at(&document, "/summary/median_ratio"), 1.0, "{command} {name}");
            let rows = array(&document, "/rows");
            assert!(rows.iter().all(|row| row["ratio"] == 1.0), "{command} {name}: {rows:?}");
        }
    }
    // Idle latencies and limits of traffic are told apart.
    let path = fixture("loaded-a");
    of(&["show", &path, "--json", "-o", "again.json"]).expect_status(0);
    let document = of(&["compare", &path, "again.json", "--json"]).expect_json(0);
    assert_eq!(at(&document, "/summary/points_compared"), 4);
    assert_eq!(at(&document, "/summary/median_ratio"), 1.0);
}

#[test]
fn two_results_of_one_experiment_in_a_document_are_not_one_side() {
    let directory = Directory::new("causes-mixed");
    let of = |arguments: &[&str]| finish(&mut directory.command(arguments));
    let (with, without) = (fixture(WITH), fixture(WITHOUT));
    of(&["report", &with, &without, "--json", "-o", "both.json"]).expect_status(0);
    of(&["compare", "both.json", &with]).expect_status(1).expect_error("two values for one point");
}

#[test]
fn a_report_of_an_unreliable_or_interrupted_result_gives_no_verdict() {
    let directory = Directory::new("causes-trust");
    let of = |arguments: &[&str]| finish(&mut directory.command(arguments));
    let changes: [fn(&mut Value); 2] = [
        |document| document["trust"] = serde_json::json!({"level": "poor", "reasons": ["looks-cached"]}),
        |document| document["partial"] = true.into(),
    ];
    for change in changes {
        let mut document: Value = serde_json::from_str(&line(WITH, "h1", 1)).expect("JSON");
        change(&mut document);
        fs::write(directory.path().join("one.json"), document.to_string()).expect("a file");
        of(&["report", "one.json", "--json", "-o", "again.json"]).expect_status(0);
        let found = of(&["compare", &fixture(WITHOUT), "again.json", "--json"]).expect_json(6);
        assert_eq!(at(&found, "/summary/verdict"), "none", "{found:#}");
    }
}
