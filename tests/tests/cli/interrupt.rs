//! Signals that ask for the end: finished results are printed, and marked as partial.

use latency_tests::attempts::retried;
use latency_tests::confine::Confine;
use latency_tests::directory::Directory;
use latency_tests::document::{array, at, decimal, number, point, warnings};
use latency_tests::run::{Run, finish_within, read_until};
use latency_tests::schema::assert_valid;
use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::time::Duration;
use std::{fs, thread};

/// Maximum wall-clock time until the end. A busy host may give the process little CPU time.
const PATIENCE: Duration = Duration::from_secs(60);

fn send(child: &Child, signal: i32) {
    // SAFETY: takes numbers; the process has not been waited for, so its number is still valid.
    assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
}

/// Starts a measurement that would last a day, and ends it with `signal` once it has printed `words`.
fn interrupted(directory: &Directory, more: &[&str], words: &str, signal: i32) -> Run {
    interrupted_after(directory, more, words, Duration::ZERO, signal)
}

/// Does the same, but waits for `wait` after the words.
fn interrupted_after(directory: &Directory, more: &[&str], words: &str, wait: Duration, signal: i32) -> Run {
    let endless = ["--trials=1000000", "--time-limit=86400", "--progress=always"];
    let mut child = directory.command(&[&endless, more].concat()).hearing(signal).spawn().expect("a process");
    read_until(child.stderr.as_mut().expect("a pipe"), words);
    thread::sleep(wait);
    send(&child, signal);
    finish_within(child, PATIENCE)
}

fn assert_partial(document: &Value) {
    assert_eq!(at(document, "/partial"), true);
    assert!(warnings(document).contains(&"partial"), "{document:#}");
}

#[test]
fn finished_results_are_printed_as_partial() {
    retried("interrupt::finished_results_are_printed_as_partial", |_| {
        let directory = Directory::new("interrupt");
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            let found = interrupted(
                &directory,
                &["--json", "--size=1M", "--cpunode=0", "--memnode=0"],
                "round 3",
                signal,
            );
            let document = found.expect_json(130);
            found.expect_error("interrupted");
            assert_partial(&document);
            let pair = &point(&document, 0);
            assert!(number(pair, "/rounds") >= 3 && decimal(pair, "/ns") > 0.0, "{pair:#}");
            assert_eq!(at(pair, "/verified"), true, "{pair:#}");
        }
    });
}

#[test]
fn a_partial_result_replaces_no_monitoring_file() {
    retried("interrupt::a_partial_result_replaces_no_monitoring_file", |_| {
        let directory = Directory::new("interrupt-prom");
        let path = directory.path().join("older.prom");
        fs::write(&path, "older").expect("a file");
        let more = ["--output=older.prom", "--size=1M", "--cpunode=0", "--memnode=0"];
        interrupted(&directory, &more, "round 3", libc::SIGTERM).expect_status(130);
        assert_eq!(fs::read_to_string(&path).expect("the file"), "older");
        assert_eq!(directory.names(), ["older.prom"]);
    });
}

#[test]
fn a_partial_document_is_valid() {
    retried("interrupt::a_partial_document_is_valid", |_| {
        let directory = Directory::new("interrupt-schema");
        for words in ["placing", "round 2"] {
            let document =
                interrupted(&directory, &["--json", "--size=1M"], words, libc::SIGINT).expect_json(130);
            assert_valid(&document);
            assert!(!array(&document, "/rows").is_empty());
        }
    });
}

#[test]
fn a_partial_result_goes_to_its_file() {
    retried("interrupt::a_partial_result_goes_to_its_file", |_| {
        let directory = Directory::new("interrupt-file");
        let arguments = ["--json", "--size=1M", "--output=result"];
        let found = interrupted(&directory, &arguments, "round 3", libc::SIGINT);
        assert_eq!(found.expect_status(130).stdout, "");
        let text = fs::read_to_string(directory.path().join("result")).expect("the result");
        assert_partial(&serde_json::from_str(&text).expect("JSON"));
        assert_eq!(directory.names(), ["result"]);
    });
}

#[test]
fn an_early_interrupt_prints_no_result() {
    retried("interrupt::an_early_interrupt_prints_no_result", |_| {
        let directory = Directory::new("interrupt-early");
        fs::write(directory.path().join("result"), "older").expect("a file");
        let arguments = ["--size=256M", "--output=result", "--warmup-iters=18446744073709551615"];
        // While memory is being placed, and in a warm-up that never ends.
        for wait in [Duration::ZERO, Duration::from_secs(1)] {
            let found = interrupted_after(&directory, &arguments, "placing", wait, libc::SIGINT);
            found.expect_status(130).expect_error("interrupted");
            assert!(!found.stdout.contains("->"), "{found}");
            assert!(directory.names().iter().all(|name| !name.ends_with(".tmp")), "{:?}", directory.names());
        }
    });
}

#[test]
fn an_ignored_hangup_stays_ignored() {
    retried("interrupt::an_ignored_hangup_stays_ignored", |_| {
        let directory = Directory::new("nohup");
        let mut command = directory.command(&["--size=1M", "--trials=30", "--progress=always", "--quiet"]);
        // SAFETY: between fork and exec: a call that takes numbers, and allocates nothing.
        unsafe {
            std::os::unix::process::CommandExt::pre_exec(&mut command, || {
                libc::signal(libc::SIGHUP, libc::SIG_IGN);
                Ok(())
            });
        }
        let mut child = command.spawn().expect("a process");
        read_until(child.stderr.as_mut().expect("a pipe"), "round 3");
        send(&child, libc::SIGHUP);
        finish_within(child, PATIENCE).expect_status(0);
    });
}

#[test]
fn an_interrupted_curve_has_points_and_no_levels() {
    let directory = Directory::new("interrupt-curve");
    let begun = |more: &[&str]| {
        let curve = ["curve", "--max-size=256K", "--points-per-octave=1", "--time-limit=60"];
        let mut command = directory
            .command(&[&curve[..], &["--iters=1000", "--trials=1000", "--progress=always"], more].concat());
        let mut child = command.hearing(libc::SIGINT).spawn().expect("a process");
        read_until(child.stderr.as_mut().expect("a pipe"), "round 3");
        send(&child, libc::SIGINT);
        finish_within(child, PATIENCE)
    };
    begun(&["--output=result.json"]).expect_status(130);
    let text = fs::read_to_string(directory.path().join("result.json")).expect("the result");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    assert_valid(&document);
    assert_partial(&document);
    assert!(!array(&document, "/rows").is_empty());
    assert!(
        text.contains("interrupted; `latency-bench fit FILE` fits the points of a saved result"),
        "{text}"
    );
    let found = begun(&[]);
    assert!(!found.expect_status(130).stdout.contains("reported, but"), "{found}");
}

/// A signal that is held back does not interrupt a read that waits.
#[test]
fn waiting_for_a_saved_result_can_be_interrupted() {
    let directory = Directory::new("interrupt-read");
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let mut command = directory.command(&["fit", "-", "--output=result"]);
        let child = command.hearing(signal).stdin(Stdio::piped()).spawn().expect("a process");
        // The process reads by now; if it does not yet, the signal still ends it.
        thread::sleep(Duration::from_millis(200));
        send(&child, signal);
        let found = finish_within(child, PATIENCE);
        assert_eq!(found.status.signal(), Some(signal), "{found}");
        assert!(directory.names().is_empty(), "{:?}", directory.names());
    }
}
