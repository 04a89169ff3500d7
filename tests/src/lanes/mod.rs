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

use std::path::Path;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use std::{fs, io, thread};

/// Runs all jobs, and calls `ended` with each job, its duration and its outcome. Whenever CPUs are free, it starts the first
/// job that does not need more of them.
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
            // A job that has to wait for more CPUs leaves those that are free to a later one.
            while let Some(next) = waiting.iter().position(|job| job.cpus <= free) {
                let job = waiting.remove(next);
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

    /// Returns the names of jobs on two CPUs, in the order in which they end.
    fn ended(test: &str, jobs: &[(&str, usize)]) -> Vec<String> {
        let logs = env::temp_dir().join(format!("jobs-{test}-{}", std::process::id()));
        let program = Program { name: "true".into(), path: "/bin/true".into(), directory: "/".into() };
        let jobs = jobs.iter().map(|(name, cpus)| Job {
            name: (*name).into(),
            cpus: *cpus,
            program: program.clone(),
            tests: Vec::new(),
        });
        let mut names = Vec::new();
        let ran = run(jobs.collect(), 2, &logs, |job, _, _| names.push(job.name.clone()));
        fs::remove_dir_all(&logs).expect("a directory of logs");
        ran.expect("a program that exists");
        names
    }

    #[test]
    fn a_job_that_asks_for_more_cpus_than_there_are_runs_too() {
        assert_eq!(ended("more", &[("a", usize::MAX), ("b", 1)]), ["a", "b"]);
    }

    #[test]
    fn a_job_that_fits_does_not_wait_for_one_that_needs_all_cpus() {
        let names = ended("fits", &[("a", 1), ("all", 2), ("b", 1), ("c", 1)]);
        assert_eq!(names.last().map(String::as_str), Some("all"), "{names:?}");
    }
}
