//! The TLB beside a curve: walks over spans of addresses without memory, in the pages that the TLB uses for the curve's
//! memory.

use core::fmt::Display;
use latency_core::units::Pages;

use crate::analysis::tlb::{self, TlbLevels};
use crate::describe::Report;
use crate::engine::session::{Findings, Session};
use crate::engine::spans;
use crate::error::Failure;
use crate::machine::Machine;
use crate::machine::processor::Platform;
use crate::plan;
use crate::plan::budget::Budget;
use crate::report::document::Role;
use crate::report::shown::Shown;
use crate::result::spans::SpanPoint;
use crate::result::{Extra, Outcome, core_clock};

/// Time for these walks.
pub const SPANS_NS: f64 = 0.6e9;
/// Number of pages of the largest span: four times the entries of the largest TLB.
const MOST_PAGES: u64 = 4 * 4096;

/// Walks over spans of addresses in the pages that the TLB uses, if they are known.
pub fn walk_spans<'a>(
    session: &mut Session<'a, '_>,
    findings: &mut Findings<'a>,
    budget: &Budget,
) -> Result<(), Failure<'a>> {
    let Some(pages) = pages(session.machine, &findings.outcomes) else { return Ok(()) };
    let most = session.machine.size_of(pages).bytes().times(MOST_PAGES);
    spans::walk_spans(session, findings, budget, [Some(pages), None, None, None], most, false)
}

/// Returns the pages that the TLB uses for the memory of a curve, if they are known and there is a page of zeros of
/// their size.
fn pages(machine: &Machine, outcomes: &[Outcome<'_>]) -> Option<Pages> {
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
pub fn levels(outcomes: &[Outcome<'_>], spans: &[SpanPoint], machine: &Machine, extra: &Extra) -> TlbLevels {
    let Some(series) = extra.spans.iter().flatten().next() else { return [None; 2] };
    tlb::of_spans(spans, series.pages, machine.size_of(series.pages).bytes(), core_clock(outcomes))
}

/// Says why no level of the TLB was found.
pub fn details(document: &mut Shown, report: &Report<'_, '_>, levels: &TlbLevels) {
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
