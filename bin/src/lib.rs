//! The library of latency-bench: everything from arguments to report, without the start-up code.
//!
//! Data runs one way, and each stage ends before the next one begins:
//!
//! ```text
//! arguments -> options -> machine -> plan -> measure -> conclude -> document -> format
//! ```
//!
//! - `options` is the parsed command line, and the checks of it. No system call is made.
//! - `machine` is the system's description of itself: topology, caches, clocks, limits. Plain data once detected.
//! - `plan` turns options and machine into a finite list of points with a budget. It is pure: `--dry-run` prints it.
//! - `engine` is the only code that times, and the only one that places memory. It takes points, never options. Its
//!   page describes the course of a measurement.
//! - `analysis` draws conclusions from results, as plain data: levels, ratios, verdicts. No format computes.
//! - `describe` is the vocabulary of every report and the order of its parts. An experiment describes its result once;
//!   `report` makes text, JSON, CSV, pictures, pages and metrics from that description, without any knowledge of
//!   latency.
//!
//! A file imports only from floors below its own; `tests/tests/structure.rs` enforces that:
//!
//! ```text
//! main rt lib       start-up; `run`: parse, detect, plan, measure, present, finish
//! catalogue         the tables of experiments and commands
//! commands          on saved results, nothing measured: compare, fleet, fit; and the report of all experiments
//! experiment        one file or folder each: plan, measure, present
//! engine  describe  timing and placement; the vocabulary of reports
//! plan  saved       points and budget; results read back
//! analysis          pure functions of results
//! result  machine   plain data
//! error  warning    failures, and reasons to doubt a result
//! options           the command line
//! report  sys       one file a format; the kernel, one concern a file
//! ```
//!
//! Below all of them is the package `latency-core`, which needs no system call. A new experiment is a file in `experiment`
//! and a line in [`catalogue`]; a new format is a file in [`report`] and a line in its table.

#![no_std]

#[cfg(test)]
extern crate std;

mod analysis;
#[cfg(test)]
mod calibration;
pub mod catalogue;
pub mod commands;
mod describe;
mod engine;
pub mod error;
pub mod experiment;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod golden;
mod machine;
pub mod options;
mod plan;
pub mod report;
mod result;
mod saved;
pub mod sys;
pub mod warning;

use core::fmt::Write;

use latency_core::units::NodeId;
use latency_core::words::When;

use catalogue::{DESCRIPTORS, EXPERIMENTS};
use commands::Command;
use commands::report::{self as whole_report, Plans, REPORT, Sections, Whole};
use describe::{output, point};
use engine::progress::Progress;
use engine::session::{Findings, Noted, Session};
use error::{Failure, OutputError, TimingError};
use experiment::dry_run;
use experiment::run_experiment::{self, Effort, Planned};
use machine::{Machine, detect, idle};
use options::{Descriptor, FlagId, FlagSet, Help, Options, UsageError};
use plan::duration::{self, Range};
use report::FORMATS;
use report::document::Describe;
use report::format::Purpose;
use report::terminal::Terminal;
use report::wrap::Wrap;
use sys::arguments::{Arguments, Environment};
use sys::errno::Errno;
use sys::file::{self, SystemFiles};
use sys::out::{Messages, Sink, Unfinished};
use sys::signal;
use sys::terminal::Stream;
use warning::Warnings;

/// The options of experiments that choose among CPUs. These experiments need to know which caches and cores the CPUs
/// share.
const CHOOSING_CPUS: FlagSet = FlagSet::of(&[FlagId::LoadCpus, FlagId::Pairs]);

/// Executes the command line `arguments` and returns the exit status.
pub fn run(arguments: Arguments, environment: Environment) -> i32 {
    let mut messages = Messages::on(Stream::Error);
    let parsed = options::parse(arguments, &DESCRIPTORS, &FORMATS)
        .and_then(|options| options.with_variables(&|name| environment.get(name)));
    let mut options = match parsed {
        Ok(options) => options,
        Err(error) => return fail(&mut messages, &error.into()),
    };
    let is_report = options.experiment.descriptor.name == REPORT.descriptor.name;
    if is_report {
        options.format = whole_report::format(&options, Stream::Output.is_terminal());
    }
    let result = if options.help.is_some() || options.version {
        tell(&options)
    } else if is_report && options.operands().is_empty() {
        perform_all(arguments, environment, &options, &mut messages)
    } else if let Some(command) = catalogue::command(options.experiment.index) {
        act(command, &options, environment)
    } else {
        machine(&options)
            .and_then(|machine| perform(arguments, environment, &options, machine, &mut messages))
    };
    match result {
        Ok(()) => 0,
        Err(failure) => fail(&mut messages, &failure),
    }
}

/// Returns the machine to measure, with the CPUs that measure it.
#[inline(never)] // it is called in several places
fn machine(options: &Options<'_>) -> Result<&'static Machine, Failure<'static>> {
    let node = options.cpunode.and_then(|nodes| nodes.first()).map(NodeId);
    let [machine, ..] = detect::machine(options.cpu, node)?.leak() else {
        return Err(Failure::NOTHING_TO_MEASURE);
    };
    // Experiments that choose CPUs need the sharing, and so do commands that describe the machine without a
    // measurement.
    let Descriptor { flags, operands, .. } = options.experiment.descriptor;
    if flags.intersection(CHOOSING_CPUS) != FlagSet::EMPTY
        || !options.experiment.descriptor.measures()
        || operands.most > 0
    {
        detect::sharing(machine)?;
    }
    // If other processes keep the first CPU busy, an idle one measures.
    if options.chooses_cpu() {
        idle::choose(machine, &SystemFiles, options.cpunode, &|| {
            // The wait is divided into slices, so that a signal can end it early.
            const SLICES: u64 = 8;
            for _ in (0..SLICES).take_while(|_| !signal::interrupted()) {
                sys::time::sleep_ns(idle::LOOK_NS / SLICES);
            }
        })?;
    }
    Ok(machine)
}

fn fail(messages: &mut Messages, failure: &Failure<'_>) -> i32 {
    let _ = writeln!(
        Wrap::new(messages, message_columns().unwrap_or(usize::MAX), 2, 0),
        "latency-bench: {}: {failure}",
        failure.label()
    );
    i32::from(failure.exit_code())
}

/// Returns the width of messages; `None` for a file or a pipe, where each message is one line.
fn message_columns() -> Option<usize> {
    Stream::Error.width().filter(|_| Stream::Error.is_terminal()).map(usize::from)
}

/// Opens the output for results, before anything is measured.
fn sink<'a>(options: &Options<'a>) -> Result<Sink, Failure<'a>> {
    let Some(path) = options.output else { return Ok(Sink::create(None)?) };
    let sink = Sink::create(Some(path)).map_err(|errno| match errno {
        Errno::ECANCELED => Failure::GivenUp,
        errno => OutputError::Create { path, errno }.into(),
    })?;
    if options.format.purpose == Purpose::Metrics {
        sink.let_everybody_read();
    }
    Ok(sink)
}

/// Ends the output; returns the first error of writing it.
fn finish<'a>(sink: Sink, options: &Options<'a>) -> Result<(), Failure<'a>> {
    sink.finish().map_err(|error| match (error, options.output) {
        (Unfinished::NotWritten(Errno::ECANCELED), _) => Failure::GivenUp,
        (Unfinished::NotSynced(errno), Some(path)) => OutputError::Sync { path, errno }.into(),
        (Unfinished::NotSynced(errno) | Unfinished::NotWritten(errno), path) => {
            OutputError::Write { path, errno }.into()
        }
    })
}

/// Writes the texts of `--help` and `--version`.
#[inline(never)] // offsets into a small frame are short
fn tell<'a>(options: &Options<'a>) -> Result<(), Failure<'a>> {
    let mut out = sink(options)?;
    // The sink keeps the error of a failed write, and `finish` returns it.
    let help = options.help.unwrap_or(Help::Long);
    let _ = match (options.version, options.experiment.named) {
        (true, _) => options::write_version(&mut out),
        (false, true) => {
            options::write_experiment_help(&mut out, help, options.experiment.descriptor, &FORMATS)
        }
        (false, false) => options::write_help(&mut out, help, &DESCRIPTORS, &FORMATS),
    };
    finish(out, options)
}

/// Runs a command on saved results.
#[inline(never)] // offsets into a small frame are short
fn act<'a>(command: &Command, options: &'a Options<'a>, environment: Environment) -> Result<(), Failure<'a>> {
    refuse_input_as_output(options)?;
    let terminal = screen(options, environment);
    // If signals cannot be unblocked, they stay pending.
    let _ = signal::unblock();
    let mut written = Ok(());
    let found = (command.run)(options, &mut |description| {
        // An output file is either completed or removed.
        let _ = signal::block();
        let columns = [command.columns, &[], &[]];
        written =
            sink(options).and_then(|out| save(out, options, terminal, columns, [false; 2], description));
    });
    let _ = signal::block();
    written?;
    found?.map_or(Ok(()), Err)
}

/// Refuses to overwrite an input file, even if it has another name.
fn refuse_input_as_output<'a>(options: &Options<'a>) -> Result<(), UsageError<'a>> {
    let output = options.output;
    let Some(written) = file::identity(output, Stream::Output) else { return Ok(()) };
    let read = |path: &&[u8]| file::identity(Some(*path).filter(|path| path != b"-"), Stream::Input);
    match options.operands().iter().copied().chain(options.baseline).find(|path| read(path) == Some(written))
    {
        Some(input) => Err(UsageError::OutputIsInput { output, input }),
        None => Ok(()),
    }
}

/// Returns the terminal that results are shown on.
fn screen(options: &Options<'_>, environment: Environment) -> Terminal {
    /// The width if the output is not a terminal: every terminal, mail and ticket has room for it.
    const COLUMNS: usize = 80;
    let is_terminal = options.output.is_none() && Stream::Output.is_terminal();
    let colour = match options.color {
        When::Always => true,
        When::Never => false,
        // https://no-color.org
        When::Auto => {
            is_terminal
                && environment.get(b"NO_COLOR").is_none_or(<[u8]>::is_empty)
                && environment.get(b"TERM") != Some(b"dumb")
        }
    };
    let columns = Stream::Output.width().filter(|_| is_terminal).map_or(COLUMNS, usize::from);
    Terminal { columns, unicode: shows_utf8(environment), colour, screen: is_terminal }
}

/// Returns whether the locale is one of UTF-8.
fn shows_utf8(environment: Environment) -> bool {
    let locale = [&b"LC_ALL"[..], b"LC_CTYPE", b"LANG"]
        .into_iter()
        .find_map(|name| environment.get(name).filter(|value| !value.is_empty()));
    locale.is_some_and(|locale| {
        [&b"UTF-8"[..], b"utf-8", b"UTF8", b"utf8"].into_iter().any(|word| locale.ends_with(word))
    })
}

/// The minimum expected duration that is announced, on a terminal or not, because the user has to wait.
const WORTH_SAYING_NS: f64 = 5e9;

/// Prints the expected duration of the run.
fn say_time(options: &Options<'_>, takes: Range, messages: &mut Messages) {
    if takes.1 > WORTH_SAYING_NS && options.progress != When::Never && !options.quiet {
        let _ = writeln!(messages, "{}: {takes}", options.experiment.descriptor.name);
        messages.flush();
    }
}

/// Plans, measures, reports.
#[inline(never)] // offsets into a small frame are short
fn perform<'a>(
    arguments: Arguments,
    environment: Environment,
    options: &'a Options<'a>,
    machine: &'a Machine,
    messages: &mut Messages,
) -> Result<(), Failure<'a>> {
    let Some(experiment) = EXPERIMENTS.get(options.experiment.index) else { return Ok(()) };
    let (started, begun_ns) = (sys::time::seconds_since_1970(), sys::time::monotonic_raw_ns());
    let out = sink(options)?;
    let mut progress = Progress::new(options.progress);
    let mut warnings = Warnings::new();
    detect::warn(machine, &mut warnings);
    let mut noted = Noted::new();
    let mut session =
        Session { machine, warnings: &mut warnings, progress: &mut progress, noted: &mut noted };
    let planned = run_experiment::planned(options, machine, experiment)?;
    let Planned { points, budget, .. } = &planned;
    let look = plan::looked_at(options, points).map_or(Range::ZERO, |_| duration::LOOK);
    let takes = duration::estimate(machine, points, budget).or_waits(options.until_ns()) + look;
    if options.dry_run {
        let name = experiment.descriptor.name;
        let columns = output::columns(options, [point::COLUMNS, &[]]);
        let terminal = screen(options, environment);
        return save(out, options, terminal, columns, [false; 2], &mut |document| {
            dry_run::present(document, name, points, budget, takes);
        });
    }
    say_time(options, takes, messages);
    // Slow checks are left out if their findings would not be shown.
    let checked = options.strict || !(options.quiet && options.format.purpose == Purpose::Terminal);
    let effort = Effort { limit_ns: f64::INFINITY, checked, begun_ns: begun_ns as f64 };
    let ran = run_experiment::run_experiment(options, &mut session, experiment, planned, effort);
    progress.clear();
    let ran = ran?;
    let (done, findings) = (ran.done(), &ran.findings);
    let seconds = sys::time::monotonic_raw_ns().saturating_sub(begun_ns) as f64 / 1e9;
    let terminal = screen(options, environment);
    let report = ran.report(options, arguments, &warnings, terminal, (started, seconds));
    let nothing = done == 0 && findings.interrupted;
    let failed = failed(findings, done);
    let columns = output::columns(options, experiment.columns);
    let written = save(out, options, terminal, columns, [failed.is_some(), nothing], &mut |document| {
        describe::report(document, &report, experiment.present);
    });
    // Errors of messages are dropped, because there is no other output to report them to.
    let _ = warnings.write(messages, options.verbose, message_columns(), terminal.unicode);
    written?;
    match (failed, warnings.untrusted()) {
        (Some(failure), _) => Err(failure),
        (None, Some((code, count))) if options.strict => Err(TimingError::NotTrusted { code, count }.into()),
        _ => Ok(()),
    }
}

/// Measures and reports everything.
#[inline(never)] // offsets into a small frame are short
fn perform_all(
    arguments: Arguments,
    environment: Environment,
    options: &Options<'static>,
    messages: &mut Messages,
) -> Result<(), Failure<'static>> {
    let now = || (sys::time::seconds_since_1970(), sys::time::monotonic_raw_ns());
    let (started, begun_ns) = now();
    let machine = machine(options)?;
    let out = sink(options)?;
    let plans = Plans::make(options, machine)?;
    if options.dry_run {
        let columns = output::columns(options, [point::COLUMNS, &[]]);
        let terminal = screen(options, environment);
        return save(out, options, terminal, columns, [false; 2], &mut |document| plans.present(document));
    }
    say_time(options, plans.takes, messages);
    let sections = Sections::run(options, machine, &mut Progress::new(options.progress), &now)?;
    let terminal = screen(options, environment);
    let whole = Whole {
        options,
        machine,
        came: &|index| sections.came(index, terminal),
        arguments,
        partial: sections.interrupted,
        started,
        seconds: now().1.saturating_sub(begun_ns) as f64 / 1e9,
    };
    let columns = [REPORT.columns, &[], &[]];
    let nothing = sections.interrupted && sections.is_empty();
    let failed = sections.verdict(false).is_err();
    save(out, options, terminal, columns, [failed, nothing], &mut |document| {
        whole_report::present(document, &whole);
    })?;
    sections.verdict(options.strict)
}

/// Writes the result of a run. `failed` is true if the run has failed, and `nothing` if the result is empty.
///
/// An existing file is not replaced by an empty result, which is [`Failure::Interrupted`]. In a format that monitoring
/// collects, it is not replaced by the result of a failed run either.
#[inline(never)] // it is called in several places
fn save<'a>(
    mut out: Sink,
    options: &Options<'a>,
    terminal: Terminal,
    columns: output::Columns,
    [failed, nothing]: [bool; 2],
    description: Describe<'_>,
) -> Result<(), Failure<'a>> {
    match options.output {
        Some(_) if nothing => return Err(Failure::Interrupted),
        Some(_) if failed && options.format.purpose == Purpose::Metrics => return Ok(()),
        _ => {}
    }
    // The sink keeps the error of a failed write, and `finish` returns it.
    let _ = output::write(&mut out, options, terminal, columns, description);
    finish(out, options)
}

/// Returns the reason why a run is incomplete, if it is.
fn failed<'a>(findings: &Findings<'a>, done: usize) -> Option<Failure<'a>> {
    if findings.interrupted {
        return Some(Failure::Partial);
    }
    let mut exclusions = findings.outcomes.iter().filter_map(|outcome| outcome.result.as_ref().err());
    match exclusions.find(|exclusion| exclusion.is_fatal() || done == 0) {
        Some(result::Exclusion::Placement(error)) => Some((*error).into()),
        _ => None,
    }
}
