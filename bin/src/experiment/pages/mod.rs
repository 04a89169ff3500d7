//! The same random walks on every kind of page: the cost of translation.

mod spans;
mod view;

use alloc::vec::Vec;

use latency_core::chain::Order;
use latency_core::{Bytes, PageSize, Pages, ToReal};

use super::Experiment;
use crate::analysis::translation::{TWO_MEGABYTE_LOCAL, lines_on_pages};
use crate::options::{Descriptor, FlagId, FlagSet};
use crate::plan::{self, PlannedPoints, Planning, budget, sizes};
use latency_engine::budget::{Budget, Optional, PLACES};
use latency_engine::error::Attempt;
use latency_engine::machine::Machine;
use latency_engine::result::extra::KINDS;
use latency_engine::result::point::{self, REGION};
use latency_engine::result::{Counter, Outcome, Point};
use latency_engine::run;
use latency_engine::session::{Findings, Session, now_ns};
use latency_engine::spans::walk_spans;
use latency_sys::Table;

/// Average time for a point: most working sets are small, and leave more time for those in memory.
const SHARE_NS: f64 = 0.17e9;

/// Nanoseconds of the walks over spans of addresses, and the same if the time of each point was given.
const SPANS_NS: f64 = 7e9;
const SHORT_SPANS_NS: f64 = 1e9;
/// Maximum share of the time of the whole run for these walks.
const SPANS_SHARE: f64 = 0.35;
/// Nanoseconds of telling memory and translation apart in each kind of pages, with their placement, and of its visits.
const APART_NS: f64 = 2e9;
const APART_VISITS_NS: f64 = 1.5e9;
/// The largest span by default.
const SPAN: Bytes = Bytes(64 << 30);

/// Page sizes side by side.
pub const PAGES: Experiment = Experiment {
    descriptor: Descriptor {
        name: "pages",
        summary: "benefit of huge pages of every size",
        details: "Random-access latency with each page size, up to the default size, and the share of TLB misses \
                  in it, which is the difference to the largest pages. Then the benefit of access orders that \
                  stay within a page.\n\
                  Then the cost of address translation alone over spans of up to --max-size, and the entries of \
                  the TLBs. Page sizes that are not available are listed with the reason. With --pages, only that \
                  page size and base pages are measured.",
        flags: FlagSet::MEASURING.union(FlagSet::WORKING_SET).with(FlagId::MaxSize).with(FlagId::Kernel),
        picture: true,
        ..Descriptor::OF_VALUES
    },
    plan,
    budget: |options, machine, points| {
        let run_ns = SHARE_NS * points.len().real();
        let mut budget = budget::of_options(options, machine).rewritten(PLACES).within(run_ns, points.len());
        let spans_ns = if budget.share_ns.is_finite() { SPANS_NS } else { SHORT_SPANS_NS };
        budget.after_ns = spans_ns.min(SPANS_SHARE * options.whole_ns());
        budget.after_ns += apart_ns(machine, points, &budget);
        budget.optional = Optional::PagesBut(plan::pages(options, machine));
        budget
    },
    measure: |options, session, points, budget| {
        let mut findings = run::measure(session, points, budget)?;
        if !findings.interrupted {
            tell_apart(session, &mut findings, budget)?;
            let apart_ns = apart_ns(session.machine, points, budget);
            let budget = &Budget { after_ns: budget.after_ns - apart_ns, ..*budget };
            let kinds = kinds(session.machine, &findings.outcomes);
            let most =
                Bytes(options.max_size.unwrap_or(SPAN).0.checked_next_power_of_two().unwrap_or(1 << 63));
            walk_spans(session, &mut findings, budget, kinds, most, options.max_size.is_some())?;
        }
        Ok(findings)
    },
    conclude: |_, _| None,
    present: view::present,
};

fn plan(planning: &mut Planning<'_>) -> PlannedPoints {
    let Planning { options, machine, .. } = *planning;
    let like = sizes::base_point(planning)?;
    let asked = plan::pages(options, machine);
    let mut points = Vec::new();
    for pages in Pages::all() {
        let is_wanted = asked == Pages::AUTO || pages == asked || pages.are_base();
        if is_wanted && machine.has_pages(pages) {
            of_kind(Point { pages, ..like }, machine.page, &mut points);
        }
    }
    points.iter().try_for_each(|point| point::chain(point).map(drop))?;
    Ok(points)
}

/// Returns the nanoseconds of telling memory and translation apart; 0 if the user gave the time or the trials of a point.
fn apart_ns(machine: &Machine, points: &[Point], budget: &Budget) -> f64 {
    let count = told_apart(machine, points).count();
    if budget.share_ns.is_finite() { APART_NS * count.real() } else { 0.0 }
}

/// Returns the random walks in memory in which memory and translation are told apart: the largest of each kind of pages.
fn told_apart<'p>(machine: &'p Machine, points: &'p [Point]) -> impl Iterator<Item = Point> + Clone + 'p {
    let largest = points.iter().map(|point| point.size).max();
    points.iter().copied().filter(move |point| {
        let is_plain = (point.order, point.stride) == (Order::Random, point.line.bytes());
        let is_largest = Some(point.size) == largest && machine.has_pages_for(point);
        is_plain && is_largest && machine.may_tell_apart(point)
    })
}

/// Measures the largest random walks again, in memory that stays, with grouped chains beside them.
fn tell_apart(session: &mut Session<'_>, findings: &mut Findings, budget: &Budget) -> Attempt {
    let measured = findings.outcomes.iter().filter(|outcome| outcome.result.is_ok());
    let points = Table::of(measured.map(|outcome| outcome.point))?;
    let points = Table::of(told_apart(session.machine, &points))?;
    let is_over = now_ns() >= budget.intervals_by_ns + budget.after_ns;
    if points.is_empty() || is_over || session.timer.counter().is_none_or(Counter::is_coarse) {
        return Ok(());
    }
    let budget = budget.telling_apart(session.machine, &points, APART_VISITS_NS);
    let found = run::measure(session, &points, &budget)?;
    findings.interrupted |= found.interrupted;
    for apart in found.outcomes.iter() {
        let is_same = |outcome: &&mut Outcome| {
            let (one, other) = (&outcome.point, &apart.point);
            (one.pages, one.size, one.order, one.stride)
                == (other.pages, other.size, other.order, other.stride)
        };
        let is_told = apart.result.as_ref().is_ok_and(|measured| measured.series.split.is_some());
        if let Some(outcome) = findings.outcomes.iter_mut().find(is_same).filter(|_| is_told) {
            *outcome = *apart;
        }
    }
    Ok(())
}

/// Adds the points of one kind of pages: growing random walks, local orders at the largest working set, and one line on
/// each of many base pages.
fn of_kind(like: Point, base: PageSize, points: &mut Vec<Point>) {
    let (largest, line, page) = (like.size, like.line.bytes(), base.bytes());
    let mut give = |order, size, stride| points.push(Point { order, size, stride, ..like });
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

/// Returns the kinds of pages of spans: base pages, transparent huge ones, and those of pools with a free page, as far as
/// points of them were planned.
fn kinds(machine: &Machine, outcomes: &[Outcome]) -> [Option<Pages>; KINDS] {
    let node = outcomes.first().and_then(|first| machine.topology.node(first.point.initiator));
    let pools = node.into_iter().flat_map(|node| node.pools());
    let pools = pools.filter(|(_, pool)| pool.free > 0).map(|(size, _)| Pages::of_pool(size));
    let all = [machine.base_pages(), Pages::thp(machine.huge_page())].into_iter().chain(pools);
    let is_wanted = |pages: &Pages| outcomes.iter().any(|outcome| outcome.point.pages == *pages);
    let mut kinds = [None; KINDS];
    all.filter(is_wanted).zip(&mut kinds).for_each(|(pages, slot)| *slot = Some(pages));
    kinds
}
