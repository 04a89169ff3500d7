//! SIGINT at random moments of every experiment: measures the CPU time and the waiting until the end, and
//! checks the files.
//!
//! With `SIGNALS=20` (`make signals`) each case has 20 moments, also at the default sizes and in large
//! memory, and prints a table.

use super::waiting::{LIMIT, is_over, send, waited};
use super::{place, result};
use latency_core::rng::Pcg32;
use latency_tests::attempts::{ATTEMPTS, failed_attempt};
use latency_tests::confine::Confine;
use latency_tests::directory::Directory;
use latency_tests::everywhere::everywhere;
use latency_tests::lanes::of_everything;
use latency_tests::schema::assert_valid;
use latency_tests::skip::not_shown;
use latency_tests::usage;
use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Moments in each case of a short run if everything is tested; otherwise there is one.
const MOMENTS: u32 = 3;
/// Maximum time between the reading of the clock and the signal; with a longer time the moment does not
/// count.
const DISTURBED: Duration = Duration::from_millis(10);

/// Runs to interrupt in a few seconds: all phases of every experiment, and commands on saved results.
const SHORT: &[&[&str]] = &[
    &["matrix", "--size=128M", "--time-limit=0.05", "--spread=0"],
    &["curve", "--max-size=32M", "--points-per-octave=2", "--time-limit=0.002"],
    &["order", "--size=64M", "--time-limit=0.02", "--spread=0"],
    &["variants", "--size=32M", "--time-limit=0.01", "--spread=0"],
    &["pages", "--size=16M", "--time-limit=0.002"],
    &["residency", "--size=8M", "--time-limit=0.3"],
    &["parallel", "--size=64M", "--time-limit=0.02"],
    &["window", "--size=32M", "--time-limit=0.005"],
    &["distribution", "--size=64M", "--time-limit=0.1", "--spread=0"],
    &["bandwidth", "--size=32M", "--budget=3", "--time-limit=0.05"],
    &["loaded", "--size=32M", "--rates=0,1,max", "--traffic=read", "--budget=4", "--time-limit=0.1"],
    &["cores", "--states", "--budget=3", "--time-limit=0.05"],
    &["system"],
    &["report", "--size=64K", "--budget=8"],
    &["fit", CURVE],
    &["compare", CURVE, CURVE],
    &["fleet", FLEET, "--threshold=90"],
    &["report", CURVE],
];
/// Experiments with the same phases as others, left to `make test-all`.
const ALIKE: [&str; 4] = ["order", "variants", "parallel", "window"];
/// The same at the default sizes, and in memory that needs seconds to place and to write.
const LONG: &[&[&str]] = &[
    &["matrix"],
    &["curve"],
    &["order"],
    &["variants"],
    &["pages"],
    &["residency"],
    &["parallel"],
    &["window"],
    &["distribution"],
    &["bandwidth"],
    &["bandwidth", "--view=mix"],
    &["loaded"],
    &["cores"],
    &["cores", "--states"],
    &["matrix", "--size=2G", "--time-limit=2"],
    &["curve", "--max-size=2G"],
    &["order", "--size=2G", "--time-limit=1"],
    &["variants", "--size=1G", "--time-limit=0.5"],
    // The kernel needs 0.1 s a gigabyte to free small pages, before the process can end.
    &["pages", "--size=512M", "--time-limit=0.2"],
    &["parallel", "--size=2G", "--time-limit=0.2"],
    &["window", "--size=2G", "--time-limit=0.1"],
    &["distribution", "--size=2G", "--time-limit=1"],
    &["report", "--size=64K", "--budget=20"],
    &["report", "--size=64M", "--budget=20"],
];
const CURVE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/saved/curve.json");
const FLEET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/saved/fleet-memory.jsonl");

/// Returns the CPU time of a process that has not been waited for; after its end, all of it.
fn spent(process: u32) -> Duration {
    // `CPUCLOCK_SCHED` of a whole process: include/linux/posix-timers_types.h.
    let clock = (!(process as libc::clockid_t) << 3) | 2;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one record.
    let read = unsafe { libc::clock_gettime(clock, &raw mut time) };
    assert_eq!(read, 0, "clock_gettime: {}", std::io::Error::last_os_error());
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Waits for the end of a process; returns its status and its total CPU time.
fn ended(child: &Child) -> (ExitStatus, Duration) {
    usage::wait(child).expect("wait4")
}

/// A case: the command, its directory, and its duration.
struct Case<'a> {
    arguments: &'a [&'a str],
    directory: Directory,
    whole: Duration,
}

/// The effect of a signal.
struct Answer {
    cpu: Duration,
    /// The process's own waiting: without the time in which it was ready and had no CPU.
    wall: Duration,
    status: ExitStatus,
    /// True if the process went on between the reading of its time and the signal.
    disturbed: bool,
}

impl Answer {
    /// Returns true if it kept the promised limits of CPU time and of waiting.
    fn is_in_time(&self) -> bool {
        self.cpu.max(self.wall) <= LIMIT
    }
}

impl<'a> Case<'a> {
    /// Runs the command to its end, to measure its duration.
    fn new(arguments: &'a [&'a str]) -> Case<'a> {
        let directory = place(&format!("moment-{}", arguments[0]), false);
        let mut case = Case { arguments, directory, whole: Duration::ZERO };
        let (status, whole) = ended(&case.start());
        assert_eq!(status.code(), Some(0), "{arguments:?}");
        case.whole = whole;
        case
    }

    fn start(&self) -> Child {
        let mut arguments = self.arguments.to_vec();
        arguments.extend(["--json", "--output=result"]);
        let mut command = self.directory.command(&arguments);
        command.hearing(libc::SIGINT).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("a process")
    }

    /// Interrupts the command once it has used `moment` of CPU time.
    #[allow(clippy::zombie_processes, reason = "`ended` waits for it, by the call that tells its CPU time")]
    fn interrupt(&self, moment: Duration) -> Answer {
        // Remove the files of an earlier moment; most leave none.
        let _ = std::fs::remove_file(self.directory.path().join("result"));
        let child = self.start();
        let mut before = spent(child.id());
        while before < moment && !is_over(child.id()) {
            std::thread::sleep((moment - before).clamp(Duration::from_micros(100), Duration::from_millis(5)));
            before = spent(child.id());
        }
        let (begun, without_cpu) = (Instant::now(), waited(child.id()));
        send(&child, libc::SIGINT);
        let disturbed = spent(child.id()).saturating_sub(before) > DISTURBED;
        while !is_over(child.id()) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let wall = begun.elapsed().saturating_sub(waited(child.id()).saturating_sub(without_cpu));
        let (status, all) = ended(&child);
        Answer { cpu: all.saturating_sub(before), wall, status, disturbed }
    }

    /// Asserts that there is a result that states its own completeness, or none, and no other file.
    fn assert_left(&self, status: ExitStatus) {
        let names = self.directory.names();
        let what = format!("{:?} ended with {status} and left {names:?}", self.arguments);
        assert!(names.is_empty() || names == ["result"], "{what}");
        let document = result(&self.directory).map(|text| {
            serde_json::from_str::<Value>(&text).unwrap_or_else(|error| panic!("{what}: {error}\n{text}"))
        });
        if let Some(document) = &document {
            assert_valid(document);
        }
        let partial = document.as_ref().map(|document| document["partial"] == true);
        match (status.code(), status.signal()) {
            // It had measured everything.
            (Some(0), _) => assert_eq!(partial, Some(false), "{what}"),
            (Some(130), _) => assert_ne!(partial, Some(false), "{what}"),
            // It was interrupted before it held signals back, or while it read.
            (None, Some(libc::SIGINT)) => assert!(names.is_empty(), "{what}"),
            _ => panic!("{what}"),
        }
    }

    /// Interrupts the command at `count` moments, one in each part of the run, and returns the effects.
    fn at_random(&self, count: u32, rng: &mut Pcg32) -> Vec<Answer> {
        let mut answers = Vec::new();
        for part in 0..count {
            let share = (f64::from(part) + f64::from(rng.next_u32()) / 4_294_967_296.0) / f64::from(count);
            let moment = self.whole.mul_f64(share);
            let mut attempt = 1;
            let answer = loop {
                let answer = self.interrupt(moment);
                self.assert_left(answer.status);
                // A busy host also adds CPU time, by the caches and the sibling thread.
                if attempt == ATTEMPTS || answer.is_in_time() && !answer.disturbed {
                    break answer;
                }
                let late = format!("{:?} of CPU time, {:?} of waiting", answer.cpu, answer.wall);
                failed_attempt(&format!("signals::moments, {}", self.arguments.join(" ")), attempt, &late);
                attempt += 1;
            };
            answers.push(answer);
        }
        answers
    }
}

/// Formats the figures of one case, for a person.
fn told(case: &Case<'_>, answers: &[Answer]) -> String {
    let of = |value: fn(&Answer) -> Duration| {
        let mut values: Vec<_> = answers.iter().map(|answer| value(answer).as_secs_f64() * 1e3).collect();
        values.sort_by(f64::total_cmp);
        (values[values.len() / 2], values[values.len() - 1])
    };
    let (cpu, wall) = (of(|answer| answer.cpu), of(|answer| answer.wall));
    format!(
        "{:48} {:8.2} {:6.1} {:6.1} {:8.1} {:6.1}",
        case.arguments
            .iter()
            .map(|word| word.rsplit('/').next().unwrap_or(word))
            .collect::<Vec<_>>()
            .join(" "),
        case.whole.as_secs_f64(),
        cpu.0,
        cpu.1,
        wall.0,
        wall.1
    )
}

#[test]
fn an_interrupt_ends_every_phase_of_every_experiment() {
    let wanted = std::env::var("SIGNALS").ok().map(|text| text.parse().expect("SIGNALS is a number"));
    let count = wanted.unwrap_or(of_everything(1, MOMENTS));
    // The others have the phases of these.
    let short = SHORT.iter().filter(|case| of_everything(!ALIKE.contains(&case[0]), true));
    let cases = short.chain(LONG.iter().filter(|_| wanted.is_some()));
    println!(
        "{:48} {:>8} {:>13} {:>15}",
        "milliseconds to the end, median and most", "run, s", "CPU", "waiting"
    );
    everywhere(&cases.zip(1..).collect::<Vec<_>>(), |&(arguments, number)| {
        let case = Case::new(arguments);
        let answers = case.at_random(count, &mut Pcg32::new(12, number));
        let line = told(&case, &answers);
        println!("{line}");
        if answers.iter().any(|answer| answer.disturbed) {
            not_shown(&format!("signals::moments, {}", arguments.join(" ")), "it went on before each signal");
        }
        match answers.iter().any(|answer| !answer.is_in_time() && !answer.disturbed) {
            false => Ok(()),
            true => {
                Err(format!("more than {LIMIT:?} of CPU time or of its own waiting after the signal: {line}"))
            }
        }
    });
}
