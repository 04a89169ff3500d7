//! Kinds of pages side by side: by working set, by order, and by the translation buffers behind them.

use core::fmt::{self, Write};

use latency_core::chain::{Order, PAGE_LOCAL};
use latency_core::decimal::Decimal;
use latency_core::text::Text;
use latency_core::units::{Bytes, PageSize};

use super::json::value::{optional, DECIMALS};
use super::{facts, json as documents, Report};
use crate::analysis::translation::{
    buffers, excess, find, share, LINES_PROBED, SMALLEST, TWO_MEGABYTE_LOCAL,
};
use crate::options::{Choice, Pages};
use crate::report::chart::{Axis, Chart, Data, Point, Scale, Series, Unit};
use crate::report::figures::Figure;
use crate::report::{plot, svg};
use crate::result::words::OrderName;
use crate::result::Outcome;

/// Every kind, smallest pages first.
const KINDS: [Pages; 4] = [Pages::Small4k, Pages::Thp, Pages::Huge2m, Pages::Huge1g];
/// The most working sets of a picture.
const MOST: usize = 40;

/// The kinds that were planned.
fn kinds<'r>(report: &Report<'r, '_>) -> impl Iterator<Item = Pages> + use<'r> {
    let outcomes = report.outcomes.iter().map(|outcome| outcome.point.pages);
    let mut planned = [false; KINDS.len()];
    for pages in outcomes {
        for (slot, kind) in planned.iter_mut().zip(KINDS) {
            *slot |= kind == pages;
        }
    }
    KINDS.into_iter().zip(planned).filter_map(|(pages, planned)| planned.then_some(pages))
}

/// The random walks of one kind, by ascending working set.
fn walks<'r, 'a>(report: &Report<'r, 'a>, pages: Pages) -> impl Iterator<Item = &'r Outcome<'a>> {
    report.outcomes.iter().filter(move |outcome| {
        let point = &outcome.point;
        point.pages == pages
            && point.order == Order::Random
            && point.stride == Bytes(64)
            && point.size >= SMALLEST
    })
}

fn nanoseconds(outcome: Option<&Outcome<'_>>) -> f64 {
    outcome
        .and_then(|outcome| outcome.result.as_ref().ok())
        .map_or(f64::NAN, |measured| measured.series.nanoseconds.median)
}

/// The page that a kind is meant to have.
const fn page(pages: Pages) -> Bytes {
    match pages {
        Pages::Auto | Pages::Small4k => PageSize::Small.bytes(),
        Pages::Thp | Pages::Huge2m => PageSize::Huge2M.bytes(),
        Pages::Huge1g => PageSize::Huge1G.bytes(),
    }
}

fn spanned(outcome: &Outcome<'_>) -> u64 {
    outcome.point.size.0.div_ceil(page(outcome.point.pages).0)
}

fn short(what: fmt::Arguments<'_>) -> Text<32> {
    let mut text = Text::EMPTY;
    // Columns are wide enough for every number that is one.
    let _ = text.write_fmt(what);
    text
}

/// Writes everything for people.
///
/// # Errors
///
/// Those of `out`.
pub fn text(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    table(out, report)?;
    local(out, report)?;
    for pages in kinds(report) {
        if let Some(Err(exclusion)) = walks(report, pages).next().map(|outcome| &outcome.result) {
            writeln!(out, "{} not measured: {exclusion}", pages.word())?;
        }
    }
    if report.partial {
        writeln!(out, "partial: interrupted before all points were measured to the end")?;
    }
    if !report.options.quiet {
        out.write_char('\n')?;
        chart(report, |chart| plot::write(out, chart, report.terminal))?;
    }
    probe(out, report)?;
    if report.options.quiet {
        return Ok(());
    }
    writeln!(
        out,
        "\nChain:      random order, 64 B apart, seed {}; page walks included",
        report.options.seed
    )?;
    facts::memory(out, report)?;
    facts::ending(out, report)
}

/// Nanoseconds by working set, and the share of translation.
fn table(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    write!(out, "{:<12}{:>12}", "working set", "4 KiB pages")?;
    for pages in kinds(report) {
        write!(out, "{:>10}", short(format_args!("{} ns", pages.word())))?;
    }
    writeln!(out, "{:>22}", "translation, 4 KiB")?;
    for small in walks(report, Pages::Small4k) {
        let point = &small.point;
        write!(out, "{:<12}{:>12}", short(format_args!("{}", point.size)), spanned(small))?;
        for pages in kinds(report) {
            let walk = find(report.outcomes, pages, (point.order, point.stride, point.size));
            write!(out, "{:>10}", Figure(nanoseconds(walk)))?;
        }
        match share(report.outcomes, small) {
            Some(share) if share > 0.0 => writeln!(out, "{:>20.0} %", Decimal(share * 100.0))?,
            // No walk of a page table is faster than none: other things differed by more.
            Some(_) => writeln!(out, "{:>22}", "none seen")?,
            None => writeln!(out, "{:>22}", "-")?,
        }
    }
    Ok(())
}

/// What orders save that stay within a page.
fn local(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    let Some(largest) = walks(report, Pages::Small4k).last().map(|outcome| outcome.point) else {
        return Ok(());
    };
    for order in [PAGE_LOCAL, TWO_MEGABYTE_LOCAL] {
        let at = |pages| nanoseconds(find(report.outcomes, pages, (order, largest.stride, largest.size)));
        if kinds(report).all(|pages| at(pages).is_nan()) {
            continue;
        }
        write!(out, "{:<24}", short(format_args!("{}, {}", largest.size, OrderName(order))))?;
        for pages in kinds(report) {
            write!(out, "{:>10}", Figure(at(pages)))?;
        }
        out.write_char('\n')?;
    }
    Ok(())
}

/// The translation buffers.
fn probe(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    writeln!(out, "\nOne line on each 4 KiB, over as many neighbouring lines: core cycles more for a hop")?;
    write!(out, "{:>12}{:>12}", "lines", "span")?;
    for pages in kinds(report) {
        write!(out, "{:>10}", pages.word())?;
    }
    out.write_char('\n')?;
    for lines in LINES_PROBED {
        let at = |pages| excess(report.outcomes, pages, lines);
        if kinds(report).all(|pages| at(pages).is_none()) {
            continue;
        }
        write!(out, "{lines:>12}{:>12}", short(format_args!("{}", Bytes(4096 * lines))))?;
        for pages in kinds(report) {
            write!(out, "{:>10}", Figure(at(pages).unwrap_or(f64::NAN)))?;
        }
        out.write_char('\n')?;
    }
    for pages in kinds(report) {
        let found = buffers(report.outcomes, pages);
        if walks(report, pages).all(|outcome| outcome.result.is_err()) {
            continue;
        }
        write!(out, "{:<5}", pages.word())?;
        for (level, buffer) in found.levels.into_iter().enumerate() {
            match buffer {
                Some(buffer) => write!(
                    out,
                    "{} TLB reaches {} ({} entries of 4 KiB), a miss costs {} core cycles; ",
                    if level == 0 { "first-level" } else { "second-level" },
                    buffer.reach,
                    buffer.reach.0 / 4096,
                    Figure(buffer.miss)
                )?,
                None if level == 0 => out.write_str("no TLB miss seen; ")?,
                None => out.write_str("no end of the second level seen; ")?,
            }
        }
        writeln!(
            out,
            "{}",
            match found.behaves_as_small {
                Some(true) => "behaves as 4 KiB pages: the host backs them so",
                Some(false) => "reaches farther than 4 KiB pages do, as it should",
                None if pages == Pages::Small4k => "what larger pages are held against",
                None => "whether it behaves as its pages cannot be told",
            }
        )?;
    }
    Ok(())
}

/// Gives `draw` the picture: a line for each kind.
fn chart(report: &Report<'_, '_>, draw: impl FnOnce(&Chart<'_>) -> fmt::Result) -> fmt::Result {
    let mut points = [[Point::new(f64::NAN, f64::NAN); MOST]; KINDS.len()];
    let mut series = [Series { name: "", data: Data::Points(&[]) }; KINDS.len()];
    let mut drawn = 0;
    let mut slots = points.iter_mut();
    for pages in kinds(report) {
        let Some(points) = slots.next() else { break };
        let mut count = 0;
        for (slot, outcome) in points.iter_mut().zip(walks(report, pages)) {
            *slot = Point::new(outcome.point.size.0 as f64, nanoseconds(Some(outcome)));
            count += 1;
        }
        let points: &[Point] = points.get(..count).unwrap_or_default();
        if let Some(slot) = series.get_mut(drawn).filter(|_| points.iter().any(Point::is_drawable)) {
            *slot = Series { name: pages.word(), data: Data::Points(points) };
            drawn += 1;
        }
    }
    let mut subtitle = Text::<160>::EMPTY;
    if let Some(Outcome { point, .. }) = report.outcomes.first() {
        // What does not fit is left out.
        let _ = write!(
            subtitle,
            "node {} (CPU {}) -> node {}, random order, {} apart, seed {}",
            point.initiator, point.cpu, point.target, point.stride, point.seed
        );
    }
    draw(&Chart {
        title: "Latency by kind of page",
        subtitle: subtitle.as_str(),
        x_axis: Axis { title: "working set", unit: Unit::Bytes, scale: Scale::Logarithmic },
        y_axis: Axis { title: "latency", unit: Unit::Plain("ns"), scale: Scale::Auto },
        series: series.get(..drawn).unwrap_or_default(),
        marks: &[],
    })
}

/// Writes the picture as SVG.
///
/// # Errors
///
/// Those of `out`.
pub fn picture(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    chart(report, |chart| svg::write_chart(out, chart))
}

/// Writes the document.
///
/// # Errors
///
/// Those of `out`.
pub fn json(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    documents::points(
        out,
        report,
        &|json, index| {
            let Some(outcome) = report.outcomes.get(index) else { return Ok(()) };
            json.key("pages_spanned")?.u64(spanned(outcome))?;
            json.key("translation_share")?;
            optional(json, share(report.outcomes, outcome), 4)
        },
        &|json| {
            json.key("translation")?.begin_array()?;
            for pages in kinds(report) {
                let found = buffers(report.outcomes, pages);
                json.begin_object()?;
                json.key("pages_asked")?.string(pages.word())?;
                json.key("levels")?.begin_array()?;
                for buffer in found.levels.iter().flatten() {
                    json.begin_object()?;
                    json.key("span_bytes")?.u64(buffer.reach.0)?;
                    json.key("miss_core_cycles")?.decimal(buffer.miss, DECIMALS)?;
                    json.end_object()?;
                }
                json.end_array()?;
                json.key("behaves_as_small")?;
                match found.behaves_as_small {
                    Some(small) => json.bool(small)?,
                    None => json.null()?,
                }
                json.end_object()?;
            }
            json.end_array()
        },
    )
}
