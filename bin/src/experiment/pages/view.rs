//! Kinds of pages for people and programs: the benefit of larger pages, by working set.

use latency_core::compact::Compact;
use latency_core::decimal::Decimal;
use latency_core::math;
use latency_core::text::Text;
use latency_core::units::{Bytes, Pages};

use crate::analysis::huge_pages::{
    HugePagesConclusion, KINDS, Larger, Worth, conclude, kinds, spanned, walks,
};
use crate::analysis::translation::{SMALLEST, buffers, find, ratio, share};
use crate::describe::rates::plus_minus;
use crate::describe::{self, Report, columns, method, point, trust};
use crate::report::chart::{Axis, Chart, ChartPoint, Data, Scale, Series, Unit};
use crate::report::document::{Document, Level, Part, Picture, Role, Rows, fields};
use crate::report::figures::Digits;
use crate::result::sample::collect;
use crate::result::words::page_words;
use crate::result::{Exclusion, Outcome};
use latency_core::stats::{Estimate, Interval, Side};
use latency_core::words::Worded;

fields! {
    TLBS "tlbs" "TLB levels for each page size.";
    LEVELS "levels" "First and second TLB level, if the measured sizes reach their ends.";
    SPAN "span_bytes" "Largest span without a TLB miss, with one line per 4 KiB, in bytes.";
    MISS "miss_core_cycles" "Core cycles that a TLB miss adds.";
    AS_SMALL "behaves_as_small" "True if the TLB treats larger pages like 4 KiB pages; null if unknown.";
    SMALL_NS "small_pages_ns +-" "Latency over `working_set_bytes` in 4 KiB pages, in nanoseconds.";
    LARGEST "largest_pages" "Largest page size that was obtained for comparison; null if none was.";
    LARGEST_NS "largest_pages_ns +-" "Latency in the largest pages, in nanoseconds.";
    OVER_LARGEST "small_over_largest_pages +-" "Latency in 4 KiB pages divided by latency in the largest pages.";
    FROM "page_walk_from_bytes" "Smallest working set from which on page walks use a tenth of the time, in bytes; null if there is none.";
    LOCAL_NS "page_local_ns +-" "Latency in 4 KiB pages in page-local order, in nanoseconds; null if not measured.";
    PAY "huge_pages_pay" "True if larger pages are faster; null if uncertain, or if the TLB treats them as 4 KiB pages.";
}

/// Returns the conclusion from the points of a report.
pub fn found(report: &Report<'_, '_>) -> Option<HugePagesConclusion> {
    conclude(report.outcomes, report.health.pages_behave_as_small == Some(true))
}

/// Describes the table, the picture, what is missing, and the method.
pub fn evidence(document: &mut dyn Document, report: &Report<'_, '_>) {
    table(document, report);
    pictures(document, report);
    missing(document, report);
    method::walks(document, report);
}

/// Describes every point as a row.
pub fn records(document: &mut dyn Document, report: &Report<'_, '_>) {
    point::rows_with(document, report, &|document, _, outcome| {
        document.put(&columns::SPANNED, spanned(outcome));
        document.put(&columns::PAGE_WALK, share(report.outcomes, outcome));
    });
}

/// Describes the evidence and the translation buffers.
pub fn data(document: &mut dyn Document, report: &Report<'_, '_>) {
    point::evidence(document, report);
    buffers_of_all(document, report);
}

/// Returns the kinds of pages that have a measured point.
pub(super) fn had<'r, 'a>(report: &Report<'r, 'a>) -> impl Iterator<Item = Pages> + Clone + use<'r, 'a> {
    let outcomes = report.outcomes;
    Compact(
        kinds(outcomes).filter(move |pages| walks(outcomes, *pages).any(|outcome| outcome.result.is_ok())),
    )
}

/// Returns the heading for a kind of pages.
pub(super) const fn heading(pages: Pages) -> &'static str {
    match pages {
        Pages::Auto | Pages::Small4k => "4 KiB",
        Pages::Thp => "THP",
        Pages::Huge2m => "2 MiB",
        Pages::Huge1g => "1 GiB",
    }
}

/// Writes whether larger pages are faster, by how much, and from which size on.
pub fn answer(document: &mut dyn Document, report: &Report<'_, '_>) {
    match found(report) {
        Some(HugePagesConclusion { size, small, larger: Some(larger), .. }) => {
            compared(document, report, (size, small), &larger)
        }
        Some(HugePagesConclusion { size, small, larger: None, .. }) => document.answer(format_args!(
            "Random-access latency over {size} is {} ns with 4 KiB pages; no larger pages were measured.",
            Digits(small.value)
        )),
        None if report.outcomes.iter().all(|outcome| outcome.point.size < SMALLEST) => {
            document.answer(format_args!("Page sizes are compared from {SMALLEST} on; use a larger --size."))
        }
        None => {}
    }
    let as_small = |pages: &Pages| buffers(report.outcomes, *pages).behaves_as_small == Some(true);
    for pages in had(report).filter(as_small) {
        document.finding(format_args!(
            "{} behave like 4 KiB pages in the TLB, as when a hypervisor backs them with 4 KiB pages.",
            if pages == Pages::Thp { "Transparent huge pages" } else { page_words(pages) }
        ));
    }
}

/// Writes the benefit of larger pages for the largest working set, according to [`Worth`] and the trust alone.
fn compared(
    document: &mut dyn Document,
    report: &Report<'_, '_>,
    (size, small): (Bytes, Estimate),
    larger: &Larger,
) {
    let head = match larger.worth {
        // The claim about an unreliable result begins with this word already.
        _ if trust::is_poor(report.warnings) => "",
        Worth::Pay => {
            let ratio = larger.ratio.map_or(f64::NAN, |ratio| ratio.value);
            document.answer(format_args!(
                "Huge pages help: random-access latency over {size} drops from {} to {} ns ({:.2}x faster).",
                Digits(small.value),
                Digits(larger.latency.value),
                Decimal(ratio)
            ));
            return translated(document, report, size, larger);
        }
        Worth::Nothing => "Huge pages bring no benefit here: ",
        Worth::Cost => "Huge pages are slower here: ",
        Worth::LikeSmall | Worth::Open => "Inconclusive: ",
    };
    document.answer(format_args!(
        "{head}random-access latency over {size} is {} ns with {} vs {} ns with 4 KiB pages.",
        plus_minus(larger.latency),
        page_words(larger.pages),
        plus_minus(small),
    ));
}

/// Writes the least share of translation in the latency with 4 KiB pages, and the size from which on translation is
/// visible.
fn translated(document: &mut dyn Document, report: &Report<'_, '_>, size: Bytes, larger: &Larger) {
    /// Bytes of working set for each byte of page tables: an entry of 8 bytes translates a page of 4 KiB.
    const TABLES: u64 = 4096 / 8;
    // A lower bound is not rounded up.
    let Some(percent) =
        larger.least_share().map(|share| math::whole(share * 100.0)).filter(|percent| *percent > 0)
    else {
        return;
    };
    // With a larger working set, the page tables no longer fit into the cache, and page walks are slower.
    let more = size.0 / TABLES <= report.machine.last_level_cache().0;
    document.finding(format_args!(
        "With 4 KiB pages, TLB misses account for at least {percent}% of the latency{}{}.",
        method::optional(larger.from, |from, out| write!(out, "; they are visible from {from} on")),
        if more { "; in larger working sets they cost more" } else { "" }
    ));
}

/// Shows nanoseconds by working set, and the savings from the largest pages.
fn table(document: &mut dyn Document, report: &Report<'_, '_>) {
    let outcomes = report.outcomes;
    let largest = had(report).last().filter(|pages| *pages != Pages::Small4k);
    document.tabulate("", Level::Quiet, 0, &|table| {
        table.text("working set");
        had(report).for_each(|pages| table.cell(format_args!("{} ns", heading(pages))));
        if let Some(largest) = largest {
            table.cell(format_args!("{} saves", heading(largest)));
        }
        for small in walks(outcomes, Pages::Small4k) {
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
fn saves(table: &mut Rows<'_>, ratio: Option<Estimate>) {
    /// The ratio up to which pages count as equally fast: 2 % is not worth a change.
    const ALIKE: f64 = 1.02;
    match ratio.map(|ratio| (ratio.side(ALIKE), ratio.value)) {
        Some((Side::Above, ratio)) => {
            table.cell(format_args!("{:.0}%", Decimal((1.0 - 1.0 / ratio) * 100.0)));
        }
        // Page walks cannot make larger pages slower, so that other differences were larger.
        Some((Side::Near | Side::Below, _)) => table.text("none"),
        Some((Side::Open, _)) => table.text("unclear"),
        None => table.text("-"),
    }
}

/// Describes the kinds of pages that could not be measured, with their remedies.
fn missing(document: &mut dyn Document, report: &Report<'_, '_>) {
    for pages in kinds(report.outcomes) {
        let refused = walks(report.outcomes, pages).find_map(|outcome| match outcome.result {
            Err(Exclusion::Placement(error)) => Some(error),
            _ => None,
        });
        let name = match pages {
            Pages::Auto | Pages::Small4k => "4 KiB pages",
            Pages::Thp => "Transparent huge pages",
            Pages::Huge2m => "2 MiB pool",
            Pages::Huge1g => "1 GiB pool",
        };
        if let Some(error) = refused {
            describe::missing(document, Role::Missing, &name, &error);
        }
    }
}

/// Draws the time that larger pages save, and the latency in each kind of pages. A terminal shows the latter only
/// without the former.
fn pictures(document: &mut dyn Document, report: &Report<'_, '_>) {
    let compares = had(report).count() > 1 && had(report).any(|pages| pages == Pages::Small4k);
    let title = found(report).map_or(Text::EMPTY, |found| title(&found));
    if compares {
        let saved = |outcome: &Outcome<'_>| {
            let point = &outcome.point;
            let small = find(report.outcomes, Pages::Small4k, (point.order, point.stride, point.size))?;
            let Estimate { value, interval } = outcome.estimate()?.over(small.estimate()?)?;
            let of = |share: f64| 100.0 * (1.0 - share);
            let interval = interval.map(|at| Interval { low: of(at.high), high: of(at.low) });
            Some(Estimate { value: of(value), interval })
        };
        let axis = &Axis { title: "time saved", unit: Unit::Plain("%"), scale: Scale::Linear };
        let subtitle = "time that larger pages save by working set";
        picture(document, report, Some(Pages::Small4k), [title.as_str(), subtitle], axis, &saved);
    }
    if !compares || document.wants_pictures() {
        let axis = &Axis { title: "latency", unit: Unit::Plain("ns"), scale: Scale::Auto };
        let texts = [title.as_str(), "latency by working set"];
        picture(document, report, None, texts, axis, &|outcome: &Outcome<'_>| outcome.estimate());
    }
}

/// Returns the title of a picture: the latency in 4 KiB pages and in the largest ones.
fn title(found: &HugePagesConclusion) -> Text<96> {
    let small = Digits(found.small.value);
    match found.larger {
        Some(larger) => Text::of(format_args!(
            "Huge pages: {} ns vs {small} ns in 4 KiB pages{}",
            Digits(larger.latency.value),
            method::optional(larger.ratio, |ratio, out| write!(out, " ({:.2}x)", Decimal(ratio.value)))
        )),
        None => Text::of(format_args!("4 KiB pages: {small} ns")),
    }
}

/// Draws a value for each kind of pages except `but`, over working sets.
#[inline(never)] // offsets into a small frame are short
fn picture(
    document: &mut dyn Document,
    report: &Report<'_, '_>,
    but: Option<Pages>,
    [title, axes]: [&str; 2],
    y_axis: &Axis<'_>,
    value: &dyn Fn(&Outcome<'_>) -> Option<Estimate>,
) {
    /// The maximum number of working sets of a picture.
    const MOST: usize = 40;
    let mut points = [[ChartPoint::new(f64::NAN, f64::NAN); MOST]; KINDS.len()];
    let mut series = [Series { name: "", data: Data::Points(&[]) }; KINDS.len()];
    let mut count = 0;
    let kinds = had(report).filter(|pages| Some(*pages) != but);
    for ((pages, room), slot) in kinds.zip(&mut points).zip(&mut series) {
        let walks = walks(report.outcomes, pages);
        let points = walks.map(|outcome| {
            ChartPoint::of(outcome.point.size.0 as f64, value(outcome).unwrap_or(f64::NAN.into()))
        });
        *slot = Series { name: page_words(pages), data: Data::Points(collect(room, points)) };
        count += 1;
    }
    let mut subtitle = Text::<320>::EMPTY;
    if let Some(Outcome { point, .. }) = report.outcomes.first() {
        subtitle = Text::of(format_args!(
            "{axes}; CPU {} of node {} to memory of node {}, random order, {} spacing, seed {}",
            point.cpu, point.initiator, point.target, point.stride, point.seed
        ));
    }
    document.picture(Picture::Chart(&Chart {
        title: if title.is_empty() { axes } else { title },
        subtitle: subtitle.as_str(),
        x_axis: &Axis { title: "working set", unit: Unit::Bytes, scale: Scale::Logarithmic },
        y_axis,
        series: series.get(..count).unwrap_or_default(),
        marks: &[],
    }));
}

fn buffers_of_all(document: &mut dyn Document, report: &Report<'_, '_>) {
    document.items(Part::List(&TLBS), kinds(report.outcomes), |document, pages| {
        let found = buffers(report.outcomes, pages);
        document.put(&columns::PAGES_ASKED, pages.word());
        document.items(Part::List(&LEVELS), found.levels.iter().flatten(), |document, buffer| {
            document.put(&SPAN, buffer.reach);
            document.put(&MISS, buffer.miss);
        });
        document.put(&AS_SMALL, found.behaves_as_small);
    });
}

#[inline(never)] // offsets into a small frame are short
pub fn summary(document: &mut dyn Document, report: &Report<'_, '_>) {
    let found = found(report);
    let found = found.as_ref();
    let larger = found.and_then(|found| found.larger);
    document.put(&columns::WORKING_SET, found.map(|found| found.size));
    document.put(&SMALL_NS, found.map(|found| found.small));
    document.put(&LARGEST, larger.map(|larger| larger.pages.word()));
    document.put(&LARGEST_NS, larger.map(|larger| larger.latency));
    document.put(&OVER_LARGEST, larger.and_then(|larger| larger.ratio));
    document.put(&columns::PAGE_WALK, larger.and_then(|larger| larger.share()));
    document.put(&FROM, larger.and_then(|larger| larger.from));
    document.put(&LOCAL_NS, found.and_then(|found| found.page_local));
    document.put(&PAY, larger.and_then(|larger| larger.worth.pays()));
}
