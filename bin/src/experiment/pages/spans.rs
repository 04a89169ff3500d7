//! Spans of addresses without memory for people and programs: the cost of translation, and the entries of the TLB.

use alloc::vec::Vec;

use latency_core::{Bytes, Estimate, Pages, ToReal};

use crate::analysis::claims::{Claim, Claims};
use crate::analysis::translation::{HugePagesConclusion, InMemory};
use crate::describe::method::optional;
use crate::describe::rates::plus_minus;
use crate::describe::split::{self, tlb_entries};
use crate::describe::{Report, columns};
use crate::record::members::{HUGE_TRANSLATION, SMALL_TRANSLATION, TLB_LEVELS, TRANSLATION};
use latency_engine::machine::Platform;
use latency_engine::result::extra::{ENTRY, FEWEST_PAGES, WARM_UP};
use latency_engine::result::{PageWords, SpanPoint, SpanSeries, core_clock};
use latency_engine::spans::tlb::{TlbEnd, TlbLevels, at, cost, of_kind, of_spans};
use latency_report::chart::vector;
use latency_report::document::{fields, members};
use latency_report::lists::joined;
use latency_report::{
    Axis, Chart, ChartPoint, Data, Digits, Level, Mark, Part, Picture, Role, Scale, Series, Shown, Unit,
};

fields! {
    SPANS "spans" "Time of a load of one line in each page, by number of pages.";
}

members! {
    fn kind(of: &SpanKind<'_>);
    columns::PAGES_ASKED: format!("{}", of.series.pages);
    "largest_span_bytes": of.series.span => "Largest span that was measured, in bytes; 0 if none was.";
    "page_table_bytes": of.series.tables => "Page tables of the largest span, in bytes; null if the kernel does not tell.";
    "page_tables_on_node": of.series.tables_on_node => "Share of these page tables in the memory of the CPU's node; null if unknown.";
    "end" shown: of.series.end => "Reason why no larger span was measured.";
    "translations_at_once": of.series.at_once => "Time of a dependent load of the largest span divided by the time of an independent one.";
}

members! {
    fn span(of: &SpanKind<'_>, point: &SpanPoint);
    "pages": point.count => "Number of pages.";
    "span_bytes": of.page.times(point.count) => "Span of these pages, in bytes.";
    "ns" interval: Estimate { value: point.nanoseconds, interval: point.interval } => "Time of a load, in nanoseconds.";
    "translation_ns" interval: cost(of.points, point) => "Time less the time over the smallest span, in nanoseconds.";
}

members! {
    /// Describes the cost of translation over the largest span that all kinds of pages have.
    pub fn summary(spans: &Spans<'_>);
    "translation_span_bytes": spans.common => "Largest span of addresses that all page sizes have, in bytes; null if none was measured.";
    SMALL_TRANSLATION: spans.cost(true);
    HUGE_TRANSLATION: spans.cost(false);
}

/// Least cost of translation that counts, as a share of a load without.
const VISIBLE: f64 = 0.05;
/// Levels of the caches that page tables may fill: they leave the L1 at spans where the second TLB level ends, too.
const LEVELS: [u32; 2] = [2, 3];

/// The spans of one kind of pages.
struct SpanKind<'r> {
    series: &'r SpanSeries,
    /// The size of a page.
    page: Bytes,
    points: &'r [SpanPoint],
    /// The levels of the TLB. Its entries for pages that the host splits are those of base pages.
    levels: TlbLevels,
    /// The caches that page tables fill within the measured spans, each with the span at which they do.
    full: Vec<(Claim, Bytes)>,
}

impl SpanKind<'_> {
    /// Returns the cost of translation over the largest measured span of at most `span` bytes, and that span.
    fn at(&self, span: Bytes) -> Option<(Bytes, Estimate)> {
        at(self.points, self.series.pages, self.page, span)
    }
}

/// The spans of all kinds of pages.
pub struct Spans<'r> {
    /// The kinds that were begun.
    begun: Vec<SpanKind<'r>>,
    /// The largest span that all measured kinds have.
    common: Option<Bytes>,
    /// Nanoseconds of a load without a TLB miss.
    hit: f64,
    /// The core clock in gigahertz.
    clock: Option<f64>,
}

impl<'r> Spans<'r> {
    /// Concludes from the spans of a report; `is_split` returns true for pages that the TLB treats as base pages.
    pub fn of(report: &Report<'r>, is_split: &dyn Fn(Pages) -> bool) -> Spans<'r> {
        let (machine, clock) = (report.machine, core_clock(report.outcomes));
        let (size, claims) = (|pages: Pages| machine.size_of(pages).bytes(), Claims::of(machine));
        let kind = |series: &'r SpanSeries| {
            let (pages, page) = (series.pages, size(series.pages));
            let entry = if is_split(pages) { size(machine.base_pages()) } else { page };
            let points = of_kind(report.spans, pages);
            let levels = of_spans(points, pages, entry, clock);
            SpanKind { series, page, points, levels, full: full(&claims, series, page) }
        };
        let begun: Vec<SpanKind<'r>> = vector(report.extra.spans.iter().flatten().map(kind));
        let measured = begun.iter().map(|kind| kind.series.span).filter(|span| span.0 > 0);
        let hit = report.spans.first().map_or(f64::NAN, |point| point.nanoseconds);
        Spans { common: measured.min(), begun, hit, clock }
    }

    /// Returns the kinds of pages with a measured span.
    fn measured(&self) -> impl Iterator<Item = &SpanKind<'r>> + Clone {
        self.begun.iter().filter(|kind| kind.series.span.0 > 0)
    }

    /// Returns the cost of translation over the span that all kinds have, in base pages or in larger ones.
    fn cost(&self, in_base: bool) -> Option<Estimate> {
        let kind = self.measured().find(|kind| kind.series.pages.are_base() == in_base)?;
        Some(kind.at(self.common?)?.1)
    }
}

/// Returns the caches that page tables fill within the measured spans, each with the span at which they do.
fn full(claims: &Claims, series: &SpanSeries, page: Bytes) -> Vec<(Claim, Bytes)> {
    let span = |claim: &Claim| page.times(claim.size.0 / ENTRY);
    let claims = LEVELS.into_iter().filter_map(|level| claims.level(level));
    vector(claims.map(|claim| (*claim, span(claim))).filter(|(_, span)| *span <= series.span))
}

/// Writes the cost of translation over the largest span that all kinds of pages have, and the benefit of huge pages.
pub fn answer(
    document: &mut Shown,
    report: &Report<'_>,
    spans: &Spans<'_>,
    in_memory: Option<&InMemory>,
    found: Option<HugePagesConclusion>,
) {
    let Some(span) = spans.common else { return };
    let costs = spans.measured().filter_map(|kind| Some((kind.page, kind.at(span)?.1)));
    let costs: Vec<(Bytes, Estimate)> = vector(costs);
    if costs.iter().all(|(_, cost)| cost.value < VISIBLE * spans.hit) {
        return document.finding(format_args!("No cost of address translation is visible up to {span}."));
    }
    in_memory.into_iter().for_each(|found| of_memory(document, report, found));
    let added = costs.iter().enumerate().map(|(index, (page, cost))| {
        let load = if index > 0 { "" } else { " to a random load" };
        // Where most walks load a line of the tables for the first time, a program with warm tables waits less.
        let is_cold = span.0 / page.0.max(1) * ENTRY / report.machine.line.bytes().0 > WARM_UP;
        let (least, cold) = if is_cold { ("", " with cold page tables") } else { ("at least ", "") };
        format!("{least}{} ns{load} in {page} pages{cold}", plus_minus(*cost))
    });
    document.aside(format_args!(
        "Over {span} of addresses, translation adds {}{}.",
        joined("", ", ", added),
        match report.machine.processor.platform {
            Platform::Virtual => "; this is the guest's own part, without the host's",
            _ => "",
        }
    ));
    saving(document, spans, span, found);
    tlbs(document, spans);
}

/// Writes the cost of translation in memory, over the largest span that was measured there, and the part of it that spans
/// without memory do not have.
fn of_memory(document: &mut Shown, report: &Report<'_>, found: &InMemory) {
    let is_certain = |part: &Estimate| part.interval.is_some_and(|interval| interval.low > 0.0);
    let Some(cost) = found.cost().filter(is_certain) else { return };
    document.aside(format_args!(
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
fn saving(document: &mut Shown, spans: &Spans<'_>, span: Bytes, found: Option<HugePagesConclusion>) {
    let Some((set, larger)) = found.and_then(|found| Some((found.size, found.larger?))) else { return };
    let mut kinds = spans.measured();
    let Some(huge) = kinds.find(|kind| !kind.series.pages.are_base()) else { return };
    let base = spans.measured().find(|kind| kind.series.pages.are_base());
    let cost = |kind: &SpanKind<'_>, span| kind.at(span).map(|(_, cost)| cost.value);
    let share = |span: Bytes| {
        let (small, large) = (cost(base?, span)?, cost(huge, span)?);
        let without = larger.latency.value - cost(huge, set).unwrap_or(0.0);
        Some(100.0 * (small - large) / (without + small))
    };
    let sizes = [Bytes(1 << 30), span].into_iter().filter(|asked| *asked > set && *asked <= span);
    let mut shares = sizes.filter_map(|span| Some((span, share(span).filter(|share| *share >= 1.0)?)));
    if larger.worth.pays() == Some(true)
        && let Some((first, percent)) = shares.next()
    {
        let rest = shares.next().filter(|(span, _)| *span != first);
        document.finding(format_args!(
            "Huge pages save {percent:.0}% of a load in memory at {first}{}.",
            optional(rest, |(span, percent), out| write!(out, ", {percent:.0}% at {span}"))
        ));
    }
}

/// Writes the entries of the TLB, and the cost of a miss.
fn tlbs(document: &mut Shown, spans: &Spans<'_>) {
    let (unit, per_ns) = spans.clock.map_or(("ns", 1.0), |gigahertz| ("cycles", gigahertz));
    let miss = |level: TlbEnd| Digits(level.miss_ns * per_ns);
    for SpanKind { page, levels, .. } in spans.measured() {
        // Entries for pages that the host splits say nothing about the processor's entries for whole ones.
        let [Some(first), second] = *levels else { continue };
        if first.page != *page {
            continue;
        }
        document.aside(format_args!(
            "TLB for {page} pages: {} entries (a miss adds {} {unit}){}.",
            tlb_entries(first.entries),
            miss(first),
            optional(second, |second, out| {
                write!(
                    out,
                    "; second level {} entries ({} {unit})",
                    tlb_entries(second.entries),
                    miss(second)
                )
            })
        ));
    }
}

/// Shows the cost of translation by span: every second octave, and the largest.
pub fn table(document: &mut Shown, report: &Report<'_>, spans: &Spans<'_>) {
    let Some(largest) = spans.measured().map(|kind| kind.series.span).max() else { return };
    let Some(least) = spans.measured().map(|kind| kind.page).min() else { return };
    document.tabulate("ns of translation by span of addresses", Level::Normal, 0, &|table| {
        table.text("span").each(spans.measured().map(|kind| format!("{} pages", kind.page)));
        let octaves = (0..u64::BITS).map(|octave| Bytes(1 << octave));
        for span in octaves.filter(|span| *span > least.times(FEWEST_PAGES) && *span <= largest) {
            if !span.0.ilog2().is_multiple_of(2) && span != largest {
                continue;
            }
            table.row().show(&span);
            for kind in spans.measured() {
                let cost = kind.at(span).filter(|(found, _)| *found == span);
                // A smaller difference is that of two measurements.
                let visible = |value: f64| if value < VISIBLE * spans.hit { 0.0 } else { value };
                table.number(cost.map(|(_, cost)| visible(cost.value)));
            }
        }
    });
    for SpanKind { page, full, .. } in spans.measured().filter(|kind| !kind.full.is_empty()) {
        let all =
            full.iter().map(|(Claim { level, size, .. }, span)| format!("the L{level} ({size}) at {span}"));
        document.under(Role::Provenance("Page tables")).write(format_args!(
            "for {page} pages they fill {} (computed from {ENTRY} bytes for each page, not measured)",
            joined("", ", ", all)
        ));
    }
    spans.begun.iter().for_each(|kind| describe(document, report, kind));
}

/// Says why there are no spans of a kind of pages, or what shows that no memory is behind them.
fn describe(document: &mut Shown, report: &Report<'_>, SpanKind { series, page, .. }: &SpanKind<'_>) {
    let end = series.end;
    if series.span.0 == 0 {
        let pages = PageWords(series.pages);
        return document.missing(format_args!("Spans of {pages}: not measured: {end}"));
    }
    let has_nodes = report.machine.topology.nodes().len() > 1;
    document.under(Role::Detail("Spans")).write(format_args!(
        "{page} pages up to {}, all of them {} ({}); {} of page tables{}; {end}",
        series.span,
        if series.pages.pool().is_some() { "one page of the pool" } else { "the kernel's page of zeros" },
        if series.queried { "page query" } else { "memory of the process" },
        series.tables.unwrap_or_default(),
        optional(series.tables_on_node.filter(|_| has_nodes), |share, out| {
            write!(out, ", {:.0}% on the CPU's node", 100.0 * share)
        })
    ));
}

/// Draws the cost of translation over spans, with a mark for each of the spans at which page tables fill caches that is
/// beyond the marks before, in the colour of its kind of pages.
pub fn picture(document: &mut Shown, spans: &Spans<'_>) {
    let (mut marks, mut last) = (Vec::new(), 0.0);
    for (index, SpanKind { page, full, .. }) in spans.measured().enumerate() {
        for (Claim { level, .. }, span) in full {
            let place = span.0.real();
            if place > last {
                last = place;
                let label = format_args!("tables fill the L{level} ({page} pages, computed)");
                marks.push(Mark { series: Some(index), ..Mark::line(place, label) });
            }
        }
    }
    let texts = [
        "cost of address translation",
        "time of a load of one line in each page, less the time over 8 pages; no memory is behind the addresses",
    ];
    let x_axis = Axis { title: "span of addresses", ..Axis::WORKING_SET };
    let y_axis = Axis { title: "translation", unit: Unit::Plain("ns"), scale: Scale::Auto };
    let chart = Chart { marks, ..Chart::of(texts.map(Into::into), [x_axis, y_axis], Vec::new()) };
    let lines = spans.measured().map(|kind| {
        let costs = kind.points.iter().filter(|point| point.count.is_power_of_two());
        let mut shown = costs.filter_map(|point| {
            Some(ChartPoint::of(kind.page.times(point.count).0.real(), cost(kind.points, point)?))
        });
        (kind.series.pages, vector(&mut shown))
    });
    by_kind(document, chart, &mut { lines }, false);
}

/// Draws `chart` with a line for each kind of pages, unless there is none. A terminal shows it only if `in_text` is true.
pub fn by_kind(
    document: &mut Shown,
    chart: Chart,
    lines: &mut dyn Iterator<Item = (Pages, Vec<ChartPoint>)>,
    in_text: bool,
) {
    let line = |(pages, points)| Series { name: format!("{}", PageWords(pages)), data: Data::Points(points) };
    let series = vector(&mut lines.map(line));
    if !series.is_empty() {
        document.draw(Picture::Chart(Chart { series, ..chart }), in_text);
    }
}

/// Describes the spans of every kind of pages.
pub fn data(document: &mut Shown, spans: &Spans<'_>) {
    document.items(Part::List(&TRANSLATION), &spans.begun, |document, of| {
        kind(document, of);
        document.items(Part::List(&TLB_LEVELS), of.levels.iter().flatten(), |document, level| {
            split::tlb_level(document, level, spans.clock);
        });
        document.items(Part::List(&SPANS), of.points, |document, point| span(document, of, point));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::claims::Source;
    use latency_core::{PageSize, Pages};
    use latency_engine::result::SpanEnd;
    use std::vec::Vec;

    #[test]
    fn page_tables_fill_only_caches_that_are_known_and_only_within_the_measured_spans() {
        let filled = |caches: &[(u32, u64)], page: Bytes| {
            let mut claims = Claims::default();
            for (level, mebibytes) in caches {
                claims.add(Claim { level: *level, size: Bytes(mebibytes << 20), source: Source::Sysfs });
            }
            let series = SpanSeries {
                pages: Pages::base(PageSize::KIB_4),
                span: Bytes(16 << 30),
                tables: None,
                tables_on_node: None,
                queried: true,
                end: SpanEnd::Time,
                at_once: None,
            };
            let found = full(&claims, &series, page).into_iter();
            found.map(|(claim, span)| (claim.level, span.0 >> 20)).collect::<Vec<_>>()
        };
        let (small, huge) = (Bytes(4 << 10), Bytes(2 << 20));
        // An entry of 8 bytes translates 4 KiB, so that 1 MiB of entries translates 512 MiB.
        assert_eq!(filled(&[(1, 1), (2, 1), (3, 32)], small), [(2, 512), (3, 16 << 10)]);
        assert_eq!(filled(&[(2, 2), (3, 33)], small), [(2, 1024)]);
        assert_eq!(filled(&[(3, 32)], small), [(3, 16 << 10)]);
        assert_eq!([filled(&[], small), filled(&[(2, 1), (3, 32)], huge)], [[], []]);
    }
}
