//! The points of `loaded`: a chain that is walked alone, alongside the maximum traffic, and at rates in between.
//!
//! The rates are known once the limit has been measured; [`levels`] returns them then.

use alloc::vec::Vec;

use latency_core::{Bytes, CpuId, CpuSet, NodeId, ToReal};

use super::traffic::{check_kinds, kinds};
use super::{PlannedPoints, Planning, Scope, generators, not_empty, sizes, working_set};
use crate::analysis::load::share;
use crate::error::Failure;
use crate::options::{Options, Rate};
use latency_engine::budget::FEWEST_ROUNDS;
use latency_engine::error::PlacementError;
use latency_engine::machine::Machine;
use latency_engine::result::{Point, Traffic, TrafficSubject, Walk, point};
use latency_engine::warning::Warning;
use latency_report::chart::vector;

/// Number of levels that are added where latency has doubled.
pub const CLOSER: usize = 2;
/// Number of points with unpaced generators: all, half and a quarter of them.
pub const COUNTS: usize = 3;
/// Approximate nanoseconds of a visit of a level: two measurements of the rate, a window, and threads that start and
/// rest.
const VISIT_NS: f64 = 45e6;
/// The default kinds of traffic.
const USUAL: &[&str] = &["read", "2:1"];

/// Plans the points that are known before the measurement: for each pair and kind of traffic the idle chain, all
/// generators, and half and a quarter of them; or the points that the user requested.
///
/// # Errors
///
/// The errors of [`Scope::resolve`], [`check_kinds`], [`generators::check_cpus`], [`working_set`] and
/// [`generators::footprint`]; [`PlacementError::NeedsSecondCpu`] and [`PlacementError::CpuGenerates`].
pub fn points(planning: &mut Planning<'_>) -> PlannedPoints {
    let mut scope = Scope::resolve(planning)?;
    let Planning { options, machine, .. } = *planning;
    if options.hold.is_some() {
        let (from, to) = scope.pair(options, machine)?;
        scope = scope.narrowed(from, to);
    }
    check_kinds(options, machine)?;
    let _ = generators::check_cpus(options, machine)?;
    if let Some(node) = options.load_node {
        super::scope::check_memory(machine, node)?;
    }
    let from = scope.initiators.first().map(NodeId).ok_or(Failure::NOTHING_TO_MEASURE)?;
    let cpu = chaser(options, machine, &scope, from)?;
    let mut left_ns = options.visits_ns();
    let targets = scope.targets_of(from);
    let count = targets.len();
    let mut points = Vec::new();
    for to in targets.iter().map(NodeId) {
        let wanted = working_set(planning, to, count)?;
        let size = match options.size {
            Some(_) => wanted,
            None => generators::two_fifths(machine, (to, count), wanted),
        };
        let like = super::chain(options, machine, [from, to], cpu, size);
        point::chain(&like)?;
        curve(planning, &like, count, &mut left_ns, &mut points)?;
    }
    not_empty(points)
}

/// Returns the CPU that walks the chain, which is not one of the generators' CPUs.
fn chaser(
    options: &Options,
    machine: &'static Machine,
    scope: &Scope,
    from: NodeId,
) -> Result<CpuId, PlacementError> {
    let usual = scope.cpu(machine, from).ok_or(PlacementError::NothingToMeasure)?;
    let generate = options.load_cpus.as_ref();
    match generate.filter(|generate| !generate.is_all() && generate.contains(usual.0)) {
        None => Ok(usual),
        Some(generate) => {
            let own = machine.topology.node(from).map_or(CpuSet::EMPTY, |node| machine.cpus_of(node));
            let mut others = own.iter().filter(|cpu| !generate.contains(*cpu) && options.cpu.is_none());
            others.next().map(CpuId).ok_or(PlacementError::CpuGenerates { cpu: usual })
        }
    }
}

/// Adds the points of one pair.
fn curve(
    planning: &mut Planning<'_>,
    like: &Point,
    targets: usize,
    left_ns: &mut f64,
    points: &mut Vec<Point>,
) -> Result<(), Failure> {
    let Planning { options, machine, .. } = *planning;
    let node = options.load_node.unwrap_or(like.target);
    let from = generators::side(options, like.initiator, like.target);
    let mut traffic = Traffic {
        kind: &latency_core::traffic::KINDS[0],
        generators: 1,
        subject: TrafficSubject::Node,
        from,
        node,
        footprint: Bytes(0),
        line: like.line,
        rate: None,
    };
    let mut beside = *like;
    beside.walk = Walk::Loaded(traffic);
    let cpus = generators::others(options, machine, &beside, &traffic);
    let all = cpus.len() as u32;
    if all == 0 {
        let why = "one CPU measures, the others generate load";
        return Err(PlacementError::NeedsSecondCpu { experiment: "loaded", why }.into());
    }
    generators::warn_of_few(machine, all, planning.warnings);
    traffic.footprint = generators::footprint_in_memory(planning, &cpus, (node, targets))?;
    if node == like.target {
        sizes::check(options, machine, node, Bytes(like.size.0 + traffic.footprint.0))?;
    }
    let asked = Some(options.rates.as_slice()).filter(|rates| !rates.is_empty());
    let wants = |rate: Rate| asked.is_none_or(|asked| asked.contains(&rate));
    // A level may be a share of the limit, and half of the generators show whether the limit is the memory's.
    let limit =
        asked.is_none_or(|asked| asked.iter().any(|rate| matches!(rate, Rate::Most | Rate::OfLimit(_))));
    // The generators of each known level, and their rate.
    let counts = [all, all / 2, all / 4].into_iter().filter(|count| limit && *count > 0);
    let mut known = vector(counts.map(|count| (count, None)));
    for rate in asked.unwrap_or_default() {
        if let Rate::BytesPerSecond(bytes) = rate {
            known.push((all, Some(*bytes)));
        }
    }
    let takes_ns = (most_added(options) + known.len()).real() * FEWEST_ROUNDS as f64 * VISIT_NS;
    let budget_ns = options.visits_ns();
    // A held point is compared with idle memory, and has one kind of traffic.
    let (mut idle, most_kinds) = match options.hold {
        Some(_) => (true, 1),
        None => (wants(Rate::Idle), usize::MAX),
    };
    for kind in kinds(options, machine, USUAL).iter().take(most_kinds) {
        // At least one point is measured, however short the time is.
        if takes_ns > *left_ns && *left_ns < budget_ns {
            let (from, to, seconds) = (like.initiator, like.target, options.budget.0.real() / 1e12);
            planning.warnings.push(Warning::OverBudget { from, to, kind: kind.name, seconds });
            continue;
        }
        *left_ns -= takes_ns;
        // All kinds share the idle point.
        if core::mem::take(&mut idle) {
            points.push(*like);
        }
        let kind = kind.permuted();
        for &(generators, rate) in &known {
            points.push(Point { walk: Walk::Loaded(Traffic { kind, generators, rate, ..traffic }), ..*like });
        }
    }
    Ok(())
}

/// Returns the index of the point to be held, among planned and added points: it has a rate, unless the rate is the
/// limit.
pub fn held(points: &mut dyn Iterator<Item = Point>) -> Option<usize> {
    let mut held = None;
    for (index, point) in points.enumerate() {
        match point.walk.traffic() {
            Some(Traffic { rate: Some(_), .. }) => held = Some(index),
            // The point with all generators comes first.
            Some(_) => held = held.or(Some(index)),
            None => {}
        }
    }
    held
}

/// Calls `each` with the rates between the ends of a curve, once its limit is known, in bytes per second.
pub fn levels(options: &Options, limit: f64, each: &mut dyn FnMut(f64)) {
    for rate in &options.rates {
        if let Rate::OfLimit(share) = rate {
            each(share * limit);
        }
    }
    let levels = if options.rates.is_empty() { options.levels.get() as usize } else { 0 };
    for index in 0..levels {
        // The idle point is measured already.
        if let Some(share) = share(index, levels).filter(|share| *share > 0.0) {
            each(share * limit);
        }
    }
}

/// Returns the number of curves among some points.
pub fn curves(points: &[Point]) -> usize {
    let key = |point: &Point| Some((point.target, point.walk.traffic()?.kind.name));
    let begins = |(index, point): &(usize, &Point)| {
        let before = index.checked_sub(1).and_then(|before| points.get(before));
        key(point).is_some() && before.is_none_or(|before| key(before) != key(point))
    };
    points.iter().enumerate().filter(begins).count()
}

/// Returns the maximum number of points that may be added to the curve of one pair and kind.
pub fn most_added(options: &Options) -> usize {
    let mut count = 0;
    levels(options, 1.0, &mut |_| count += 1);
    count + if options.rates.is_empty() { CLOSER } else { 0 }
}
