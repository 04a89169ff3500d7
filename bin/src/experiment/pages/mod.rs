//! The same random walks on every kind of page: what translation costs.

mod details;
mod view;

use latency_core::chain::{Order, PAGE_LOCAL};
use latency_core::units::{Bytes, PageSize};

use crate::analysis::huge_pages::{conclude, KINDS};
use crate::analysis::translation::{self, LINES_PROBED, SMALLEST, TWO_MEGABYTE_LOCAL};
use crate::engine::run;
use crate::engine::session::{Findings, Plan, Session};
use crate::engine::stopwatch::clock::Timer;
use crate::error::Failure;
use crate::experiment::facts;
use crate::experiment::facts::{method, Report};
use crate::experiment::interface::Experiment;
use crate::options::{Descriptor, FlagId, FlagSet, Operands, Pages};
use crate::plan::budget::{Budget, Optional, PLACES};
use crate::plan::single;
use crate::report::document::Document;
use crate::result::{chain, Point};
use crate::sys::errno::Errno;
use crate::sys::table::Table;
use crate::warning::Warning;

/// The time for a point, on average: most are small, and those in memory take what they leave.
const SHARE_NS: f64 = 0.17e9;

/// Page sizes side by side.
pub const PAGES: Experiment = Experiment {
    descriptor: Descriptor {
        name: "pages",
        summary: "what huge pages save: 4 KiB, THP, 2 MiB, 1 GiB",
        details: "Random loads on each kind of page, from the reach of the first-level TLB to the default \
                  size: nanoseconds, and the share of page walks, which is the difference to the largest \
                  pages. Then what orders that stay within a page save, and the sizes of the TLBs. Kinds \
                  of pages that are not available are named with the reason. With --pages only that kind \
                  and 4 KiB are measured.",
        flags: FlagSet::MEASURING.union(FlagSet::of(&[FlagId::Size, FlagId::Kernel, FlagId::Seed])),
        picture: true,
        attributes: false,
        operands: Operands::NONE,
    },
    plan,
    budget: |options, machine, points| {
        let run_ns = SHARE_NS * points.len() as f64;
        let mut budget = Budget::new(options, machine).rewritten(PLACES).within(run_ns, points.len());
        (budget.optional, budget.more) = (Optional::PagesBut(options.pages), CLOSER);
        budget
    },
    measure,
    present,
    columns: [&facts::point::CHAINS, &[&view::SHARE]],
};

fn plan<'a>(session: &mut Session<'a, '_>) -> Plan<'a> {
    let Session { options, machine, .. } = *session;
    let like = single::like(options, machine, session.warnings)?;
    let kinds = || {
        let wanted = |pages: &Pages| matches!(options.pages, Pages::Auto) || *pages == options.pages;
        KINDS.into_iter().filter(move |pages| wanted(pages) || *pages == Pages::Small4k)
    };
    let points = |each: Each<'_>| {
        kinds().for_each(|pages| of_kind(Point { pages, ..like }, each));
    };
    let planned = gathered(like, &points)?;
    planned.iter().try_for_each(|point| chain::chain(point).map(|_| ()))?;
    Ok(planned)
}

/// Receives points, one after another.
type Each<'e> = &'e mut dyn FnMut(Point);

/// All that `points` gives; it is asked twice.
fn gathered(filler: Point, points: &dyn Fn(Each<'_>)) -> Result<Table<Point>, Errno> {
    let mut count = 0;
    points(&mut |_| count += 1);
    let mut table = Table::filled(count, filler)?;
    let mut slots = table.iter_mut();
    points(&mut |point| {
        if let Some(slot) = slots.next() {
            *slot = point;
        }
    });
    Ok(table)
}

/// The points of one kind of pages: growing random walks, local orders at the largest, and the probe.
fn of_kind(like: Point, each: Each<'_>) {
    let largest = like.size;
    let walk = Point { order: Order::Random, stride: Bytes(64), ..like };
    let inner = (0..40).map(|octave| Bytes(SMALLEST.0 << octave)).take_while(|size| *size < largest);
    inner.for_each(|size| each(Point { size, ..walk }));
    each(walk);
    if largest >= Bytes(4 << 20) {
        [PAGE_LOCAL, TWO_MEGABYTE_LOCAL].into_iter().for_each(|order| each(Point { order, ..walk }));
    }
    let page = PageSize::Small.bytes();
    let lines = || LINES_PROBED.into_iter().filter(|lines| page.times(*lines) <= largest);
    let bare = lines().map(|lines| Bytes(64 * lines)).filter(|size| *size < SMALLEST);
    bare.for_each(|size| each(Point { size, ..walk }));
    lines().for_each(|lines| each(Point { size: page.times(lines), stride: page, ..walk }));
}

/// Points of more numbers of pages: about so many.
const CLOSER: usize = 16;

/// Measures more numbers of pages where a translation buffer ends between two of the probe.
fn look_closer<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    findings: &mut Findings<'a>,
    budget: &Budget,
) -> Result<(), Failure<'a>> {
    let Some(first) = findings.outcomes.first().copied() else { return Ok(()) };
    let outcomes: &[_] = &findings.outcomes;
    let page = PageSize::Small.bytes();
    let wanted = |each: Each<'_>| {
        for pages in KINDS {
            let like = Point { pages, order: Order::Random, ..first.point };
            let buffers = translation::buffers(outcomes, pages).levels.into_iter().flatten();
            let lines = buffers.flat_map(|buffer| translation::between(&buffer));
            // As many neighbouring lines are to be none of the walks that are shown.
            lines.filter(|lines| Bytes(64 * lines) < SMALLEST).for_each(|lines| {
                each(Point { size: Bytes(64 * lines), stride: Bytes(64), ..like });
                each(Point { size: page.times(lines), stride: page, ..like });
            });
        }
    };
    let closer = gathered(first.point, &wanted)?;
    if closer.is_empty() {
        return Ok(());
    }
    let mut budget = *budget;
    budget.more = 0;
    let more = run::measure(session, timer, &closer, &budget)?;
    let mut all = Table::filled(findings.outcomes.len() + more.outcomes.len(), first)?;
    for (slot, outcome) in all.iter_mut().zip(findings.outcomes.iter().chain(more.outcomes.iter())) {
        *slot = *outcome;
    }
    findings.outcomes = all;
    findings.interrupted = more.interrupted;
    Ok(())
}

fn measure<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    budget: &Budget,
) -> Result<Findings<'a>, Failure<'a>> {
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
}

fn present(document: &mut dyn Document, report: &Report<'_, '_>) {
    let found = conclude(report.outcomes, report.health.pages_behave_as_small == Some(true));
    view::people(document, report, found.as_ref());
    method::paragraphs(document, report);
    details::describe(document, report, found.map(|found| found.size));
    view::programs(document, report, found.as_ref());
    facts::circumstances(document, report);
}
