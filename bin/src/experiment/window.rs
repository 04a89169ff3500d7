//! How far the out-of-order window reaches: work between loads, with and without prefetch, and plain fillers.

use super::interface::{self, Experiment};
use super::writers::window;
use crate::engine::clock::Timer;
use crate::engine::memory::Beside;
use crate::engine::session::{Findings, Plan, Session};
use crate::engine::stopwatch;
use crate::engine::{reach, run};
use crate::error::Failure;
use crate::options::{Descriptor, FlagId, FlagSet, Operands};
use crate::plan;
use crate::plan::budget::Budget;
use crate::result::{Extra, Point};

/// Inverse throughput against the work between loads.
pub const WINDOW: Experiment = Experiment {
    descriptor: Descriptor {
        name: "window",
        summary: "how much work the out-of-order window hides",
        details: "Sixteen chains with 0 to 48 units of dependent work after each load, with and without a \
                  prefetch of the next line; the same code with data in the L1 shows the cost of the \
                  work. Then two chains with up to 768 independent instructions between their loads: \
                  where the loads no longer overlap, the reorder buffer is full.",
        flags: FlagSet::MEASURING.union(FlagSet::of(&[FlagId::Size, FlagId::Seed])),
        picture: true,
        operands: Operands::NONE,
    },
    plan,
    budget: Budget::of_lanes,
    measure,
    writers: &[
        ("text", window::text),
        ("json", window::json),
        ("csv", window::csv),
        ("svg", window::picture),
    ],
    present: None,
    columns: &[],
};

fn plan<'a>(session: &mut Session<'a, '_>) -> Plan<'a> {
    interface::collected(session, plan::lanes::window)
}

fn measure<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    budget: &Budget,
) -> Result<Findings<'a>, Failure<'a>> {
    timer.counter().ok_or(stopwatch::NEEDS_COUNTER)?;
    let mut extra = Extra::default();
    let mut findings = run::measure_with(
        session,
        timer,
        points,
        budget,
        &mut Beside::default(),
        &mut |session, schedule| {
            schedule.run(session.progress)?;
            reach::search(session.progress, schedule, &mut extra.reach)
        },
    )?;
    findings.extra = extra;
    Ok(findings)
}
