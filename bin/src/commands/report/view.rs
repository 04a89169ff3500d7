//! A report as a document: the verdict and the answers first, then a chapter for each experiment. Its trust has
//! reasons, each with the number of chapters that share it.
//!
//! The answers are the sentences of the experiments themselves, so that each figure has only one wording.

use alloc::string::String;
use alloc::vec::Vec;

use latency_core::{Pages, Worded, sort_by_key};

use super::saved::how_to_get_the_page;
use super::{Came, SECTIONS, Section};
use crate::analysis::matrix::conclude;
use crate::describe::rates::{headline, times};
use crate::describe::{self, Report, ReportParts, SUMMARY, conditions, split, trust};
use crate::error::Failure;
use crate::options::Options;
use crate::record::members::{NOT_MEASURED, REASON, SECTIONS_OF};
use latency_engine::error::PlacementError;
use latency_engine::machine::Machine;
use latency_engine::result::{Measurement, Outcome, PageWords, Point};
use latency_engine::warning::{Warning, Warnings};
use latency_report::chart::vector;
use latency_report::document::field;
use latency_report::lists::joined;
use latency_report::{Field, Level, PageRole, Part, Role, Shown};
use latency_sys::arguments::Arguments;

/// The summaries, in the order of [`SECTIONS`].
static CONCLUSIONS: [Field; SECTIONS.len()] = [
    field!("matrix", "Summary of matrix; null if it was not measured."),
    field!("curve", "Summary of curve; null if it was not measured."),
    field!("pages", "Summary of pages; null if it was not measured."),
    field!("bandwidth", "Summary of bandwidth; null if it was not measured."),
    field!("cores", "Summary of cores; null if it was not measured."),
    field!("loaded", "Summary of loaded; null if it was not measured."),
    field!("parallel", "Summary of parallel; null if it was not measured."),
    field!("distribution", "Summary of distribution; null if it was not measured."),
    field!("window", "Summary of window; null if it was not measured."),
    field!("residency", "Summary of residency; null if it was not measured."),
];

/// The contents of a report.
pub struct Whole<'r> {
    /// The options.
    pub options: &'r Options,
    /// The machine.
    pub machine: &'r Machine,
    /// Returns the outcome of each section that was begun, in the order of the sections.
    pub came: &'r dyn Fn(usize) -> Option<Came<'r>>,
    /// The arguments of the program, as they were typed.
    pub arguments: Arguments,
    /// True if the run was interrupted; then the report contains only the finished sections.
    pub partial: bool,
    /// The start of the run, in seconds since 1970, UTC.
    pub started: u64,
    /// The duration of the run, in seconds.
    pub seconds: f64,
}

impl<'r> Whole<'r> {
    /// Returns the sections that have a result.
    pub fn measured(&self) -> impl Iterator<Item = (&'static Section, Report<'r>)> + Clone + '_ {
        let sections = SECTIONS.iter().enumerate();
        sections.filter_map(|(index, section)| Some((section, (self.came)(index)?.ok()?)))
    }

    /// Returns the warnings of all sections together.
    fn warnings(&self) -> Warnings {
        let mut all = Warnings::empty();
        self.measured().for_each(|(_, report)| all.pool(report.warnings));
        all
    }

    /// Returns the names of the sections that have no result because of an interrupt.
    fn not_begun(&self) -> impl Iterator<Item = &'static str> + Clone {
        let nothing = |(index, _): &(usize, _)| (self.came)(*index).is_none();
        SECTIONS.iter().enumerate().filter(nothing).map(|(_, section)| section.experiment.descriptor.name)
    }
}

/// Describes a report.
pub fn present(document: &mut Shown, whole: &Whole<'_>) {
    let warnings = whole.warnings();
    let found = WholeTrust::of(whole.measured().map(|(_, report)| report.warnings), &warnings);
    describe::tool(document, "report", describe::machine::cpu_model(whole.machine));
    describe::command(document, whole.arguments, whole.options.anonymous);
    document.say(Role::Page(PageRole::Data), "without the points; `latency-bench report --json` includes them, for `compare`, `fleet` and `report FILE`");
    describe::run(document, whole.machine, whole.started, whole.seconds, whole.partial);
    describe::machine::host(document, whole.machine, &whole.options.labels);
    let parts = SECTIONS
        .iter()
        .enumerate()
        .map(|(index, section)| Some(section.experiment.parts(&(whole.came)(index)?.ok()?)));
    let parts: Vec<Option<ReportParts>> = vector(parts);
    summary(document, &parts);
    trust::trust(document, &warnings);
    document.part(Part::Records(&describe::ROWS), |document| {
        parts.iter().flatten().for_each(|parts| document.repeat(&parts.rows));
    });
    let chapters = whole
        .measured()
        .zip(parts.into_iter().flatten())
        .map(|((_, report), parts)| Shown::of(|chapter| describe::report(chapter, &report, parts)));
    let chapters: Vec<Shown> = vector(chapters);
    verdict(document, whole);
    worst(document, &found, trust::is_emulated(&warnings));
    may_explain(document, whole, &warnings);
    apart(document, whole);
    answers(document, whole, &chapters, found.is_shared);
    missing(document, &|index| (whole.came)(index)?.err(), &|index| (whole.came)(index).is_none());
    how_to_get_the_page(document, whole.options);
    describe::machine::machine(document, whole.machine);
    trust::warnings(document, &warnings);
    document.part(Part::List(&SECTIONS_OF), |document| {
        for ((section, _), chapter) in whole.measured().zip(chapters) {
            document.say(Role::Page(PageRole::Chapter), section.question);
            document.part(Part::Item, |document| document.append(chapter));
        }
    });
}

/// Describes the conclusions of all sections: an object for each, with its own summary.
fn summary(document: &mut Shown, parts: &[Option<ReportParts>]) {
    document.part(Part::Object(&SUMMARY), |document| {
        for (parts, field) in parts.iter().zip(&CONCLUSIONS) {
            document.object(field, parts.as_ref(), |document, parts| document.repeat(&parts.summary));
        }
    });
}

/// States the memory latency, local and remote.
fn verdict(document: &mut Shown, whole: &Whole<'_>) {
    let matrix = (whole.came)(0).and_then(Result::ok);
    let found = matrix.map(|report| conclude(report.outcomes, &report.machine.topology));
    let included = match found.as_ref().is_none_or(|found| found.of_memory) {
        true => ", without address translation",
        false => ", address translation included",
    };
    match found.map(|found| (found.means.local, found.means.remote())) {
        Some((Some(local), Some(remote))) => document.answer(format_args!(
            "Memory latency {} ns local, {} ns remote ({}){included}.",
            headline(local, 1.0),
            headline(remote, 1.0),
            times(remote, local)
        )),
        Some((Some(local), None)) => document
            .answer(format_args!("Memory latency {} ns{included} (single NUMA node).", headline(local, 1.0))),
        _ => document.say(Role::Answer, "Memory latency was not measured."),
    }
    if whole.partial {
        let names = joined(" before ", ", ", whole.not_begun());
        document.answer(format_args!("Partial: interrupted{names}."));
    }
}

/// Shows memory and translation of the largest random load from the first node to each node in each kind of pages, from the
/// first section that tells them apart. The chapters have those of all pairs of nodes.
fn apart(document: &mut Shown, whole: &Whole<'_>) {
    let first = whole.measured().find_map(|(_, report)| Some(told_apart(report).next()?.0.point.initiator));
    document.tabulate("Where the time of a random load goes:", Level::Quiet, 1, &|table| {
        table.texts(&["working set", "random load", "memory", "translation"]);
        for (index, (_, report)) in whole.measured().enumerate() {
            for (outcome, measured) in told_apart(report) {
                let ends = |point: &Point, pages: Pages| (point.initiator, point.target, pages);
                let (point, pages) = (&outcome.point, measured.placed.pages);
                let is_same =
                    |(other, its): ToldApart<'_>| ends(&other.point, its.placed.pages) == ends(point, pages);
                let is_smaller = |other: ToldApart<'_>| is_same(other) && other.0.point.size > point.size;
                let mut before = whole.measured().take(index).flat_map(|(_, report)| told_apart(report));
                let is_shown = first == Some(point.initiator);
                if !is_shown || before.any(is_same) || told_apart(report).any(is_smaller) {
                    continue;
                }
                table.row();
                let words = PageWords(report.machine.pages_or_base(pages));
                match report.machine.topology.nodes().len() {
                    0 | 1 => table.cell(format_args!("{}, {words}", point.size)),
                    _ => table.cell(format_args!(
                        "{} -> {}, {}, {words}",
                        point.initiator, point.target, point.size
                    )),
                };
                table.cell(format_args!("{} ns", headline(measured.series.nanoseconds.into(), 1.0)));
                split::cells(table, split::parts(outcome));
            }
        }
    });
}

/// A point whose memory and translation were told apart.
type ToldApart<'r> = (&'r Outcome, &'r Measurement);

/// Returns the points of a section whose memory and translation were told apart.
fn told_apart(report: Report<'_>) -> impl Iterator<Item = ToldApart<'_>> {
    let told = report.outcomes.iter().filter(move |outcome| split::memory(report.machine, outcome).is_some());
    told.filter_map(|outcome| Some((outcome, outcome.result.as_ref().ok()?)))
}

/// States the trust in the whole report with its reasons, and the remedy for the first of them.
fn worst(document: &mut Shown, found: &WholeTrust<'_>, is_emulated: bool) {
    let of = found.chapters;
    let reasons = found.reasons.iter().map(|SharedReason { worst, chapters }| match *chapters {
        _ if of == 1 => format!("{}", worst.reason()),
        all if all == of => format!("{} (in all {of} measurements)", worst.reason()),
        some => format!("{} (in {some} of {of} measurements)", worst.reason()),
    });
    let more = (found.more > 0).then(|| format!("and {} more", found.more));
    let reasons = joined(": ", "; ", reasons.chain(more));
    document.sentence(Role::Trust, format_args!("{}{reasons}{}", found.level, trust::label(is_emulated)));
    if let Some(first) = found.reasons.first() {
        document.finding(format_args!("To improve the trust: {}.", first.worst.remedy()));
    }
}

/// States the conditions that may explain a figure outside its usual range, and on pages the errors of memory.
fn may_explain(document: &mut Shown, whole: &Whole<'_>, warnings: &Warnings) {
    // The first section measures the latency that figures are published for.
    let Some(Ok(first)) = (whole.came)(0) else { return };
    let found = conditions::unusual(whole.machine, warnings, first.outcomes, first.conditions, false);
    if !found.is_empty() {
        document.finding(format_args!("Conditions here that may explain unusual figures: {found}."));
    }
    conditions::since_boot(document, &first);
}

/// States the answer of each section in its own words, and its trust if that differs; on pages with its figures. The
/// question stands before an answer that does not begin with it.
fn answers(document: &mut Shown, whole: &Whole<'_>, chapters: &[Shown], is_shared: bool) {
    for ((section, report), chapter) in whole.measured().zip(chapters) {
        let level = trust::level(report.warnings);
        let answer = answer(chapter);
        let label = if answer.starts_with(section.question) { "" } else { section.question };
        let [open, unlike, close] = match level {
            level if !is_shared => [" [", level, "]"],
            _ => [""; 3],
        };
        document.sentence(Role::Question(label), format_args!("{answer}{open}{unlike}{close}"));
        document.say(Role::Page(PageRole::ChapterAnswer(section.question, level)), answer);
        let mut figures =
            chapter.sentences().filter(|(role, _)| matches!(role, Role::Page(PageRole::Figure(..))));
        if let Some((role, words)) = figures.next() {
            document.say(role, words);
        }
    }
}

/// Returns the answer of a chapter: its first answer, or else finding, or else line.
fn answer(chapter: &Shown) -> &str {
    let first = |wanted| chapter.sentences().find(|(role, _)| *role == wanted);
    let found = [Role::Answer, Role::Finding, Role::Line].into_iter().find_map(first);
    found.map_or("", |(_, words)| words)
}

/// States which sections were not measured, and why: they failed, or were not begun.
pub fn missing<'f>(
    document: &mut Shown,
    failure: &dyn Fn(usize) -> Option<&'f Failure>,
    not_begun: &dyn Fn(usize) -> bool,
) {
    // Sections that failed for the same reason are named together.
    let mut shared: Vec<(String, Vec<&str>)> = Vec::new();
    document.begin(Part::List(&NOT_MEASURED));
    for (index, section) in SECTIONS.iter().enumerate() {
        let name = section.experiment.descriptor.name;
        let reason = match failure(index) {
            Some(Failure::Placement(PlacementError::BudgetOver)) => {
                format!("no time was left; `latency-bench {name}` measures it")
            }
            Some(failure) => format!("{failure}"),
            None if not_begun(index) => "interrupted before the first result".into(),
            None => continue,
        };
        document.part(Part::Item, |document| {
            document.put(&describe::EXPERIMENT, name);
            document.put(&REASON, reason.as_str());
        });
        match shared.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(name),
            None if failure(index).is_some() => shared.push((reason, Vec::from([name]))),
            None => {}
        }
    }
    document.end();
    for (reason, names) in shared {
        document.missing(format_args!("{}: {reason}", joined("", ", ", names.iter())));
    }
}

/// Maximum number of reasons; the warnings of the chapters contain all of them.
const MOST: usize = 3;

/// A reason for the trust in a report.
#[derive(Clone, Copy, Debug)]
struct SharedReason<'w> {
    /// The worst warning of its kind in all chapters.
    worst: &'w Warning,
    /// The number of chapters with a warning of this kind.
    chapters: usize,
}

/// The trust in a report, which is the trust in its worst chapter.
struct WholeTrust<'w> {
    /// The trust in one word.
    level: &'static str,
    /// The reasons for it, those of the most chapters first.
    reasons: Vec<SharedReason<'w>>,
    /// The number of further reasons.
    more: usize,
    /// The number of chapters.
    chapters: usize,
    /// True if the trust in every chapter is the same.
    is_shared: bool,
}

impl<'w> WholeTrust<'w> {
    /// Returns the trust in a report: `chapters` are the warnings of each chapter, `warnings` those of all together.
    fn of<'c>(
        chapters: impl Iterator<Item = &'c Warnings> + Clone,
        warnings: &'w Warnings,
    ) -> WholeTrust<'w> {
        let level = trust::level(warnings);
        let mut reasons = Vec::new();
        let groups = warnings.groups().map(|group| group.worst);
        for (place, worst) in groups.filter(|worst| worst.severity().word() == level).enumerate() {
            let is_like =
                |other: &Warning| (other.code(), other.severity()) == (worst.code(), worst.severity());
            let shares = |warnings: &&Warnings| warnings.iter().any(is_like);
            let chapters = chapters.clone().filter(shares).count();
            reasons.push((place, SharedReason { worst, chapters }));
        }
        sort_by_key(&mut reasons, |(place, reason)| (usize::MAX - reason.chapters, *place));
        WholeTrust {
            level,
            more: warnings.dropped() + reasons.len().saturating_sub(MOST),
            reasons: vector(reasons.into_iter().take(MOST).map(|(_, reason)| reason)),
            chapters: chapters.clone().count(),
            is_shared: chapters.clone().all(|chapter| trust::level(chapter) == level),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::{Bytes, NodeId};
    use latency_engine::warning::{SeenCause, TimeLimit};

    #[test]
    fn a_reason_counts_the_chapters_in_which_it_is_as_severe() {
        let not_reached = |size: u64, found: f64| {
            let (from, to, size, wanted) = (NodeId(0), NodeId(0), Bytes(size), 0.01);
            let (limit, cause) = (TimeLimit::OfRun, SeenCause::Unseen);
            Warning::PrecisionNotReached { from, to, size, found, wanted, limit, cause }
        };
        let mut chapters = [(); 3].map(|()| Warnings::empty());
        chapters[0].push(not_reached(1 << 20, 0.05));
        chapters[1].push(not_reached(1 << 21, 0.05));
        chapters[1].push(not_reached(1 << 22, f64::NAN));
        let mut all = Warnings::empty();
        chapters.iter().for_each(|chapter| all.pool(chapter));
        // Three intervals are wide, and one chapter has a point without one.
        let found = WholeTrust::of(chapters.iter(), &all);
        let reasons = found.reasons.iter().map(|reason| reason.chapters);
        assert!(found.level == "poor" && reasons.eq([1]), "{:?}", found.reasons);
    }
}
