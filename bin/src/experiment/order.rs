//! The same nodes in random, sequential and backward order: what the order of a walk costs.

use latency_core::chain::Order;
use latency_core::units::Bytes;

use super::interface::Experiment;
use super::writers::order;
use crate::engine::clock::Timer;
use crate::engine::memory::Beside;
use crate::engine::run;
use crate::engine::session::{Findings, Plan, Session};
use crate::engine::strided::Loads;
use crate::error::Failure;
use crate::options::{Descriptor, FlagId, FlagSet, Format, Operands};
use crate::plan::budget::{Budget, Pass, FEWEST_ROUNDS};
use crate::plan::single;
use crate::result::{Orders, Point};
use crate::sys::table::Table;

/// The working set where none is asked for: far beyond most caches, and written in a tenth of a second.
const SIZE: Bytes = Bytes(256 << 20);
/// Warm hops of each order, over all visits.
const HOPS: u64 = 20_000_000;
/// The orders, as they are shown.
const ORDERS: [Order; 3] = [Order::Random, Order::Sequential, Order::Backward];

/// Random against sequential.
pub const ORDER: Experiment = Experiment {
    descriptor: Descriptor {
        name: "order",
        summary: "the same nodes walked in random, sequential and backward order",
        details: "256 MiB of 64-byte nodes, 20 million hops in each order, over a chain just written (cold) and after \
                  a pass of warm-up; then the same nodes as independent loads in address order, none of which waits \
                  for another. What the ratios mean for a linked structure against an array.",
        flags: FlagSet::MEASURING.union(FlagSet::of(
            &[FlagId::Size, FlagId::Stride, FlagId::Seed],
        )),
        formats: &[Format::Text, Format::Json, Format::Csv],
        operands: Operands::NONE,
    },
    plan,
    budget: |options, machine, _| Budget {
        pass: Pass::Lap,
        rounds: FEWEST_ROUNDS,
        most: FEWEST_ROUNDS,
        hops: HOPS,
        long_visit_ns: f64::INFINITY,
        ..Budget::new(options, machine).rewritten(1)
    },
    measure,
    writers: &[(Format::Text, order::text), (Format::Json, order::json), (Format::Csv, order::csv)],
};

fn plan<'a>(session: &mut Session<'a, '_>) -> Plan<'a> {
    let Session { options, machine, .. } = *session;
    let mut like = single::like(options, machine, session.warnings)?;
    if options.size.is_none() {
        like.size = like.size.min(SIZE);
    }
    let mut points = Table::filled(ORDERS.len(), like)?;
    for (slot, order) in points.iter_mut().zip(ORDERS) {
        slot.order = order;
        crate::result::chain::chain(slot)?;
    }
    Ok(points)
}

fn measure<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    budget: &Budget,
) -> Result<Findings<'a>, Failure<'a>> {
    let mut beside = Beside { loads: Some(Loads::default()), ..Beside::default() };
    let mut findings =
        run::measure_with(session, timer, points, budget, &mut beside, &mut |session, schedule| {
            schedule.run(session.progress)
        })?;
    let mut outcomes = findings.outcomes.iter();
    let clock = outcomes.find_map(|outcome| outcome.result.as_ref().ok()?.series.core_gigahertz);
    let strided = beside.loads.and_then(|loads| loads.conclude(clock.map(|clock| clock.median)));
    findings.extra.orders = Some(Orders { strided });
    Ok(findings)
}
