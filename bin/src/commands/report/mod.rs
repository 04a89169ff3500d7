//! Everything in one run: nine experiments one after the other, each within its share of the budget, as one result.
//!
//! This module lists the experiments and their questions. The caller runs them and passes on their results. With
//! files, the command makes one document of saved results.

mod page;
mod pictures;
mod planned;
mod run;
mod saved;
mod view;

use core::fmt::{self, Write};

use latency_core::cpulist::NodeSet;

use super::Command;
use crate::describe::{Report, output};
use crate::error::Failure;
use crate::experiment::interface::Experiment;
use crate::experiment::{bandwidth, cores, curve, distribution, loaded, matrix, pages, parallel, window};
use crate::options::{self, Descriptor, FLAGS, FlagId, FlagSet, MAX_OPERANDS, Operands, Options};
use crate::report::format::{Format, Purpose};
use crate::sys::arguments::Arguments;
use crate::sys::errno::Errno;
use crate::sys::table::{List, Table};
use latency_core::words::Worded;

pub use planned::Plans;
pub use run::Sections;
pub use view::{Whole, present};

/// The `report` command.
pub const REPORT: Command = Command {
    descriptor: Descriptor {
        name: "report",
        summary: "all of these in 90 s, as one page",
        details: "Memory, levels, pages, loads side by side, work between loads, the slowest loads, bandwidth, latency \
                  under load and the way between cores, one after the other within --budget (90 s). The result is a page \
                  of HTML on standard output or in --output=FILE.html: the verdict, the answers that matter, then a \
                  chapter each with its pictures, tables and proofs, and the command that repeats it at full length. \
                  As text, which a terminal shows, it is the verdict and the answers.\n\
                  What is not possible here is said, and the rest is measured. An interrupt ends it with what is finished.\n\
                  --size=SIZE gives each of them that working set, and the curve its largest: small ones \
                  are soon done, and show caches. Of several nodes those that measure one pair take the first.\n\
                  With files nothing is measured: saved results (--json, --csv) become a page with a line for each of \
                  them, and then a chapter each with its points as a picture and as a table.",
        flags: FlagSet::PLACEMENT.union(FlagSet::WORKING_SET).union(FlagSet::RUN),
        operands: Operands { names: "[FILE...]", least: 0, most: MAX_OPERANDS, sides: false },
        ..Descriptor::OF_VALUES
    },
    columns: output::COLUMNS,
    // Without files the command measures, and is started like an experiment.
    run: saved::run,
};

/// Default duration of all sections together, in nanoseconds.
const BUDGET_NS: f64 = 90e9;

/// An experiment of a report.
pub struct Section {
    /// The experiment.
    pub experiment: &'static Experiment,
    /// The list that contains only its descriptor, by which its command line is parsed.
    descriptors: [&'static Descriptor; 1],
    /// The question that it answers.
    pub question: &'static str,
    /// The command line. A NUL ends each word.
    arguments: &'static str,
    /// Its weight when the time is divided among the sections.
    weight: f64,
}

impl Section {
    const fn new(
        experiment: &'static Experiment,
        question: &'static str,
        arguments: &'static str,
        weight: f64,
    ) -> Section {
        let descriptors = [&experiment.descriptor];
        Section { experiment, descriptors, question, arguments, weight }
    }
}

/// The number of sections.
pub const COUNT: usize = 9;

/// All sections, the most important ones first. A weight is the duration of the section on a slow machine, in seconds.
pub static SECTIONS: [Section; COUNT] = [
    Section::new(&matrix::MATRIX, "Idle memory", "matrix\0", 9.0),
    Section::new(&curve::CURVE, "Caches", "curve\0--points-per-octave=3\0", 15.0),
    Section::new(&pages::PAGES, "Huge pages", "pages\0", 13.0),
    Section::new(&loaded::LOADED, "Under load", "loaded\0--traffic=read\0", 12.0),
    Section::new(&bandwidth::BANDWIDTH, "Bandwidth", "bandwidth\0", 7.0),
    Section::new(&parallel::PARALLEL, "Misses in flight", "parallel\0", 9.0),
    Section::new(&window::WINDOW, "Work between loads", "window\0", 9.0),
    Section::new(&distribution::DISTRIBUTION, "Slowest loads", "distribution\0", 8.0),
    Section::new(&cores::CORES, "From core to core", "cores\0--pairs=classes\0", 4.0),
];

/// Fraction of a section's time that is for visits; the rest is for mapping memory, clocks and the final checks.
const VISITS: f64 = 0.6;

/// Returns the options of a section and the duration of its visits, when `left_ns` of the total time is left.
///
/// # Errors
///
/// No memory for a command line. The command lines of the table are valid.
pub fn asked(
    index: usize,
    whole: &Options<'static>,
    left_ns: f64,
) -> Result<(&'static Options<'static>, Arguments, f64), Failure<'static>> {
    let section = &SECTIONS[index.min(COUNT - 1)];
    let mut line = Line(List::new(LONGEST_LINE)?);
    // There is room for every valid line.
    let _ = typed(&mut line, section, whole);
    let arguments = Arguments::packed(line.0.leak());
    let mut asked = options::parse(arguments, &section.descriptors, whole.formats)?;
    let weights: f64 = SECTIONS.iter().skip(index).map(|section| section.weight).sum();
    let share_ns = left_ns.max(0.0) * section.weight / weights;
    asked.format = whole.format;
    asked.verbose = whole.verbose;
    asked.labels = whole.labels;
    asked.budget.0 = (share_ns * 1e3) as u64;
    let asked = Table::filled(1, asked)?.leak().first().ok_or(Errno::ENOMEM)?;
    Ok((asked, arguments, share_ns * VISITS))
}

/// Maximum length of a command line, in bytes: a thousand nodes need some kilobytes. Pages that are not written need no
/// memory.
const LONGEST_LINE: usize = 64 << 10;

/// A command line under construction.
struct Line(List<u8>);

impl Write for Line {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        part.bytes().try_for_each(|byte| self.0.push(byte)).ok_or(fmt::Error)
    }
}

/// Writes the command line of a section, with the options of the report that the section has.
fn typed(line: &mut Line, section: &Section, whole: &Options<'_>) -> fmt::Result {
    let descriptor = &section.experiment.descriptor;
    line.write_str(section.arguments)?;
    // Experiments with memory attributes accept several nodes, and the others accept one.
    let nodes = |nodes: Option<NodeSet>| {
        let one = |nodes: NodeSet| nodes.first().into_iter().collect();
        nodes.map(|nodes| if descriptor.attributes { nodes } else { one(nodes) }).unwrap_or_default()
    };
    let size = if descriptor.flags.contains(FlagId::MaxSize) { FlagId::MaxSize } else { FlagId::Size };
    let cpu: &dyn fmt::Display = whole.cpu.as_ref().map_or(&"first", |cpu| cpu);
    let values: [(FlagId, FlagId, &dyn fmt::Display); 6] = [
        (FlagId::Size, size, &whole.size.unwrap_or_default().0),
        (FlagId::CpuNode, FlagId::CpuNode, &nodes(whole.cpunode)),
        (FlagId::MemNode, FlagId::MemNode, &nodes(whole.memnode)),
        (FlagId::Cpu, FlagId::Cpu, cpu),
        (FlagId::Pages, FlagId::Pages, &whole.pages.word()),
        (FlagId::Seed, FlagId::Seed, &whole.seed),
    ];
    for (given, flag, value) in values {
        let flag = FLAGS.get(flag as usize).filter(|flag| descriptor.flags.contains(flag.id));
        if let Some(flag) = flag.filter(|_| whole.given.contains(given)) {
            write!(line, "--{}={value}\0", flag.name)?;
        }
    }
    Ok(())
}

/// Returns the duration of all sections together, in nanoseconds.
#[must_use]
pub fn budget_ns(options: &Options<'_>) -> f64 {
    match options.given.contains(FlagId::Budget) {
        true => options.budget.0 as f64 / 1e3,
        false => BUDGET_NS,
    }
}

/// Returns the format of a report: text on a terminal and a page elsewhere, unless the user chose another one.
#[must_use]
pub fn format(options: &Options<'_>, is_terminal: bool) -> &'static Format {
    const SAID: FlagSet = FlagSet::of(&[FlagId::Format, FlagId::Json, FlagId::Csv]);
    let named = options.output.and_then(|path| Format::of_file(options.formats, path));
    let is_free = options.given.intersection(SAID) == FlagSet::EMPTY && named.is_none();
    let page = options.formats.iter().find(|format| format.purpose == Purpose::Page);
    page.filter(|_| is_free && (!is_terminal || options.output.is_some())).unwrap_or(options.format)
}

/// The outcome of a section: its result, or the reason why it has none.
pub type Came<'r, 'a> = Result<Report<'r, 'a>, &'r Failure<'a>>;
