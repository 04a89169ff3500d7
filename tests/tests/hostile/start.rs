//! The start of a process: its arguments, its environment, its CPUs.

use super::body::{COMMANDS, OF_TWO_CPUS, end, everything_on, held, tasks};
use super::results::{is_measured_with, lasting, named};
use latency_tests::confine::{Confine, allowed_cpus};
use latency_tests::enclose::Enclose;
use latency_tests::everywhere::everywhere;
use latency_tests::program::binary;
use latency_tests::run::command;
use std::process::Command;

/// `execve` with neither arguments nor an environment runs the default experiment, which is ended here after
/// a second of CPU time.
#[test]
fn without_any_argument_not_even_the_name() {
    let mut command = command(&[""; 0]);
    command.limited_softly(libc::RLIMIT_CPU as i32, 1, libc::RLIM_INFINITY);
    let found = end(command.without_arguments(&binary())).unwrap_or_else(|reason| panic!("{reason}"));
    match found.status.code() {
        Some(0 | 130) => {
            let first = found.stdout.lines().next().unwrap_or("");
            assert!(first.starts_with("Node ") && first.contains(" -> Node "), "no matrix: {found}");
            assert!(found.stdout.contains("\nTrust: "), "{found}");
        }
        // A machine with almost no memory has none to measure.
        _ => assert!(
            found.expect_status(2).expect_error("not enough memory on node").stdout.is_empty(),
            "{found}"
        ),
    }
}

/// Members that differ from run to run of a command that measures nothing, and of a plan.
const PASSING: [&str; 13] = [
    "started",
    "duration_s",
    // It has the duration, too, and a checksum of everything.
    "shown",
    "free_bytes",
    "can_give_bytes",
    "least_s",
    "most_s",
    "cpu",
    "clock",
    "freq_ghz",
    "health",
    "trust",
    "warnings",
];

/// Runs a task in two environments. It has to succeed in both, with the same result if it measures nothing,
/// and otherwise with the same plan.
fn same(task: &[&'static str], change: impl Fn(&mut Command)) -> Result<(), String> {
    let measures = !COMMANDS.contains(&task);
    let found = held(task, &change)?;
    if !found.status.success() {
        return Err(format!("{found}"));
    }
    // A report with a budget of a second has no plan; it is not among the tasks.
    let mut told = task.to_vec();
    if measures {
        told.push("--dry-run");
    }
    let document = |run: latency_tests::run::Run| lasting(&run.expect_json(0), &PASSING);
    let (usual, other) = (document(held(&told, |_| {})?), document(held(&told, &change)?));
    match usual == other {
        true => Ok(()),
        false => Err(format!("{told:?}: {other:#}\nis not\n{usual:#}")),
    }
}

#[test]
fn without_an_environment() {
    everywhere(&tasks(), |task| {
        same(task, |command| {
            command.env_clear();
        })
    });
}

#[test]
fn with_an_environment_of_a_megabyte() {
    // One variable may have 128 KiB, and all together a quarter of the stack's limit.
    let long = "x".repeat(120 << 10);
    let odd = ["", "=", "TERM=", "\u{fffd}"];
    everywhere(&tasks(), |task| {
        same(task, |command| {
            command.envs((0..8).map(|number| (format!("LONG_{number}"), &long)));
            command.envs((0..2000).map(|number| (format!("SHORT_{number}"), odd[number % odd.len()])));
            command.env("LC_ALL", &long).env("TERM", &long).env("NO_COLOR", "");
        })
    });
}

#[test]
fn on_one_cpu_of_the_machine() {
    let cpu = *allowed_cpus().last().expect("a CPU");
    everywhere(&everything_on(cpu), |(task, _)| {
        let found = held(task, |command| {
            command.on_cpu(cpu);
        })?;
        if OF_TWO_CPUS.contains(&task[0]) {
            found.expect_status(2).expect_error("needs a second CPU");
            return Ok(());
        }
        let document = found.expect_json(0);
        let cpus = named(&document, "cpu");
        let elsewhere = cpus.iter().any(|found| found.is_number() && **found != cpu);
        match is_measured_with(&document, &[]) && !elsewhere && cpus.iter().any(|found| **found == cpu) {
            true => Ok(()),
            false => Err(format!("not on CPU {cpu}: {found}")),
        }
    });
}
