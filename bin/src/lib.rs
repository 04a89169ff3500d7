//! The library of latency-bench: everything from arguments to report, without the start-up code.
//!
//! Data runs one way, and each stage ends before the next one begins:
//!
//! ```text
//! arguments -> options -> machine -> plan -> measure -> conclude -> shown -> format
//! ```
//!
//! - `options` is the parsed command line, and the checks of it. No system call is made.
//! - `plan` turns options and [`latency_engine::machine`] into a finite list of points with a budget. It is pure: `--dry-run`
//!   prints it.
//! - [`latency_engine`] is the only code that times, and the only one that places memory. It takes points, never options. Its
//!   page describes the course of a measurement.
//! - `analysis` draws conclusions from results, as plain data: levels, ratios, verdicts. No format computes.
//! - `describe` is the vocabulary of every report and the order of its parts. An experiment presents its result once, as
//!   [`latency_report::Shown`]; from that, `latency-report` makes text, JSON, CSV, pictures, pages and metrics, without any
//!   knowledge of latency.
//!
//! A file imports only from floors below its own; `tests/tests/structure.rs` enforces that:
//!
//! ```text
//! main rt lib       start-up; `run`: parse, detect, plan, measure, present, finish
//! catalogue         the tables of experiments and commands
//! commands          on saved results, nothing measured: compare, fleet, fit; and the report of all experiments
//! experiment        one file or folder each: plan, measure, present
//! describe          the vocabulary of reports
//! plan  saved       points and budget; results read back
//! analysis          pure functions of results
//! record            measured points as cells by the table of columns
//! error             failures, with the exit code of each
//! options           the command line
//! ```
//!
//! Below all of them are four packages, and cargo keeps them apart: `latency-engine` measures, `latency-report` has one file
//! a format, `latency-sys` makes all calls to the kernel, one concern a file, and `latency-core` needs no system call.
//!
//! The heap ([`latency_sys::heap`]) is for documents and reports: it is sealed while an experiment measures, and folders
//! whose code runs then do not name it.
//!
//! `tests` is built only for tests: those of the whole program, and what tests of several folders share.
//!
//! A new experiment is a file in `experiment` and a line in [`catalogue`]; a new format is a file of `latency-report` and a
//! line in its table.

#![no_std]
#![forbid(unsafe_code)]

#[macro_use]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod analysis;
pub mod catalogue;
mod commands;
mod describe;
pub mod error;
mod experiment;
pub mod options;
mod outputs;
mod plan;
mod record;
mod saved;
#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt::Write;

use latency_core::words::When;
use latency_core::{CpuSet, NodeId, Text, ToReal};
use latency_report::{FORMATS, Purpose, Shown, Wrap};
use latency_sys::arguments::{Arguments, Environment};
use latency_sys::out::Messages;
use latency_sys::terminal::Stream;
use latency_sys::{SystemFiles, signal, time};

use catalogue::{DESCRIPTORS, EXPERIMENTS};
use commands::Command;
use commands::expect::{self, EXPECT, needed};
use commands::report::{self as whole_report, Plans, REPORT, Sections, Whole};
use describe::{CommandRun, output};
use error::{Failure, Unreliable};
use experiment::dry_run;
use experiment::run_experiment::{self, Effort, ExperimentRun};
use latency_engine::machine::{Machine, detect, idle};
use latency_engine::progress::Progress;
use latency_engine::session::Findings;
use latency_engine::warning::Warnings;
use options::{Descriptor, FlagId, FlagSet, Help, Options, Output, UsageError};
use outputs::Outputs;
use plan::Plan;
use plan::duration::{self, Range};

/// The options of experiments that choose among CPUs. These experiments need to know which caches and cores the CPUs
/// share.
const CHOOSING_CPUS: FlagSet = FlagSet::of(&[FlagId::LoadCpus, FlagId::Pairs, FlagId::View]);

/// Executes the command line `arguments` and returns the exit status.
pub fn run(arguments: Arguments, environment: Environment) -> i32 {
    let mut messages = Messages::on(Stream::Error);
    let parsed = options::parse(arguments, &DESCRIPTORS, &FORMATS)
        .and_then(|options| options.with_variables(&|name| environment.get(name)));
    let mut options = match parsed {
        Ok(options) => options,
        Err(error) => return fail(&mut messages, &error.into(), FlagSet::ALL),
    };
    if options.probe && options.help.is_none() && !options.version {
        return fail(&mut messages, &UsageError::ProbeAlone.into(), FlagSet::ALL);
    }
    let is = |command: &Command| options.experiment.descriptor.name == command.descriptor.name;
    let (is_report, expects) = (is(&REPORT), is(&EXPECT));
    if is_report {
        options.prefer_page(Stream::Output.is_device());
    }
    options.answer_on(Stream::Output.is_terminal());
    let result = {
        let mut outputs = Outputs::of(&options, environment);
        if options.help.is_some() || options.version {
            tell(&mut outputs)
        } else if is_report && options.operands().is_empty() {
            perform_all(arguments, &mut outputs, &mut messages)
        } else if expects && options.operands().is_empty() {
            perform_expect(arguments, &mut outputs, &mut messages)
        } else if let Some(command) = catalogue::command(options.experiment.index) {
            act(command, arguments, &mut outputs)
        } else {
            // A time limit counts from here: on a busy machine, the choice of a CPU is a part of it.
            let begun = now();
            machine(&options)
                .and_then(|machine| perform(arguments, &mut outputs, machine, begun, &mut messages))
        }
    };
    match result {
        Ok(()) => 0,
        Err(failure) => {
            let flags = options.experiment.descriptor.flags;
            fail(&mut messages, &failure, flags.union(FlagSet::ALWAYS))
        }
    }
}

/// Returns the machine to measure, with the CPUs that measure it.
fn machine(options: &Options) -> Result<&'static Machine, Failure> {
    let node = options.cpunode.and_then(|nodes| nodes.first()).map(NodeId);
    let named: CpuSet = options.cpu.iter().map(|cpu| cpu.0).collect();
    let lists = [options.cpus, options.load_cpus].into_iter().flatten().filter(|cpus| !cpus.is_all());
    let named = lists.fold(named, |all, cpus| all.union(&cpus));
    let [machine, ..] = detect::machine(options.cpu, node, &named)?.leak() else {
        return Err(Failure::NOTHING_TO_MEASURE);
    };
    if options.anonymous {
        machine.make_anonymous();
    }
    // Experiments that choose CPUs need the sharing, and so do commands that describe the machine without a
    // measurement.
    let Descriptor { flags, operands, .. } = options.experiment.descriptor;
    if flags.intersection(CHOOSING_CPUS) != FlagSet::EMPTY
        || !options.experiment.descriptor.measures()
        || operands.most > 0
    {
        detect::sharing(machine, &SystemFiles)?;
    }
    // If other processes keep the first CPU busy, an idle one measures.
    if options.chooses_cpu() {
        idle::choose(machine, &SystemFiles, options.cpunode, &|| {
            // The wait is divided into slices, so that a signal can end it early.
            const SLICES: u64 = 8;
            for _ in (0..SLICES).take_while(|_| !signal::interrupted()) {
                time::sleep_ns(idle::LOOK_NS / SLICES);
            }
        })?;
    }
    Ok(machine)
}

/// Writes the message of a failure of a command with these options, and returns the exit status.
fn fail(messages: &mut Messages, failure: &Failure, accepted: FlagSet) -> i32 {
    let text = Text::<8192>::of(format_args!("{failure}"));
    // A message that does not fit, because of long paths, is shown as it is.
    let is_whole = text.as_str().len() < 8192 - 4;
    let _ = writeln!(
        Wrap::new(messages, message_columns().unwrap_or(usize::MAX), 2, 0),
        "latency-bench: {}: {}",
        failure.label(),
        core::fmt::from_fn(|out| match is_whole {
            true => write!(out, "{}", error::suited_advice(text.as_str(), accepted)),
            false => write!(out, "{failure}"),
        })
    );
    if let (Failure::Usage(error), Some(_)) = (failure, message_columns()) {
        let _ = options::write_concerned(messages, error, &FORMATS);
    }
    i32::from(failure.exit_code())
}

/// Returns the width of messages; `None` for a file or a pipe, where each message is one line.
fn message_columns() -> Option<usize> {
    Stream::Error.width().filter(|_| Stream::Error.is_terminal()).map(usize::from)
}

/// Writes the texts of `--help` and `--version`.
fn tell(outputs: &mut Outputs<'_>) -> Result<(), Failure> {
    outputs.open()?;
    let options = outputs.options;
    let help = options.help.unwrap_or(Help::Long);
    outputs.each(&mut |out, _| {
        // The sink keeps the error of a failed write, and `finish` returns it.
        let _ = match (options.version, options.experiment.named) {
            (true, _) => options::write_version(out),
            (false, true) => {
                options::write_experiment_help(out, help, options.experiment.descriptor, &FORMATS)
            }
            (false, false) => options::write_help(out, help, &DESCRIPTORS, &FORMATS),
        };
        true
    })
}

/// Runs a command on saved results.
fn act(command: &Command, arguments: Arguments, outputs: &mut Outputs<'_>) -> Result<(), Failure> {
    let options = outputs.options;
    outputs.refuse_inputs()?;
    // If signals cannot be unblocked, they stay pending.
    let _ = signal::unblock();
    let begun = now();
    let found = command.perform(options, &|| command_run(options, arguments, begun));
    // An output file is either completed or removed.
    let _ = signal::block();
    let (shown, failure) = found?;
    outputs.open()?;
    outputs.save(catalogue::columns(&shown), [false; 2], &shown)?;
    failure.map_or(Ok(()), Err)
}

/// Returns the seconds since 1970, and the nanoseconds of a monotonic clock.
fn now() -> (u64, u64) {
    (time::seconds_since_1970(), time::monotonic_raw_ns())
}

/// Returns the seconds since a time of the monotonic clock.
fn seconds_since(begun_ns: u64) -> f64 {
    now().1.saturating_sub(begun_ns).real() / 1e9
}

/// Returns the run of a command, or of a plan, that began at a time and ends now.
fn command_run(
    options: &Options,
    arguments: Arguments,
    (started, begun_ns): (u64, u64),
) -> CommandRun<'static> {
    let seconds = seconds_since(begun_ns);
    let name = options.experiment.descriptor.name;
    CommandRun { name, arguments, is_anonymous: options.anonymous, started, seconds }
}

/// The minimum expected duration that is announced, on a terminal or not, because the user has to wait.
const WORTH_SAYING_NS: f64 = 5e9;

/// Prints the expected duration of the run.
fn say_time(options: &Options, takes: Range, messages: &mut Messages) {
    if takes.1 > WORTH_SAYING_NS && options.progress != When::Never && !options.quiet {
        let _ = writeln!(messages, "{}: {takes}", options.experiment.descriptor.name);
        messages.flush();
    }
}

/// Plans, measures, reports.
fn perform(
    arguments: Arguments,
    outputs: &mut Outputs<'_>,
    machine: &'static Machine,
    begun: (u64, u64),
    messages: &mut Messages,
) -> Result<(), Failure> {
    let options = outputs.options;
    let Some(experiment) = EXPERIMENTS.get(options.experiment.index) else { return Ok(()) };
    outputs.open()?;
    let planned = run_experiment::planned(options, machine, experiment)?;
    if options.dry_run {
        let Plan { points, budget, .. } = &planned;
        let takes = duration::expected(options, machine, points, budget);
        let run = command_run(options, arguments, begun);
        let shown = Shown::of(|document| dry_run::present(document, &run, points, budget, takes));
        return outputs.save(output::COLUMNS, [false; 2], &shown);
    }
    let mut warnings = Warnings::empty();
    let (ran, shown) = measured(options, arguments, machine, planned, begun, &mut warnings, messages)?;
    let (done, findings) = (ran.done(), &ran.findings);
    let nothing = done == 0 && findings.interrupted;
    let failed = failed(findings, done);
    // A run without any value has an error in place of a result.
    let written = match failed.is_some() && done == 0 && !findings.interrupted {
        true => Ok(()),
        false => outputs.save(output::COLUMNS, [failed.is_some(), nothing], &shown),
    };
    // Errors of messages are dropped, because there is no other output to report them to.
    let _ = warnings.write(messages, options.verbose, message_columns(), outputs.shows_utf8());
    written?;
    match (failed, warnings.untrusted()) {
        (Some(failure), _) => Err(failure),
        (None, Some((code, count))) if options.strict => Err(Unreliable::NotTrusted { code, count }.into()),
        _ => Ok(()),
    }
}

/// Measures the points of a plan, and presents the result.
fn measured(
    options: &Options,
    arguments: Arguments,
    machine: &'static Machine,
    planned: Plan,
    (started, begun_ns): (u64, u64),
    warnings: &mut Warnings,
    messages: &mut Messages,
) -> Result<(ExperimentRun, Shown), Failure> {
    let Some(experiment) = EXPERIMENTS.get(options.experiment.index) else {
        return Err(Failure::NOTHING_TO_MEASURE);
    };
    let mut progress = Progress::new(options.progress);
    detect::warn(machine, warnings);
    say_time(options, duration::expected(options, machine, &planned.points, &planned.budget), messages);
    // Slow checks are left out if their findings would not be shown.
    let is_text = |output: &Output| output.format.purpose == Purpose::Terminal;
    let checked = options.strict || !(options.quiet && options.outputs().iter().all(is_text));
    let end_ns = begun_ns.real() + duration::end_ns(options);
    let intervals_by_ns = f64::INFINITY;
    let effort =
        Effort { limit_ns: f64::INFINITY, intervals_by_ns, checked, begun_ns: begun_ns.real(), end_ns };
    let ran = run_experiment::run_experiment(
        options,
        machine,
        warnings,
        &mut progress,
        experiment,
        planned,
        effort,
    );
    progress.clear();
    let ran = ran?;
    let report = ran.report(options, arguments, warnings, (started, seconds_since(begun_ns)));
    let shown = Shown::of(|document| describe::report(document, &report, experiment.parts(&report)));
    Ok((ran, shown))
}

/// Measures and reports everything.
fn perform_all(
    arguments: Arguments,
    outputs: &mut Outputs<'_>,
    messages: &mut Messages,
) -> Result<(), Failure> {
    let options = outputs.options;
    let (started, begun_ns) = now();
    let machine = machine(options)?;
    outputs.open()?;
    let plans = Plans::make(options, machine)?;
    if options.dry_run {
        let run = command_run(options, arguments, (started, begun_ns));
        let shown = Shown::of(|document| plans.present(document, &run));
        return outputs.save(output::COLUMNS, [false; 2], &shown);
    }
    say_time(options, plans.takes, messages);
    let sections = Sections::run(options, machine, &plans.needs, &mut Progress::new(options.progress), &now)?;
    let whole = Whole {
        options,
        machine,
        came: &|index| sections.came(index),
        arguments,
        partial: sections.interrupted,
        started,
        seconds: seconds_since(begun_ns),
    };
    if !sections.interrupted && !sections.has_result() {
        return sections.verdict(false);
    }
    let nothing = sections.interrupted && sections.is_empty();
    let failed = sections.verdict(false).is_err();
    let shown = Shown::of(|document| whole_report::present(document, &whole));
    outputs.save(output::COLUMNS, [failed, nothing], &shown)?;
    sections.verdict(options.strict)
}

/// Measures what `expect` needs, and answers.
fn perform_expect(
    arguments: Arguments,
    outputs: &mut Outputs<'_>,
    messages: &mut Messages,
) -> Result<(), Failure> {
    let (options, begun) = (outputs.options, now());
    let usual = options::parse(Arguments::packed(b"curve\0"), &DESCRIPTORS, &FORMATS)?;
    let mut machine = machine(&usual)?;
    outputs.open()?;
    let mut files = Vec::new();
    for line in needed::runs(options, machine) {
        let mut asked = options::parse(line, &DESCRIPTORS, &FORMATS)?;
        (asked.quiet, asked.progress) = (options.quiet, options.progress);
        let asked: &'static Options = Box::leak(Box::new(asked));
        let Some(experiment) = EXPERIMENTS.get(asked.experiment.index) else { continue };
        let planned = run_experiment::planned(asked, machine, experiment)?;
        // The warnings are the reasons for the trust in the answer.
        let mut warnings = Warnings::empty();
        let (ran, shown) = measured(asked, line, machine, planned, now(), &mut warnings, messages)?;
        if ran.findings.interrupted {
            return Err(Failure::Interrupted);
        }
        machine = ran.machine;
        needed::keep(&mut files, line, &outputs.document(&shown))?;
    }
    let mut shown = Shown::of(|document| command_run(options, arguments, begun).present(document));
    shown.append(expect::answer(options, &files)?);
    outputs.save(output::COLUMNS, [false; 2], &shown)
}

/// Returns the reason why a run is incomplete, if it is.
fn failed(findings: &Findings, done: usize) -> Option<Failure> {
    if findings.interrupted {
        return Some(Failure::Partial);
    }
    let mut exclusions = findings.outcomes.iter().filter_map(|outcome| outcome.result.as_ref().err());
    match exclusions.find(|exclusion| exclusion.is_fatal() || done == 0) {
        Some(latency_engine::result::Exclusion::Placement(error)) => Some((*error).into()),
        _ => None,
    }
}
