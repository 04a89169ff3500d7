//! Spans of addresses without memory for people and programs: the cost of translation, and the entries of the TLB.

use alloc::vec::Vec;
use core::fmt;

use latency_core::math::ToReal;
use latency_core::stats::Estimate;
use latency_core::units::{Bytes, Pages};

use super::picture::by_kind;
use super::tables;
use crate::analysis::huge_pages::{HugePagesConclusion, behaves_as_small};
use crate::analysis::spans::{at, cost, of_kind};
use crate::analysis::tlb::{TlbEnd, TlbLevels, of_spans};
use crate::analysis::translation::{in_memory, lines_on_pages};
use crate::describe::method::optional;
use crate::describe::rates::plus_minus;
use crate::describe::tlb::{self, entries};
use crate::describe::{Report, columns};
use crate::machine::processor::Platform;
use crate::report::chart::{Axis, Chart, ChartPoint, Scale, Unit, vector};
use crate::report::document::{Level, Part, Role, fields, members};
use crate::report::figures::Digits;
use crate::report::shown::Shown;
use crate::result::core_clock;
use crate::result::spans::{ENTRY, FEWEST_PAGES, SpanSeries, WARM_UP};
use crate::result::words::PageWords;

fields! {
    TRANSLATION "translation" "Cost of address translation by span of addresses, in pages without memory of their own, for each page size.";
    TLB "tlb" "First and second TLB level, if the spans reach their ends.";
    SPANS "spans" "Time of a load of one line in each page, by number of pages.";
}

fields! {
    ALL_SPAN "translation_span_bytes" "Largest span of addresses that all page sizes have, in bytes; null if none was measured.";
    SMALL_COST "small_pages_translation_ns" interval "Cost of translation of a random load over that span in base pages, in nanoseconds.";
    HUGE_COST "huge_pages_translation_ns" interval "Cost of translation of a random load over that span in huge pages, in nanoseconds; null if not measured.";
}

/// Least cost of translation that counts, as a share of a load without.
const VISIBLE: f64 = 0.05;

/// Returns the size of the pages of a kind.
fn size(report: &Report<'_, '_>, pages: Pages) -> Bytes {
    report.machine.size_of(pages).bytes()
}

/// Returns the kinds of pages with a measured span.
fn measured<'r>(report: &Report<'r, '_>) -> impl Iterator<Item = &'r SpanSeries> + Clone {
    report.extra.spans.iter().flatten().filter(|series| series.span.0 > 0)
}

/// Returns the nanoseconds of a load without a TLB miss.
fn hit(report: &Report<'_, '_>) -> f64 {
    report.spans.first().map_or(f64::NAN, |point| point.nanoseconds)
}

/// Returns the levels of the TLB for a kind of pages. Its entries for pages that the host splits are those of base pages.
fn levels(report: &Report<'_, '_>, pages: Pages) -> TlbLevels {
    let is_split = behaves_as_small(report.outcomes, pages);
    let page = size(report, if is_split { report.machine.base_pages() } else { pages });
    of_spans(report.spans, pages, page, core_clock(report.outcomes))
}

/// Returns the largest span that all kinds of pages have.
fn common(report: &Report<'_, '_>) -> Option<Bytes> {
    measured(report).map(|series| series.span).min()
}

/// Describes the cost of translation over the largest span that all kinds of pages have.
pub fn summary(document: &mut Shown, report: &Report<'_, '_>) {
    let span = common(report);
    let of = |base: bool| {
        let series = measured(report).find(|series| series.pages.are_base() == base)?;
        Some(at(report.spans, series.pages, size(report, series.pages), span?)?.1)
    };
    document.put(&ALL_SPAN, span);
    document.put(&SMALL_COST, of(true));
    document.put(&HUGE_COST, of(false));
}

/// Writes the cost of translation over the largest span that all kinds of pages have, and the benefit of huge pages.
pub fn answer(document: &mut Shown, report: &Report<'_, '_>, found: Option<HugePagesConclusion>) {
    let Some(span) = common(report) else { return };
    let costs = measured(report).filter_map(|series| {
        Some((series.pages, at(report.spans, series.pages, size(report, series.pages), span)?.1))
    });
    if costs.clone().all(|(_, cost)| cost.value < VISIBLE * hit(report)) {
        return document.finding(format_args!("No cost of address translation is visible up to {span}."));
    }
    of_memory(document, report);
    document.finding(format_args!(
        "Over {span} of addresses, translation adds {}{}.",
        fmt::from_fn(|out| {
            costs.clone().enumerate().try_for_each(|(index, (pages, cost))| {
                let (comma, load) = if index > 0 { (", ", "") } else { ("", " to a random load") };
                let page = size(report, pages);
                // Where most walks load a line of the tables for the first time, a program with warm tables waits less.
                let is_cold = span.0 / page.0.max(1) * ENTRY / report.machine.line.bytes().0 > WARM_UP;
                let (least, cold) = if is_cold { ("", " with cold page tables") } else { ("at least ", "") };
                write!(out, "{comma}{least}{} ns{load} in {page} pages{cold}", plus_minus(cost))
            })
        }),
        match report.machine.processor.platform {
            Platform::Virtual => "; this is the guest's own part, without the host's",
            _ => "",
        }
    ));
    saving(document, report, span, found);
    tlbs(document, report);
}

/// Writes the cost of translation in memory, over the largest span that was measured there, and the part of it that spans
/// without memory do not have.
fn of_memory(document: &mut Shown, report: &Report<'_, '_>) {
    let line = report.machine.line.bytes();
    let mut lines = lines_on_pages().rev();
    let found = lines.find_map(|lines| in_memory(report.outcomes, report.spans, line, lines));
    let Some(found) = found else { return };
    let is_certain = |part: &Estimate| part.interval.is_some_and(|interval| interval.low > 0.0);
    let Some(cost) = found.cost().filter(is_certain) else { return };
    document.finding(format_args!(
        "Over {} of memory, translation in {} pages adds {} ns to a random load{}.",
        report.machine.page.bytes().times(found.lines),
        report.machine.page,
        plus_minus(cost),
        optional(found.rest().filter(is_certain), |rest, out| {
            let why = match report.machine.processor.platform {
                Platform::Hardware => "data push page tables out of the caches",
                _ => "the host translates, too",
            };
            write!(out, ", {} of them because {why}", Digits(rest.value))
        })
    ));
}

/// Writes the share of a load in memory that huge pages save, if huge pages were measured in memory too.
fn saving(document: &mut Shown, report: &Report<'_, '_>, span: Bytes, found: Option<HugePagesConclusion>) {
    let larger = found.and_then(|found| Some((found.size, found.larger?)));
    let (Some((set, larger)), Some(huge)) =
        (larger, measured(report).find(|series| !series.pages.are_base()))
    else {
        return;
    };
    let cost =
        |pages: Pages, span| at(report.spans, pages, size(report, pages), span).map(|(_, cost)| cost.value);
    let share = |span: Bytes| {
        let [small, large] = [report.machine.base_pages(), huge.pages].map(|pages| cost(pages, span));
        let (small, large) = (small?, large?);
        let without = larger.latency.value - cost(huge.pages, set).unwrap_or(0.0);
        Some(100.0 * (small - large) / (without + small))
    };
    let spans = [Bytes(1 << 30), span].into_iter().filter(|asked| *asked > set && *asked <= span);
    let mut shares = spans.filter_map(|span| Some((span, share(span).filter(|share| *share >= 1.0)?)));
    if larger.worth.pays() == Some(true)
        && let Some((first, percent)) = shares.next()
    {
        let rest = shares.next().filter(|(span, _)| *span != first);
        document.finding(format_args!(
            "Huge pages save {percent:.0}% of a load in memory at {first}{}.",
            fmt::from_fn(
                |out| rest.map_or(Ok(()), |(span, percent)| write!(out, ", {percent:.0}% at {span}"))
            )
        ));
    }
}

/// Writes the entries of the TLB, and the cost of a miss.
fn tlbs(document: &mut Shown, report: &Report<'_, '_>) {
    let clock = core_clock(report.outcomes);
    let (unit, per_ns) = clock.map_or(("ns", 1.0), |gigahertz| ("cycles", gigahertz));
    let miss = |level: TlbEnd| Digits(level.miss_ns * per_ns);
    for series in measured(report) {
        let page = size(report, series.pages);
        // Entries for pages that the host splits say nothing about the processor's entries for whole ones.
        let [Some(first), second] = levels(report, series.pages) else { continue };
        if first.page != page {
            continue;
        }
        document.finding(format_args!(
            "TLB for {page} pages: {} entries (a miss adds {} {unit}){}.",
            entries(first.entries),
            miss(first),
            optional(second, |second, out| {
                write!(out, "; second level {} entries ({} {unit})", entries(second.entries), miss(second))
            })
        ));
    }
}

/// Shows the cost of translation by span: every second octave, and the largest.
pub fn table(document: &mut Shown, report: &Report<'_, '_>) {
    let Some(largest) = measured(report).map(|series| series.span).max() else { return };
    let Some(least) = measured(report).map(|series| size(report, series.pages)).min() else { return };
    let spans = (0..u64::BITS).map(|octave| Bytes(1 << octave)).filter(move |span| {
        let is_shown = span.0.ilog2().is_multiple_of(2) || *span == largest;
        is_shown && *span > least.times(FEWEST_PAGES) && *span <= largest
    });
    document.tabulate("ns of translation by span of addresses", Level::Normal, 0, &|table| {
        table.text("span");
        measured(report).for_each(|series| table.cell(format_args!("{} pages", size(report, series.pages))));
        for span in spans.clone() {
            table.row();
            table.show(&span);
            for series in measured(report) {
                let page = size(report, series.pages);
                let cost = at(report.spans, series.pages, page, span).filter(|(found, _)| *found == span);
                // A smaller difference is that of two measurements.
                let visible = |value: f64| if value < VISIBLE * hit(report) { 0.0 } else { value };
                table.number(cost.map(|(_, cost)| visible(cost.value)));
            }
        }
    });
    for series in measured(report) {
        tables::sentence(document, report.machine, series, size(report, series.pages));
    }
    for series in report.extra.spans.iter().flatten() {
        describe(document, report, series);
    }
}

/// Says why there are no spans of a kind of pages, or what shows that no memory is behind them.
fn describe(document: &mut Shown, report: &Report<'_, '_>, series: &SpanSeries) {
    let (page, end) = (size(report, series.pages), series.end);
    if series.span.0 == 0 {
        let pages = PageWords(series.pages);
        return document.missing(format_args!("Spans of {pages}: not measured: {end}"));
    }
    let has_nodes = report.machine.topology.nodes().len() > 1;
    document.sentence(
        Role::Detail("Spans"),
        format_args!(
            "{page} pages up to {}, all of them {} ({}); {} of page tables{}; {end}",
            series.span,
            if series.pages.pool().is_some() { "one page of the pool" } else { "the kernel's page of zeros" },
            if series.queried { "page query" } else { "memory of the process" },
            series.tables.unwrap_or_default(),
            optional(series.tables_on_node.filter(|_| has_nodes), |share, out| {
                write!(out, ", {:.0}% on the CPU's node", 100.0 * share)
            })
        ),
    );
}

/// Draws the cost of translation over spans.
pub fn picture(document: &mut Shown, report: &Report<'_, '_>) {
    let mut marks = Vec::new();
    for (index, series) in measured(report).enumerate() {
        tables::mark(&mut marks, report.machine, series, size(report, series.pages), index);
    }
    let chart = Chart {
        title: "cost of address translation".into(),
        subtitle: "time of a load of one line in each page, less the time over 8 pages; no memory is behind the addresses".into(),
        x_axis: Axis { title: "span of addresses", unit: Unit::Bytes, scale: Scale::Logarithmic },
        y_axis: Axis { title: "translation", unit: Unit::Plain("ns"), scale: Scale::Auto },
        series: Vec::new(),
        marks,
    };
    let points = |pages| {
        let page = size(report, pages);
        let costs = of_kind(report.spans, pages).iter().filter(|point| point.count.is_power_of_two());
        let mut shown = costs.filter_map(|point| {
            Some(ChartPoint::of(page.times(point.count).0.real(), cost(report.spans, point)?))
        });
        vector(&mut shown)
    };
    by_kind(document, chart, &mut measured(report).map(|series| series.pages), &points, false);
}

/// Describes the spans of every kind of pages.
pub fn data(document: &mut Shown, report: &Report<'_, '_>) {
    document.items(Part::List(&TRANSLATION), report.extra.spans.iter().flatten(), |document, series| {
        let page = size(report, series.pages);
        document.show(&columns::PAGES_ASKED, &series.pages);
        members! { document;
            "largest_span_bytes": series.span => "Largest span that was measured, in bytes; 0 if none was.";
            "page_table_bytes": series.tables => "Page tables of the largest span, in bytes; null if the kernel does not tell.";
            "page_tables_on_node": series.tables_on_node => "Share of these page tables in the memory of the CPU's node; null if unknown.";
            "end" shown: series.end => "Reason why no larger span was measured.";
            "translations_at_once": series.at_once => "Time of a dependent load of the largest span divided by the time of an independent one.";
        }
        let levels = levels(report, series.pages);
        document.items(Part::List(&TLB), levels.iter().flatten(), |document, level| {
            tlb::level(document, level, core_clock(report.outcomes));
        });
        let points = of_kind(report.spans, series.pages).iter();
        document.items(Part::List(&SPANS), points, |document, point| {
            members! { document;
                "pages": point.count => "Number of pages.";
                "span_bytes": page.times(point.count) => "Span of these pages, in bytes.";
                "ns" interval: Estimate { value: point.nanoseconds, interval: point.interval } => "Time of a load, in nanoseconds.";
                "translation_ns" interval: cost(report.spans, point) => "Time less the time over the smallest span, in nanoseconds.";
            }
        });
    });
}
