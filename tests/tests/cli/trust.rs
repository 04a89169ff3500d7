//! The verdict on a result: the effects of other processes on a run are detected and reported.

use latency_tests::confine::{Confine, allowed_cpus};
use latency_tests::document::{array, at, decimal, number, text, warnings};
use latency_tests::run::{command, finish_within, read_until};
use latency_tests::schema::assert_valid;
use latency_tests::skip::{not_shown, skip};
use serde_json::Value;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Maximum wall-clock time until the end. A busy host may give the process little CPU time.
const PATIENCE: Duration = Duration::from_secs(60);

/// A load on one CPU until it is dropped.
struct Busy(Child);

impl Busy {
    fn on(cpu: usize) -> Busy {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
        Busy(shell.on_cpu(cpu).spawn().expect("a shell"))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        // This fails only if the shell has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn reasons(document: &Value) -> Vec<&str> {
    array(document, "/trust/reasons").iter().filter_map(Value::as_str).collect()
}

#[test]
fn a_busy_loop_on_the_same_cpu_makes_a_result_poor() {
    let cpu = allowed_cpus()[0];
    let _busy = Busy::on(cpu);
    let cpu = format!("--cpu={cpu}");
    // In experiments with one point, and with many similar ones.
    for experiment in [
        &["matrix", "--size=64K", "--time-limit=1"][..],
        &["curve", "--min-size=8K", "--max-size=64K", "--trials=40"],
    ] {
        let child = command(&[experiment, &["--json", "--strict", &cpu]].concat()).spawn();
        let document = finish_within(child.expect("a process"), PATIENCE).expect_json(3);
        assert_eq!(at(&document, "/trust/level"), "poor", "{document:#}");
        assert!(reasons(&document).contains(&"other-work"), "{document:#}");
        assert!(decimal(&document, "/conditions/other_processes_share") > 0.15, "{document:#}");
    }
}

#[test]
fn an_idle_cpu_is_used_if_the_first_one_is_busy() {
    let [first, _, ..] = allowed_cpus()[..] else { return eprintln!("one CPU: there is no other") };
    let _busy = Busy::on(first);
    let measured = |more: &[&str]| {
        let line = [&["--json", "--quiet", "--size=64K", "--trials=5", "--memnode=0"], more].concat();
        finish_within(command(&line).spawn().expect("a process"), PATIENCE).expect_json(0)
    };
    let document = measured(&["--cpu=first"]);
    assert_eq!(text(&document, "/cpu_chosen"), "first");
    assert_eq!(number(&document, "/rows/0/initiator_cpu"), first as u64);
    // The others may be busy, too: a shared host has an idle one only now and then.
    for _ in 0..10 {
        let document = measured(&[]);
        if text(&document, "/cpu_chosen") == "idle" {
            assert_eq!(number(&document, "/busy_cpus/0/cpu"), first as u64, "{document:#}");
            assert!(decimal(&document, "/busy_cpus/0/busy_share") > 0.3, "{document:#}");
            assert_ne!(number(&document, "/rows/0/initiator_cpu"), first as u64, "{document:#}");
            return;
        }
        assert_eq!(number(&document, "/rows/0/initiator_cpu"), first as u64, "{document:#}");
        assert!(array(&document, "/busy_cpus").is_empty(), "{document:#}");
    }
    not_shown("trust::an_idle_cpu_is_used_if_the_first_one_is_busy", "no other CPU was idle");
}

/// A generator or a partner that shares its CPU with a busy loop gets half of it, so half is what the tool
/// measures.
#[test]
fn a_busy_loop_beside_a_generator_or_partner_is_reported_with_its_cpu() {
    let [first, second, ..] = allowed_cpus()[..] else {
        return skip(
            "trust::a_busy_loop_beside_a_generator_or_partner",
            "the first thread and another take two CPUs",
        );
    };
    let _busy = Busy::on(second);
    let (cpu, both) = (format!("--cpu={first}"), format!("--load-cpus={first},{second}"));
    let (other, pair) = (format!("--load-cpus={second}"), format!("--pairs={first}:{second}"));
    for experiment in [
        &["bandwidth", "--size=8M", "--budget=3", "--memnode=0", &cpu, &both][..],
        &[
            "loaded",
            "--size=8M",
            "--budget=3",
            "--memnode=0",
            "--traffic=read",
            "--rates=0,max",
            &cpu,
            &other,
        ],
        &["cores", "--budget=3", &pair],
    ] {
        let child = command(&[experiment, &["--json"]].concat()).spawn();
        let document = finish_within(child.expect("a process"), PATIENCE).expect_json(0);
        assert_valid(&document);
        let of_second = |warning: &&Value| {
            warning["code"] == "other-work" && warning["cpu"].as_u64() == Some(second as u64)
        };
        let cpus = array(&document, "/conditions/cpus");
        let on = |cpu| cpus.iter().find(|on| number(on, "/cpu") == cpu as u64);
        let (Some(_), Some(on_second)) = (on(first), on(second)) else { panic!("{cpus:#?}") };
        if experiment[0] == "cores" {
            // A partner runs for some milliseconds at a time, and may get its CPU at once each time.
            continue;
        }
        let warning = array(&document, "/warnings").iter().find(of_second);
        let warning = warning.unwrap_or_else(|| panic!("{}: {document:#}", experiment[0]));
        assert!(text(warning, "/text").contains(&format!(" of CPU {second} ")), "{warning:#}");
        assert!(reasons(&document).contains(&"other-work"), "{document:#}");
        assert_eq!(at(&document, "/trust/level"), "poor", "{document:#}");
        assert!(decimal(on_second, "/other_processes_share") > 0.15, "{cpus:#?}");
    }
}

#[test]
fn a_moved_thread_returns_and_is_reported() {
    let [here, there, ..] = allowed_cpus()[..] else {
        return eprintln!("one CPU: a thread cannot be moved");
    };
    let cpu = format!("--cpu={here}");
    let endless =
        ["--json", "--size=1M", "--trials=1000000", "--time-limit=86400", "--progress=always", &cpu];
    let mut child = command(&endless).hearing(libc::SIGINT).spawn().expect("a process");
    let thread = child.id() as i32;
    let messages = child.stderr.as_mut().expect("a pipe");
    read_until(messages, "round 3");
    // SAFETY: all zeroes are an empty set, and the number is within it.
    let elsewhere: libc::cpu_set_t = unsafe {
        let mut set = std::mem::zeroed();
        libc::CPU_SET(there, &mut set);
        set
    };
    // SAFETY: the kernel reads at most the given number of bytes.
    let moved =
        unsafe { libc::sched_setaffinity(thread, size_of::<libc::cpu_set_t>(), &raw const elsewhere) };
    assert_eq!(moved, 0);
    read_until(messages, "round 6");
    // SAFETY: takes numbers; the process has not been waited for, so its number is still valid.
    assert_eq!(unsafe { libc::kill(thread, libc::SIGINT) }, 0);
    let document = finish_within(child, PATIENCE).expect_json(130);
    assert!(warnings(&document).contains(&"thread-moved"), "{document:#}");
    assert!(number(&document, "/conditions/thread_moves") >= 1, "{document:#}");
    assert_eq!(number(&document, "/rows/0/initiator_cpu"), here as u64, "{document:#}");
}
