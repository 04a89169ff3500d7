//! Lines between this machine's cores: every method, one CPU, an interrupt, and facts that hold on every
//! machine; also the comparison of two results.

use latency_tests::confine::{Confine, allowed_cpus};
use latency_tests::directory::Directory;
use latency_tests::document::{array, at, decimal, number, text, warnings};
use latency_tests::run::{finish, finish_within, run};
use latency_tests::schema::assert_valid;
use latency_tests::skip::{not_shown, skip};
use serde_json::Value;
use std::time::Duration;
use std::{fs, thread};

/// Returns two CPUs that the tests may use; without them the test is skipped.
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
    assert!(number(pair, "/initiator_cpu") < number(pair, "/target_cpu"), "{pair:#}");
    assert_eq!(at(pair, "/verified"), true, "{pair:#}");
}

#[test]
fn every_method_has_a_value_for_a_pair() {
    let Some(pairs) = two_cpus("cores::every_method_has_a_value_for_a_pair") else { return };
    for method in ["cas", "read-cas", "flag", "message"] {
        let method_asked = format!("--method={method}");
        let found = run(&["cores", "--json", &pairs, "--lines=3", "--budget=2", &method_asked]);
        let document = found.expect_json(0);
        assert_valid(&document);
        assert_eq!(text(&document, "/summary/method"), method);
        let [pair] = array(&document, "/rows") else { panic!("{document:#}") };
        assert_plausible(pair);
        assert_eq!((number(pair, "/lines"), number(pair, "/slowest_line") < 3), (3, true));
        let [class] = array(&document, "/classes") else { panic!("{document:#}") };
        assert_eq!((text(class, "/class"), number(class, "/pairs")), (text(pair, "/class"), 1));
        let by_messages = method == "message";
        assert_eq!(at(pair, "/no_message_before_it_was_sent").is_boolean(), by_messages, "{pair:#}");
        assert_eq!(at(pair, "/offset_or_asymmetry_ns").is_number(), by_messages, "{pair:#}");
        for key in ["/synchronised", "/there_ns", "/back_ns"] {
            assert!(pair.pointer(key).is_none(), "two clocks do not tell the two ways apart: {pair:#}");
        }
    }
}

#[test]
fn states_are_walked_over_and_nearer_lines_are_faster() {
    let Some(pairs) = two_cpus("cores::states_are_walked_over_and_nearer_lines_are_faster") else { return };
    let document = run(&["cores", "--json", "--states", "--budget=3", &pairs]).expect_json(0);
    assert_valid(&document);
    let states: Vec<_> = array(&document, "/rows").iter().filter(|row| row.get("state").is_some()).collect();
    let own = |op: &str, level: &str| {
        let of = |state: &&&Value| (text(state, "/op"), text(state, "/level")) == (op, level);
        decimal(states.iter().find(of).unwrap_or_else(|| panic!("{op} {level}")), "/ns")
    };
    for op in ["read", "own"] {
        // Loads from memory are tens of times slower than those from the first-level cache, whatever else
        // runs.
        assert!(own(op, "L1") < own(op, "memory"), "{states:#?}");
    }
    let others: Vec<_> = states.iter().filter(|state| at(state, "/target_cpu").is_number()).collect();
    assert!(others.len() >= 8 && others.iter().all(|state| decimal(state, "/ns") > 0.0), "{states:#?}");
}

#[test]
fn one_cpu_is_too_few() {
    let directory = Directory::new("cores-one-cpu");
    let cpu = allowed_cpus()[0];
    for more in [&[][..], &["--dry-run"], &["--states"]] {
        let mut command = directory.command(&[&["cores"], more].concat());
        let found = finish(command.on_cpu(cpu));
        found.expect_status(2).expect_error("cores needs a second CPU: one CPU sends, the other replies");
    }
}

#[test]
fn an_interrupt_prints_the_finished_pairs() {
    const TEST: &str = "cores::an_interrupt_prints_the_finished_pairs";
    let Some(pairs) = two_cpus(TEST) else { return };
    let directory = Directory::new("cores-interrupt");
    let mut partial = 0;
    for wait_ms in [120, 300, 500, 1000, 2000] {
        let mut command = directory.command(&["cores", "--json", "--precision=0.0001", &pairs]);
        let child = command.hearing(libc::SIGINT).spawn().expect("a process");
        thread::sleep(Duration::from_millis(wait_ms));
        // SAFETY: takes numbers; the process has not been waited for, so its number is still valid.
        assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
        let found = finish_within(child, Duration::from_secs(60));
        match found.status.code() {
            // A quiet machine may be done by then, and on a busy one it may not have begun.
            Some(0) | None => {}
            _ if found.stdout.is_empty() => {
                _ = found.expect_status(130).expect_error("before the first result")
            }
            _ => {
                let document = found.expect_json(130);
                assert_valid(&document);
                assert_eq!(at(&document, "/partial"), true);
                assert!(warnings(&document).contains(&"partial"), "{document:#}");
                partial += 1;
            }
        }
    }
    if partial == 0 {
        not_shown(TEST, "no interrupt fell between the first and the last pair");
    }
}

#[test]
fn invalid_pairs_are_usage_errors() {
    for (list, words) in [("0:0", "two different CPUs"), ("0", "two different CPUs"), ("0:9999", "0 to 8191")]
    {
        let found = run(&["cores", &format!("--pairs={list}")]);
        found.expect_status(1).expect_error(words);
    }
    run(&["cores", "--pairs=0:8191"]).expect_status(1).expect_error("invalid CPU 8191");
}

#[test]
fn two_results_are_compared_pair_by_pair() {
    let Some(pairs) = two_cpus("cores::two_results_are_compared_pair_by_pair") else { return };
    let directory = Directory::new("cores-compare");
    for (name, more) in [("a.json", "--method=cas"), ("b.csv", "--method=cas"), ("flag.csv", "--method=flag")]
    {
        finish(&mut directory.command(&["cores", &pairs, more, "--budget=2", "--output", name]))
            .expect_status(0);
    }
    let same = finish(&mut directory.command(&["compare", "a.json", "a.json", "--json", "--force"]));
    // A busy machine's results are unreliable, and an interval may be too wide for a verdict. The summary of a class with a
    // single pair is not a separate point.
    let is_wide = same.status.code() == Some(6);
    let document = same.expect_json(if is_wide { 6 } else { 0 });
    assert_valid(&document);
    let verdict = if is_wide { "none" } else { "same" };
    assert_eq!(
        (number(&document, "/summary/points_compared"), text(&document, "/summary/verdict")),
        (1, verdict)
    );
    assert_eq!(text(&document, "/rows/0/verdict"), "same");
    assert!(at(&document, "/rows/0/target_cpu").is_number(), "{document:#}");
    let found = finish(&mut directory.command(&["compare", "a.json", "b.csv", "--force"]));
    assert!(matches!(found.status.code(), Some(0 | 5 | 6)) && !found.stdout.contains("Only in "), "{found}");
    let other = finish(&mut directory.command(&["compare", "b.csv", "flag.csv"]));
    assert!(other.expect_status(6).stdout.contains("Not comparable: method cas -> flag"), "{other}");
}

/// Makes a table of all pairs of `cpus` CPUs; those of the last CPU are slower by the factor `slower`.
fn table(cpus: u32, slower: f64) -> String {
    let mut text = String::from("initiator_cpu,target_cpu,class,method,ns,ns_low,ns_high,lines\n");
    for (a, b) in (0..cpus).flat_map(|a| (a + 1..cpus).map(move |b| (a, b))) {
        let (class, ns) = if b == a + cpus / 2 { ("same core", 8.0) } else { ("same L3", 50.0) };
        let ns = if b + 1 == cpus { ns * slower } else { ns };
        text += &format!("{a},{b},{class},cas,{ns},{},{},16\n", ns * 0.995, ns * 1.005);
    }
    text
}

#[test]
fn only_differing_pairs_among_thousands_are_shown() {
    let directory = Directory::new("cores-compare-many");
    for (name, slower) in [("a.csv", 1.0), ("b.csv", 1.3)] {
        fs::write(directory.path().join(name), table(64, slower)).expect("a file");
    }
    let found = finish(&mut directory.command(&["compare", "a.csv", "b.csv"]));
    let text = &found.expect_status(5).stdout;
    assert!(
        text.replace('\n', " ")
            .starts_with("REGRESSION: 63 of 2016 points slower by 30.0% (threshold 3%): all pairs of CPU 63"),
        "{found}"
    );
    assert!(text.lines().count() < 50, "{found}");
    let all = finish(&mut directory.command(&["compare", "a.csv", "b.csv", "--verbose"]));
    assert!(all.stdout.lines().count() > 2016 && all.stdout.contains("\n  0 - 1 "), "{all}");
}

#[test]
fn all_pairs_of_a_large_machine_are_compared() {
    let directory = Directory::new("cores-compare-large");
    for (name, cpus, slower) in [("a.csv", 128, 1.0), ("b.csv", 128, 1.3), ("largest.csv", 513, 1.0)] {
        fs::write(directory.path().join(name), table(cpus, slower)).expect("a file");
    }
    let same = finish(&mut directory.command(&["compare", "-q", "a.csv", "a.csv"]));
    assert!(same.expect_status(0).stdout.contains("median B/A 1.000 over 8128 points"), "{same}");
    let found = finish(&mut directory.command(&["compare", "-q", "a.csv", "b.csv"]));
    let text = found.expect_status(5).stdout.replace('\n', " ");
    let answer = "REGRESSION: 127 of 8128 points slower by 30.0% (threshold 3%): all pairs of CPU 127";
    assert!(text.starts_with(answer), "{found}");
    for command in ["show", "report", "fit", "expect"] {
        let read = finish(&mut directory.command(&[command, "a.csv"]));
        read.expect_status(u8::from(matches!(command, "fit" | "expect")).into());
    }
    // More pairs than those of 512 CPUs are refused, with a message.
    let refused = finish(&mut directory.command(&["compare", "largest.csv", "largest.csv"]));
    refused.expect_status(1).expect_error("more than 131072 points");
}
