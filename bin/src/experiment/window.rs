//! How far the out-of-order window reaches: work between loads, with and without prefetch, and plain fillers.

use super::interface::{self, Experiment};
use super::writers::window;
use crate::engine::clock::Timer;
use crate::engine::memory::Beside;
use crate::engine::session::{Findings, Plan, Session};
use crate::engine::stopwatch;
use crate::engine::{reach, run};
use crate::error::Failure;
use crate::options::{Descriptor, FlagId, FlagSet, Format, Operands};
use crate::plan;
use crate::plan::budget::Budget;
use crate::result::{Extra, Point};

/// Inverse throughput against the work between loads.
pub const WINDOW: Experiment = Experiment {
    descriptor: Descriptor {
        name: "window",
        summary: "how far the out-of-order window reaches past work between loads",
        details: "Sixteen chains with 0 to 48 units of dependent work behind each load, with and without a \
                  prefetch of the lane's next node; the same code in the first-level cache is the floor. Then two \
                  chains with up to 768 instructions between their loads that depend on neither: where the loads \
                  overlap no more, the reorder buffer (or what else the instructions need) is full.",
        flags: FlagSet::MEASURING
            .union(FlagSet::of(&[FlagId::Size, FlagId::Seed])),
        formats: &[Format::Text, Format::Json, Format::Csv, Format::Svg],
        operands: Operands::NONE,
    },
    plan,
    budget: Budget::of_lanes,
    measure,
    writers: &[
        (Format::Text, window::text),
        (Format::Json, window::json),
        (Format::Csv, window::csv),
        (Format::Svg, window::picture),
    ],
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
