//! Runs the executable, and keeps its exit status and output.
//!
//! It depends on processes and streams, but not on the structure of a result.

use crate::program::binary;
use crate::spread::Place;
use crate::terminal::shown;
use serde_json::Value;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The beginning of an error on standard error.
pub const ERROR: &str = "latency-bench: ERROR: ";
/// The beginning of a warning.
pub const WARNING: &str = "latency-bench: warning: ";
/// The beginning of a note, which is a warning that does not lower the trust.
pub const NOTE: &str = "latency-bench: note: ";

/// Returns a command for the executable with `arguments`, no input, and both outputs captured.
pub fn command<S: AsRef<OsStr>>(arguments: &[S]) -> Command {
    let mut command = Command::new(binary());
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the executable with `arguments` to its end.
///
/// # Panics
///
/// The same as for [`finish`].
pub fn run<S: AsRef<OsStr>>(arguments: &[S]) -> Run {
    finish(&mut command(arguments))
}

/// Words of commands that must not be pinned to one CPU: experiments that use several CPUs or report them,
/// and the option that chooses the CPU.
const OF_SEVERAL_CPUS: [&str; 7] = ["loaded", "bandwidth", "cores", "report", "system", "--cpu", "-C"];

/// Runs `command` to its end. A command that uses only one CPU is pinned to one that the fewest others use.
///
/// # Panics
///
/// If it cannot be started.
pub fn finish(command: &mut Command) -> Run {
    let is_ours = Path::new(command.get_program()).file_name() == binary().file_name();
    let said = |word: &OsStr| {
        let word = word.to_string_lossy();
        word.split('=').next().is_some_and(|name| OF_SEVERAL_CPUS.contains(&name))
    };
    let has_several = command.get_args().any(said);
    let place = (is_ours && !has_several).then(Place::take).flatten();
    let output = match &place {
        Some(place) => place.output(command),
        None => command.output(),
    };
    let output = output.unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    Run::new(&format!("{command:?}"), output)
}

/// Waits for a process that was started with [`command`] for at most `limit`.
///
/// # Panics
///
/// If it has not ended by then; it is killed.
pub fn finish_within(child: Child, limit: Duration) -> Run {
    try_finish_within(child, "a process", limit).unwrap_or_else(|reason| panic!("{reason}"))
}

/// Waits for a process for at most `limit`, and reads its output meanwhile.
///
/// # Errors
///
/// If it has not ended by then, a sentence with its output so far; it is killed.
///
/// # Panics
///
/// If its outputs cannot be read.
pub fn try_finish_within(mut child: Child, what: &str, limit: Duration) -> Result<Run, String> {
    let stdout = child.stdout.take().map(gathered);
    let stderr = child.stderr.take().map(gathered);
    let begin = Instant::now();
    let mut in_time = true;
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if begin.elapsed() > limit {
            in_time = false;
            // This fails only if the process has already ended.
            let _ = child.kill();
            break child.wait().expect("a child");
        }
        thread::sleep(Duration::from_millis(2));
    };
    let read = |stream: Option<JoinHandle<Vec<u8>>>| {
        stream.map(|thread| thread.join().expect("a readable stream")).unwrap_or_default()
    };
    let run = Run::new(what, Output { status, stdout: read(stdout), stderr: read(stderr) });
    in_time.then(|| run.clone()).ok_or_else(|| format!("still running after {limit:?}: {run}"))
}

/// Reads a stream to its end in a separate thread.
fn gathered(mut stream: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut all = Vec::new();
        stream.read_to_end(&mut all).expect("a readable stream");
        all
    })
}

/// Reads `stream` until `words` have come, and returns the text so far.
///
/// # Panics
///
/// If the stream ends before that.
pub fn read_until(stream: &mut impl Read, words: &str) -> String {
    let mut read = Vec::new();
    let mut part = [0; 256];
    while !read.windows(words.len()).any(|window| window == words.as_bytes()) {
        let count = stream.read(&mut part).expect("a readable stream");
        assert!(count > 0, "no {words:?} in {:?}", String::from_utf8_lossy(&read));
        read.extend_from_slice(&part[..count]);
    }
    String::from_utf8_lossy(&read).into_owned()
}

/// A process that has ended, with its output.
#[derive(Clone, Debug)]
pub struct Run {
    /// The command, for messages.
    pub what: String,
    /// Exit status.
    pub status: ExitStatus,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Run {
    fn new(what: &str, output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Run {
            what: what.into(),
            status: output.status,
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// Asserts the exit status.
    ///
    /// # Panics
    ///
    /// If the status differs, with all output.
    pub fn expect_status(&self, status: i32) -> &Self {
        assert!(self.status.code() == Some(status), "expected exit status {status}: {self}");
        self
    }

    /// Asserts that standard error has exactly one error, in the last line, and that it contains
    /// `words`.
    ///
    /// # Panics
    ///
    /// If it does not, with all output.
    pub fn expect_error(&self, words: &str) -> &Self {
        let messages = shown(&self.stderr);
        let errors = messages.lines().filter(|line| line.starts_with(ERROR)).count();
        let last = messages.lines().last().unwrap_or("");
        let said = errors == 1 && last.starts_with(ERROR) && last.contains(words);
        assert!(said, "expected one error with {words:?}: {self}");
        self
    }

    /// Returns the JSON document on standard output of a run that ended with `status`.
    ///
    /// # Panics
    ///
    /// If the status differs or the output does not parse, with all output.
    pub fn expect_json(&self, status: i32) -> Value {
        self.expect_status(status);
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self}"))
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Run { what, status, stdout, stderr } = self;
        write!(out, "{what} ended with {status}")?;
        if let Some(signal) = status.signal() {
            write!(out, " (signal {signal})")?;
        }
        write!(
            out,
            "\n---- standard output ----\n{stdout}\n---- standard error ----\n{stderr}\n---- end ----"
        )
    }
}
