//! How long single hops take: most of them, and the slowest.

mod details;
mod known;
mod members;
mod view;

use latency_core::cpulist::NodeSet;

use crate::engine::memory::chains::Alongside;
use crate::engine::run;
use crate::engine::session::{Findings, Plan, Session};
use crate::engine::stopwatch::clock::Timer;
use crate::engine::stopwatch::single_hops::Singles;
use crate::error::{Failure, TimingError};
use crate::experiment::distribution::known::{at, known};
use crate::experiment::facts;
use crate::experiment::facts::{method, point, trust, Report};
use crate::experiment::interface::Experiment;
use crate::experiment::matrix;
use crate::options::{Descriptor, FlagId, FlagSet, Operands};
use crate::plan::budget::Budget;
use crate::plan::Scope;
use crate::report::document::{Document, Part};
use crate::result::Point;

/// The experiment that looks beneath the means.
pub const DISTRIBUTION: Experiment = Experiment {
    descriptor: Descriptor {
        name: "distribution",
        summary: "percentiles of single accesses: p50 to p99.99",
        details: "Each load is timed alone, and the cost of timing is subtracted. Batches, as `matrix` \
                  times them, check the mean. Without --cpunode and --memnode, the first node loads from \
                  its own memory.\nLoads that an interrupt or another task made long are counted apart: a \
                  loop without loads and the kernel's count of context switches tell them from slow \
                  memory. A search for the period of DRAM refresh follows.",
        flags: FlagSet::MEASURING.union(FlagSet::of(&[
            FlagId::Size,
            FlagId::Order,
            FlagId::Stride,
            FlagId::Kernel,
            FlagId::Seed,
        ])),
        picture: true,
        attributes: false,
        operands: Operands::NONE,
    },
    plan,
    budget: |options, machine, points| Budget {
        single_hops: true,
        ..Budget::of_pairs(options, machine, points)
    },
    measure,
    present,
    columns: [&point::CHAINS, &members::COLUMNS],
};

/// The pairs that were asked for, or the first node and its own memory.
fn plan<'a>(session: &mut Session<'a, '_>) -> Plan<'a> {
    let mut scope = Scope::resolve(session.options, session.machine, session.warnings)?;
    if session.options.cpunode.is_none() {
        scope.initiators = scope.initiators.first().into_iter().collect();
    }
    if session.options.memnode.is_none() {
        let own: NodeSet = scope.initiators.intersection(&scope.targets);
        let node = own.first().or(scope.targets.first());
        scope.targets = node.into_iter().collect();
    }
    matrix::planned(session, &scope)
}

fn measure<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    budget: &Budget,
) -> Result<Findings<'a>, Failure<'a>> {
    let counter =
        timer.counter().ok_or(TimingError::NeedsCounter { what: "single hops", instead: "matrix" })?;
    let mut singles = Singles::new(counter, points.len())?;
    let mut alongside = Alongside::SingleHops(&mut singles);
    let mut findings =
        run::measure_with(session, timer, points, budget, &mut alongside, &mut run::all_rounds)?;
    session.progress.say(format_args!("looking for refresh"));
    singles.conclude(&mut findings, session.warnings)?;
    Ok(findings)
}

fn present(document: &mut dyn Document, report: &Report<'_, '_>) {
    for outcome in report.outcomes {
        matrix::line(document, report, outcome);
    }
    view::answers(document, report);
    trust::line(document, report);
    view::percentiles(document, report);
    for (outcome, found) in known(report) {
        view::histogram(document, outcome, found);
    }
    method::paragraphs(document, report);
    details::paragraphs(document, report);
    facts::points(document, Part::Records(&point::POINTS), report, &|document, index| {
        if let Some((_, found)) = at(report, index) {
            members::distribution(document, found);
        }
    });
    members::summary(document, known(report).next());
    facts::circumstances(document, report);
}
