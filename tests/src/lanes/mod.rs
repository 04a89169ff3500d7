//! Runs test programs as jobs, as many at a time as there are CPUs for, the longest first, and counts the results.
//!
//! `cargo test` runs one program after another, and the last test of each leaves a CPU idle. Here a job is a module of
//! a program, or a single test where tests are long. It runs on one test thread, and says how many CPUs it uses.

mod job;
mod moved;
mod outcome;

pub use job::{jobs, programs, Job, Program};
pub use moved::{is_everything, of_everything, Moved, MOVED, TESTS_VARIABLE};
pub use outcome::{Counts, Outcome};

use std::fs;
use std::io;
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

/// Maximum number of jobs at a time, those that use no CPU included.
const JOBS: usize = 4;

/// Runs all jobs, and calls `ended` with each, how long it took and how it ended.
///
/// # Errors
///
/// When a job cannot be started, or its log cannot be written.
///
/// # Panics
///
/// When a thread of this process panics.
pub fn run(
    mut waiting: Vec<Job>,
    cpus: usize,
    logs: &Path,
    mut ended: impl FnMut(&Job, Duration, &Outcome),
) -> io::Result<()> {
    fs::create_dir_all(logs)?;
    let (mut free, mut running) = (cpus, 0);
    let (send, receive) = channel();
    thread::scope(|scope| loop {
        while running < JOBS {
            let Some(index) = next(&waiting, free, cpus) else { break };
            let job = waiting.remove(index);
            (free, running) = (free - job.cpus.min(cpus), running + 1);
            let (send, log) = (send.clone(), logs.join(job.file_name()));
            scope.spawn(move || {
                let begin = Instant::now();
                let outcome = job.run(&log);
                // The receiver is kept until all jobs have ended.
                let _ = send.send((job, begin.elapsed(), outcome));
            });
        }
        if running == 0 {
            return Ok(());
        }
        let (job, time, outcome) = receive.recv().expect("a job that runs");
        (free, running) = (free + job.cpus.min(cpus), running - 1);
        ended(&job, time, &outcome?);
    })
}

/// Returns the first job that uses a CPU if there are enough for it, else the first that uses none.
fn next(waiting: &[Job], free: usize, cpus: usize) -> Option<usize> {
    let first = waiting.iter().position(|job| job.cpus > 0);
    first
        .filter(|&index| waiting[index].cpus.min(cpus) <= free)
        .or_else(|| waiting.iter().position(|job| job.cpus == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(cpus: usize) -> Job {
        Job { cpus, ..Job::default() }
    }

    #[test]
    fn a_job_waits_for_its_cpus_and_sleepers_go_first_meanwhile() {
        let waiting = [job(2), job(1), job(0)];
        assert_eq!(next(&waiting, 2, 2), Some(0));
        assert_eq!(next(&waiting, 1, 2), Some(2));
        assert_eq!(next(&waiting[..2], 1, 2), None);
        // One CPU has to do for a job of two.
        assert_eq!(next(&waiting, 1, 1), Some(0));
    }
}
