//! Kinds of pages for people and programs: the benefit of larger pages, by working set and by order, and the cost of
//! translation in memory.

use alloc::string::String;
use alloc::vec::Vec;

use latency_core::chain::Order;
use latency_core::{Bytes, Estimate, Interval, Pages, Side, ToReal, math};

use super::spans::{self, Spans, by_kind};
use crate::analysis::translation::{
    FEWEST_LINES, HugePagesConclusion, InMemory, Larger, PageWalks, TWO_MEGABYTE_LOCAL, Worth, conclude,
    spanned,
};
use crate::describe::rates::{is_wide, plus_minus};
use crate::describe::{self, Report, ReportParts, columns, method, point, split, trust};
use crate::record::members::{LARGEST_PAGES, PAGE_LOCAL, SMALL_PAGES};
use latency_engine::result::extra::ENTRY;
use latency_engine::result::{Exclusion, OrderName, Outcome, PageKind, PageWords};
use latency_report::chart::vector;
use latency_report::document::members;
use latency_report::lists::joined;
use latency_report::{Axis, Chart, ChartPoint, Digits, Level, Role, Scale, Shown, Unit};

members! {
    fn summary(found: Option<&HugePagesConclusion>, larger: Option<&Larger>);
    columns::WORKING_SET: found.map(|found| found.size);
    SMALL_PAGES: found.map(|found| found.small);
    "largest_pages": larger.map(|larger| format!("{}", larger.pages)) => "Largest page size that was obtained for comparison; null if none was.";
    LARGEST_PAGES: larger.map(|larger| larger.latency);
    "small_over_largest_pages" interval: larger.and_then(|larger| larger.ratio) => "Latency in base pages divided by latency in the largest pages.";
    columns::PAGE_WALK: larger.and_then(Larger::share);
    "page_walk_from_bytes": larger.and_then(|larger| larger.from) => "Smallest working set from which on page walks use a tenth of the time, in bytes; null if there is none.";
    PAGE_LOCAL: found.and_then(|found| found.page_local);
    "huge_pages_pay": larger.and_then(|larger| larger.worth.pays()) => "True if larger pages are faster; null if uncertain, or if the TLB treats them as base pages.";
}

/// The conclusions from all kinds of pages.
struct PagesView<'r> {
    walks: PageWalks<'r>,
    /// The kinds of pages that have a measured point.
    had: Vec<Pages>,
    /// The benefit of larger pages.
    found: Option<HugePagesConclusion>,
    /// The walks over one line on each of many base pages of memory.
    in_memory: Vec<InMemory>,
    /// The spans of addresses without memory.
    spans: Spans<'r>,
}

/// Describes all kinds of pages.
pub fn present(parts: &mut ReportParts, report: &Report<'_>) {
    let walks = PageWalks::of(report.outcomes);
    let view = &PagesView {
        had: walks.had(),
        found: conclude(&walks, report.health.pages_behave_as_small == Some(true)),
        in_memory: walks.in_memory(report.spans, report.machine.line.bytes()),
        spans: Spans::of(report, &|pages| walks.behaves_as_small(pages)),
        walks,
    };
    let found = view.found.as_ref();
    summary(&mut parts.summary, found, found.and_then(|found| found.larger.as_ref()));
    spans::summary(&mut parts.summary, &view.spans);
    point::rows_with(&mut parts.rows, report, &|document, _, outcome| {
        document.put(&columns::SPANNED, spanned(outcome));
        document.put(&columns::PAGE_WALK, view.walks.share(outcome));
    });
    answer(&mut parts.answer, report, view);
    let evidence = &mut parts.evidence;
    table(evidence, report, view);
    spans::table(evidence, report, &view.spans);
    pictures(evidence, report, view);
    spans::picture(evidence, &view.spans);
    missing(evidence, view);
    method::walks(evidence, report);
    let data = &mut parts.data;
    by_order(data, report, view);
    beside_data(data, report, view);
    point::table(data, report, (Level::Verbose, "walk"), &|_, Outcome { point, .. }| {
        let (size, pages) = (point.size, point.pages);
        match point.stride == point.line.bytes() {
            true => format!("{size}, {pages}, {}", OrderName(point.order)),
            false => format!("{size}, {pages}, one line per page"),
        }
    });
    point::evidence(data, report);
    spans::data(data, &view.spans);
}

/// Returns the heading for a kind of pages.
fn heading(pages: Pages) -> String {
    if pages.are_transparent() { "THP".into() } else { format!("{}", PageKind(pages)) }
}

/// Returns the name of a kind of pages at the start of a sentence.
fn name(pages: Pages) -> String {
    if pages.are_transparent() { "Transparent huge pages".into() } else { format!("{}", PageWords(pages)) }
}

/// Writes whether larger pages are faster, by how much, and from which size on.
fn answer(document: &mut Shown, report: &Report<'_>, view: &PagesView<'_>) {
    let base = PageWords(report.machine.base_pages());
    let smallest = report.machine.line.times(FEWEST_LINES);
    match view.found {
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
    told_apart(document, report, view);
    for pages in view.had.iter().filter(|pages| view.walks.behaves_as_small(**pages)) {
        document.aside(format_args!(
            "{pages} behave like {base} in the TLB, as when a hypervisor backs them with {base}.",
            pages = name(*pages)
        ));
    }
    spans::answer(document, report, &view.spans, view.in_memory.last(), view.found);
}

/// Writes memory and translation of the largest working set in each kind of pages, if they were told apart.
fn told_apart(document: &mut Shown, report: &Report<'_>, view: &PagesView<'_>) {
    let base = report.machine.base_pages();
    let of = |pages: &Pages| {
        let mut walks = view.walks.random(*pages).rev();
        walks.find_map(|outcome| Some((outcome.point.size, split::parts(outcome)?, *pages)))
    };
    let all: Vec<_> = vector(view.had.iter().filter_map(of));
    let Some((size, first, _)) = all.iter().find(|(.., pages)| *pages == base).or(all.first()) else {
        return;
    };
    let added = all.iter().map(|(_, parts, pages)| {
        let name = if pages.are_transparent() { "THP".into() } else { format!("{}", PageWords(*pages)) };
        format!("{} in {name}", split::with_ends(parts.translation))
    });
    document.finding(format_args!(
        "A random load over {size}: memory {}, translation {}.",
        split::with_ends(first.without_translation),
        joined("", ", ", added)
    ));
}

/// Writes the benefit of larger pages for the largest working set, according to [`Worth`] and the trust alone.
fn compared(document: &mut Shown, report: &Report<'_>, (size, small): (Bytes, Estimate), larger: &Larger) {
    let head = match larger.worth {
        // The claim about an unreliable result begins with this word already.
        _ if trust::is_poor(report.warnings) => "",
        Worth::Pay if is_wide(small.interval) || is_wide(larger.latency.interval) => "Huge pages help: ",
        Worth::Pay => {
            let ratio = larger.ratio.map_or(f64::NAN, |ratio| ratio.value);
            document.answer(format_args!(
                "Huge pages help: a random load over {size} drops from {small} to {larger} ns ({ratio:.2}x).",
                small = Digits(small.value),
                larger = Digits(larger.latency.value)
            ));
            return translated(document, report, size, larger);
        }
        Worth::Nothing => "Huge pages bring no benefit here: ",
        Worth::Cost => "Huge pages are slower here: ",
        Worth::LikeSmall => "Huge pages are faster here, though the TLB treats them as small ones: ",
        Worth::Open => "Huge pages may bring no benefit here: ",
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
fn translated(document: &mut Shown, report: &Report<'_>, size: Bytes, larger: &Larger) {
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
    document.aside(format_args!(
        "With {base}, TLB misses account for at least {percent}% of the latency{from}{more}.",
        base = PageWords(report.machine.base_pages()),
        more = if more { "; in larger working sets they cost more" } else { "" }
    ));
}

/// Shows nanoseconds by working set, and the savings from the largest pages.
fn table(document: &mut Shown, report: &Report<'_>, PagesView { walks, had, .. }: &PagesView<'_>) {
    let largest = had.last().filter(|pages| !pages.are_base());
    document.tabulate("", Level::Quiet, 0, &|table| {
        table.text("working set").each(had.iter().map(|pages| format!("{} ns", heading(*pages))));
        if let Some(largest) = largest {
            table.cell(format_args!("{} saves", heading(*largest)));
        }
        for small in walks.random(report.machine.base_pages()) {
            table.row().show(&small.point.size);
            for pages in had {
                table.number(walks.like(small, *pages).and_then(Outcome::nanoseconds));
            }
            if largest.is_some() {
                table.text(&saves(walks.ratio(small)));
            }
        }
    });
}

/// Returns the share of the time in the smallest pages that the largest pages save.
fn saves(ratio: Option<Estimate>) -> String {
    /// The ratio up to which pages count as equally fast: 2 % is not worth a change.
    const ALIKE: f64 = 1.02;
    let Some(ratio) = ratio else { return "-".into() };
    let saved = |ratio: f64| (1.0 - 1.0 / ratio) * 100.0;
    let ends = method::optional(
        ratio.interval.filter(|interval| interval.low > 0.0),
        |Interval { low, high }, out| write!(out, " ({:.0} to {:.0})", saved(low), saved(high)),
    );
    match ratio.side(ALIKE) {
        Side::Above => format!("{:.0}%{ends}", saved(ratio.value)),
        // Page walks cannot make larger pages slower, so that other differences were larger.
        Side::Near | Side::Below => "none".into(),
        Side::Open => format!("unclear{ends}"),
    }
}

/// Shows the savings of orders that stay within a page, at the largest working set.
fn by_order(document: &mut Shown, report: &Report<'_>, PagesView { walks, had, found, .. }: &PagesView<'_>) {
    let Some(HugePagesConclusion { size, .. }) = *found else { return };
    let machine = report.machine;
    let orders = [Order::Random, TWO_MEGABYTE_LOCAL, Order::Local(machine.page.bytes())];
    let caption = "ns by order: random everywhere, or region by region";
    document.tabulate(caption, Level::Verbose, 1, &|table| {
        table.show(&size).each(had.iter().map(|pages| heading(*pages)));
        for order in orders {
            table.row().show(&OrderName(order));
            for pages in had {
                let walk = walks.find(*pages, (order, machine.line.bytes(), size));
                table.number(walk.and_then(Outcome::nanoseconds));
            }
        }
    });
}

/// Shows the time of one line on each of many base pages of memory, less the time of as many lines in the largest pages
/// and the cost of translation without memory: the rest is what data and page tables cost each other, and in a guest
/// the host's share.
fn beside_data(document: &mut Shown, report: &Report<'_>, PagesView { in_memory, .. }: &PagesView<'_>) {
    if in_memory.is_empty() {
        return;
    }
    document.tabulate("ns of one line on each base page of memory", Level::Verbose, 0, &|table| {
        table.texts(&["pages", "span", "memory", "data alone", "translation alone", "rest"]);
        for row in in_memory {
            table.row().show(&row.lines).show(&report.machine.page.bytes().times(row.lines));
            for estimate in [Some(row.memory), row.data, row.alone, row.rest()] {
                table.number(estimate.map(|estimate| estimate.value));
            }
        }
    });
}

/// Describes the kinds of pages that could not be measured, with their remedies.
fn missing(document: &mut Shown, PagesView { walks, had, .. }: &PagesView<'_>) {
    for pages in walks.kinds.iter().filter(|pages| !had.contains(pages)) {
        let refused = walks.random(*pages).find_map(|outcome| match outcome.result {
            Err(Exclusion::Placement(error)) => Some(error),
            _ => None,
        });
        let name = pages.pool().map_or_else(|| name(*pages), |size| format!("{size} pool"));
        if let Some(error) = refused {
            describe::missing(document, Role::Missing, &name, &error);
        }
    }
}

/// Draws the time that larger pages save, and the latency in each kind of pages. A terminal shows the latter only
/// without the former.
fn pictures(document: &mut Shown, report: &Report<'_>, PagesView { walks, had, found, .. }: &PagesView<'_>) {
    let base = report.machine.base_pages();
    let compares = had.len() > 1 && had.contains(&base);
    let title = found.as_ref().map_or(String::new(), |found| title(found, base));
    let points = |pages: Pages, value: &dyn Fn(&Outcome) -> Option<Estimate>| {
        let point = |outcome: &Outcome| {
            ChartPoint::of(outcome.point.size.0.real(), value(outcome).unwrap_or(f64::NAN.into()))
        };
        (pages, vector(&mut walks.random(pages).map(point)))
    };
    if compares {
        let saved = |outcome: &Outcome| {
            let Estimate { value, interval } =
                outcome.estimate()?.over(walks.like(outcome, base)?.estimate()?)?;
            let of = |share: f64| 100.0 * (1.0 - share);
            let interval = interval.map(|at| Interval { low: of(at.high), high: of(at.low) });
            Some(Estimate { value: of(value), interval })
        };
        let axis = Axis { title: "time saved", unit: Unit::Plain("%"), scale: Scale::Linear };
        let texts = [&title, "time that larger pages save by working set"];
        let larger = had.iter().filter(|pages| **pages != base);
        by_kind(document, chart(report, texts, axis), &mut larger.map(|pages| points(*pages, &saved)), true);
    }
    let axis = Axis { title: "latency", unit: Unit::Plain("ns"), scale: Scale::Auto };
    let chart = chart(report, [&title, "latency by working set"], axis);
    let mut lines = had.iter().map(|pages| points(*pages, &|outcome| outcome.estimate()));
    by_kind(document, chart, &mut lines, !compares);
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
fn chart(report: &Report<'_>, [title, axes]: [&str; 2], y_axis: Axis) -> Chart {
    let subtitle = report.outcomes.first().map(|Outcome { point, .. }| {
        format!(
            "{axes}; CPU {} of node {} to memory of node {}, random order, {} spacing, seed {}",
            point.cpu, point.initiator, point.target, point.stride, point.seed
        )
    });
    let title = if title.is_empty() { axes } else { title };
    Chart::of([title.into(), subtitle.unwrap_or_default()], [Axis::WORKING_SET, y_axis], Vec::new())
}
