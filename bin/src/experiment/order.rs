//! The same nodes in random, sequential and backward order: what the order of a walk costs.

use latency_core::chain::Order;
use latency_core::units::Bytes;

use super::interface::Experiment;
use super::writers::order;
use crate::engine::clock::Timer;
use crate::engine::orders;
use crate::engine::session::{Findings, Plan, Session};
use crate::error::Failure;
use crate::options::{Descriptor, FlagId, FlagSet, Operands};
use crate::plan::duration::{self, Walks};
use crate::plan::single;
use crate::result::Point;
use crate::sys::table::Table;

/// The working set where none is asked for: far beyond most caches, and written in a tenth of a second.
const SIZE: Bytes = Bytes(256 << 20);
/// The orders, as they are shown.
const ORDERS: [Order; 3] = [Order::Random, Order::Sequential, Order::Backward];

/// Random against sequential.
pub const ORDER: Experiment = Experiment {
    descriptor: Descriptor {
        name: "order",
        summary: "random, address and backward order, and a scan",
        details: "256 MiB of 64-byte lines, 20 million loads in each order, first just after the chain \
                  was written (cold), then after a first pass. The scan loads the same lines in address \
                  order without waiting. The ratios compare a linked structure with an array.",
        flags: FlagSet::MEASURING.union(FlagSet::of(&[FlagId::Size, FlagId::Stride, FlagId::Seed])),
        picture: false,
        operands: Operands::NONE,
    },
    plan,
    takes: |options, machine, points| {
        let walks = Walks { hops: orders::HOPS, short_pass: orders::SHORT_PASS };
        duration::orders(options, machine, points, &walks)
    },
    measure,
    writers: &[("text", order::text), ("json", order::json), ("csv", order::csv)],
    present: None,
    columns: &[],
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
) -> Result<Findings<'a>, Failure<'a>> {
    orders::run(session, timer, points)
}
