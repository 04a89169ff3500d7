//! The same random walks on every kind of page: the cost of translation.

mod details;
mod view;

use latency_core::chain::Order;
use latency_core::packed;
use latency_core::units::{PageSize, Pages};

use super::interface::{Experiment, gathered};
use crate::analysis::translation::{self, FEWEST_LINES, LINES_PROBED, TWO_MEGABYTE_LOCAL, kinds};
use crate::describe::{Presentation, Report};
use crate::engine::run;
use crate::engine::session::{Findings, Session};
use crate::engine::stopwatch::clock::Timer;
use crate::error::{Failure, PlacementError};
use crate::options::{Descriptor, FlagId, FlagSet};
use crate::plan;
use crate::plan::budget::{Budget, Optional, PLACES};
use crate::plan::{EachPoint, Plan, Planning, single};
use crate::report::document::Document;
use crate::result::sample::collect;
use crate::result::words::REGION;
use crate::result::{Point, chain};
use crate::sys::table::Table;
use crate::warning::Warning;

/// Average time for a point: most working sets are small, and leave more time for those in memory.
const SHARE_NS: f64 = 0.17e9;

/// Page sizes side by side.
pub const PAGES: Experiment = Experiment {
    descriptor: Descriptor {
        name: "pages",
        summary: packed!("benefit of huge pages of every size"),
        details: packed!(
            "Random-access latency with each page size, from the reach of the first-level TLB to the \
                  default size, and the share of TLB misses in it, which is the difference to the largest \
                  pages. Then the benefit of access orders that stay within a page, and the sizes of the \
                  TLBs. Page sizes that are not available are listed with the reason. With --pages, only \
                  that page size and base pages are measured."
        ),
        flags: FlagSet::MEASURING.union(FlagSet::WORKING_SET).with(FlagId::Kernel),
        picture: true,
        ..Descriptor::OF_VALUES
    },
    plan,
    budget: |options, machine, points| {
        let run_ns = SHARE_NS * points.len() as f64;
        let mut budget = Budget::new(options, machine).rewritten(PLACES).within(run_ns, points.len());
        (budget.optional, budget.more) = (Optional::PagesBut(plan::pages(options, machine)), CLOSER);
        budget
    },
    measure: |_, session, timer, points, budget| {
        let mut findings = run::measure(session, timer, points, budget)?;
        if !findings.interrupted {
            look_closer(session, timer, &mut findings, budget)?;
        }
        let base = session.machine.page;
        for pages in kinds(&findings.outcomes) {
            let found = translation::buffers(&findings.outcomes, pages);
            if let (Some(true), Some(page)) = (found.behaves_as_small, pages.size()) {
                session.warnings.push(Warning::HugePagesWithoutEffect { page, base });
            }
        }
        Ok(findings)
    },
    present: Presentation {
        answer: view::answer,
        evidence: view::evidence,
        summary: view::summary,
        rows: view::records,
        data,
    },
};

fn plan<'a>(planning: &mut Planning<'_, 'a>) -> Plan<'a> {
    let Planning { options, machine, .. } = *planning;
    let like = single::like(planning)?;
    let asked = plan::pages(options, machine);
    let planned = gathered(&mut |each| {
        for pages in Pages::all() {
            let is_wanted = asked == Pages::AUTO || pages == asked || pages.are_base();
            if is_wanted && machine.has_pages(pages) {
                of_kind(Point { pages, ..like }, machine.page, each);
            }
        }
        Ok(())
    })?;
    planned.iter().try_for_each(|point| chain::chain(point).map(|_| ()))?;
    Ok(planned)
}

/// Plans the points of one kind of pages: growing random walks, local orders at the largest working set, and the probe
/// of lines on separate base pages.
fn of_kind(like: Point, base: PageSize, each: EachPoint<'_>) {
    let (largest, line, page) = (like.size, like.line.bytes(), base.bytes());
    let mut give = |order, size, stride| each(Point { order, size, stride, ..like });
    let inner = (0..40).map(|octave| line.times(FEWEST_LINES << octave)).take_while(|size| *size < largest);
    inner.for_each(|size| give(Order::Random, size, line));
    give(Order::Random, largest, line);
    if largest >= REGION.times(2) {
        [Order::Local(page), TWO_MEGABYTE_LOCAL].into_iter().for_each(|order| give(order, largest, line));
    }
    let lines = || LINES_PROBED.into_iter().filter(|lines| page.times(*lines) <= largest);
    let bare = lines().filter(|lines| *lines < FEWEST_LINES);
    bare.for_each(|lines| give(Order::Random, line.times(lines), line));
    lines().for_each(|lines| give(Order::Random, page.times(lines), page));
}

/// Approximate number of points that may be added for further numbers of pages.
const CLOSER: usize = 16;

/// Measures further numbers of pages if a translation buffer ends between two numbers of the probe.
fn look_closer<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    findings: &mut Findings<'a>,
    budget: &Budget,
) -> Result<(), Failure<'a>> {
    let Some(first) = findings.outcomes.first().copied() else { return Ok(()) };
    let outcomes: &[_] = &findings.outcomes;
    let (page, line) = (session.machine.page.bytes(), first.point.line.bytes());
    let closer = gathered(&mut |each| {
        for pages in kinds(outcomes) {
            let mut give =
                |size, stride| each(Point { pages, order: Order::Random, size, stride, ..first.point });
            let buffers = translation::buffers(outcomes, pages).levels.into_iter().flatten();
            let lines = buffers.flat_map(|buffer| translation::between(&buffer, page));
            // The same number of adjacent lines must not be one of the shown walks.
            lines.filter(|lines| *lines < FEWEST_LINES).for_each(|lines| {
                give(line.times(lines), line);
                give(page.times(lines), page);
            });
        }
        Ok(())
    });
    let closer = match closer {
        Err(Failure::Placement(PlacementError::NothingToMeasure)) => return Ok(()),
        closer => closer?,
    };
    let mut budget = *budget;
    budget.more = 0;
    let more = run::measure(session, timer, &closer, &budget)?;
    let mut all = Table::filled(findings.outcomes.len() + more.outcomes.len(), first)?;
    collect(&mut all, findings.outcomes.iter().chain(more.outcomes.iter()).copied());
    findings.outcomes = all;
    findings.interrupted = more.interrupted;
    Ok(())
}

/// Describes details, points and conclusions.
fn data(document: &mut dyn Document, report: &Report<'_, '_>) {
    let found = view::found(report);
    details::describe(document, report, found.map(|found| found.size));
    view::data(document, report);
}
