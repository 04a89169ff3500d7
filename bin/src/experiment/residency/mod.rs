//! The time that a shared cache keeps an idle working set, and the rate at which others insert lines.

mod view;

use latency_core::chain::Order;
use latency_core::math::ToReal;
use latency_core::units::Bytes;

use super::interface::{Experiment, gathered};
use crate::describe::Presentation;
use crate::engine::memory::chains::Alongside;
use crate::engine::run;
use crate::engine::schedule::residency::{self, ResidencyLimits};
use crate::engine::session::{Findings, Session};
use crate::engine::stopwatch::clock::Timer;
use crate::error::Failure;
use crate::options::{Descriptor, FlagSet, Options};
use crate::plan::budget::{Budget, PLACES};
use crate::plan::{self, Plan, Planning, single};
use crate::result::Point;
use crate::sys::table::{List, Table};

/// Average time for the latency of a working set, which is measured first.
const SHARE_NS: f64 = 0.8e9;
/// Time of all waits.
const WAITS_NS: f64 = 11e9;
/// Parts of the shared cache that the working sets have. Beside busy neighbours a large cache holds a small set alone.
const PARTS: [u64; 4] = [32, 8, 2, 1];

/// The life of lines in a shared cache.
pub const RESIDENCY: Experiment = Experiment {
    descriptor: Descriptor {
        name: "residency",
        summary: "how long the shared cache keeps a working set",
        details: "Sixteen chains load a part of the last-level cache, up to all of it, or --size alone. After a \
                  wait of up to a second, some of the lines are loaded again, each timed alone to see what is \
                  still there.",
        flags: FlagSet::MEASURING.union(FlagSet::WORKING_SET),
        picture: true,
        ..Descriptor::OF_VALUES
    },
    plan,
    budget: |options, machine, points| {
        let count = points.len();
        let mut budget =
            Budget::new(options, machine).rewritten(PLACES).within(SHARE_NS * count.real(), count);
        budget.after_ns = if budget.bounded { budget.point_ns * count.real() } else { WAITS_NS };
        budget
    },
    measure,
    present: Presentation {
        answer: view::answer,
        evidence: view::evidence,
        summary: view::summary,
        rows: crate::describe::point::rows,
        data: view::data,
    },
};

fn plan<'a>(planning: &mut Planning<'_, 'a>) -> Plan<'a> {
    let Planning { options, machine, .. } = *planning;
    let like = single::like(planning)?;
    // What a chase alone can hold is not the size of the cache.
    let cache = machine.largest_cache();
    // Little memory leaves the smaller sets.
    let most = plan::most(machine, &like, core::slice::from_ref(&like));
    gathered(&mut |each| {
        let point = |size| Point { order: Order::Random, size, ..like };
        if options.size.is_some() {
            each(point(like.size));
            return Ok(());
        }
        for part in PARTS {
            let size = machine.page.whole(Bytes(cache.0 / part));
            if size >= single::beyond_private(machine) && size <= most || part == 1 {
                each(point(size.min(most)));
            }
        }
        Ok(())
    })
}

fn measure<'a>(
    _: &'a Options<'a>,
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    budget: &Budget,
) -> Result<Findings<'a>, Failure<'a>> {
    timer.fine_counter()?;
    let limits = ResidencyLimits {
        near: single::private_cache(session.machine),
        spent_ns: budget.after_ns,
        rounds: budget.trials,
    };
    let mut found = List::new(residency::MOST)?;
    let mut findings = run::measure_with(
        session,
        timer,
        points,
        budget,
        &mut Alongside::default(),
        &mut |session, schedule| {
            schedule.run(session.progress)?;
            residency::search(session.progress, schedule, limits, &mut found)
        },
    )?;
    findings.residency = Table::of(&found)?;
    Ok(findings)
}
