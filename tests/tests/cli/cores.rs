//! Lines between this machine's cores: every method, one CPU, an interrupt, and what must hold whatever the machine is.

use latency_tests::confine::{allowed_cpus, Confine};
use latency_tests::directory::Directory;
use latency_tests::document::{array, at, decimal, number, text, warnings};
use latency_tests::run::{finish, finish_within, run};
use latency_tests::schema::assert_valid;
use latency_tests::skip::skip;
use serde_json::Value;
use std::thread;
use std::time::Duration;

/// Two CPUs that the tests may use; those of a test without them are left out.
fn two_cpus(test: &str) -> Option<String> {
    match allowed_cpus().as_slice() {
        [first, second, ..] => Some(format!("--pairs={first}:{second}")),
        _ => {
            skip(test, "there is one CPU");
            None
        }
    }
}

fn assert_plausible(pair: &Value) {
    let (ns, least, most) =
        (decimal(pair, "/ns"), decimal(pair, "/min_line_ns"), decimal(pair, "/max_line_ns"));
    assert!(ns > 0.5 && 0.5 < least && least <= most, "{pair:#}");
    assert!(number(pair, "/a") < number(pair, "/b"), "{pair:#}");
    assert_eq!(at(pair, "/placement/verified"), true, "{pair:#}");
}

#[test]
fn every_method_has_a_value_for_a_pair() {
    let Some(pairs) = two_cpus("cores::every_method_has_a_value_for_a_pair") else { return };
    for method in ["cas", "read-cas", "flag", "message"] {
        let found = run(&["cores", "--json", &pairs, "--lines=3", &format!("--method={method}")]);
        let document = found.expect_json(0);
        assert_valid(&document);
        assert_eq!(text(&document, "/method"), method);
        let [pair] = array(&document, "/pairs") else { panic!("{document:#}") };
        assert_plausible(pair);
        assert_eq!((number(pair, "/lines"), number(pair, "/slowest_line") < 3), (3, true));
        let [class] = array(&document, "/classes") else { panic!("{document:#}") };
        assert_eq!((text(class, "/class"), number(class, "/pairs")), (text(pair, "/class"), 1));
        let synchronised = at(pair, "/synchronised");
        assert_eq!(synchronised.is_boolean(), method == "message", "{pair:#}");
        assert_eq!(at(pair, "/there_ns").is_number(), synchronised == true, "{pair:#}");
    }
}

#[test]
fn states_are_walked_over_and_nearer_lines_are_faster() {
    let Some(pairs) = two_cpus("cores::states_are_walked_over_and_nearer_lines_are_faster") else { return };
    let document = run(&["cores", "--json", "--states", &pairs]).expect_json(0);
    assert_valid(&document);
    let states = array(&document, "/states");
    let own = |op: &str, level: &str| {
        let of = |state: &&Value| (text(state, "/op"), text(state, "/level")) == (op, level);
        decimal(states.iter().find(of).unwrap_or_else(|| panic!("{op} {level}")), "/ns")
    };
    for op in ["read", "own"] {
        // Loads of memory take tens of times as long as those of the first-level cache, whatever else runs.
        assert!(own(op, "L1") < own(op, "memory"), "{states:#?}");
    }
    let others: Vec<_> = states.iter().filter(|state| at(state, "/owner").is_number()).collect();
    assert!(others.len() >= 8 && others.iter().all(|state| decimal(state, "/ns") > 0.0), "{states:#?}");
}

#[test]
fn one_cpu_is_too_few() {
    let directory = Directory::new("cores-one-cpu");
    let cpu = allowed_cpus()[0];
    for more in [&[][..], &["--dry-run"], &["--states"]] {
        let mut command = directory.command(&[&["cores"], more].concat());
        let found = finish(command.on_cpu(cpu));
        found.expect_status(2).expect_error("cores needs a second CPU: one sends, the other answers");
    }
}

#[test]
fn an_interrupt_ends_it_with_what_was_finished() {
    let Some(pairs) = two_cpus("cores::an_interrupt_ends_it_with_what_was_finished") else { return };
    let directory = Directory::new("cores-interrupt");
    for wait_ms in [120, 300, 500] {
        let mut command = directory.command(&["cores", "--json", "--precision=0.0001", &pairs]);
        let child = command.hearing(libc::SIGINT).spawn().expect("a process");
        thread::sleep(Duration::from_millis(wait_ms));
        // SAFETY: takes numbers; the process has not been waited for, so the number is its own.
        assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
        let found = finish_within(child, Duration::from_secs(60));
        // A quiet machine may be done by then.
        if found.status.code() != Some(0) {
            let document = found.expect_json(130);
            assert_valid(&document);
            assert_eq!(at(&document, "/partial"), true);
            assert!(warnings(&document).contains(&"partial"), "{document:#}");
        }
    }
}

#[test]
fn pairs_that_are_none_are_mistakes_of_usage() {
    for (list, words) in [("0:0", "two different CPUs"), ("0", "two different CPUs"), ("0:9999", "0 to 8191")]
    {
        let found = run(&["cores", &format!("--pairs={list}")]);
        found.expect_status(1).expect_error(words);
    }
    run(&["cores", "--pairs=0:8191"]).expect_status(1).expect_error("invalid CPU 8191");
}
