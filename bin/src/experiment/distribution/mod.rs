//! The times of single loads: those of most loads, and the slowest.

mod details;
mod members;
mod view;

use latency_core::cpulist::NodeSet;

use self::view::{at, known};
use super::interface::Experiment;
use super::matrix;
use crate::describe::columns::{self, RowOrigin};
use crate::describe::{Presentation, Report, method, point};
use crate::engine::memory::chains::Alongside;
use crate::engine::run;
use crate::engine::session::{Findings, Session, interrupted};
use crate::engine::stopwatch::clock::Timer;
use crate::engine::stopwatch::single_hops::Singles;
use crate::error::Failure;
use crate::options::{Descriptor, FlagSet, Options};
use crate::plan::budget::Budget;
use crate::plan::{Plan, Planning, Scope};
use crate::report::shown::Shown;
use crate::result::Point;

/// The experiment that shows the distribution behind the means.
pub const DISTRIBUTION: Experiment = Experiment {
    descriptor: Descriptor {
        name: "distribution",
        summary: "latency percentiles of single loads: p50 to p99.99",
        details: "Each load is timed alone, and the cost of timing is subtracted. Batches, timed as in \
                  `matrix`, check the mean. Without --cpunode and --memnode, the first node loads from \
                  its own memory.\nLoads that an interrupt or another task delayed are counted separately. Then a search for the period of DRAM refresh.",
        flags: FlagSet::MEASURING.union(FlagSet::WORKING_SET).union(FlagSet::CHAIN),
        picture: true,
        ..Descriptor::OF_VALUES
    },
    plan,
    budget: |options, machine, points| Budget {
        single_hops: true,
        ..Budget::of_pairs(options, machine, points)
    },
    measure,
    present: Presentation { answer, evidence, summary, rows: records, data },
};

/// Plans the requested pairs, or the first node with its own memory.
fn plan<'a>(planning: &mut Planning<'_, 'a>) -> Plan<'a> {
    let mut scope = Scope::resolve(planning)?;
    if planning.options.cpunode.is_none() {
        scope.initiators = scope.initiators.first().into_iter().collect();
    }
    if planning.options.memnode.is_none() && !planning.options.local {
        let own: NodeSet = scope.initiators.intersection(&scope.targets);
        let node = own.first().or(scope.targets.first());
        scope.targets = node.into_iter().collect();
    }
    matrix::planned(planning, &scope)
}

fn measure<'a>(
    _: &'a Options<'a>,
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    budget: &Budget,
) -> Result<Findings<'a>, Failure<'a>> {
    let counter = timer.fine_counter()?;
    let mut singles = Singles::new(counter, points.len())?;
    let mut alongside = Alongside { singles: Some(&mut singles), ..Alongside::default() };
    let mut findings =
        run::measure_with(session, timer, points, budget, &mut alongside, &mut run::all_rounds)?;
    conclude(session, singles, &mut findings)?;
    Ok(findings)
}

/// Finds the distributions behind the recorded loads, and the period of refresh.
fn conclude(
    session: &mut Session<'_, '_>,
    singles: Singles,
    findings: &mut Findings<'_>,
) -> Result<(), Failure<'static>> {
    session.progress.say(format_args!("looking for refresh"));
    findings.distributions = singles.conclude(&findings.outcomes, session.warnings)?;
    findings.interrupted |= interrupted();
    Ok(())
}

fn answer(document: &mut Shown, report: &Report<'_, '_>) {
    matrix::lines(document, report);
    view::answers(document, report);
}

fn evidence(document: &mut Shown, report: &Report<'_, '_>) {
    view::percentiles(document, report);
    known(report).for_each(|known| view::shares(document, known));
    method::walks(document, report);
}

/// Describes every point as a row, then its percentiles.
fn records(document: &mut Shown, report: &Report<'_, '_>) {
    point::rows_with(document, report, &|document, index, _| {
        let found = at(report, index).map(|(_, found)| found);
        document.put(&columns::PERCENTILE, None::<f64>);
        document.put(&columns::BATCH_RATIO, found.and_then(|found| found.ratio));
        document.put(&columns::REFRESH, found.and_then(members::refresh_us));
    });
    let origin = RowOrigin::of(report);
    known(report).for_each(|(outcome, found)| members::percentiles(document, origin, outcome, found));
}

fn summary(document: &mut Shown, report: &Report<'_, '_>) {
    members::summary(document, known(report).next().map(|(_, found)| found));
}

fn data(document: &mut Shown, report: &Report<'_, '_>) {
    details::paragraphs(document, report);
    point::evidence(document, report);
    let all = (0..report.outcomes.len()).filter_map(|index| Some((index, at(report, index)?.1)));
    members::distributions(document, all);
}
