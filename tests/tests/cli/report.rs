//! Everything in one run: interrupted at any moment, and read again by every command that reads results.

use latency_tests::attempts::retried;
use latency_tests::confine::Confine;
use latency_tests::directory::Directory;
use latency_tests::document::{array, at, stored_report, text};
use latency_tests::program::workspace;
use latency_tests::run::{Run, finish, finish_within, read_until};
use latency_tests::schema::assert_valid;
use serde_json::Value;
use std::fs;
use std::time::Duration;

/// Maximum wall-clock time of a run. A busy host may give it little CPU time.
const PATIENCE: Duration = Duration::from_secs(120);

/// The smallest possible report.
const SMALL: [&str; 3] = ["report", "--size=64K", "--budget=10"];

/// Interrupts a report as soon as it has announced this experiment.
fn interrupted(directory: &Directory, more: &[&str], words: &str) -> Run {
    let mut command = directory.command(&[&SMALL[..], &["--progress=always"], more].concat());
    let mut child = command.hearing(libc::SIGINT).spawn().expect("a process");
    read_until(child.stderr.as_mut().expect("a pipe"), words);
    // SAFETY: takes numbers; the process has not been waited for, so its number is still valid.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
    finish_within(child, PATIENCE)
}

#[test]
fn a_report_contains_every_experiment_completely() {
    let directory = Directory::new("report-whole");
    finish(&mut directory.command(&[&SMALL[..], &["--output=result.json"]].concat())).expect_status(0);
    let written = fs::read_to_string(directory.path().join("result.json")).expect("the result");
    let document: Value = serde_json::from_str(&written).expect("JSON");
    assert_valid(&document);
    assert_eq!(at(&document, "/partial"), false);
    let known = array(&document, "/sections").len() + array(&document, "/not_measured").len();
    assert_eq!(known, 10);
    assert_eq!(at(&document, "/command/0"), "latency-bench");
    for section in array(&document, "/sections") {
        assert_valid(section);
        let name = text(section, "/experiment");
        assert_eq!(at(&document, &format!("/summary/{name}")), at(section, "/summary"), "{name}");
        assert!(!array(section, "/rows").is_empty(), "{section:#}");
        let repeats = array(section, "/command")
            .iter()
            .any(|word| word.as_str().is_some_and(|word| word.contains("size=65536")));
        assert!(repeats || name == "cores", "{section:#}");
        // A busy host may have no time for it.
        if name == "bandwidth" {
            at(section, "/summary/read_bytes_per_second_low");
        }
    }
}

#[test]
fn an_interrupt_keeps_finished_parts_and_names_the_rest() {
    retried("report::an_interrupt_keeps_finished_parts_and_names_the_rest", |_| {
        let directory = Directory::new("report-interrupted");
        let path = directory.path().join("page.html");
        for (words, last) in [("pages (3", "curve"), ("parallel (7", "loaded")] {
            let found = interrupted(&directory, &["--output=page.html"], words);
            found.expect_status(130).expect_error("interrupted");
            let page = fs::read_to_string(&path).expect("the page");
            assert!(page.ends_with("</html>\n") && page.contains("Partial: interrupted"), "{found}");
            let (_, names) = page.split_once("Partial: interrupted before ").expect("what is missing");
            let names = names.split_once('.').expect("a sentence").0;
            assert!(names.ends_with("residency") && !names.contains(last), "{names}");
            assert_eq!(directory.names(), ["page.html"]);
        }
    });
}

#[test]
fn an_early_interrupt_leaves_the_older_page() {
    let directory = Directory::new("report-early");
    fs::write(directory.path().join("page.html"), "older").expect("a file");
    let found = interrupted(&directory, &["--output=page.html"], "matrix (1");
    found.expect_status(130);
    let page = fs::read_to_string(directory.path().join("page.html")).expect("a file");
    // By then it may have finished the one pair of a small machine.
    assert!(page == "older" || page.contains("Partial: interrupted"), "{found}");
    assert_eq!(directory.names(), ["page.html"]);
}

#[test]
fn a_partial_report_replaces_no_monitoring_file() {
    retried("report::a_partial_report_replaces_no_monitoring_file", |_| {
        let directory = Directory::new("report-prom");
        fs::write(directory.path().join("older.prom"), "older").expect("a file");
        interrupted(&directory, &["--output=older.prom"], "pages (3").expect_status(130);
        let left = fs::read_to_string(directory.path().join("older.prom")).expect("a file");
        assert_eq!(left, "older");
        assert_eq!(directory.names(), ["older.prom"]);
    });
}

/// Returns the index of an experiment in a report.
fn place(report: &Value, experiment: &str) -> usize {
    let named = |section: &Value| section["experiment"] == experiment;
    array(report, "/sections").iter().position(named).expect("the experiment")
}

/// Multiplies the value of a point and its interval.
fn slow_down(point: &mut Value, factor: f64) {
    for key in ["ns", "ns_low", "ns_high"] {
        if let Some(ns) = point[key].as_f64() {
            point[key] = (ns * factor).into();
        }
    }
}

#[test]
fn two_reports_are_compared_point_by_point() {
    let directory = Directory::new("report-compare");
    let older = stored_report();
    let mut newer = older.clone();
    let parallel = place(&older, "parallel");
    for point in newer["sections"][parallel]["rows"].as_array_mut().expect("points") {
        slow_down(point, 1.5);
    }
    fs::write(directory.path().join("older.json"), older.to_string()).expect("a file");
    fs::write(directory.path().join("newer.json"), newer.to_string()).expect("a file");
    let same = finish(&mut directory.command(&["compare", "older.json", "older.json", "--json"]));
    let document = same.expect_json(0);
    // Points of every experiment that has them, apart from those under load.
    assert!(array(&document, "/rows").len() > 15, "{same}");
    let found = finish(&mut directory.command(&["compare", "older.json", "newer.json"]));
    found.expect_status(5);
    assert!(found.stdout.contains("REGRESSION: 2 of 16 points slower by 50.0% (threshold 3%)"), "{found}");
}

#[test]
fn the_cores_of_two_reports_are_compared() {
    let directory = Directory::new("report-compare-cores");
    let older = stored_report();
    let mut newer = older.clone();
    let cores = place(&older, "cores");
    let section = &mut newer["sections"][cores];
    for list in ["rows", "classes"] {
        section[list].as_array_mut().expect("a list").iter_mut().for_each(|found| slow_down(found, 1.5));
    }
    fs::write(directory.path().join("older.json"), older.to_string()).expect("a file");
    fs::write(directory.path().join("newer.json"), newer.to_string()).expect("a file");
    let found = finish(&mut directory.command(&["compare", "older.json", "newer.json"]));
    found.expect_status(5);
    let words = "2 of 16 points slower by 50.0% (threshold 3%): all points with experiment cores.";
    assert!(found.stdout.replace('\n', " ").contains(words), "{found}");
}

#[test]
fn reports_of_many_hosts_are_judged_by_every_experiment() {
    let directory = Directory::new("report-fleet");
    let mut lines = String::new();
    for host in 0..6 {
        let mut report = stored_report();
        for section in report["sections"].as_array_mut().expect("sections") {
            section["host"]["name"] = format!("n{host}").into();
            section["trust"]["level"] = "good".into();
        }
        if host == 4 {
            let cores = place(&report, "cores");
            for class in report["sections"][cores]["classes"].as_array_mut().expect("classes") {
                slow_down(class, 2.0);
            }
        }
        lines += &(report.to_string() + "\n");
    }
    fs::write(directory.path().join("all.jsonl"), lines).expect("a file");
    let found = finish(&mut directory.command(&["fleet", "all.jsonl", "--json"]));
    let document = found.expect_json(5);
    assert_valid(&document);
    let outliers = array(&document, "/rows");
    assert!(!outliers.is_empty(), "{found}");
    for outlier in outliers {
        assert_eq!(text(outlier, "/host"), "n4");
        assert!(text(outlier, "/experiment") == "cores", "{outlier:#}");
    }
    assert_eq!(at(&document, "/summary/documents"), 6 * array(&stored_report(), "/sections").len());
}

#[test]
fn a_saved_report_is_a_page_with_a_chapter_for_each_experiment() {
    let directory = Directory::new("report-again");
    fs::write(directory.path().join("older.json"), stored_report().to_string()).expect("a file");
    let found = finish(&mut directory.command(&["report", "older.json", "--output=page.html"]));
    found.expect_status(0);
    let page = fs::read_to_string(directory.path().join("page.html")).expect("the page");
    let report = stored_report();
    let sections = array(&report, "/sections");
    assert!(page.contains(&format!("{} saved results from 1 host.", sections.len())));
    for section in sections {
        assert!(page.contains(&format!("older.json: {}<", text(section, "/experiment"))), "{section}");
    }
    // A page is not read again, and the message names the right input.
    let found = finish(&mut directory.command(&["report", "page.html"]));
    found.expect_status(1).expect_error("save the result with --json too");
}

#[test]
fn hosts_without_a_name_are_distinguished_by_their_files() {
    let directory = Directory::new("report-unnamed");
    for name in ["one.csv", "two.csv"] {
        fs::copy(workspace().join("tests/fixtures/saved/curve.csv"), directory.path().join(name))
            .expect("a file");
    }
    let found = finish(&mut directory.command(&["report", "one.csv", "two.csv", "--format=text"]));
    assert!(found.expect_status(0).stdout.starts_with("2 saved results from 2 hosts."), "{found}");
    let found = finish(&mut directory.command(&["report", "one.csv", "one.csv", "--format=text"]));
    assert!(found.expect_status(0).stdout.starts_with("2 saved results from 1 host."), "{found}");
}
