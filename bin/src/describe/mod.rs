//! The vocabulary of every report: the tool, the run, its points, its memory, clock and health.
//!
//! The rest is in the file of each experiment. This module does not know experiments or formats.

pub mod anonymous;
pub mod attributes;
pub mod columns;
#[cfg(test)]
mod columns_tests;
pub mod conditions;
pub mod dimms;
pub mod lanes;
pub mod machine;
pub mod method;
pub mod metrics;
pub mod output;
pub mod point;
pub mod rates;
pub mod reference;
pub mod report;
pub mod split;
pub mod time;
pub mod trust;
pub mod typed;
pub mod undisturbed;
pub mod verdicts;

use core::fmt::Display;

use latency_core::arch::Cycles;

use crate::record::members::{COMMAND, DURATION, PARTIAL, SCHEMA, STARTED, TOOL, TOOL_NAME, VERSION};
use crate::saved::shape;
use latency_engine::machine::Machine;
use latency_engine::words::words;
use latency_report::document::fields;
use latency_report::{Metric, PageRole, Part, Role, Shown, Value};
use latency_sys::arguments::Arguments;

pub use crate::record::members::{EXPERIMENT, ROWS, SUMMARY};
pub use report::Report;
use time::{readable_time, utc};

fields! {
    COMMIT "commit" "Commit that the program was built from; null if unknown.";
    CYCLES_OF "cycles_of" "Clock of the `cycles` fields: `tsc` (time-stamp counter), `core` (core clock), or `cntvct` (system counter, if the core clock is unknown). `core_cycles` are cycles of the core clock.";
    pub REGIONS "regions" "Memory of a target node with several initiators: `own` (one region each), `shared` (one region, rewritten in turn) or `rewritten` (one region, rewritten for each visit).";
    CPU_CHOSEN "cpu_chosen" "Choice of the CPU of each node: `first` (first allowed CPU), `idle` (the first one was busy) or `asked` (by an option).";
    BUSY_CPUS "busy_cpus" "First CPUs of nodes that were not used because other processes kept them busy before the run.";
    BUSY_CPU "cpu" "CPU number.";
    BUSY_SHARE "busy_share" "Share of time in which the CPU was busy (0 to 1).";
}

static INFO: Metric =
    Metric { name: "info", about: "Program version, schema version and processor of these samples." };

/// Version of the document's schema.
const VERSION_OF_SCHEMA: u64 = shape::SCHEMA as u64;

/// Describes the tool and the experiment, and for monitoring systems the processor.
pub fn tool(document: &mut Shown, experiment: &str, cpu: &str) {
    document.sample(
        &INFO,
        &[
            (EXPERIMENT.key, experiment.into()),
            (VERSION.key, env!("CARGO_PKG_VERSION").into()),
            (SCHEMA.key, Value::Count(VERSION_OF_SCHEMA)),
            ("cpu", cpu.into()),
        ],
        Value::Count(1),
    );
    document.put(&SCHEMA, VERSION_OF_SCHEMA);
    document.part(Part::Object(&TOOL), |document| {
        document.put(&TOOL_NAME, shape::NAME);
        document.put(&VERSION, env!("CARGO_PKG_VERSION"));
        let commit = crate::options::COMMIT;
        document.put(&COMMIT, (!commit.is_empty()).then_some(commit));
    });
    document.put(&EXPERIMENT, experiment);
    document.sentence(Role::Page(PageRole::Title), format_args!("{experiment}"));
}

/// The run of a command, or of a plan: the parts of its document that come before the findings.
#[derive(Clone, Copy, Debug)]
pub struct CommandRun<'r> {
    /// The experiment or command.
    pub name: &'r str,
    /// The arguments of the program, as they were typed.
    pub arguments: Arguments,
    /// True if no file is named.
    pub is_anonymous: bool,
    /// The start of the run, in seconds since 1970, UTC.
    pub started: u64,
    /// The duration of the run, in seconds.
    pub seconds: f64,
}

impl CommandRun<'_> {
    /// Returns a run for tests, without arguments.
    #[cfg(test)]
    pub fn of(name: &str) -> CommandRun<'_> {
        CommandRun {
            name,
            arguments: Arguments::packed(b""),
            is_anonymous: false,
            started: 1_795_310_400,
            seconds: 0.1,
        }
    }

    /// Describes the run.
    pub fn present(&self, document: &mut Shown) {
        tool(document, self.name, "");
        command(document, self.arguments, self.is_anonymous);
        times(document, self.started, self.seconds);
    }

    /// Returns the origin of the rows of the run.
    pub const fn origin(&self) -> columns::RowOrigin<'_> {
        columns::RowOrigin { host: "", started: self.started, experiment: self.name }
    }
}

/// The parts of a report that belong to its experiment.
#[derive(Debug, Default)]
pub struct ReportParts {
    /// The samples of its conclusions, for monitoring systems.
    pub metrics: Shown,
    /// The members of the summary.
    pub summary: Shown,
    /// The rows.
    pub rows: Shown,
    /// The answer, for people.
    pub answer: Shown,
    /// Tables, pictures and the method, for people.
    pub evidence: Shown,
    /// Details for people, and all other data.
    pub data: Shown,
}

/// Describes a report: for programs its identity, its conclusions and its rows first; for people in reading order.
pub fn report(document: &mut Shown, report: &Report<'_>, parts: ReportParts) {
    metrics::metrics(document, report, parts.metrics);
    tool(document, report.options.experiment.descriptor.name, machine::cpu_model(report.machine));
    command(document, report.arguments, report.options.anonymous);
    run(document, report.machine, report.started, report.seconds, report.partial);
    machine::host(document, report.machine, &report.options.labels);
    document.part(Part::Object(&SUMMARY), |document| document.append(parts.summary));
    trust::trust(document, report.warnings);
    document.part(Part::Records(&ROWS), |document| document.append(parts.rows));
    trust::answer(document, report, parts.answer);
    trust::line(document, report);
    method::brief(document, report);
    trust::other_reasons(document, report.warnings);
    document.append(parts.evidence);
    method::ending(document, report);
    document.append(parts.data);
    circumstances(document, report);
}

/// Writes that something was not measured, and the reason.
pub fn missing(document: &mut Shown, role: Role, what: &dyn Display, why: &dyn Display) {
    document.sentence(role, format_args!("{what}: not measured: {why}"));
}

/// Describes the circumstances of the run, for programs; people read [`method`].
fn circumstances(document: &mut Shown, report: &Report<'_>) {
    machine::machine(document, report.machine);
    machine::sizing(document, report);
    if let Some(memory) = report.regions {
        document.put(&REGIONS, method::regions(memory)[0]);
    }
    if report.options.runs_on_one_cpu() {
        cpu_chosen(document, report);
    }
    document.put(
        &CYCLES_OF,
        match report.cycles_are() {
            Cycles::Counter => words().counter_source,
            Cycles::Core => "core",
        },
    );
    machine::clock(document, report.clock);
    method::health(document, report);
    conditions::conditions(document, report);
    trust::warnings(document, report.warnings);
    trust::sentences(document, report.warnings);
}

/// Describes the arguments as they were typed. The command that repeats the run writes no file; with `is_anonymous` no
/// file is named.
pub fn command(document: &mut Shown, arguments: Arguments, is_anonymous: bool) {
    let repeated = || typed::without_files(arguments);
    document.part(Part::List(&COMMAND), |document| {
        document.put(&COMMAND, "latency-bench");
        let mut put = |argument: &[u8]| document.put(&COMMAND, Value::Raw(argument.into()));
        if is_anonymous { repeated().for_each(put) } else { arguments.for_each(&mut put) }
    });
    document
        .under(Role::Page(PageRole::Command))
        .write(format_args!("latency-bench{}", typed::typed(&mut repeated())));
}

/// Describes how the measuring CPUs were chosen.
fn cpu_chosen(document: &mut Shown, report: &Report<'_>) {
    let word = match (report.options.cpu, report.busy_cpus().next()) {
        (Some(_), _) => "asked",
        (None, Some(_)) => "idle",
        (None, None) => "first",
    };
    document.put(&CPU_CHOSEN, word);
    document.items(Part::List(&BUSY_CPUS), report.busy_cpus(), |document, instead| {
        document.put(&BUSY_CPU, instead.first.0);
        document.put(&BUSY_SHARE, instead.busy);
    });
}

/// Describes the start and the duration of a run on a machine, and whether it was completed.
pub fn run(document: &mut Shown, machine: &Machine, started: u64, seconds: f64, partial: bool) {
    machine::origin(document, machine, &readable_time(started));
    machine::footer(document, machine, started);
    times(document, started, seconds);
    document.put(&PARTIAL, partial);
}

/// Describes the start and the duration of a run.
fn times(document: &mut Shown, started: u64, seconds: f64) {
    document.show(&STARTED, &utc(started));
    document.put(&DURATION, seconds);
}
