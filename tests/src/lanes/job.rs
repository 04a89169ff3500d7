//! The test programs of a build, and their division into jobs.

use super::moved::{MOVED, is_everything, moved};
use super::outcome::Outcome;
use crate::usage;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program with the test harness of Rust.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The name of its target: a library, a binary, or the suite of whole-program tests.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// The directory of its package, in which its tests have to run.
    pub directory: PathBuf,
}

/// Tests of one program that run one after another in one process.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// The program.
    pub program: Program,
    /// The module of the tests, or the test.
    pub name: String,
    /// The paths of the tests.
    pub tests: Vec<String>,
    /// Number of CPUs that they keep busy.
    pub cpus: usize,
}

/// Number of CPUs of a job that runs alone: more than any machine has.
const ALONE: usize = usize::MAX;

/// The program of the whole-program tests.
const SUITE: &str = "suite";

/// A part of the suite: the beginning of a path, the number of CPUs in use, and true if each test is a separate job.
struct Part(&'static str, usize, bool);

/// Tests that are long, or use more than one CPU, in the order in which they start: first those of two CPUs, beside which
/// there is room for one other job, and at the end those that run alone.
const PARTS: [Part; 23] = [
    // Guests with two virtual CPUs that have to run at the same time: no other job runs beside them.
    Part("lab_load::", ALONE, true),
    Part("lab_pairs::", ALONE, true),
    // Half-lives of some 100 ms: beside another guest they come out 5 to 7 % too short.
    Part("lab::a_neighbour_throws_lines_out", ALONE, true),
    // Tests with two processes at a time.
    Part("signals::moments", 2, true),
    Part("meanwhile::", 2, true),
    Part("hostile::calls", 2, true),
    Part("hostile::limits", 2, true),
    Part("hostile::files", 2, true),
    Part("trees::", 2, true),
    // Tests with guests.
    Part("lab::", 1, true),
    Part("lab_walks::", 1, true),
    Part("lab_split::", 1, true),
    Part("lab_arm64::", 1, true),
    Part("emulator::", 1, true),
    // Long tests.
    Part("hostile::", 1, true),
    Part("cachegrind::", 1, true),
    Part("signals::", 1, true),
    Part("cli::usage", 1, false),
    Part("dist::", 1, false),
    Part("hierarchy", 1, false),
    Part("schema", 1, false),
    Part("cli::", 1, false),
    Part("", 1, false),
];

/// Reads the messages of `cargo test --no-run --message-format=json`: the test programs that were built.
pub fn programs(messages: &str) -> Vec<Program> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let tests = messages.filter(|message| message["profile"]["test"] == true);
    let program = |message: Value| {
        let manifest = Path::new(message["manifest_path"].as_str()?);
        Some(Program {
            name: message["target"]["name"].as_str()?.into(),
            path: message["executable"].as_str()?.into(),
            directory: manifest.parent()?.into(),
        })
    };
    tests.filter_map(program).collect()
}

impl Program {
    /// Returns the paths of the program's tests, except for those that are marked `#[ignore]`.
    fn tests(&self) -> io::Result<Vec<String>> {
        let list = |more: &[&str]| -> io::Result<Vec<String>> {
            let output = Command::new(&self.path).args(["--list", "--format=terse"]).args(more).output()?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            Ok(text.lines().filter_map(|line| Some(line.strip_suffix(": test")?.to_owned())).collect())
        };
        let ignored = list(&["--ignored"])?;
        Ok(list(&[])?.into_iter().filter(|test| !ignored.contains(test)).collect())
    }
}

/// Divides the tests of all programs with `only` in their paths into jobs, in the order in which they start. Also
/// returns the number of tests that only `make test-all` runs.
///
/// # Errors
///
/// If a program cannot be run, or a row of [`MOVED`] has no test.
pub fn jobs(programs: &[Program], only: &str) -> io::Result<(Vec<Job>, usize)> {
    let mut jobs = BTreeMap::<(usize, usize, String, String), Job>::new();
    let (mut left, mut unused) = (0, MOVED.iter().map(|row| row.tests).collect::<Vec<_>>());
    for program in programs {
        for test in program.tests()? {
            if !format!("{}::{test}", program.name).contains(only) {
                continue;
            }
            let of_suite = program.name == SUITE;
            if let Some(row) = moved(&test).filter(|_| of_suite) {
                unused.retain(|other| *other != row);
                if !is_everything() {
                    left += 1;
                    continue;
                }
            }
            let part = PARTS.iter().position(|part| of_suite && test.starts_with(part.0));
            let Part(_, cpus, alone) = PARTS[part.unwrap_or(PARTS.len() - 1)];
            let module = test.rsplit_once("::").map_or("", |(module, _)| module);
            let name = if alone { test.as_str() } else { module };
            let turn = match cpus {
                1 => 1,
                ALONE => 2,
                _ => 0,
            };
            // The tests of the packages come before guests, whose kernels are fetched meanwhile.
            let key = (turn, part.map_or(0, |part| part + 1), program.name.clone(), name.to_owned());
            let job = jobs.entry(key).or_insert_with(|| Job {
                program: program.clone(),
                name: name.into(),
                tests: Vec::new(),
                cpus,
            });
            job.tests.push(test);
        }
    }
    if only.is_empty() && !unused.is_empty() {
        return Err(io::Error::other(format!(
            "moved.rs names tests that do not exist: {}",
            unused.join(", ")
        )));
    }
    Ok((jobs.into_values().collect(), left))
}

impl Job {
    /// Returns the name of the file that keeps its output.
    pub fn file_name(&self) -> String {
        format!("{}-{}.log", self.program.name, self.name.replace("::", "-"))
    }

    /// Runs the tests in a process, which writes all of its output to `log`.
    ///
    /// # Errors
    ///
    /// If the process cannot be started, or the log cannot be written or read.
    pub fn run(&self, log: &Path) -> io::Result<Outcome> {
        let file = File::create(log)?;
        let child = Command::new(&self.program.path)
            .arg("--exact")
            .args(&self.tests)
            .args(["--test-threads=1"])
            .current_dir(&self.program.directory)
            .env("CARGO_MANIFEST_DIR", &self.program.directory)
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()?;
        let (status, cpu) = usage::wait(&child)?;
        let output = std::fs::read(log)?;
        let outcome = Outcome::new(&String::from_utf8_lossy(&output), status.success(), self.tests.len());
        Ok(Outcome { cpu, ..outcome })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_read_from_what_cargo_prints() {
        let messages = r#"
{"reason":"compiler-artifact","manifest_path":"/w/core/Cargo.toml","target":{"name":"core"},"profile":{"test":false},"executable":null}
{"reason":"compiler-artifact","manifest_path":"/w/bin/Cargo.toml","target":{"name":"bench"},"profile":{"test":true},"executable":"/w/t/bench-1"}
no message
{"reason":"build-finished","success":true}"#;
        let [program] = &programs(messages)[..] else { panic!("one program") };
        assert_eq!((program.name.as_str(), program.path.as_path()), ("bench", Path::new("/w/t/bench-1")));
        assert_eq!(program.directory, Path::new("/w/bin"));
    }

    #[test]
    fn every_test_of_the_suite_has_a_part() {
        assert!(PARTS.last().is_some_and(|part| part.0.is_empty()));
        // A part behind another one that contains it would never be chosen.
        for (index, part) in PARTS.iter().enumerate() {
            assert!(PARTS[..index].iter().all(|earlier| !part.0.starts_with(earlier.0)), "{}", part.0);
        }
    }
}
