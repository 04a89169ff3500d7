//! Kinds of pages for people and programs: the benefit of larger pages, by working set.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Display};

use latency_core::math::{self, ToReal};
use latency_core::units::{Bytes, Pages};

use super::picture::by_kind;
use super::spans;
use crate::analysis::huge_pages::{
    HugePagesConclusion, Larger, Worth, behaves_as_small, conclude, spanned, walks,
};
use crate::analysis::translation::{FEWEST_LINES, find, kinds, ratio, share};
use crate::describe::rates::{is_wide, plus_minus};
use crate::describe::{self, Report, columns, method, point, split, trust};
use crate::report::chart::{Axis, Chart, ChartPoint, Scale, Unit, vector};
use crate::report::document::{Level, Role, fields, members};
use crate::report::figures::Digits;
use crate::report::shown::{Shown, ShownTable};
use crate::result::spans::ENTRY;
use crate::result::words::{PageKind, PageWords};
use crate::result::{Exclusion, Outcome};
use latency_core::stats::{Estimate, Interval, Side};

fields! {
    SMALL_NS "small_pages_ns" interval "Latency over `working_set_bytes` in base pages, in nanoseconds.";
    LARGEST "largest_pages" "Largest page size that was obtained for comparison; null if none was.";
    LARGEST_NS "largest_pages_ns" interval "Latency in the largest pages, in nanoseconds.";
    OVER_LARGEST "small_over_largest_pages" interval "Latency in base pages divided by latency in the largest pages.";
}

/// Returns the conclusion from the points of a report.
pub fn found(report: &Report<'_, '_>) -> Option<HugePagesConclusion> {
    conclude(report.outcomes, report.health.pages_behave_as_small == Some(true))
}

/// Describes the table, the picture, what is missing, and the method.
pub fn evidence(document: &mut Shown, report: &Report<'_, '_>) {
    table(document, report);
    spans::table(document, report);
    pictures(document, report);
    spans::picture(document, report);
    missing(document, report);
    method::walks(document, report);
}

/// Describes every point as a row.
pub fn records(document: &mut Shown, report: &Report<'_, '_>) {
    point::rows_with(document, report, &|document, _, outcome| {
        document.put(&columns::SPANNED, spanned(outcome));
        document.put(&columns::PAGE_WALK, share(report.outcomes, outcome));
    });
}

/// Describes the evidence.
pub fn data(document: &mut Shown, report: &Report<'_, '_>) {
    point::evidence(document, report);
}

/// Returns the kinds of pages that have a measured point.
pub(super) fn had<'r, 'a>(report: &Report<'r, 'a>) -> impl Iterator<Item = Pages> + Clone + use<'r, 'a> {
    let outcomes = report.outcomes;
    kinds(outcomes).filter(move |pages| walks(outcomes, *pages).any(|outcome| outcome.result.is_ok()))
}

/// Returns the heading for a kind of pages.
pub(super) fn heading(pages: Pages) -> impl Display {
    fmt::from_fn(move |out| match pages.are_transparent() {
        true => out.write_str("THP"),
        false => PageKind(pages).fmt(out),
    })
}

/// Shows a kind of pages at the start of a sentence.
fn name(pages: Pages) -> impl Display {
    fmt::from_fn(move |out| match pages.are_transparent() {
        true => out.write_str("Transparent huge pages"),
        false => PageWords(pages).fmt(out),
    })
}

/// Writes whether larger pages are faster, by how much, and from which size on.
pub fn answer(document: &mut Shown, report: &Report<'_, '_>) {
    let base = PageWords(report.machine.base_pages());
    let smallest = report.machine.line.times(FEWEST_LINES);
    match found(report) {
        Some(HugePagesConclusion { size, small, larger: Some(larger), .. }) => {
            compared(document, report, (size, small), &larger)
        }
        Some(HugePagesConclusion { size, small, larger: None, .. }) => document.answer(format_args!(
            "Random-access latency over {size} is {ns} ns with {base}; no larger pages were measured.",
            ns = Digits(small.value)
        )),
        None if report.outcomes.iter().all(|outcome| outcome.point.size < smallest) => {
            document.answer(format_args!("Page sizes are compared from {smallest} on; use a larger --size."));
        }
        None => {}
    }
    told_apart(document, report);
    for pages in had(report).filter(|pages| behaves_as_small(report.outcomes, *pages)) {
        document.finding(format_args!(
            "{pages} behave like {base} in the TLB, as when a hypervisor backs them with {base}.",
            pages = name(pages)
        ));
    }
    spans::answer(document, report, found(report));
}

/// Writes memory and translation of the largest working set in each kind of pages, if they were told apart.
fn told_apart(document: &mut Shown, report: &Report<'_, '_>) {
    let base = report.machine.base_pages();
    let of = |pages: Pages| {
        let outcome =
            walks(report.outcomes, pages).filter(|outcome| split::parts(outcome).is_some()).last()?;
        Some((outcome.point.size, split::parts(outcome)?, pages))
    };
    let all = || had(report).filter_map(of);
    let Some((size, first, _)) = all().find(|(.., pages)| *pages == base).or_else(|| all().next()) else {
        return;
    };
    document.finding(format_args!(
        "A random load over {size} costs {} in memory; address translation adds{}.",
        split::with_ends(first.without_translation),
        fmt::from_fn(|out| {
            all().enumerate().try_for_each(|(index, (_, parts, pages))| {
                let comma = if index > 0 { "," } else { "" };
                write!(out, "{comma} {} in {}", split::with_ends(parts.translation), PageWords(pages))
            })
        })
    ));
}

/// Writes the benefit of larger pages for the largest working set, according to [`Worth`] and the trust alone.
fn compared(
    document: &mut Shown,
    report: &Report<'_, '_>,
    (size, small): (Bytes, Estimate),
    larger: &Larger,
) {
    let head = match larger.worth {
        // The claim about an unreliable result begins with this word already.
        _ if trust::is_poor(report.warnings) => "",
        Worth::Pay if is_wide(small.interval) || is_wide(larger.latency.interval) => "Huge pages help: ",
        Worth::Pay => {
            let ratio = larger.ratio.map_or(f64::NAN, |ratio| ratio.value);
            document.answer(format_args!(
                "Huge pages help: random-access latency over {size} drops from {small} to {larger} ns \
                     ({ratio:.2}x faster).",
                small = Digits(small.value),
                larger = Digits(larger.latency.value)
            ));
            return translated(document, report, size, larger);
        }
        Worth::Nothing => "Huge pages bring no benefit here: ",
        Worth::Cost => "Huge pages are slower here: ",
        Worth::LikeSmall => "Huge pages are faster here, though the TLB treats them as small ones: ",
        Worth::Open => "Inconclusive: ",
    };
    document.answer(format_args!(
        "{head}random-access latency over {size} is {ns} ns with {pages} vs {small} ns with {base}.",
        ns = plus_minus(larger.latency),
        pages = PageWords(larger.pages),
        small = plus_minus(small),
        base = PageWords(report.machine.base_pages())
    ));
    if matches!(larger.worth, Worth::Pay) && !trust::is_poor(report.warnings) {
        translated(document, report, size, larger);
    }
}

/// Writes the least share of translation in the latency with base pages, and the size from which on translation is
/// visible.
fn translated(document: &mut Shown, report: &Report<'_, '_>, size: Bytes, larger: &Larger) {
    let page = report.machine.page.bytes();
    // A lower bound is not rounded up.
    let Some(percent) =
        larger.least_share().map(|share| math::whole(share * 100.0)).filter(|percent| *percent > 0)
    else {
        return;
    };
    // With a larger working set, the page tables no longer fit into the cache, and page walks are slower.
    let more = size.0 / (page.0 / ENTRY) <= report.machine.last_level_cache().0;
    let from = method::optional(larger.from, |from, out| write!(out, "; they are visible from {from} on"));
    document.finding(format_args!(
        "With {base}, TLB misses account for at least {percent}% of the latency{from}{more}.",
        base = PageWords(report.machine.base_pages()),
        more = if more { "; in larger working sets they cost more" } else { "" }
    ));
}

/// Shows nanoseconds by working set, and the savings from the largest pages.
fn table(document: &mut Shown, report: &Report<'_, '_>) {
    let outcomes = report.outcomes;
    let largest = had(report).last().filter(|pages| !pages.are_base());
    document.tabulate("", Level::Quiet, 0, &|table| {
        table.text("working set");
        had(report).for_each(|pages| table.cell(format_args!("{} ns", heading(pages))));
        if let Some(largest) = largest {
            table.cell(format_args!("{} saves", heading(largest)));
        }
        for small in walks(outcomes, report.machine.base_pages()) {
            let point = &small.point;
            table.row();
            table.show(&point.size);
            for pages in had(report) {
                let walk = find(outcomes, pages, (point.order, point.stride, point.size));
                table.number(walk.and_then(Outcome::nanoseconds));
            }
            if largest.is_some() {
                saves(table, ratio(outcomes, small));
            }
        }
    });
}

/// Pushes the share of the time in the smallest pages that the largest pages save.
fn saves(table: &mut ShownTable, ratio: Option<Estimate>) {
    /// The ratio up to which pages count as equally fast: 2 % is not worth a change.
    const ALIKE: f64 = 1.02;
    match ratio.map(|ratio| (ratio.side(ALIKE), ratio.value)) {
        Some((Side::Above, ratio)) => {
            table.cell(format_args!("{:.0}%", (1.0 - 1.0 / ratio) * 100.0));
        }
        // Page walks cannot make larger pages slower, so that other differences were larger.
        Some((Side::Near | Side::Below, _)) => table.text("none"),
        Some((Side::Open, _)) => table.text("unclear"),
        None => table.text("-"),
    }
}

/// Describes the kinds of pages that could not be measured, with their remedies.
fn missing(document: &mut Shown, report: &Report<'_, '_>) {
    for pages in kinds(report.outcomes) {
        let refused = walks(report.outcomes, pages).find_map(|outcome| match outcome.result {
            Err(Exclusion::Placement(error)) => Some(error),
            _ => None,
        });
        if let Some(error) = refused {
            match pages.pool() {
                Some(size) => {
                    describe::missing(document, Role::Missing, &format_args!("{size} pool"), &error)
                }
                None => describe::missing(document, Role::Missing, &name(pages), &error),
            }
        }
    }
}

/// Draws the time that larger pages save, and the latency in each kind of pages. A terminal shows the latter only
/// without the former.
fn pictures(document: &mut Shown, report: &Report<'_, '_>) {
    let base = report.machine.base_pages();
    let compares = had(report).count() > 1 && had(report).any(|pages| pages == base);
    let title = found(report).map_or(String::new(), |found| title(&found, base));
    if compares {
        let saved = |outcome: &Outcome<'_>| {
            let point = &outcome.point;
            let small = find(report.outcomes, base, (point.order, point.stride, point.size))?;
            let Estimate { value, interval } = outcome.estimate()?.over(small.estimate()?)?;
            let of = |share: f64| 100.0 * (1.0 - share);
            let interval = interval.map(|at| Interval { low: of(at.high), high: of(at.low) });
            Some(Estimate { value: of(value), interval })
        };
        let axis = Axis { title: "time saved", unit: Unit::Plain("%"), scale: Scale::Linear };
        let texts = [&title, "time that larger pages save by working set"];
        let kinds = &mut had(report).filter(|pages| *pages != base);
        by_kind(document, chart(report, texts, axis), kinds, &|pages| points(report, pages, &saved), true);
    }
    let axis = Axis { title: "latency", unit: Unit::Plain("ns"), scale: Scale::Auto };
    let chart = chart(report, [&title, "latency by working set"], axis);
    by_kind(document, chart, &mut had(report), &|pages| points(report, pages, &Outcome::estimate), !compares);
}

/// Returns the title of a picture: the latency in base pages and in the largest ones.
fn title(found: &HugePagesConclusion, base: Pages) -> String {
    let (small, base) = (Digits(found.small.value), PageWords(base));
    match found.larger {
        Some(larger) => format!(
            "Huge pages: {} ns vs {small} ns in {base}{}",
            Digits(larger.latency.value),
            method::optional(larger.ratio, |ratio, out| write!(out, " ({:.2}x)", ratio.value))
        ),
        None => format!("{base}: {small} ns"),
    }
}

/// Returns a chart over working sets without lines.
fn chart(report: &Report<'_, '_>, [title, axes]: [&str; 2], y_axis: Axis) -> Chart {
    let subtitle = report.outcomes.first().map(|Outcome { point, .. }| {
        format!(
            "{axes}; CPU {} of node {} to memory of node {}, random order, {} spacing, seed {}",
            point.cpu, point.initiator, point.target, point.stride, point.seed
        )
    });
    Chart {
        title: if title.is_empty() { axes } else { title }.into(),
        subtitle: subtitle.unwrap_or_default(),
        x_axis: Axis { title: "working set", unit: Unit::Bytes, scale: Scale::Logarithmic },
        y_axis,
        series: Vec::new(),
        marks: Vec::new(),
    }
}

/// Returns the value of each point in a kind of pages.
fn points<'a>(
    report: &Report<'_, 'a>,
    pages: Pages,
    value: &dyn Fn(&Outcome<'a>) -> Option<Estimate>,
) -> Vec<ChartPoint> {
    let point = |outcome: &Outcome<'a>| {
        ChartPoint::of(outcome.point.size.0.real(), value(outcome).unwrap_or(f64::NAN.into()))
    };
    vector(&mut walks(report.outcomes, pages).map(point))
}

pub fn summary(document: &mut Shown, report: &Report<'_, '_>) {
    let found = found(report);
    let found = found.as_ref();
    let larger = found.and_then(|found| found.larger);
    document.put(&columns::WORKING_SET, found.map(|found| found.size));
    document.put(&SMALL_NS, found.map(|found| found.small));
    match &larger {
        Some(larger) => document.show(&LARGEST, &larger.pages),
        None => document.put(&LARGEST, None::<bool>),
    }
    document.put(&LARGEST_NS, larger.map(|larger| larger.latency));
    document.put(&OVER_LARGEST, larger.and_then(|larger| larger.ratio));
    document.put(&columns::PAGE_WALK, larger.and_then(|larger| larger.share()));
    members! { document;
        "page_walk_from_bytes": larger.and_then(|larger| larger.from) => "Smallest working set from which on page walks use a tenth of the time, in bytes; null if there is none.";
        "page_local_ns" interval: found.and_then(|found| found.page_local) => "Latency in base pages in page-local order, in nanoseconds; null if not measured.";
        "huge_pages_pay": larger.and_then(|larger| larger.worth.pays()) => "True if larger pages are faster; null if uncertain, or if the TLB treats them as base pages.";
    }
    spans::summary(document, report);
}
