//! The same random walks on every kind of page: the cost of translation.

mod details;
mod view;

use latency_core::chain::{Order, PAGE_LOCAL};
use latency_core::packed;
use latency_core::units::{Bytes, PageSize, Pages};

use super::interface::{Experiment, gathered};
use crate::analysis::huge_pages::KINDS;
use crate::analysis::translation::{self, LINES_PROBED, SMALLEST, TWO_MEGABYTE_LOCAL};
use crate::describe::{Presentation, Report};
use crate::engine::run;
use crate::engine::session::{Findings, Session};
use crate::engine::stopwatch::clock::Timer;
use crate::error::{Failure, PlacementError};
use crate::options::{Descriptor, FlagId, FlagSet};
use crate::plan::budget::{Budget, Optional, PLACES};
use crate::plan::{EachPoint, Plan, Planning, single};
use crate::report::document::Document;
use crate::result::sample::collect;
use crate::result::{Point, chain};
use crate::sys::table::Table;
use crate::warning::Warning;

/// Average time for a point: most working sets are small, and leave more time for those in memory.
const SHARE_NS: f64 = 0.17e9;

/// Page sizes side by side.
pub const PAGES: Experiment = Experiment {
    descriptor: Descriptor {
        name: "pages",
        summary: packed!("benefit of huge pages: 4 KiB, THP, 2 MiB, 1 GiB"),
        details: packed!(
            "Random-access latency with each page size, from the reach of the first-level TLB to the \
                  default size, and the share of TLB misses in it, which is the difference to the largest \
                  pages. Then the benefit of access orders that stay within a page, and the sizes of the \
                  TLBs. Page sizes that are not available are listed with the reason. With --pages, only \
                  that page size and 4 KiB are measured."
        ),
        flags: FlagSet::MEASURING.union(FlagSet::WORKING_SET).with(FlagId::Kernel),
        picture: true,
        ..Descriptor::OF_VALUES
    },
    plan,
    budget: |options, machine, points| {
        let run_ns = SHARE_NS * points.len() as f64;
        let mut budget = Budget::new(options, machine).rewritten(PLACES).within(run_ns, points.len());
        (budget.optional, budget.more) = (Optional::PagesBut(options.pages), CLOSER);
        budget
    },
    measure: |_, session, timer, points, budget| {
        let mut findings = run::measure(session, timer, points, budget)?;
        if !findings.interrupted {
            look_closer(session, timer, &mut findings, budget)?;
        }
        for pages in KINDS {
            let found = translation::buffers(&findings.outcomes, pages);
            if found.behaves_as_small == Some(true) {
                let page = if pages == Pages::Huge1g { PageSize::Huge1G } else { PageSize::Huge2M };
                session.warnings.push(Warning::HugePagesWithoutEffect { page });
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
    let options = planning.options;
    let like = single::like(planning)?;
    let kinds = || {
        let wanted = |pages: &Pages| matches!(options.pages, Pages::Auto) || *pages == options.pages;
        KINDS.into_iter().filter(move |pages| wanted(pages) || *pages == Pages::Small4k)
    };
    let planned = gathered(&mut |each| {
        kinds().for_each(|pages| of_kind(Point { pages, ..like }, each));
        Ok(())
    })?;
    planned.iter().try_for_each(|point| chain::chain(point).map(|_| ()))?;
    Ok(planned)
}

/// Plans the points of one kind of pages: growing random walks, local orders at the largest working set, and the probe.
fn of_kind(like: Point, each: EachPoint<'_>) {
    let largest = like.size;
    let mut give = |order, size, stride| each(Point { order, size, stride, ..like });
    let inner = (0..40).map(|octave| Bytes(SMALLEST.0 << octave)).take_while(|size| *size < largest);
    inner.for_each(|size| give(Order::Random, size, Bytes(64)));
    give(Order::Random, largest, Bytes(64));
    if largest >= Bytes(4 << 20) {
        [PAGE_LOCAL, TWO_MEGABYTE_LOCAL].into_iter().for_each(|order| give(order, largest, Bytes(64)));
    }
    let page = PageSize::Small.bytes();
    let lines = || LINES_PROBED.into_iter().filter(|lines| page.times(*lines) <= largest);
    let bare = lines().map(|lines| Bytes(64 * lines)).filter(|size| *size < SMALLEST);
    bare.for_each(|size| give(Order::Random, size, Bytes(64)));
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
    let page = PageSize::Small.bytes();
    let closer = gathered(&mut |each| {
        for pages in KINDS {
            let mut give =
                |size, stride| each(Point { pages, order: Order::Random, size, stride, ..first.point });
            let buffers = translation::buffers(outcomes, pages).levels.into_iter().flatten();
            let lines = buffers.flat_map(|buffer| translation::between(&buffer));
            // The same number of adjacent lines must not be one of the shown walks.
            lines.filter(|lines| Bytes(64 * lines) < SMALLEST).for_each(|lines| {
                give(Bytes(64 * lines), Bytes(64));
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
