//! One case: its choices, its directory, its processes, and its findings.

use super::formats::{self, Judged};
use super::random::Random;
use super::{ADVICE, CONTROL, DEATH, MESSAGE, STATUS, Surroundings};
use crate::program::binary;
use crate::run::{ERROR, Run, try_finish_within};
use crate::terminal::shown;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Time limit of a process: hundreds of times as long as any case runs on a busy host.
const PATIENCE: Duration = Duration::from_secs(120);

/// Something that should not have happened.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The class, in words.
    pub class: &'static str,
    /// The command, with the output or file that shows it.
    pub seen: String,
}

impl Finding {
    /// Makes a finding; the case adds its command.
    pub fn new(class: &'static str, seen: String) -> Self {
        Finding { class, seen }
    }
}

/// One case of a campaign.
pub struct Case<'s> {
    /// The number in the campaign.
    pub number: u64,
    /// The kind of case.
    pub family: &'static str,
    /// The number among the cases of this kind.
    pub index: u64,
    /// The choices.
    pub random: Random,
    /// Data shared by all cases.
    pub surroundings: &'s Surroundings,
    /// Exit statuses of its processes.
    pub statuses: Vec<i32>,
    /// Findings so far.
    pub findings: Vec<Finding>,
    directory: PathBuf,
}

impl<'s> Case<'s> {
    /// Makes a case in a new empty directory.
    pub fn new(
        seed: u64,
        number: u64,
        family: &'static str,
        index: u64,
        surroundings: &'s Surroundings,
        directory: PathBuf,
    ) -> Self {
        // The case before may have left no directory.
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
        Case {
            number,
            family,
            index,
            random: Random::new(seed, number),
            surroundings,
            statuses: Vec::new(),
            findings: Vec::new(),
            directory,
        }
    }

    /// Returns the path of a file of this case.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Writes a file of this case.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::write(&path, content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// Returns the content of a file of this case, if there is one.
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.path(name)).ok()
    }

    /// Notes a finding of a command.
    pub fn note(&mut self, class: &'static str, arguments: &[String], seen: &str) {
        let seen = format!("{}\n      {}", typed(arguments), seen.trim_end().replace('\n', "\n      "));
        self.findings.push(Finding { class, seen });
    }

    /// Returns the executable with `arguments` in this directory, without input and with both outputs captured.
    pub fn command(&self, arguments: &[String]) -> Command {
        let mut command = Command::new(binary());
        command.args(arguments).current_dir(&self.directory).env_remove("COLUMNS");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the executable to its end; returns `None` if it had to be killed, which is a finding.
    pub fn run(&mut self, arguments: &[String]) -> Option<Run> {
        self.run_with(arguments, |_| {})
    }

    fn run_with(&mut self, arguments: &[String], prepare: impl FnOnce(&mut Command)) -> Option<Run> {
        let mut command = self.command(arguments);
        prepare(&mut command);
        let child = command.spawn().unwrap_or_else(|error| panic!("{error}"));
        match try_finish_within(child, "latency-bench", PATIENCE) {
            Ok(run) => {
                self.statuses.push(run.status.code().unwrap_or(-1));
                Some(run)
            }
            Err(reason) => {
                self.note(DEATH, arguments, &reason);
                None
            }
        }
    }

    /// Runs the executable and returns the rows of its document; `None`, after a note of this class, if it has none.
    pub fn rows(&mut self, class: &'static str, arguments: &[&str], statuses: &[i32]) -> Option<Vec<Value>> {
        let arguments = words(arguments);
        let judged = Judged { width: false, numbers: true };
        let (status, run) = self.judged(&arguments, &[statuses, &[1]].concat(), judged)?;
        let document = serde_json::from_str::<Value>(&run.stdout).ok().filter(|_| status != 1);
        match document.as_ref().and_then(|document| document["rows"].as_array()) {
            Some(rows) => Some(rows.clone()),
            None => {
                self.note(class, &arguments, &format!("status {status}: {}", tail(&run.stderr)));
                None
            }
        }
    }

    /// Runs the executable and checks its exit status and output; returns the exit status, if it had one.
    pub fn judged(&mut self, arguments: &[String], statuses: &[i32], judged: Judged) -> Option<(i32, Run)> {
        self.judged_with(arguments, statuses, judged, |_| {})
    }

    /// Does the same in an environment that `prepare` makes.
    pub fn judged_with(
        &mut self,
        arguments: &[String],
        statuses: &[i32],
        judged: Judged,
        prepare: impl FnOnce(&mut Command),
    ) -> Option<(i32, Run)> {
        let run = self.run_with(arguments, prepare)?;
        let Some(status) = run.status.code() else {
            self.note(DEATH, arguments, &run.to_string());
            return None;
        };
        let messages = shown(&run.stderr);
        let messages = formats::without_colour(&messages);
        if !statuses.contains(&status) || messages.contains("internal error") {
            self.note(STATUS, arguments, &format!("status {status}, not {statuses:?}: {}", tail(&messages)));
        }
        let errors = messages.lines().filter(|line| line.starts_with(ERROR)).count();
        // The verdicts of compare, fleet and --strict have their own messages.
        let wrong = match status {
            0 => errors > 0,
            3 | 5 | 6 => errors > 1,
            _ => errors != 1 || !messages.lines().last().unwrap_or("").starts_with(ERROR),
        };
        if wrong {
            self.note(MESSAGE, arguments, &format!("status {status}: {}", tail(&messages)));
        }
        if let Some(option) = self.surroundings.help.missing_option(arguments, &messages) {
            self.note(ADVICE, arguments, &format!("{option}: {}", tail(&messages)));
        }
        if let Some(what) = formats::control(&messages) {
            self.note(CONTROL, arguments, &format!("in a message: {what}"));
        }
        let written = arguments.iter().any(|word| word.starts_with("--output") || word == "-o");
        if (status == 0 && !written) || !run.stdout.is_empty() {
            let text = formats::without_colour(&run.stdout);
            // A report without a format is a page unless it is shown on a terminal.
            let page = arguments[0] == "report" && text.starts_with("<!");
            let plan = arguments.iter().any(|word| word == "--dry-run");
            let format = match format_of(arguments) {
                "text" if page => "html",
                // A plan has nothing to draw, to collect or to annotate, and is a text.
                "svg" | "prometheus" | "hwloc" | "tap" if plan => "text",
                format => format,
            };
            for finding in formats::check(format, &text, judged) {
                self.note(finding.class, arguments, &finding.seen);
            }
        }
        Some((status, run))
    }
}

/// Returns the format that a command line asks for on standard output.
pub fn format_of(arguments: &[String]) -> &str {
    let asked = arguments.iter().rev().find_map(|word| match word.as_str() {
        "--json" | "-j" => Some("json"),
        "--csv" => Some("csv"),
        word => word.strip_prefix("--format="),
    });
    asked.unwrap_or("text")
}

/// Returns words as the arguments of a command line.
pub fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_string()).collect()
}

/// Returns the last lines of a text.
pub fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(3)..].join("\n")
}

/// Returns a command line that a shell would accept.
fn typed(arguments: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,%".contains(c);
    let words = arguments.iter().map(|word| match word.chars().all(plain) && !word.is_empty() {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    });
    format!("latency-bench {}", words.collect::<Vec<_>>().join(" "))
}
