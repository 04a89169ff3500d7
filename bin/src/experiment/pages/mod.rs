//! The same random walks on every kind of page: the cost of translation.

mod details;
mod spans;
mod view;

use latency_core::chain::Order;
use latency_core::math::ToReal;
use latency_core::packed;
use latency_core::units::{Bytes, PageSize, Pages};

use super::interface::{Experiment, gathered};
use crate::analysis::translation::{TWO_MEGABYTE_LOCAL, lines_on_pages};
use crate::describe::{Presentation, Report};
use crate::engine::run;
use crate::engine::session::{Findings, Session, now_ns};
use crate::engine::spans::{Limits, measure};
use crate::engine::stopwatch::clock::Timer;
use crate::error::Failure;
use crate::options::{Descriptor, FlagId, FlagSet};
use crate::plan;
use crate::plan::budget::{Budget, Optional, PLACES};
use crate::plan::{EachPoint, Plan, Planning, single};
use crate::report::document::Document;
use crate::result::spans::KINDS;
use crate::result::words::REGION;
use crate::result::{Point, chain};

/// Average time for a point: most working sets are small, and leave more time for those in memory.
const SHARE_NS: f64 = 0.17e9;

/// Nanoseconds of the walks over spans of addresses, and the same if the time of each point was given.
const SPANS_NS: f64 = 7e9;
const SHORT_SPANS_NS: f64 = 1e9;
/// Maximum share of the time of the whole run for these walks, and their minimum nanoseconds.
const SPANS_SHARE: f64 = 0.35;
const LEAST_NS: f64 = 0.3e9;
/// Share of that time for populating the spans of one kind of pages, unless the user gave the largest span.
const POPULATE_SHARE: f64 = 0.3;
/// The largest span by default.
const SPAN: Bytes = Bytes(64 << 30);

/// Page sizes side by side.
pub const PAGES: Experiment = Experiment {
    descriptor: Descriptor {
        name: "pages",
        summary: packed!("benefit of huge pages of every size"),
        details: packed!(
            "Random-access latency with each page size, up to the default size, and the share of TLB misses in \
                  it, which is the difference to the largest pages. Then the benefit of access orders that stay \
                  within a page.\nThen the cost of address translation alone over spans of up to --max-size, and the \
                  entries of the TLBs: every page there is the kernel's page of zeros, or one page of a pool, so that \
                  only page tables need memory. It is a lower bound where data compete with page tables for the \
                  caches, and in a guest. Page sizes that are not available are listed with the reason. With --pages, only that \
                  page size and base pages are measured."
        ),
        flags: FlagSet::MEASURING.union(FlagSet::WORKING_SET).with(FlagId::MaxSize).with(FlagId::Kernel),
        picture: true,
        ..Descriptor::OF_VALUES
    },
    plan,
    budget: |options, machine, points| {
        let run_ns = SHARE_NS * points.len().real();
        let mut budget = Budget::new(options, machine).rewritten(PLACES).within(run_ns, points.len());
        let spans_ns = if budget.share_ns.is_finite() { SPANS_NS } else { SHORT_SPANS_NS };
        budget.after_ns = spans_ns.min(SPANS_SHARE * options.whole_ns());
        budget.optional = Optional::PagesBut(plan::pages(options, machine));
        budget
    },
    measure: |options, session, timer, points, budget| {
        let mut findings = run::measure(session, timer, points, budget)?;
        if !findings.interrupted {
            walk_spans(session, timer, &mut findings, budget, options.max_size)?;
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

/// Plans the points of one kind of pages: growing random walks, local orders at the largest working set, and one line on
/// each of many base pages.
fn of_kind(like: Point, base: PageSize, each: EachPoint<'_>) {
    let (largest, line, page) = (like.size, like.line.bytes(), base.bytes());
    let mut give = |order, size, stride| each(Point { order, size, stride, ..like });
    let inner = lines_on_pages().map(|lines| line.times(lines)).take_while(|size| *size < largest);
    inner.for_each(|size| give(Order::Random, size, line));
    give(Order::Random, largest, line);
    if largest >= REGION.times(2) {
        [Order::Local(page), TWO_MEGABYTE_LOCAL].into_iter().for_each(|order| give(order, largest, line));
    }
    if like.pages.are_base() {
        let lines = lines_on_pages().take_while(|lines| page.times(*lines) <= largest);
        lines.for_each(|lines| give(Order::Random, page.times(lines), page));
    }
}

/// Walks over spans of addresses in base pages, in transparent huge ones, and in those of pools with a free page; `most`
/// is the largest span if the user gave it.
fn walk_spans<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    findings: &mut Findings<'a>,
    budget: &Budget,
    most: Option<Bytes>,
) -> Result<(), Failure<'a>> {
    let mut outcomes = findings.outcomes.iter();
    let Some(first) = outcomes.next() else { return Ok(()) };
    let clock = outcomes.find_map(|outcome| outcome.result.as_ref().ok()?.series.core_gigahertz);
    let (machine, node) = (session.machine, first.point.initiator);
    let pools = machine.topology.node(node).into_iter().flat_map(|node| node.pools());
    let pools = pools.filter(|(_, pool)| pool.free > 0).map(|(size, _)| Pages::of_pool(size));
    let all = [machine.base_pages(), Pages::thp(machine.huge_page())].into_iter().chain(pools);
    let is_wanted = |pages: &Pages| findings.outcomes.iter().any(|outcome| outcome.point.pages == *pages);
    let mut kinds = [None; KINDS];
    all.filter(is_wanted).zip(&mut kinds).for_each(|(pages, slot)| *slot = Some(pages));
    let until_ns = budget.until_ns.min(now_ns() + budget.after_ns);
    if until_ns - now_ns() < LEAST_NS {
        return Ok(());
    }
    let populate_ns = if most.is_some() { budget.until_ns - now_ns() } else { budget.after_ns };
    let limits = Limits {
        most: Bytes(most.unwrap_or(SPAN).0.checked_next_power_of_two().unwrap_or(1 << 63)),
        populate_ns: populate_ns * POPULATE_SHARE,
        until_ns,
    };
    let on = (first.point.cpu, node);
    let found = measure(session, timer, on, kinds, clock.map(|clock| clock.median), limits)?;
    (findings.spans, findings.extra.spans, findings.interrupted) =
        (found.points, found.series, found.interrupted);
    Ok(())
}

/// Describes details, points and conclusions.
fn data(document: &mut dyn Document, report: &Report<'_, '_>) {
    let found = view::found(report);
    details::describe(document, report, found.map(|found| found.size));
    view::data(document, report);
    spans::data(document, report);
}
