//! Everything in one run: ten experiments one after the other, each within its share of the budget, as one result.
//!
//! This module lists the experiments and their questions. The caller runs them and passes on their results. With
//! files, the command makes one document of saved results.

pub mod pictures;
mod planned;
mod run;
pub mod saved;
#[cfg(test)]
mod tests;
mod view;

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt::{self, Write};

use latency_core::{NodeSet, ToReal, math};

use super::Command;
use crate::describe::{Report, output};
use crate::error::Failure;
use crate::experiment::run_experiment;
use crate::experiment::{
    Experiment, bandwidth, cores, curve, distribution, loaded, matrix, pages, parallel, residency, window,
};
use crate::options::{self, Descriptor, FlagId, FlagSet, MAX_OPERANDS, Operands, Options};
use crate::plan::Plan;
use crate::plan::duration::{self, Range};
use latency_engine::machine::Machine;
use latency_report::figures::width;
use latency_sys::arguments::Arguments;

pub use planned::Plans;
pub use run::Sections;
pub use view::{Whole, present};

/// The `report` command.
pub const REPORT: Command = Command {
    descriptor: Descriptor {
        name: "report",
        summary: "run all experiments in 90 s and write one HTML page",
        details: "Runs ten experiments within --budget (90 s): idle latency, caches, huge pages, bandwidth, \
                  core-to-core latency, loaded latency, memory-level parallelism, tail latency, out-of-order \
                  window and shared cache. Those without time are listed. Writes one HTML page to standard \
                  output or --output=FILE.html: the trust \
                  in the result, the answers, then a chapter per experiment with pictures, tables, the method and \
                  the command that repeats it at full length. On a terminal it prints the trust and the answers \
                  as text. --output=FILE.svg draws a card of 1200 x 630 pixels for sharing.\n\
                  --size=SIZE sets the working set of each experiment and the largest one of the curve; a small \
                  one is fast, but measures caches. Experiments of one node pair use the first of several nodes.\n\
                  With files nothing is measured: saved results (--json, --csv) become one page with a line and a \
                  chapter each.",
        flags: FlagSet::PLACEMENT.union(FlagSet::WORKING_SET).union(FlagSet::RUN),
        picture: true,
        operands: Operands { names: "[FILE...]", least: 0, most: MAX_OPERANDS, sides: false },
        ..Descriptor::OF_VALUES
    },
    columns: output::COLUMNS,
    // Without files the command measures, and is started like an experiment.
    run: saved::run,
};

/// Default duration of all sections together, in nanoseconds.
const BUDGET_NS: f64 = 90e9;

/// Share of the whole time after the last section: the page is written, and the memory is given back.
const END: f64 = 0.03;

/// An experiment of a report.
pub struct Section {
    /// The experiment.
    pub experiment: &'static Experiment,
    /// The list that contains only its descriptor, by which its command line is parsed.
    descriptors: [&'static Descriptor; 1],
    /// The question that it answers.
    pub question: &'static str,
    /// The options that it has in a report.
    options: &'static [&'static str],
    /// Its weight when the time that is left is divided among the sections.
    weight: f64,
}

impl Section {
    const fn new(
        experiment: &'static Experiment,
        question: &'static str,
        options: &'static [&'static str],
        weight: f64,
    ) -> Section {
        let descriptors = [&experiment.descriptor];
        Section { experiment, descriptors, question, options, weight }
    }
}

/// The number of sections.
pub const COUNT: usize = 10;

/// All sections, the most important ones first. By its weight a section gets a part of the time that
/// the smallest forms of all leave.
pub static SECTIONS: [Section; COUNT] = [
    Section::new(&matrix::MATRIX, "Idle latency", &["--view=nodes"], 9.0),
    Section::new(&curve::CURVE, "Caches", &["--points-per-octave=3"], 18.0),
    Section::new(&pages::PAGES, "Huge pages", &[], 19.0),
    Section::new(&bandwidth::BANDWIDTH, "Bandwidth", &[], 5.0),
    Section::new(&cores::CORES, "Core-to-core latency", &["--pairs=classes"], 1.0),
    Section::new(&loaded::LOADED, "Loaded latency", &["--traffic=read"], 10.0),
    Section::new(&parallel::PARALLEL, "Memory-level parallelism", &[], 7.0),
    Section::new(&distribution::DISTRIBUTION, "Tail latency", &[], 7.0),
    Section::new(&window::WINDOW, "Out-of-order window", &[], 7.0),
    Section::new(&residency::RESIDENCY, "Shared cache", &[], 7.0),
];

/// Fraction of a section's time that is for visits; the rest is for mapping memory, clocks and the final checks.
const VISITS: f64 = 0.6;

/// Returns the options of a section that has `share_ns` of the time, and the duration of its visits.
///
/// # Errors
///
/// None: the command lines of the table are valid.
pub fn asked(
    index: usize,
    whole: &Options,
    share_ns: f64,
) -> Result<(&'static Options, Arguments, f64), Failure> {
    let section = &SECTIONS[index.min(COUNT - 1)];
    let mut line = String::new();
    // Texts take everything.
    let _ = typed(&mut line, section, whole);
    let arguments = Arguments::packed(line.leak().as_bytes());
    let mut asked = options::parse(arguments, &section.descriptors, whole.formats)?;
    asked.verbose = whole.verbose;
    asked.labels = whole.labels.clone();
    asked.budget.0 = math::whole(share_ns * 1e3);
    Ok((Box::leak(Box::new(asked)), arguments, share_ns * VISITS))
}

/// Writes the command line of a section, with the options of the report that the section has.
fn typed(line: &mut String, section: &Section, whole: &Options) -> fmt::Result {
    let descriptor = &section.experiment.descriptor;
    // A NUL ends each word.
    write!(line, "{}\0", descriptor.name)?;
    section.options.iter().try_for_each(|option| write!(line, "{option}\0"))?;
    // Experiments with memory attributes accept several nodes, and the others accept one.
    let nodes = |nodes: Option<NodeSet>| {
        let one = |nodes: &NodeSet| nodes.first().filter(|_| !nodes.is_all()).into_iter().collect();
        nodes.map(|nodes| if descriptor.attributes { nodes } else { one(&nodes) }).unwrap_or_default()
    };
    let size = if descriptor.flags.contains(FlagId::Size) { FlagId::Size } else { FlagId::MaxSize };
    let cpu: &dyn fmt::Display = whole.cpu.as_ref().map_or(&"first", |cpu| cpu);
    let targets = nodes(whole.memnode);
    let memory: &dyn fmt::Display = if whole.local { &"local" } else { &targets };
    let values: [(FlagId, FlagId, &dyn fmt::Display); 6] = [
        (FlagId::Size, size, &whole.size.unwrap_or_default().0),
        (FlagId::CpuNode, FlagId::CpuNode, &nodes(whole.cpunode)),
        (FlagId::MemNode, FlagId::MemNode, memory),
        (FlagId::Cpu, FlagId::Cpu, cpu),
        (FlagId::Pages, FlagId::Pages, &whole.pages),
        (FlagId::Seed, FlagId::Seed, &whole.seed),
    ];
    for (given, flag, value) in values {
        // One CPU makes no pair, and the first of all nodes need not have memory.
        let applies = whole.given.contains(given)
            && descriptor.flags.contains(flag)
            && !(given == FlagId::Cpu && descriptor.flags.contains(FlagId::Pairs))
            && width(value) > 0;
        if applies {
            write!(line, "{:#}={value}\0", flag.flag())?;
        }
    }
    Ok(())
}

/// Returns the time of the smallest form of a section, which it needs however short its share is.
pub fn least(machine: &Machine, planned: &Plan) -> Range {
    let Plan { points, budget, .. } = planned;
    let mut budget = *budget;
    budget.limit(0.0, machine, points);
    duration::estimate(machine, points, &budget)
}

/// The nanoseconds that the smallest form of each section needs; 0 for a section that cannot be measured here.
pub struct Needs([f64; COUNT]);

impl Needs {
    /// Returns the needs on a machine, in the middle of their range.
    ///
    /// # Errors
    ///
    /// The errors of [`asked`].
    pub fn of(whole: &Options, machine: &'static Machine) -> Result<Needs, Failure> {
        let mut needs = Needs([0.0; COUNT]);
        for (index, (slot, section)) in needs.0.iter_mut().zip(&SECTIONS).enumerate() {
            let (asked, ..) = asked(index, whole, budget_ns(whole) / COUNT as f64)?;
            if let Ok(planned) = run_experiment::planned(asked, machine, section.experiment) {
                let Range(least, most) = least(machine, &planned);
                *slot = least.midpoint(most);
            }
        }
        Ok(needs)
    }

    /// Returns the share of a section in `left_ns` nanoseconds: its need, and by its weight a part of what is left if the
    /// sections that fit with it have their needs. Returns 0 if it does not fit itself: those behind matter less.
    pub fn share_ns(&self, index: usize, left_ns: f64) -> f64 {
        let (mut needs_ns, mut weights) = (0.0, 0.0);
        for (need_ns, section) in self.0.iter().zip(&SECTIONS).skip(index) {
            if needs_ns + need_ns > left_ns {
                break;
            }
            (needs_ns, weights) = (needs_ns + need_ns, weights + section.weight);
        }
        let own = self.0.get(index).zip(SECTIONS.get(index)).filter(|_| weights > 0.0);
        own.map_or(0.0, |(need_ns, section)| need_ns + (left_ns - needs_ns) * section.weight / weights)
    }

    /// Returns the need of the first section.
    pub fn least_ns(&self) -> f64 {
        self.0.first().copied().unwrap_or_default()
    }
}

/// Returns the duration of all sections together, in nanoseconds.
pub fn budget_ns(options: &Options) -> f64 {
    if options.given.contains(FlagId::Budget) { options.budget.0.real() / 1e3 } else { BUDGET_NS }
}

/// The outcome of a section: its result, or the reason why it has none.
pub type Came<'r> = Result<Report<'r>, &'r Failure>;
