//! How far the out-of-order window reaches: work between loads, with and without prefetch, and plain fillers.

use super::interface::{self, Experiment};
use super::writers::window;
use crate::engine::clock::Timer;
use crate::engine::schedule::lanes;
use crate::engine::session::{Findings, Plan, Session};
use crate::engine::stopwatch;
use crate::error::Failure;
use crate::options::{Descriptor, FlagId, FlagSet, Operands};
use crate::plan::{self, duration};
use crate::result::Point;

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
    takes: |options, machine, points| duration::lanes(options, machine, points, &lanes::PACE),
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
) -> Result<Findings<'a>, Failure<'a>> {
    timer.counter().ok_or(stopwatch::NEEDS_COUNTER)?;
    lanes::run(session, timer, points)
}
