//! Meaningless arguments and impossible requests: status, message, and no result.

use latency_tests::confine::allowed_cpus;
use latency_tests::document::{array, number};
use latency_tests::run::{ERROR, run};

/// Command lines that fail on every machine: `$ ARGUMENTS`, the exit status, and the text on standard error.
const GOLDEN: &str = include_str!("golden/errors.txt");

#[test]
fn every_error_has_its_expected_message() {
    let mut written = String::new();
    for line in GOLDEN.lines().filter_map(|line| line.strip_prefix("$ latency-bench ")) {
        let arguments: Vec<&str> = line.split(' ').collect();
        let found = run(&arguments);
        assert_eq!(found.stdout, "", "{found}");
        let status = found.status.code().map_or("signal".into(), |code| code.to_string());
        written += &format!("$ latency-bench {line}\n{status}\n{}", found.stderr);
    }
    assert_eq!(written, GOLDEN);
}

#[test]
fn a_node_beyond_the_last() {
    let document = run(&["system", "--json"]).expect_json(0);
    let last =
        array(&document, "/system/nodes").iter().map(|node| number(node, "/id")).max().expect("a node");
    for option in ["--cpunode", "--memnode"] {
        let found = run(&[format!("{option}={}", last + 8)]);
        assert_eq!(found.stdout, "");
        let words = format!("invalid node id {} (max node = {last})", last + 8);
        found.expect_status(1).expect_error(&words);
        assert!(found.stderr.contains(&format!("{ERROR}{words}")), "{found}");
    }
}

/// Scripts pass options to every experiment, so the one that measures nothing accepts them.
#[test]
fn system_takes_the_presentation_options() {
    for option in ["--quiet", "--verbose", "--progress=always", "--color=never", "--output=-"] {
        run(&["system", option]).expect_status(0);
    }
    // On a busy host the measured core clock may be unreliable.
    let strict = run(&["system", "--strict"]);
    assert!(matches!(strict.status.code(), Some(0 | 3)), "{strict}");
    for format in ["text", "json", "jsonl", "csv", "md", "html"] {
        run(&["system", "--quiet", &format!("--format={format}")]).expect_status(0);
    }
}

#[test]
fn a_missing_cpu() {
    let last = allowed_cpus().last().copied().expect("a CPU");
    run(&[format!("--cpu={}", last + 4096)]).expect_status(1).expect_error("invalid CPU");
}

#[test]
fn more_memory_than_available() {
    let found = run(&["--size=1024T", "--pages=4k"]);
    assert_eq!(found.stdout, "");
    found.expect_status(2).expect_error("need 1024 TiB");
    run(&["--size=16777215T", "--pages=2m"]).expect_status(2).expect_error("");
}

#[test]
fn more_huge_pages_than_available() {
    let document = run(&["system", "--json"]).expect_json(0);
    for node in array(&document, "/system/nodes") {
        for pool in array(node, "/page_pools") {
            let (bytes, free) = (number(pool, "/page_bytes"), number(pool, "/free"));
            let units = [(1 << 30, "g"), (1 << 20, "m"), (1 << 10, "k")];
            let (unit, letter) = units.into_iter().find(|(unit, _)| bytes >= *unit).unwrap();
            let pages = format!("{}{letter}", bytes / unit);
            let target = number(node, "/id");
            let (memnode, size) = (format!("--memnode={target}"), format!("--size={}", bytes * (free + 1)));
            let found = run(&[format!("--pages={pages}"), memnode, size]);
            found.expect_status(2).expect_error(&format!("on node {target}, found {free}; as root: echo"));
            assert_eq!(found.stdout, "");
        }
    }
}

#[test]
fn strict_prints_an_unreliable_result_and_fails() {
    let short = [
        "--strict",
        "--quiet",
        "--size=64K",
        "--iters=4000000",
        "--time-limit=0.001",
        "--cpunode=0",
        "--memnode=0",
    ];
    let found = run(&short);
    found.expect_status(3).expect_error("--strict");
    assert_eq!(found.stdout.lines().count(), 1, "{found}");
}
