//! A point, and outcomes of points with a known time.

use latency_core::chain::Order;
use latency_core::kernel::POINTER;
use latency_core::{Bytes, CpuId, Interval, LineSize, NodeId, PageSize, Pages, Summary};

use crate::result::{Evidence, Means, Measurement, Outcome, Placed, Point, RoundSeries, Walk, WarmUp};

/// A random walk over 1 MiB of node 0, from which a test changes what it is about.
pub const POINT: Point = Point {
    initiator: NodeId(0),
    cpu: CpuId(0),
    target: NodeId(0),
    kernel: &POINTER,
    order: Order::Random,
    size: Bytes::MIB,
    stride: Bytes(64),
    line: LineSize::LEAST,
    seed: 1,
    pages: Pages::base(PageSize::KIB_4),
    walk: Walk::Chain,
};

/// Returns a point with this time, with an interval of 1 % to each side.
pub fn outcome(size: u64, walk: Walk, nanoseconds: f64) -> Outcome {
    let (size, pages) = (Bytes(size), Pages::thp(PageSize::MIB_2));
    let point = Point { size, pages, walk, ..POINT };
    let interval = Interval { low: nanoseconds * 0.99, high: nanoseconds * 1.01 };
    let summary = Summary {
        count: 15,
        median: nanoseconds,
        minimum: nanoseconds,
        maximum: nanoseconds,
        mad: 0.0,
        interval: Some(interval),
    };
    let series = RoundSeries {
        split: None,
        undisturbed: None,
        warm_over_cold: None,
        nanoseconds: summary,
        core_cycles: None,
        core_gigahertz: None,
        uncore_gigahertz: None,
        delivered: None,
        minimum_ns: nanoseconds,
        maximum_ns: nanoseconds,
        batches: 300,
        stepped_back: 0,
        throttled: 0,
        unsettled: 0,
        state_share: None,
        window_ns: 1e9,
        disturbed: 0,
        counters: None,
        software: crate::result::Software::default(),
    };
    let seen = Evidence::default();
    let placed =
        Placed { means: Means::SoleNode, pages, mapped: size, before: seen, after: seen, as_small: None };
    let result = Ok(Measurement {
        placed,
        hops: 100,
        warm_up: WarmUp::default(),
        series,
        rounds: 15,
        placements: 1,
        placement_spread: None,
        precise: true,
        fingerprint: 1,
        nodes: 1,
        traffic: None,
        lines: None,
    });
    Outcome { point, result }
}
