//! `--counters` on this machine, with or without hardware counters.

use super::small;
use latency_tests::confine::Confine;
use latency_tests::document::{at, number, warnings};
use latency_tests::run::{command, finish, run};

#[test]
fn counters_count_or_the_reason_is_reported() {
    for experiment in ["matrix", "distribution"] {
        let document = run(&small(&[experiment, "--json", "--counters"])).expect_json(0);
        let counted = document.pointer("/rows/0/counted_instructions").is_some();
        assert_ne!(counted, warnings(&document).contains(&"counters-unavailable"), "{document:#}");
    }
}

#[test]
fn lanes_are_counted_or_the_reason_is_reported() {
    for experiment in ["parallel", "window"] {
        let arguments = [experiment, "--trials=7", "--size=4M", "--counters"];
        let document = run(&[&arguments[..], &["--json"]].concat()).expect_json(0);
        let counted = document.pointer("/rows/0/counted_instructions").is_some();
        assert_ne!(counted, warnings(&document).contains(&"counters-unavailable"), "{document:#}");
        let found = run(&[&arguments[..], &["--csv"]].concat());
        found.expect_status(0);
        let fields: Vec<usize> = found.stdout.lines().map(|line| line.split(',').count()).collect();
        assert!(fields.len() > 10 && fields.iter().all(|count| *count == fields[0]), "{found}");
        assert!(found.stdout.lines().next().unwrap_or("").ends_with("counted_walk_cycles"), "{found}");
    }
}

#[test]
fn traffic_is_counted_or_the_reason_is_reported() {
    let arguments = ["bandwidth", "--size=256K", "--budget=3", "--json", "--counters"];
    let document = run(&arguments).expect_json(0);
    let counted = document.pointer("/rows/0/instructions_per_cycle").is_some();
    assert_ne!(counted, warnings(&document).contains(&"counters-unavailable"), "{document:#}");
}

#[test]
fn kernel_counts_are_always_present() {
    let document = run(&small(&["--json"])).expect_json(0);
    assert!(document.pointer("/rows/0/counted_instructions").is_none(), "{document:#}");
    let software = at(&document, "/points/0/software");
    for key in ["voluntary_switches", "involuntary_switches", "minor_faults"] {
        number(software, &format!("/{key}"));
    }
    assert_eq!(number(software, "/migrations"), 0, "a pinned thread stays");
    assert_eq!(number(software, "/major_faults"), 0, "everything was touched before");
}

/// Counters that were asked for and are not there are an answer, not a detail.
#[test]
fn missing_counters_are_named_in_every_text() {
    for errno in [libc::ENOENT, libc::EPERM, libc::ENOSYS] {
        let refused =
            |arguments: &[&str]| finish(command(arguments).denied(&[libc::SYS_perf_event_open], errno));
        let found = refused(&small(&["--counters"]));
        found.expect_status(0);
        assert!(found.stderr.contains("no hardware counters: "), "{found}");
        let found = refused(&small(&[]));
        assert!(!found.expect_status(0).stderr.contains("no hardware counters"), "{found}");
        let found = refused(&["system"]);
        assert!(found.expect_status(0).stdout.contains("no hardware counters: "), "{found}");
    }
}

#[test]
fn the_columns_are_present_without_counters() {
    let found = run(&small(&["--csv", "--counters"]));
    found.expect_status(0);
    let fields: Vec<usize> = found.stdout.lines().map(|line| line.split(',').count()).collect();
    assert!(fields.iter().all(|count| *count == fields[0]), "{found}");
    assert!(found.stdout.lines().next().unwrap_or("").ends_with("counted_walk_cycles"), "{found}");
}
