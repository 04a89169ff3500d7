//! The output of successful runs.

use super::small;
use latency_tests::attempts::retried;
use latency_tests::directory::Directory;
use latency_tests::document::{at, decimal, is_pair_line, number, pairs, points, text, warnings};
use latency_tests::run::{Run, finish, run};
use std::fs;

/// The beginning of the header of every table.
const CSV_HEADER: &str = "host,started,experiment,tool_version,initiator_node,target_node,initiator_cpu,";

fn assert_starts_with_pair(run: &Run) {
    let first = run.stdout.lines().next().unwrap_or("");
    assert!(is_pair_line(first, 0, 0), "the first line is not a pair: {run}");
}

#[test]
fn the_first_line_is_the_pair() {
    let found =
        run(&["--cpunode=0", "--memnode=0", "--iters=5000000", "--seed=42", "--trials=2", "--size=64M"]);
    assert_starts_with_pair(found.expect_status(0));
    assert!(found.stdout.lines().count() > 4, "{found}");
}

#[test]
fn quiet_prints_only_the_pairs() {
    let found = run(&small(&["--quiet", "--cpunode=0", "--memnode=0"]));
    assert_starts_with_pair(found.expect_status(0));
    assert_eq!(found.stdout.lines().count(), 1, "{found}");
}

#[test]
fn text_shows_the_uncertainty() {
    let brief = ["Node 0 ", "Trust: ", "Verified: "];
    let all = ["Trust: ", "Memory: ", "Method: ", "Self-test: ", "Placement: ", "Clock: ", "Prefetchers: "];
    for (more, labels) in [(&[][..], &brief[..]), (&["--verbose"], &all)] {
        let found = run(&small(&[&["--cpunode=0", "--memnode=0"], more].concat()));
        found.expect_status(0);
        for label in labels {
            assert!(found.stdout.lines().any(|line| line.starts_with(label)), "no line {label:?}: {found}");
        }
    }
}

#[test]
fn the_default_experiment_is_matrix() {
    let document = run(&small(&["--json"])).expect_json(0);
    let named = run(&["matrix", "--json", "--size", "1M", "--iters", "2000", "--trials", "3"]).expect_json(0);
    assert_eq!(text(&document, "/experiment"), "matrix");
    assert_eq!(pairs(&document), pairs(&named));
    assert_eq!(at(&named, "/command/1"), "matrix");
    assert_eq!(number(&named, "/iters"), 2000);
}

#[test]
fn every_pair_is_plausible_and_proven() {
    retried("results::every_pair_is_plausible_and_proven", |_| {
        let document = run(&["--json", "--size=8M", "--trials=15", "--pages=4k"]).expect_json(0);
        let gigahertz = decimal(&document, "/freq_ghz");
        for pair in &points(&document) {
            let (cycles, ns) = (decimal(pair, "/cycles"), decimal(pair, "/ns"));
            // No cache answers in a tenth of a nanosecond, and no memory needs ten microseconds.
            assert!((0.1..10_000.0).contains(&ns), "{pair:#}");
            assert!((cycles / ns / gigahertz - 1.0).abs() < 0.01, "{gigahertz} GHz\n{pair:#}");
            assert!(decimal(pair, "/min_ns") <= ns * 1.001, "{pair:#}");
            assert!(decimal(pair, "/ns_low") <= ns && ns <= decimal(pair, "/ns_high"), "{pair:#}");
            assert_eq!(at(pair, "/verified"), true, "{pair:#}");
            let target = number(pair, "/target_node");
            // The working set, and room to place its chain elsewhere in it.
            let mapped = number(pair, "/placement/mapped_bytes");
            assert!((8 << 20..=12 << 20).contains(&mapped), "{pair:#}");
            for moment in ["before", "after"] {
                assert_eq!(number(pair, &format!("/placement/{moment}/nodes/0/node")), target, "{pair:#}");
                assert_eq!(
                    number(pair, &format!("/placement/{moment}/nodes/0/pages")),
                    mapped / 4096,
                    "{pair:#}"
                );
            }
        }
    });
}

#[test]
fn larger_working_sets_take_longer() {
    retried("results::larger_working_sets_take_longer", |_| {
        // On nearly every machine, the latency of L1 and the latency of working sets beyond L2 differ by a factor of
        // five or more; the minimum of the trials is the least disturbed value.
        let latency = |size: &str| {
            let document = run(&["--json", size, "--trials=15", "--cpunode=0", "--memnode=0"]).expect_json(0);
            decimal(&document, "/rows/0/min_ns")
        };
        let (small, large) = (latency("--size=16K"), latency("--size=64M"));
        assert!(large > 2.0 * small, "{small} ns in 16 KiB, {large} ns in 64 MiB");
    });
}

#[test]
fn trials_of_few_timer_steps_are_reported() {
    for hops in [10, 100_000] {
        let iters = format!("--iters={hops}");
        let document = run(&["--json", "--size=16K", &iters, "--trials=20", "--cpunode=0", "--memnode=0"])
            .expect_json(0);
        // The latency of a first-level hit depends on the host, and a busy one may need some hundred steps
        // for ten hops: the warning has to agree with the measurement.
        let ticks = decimal(&document, "/node_pairs/0/ns") * decimal(&document, "/clock/frequency_hz") / 1e9;
        let steps = ticks * f64::from(hops) / decimal(&document, "/clock/step_ticks");
        let told = warnings(&document).contains(&"few-steps");
        assert!((99.0..101.0).contains(&steps) || told == (steps < 100.0), "{hops} hops: {steps} steps");
    }
}

#[test]
fn a_seed_determines_the_chain() {
    let chain = |more: &[&str]| {
        let document = run(&small(&[&["--json"], more].concat())).expect_json(0);
        text(&document, "/points/0/chain/fingerprint").to_string()
    };
    let first = chain(&["--seed=42"]);
    assert_eq!(first.len(), 16);
    assert_eq!(chain(&["--seed=42"]), first);
    assert_eq!(chain(&[]), first, "42 is the default");
    assert_ne!(chain(&["--seed=43"]), first);
    assert_ne!(chain(&["--order=page-local"]), first);
}

#[test]
fn csv_has_one_header_and_a_row_a_pair() {
    let found = run(&small(&["--csv", "--seed=7"]));
    let mut lines = found.expect_status(0).stdout.lines();
    let header = lines.next().unwrap_or_default();
    assert!(header.starts_with(CSV_HEADER), "{found}");
    let document = run(&small(&["--json"])).expect_json(0);
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), pairs(&document).len(), "{found}");
    for (row, (from, to)) in rows.iter().zip(pairs(&document)) {
        assert_eq!(row.len(), header.split(',').count(), "{found}");
        let cell = |name: &str| row[header.split(',').position(|known| known == name).expect("a column")];
        assert_eq!(
            (cell("initiator_node"), cell("target_node")),
            (&*from.to_string(), &*to.to_string()),
            "{found}"
        );
        for column in ["cycles", "ns", "min_ns"] {
            assert!(cell(column).parse::<f64>().is_ok_and(|value| value > 0.0), "{column}: {found}");
        }
        assert_eq!((cell("trials"), cell("working_set_bytes")), ("3", "1048576"), "{found}");
        assert_eq!((cell("verified"), cell("seed")), ("true", "7"), "{found}");
    }
}

#[test]
fn a_dry_run_measures_nothing() {
    let found = run(&["--dry-run", "--size=64M", "--time-limit=1000", "--cpunode=0", "--memnode=0"]);
    found.expect_status(0);
    assert!(found.stdout.contains("64 MiB") && found.stdout.contains("1 point,"), "{found}");
    assert!(!found.stdout.lines().any(|line| is_pair_line(line, 0, 0)), "{found}");
}

#[test]
fn system_has_text_and_json() {
    let found = run(&["system"]);
    found.expect_status(0);
    for label in ["Processor: ", "Platform: ", "Caches: ", "Pages: ", "  node  CPUs ", "Self-test: "] {
        assert!(found.stdout.lines().any(|line| line.starts_with(label)), "no line {label:?}: {found}");
    }
    let document = run(&["system", "--json"]).expect_json(0);
    assert_eq!(text(&document, "/experiment"), "system");
    assert!(document.get("node_pairs").is_none());
}

#[test]
fn help_names_every_option_and_version_the_version() {
    let help = run(&["--help"]);
    help.expect_status(0);
    for words in ["Usage: latency-bench [EXPERIMENT] [OPTIONS]", "--cpunode=LIST", "--json", "Exit codes:"] {
        assert!(help.stdout.contains(words), "no {words:?}: {help}");
    }
    assert_eq!(run(&["help"]).stdout, help.stdout);
    let short = run(&["-h"]);
    assert!(short.expect_status(0).stdout.contains("Usage: latency-bench [EXPERIMENT]"), "{short}");
    assert!(short.stdout.lines().count() < help.stdout.lines().count() / 2 + 1, "{short}");
    let matrix = run(&["matrix", "--help"]);
    assert!(matrix.expect_status(0).stdout.contains("Usage: latency-bench matrix"), "{matrix}");
    assert_eq!(run(&["help", "matrix"]).stdout, matrix.stdout);
    let version = run(&["--version"]);
    assert_eq!(run(&["version"]).stdout, version.stdout);
    assert_eq!(version.expect_status(0).stdout.lines().count(), 1, "{version}");
    assert!(version.stdout.starts_with("latency-bench 0."), "{version}");
    assert!(version.stdout.ends_with("x86_64-linux)\n"), "{version}");
    assert!(run(&["help", "options"]).expect_status(0).stdout.contains("Exit codes:"), "no exit codes");
    run(&["help", "--json"]).expect_status(1).expect_error("help cannot be written as json");
}

#[test]
fn a_slower_result_is_an_outcome_and_not_an_error() {
    let directory = Directory::new("slower");
    for (name, rows) in [("a", "65536 10\n131072 20\n"), ("b", "65536 20\n131072 40\n")] {
        fs::write(directory.path().join(name), rows).expect("a file");
    }
    let slower = finish(&mut directory.command(&["compare", "a", "b", "--quiet"]));
    slower.expect_status(5);
    assert_eq!(slower.stderr, "latency-bench: regression: all 2 points slower by 100% (threshold 3%)\n");
    let faster = finish(&mut directory.command(&["compare", "b", "a", "--quiet"]));
    assert_eq!(faster.expect_status(0).stderr, "");
}

#[test]
fn the_slow_target_is_named_and_not_its_first_initiator() {
    let directory = Directory::new("slow-node");
    for (name, slower) in [("a.csv", 1.0), ("b.csv", 1.3)] {
        let mut text = String::from("initiator_node,target_node,ns,working_set_bytes\n");
        for (from, to) in (0..6).flat_map(|from| (0..6).map(move |to| (from, to))) {
            let ns = if from == to { 100.0 } else { 150.0 };
            text +=
                &format!("{from},{to},{},268435456\n", if from == 3 || to == 3 { ns * slower } else { ns });
        }
        fs::write(directory.path().join(name), text).expect("a file");
    }
    let found = finish(&mut directory.command(&["compare", "-q", "a.csv", "b.csv"]));
    let sentence =
        "REGRESSION: 11 of 36 points slower by 30.0% (threshold 3%): all accesses from and to node 3";
    assert!(found.expect_status(5).stdout.replace('\n', " ").starts_with(sentence), "{found}");
}

#[test]
fn several_files_per_side_are_separated_by_a_mark() {
    let directory = Directory::new("sides");
    for (name, nanoseconds) in
        [("a1", 100.0), ("a2", 100.5), ("a3", 99.5), ("b1", 106.0), ("b2", 106.5), ("b3", 105.5)]
    {
        fs::write(directory.path().join(name), format!("268435456 {nanoseconds}\n")).expect("a file");
    }
    let slower = finish(&mut directory.command(&["compare", "-q", "a1", "a2", "a3", "--", "b1", "b2", "b3"]));
    assert!(slower.expect_status(5).stdout.starts_with("REGRESSION: B is 6.0% slower than A"), "{slower}");
    // One run does not show the variation between runs.
    finish(&mut directory.command(&["compare", "-q", "a2", "b3"])).expect_status(0);
    let unclear = finish(&mut directory.command(&["compare", "a1", "a2", "b1"]));
    assert!(unclear.expect_status(1).stderr.contains("needs `--` between"), "{unclear}");
}

#[test]
fn a_curve_is_read_from_standard_input() {
    let directory = Directory::new("standard-input");
    let rows: String = (0..24)
        .map(|step| (16_u64 << (step / 2)) * if step % 2 == 0 { 2 } else { 3 } / 2)
        .map(|size| format!("{size}K {}\n", if size < 40 { 1.0 } else { 100.0 }))
        .collect();
    let path = directory.path().join("curve");
    fs::write(&path, rows).expect("a file");
    let mut command = directory.command(&["fit", "-q", "-"]);
    let found = finish(command.stdin(fs::File::open(&path).expect("a file")));
    assert!(found.expect_status(0).stdout.starts_with("L1 "), "{found}");
    let mut command = directory.command(&["fit", "-"]);
    let found = finish(command.stdin(std::process::Stdio::null()));
    assert!(found.expect_status(1).stderr.contains("the file is empty"), "{found}");
}

#[test]
fn every_experiment_accepts_display_options() {
    let directory = Directory::new("presentation");
    fs::write(directory.path().join("a"), "65536 10\n131072 20\n").expect("a file");
    for command in [&["system"][..], &["compare", "a", "a"], &["matrix", "--dry-run"]] {
        for shown in ["-q", "-v", "--color=never", "--progress=never", "--format=text"] {
            finish(&mut directory.command(&[command, &[shown]].concat())).expect_status(0);
        }
    }
}

#[test]
fn the_extension_of_the_output_chooses_the_format() {
    let directory = Directory::new("extension");
    for (name, begins) in [("r.json", "{"), ("r.csv", "host,"), ("r.svg", "<svg"), ("r.txt", "Node 0")] {
        finish(&mut directory.command(&small(&["-o", name]))).expect_status(0);
        let text = fs::read_to_string(directory.path().join(name)).expect("the result");
        assert!(text.starts_with(begins), "{name}: {text}");
    }
}
