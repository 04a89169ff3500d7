//! Everything in one run: nine experiments one after the other, each within its share of the budget, as one result.
//!
//! Says which they are and what they answer. Whoever runs them brings what came of it; nothing is measured here.
//! With files it is saved results that become one document.

mod pictures;
mod points;
mod run;
mod saved;
mod view;

use core::fmt::Write;

use latency_core::text::Text;
use latency_core::units::Bytes;

use super::command::Command;
use super::facts::{point, Report};
use super::interface::Experiment;
use super::{bandwidth, cores, curve, distribution, loaded, matrix, pages, parallel, window};
use crate::error::Failure;
use crate::options::{self, Descriptor, FlagId, FlagSet, FormatName, Operands, Options, MAX_OPERANDS};
use crate::sys::arguments::Arguments;
use crate::sys::table::Table;

pub use run::Sections;
pub use view::{present, Whole};

/// The command.
pub const REPORT: Command = Command {
    descriptor: Descriptor {
        name: "report",
        summary: "all of these in 90 s, as one page",
        details: "Memory, levels, pages, loads side by side, work between loads, the slowest loads, bandwidth, latency \
                  under load and the way between cores, one after the other within --budget (90 s). The result is a page \
                  of HTML on standard output or in --output=FILE.html: the verdict, the answers that matter, then a \
                  chapter each with its pictures, tables and proofs, and the command that repeats it at full length. \
                  As text it is the verdict and the answers.\n\
                  What is not possible here is said, and the rest is measured. An interrupt ends it with what is finished.\n\
                  --size=SIZE gives each of them that working set, and the curve its largest: small ones \
                  are soon done, and show caches.\n\
                  With files nothing is measured: saved results (--json, --csv) become a page with a line for each of \
                  them, and then a chapter each with its points as a picture and as a table.",
        flags: FlagSet::of(&[FlagId::Size, FlagId::Budget, FlagId::Strict]),
        picture: false,
        attributes: false,
        operands: Operands { names: "[FILE...]", least: 0, most: MAX_OPERANDS, sides: false },
    },
    columns: &point::CHAINS,
    // Without files it measures, and is started as experiments are.
    run: saved::run,
};

/// The time for all of them where nobody says, in nanoseconds.
const BUDGET_NS: f64 = 90e9;

/// An experiment of a report.
pub struct Section {
    /// The experiment.
    pub experiment: &'static Experiment,
    /// What it answers.
    pub question: &'static str,
    /// The command line.
    arguments: &'static [u8],
    /// Its share of the time beside that of the others.
    weight: f64,
}

impl Section {
    const fn new(
        experiment: &'static Experiment,
        question: &'static str,
        arguments: &'static [u8],
        weight: f64,
    ) -> Section {
        Section { experiment, question, arguments, weight }
    }
}

/// How many there are.
pub const COUNT: usize = 9;

/// All of them, those first that most readers come for. Weights are seconds that they take on a slow machine.
pub static SECTIONS: [Section; COUNT] = [
    Section::new(&matrix::MATRIX, "Idle memory", b"matrix\0", 9.0),
    Section::new(&curve::CURVE, "Caches", b"curve\0--points-per-octave=3\0", 15.0),
    Section::new(&pages::PAGES, "Huge pages", b"pages\0", 13.0),
    Section::new(&loaded::LOADED, "Under load", b"loaded\0--traffic=read\0", 12.0),
    Section::new(&bandwidth::BANDWIDTH, "Bandwidth", b"bandwidth\0", 7.0),
    Section::new(&parallel::PARALLEL, "Misses in flight", b"parallel\0", 9.0),
    Section::new(&window::WINDOW, "Work between loads", b"window\0", 9.0),
    Section::new(&distribution::DISTRIBUTION, "Slowest loads", b"distribution\0", 8.0),
    Section::new(&cores::CORES, "From core to core", b"cores\0--pairs=classes\0", 4.0),
];

/// What their command lines are parsed by.
static DESCRIPTORS: [&Descriptor; COUNT] = {
    let mut all = [&SECTIONS[0].experiment.descriptor; COUNT];
    let mut index = 0;
    while index < COUNT {
        all[index] = &SECTIONS[index].experiment.descriptor;
        index += 1;
    }
    all
};

/// The part of a share that visits take: the rest is for memory, clocks and what comes after.
const VISITS: f64 = 0.6;

/// What a section is asked for, and the time of its visits, when `left_ns` of the time for all is left.
///
/// # Errors
///
/// That of memory for a command line; no other, as long as those of the table are right.
pub fn asked(
    index: usize,
    whole: &Options<'_>,
    left_ns: f64,
) -> Result<(Options<'static>, Arguments, f64), Failure<'static>> {
    let section = &SECTIONS[index.min(COUNT - 1)];
    let arguments = Arguments::packed(typed(section, whole.size)?);
    let mut asked = options::parse(arguments, &DESCRIPTORS, whole.formats)?;
    let weights: f64 = SECTIONS.iter().skip(index).map(|section| section.weight).sum();
    let share_ns = left_ns.max(0.0) * section.weight / weights;
    asked.format = whole.format;
    asked.verbose = whole.verbose;
    asked.budget.0 = (share_ns * 1e3) as u64;
    Ok((asked, arguments, share_ns * VISITS))
}

/// The command line of a section, with the working set that was asked for.
fn typed(section: &Section, size: Option<Bytes>) -> Result<&'static [u8], Failure<'static>> {
    let has = |flag| section.experiment.descriptor.flags.contains(flag);
    let flag = if has(FlagId::MaxSize) { "max-size" } else { "size" };
    let Some(size) = size.filter(|_| has(FlagId::Size) || has(FlagId::MaxSize)) else {
        return Ok(section.arguments);
    };
    let mut more = Text::<64>::EMPTY;
    // The longest fits.
    let _ = write!(more, "--{flag}={}\0", size.0);
    let bytes = || section.arguments.iter().chain(more.as_str().as_bytes());
    let mut line = Table::filled(bytes().count(), 0)?;
    line.iter_mut().zip(bytes()).for_each(|(slot, byte)| *slot = *byte);
    Ok(line.leak())
}

/// The time for all of them, in nanoseconds.
#[must_use]
pub fn budget_ns(options: &Options<'_>) -> f64 {
    match options.given.contains(FlagId::Budget) {
        true => options.budget.0 as f64 / 1e3,
        false => BUDGET_NS,
    }
}

/// What it is going to take, in nanoseconds: each chapter has the fewest rounds that say anything, whatever the budget.
#[must_use]
pub fn takes_ns(options: &Options<'_>) -> f64 {
    /// All of them on two CPUs of one node.
    const LEAST_NS: f64 = 30e9;
    let least_ns = if options.size.is_some() { 0.0 } else { LEAST_NS };
    budget_ns(options).max(least_ns)
}

/// The format of a report: a page, unless somebody asks for another.
#[must_use]
pub fn format(options: &Options<'_>) -> &'static FormatName {
    const SAID: FlagSet = FlagSet::of(&[FlagId::Format, FlagId::Json, FlagId::Csv]);
    let named = options.output.and_then(|path| FormatName::of_file(options.formats, path));
    let page = options.formats.iter().find(|format| format.name == "html");
    match page {
        Some(page) if options.given.intersection(SAID) == FlagSet::EMPTY && named.is_none() => page,
        _ => options.format,
    }
}

/// What came of a section: its result, or why there is none.
pub type Came<'r, 'a> = Result<Report<'r, 'a>, &'r Failure<'a>>;
