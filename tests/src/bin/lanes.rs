//! Runs the test programs that cargo built: `lanes MESSAGES [PART OF A PATH]`.
//!
//! `MESSAGES` is a file with the output of `cargo test --no-run --message-format=json`. The last two lines count tests that
//! were not shown and attempts beyond the first, then tests that passed, failed and were skipped.

use latency_tests::lanes::{Counts, jobs, programs, run};
use latency_tests::program::workspace;
use std::process::ExitCode;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

/// Number of the longest jobs that are listed at the end.
const LONGEST: usize = 20;

fn main() -> ExitCode {
    match all_jobs() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(reason) => {
            eprintln!("lanes: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Runs everything; returns true if all tests passed.
fn all_jobs() -> Result<bool, String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (messages, only) = match &words[..] {
        [messages] => (messages, ""),
        [messages, only] => (messages, only.as_str()),
        _ => return Err("lanes MESSAGES [PART OF A PATH]".into()),
    };
    let messages = std::fs::read_to_string(messages).map_err(|error| format!("{messages}: {error}"))?;
    let (jobs, left) = jobs(&programs(&messages), only).map_err(|error| error.to_string())?;
    // The program under test sleeps sometimes, so one more job than there are CPUs keeps them busy.
    let cpus = available_parallelism().map_or(1, usize::from) + 1;
    let begin = Instant::now();
    let mut counts = Counts::default();
    let (mut took, mut cpu) = (Vec::new(), Duration::ZERO);
    run(jobs, cpus, &workspace().join("target/lanes"), |job, time, outcome| {
        counts += outcome.counts;
        let name = format!("{} {}", job.program.name, job.name);
        let verdict = if outcome.counts.failed > 0 { "FAILED" } else { "ok" };
        let [time_s, cpu_s] = [time, outcome.cpu].map(|time| time.as_secs_f64());
        println!("{time_s:>6.1} s, {cpu_s:>5.1} of CPU  {name}: {} {verdict}", job.tests.len());
        cpu += outcome.cpu;
        print!("{}", outcome.shown);
        took.push((time, name));
    })
    .map_err(|error| error.to_string())?;
    took.sort();
    println!("\nthe longest:");
    took.iter()
        .rev()
        .take(LONGEST)
        .for_each(|(time, name)| println!("{:>6.1} s  {name}", time.as_secs_f64()));
    println!(
        "\n{} s, {} of CPU; {left} tests are left to make test-all",
        begin.elapsed().as_secs(),
        cpu.as_secs()
    );
    println!("{} not shown, {} retried", counts.not_shown, counts.retried);
    println!("{} passed, {} failed, {} skipped", counts.passed, counts.failed, counts.skipped);
    Ok(counts.failed == 0)
}
