//! Results for monitoring systems: the text that a collector reads, and the fate of its file when a run
//! fails.

use super::small;
use latency_tests::confine::allowed_cpus;
use latency_tests::directory::Directory;
use latency_tests::document::{at, pairs};
use latency_tests::prometheus::{Sample, read};
use latency_tests::run::{finish, run};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn samples(path: &Path) -> Vec<Sample> {
    let text = fs::read_to_string(path).expect("a file");
    read(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

fn named<'s>(samples: &'s [Sample], name: &str) -> Vec<&'s Sample> {
    samples.iter().filter(|sample| sample.name == name).collect()
}

/// Each experiment with the smallest measurement that it has.
const EXPERIMENTS: [&[&str]; 13] = [
    &["matrix", "--size=64K"],
    &["curve", "--min-size=8K", "--max-size=16K"],
    &["order", "--size=16K"],
    &["variants", "--size=16K"],
    &["pages", "--size=256K"],
    &["residency", "--size=4M"],
    &["parallel", "--size=16K"],
    &["window", "--size=16K"],
    &["distribution", "--size=64K"],
    &["bandwidth", "--size=16K", "--budget=3"],
    &["loaded", "--size=16K", "--traffic=read", "--rates=0.1,max", "--budget=3"],
    &["cores", "--lines=1", "--budget=2"],
    &["system"],
];

#[test]
fn collectors_accept_the_metrics_of_every_experiment() {
    for arguments in EXPERIMENTS {
        let short = if arguments[0] == "system" { &[][..] } else { &["--time-limit=0.02"] };
        let found = run(&[arguments, short, &["--format=prometheus"]].concat());
        if found.status.code() == Some(1) && allowed_cpus().len() < 2 {
            continue;
        }
        let samples = read(&found.expect_status(0).stdout).unwrap_or_else(|why| panic!("{why}: {found}"));
        assert!(!named(&samples, "latency_bench_info").is_empty(), "{found}");
    }
}

#[test]
fn the_files_of_two_experiments_can_be_collected_together() {
    let directory = Directory::new("collected");
    let mut together = String::new();
    for arguments in [&small(&["--output=matrix.prom"])[..], &["system", "--output=system.prom"]] {
        finish(&mut directory.command(arguments)).expect_status(0);
    }
    let [matrix, system] = ["matrix.prom", "system.prom"].map(|name| samples(&directory.path().join(name)));
    for sample in matrix.iter().chain(&system) {
        let series = format!("{}{:?}", sample.name, sample.labels);
        assert!(!together.contains(&series), "twice: {series}");
        together += &series;
    }
    assert_eq!(named(&system, "latency_bench_untrusted_warnings").len(), 1);
}

#[test]
fn metrics_equal_the_numbers_of_the_document() {
    let document = run(&small(&["--json"])).expect_json(0);
    let found = run(&small(&["--format=prometheus"]));
    let samples = read(&found.expect_status(0).stdout).unwrap_or_else(|why| panic!("{why}: {found}"));
    let latencies = named(&samples, "latency_bench_latency_seconds");
    assert_eq!(latencies.len(), pairs(&document).len());
    for sample in latencies {
        let names = ["experiment", "initiator", "initiator_node", "load", "target", "target_node"];
        assert_eq!(sample.labels.keys().collect::<Vec<_>>(), names);
        assert!((1e-10..1e-5).contains(&sample.value), "{sample:?}");
    }
    let info = named(&samples, "latency_bench_info");
    assert_eq!(info[0].labels["version"], at(&document, "/tool/version").as_str().expect("a version"));
    let time = named(&samples, "latency_bench_last_run_timestamp_seconds")[0].value;
    assert!((1.7e9..1e10).contains(&time), "{time}");
}

#[test]
fn the_file_of_a_collector_is_readable_for_all() {
    let directory = Directory::new("readable");
    let mode = |name: &str| {
        let found = fs::metadata(directory.path().join(name)).expect("a file");
        found.permissions().mode() & 0o777
    };
    let arguments = |name: &str| format!("umask 077; exec ./latency-bench system --output={name}");
    for name in ["new.prom", "new.prom", "private.json"] {
        let mut shell = std::process::Command::new("sh");
        let shell = shell.args(["-c", &arguments(name)]).current_dir(directory.path());
        finish(shell).expect_status(0);
    }
    assert_eq!((mode("new.prom"), mode("private.json")), (0o644, 0o600));
    assert_eq!(directory.names(), ["new.prom", "private.json"]);
}

#[test]
fn a_run_that_fails_leaves_the_older_file() {
    let directory = Directory::new("failed");
    let path = directory.path().join("older.prom");
    for (arguments, status) in
        [(&["--cpunode=4095", "--output=older.prom"][..], 1), (&["--size=1024T", "--output=older.prom"], 2)]
    {
        fs::write(&path, "older").expect("a file");
        finish(&mut directory.command(arguments)).expect_status(status);
        assert_eq!(fs::read_to_string(&path).expect("the file"), "older");
        assert_eq!(directory.names(), ["older.prom"]);
    }
}
