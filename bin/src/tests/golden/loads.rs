//! The traffic of an imaginary machine alongside a chain, and the latency of the chain's loads under it: by formula,
//! without noise.

use std::vec::Vec;

use super::numbers::{self, Cores};
use crate::options::Options;
use crate::plan::loaded::{CLOSER, levels};
use latency_engine::result::{Point, Traffic, Walk};

/// Extra latency of a chain at half of the memory's bandwidth and at all of it, relative to the idle latency.
const HALF_FULL: f64 = 0.11;
const FULL: f64 = 1.72;
/// Share of a generator's time that is left after its readings of the clock.
const PACED: f64 = 0.97;
/// Share of the requested rate that pacing delivers.
const EXACT: f64 = 0.9988;
/// Maximum number of walks in random order that do not slow each other down, and the share of the rate that more walks
/// reach.
const ROOMY: u32 = 40;
const HINDERED: f64 = 0.88;
/// Share of another memory's load that affects a chain.
const NOTICED: f64 = 0.06;
/// Number of cores that is more than enough for any memory.
const ENOUGH: u32 = 4096;

/// Returns the bytes in a second that some traffic delivers.
pub fn delivered(traffic: &Traffic) -> f64 {
    let most = of(traffic, traffic.generators);
    let hindered = traffic.kind.name == "random" && traffic.generators > ROOMY;
    let unpaced = if hindered { most * HINDERED } else { most };
    traffic.rate.map_or(unpaced, |rate| rate.min(most * PACED) * EXACT)
}

/// Returns the bytes in a second of `count` cores.
fn of(traffic: &Traffic, count: u32) -> f64 {
    let distance = if traffic.from == traffic.node { 10 } else { 21 };
    numbers::bandwidth(&Cores { kind: traffic.kind.name, count, bytes: u64::MAX, distance })
}

/// Returns the latency of a load alongside some traffic, relative to the idle latency.
pub fn stretch(point: &Point, traffic: &Traffic) -> f64 {
    let memory = Traffic { from: traffic.node, ..*traffic };
    let used = (delivered(traffic) / of(&memory, ENOUGH)).min(0.999);
    let noticed = if traffic.node == point.target { 1.0 } else { NOTICED };
    1.0 + noticed * (HALF_FULL * used / (1.0 - used)).min(FULL)
}

/// Returns the points of a plan, with no more generators than there are threads, and the points that are added when a
/// limit is known.
pub fn with_levels(options: &Options, points: &[Point], threads: Option<u32>) -> Vec<Point> {
    let unpaced = |point: &Point| match point.walk {
        Walk::Loaded(traffic) if traffic.rate.is_none() => Some(traffic),
        _ => None,
    };
    let curve = |point: &Point| unpaced(point).map(|traffic| (point.target, traffic.kind.name));
    let mut all: Vec<Point> = Vec::new();
    for point in points {
        let mut point = *point;
        if let (Walk::Loaded(traffic), Some(threads)) = (&mut point.walk, threads) {
            traffic.generators = traffic.generators.min(threads);
        }
        let cores = |point: &Point| curve(point).zip(unpaced(point).map(|traffic| traffic.generators));
        if cores(&point).is_none() || all.iter().all(|other| cores(other) != cores(&point)) {
            all.push(point);
        }
    }
    for (index, point) in all.clone().iter().enumerate() {
        let first = !all[..index].iter().any(|earlier| curve(earlier) == curve(point));
        let Some(traffic) = unpaced(point).filter(|_| first) else { continue };
        let alike = all.iter().filter(|other| curve(other) == curve(point)).filter_map(unpaced);
        let limit = alike.map(|traffic| delivered(&traffic)).fold(0.0, f64::max);
        let mut add = |rate: f64| {
            all.push(Point { walk: Walk::Loaded(Traffic { rate: Some(rate), ..traffic }), ..*point });
        };
        levels(options, limit, &mut add);
        if options.rates.is_empty() {
            (1..=CLOSER).for_each(|step| add(limit * (0.95 + 0.01 * step as f64)));
        }
    }
    all
}
