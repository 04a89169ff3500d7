//! What a process is started with: its arguments, its environment, its CPUs.

use super::body::{end, held, tasks, EXPERIMENTS};
use latency_tests::confine::{allowed_cpus, Confine};
use latency_tests::document::at;
use latency_tests::enclose::Enclose;
use latency_tests::everywhere::everywhere;
use latency_tests::program::binary;
use latency_tests::run::command;

/// `execve` with neither arguments nor an environment: the default experiment, ended here after a second of CPU time.
#[test]
fn without_any_argument_not_even_the_name() {
    let mut command = command(&[""; 0]);
    command.limited_softly(libc::RLIMIT_CPU as i32, 1, libc::RLIM_INFINITY);
    let found = end(command.without_arguments(&binary())).unwrap_or_else(|reason| panic!("{reason}"));
    // On a machine with next to no memory there is none to measure.
    assert!(matches!(found.status.code(), Some(0 | 2 | 130)), "{found}");
    assert!(!found.stderr.contains("internal error"), "{found}");
}

#[test]
fn without_an_environment() {
    everywhere(&tasks(), |task| {
        let found = held(task, |command| {
            command.env_clear();
        })?;
        found.status.success().then_some(()).ok_or_else(|| format!("{found}"))
    });
}

#[test]
fn with_an_environment_of_a_megabyte() {
    // One variable may have 128 KiB, and all together a quarter of the stack's limit.
    let long = "x".repeat(120 << 10);
    let odd = ["", "=", "TERM=", "\u{fffd}"];
    everywhere(&tasks(), |task| {
        let found = held(task, |command| {
            command.envs((0..8).map(|number| (format!("LONG_{number}"), &long)));
            command.envs((0..2000).map(|number| (format!("SHORT_{number}"), odd[number % odd.len()])));
            command.env("LC_ALL", &long).env("TERM", &long).env("NO_COLOR", "");
        })?;
        found.status.success().then_some(()).ok_or_else(|| format!("{found}"))
    });
}

#[test]
fn on_one_cpu_of_the_machine() {
    let cpu = *allowed_cpus().last().expect("a CPU");
    everywhere(&tasks()[..EXPERIMENTS.len()], |task| {
        let found = held(task, |command| {
            command.on_cpu(cpu);
        })?;
        let document = found.expect_json(0);
        match at(&document, "/points/0/cpu") == cpu {
            true => Ok(()),
            false => Err(format!("not on CPU {cpu}: {found}")),
        }
    });
}
