//! The last two passes of a curve, by which levels of caches and levels of TLBs are told apart: walks over spans of
//! addresses without memory, in the pages that the TLB uses for the curve's memory; and the large working sets once
//! more, with grouped chains beside the random ones, for their latency without address translation.

use core::fmt::Display;

use latency_core::{Bytes, Pages, ToReal};

use crate::describe::Report;
use crate::describe::rates::is_wide;
use crate::plan;
use crate::plan::curve::is_dense;
use latency_engine::budget::Budget;
use latency_engine::error::Attempt;
use latency_engine::machine::{Machine, Platform};
use latency_engine::result::{Counter, Extra, Outcome, Point, SpanPoint, Split, core_clock};
use latency_engine::session::{Findings, Session, now_ns};
use latency_engine::spans::tlb::{self, TlbLevels};
use latency_engine::{run, spans};
use latency_report::{Role, Shown};
use latency_sys::Table;

/// Nanoseconds of the visits to one working set.
const POINT_NS: f64 = 0.4e9;
/// Minimum nanoseconds of one working set, for rounds enough for an interval.
const LEAST_NS: f64 = 0.1e9;
/// Smallest working set with grouped chains; smaller ones are in the caches of the core, and few of their loads miss a TLB.
const SMALLEST: Bytes = Bytes(2 << 20);

/// Returns the points that are measured again, the largest first and one for each octave, of points by ascending size.
pub fn chosen<'p>(
    points: impl DoubleEndedIterator<Item = &'p Point> + Clone,
) -> impl Iterator<Item = Point> + Clone {
    let mut last = Bytes(u64::MAX);
    points.rev().copied().filter(move |point| {
        let is_wanted = is_dense(point) && point.size >= SMALLEST && point.size <= Bytes(last.0 / 2);
        if is_wanted {
            last = point.size;
        }
        is_wanted
    })
}

/// Returns the nanoseconds of telling memory and translation apart in a curve of these points.
pub fn apart_ns(points: &[Point]) -> f64 {
    POINT_NS * chosen(points.iter()).count().real()
}

/// Measures large working sets again, in memory that stays, within `limit_ns`, and adds the parts of their latency to
/// `findings`.
pub fn tell_apart(
    session: &mut Session<'_>,
    findings: &mut Findings,
    budget: &Budget,
    limit_ns: f64,
) -> Attempt {
    let measured = findings.outcomes.iter().filter(|outcome| outcome.result.is_ok());
    let points = Table::of(chosen(measured.map(|outcome| &outcome.point)))?;
    let each_ns = (limit_ns / points.len().real()).min(POINT_NS);
    if points.is_empty() || each_ns < LEAST_NS || session.timer.counter().is_none_or(Counter::is_coarse) {
        return Ok(());
    }
    // One after the other, so that all of them together need no more memory than the largest.
    for &point in points.iter().take_while(|_| now_ns() < budget.intervals_by_ns + budget.after_ns) {
        let budget = budget.telling_apart(session.machine, &[point], each_ns);
        let found = run::measure(session, &[point], &budget)?;
        findings.interrupted |= found.interrupted;
        let split = found.outcomes.first().and_then(|apart| apart.result.as_ref().ok()?.series.split);
        // A neighbour that takes lines of a cache from time to time leaves nothing to read.
        let is_known = |split: &Split| match split.parts {
            Some(parts) => !is_wide(parts.without_translation.interval),
            None => session.machine.may_tell_apart(&point),
        };
        let same = findings.outcomes.iter_mut().find(|outcome| outcome.point.size == point.size);
        if let Some(Outcome { result: Ok(measured), .. }) = same {
            measured.series.split = split.filter(is_known);
        }
        if found.interrupted {
            break;
        }
    }
    Ok(())
}

/// Time for these walks.
pub const SPANS_NS: f64 = 0.6e9;
/// Number of pages of the largest span: four times the entries of the largest TLB.
const MOST_PAGES: u64 = 4 * 4096;

/// Walks over spans of addresses in the pages that the TLB uses, if they are known.
pub fn walk_spans(session: &mut Session<'_>, findings: &mut Findings, budget: &Budget) -> Attempt {
    let Some(pages) = pages(session.machine, &findings.outcomes) else { return Ok(()) };
    let most = session.machine.size_of(pages).bytes().times(MOST_PAGES);
    spans::walk_spans(session, findings, budget, [Some(pages), None, None, None], most, false)
}

/// Returns the pages that the TLB uses for the memory of a curve, if they are known and there is a page of zeros of
/// their size.
fn pages(machine: &Machine, outcomes: &[Outcome]) -> Option<Pages> {
    let placed = outcomes.iter().find_map(|outcome| Some(&outcome.result.as_ref().ok()?.placed))?;
    let huge = Pages::thp(machine.huge_page());
    match placed.as_small {
        // An emulator's TLB is not that of the processor, so that nothing was asked.
        None if placed.pages.are_base() || machine.processor.platform == Platform::Emulated => {
            Some(machine.base_pages())
        }
        Some(true) => Some(machine.base_pages()),
        Some(false) if placed.pages.size() == huge.size() => Some(huge),
        _ => None,
    }
}

/// Returns the levels of the TLB that the spans show.
pub fn tlb_levels(outcomes: &[Outcome], spans: &[SpanPoint], machine: &Machine, extra: &Extra) -> TlbLevels {
    let Some(series) = extra.spans.iter().flatten().next() else { return [None; 2] };
    tlb::of_spans(spans, series.pages, machine.size_of(series.pages).bytes(), core_clock(outcomes))
}

/// Says why no level of the TLB was found.
pub fn tlb_details(document: &mut Shown, report: &Report<'_>, levels: &TlbLevels) {
    let is_sought = report.outcomes.first().is_some_and(|outcome| plan::curve::is_dense(&outcome.point));
    if !is_sought || report.partial || levels[0].is_some() {
        return;
    }
    let series = report.extra.spans.iter().flatten().next();
    let why: &dyn Display = match series {
        Some(series) if series.span.0 > 0 => &"no cost of misses is visible",
        Some(series) => &series.end,
        None if pages(report.machine, report.outcomes).is_some() => &"no time was left",
        None => &"no page of zeros is known to be as large as the pages that it uses",
    };
    document.sentence(Role::Detail("TLB"), format_args!("not measured: {why}"));
}
