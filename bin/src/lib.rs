//! latency-bench without its start-up code: everything from arguments to report.
//!
//! Data runs one way: arguments, options, machine, plan, measurement, report.

#![no_std]

#[cfg(test)]
extern crate std;

mod analysis;
mod engine;
pub mod error;
pub mod experiment;
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

use latency_core::units::Bytes;

use engine::clock::Timer;
use engine::progress::Progress;
use engine::session::{Findings, Session};
use engine::{placement, prefetch_audit, self_test};
use error::{Failure, OutputError, PlacementError, TimingError};
use experiment::dry_run;
use experiment::facts::Report;
use experiment::output;
use experiment::{COMMANDS, DESCRIPTORS, EXPERIMENTS, FORMATS};
use machine::{detect, Machine};
use options::{Help, Options, When};
use plan::duration;
use report::terminal::Terminal;
use report::wrap::Wrap;
use sys::arguments::{Arguments, Environment};
use sys::out::{Messages, Sink};
use sys::terminal::Stream;
use warning::{Warning, Warnings};

/// Does what `arguments` ask for and returns the exit status.
pub fn run(arguments: Arguments, environment: Environment) -> i32 {
    match sys::init::make_room_on_stack() {
        Ok(()) => obey(arguments, environment),
        Err(limit) => {
            fail(&mut Messages::new(), &PlacementError::StackTooSmall { limit: Bytes(limit) }.into())
        }
    }
}

/// As [`run`], in a frame of its own: there is room for it now.
#[inline(never)]
fn obey(arguments: Arguments, environment: Environment) -> i32 {
    let mut messages = Messages::new();
    let options = match options::parse(arguments, &DESCRIPTORS, &FORMATS) {
        Ok(options) => options,
        Err(error) => return fail(&mut messages, &error.into()),
    };
    let result = if options.help.is_some() || options.version {
        tell(&options)
    } else if let Some(command) = options.experiment.index.checked_sub(EXPERIMENTS.len()) {
        act(command, &options, environment)
    } else {
        detect::machine().map_err(Failure::from).and_then(|machines| match machines.leak() {
            [machine, ..] => perform(arguments, environment, &options, machine, &mut messages),
            [] => Err(PlacementError::NothingToMeasure.into()),
        })
    };
    match result {
        Ok(()) => 0,
        Err(failure) => fail(&mut messages, &failure),
    }
}

fn fail(messages: &mut Messages, failure: &Failure<'_>) -> i32 {
    let _ = writeln!(
        Wrap::new(messages, message_columns().unwrap_or(usize::MAX), 2, 0),
        "{}: {failure}",
        failure.label()
    );
    i32::from(failure.exit_code())
}

/// Returns how wide messages may be; a file or a pipe gets each in one line.
fn message_columns() -> Option<usize> {
    Stream::Error.width().filter(|_| Stream::Error.is_terminal()).map(usize::from)
}

/// Where results go; made before anything is measured.
fn sink<'a>(options: &Options<'a>) -> Result<Sink, Failure<'a>> {
    match options.output {
        Some(path) => Ok(Sink::create(path).map_err(|errno| OutputError::Create { path, errno })?),
        None => Ok(Sink::standard_output()?),
    }
}

/// Ends the output, with the first error that it met.
fn finish<'a>(sink: Sink, options: &Options<'a>) -> Result<(), Failure<'a>> {
    Ok(sink.finish().map_err(|errno| OutputError::Write { path: options.output, errno })?)
}

/// `--help` and `--version`.
#[inline(never)] // offsets into a small frame are short
fn tell<'a>(options: &Options<'a>) -> Result<(), Failure<'a>> {
    let mut out = sink(options)?;
    // A write that fails is remembered by the sink, and told by `finish`.
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

/// A command on saved results.
#[inline(never)] // offsets into a small frame are short
fn act<'a>(index: usize, options: &'a Options<'a>, environment: Environment) -> Result<(), Failure<'a>> {
    let Some(command) = COMMANDS.get(index) else { return Ok(()) };
    let mut out = sink(options)?;
    let terminal = screen(options, environment);
    let found = (command.run)(options, &mut |description| {
        // A write that fails is remembered by the sink, and told by `finish`.
        let _ = output::write(&mut out, options, terminal, [command.columns, &[], &[]], description);
    })?;
    finish(out, options)?;
    found.map_or(Ok(()), Err)
}

/// What results are shown on.
fn screen(options: &Options<'_>, environment: Environment) -> Terminal {
    /// Where nobody says: what every terminal, mail and ticket has room for.
    const COLUMNS: usize = 80;
    let is_terminal = options.output.is_none() && Stream::Output.is_terminal();
    let locale = [&b"LC_ALL"[..], b"LC_CTYPE", b"LANG"]
        .into_iter()
        .find_map(|name| environment.get(name).filter(|value| !value.is_empty()));
    let utf8 = locale.is_some_and(|locale| {
        [&b"UTF-8"[..], b"utf-8", b"UTF8", b"utf8"].into_iter().any(|word| locale.ends_with(word))
    });
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
    Terminal { columns, unicode: utf8, colour }
}

/// Who waits longer wants to know how long, on a terminal or not.
const WORTH_SAYING_NS: f64 = 5e9;

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
    let mut out = sink(options)?;
    let mut progress = Progress::new(options.progress);
    let mut warnings = Warnings::new();
    detect::warn(machine, &mut warnings);
    let mut session = Session { options, machine, warnings: &mut warnings, progress: &mut progress };
    let points = (experiment.plan)(&mut session)?;
    let budget = (experiment.budget)(options, machine, &points);
    let takes = duration::estimate(machine, &points, &budget);
    if options.dry_run {
        let name = experiment.descriptor.name;
        let columns = output::columns(options, &[]);
        // A write that fails is remembered by the sink, and told by `finish`.
        let _ = output::write(&mut out, options, screen(options, environment), columns, &mut |document| {
            dry_run::present(document, name, &points, takes);
        });
        return finish(out, options);
    }
    if takes.1 > WORTH_SAYING_NS && options.progress != When::Never && !options.quiet {
        let _ = writeln!(messages, "{}: {takes}", experiment.descriptor.name);
        messages.flush();
    }
    if let Some(point) = points.first() {
        placement::pin(point.cpu)?;
    }
    let timer = Timer::choose(&machine.processor, session.warnings)?;
    let mut health = self_test::health(timer.counter(), machine.processor.platform, session.warnings);
    let findings = (experiment.measure)(&mut session, &timer, &points, &budget).and_then(|findings| {
        engine::finish::warn(&mut session, &findings.outcomes, &budget);
        audit(&mut session, &timer, &mut health, &findings)?;
        Ok(findings)
    });
    progress.clear();
    let findings = findings?;
    let done = findings.outcomes.iter().filter(|outcome| outcome.result.is_ok()).count();
    if findings.interrupted {
        let planned = findings.outcomes.len() as u32;
        warnings.push(Warning::Partial { finished: done as u32, planned });
    }
    let report = Report {
        options,
        machine,
        clock: &timer,
        health: &health,
        warnings: &warnings,
        outcomes: &findings.outcomes,
        distributions: &findings.distributions,
        extra: &findings.extra,
        arguments,
        terminal: screen(options, environment),
        partial: findings.interrupted,
        started,
        seconds: sys::time::monotonic_raw_ns().saturating_sub(begun_ns) as f64 / 1e9,
    };
    let written = if done == 0 && findings.interrupted && options.output.is_some() {
        // A file that is there is worth more than one without a number.
        drop(out);
        Ok(())
    } else {
        let columns = output::columns(options, experiment.columns);
        let _ = output::write(&mut out, options, report.terminal, columns, &mut |document| {
            (experiment.present)(document, &report);
        });
        finish(out, options)
    };
    // Messages drop their errors: there is nobody left to tell.
    let _ = warnings.write(messages, options.verbose, message_columns());
    written?;
    verdict(&findings, done, options, &warnings)
}

/// Audits prefetchers in as much memory as was measured, unless nobody would be told.
fn audit<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    health: &mut result::Health,
    findings: &Findings<'a>,
) -> Result<(), Failure<'a>> {
    let told = !(session.options.quiet && session.options.format.name == "text");
    if !told || findings.interrupted {
        return Ok(());
    }
    match prefetch_audit::prefetch(session, timer, &findings.outcomes) {
        Ok(made) => health.audit = made,
        // What was measured is complete all the same.
        Err(Failure::Interrupted) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// The end of a run whose result has been written.
fn verdict<'a>(
    findings: &Findings<'a>,
    done: usize,
    options: &Options<'_>,
    warnings: &Warnings,
) -> Result<(), Failure<'a>> {
    if findings.interrupted {
        return Err(Failure::Interrupted);
    }
    let exclusions = || findings.outcomes.iter().filter_map(|outcome| outcome.result.as_ref().err());
    if let Some(result::Exclusion::Placement(error)) =
        exclusions().find(|exclusion| exclusion.is_fatal() || done == 0)
    {
        return Err((*error).into());
    }
    match warnings.untrusted() {
        Some((code, count)) if options.strict => Err(TimingError::NotTrusted { code, count }.into()),
        _ => Ok(()),
    }
}
