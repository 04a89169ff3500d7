//! A report as a document: the verdict and the answers first, then a chapter for each experiment.
//!
//! The answers are the sentences of the experiments themselves, so that each figure has only one wording.

use core::fmt::{self, Display, Write};

use latency_core::text::joined;

use super::page::how_to_get_the_page;
use super::{Came, SECTIONS, Section};
use crate::analysis::matrix::{conclude, pairs};
use crate::describe::{self, Report, SUMMARY, trust};
use crate::error::Failure;
use crate::machine::Machine;
use crate::options::Options;
use crate::report::document::{
    Document, DocumentTable, Field, Level, PageRole, Part, Picture, Role, Value, fields,
};
use crate::report::figures::Digits;
use crate::sys::arguments::Arguments;
use crate::warning::Warnings;

fields! {
    pub SECTIONS_OF "sections" "The results of all experiments.";
    NOT_MEASURED "not_measured" "What could not be measured here.";
    REASON "reason" "Why.";
}

/// The summaries, in the order of [`SECTIONS`].
static CONCLUSIONS: [Field; SECTIONS.len()] = [
    Field::new("matrix", "The summary of matrix; null where it was not measured."),
    Field::new("curve", "The summary of curve; null where it was not measured."),
    Field::new("pages", "The summary of pages; null where it was not measured."),
    Field::new("loaded", "The summary of loaded; null where it was not measured."),
    Field::new("bandwidth", "The summary of bandwidth; null where it was not measured."),
    Field::new("parallel", "The summary of parallel; null where it was not measured."),
    Field::new("window", "The summary of window; null where it was not measured."),
    Field::new("distribution", "The summary of distribution; null where it was not measured."),
    Field::new("cores", "The summary of cores; null where it was not measured."),
];

/// The contents of a report.
pub struct Whole<'r, 'a> {
    /// The options.
    pub options: &'r Options<'a>,
    /// The machine.
    pub machine: &'r Machine,
    /// Returns the outcome of each section that was begun, in the order of the sections.
    pub came: &'r dyn Fn(usize) -> Option<Came<'r, 'a>>,
    /// The arguments of the program, as they were typed.
    pub arguments: Arguments,
    /// True if the run was interrupted; then the report contains only the finished sections.
    pub partial: bool,
    /// The start of the run, in seconds since 1970, UTC.
    pub started: u64,
    /// The duration of the run, in seconds.
    pub seconds: f64,
}

impl<'r, 'a> Whole<'r, 'a> {
    /// Returns the sections that have a result.
    fn measured(&self) -> impl Iterator<Item = (&'static Section, Report<'r, 'a>)> + Clone + '_ {
        let sections = SECTIONS.iter().enumerate();
        sections.filter_map(|(index, section)| Some((section, (self.came)(index)?.ok()?)))
    }

    /// Returns the warnings of all sections together.
    fn warnings(&self) -> Warnings {
        let mut all = Warnings::new();
        self.measured().for_each(|(_, report)| all.pool(report.warnings));
        all
    }

    /// Returns the names of the sections that have no result because of an interrupt.
    fn not_begun(&self) -> impl Iterator<Item = &'static str> + Clone + use<'_, 'r, 'a> {
        let nothing = |(index, _): &(usize, _)| (self.came)(*index).is_none();
        SECTIONS.iter().enumerate().filter(nothing).map(|(_, section)| section.experiment.descriptor.name)
    }
}

/// Describes a report.
pub fn present(document: &mut dyn Document, whole: &Whole<'_, '_>) {
    let warnings = whole.warnings();
    describe::tool(document, "report", describe::machine::cpu_model(whole.machine));
    describe::command(document, whole.arguments);
    document.sentence(
        Role::Page(&PageRole::Data),
        format_args!(
            "without the points: `latency-bench report --json` has them, for `compare`, `fleet` and `report FILE`"
        ),
    );
    describe::run(document, whole.machine, whole.started, whole.seconds, whole.partial);
    describe::machine::host(document, whole.machine, &whole.options.labels);
    summary(document, whole);
    trust::trust(document, &warnings);
    // A page with all points would have megabytes.
    if !document.wants_pictures() {
        document.part(Part::Records(&describe::ROWS), |document| {
            for (section, report) in whole.measured() {
                (section.experiment.present.rows)(document, &report);
            }
        });
    }
    verdict(document, whole);
    worst(document, whole, &warnings);
    answers(document, whole);
    missing(document, &|index| (whole.came)(index)?.err(), &|index| (whole.came)(index).is_none());
    how_to_get_the_page(document, whole.options);
    describe::machine::machine(document, whole.machine);
    trust::warnings(document, &warnings);
    document.part(Part::List(&SECTIONS_OF), |document| {
        for (section, report) in whole.measured() {
            document.sentence(Role::Page(&PageRole::Chapter), format_args!("{}", section.question));
            document.part(Part::Item, |document| {
                let present = &section.experiment.present;
                match document.wants_pictures() {
                    true => {
                        describe::report(&mut Excerpt { document, depth: 0 }, &report, present)
                    }
                    false => describe::report(document, &report, present),
                }
            });
        }
    });
}

/// Describes the conclusions of all sections: an object for each, with its own summary.
fn summary(document: &mut dyn Document, whole: &Whole<'_, '_>) {
    document.part(Part::Object(&SUMMARY), |document| {
        for (index, (section, field)) in SECTIONS.iter().zip(&CONCLUSIONS).enumerate() {
            match (whole.came)(index) {
                Some(Ok(report)) => document.part(Part::Object(field), |document| {
                    (section.experiment.present.summary)(document, &report);
                }),
                _ => document.put(field, None::<bool>),
            }
        }
    });
}

/// States the memory latency, local and remote.
fn verdict(document: &mut dyn Document, whole: &Whole<'_, '_>) {
    let matrix = (whole.came)(0).and_then(Result::ok);
    let found = matrix.map(|report| conclude(&mut pairs(report.outcomes, &report.machine.topology)));
    match found.map(|found| (found.local_ns, found.remote_ns(), found.remote_over_local())) {
        Some((Some(local), Some(remote), Some(ratio))) => document.answer(format_args!(
            "Local memory takes {} ns, other nodes' {} ns ({} times as long).",
            Digits(local),
            Digits(remote),
            Digits(ratio)
        )),
        Some((Some(local), ..)) => document.answer(format_args!(
            "Memory takes {} ns; there is one node, and no remote memory.",
            Digits(local)
        )),
        _ => document.answer(format_args!("The latency of memory was not measured.")),
    }
    if whole.partial {
        let names = joined("; nothing of ", ", ", whole.not_begun());
        document.answer(format_args!("Partial: it was interrupted{names}."));
    }
}

/// States the trust in the whole report, which is the trust in its worst section.
fn worst(document: &mut dyn Document, whole: &Whole<'_, '_>, warnings: &Warnings) {
    let level = trust::level(warnings);
    let is_worst = |report: &Report<'_, '_>| level != "good" && trust::level(report.warnings) == level;
    let worst = whole.measured().filter(|(_, report)| is_worst(report));
    let names = joined(": ", ", ", worst.map(|(section, _)| section.experiment.descriptor.name));
    let emulated = trust::label(trust::is_emulated(warnings));
    document.sentence(Role::Trust, format_args!("{level}{names}{emulated}"));
}

/// States the answer of each section in its own words; on pages as a table.
fn answers(document: &mut dyn Document, whole: &Whole<'_, '_>) {
    if !document.wants_pictures() {
        for (section, report) in whole.measured() {
            let shown = answer(section, report);
            document.sentence(Role::Method(&section.question), format_args!("{shown}"));
        }
        return;
    }
    document.tabulate("", Level::Quiet, 3, &|table| {
        table.texts("question|answer|trust");
        for (section, report) in whole.measured() {
            let level = trust::level(report.warnings);
            table.row();
            table.text(section.question);
            table.show(&answer(section, report));
            table.text(level);
        }
    });
}

/// Returns the answer of a section in its own words.
fn answer<'r, 'a>(section: &'static Section, report: Report<'r, 'a>) -> impl Display + use<'r, 'a> {
    fmt::from_fn(move |out| {
        let wanted = [Role::Answer, Role::Finding, Role::Line];
        FirstSentence { out, wanted, found: None, pass: 0 }
            .write(&mut |document| describe::report(document, &report, &section.experiment.present))
    })
}

/// States which sections were not measured, and why: they failed, or were not begun.
#[inline(never)] // it is called in several places
pub fn missing<'f, 'a: 'f>(
    document: &mut dyn Document,
    failure: &dyn Fn(usize) -> Option<&'f Failure<'a>>,
    not_begun: &dyn Fn(usize) -> bool,
) {
    let failed = || {
        let named =
            |(index, section): (usize, &Section)| Some((section.experiment.descriptor.name, failure(index)?));
        SECTIONS.iter().enumerate().filter_map(named)
    };
    for (name, failure) in failed() {
        document.missing(format_args!("{name}: {failure}"));
    }
    let not_begun = SECTIONS.iter().enumerate().filter(|(index, _)| not_begun(*index)).map(|(_, section)| {
        let reason: &dyn Display = &"interrupted before it had measured anything";
        (section.experiment.descriptor.name, reason)
    });
    let failed = failed().map(|(name, failure)| (name, failure as &dyn Display));
    document.items(Part::List(&NOT_MEASURED), failed.chain(not_begun), |document, (name, reason)| {
        document.put(&describe::EXPERIMENT, name);
        document.show(&REASON, reason);
    });
}

/// A document that writes one sentence of a description: the first sentence of the first wanted role that occurs.
struct FirstSentence<'o> {
    out: &'o mut dyn Write,
    wanted: [Role<'static>; 3],
    pass: usize,
    found: Option<fmt::Result>,
}

impl FirstSentence<'_> {
    fn write(&mut self, describe: &mut dyn FnMut(&mut dyn Document)) -> fmt::Result {
        for pass in 0..self.wanted.len() {
            self.pass = pass;
            if self.found.is_none() {
                describe(self);
            }
        }
        self.found.unwrap_or(Ok(()))
    }
}

impl Document for FirstSentence<'_> {
    fn sentence(&mut self, role: Role<'_>, words: fmt::Arguments<'_>) {
        if self.found.is_none() && self.wanted.get(self.pass) == Some(&role) {
            self.found = Some(self.out.write_fmt(words));
        }
    }
}

/// A document that passes on everything except the lists of points.
struct Excerpt<'d> {
    document: &'d mut dyn Document,
    /// The depth within a list of points; 0 outside.
    depth: usize,
}

impl Document for Excerpt<'_> {
    fn value(&mut self, field: &'static Field, value: Value<'_>) {
        if self.depth == 0 {
            self.document.value(field, value);
        }
    }

    fn named(&mut self, name: &str, value: Value<'_>) {
        if self.depth == 0 {
            self.document.named(name, value);
        }
    }

    fn begin(&mut self, part: Part) {
        let is_list = match part {
            Part::Records(_) => true,
            Part::List(field) => matches!(field.key(), "node_pairs" | "points" | "distributions"),
            _ => false,
        };
        match self.depth > 0 || is_list {
            true => self.depth += 1,
            false => self.document.begin(part),
        }
    }

    fn end(&mut self) {
        match self.depth {
            0 => self.document.end(),
            _ => self.depth -= 1,
        }
    }

    fn sentence(&mut self, role: Role, words: fmt::Arguments<'_>) {
        self.document.sentence(role, words);
    }

    fn table(&mut self, table: &DocumentTable<'_>) {
        self.document.table(table);
    }

    fn picture(&mut self, picture: Picture<'_>) {
        self.document.picture(picture);
    }

    fn wants_pictures(&self) -> bool {
        self.document.wants_pictures()
    }
}
