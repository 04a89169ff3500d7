//! `--budget` on this machine: a run ends in time, or is refused with the shortest time.

use std::time::Instant;

use latency_tests::document::at;
use latency_tests::run::{command, run};

#[test]
fn a_run_with_a_budget_ends_in_time() {
    let begun = Instant::now();
    let document = run(&["parallel", "--size=1M", "--chains=1,4,16", "--budget=2", "--json"]).expect_json(0);
    // Other tests run at the same time.
    assert!(begun.elapsed().as_secs_f64() < 4.0, "{:?}", begun.elapsed());
    let chains: Vec<_> = at(&document, "/rows")
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| at(row, "/chains").as_u64())
        .collect();
    assert_eq!(chains, [Some(1), Some(4), Some(16)]);
}

#[test]
fn a_budget_that_is_too_short_is_refused_at_once() {
    for experiment in ["matrix", "curve", "variants", "bandwidth", "report"] {
        let begun = Instant::now();
        let found = run(&[experiment, "--budget=10ms"]);
        found.expect_status(2).expect_error("more than --budget; use --budget=");
        assert!(begun.elapsed().as_secs_f64() < 2.0, "{experiment}: {:?}", begun.elapsed());
    }
    let plan = run(&["curve", "--max-size=1M", "--budget=5", "--dry-run", "--json"]).expect_json(0);
    assert!(at(&plan, "/summary/most_s").as_f64().is_some_and(|seconds| seconds <= 5.0), "{plan:#}");
}

#[test]
fn the_choice_of_a_cpu_is_a_part_of_the_run() {
    /// Seconds during which the program looks at the CPUs of a node with several.
    const LOOK: f64 = 0.2;
    // `run` would pin it to one CPU.
    let mut one = command(&["matrix", "--size=64K", "--trials=1", "--quiet", "--json"]);
    let output = one.output().expect("a result").stdout;
    let found: serde_json::Value = serde_json::from_slice(&output).expect("JSON");
    let lasted = at(&found, "/duration_s").as_f64().expect("a duration");
    let cpus = std::thread::available_parallelism().expect("a number of CPUs");
    assert!(lasted >= LOOK || cpus.get() == 1, "{lasted} s");
}
