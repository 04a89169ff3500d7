//! Effects of other processes during a run: they move its thread, stop it, and continue it.
//!
//! Every experiment is disturbed in its rounds. Its result must not contain what was timed on another CPU or
//! during a stop.

use latency_tests::attempts::retried;
use latency_tests::confine::allowed_cpus;
use latency_tests::document::{array, at, number, warnings};
use latency_tests::run::{Run, command};
use latency_tests::schema::assert_valid;
use serde_json::Value;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::Duration;

/// Each experiment with rounds, as small as possible.
const EXPERIMENTS: [&[&str]; 11] = [
    &["matrix", "--size=1M", "--trials=30", "--iters=5000"],
    &["curve", "--max-size=128K", "--points-per-octave=1", "--trials=9", "--iters=2000", "--spread=0"],
    &["order", "--size=1M", "--trials=30", "--iters=5000"],
    &["parallel", "--size=1M", "--trials=15", "--iters=2000"],
    &["window", "--size=1M", "--trials=15", "--iters=2000"],
    &["pages", "--size=4M", "--trials=15", "--iters=5000"],
    &["residency", "--size=4M", "--trials=9", "--iters=2000"],
    &["variants", "--size=1M", "--trials=9", "--iters=2000"],
    &["distribution", "--size=1M", "--trials=15", "--time-limit=2"],
    &["bandwidth", "--view=scaling", "--size=1M", "--time-limit=0.5"],
    &["loaded", "--size=1M", "--traffic=read", "--rates=0,0.5,max", "--budget=5", "--time-limit=0.5"],
];
/// Maximum latency of a hop in nanoseconds. It is some nanoseconds in a cache and a hundred in memory. If a trial of
/// thousands of hops lasts as long as the stop, its hops are longer than this maximum.
const LONGEST_HOP_NS: f64 = 10_000.0;
const STOPPED: Duration = Duration::from_millis(200);

/// Runs an experiment, and calls `meddle` at each new round in its progress.
fn met(arguments: &[&str], meddle: &(dyn Fn(&Child, usize) + Sync)) -> Run {
    let mut all = arguments.to_vec();
    let cpu = format!("--cpu={}", allowed_cpus()[0]);
    all.extend(["--json", "--progress=always", &cpu]);
    let mut child = command(&all).spawn().expect("a process");
    let mut stdout = child.stdout.take().expect("a pipe");
    let result = thread::spawn(move || {
        let mut bytes = Vec::new();
        // The text before a read error is still worth showing.
        let _ = stdout.read_to_end(&mut bytes);
        bytes
    });
    let (mut stderr, mut said, mut rounds) = (child.stderr.take().expect("a pipe"), Vec::new(), 0);
    let mut part = [0; 512];
    loop {
        let count = stderr.read(&mut part).expect("a readable stream");
        if count == 0 {
            break;
        }
        said.extend_from_slice(&part[..count]);
        if part[..count].windows(6).any(|window| window == b"round ") {
            rounds += 1;
            meddle(&child, rounds);
        }
    }
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Run {
        what: format!("{all:?}, met in {rounds} rounds"),
        status: child.wait().map_or(ExitStatus::from_raw(0x7f00), |status| status),
        stdout: text(result.join().expect("no panic")),
        stderr: text(said),
    }
}

/// Runs every experiment, two at a time, and passes each result to `check`.
fn every_experiment(meddle: &(dyn Fn(&Child, usize) + Sync), check: &(dyn Fn(&Run, &Value) + Sync)) {
    let (some, others) = EXPERIMENTS.split_at(EXPERIMENTS.len() / 2);
    let run = |experiments: &[&[&str]]| {
        for arguments in experiments {
            let run = met(arguments, meddle);
            let document = run.expect_json(0);
            assert_valid(&document);
            check(&run, &document);
        }
    };
    thread::scope(|scope| {
        let one = scope.spawn(|| run(some));
        run(others);
        one.join().unwrap_or_else(|reason| std::panic::resume_unwind(reason));
    });
}

/// Collects all latencies of a document.
fn latencies(value: &Value, found: &mut Vec<f64>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| latencies(item, found)),
        Value::Object(members) => {
            for (name, member) in members {
                match member.as_f64() {
                    Some(number) if name == "ns" => found.push(number),
                    _ => latencies(member, found),
                }
            }
        }
        _ => {}
    }
}

fn assert_plausible(run: &Run, document: &Value) {
    let mut found = Vec::new();
    latencies(document, &mut found);
    let plausible = |ns: &f64| (0.01..LONGEST_HOP_NS).contains(ns);
    assert!(!found.is_empty() && found.iter().all(plausible), "{found:?}: {run}");
}

fn send(child: &Child, signal: i32) {
    // SAFETY: takes numbers; the process has not been waited for, so its number is still valid.
    assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
}

fn stop_for(child: &Child, time: Duration) {
    send(child, libc::SIGSTOP);
    thread::sleep(time);
    send(child, libc::SIGCONT);
}

/// Does the same as `taskset -pc CPU PID`; returns false if the process has ended.
fn moved(child: &Child, cpu: usize) -> bool {
    // SAFETY: a set of zero bits is an empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: checks the number against the size of the set, and writes within it.
    unsafe { libc::CPU_SET(cpu, &mut set) };
    // SAFETY: the kernel reads one set, of the size given.
    unsafe { libc::sched_setaffinity(child.id() as i32, size_of_val(&set), &raw const set) == 0 }
}

#[test]
fn a_moved_thread_returns_and_the_result_says_so() {
    let [_, other, ..] = allowed_cpus()[..] else {
        latency_tests::skip::skip("meanwhile::a_moved_thread", "it takes two CPUs");
        return;
    };
    retried("meanwhile::a_moved_thread_returns_and_the_result_says_so", |_| {
        let meddle = |child: &Child, round: usize| {
            // In many rounds, since one may fall between the last trial of a visit and the next pin.
            if round <= 40 {
                moved(child, other);
            }
        };
        every_experiment(&meddle, &|run, document| {
            assert!(warnings(document).contains(&"thread-moved"), "{run}");
            assert!(number(document, "/conditions/thread_moves") > 0, "{run}");
            assert_plausible(run, document);
        });
    });
}

#[test]
fn a_stopped_process_continues_with_correct_results() {
    retried("meanwhile::a_stopped_process_continues_with_correct_results", |_| {
        let meddle = |child: &Child, round: usize| {
            if round % 8 == 2 && round <= 20 {
                stop_for(child, STOPPED);
            }
        };
        every_experiment(&meddle, &assert_plausible);
    });
}

#[test]
fn a_process_stopped_beyond_its_time_limit_ends() {
    retried("meanwhile::a_process_stopped_beyond_its_time_limit_ends", |_| {
        let endless = ["--size=1M", "--trials=1000000", "--time-limit=1"];
        let meddle = |child: &Child, round: usize| {
            if round == 2 {
                stop_for(child, Duration::from_millis(1500));
            }
        };
        let run = met(&endless, &meddle);
        let document = run.expect_json(0);
        assert_valid(&document);
        assert_plausible(&run, &document);
        // The result names the points for which there was no time.
        assert!(warnings(&document).contains(&"precision-not-reached"), "{run}");
        assert_eq!(at(&document, "/partial"), false, "{run}");
    });
}

#[test]
fn a_process_stopped_beyond_its_budget_ends_and_names_the_rest() {
    let meddle = |child: &Child, round: usize| {
        if round == 1 {
            stop_for(child, Duration::from_secs(5));
        }
    };
    let run = met(&["parallel", "--size=1M", "--budget=3"], &meddle);
    let document = run.expect_json(0);
    assert_valid(&document);
    assert!(warnings(&document).contains(&"budget-over"), "{run}");
    assert_eq!(at(&document, "/partial"), false, "{run}");
    let reasons: Vec<&str> = array(&document, "/rows")
        .iter()
        .map(|row| at(row, "/not_measured").as_str().expect("text"))
        .collect();
    assert!(reasons.iter().any(|reason| reason.contains("--budget was over")), "{run}");
}
