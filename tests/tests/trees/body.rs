//! One body for all trees: runs the executable in one, and checks the rules for every place.

use super::tree::Tree;
use latency_tests::confine::{Confine, is_root};
use latency_tests::directory::Directory;
use latency_tests::document::{array, at};
use latency_tests::run::{ERROR, Run};
use latency_tests::schema::{of_results, violations};
use latency_tests::skip::skip;
use latency_tests::usage;
use serde_json::Value;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// Exit statuses of a run: a result, or nothing to measure. A file of the system never makes the arguments wrong.
const STATUSES: [i32; 2] = [0, 2];
/// Time after which a run of some 30 ms hangs.
const PATIENCE: Duration = Duration::from_secs(120);
/// CPU time after which a run makes no progress: hundreds of times that of a chase, and four times that of
/// generators, which keep two CPUs busy for a second and, on a busy host, repeat interrupted windows.
const MOST_CPU: Duration = Duration::from_secs(12);
/// Maximum memory that a run may map: the kernel refuses more, and the run ends with status 2.
const MOST_MEMORY: u64 = 128 << 20;

/// A matrix of a working set that is in a cache, if the tree reports caches.
pub const MATRIX: &[&str] = &["--json", "--size=64K", "--iters=500", "--trials=2"];
/// The plan of the default curve.
pub const PLAN: &[&str] = &["curve", "--dry-run", "--json"];
/// The system as text, for people.
pub const WORDS: &[&str] = &["system", "--verbose"];
/// The system as JSON.
pub const SYSTEM: &[&str] = &["system", "--json"];

/// Makes a place for trees, with the executable; `None` if this process is not root.
pub fn place(test: &str) -> Option<Directory> {
    if !is_root() {
        skip(test, "only root may change its root directory");
        return None;
    }
    Some(Directory::new(&test.replace("::", "-")))
}

/// A tree on disk, with the executable in it; it is deleted on drop.
pub struct Root(PathBuf);

impl Root {
    /// Writes a tree below `place`.
    pub fn new(place: &Directory, tree: &Tree) -> Root {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let path = place.path().join(format!("tree-{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
        let made = fs::create_dir(&path)
            .and_then(|()| tree.write(&path))
            .and_then(|()| fs::hard_link(place.path().join("latency-bench"), path.join("latency-bench")));
        made.unwrap_or_else(|error| panic!("cannot write {}: {error}\n{tree:?}", path.display()));
        Root(path)
    }

    /// Returns a command that runs the executable with this root.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.command_within(arguments, MOST_MEMORY)
    }

    /// The same, with a limit on the bytes that it may map.
    pub fn command_within(&self, arguments: &[&str], most: u64) -> Command {
        let mut command = Command::new("/latency-bench");
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.rooted(&self.0).limited(libc::RLIMIT_AS as i32, most);
        command
    }

    /// Returns the text of a file that the executable wrote; empty if there is none.
    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap_or_default()
    }

    /// Runs the executable with this root, and checks the common rules.
    pub fn run(&self, arguments: &[&str]) -> Result<Run, String> {
        checked(&mut self.command(arguments))
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        // Left-overs in /tmp cost only space.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs `command` to its end and checks the common rules: a documented status, no signal, an error that is
/// one message, a valid result, and neither much time nor much memory.
pub fn checked(command: &mut Command) -> Result<Run, String> {
    let (run, cpu) = finished(command)?;
    let wrong = |why: &str| Err(format!("{why}: {run}"));
    let Some(status) = run.status.code() else { return wrong("it died") };
    if !STATUSES.contains(&status) {
        return wrong("neither a result nor an error of placement");
    }
    if cpu > MOST_CPU {
        return wrong(&format!("{cpu:?} of a CPU"));
    }
    let errors = run.stderr.lines().filter(|line| line.starts_with(ERROR)).count();
    if errors != usize::from(status != 0) || run.stderr.contains("panicked") {
        return wrong("not one message for an error");
    }
    let control = |text: &str| text.chars().any(|character| character.is_control() && character != '\n');
    if control(&run.stdout) || control(&run.stderr) {
        return wrong("control characters");
    }
    if status != 0 && run.stdout.is_empty() || !run.what.contains("--json") {
        return Ok(run);
    }
    let Ok(document) = serde_json::from_str::<Value>(&run.stdout) else { return wrong("no JSON") };
    let found = violations(of_results(), &document);
    if !found.is_empty() {
        return wrong(&found.join("\n"));
    }
    if document.get("node_pairs").is_some() {
        let proven = |pair: &Value| match at(pair, "/verified") {
            Value::Bool(true) => true,
            _ => document.to_string().contains("placement-unverified"),
        };
        if !array(&document, "/rows").iter().filter(|pair| pair["ns"].is_number()).all(proven) {
            return wrong("a value without proof, and nothing said");
        }
    }
    Ok(run)
}

/// Runs `command` to its end, and returns its output and its CPU time.
fn finished(command: &mut Command) -> Result<(Run, Duration), String> {
    let what = format!("{command:?}");
    let mut child = command.spawn().map_err(|error| format!("cannot start {what}: {error}"))?;
    let streams = [
        child.stdout.take().map(|stream| thread::spawn(move || all_of(stream))),
        child.stderr.take().map(|stream| thread::spawn(move || all_of(stream))),
    ];
    let begin = Instant::now();
    let mut hangs = false;
    let (status, cpu) = loop {
        match usage::ended(&child) {
            Ok(None) => {}
            Ok(Some(end)) => break end,
            Err(error) => return Err(format!("cannot wait for {what}: {error}")),
        }
        if begin.elapsed() > PATIENCE && !hangs {
            hangs = true;
            // It has not been waited for, so it still exists.
            let _ = child.kill();
        }
        thread::sleep(Duration::from_millis(2));
    };
    let [stdout, stderr] = streams.map(|stream| stream.and_then(|stream| stream.join().ok()));
    let run = Run { what, status, stdout: stdout.unwrap_or_default(), stderr: stderr.unwrap_or_default() };
    if hangs {
        return Err(format!("it hangs: {run}"));
    }
    Ok((run, cpu))
}

fn all_of(mut stream: impl Read) -> String {
    let mut bytes = Vec::new();
    // The text before a read error is still worth showing.
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
