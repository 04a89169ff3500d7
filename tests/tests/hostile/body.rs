//! Runs the tool in a hostile place, and checks the rules for all places: a documented exit status, no death
//! by a signal, no hang; one error, or a valid result in which every value has a proof or is marked as
//! unproven.

use latency_tests::confine::allowed_cpus;
use latency_tests::document::{at, points, text, warnings};
use latency_tests::run::{self, ERROR, Run, try_finish_within};
use latency_tests::schema::{of_results, violations};
use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::Duration;

/// If this variable is `all`, every combination is tried, otherwise only a part.
pub const VARIABLE: &str = "HOSTILE";

/// Time limit of a process: a hundred times as long as any of these runs on a busy host.
const PATIENCE: Duration = Duration::from_secs(120);

/// All documented exit statuses of the tool.
const DOCUMENTED: [i32; 8] = [0, 1, 2, 3, 4, 5, 6, 130];

/// The shortest options of an experiment: some 30 ms of a CPU.
const SHORT: [&str; 5] = ["--json", "--trials=1", "--iters=200", "--warmup-iters=100", "--time-limit=0.02"];

/// Spans of addresses of some pages. Those of the default size need half a second of a CPU.
pub const SHORT_SPANS: &str = "--max-size=1M";

/// Experiments, each with its smallest working sets.
pub const EXPERIMENTS: [&[&str]; 9] = [
    &["matrix", "--size=16K"],
    &["curve", "--min-size=8K", "--max-size=16K"],
    &["order", "--size=16K"],
    &["variants", "--size=16K"],
    &["pages", "--size=16K", SHORT_SPANS],
    &["residency", "--size=1M"],
    &["parallel", "--size=16K"],
    &["window", "--size=16K"],
    &["distribution", "--size=16K"],
];

const SAVED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/saved/curve.csv");

const FLEET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/saved/fleet-memory.jsonl");

/// Commands that measure nothing.
pub const COMMANDS: [&[&str]; 5] = [
    &["system", "--json"],
    &["fit", SAVED, "--json"],
    &["compare", "--json", SAVED, "--", SAVED],
    &["fleet", FLEET, "--threshold=90", "--json"],
    &["report", SAVED, "--json"],
];

/// Experiments with several threads, as short as possible.
const THREADED: [&[&str]; 3] = [
    &["bandwidth", "--size=16K", "--json", "--budget=5", "--time-limit=0.02"],
    &["cores", "--lines=1", "--json", "--budget=5", "--time-limit=0.02"],
    &[
        "loaded",
        "--size=16K",
        "--json",
        "--traffic=read",
        "--rates=0.1,max",
        "--budget=5",
        "--time-limit=0.02",
    ],
];

/// The experiments that need a second CPU.
pub const OF_TWO_CPUS: [&str; 2] = ["cores", "loaded"];

/// Returns every experiment as a whole command line; those that need a second CPU only if there is one.
pub fn experiments() -> Vec<Vec<&'static str>> {
    let short = EXPERIMENTS.iter().map(|experiment| [experiment, &SHORT[..]].concat());
    let mut all: Vec<Vec<&str>> = short.chain(THREADED.map(<[_]>::to_vec)).collect();
    all.retain(|task| !OF_TWO_CPUS.contains(&task[0]) || allowed_cpus().len() > 1);
    all
}

/// Returns all experiments and commands as whole command lines.
pub fn tasks() -> Vec<Vec<&'static str>> {
    experiments().into_iter().chain(COMMANDS.map(<[_]>::to_vec)).collect()
}

/// A report, which runs all experiments of [`tasks`]. It needs its whole budget, unless there are no threads.
pub const REPORT: [&str; 4] = ["report", "--size=16K", "--json", "--budget=10"];

/// The same on one CPU, where half of the time is enough for each of its experiments.
const REPORT_ON_ONE_CPU: [&str; 4] = ["report", "--size=16K", "--json", "--budget=5"];

/// Returns every experiment of [`experiments`], and a report on this one CPU.
pub fn everything_on(cpu: usize) -> Vec<(Vec<&'static str>, Option<usize>)> {
    let alone = experiments().into_iter().map(|task| (task, None));
    alone.chain([(REPORT_ON_ONE_CPU.to_vec(), Some(cpu))]).collect()
}

/// Returns the first experiment, with more arguments.
pub fn smallest<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [EXPERIMENTS[0], &SHORT, more].concat()
}

/// Returns true if every combination is to be tried.
pub fn all() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| value == "all")
}

/// Runs the tool with `arguments` in the environment that `confine` prepares, and checks its output.
///
/// # Errors
///
/// The violated rule, with the whole output.
pub fn held(arguments: &[&str], confine: impl FnOnce(&mut Command)) -> Result<Run, String> {
    let mut command = run::command(arguments);
    confine(&mut command);
    let found = end(&mut command)?;
    let result = arguments.contains(&"--json").then_some(&found.stdout[..]);
    judge(&found, result)?;
    Ok(found)
}

/// Runs a command to its end.
///
/// # Errors
///
/// If it did not start or end.
pub fn end(command: &mut Command) -> Result<Run, String> {
    let what = format!("{command:?}");
    let child = command.spawn().map_err(|error| format!("{what} does not start: {error}"))?;
    try_finish_within(child, &what, PATIENCE)
}

/// Checks a run, and its document, if it has to have one.
///
/// # Errors
///
/// The same as for [`held`].
pub fn judge(found: &Run, document: Option<&str>) -> Result<(), String> {
    let status = status(found)?;
    let errors = found.stderr.lines().filter(|line| line.starts_with(ERROR)).count();
    // A comparison without a verdict is a result, and no error.
    if errors != usize::from(!matches!(status, 0 | 6))
        || (errors == 1 && !last_line(found).starts_with(ERROR))
    {
        return Err(format!("{errors} errors: {found}"));
    }
    match document {
        None | Some("") if status != 0 => Ok(()),
        None => Ok(()),
        // A run whose memory moved has its other points.
        Some(_) if matches!(status, 1 | 2) && !found.stderr.contains("during the run") => {
            Err(format!("a document beside an error: {found}"))
        }
        Some(text) => judge_document(text, status).map_err(|reason| format!("{reason}: {found}")),
    }
}

fn last_line(found: &Run) -> &str {
    found.stderr.lines().last().unwrap_or("")
}

/// Returns the exit status, if it is documented and the tool found no defect in itself.
///
/// # Errors
///
/// The same as for [`held`].
pub fn status(found: &Run) -> Result<i32, String> {
    match found.status.code() {
        Some(code) if DOCUMENTED.contains(&code) && !found.stderr.contains("internal error") => Ok(code),
        Some(_) => Err(format!("an undocumented end: {found}")),
        None => Err(format!("death by signal {:?}: {found}", found.status.signal())),
    }
}

/// Checks that a document is valid, is partial only after an interruption, and claims no proof that it does
/// not show.
pub fn judge_document(text: &str, status: i32) -> Result<(), String> {
    let document = serde_json::from_str(text).map_err(|error| format!("no JSON: {error}"))?;
    let found = violations(of_results(), &document);
    if !found.is_empty() {
        return Err(format!("the schema does not allow {}", found.join("; ")));
    }
    let partial = document.get("partial").and_then(Value::as_bool);
    if partial.is_some_and(|partial| partial != (status == 130)) {
        return Err(format!("exit status {status} and partial: {partial:?}"));
    }
    for section in document["sections"].as_array().into_iter().flatten() {
        judge_points(section)?;
    }
    judge_points(&document)
}

fn judge_points(document: &Value) -> Result<(), String> {
    points(document).iter().try_for_each(|point| judge_point(point, document))
}

fn judge_point(point: &Value, document: &Value) -> Result<(), String> {
    let Some(placement) = point.get("placement").filter(|placement| !placement.is_null()) else {
        return Ok(());
    };
    let measured = point.get("ns").and_then(Value::as_f64);
    let shown = |moment: &str| text(at(placement, moment), "/source") != "none";
    let proven = shown("/before") && shown("/after");
    let verified = at(point, "/verified") == true;
    if measured.is_some_and(|ns| ns <= 0.0 || !ns.is_finite()) || verified && !proven {
        return Err(format!("a value without proof: {point:#}"));
    }
    match verified || warnings(document).contains(&"placement-unverified") {
        true => Ok(()),
        false => Err(format!("not proven, and not said: {point:#}")),
    }
}
