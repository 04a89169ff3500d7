//! Runs test programs as jobs on all CPUs at the same time, the longest jobs first, and counts the results.
//!
//! `cargo test` runs one program after another, and the last test of each leaves CPUs idle. Here a job is a module of a
//! program, or a single test if tests are long. It runs on one test thread, and declares the number of CPUs that it
//! uses.

mod job;
mod moved;
mod outcome;

pub use job::{Job, Program, jobs, programs};
pub use moved::{MOVED, Moved, TESTS_VARIABLE, is_everything, of_everything};
pub use outcome::{Counts, Outcome};

use std::fs;
use std::io;
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

/// Runs all jobs, and calls `ended` with each job, its duration and its outcome.
///
/// # Errors
///
/// If a job cannot be started, or its log cannot be written.
///
/// # Panics
///
/// If a thread of this process panics.
pub fn run(
    mut waiting: Vec<Job>,
    cpus: usize,
    logs: &Path,
    mut ended: impl FnMut(&Job, Duration, &Outcome),
) -> io::Result<()> {
    fs::create_dir_all(logs)?;
    waiting.iter_mut().for_each(|job| job.cpus = job.cpus.min(cpus));
    let mut free = cpus;
    let (send, receive) = channel();
    thread::scope(|scope| {
        loop {
            while waiting.first().is_some_and(|job| job.cpus <= free) {
                let job = waiting.remove(0);
                free -= job.cpus;
                let (send, log) = (send.clone(), logs.join(job.file_name()));
                scope.spawn(move || {
                    let begin = Instant::now();
                    let outcome = job.run(&log);
                    // The receiver is kept until all jobs have ended.
                    let _ = send.send((job, begin.elapsed(), outcome));
                });
            }
            if free == cpus {
                return Ok(());
            }
            let (job, time, outcome) = receive.recv().expect("a job that runs");
            free += job.cpus;
            ended(&job, time, &outcome?);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::env;

    #[test]
    fn a_job_that_asks_for_more_cpus_than_there_are_runs_too() {
        let logs = env::temp_dir().join(format!("jobs-{}", std::process::id()));
        let program = Program { name: "true".into(), path: "/bin/true".into(), directory: "/".into() };
        let job =
            |name: &str, cpus| Job { name: name.into(), cpus, program: program.clone(), tests: Vec::new() };
        let mut ran = Vec::new();
        let ended =
            run(vec![job("a", usize::MAX), job("b", 1)], 2, &logs, |job, _, _| ran.push(job.name.clone()));
        fs::remove_dir_all(&logs).expect("a directory of logs");
        ended.expect("a program that exists");
        assert_eq!(ran, ["a", "b"]);
    }
}
