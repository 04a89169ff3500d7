//! The prefetch audit: does something fetch lines before a random chase asks for them?
//!
//! The same memory is walked with a node in every line and with one in every fourth,
//! which lies in a line drawn at random: prefetchers of neighbouring lines can help the
//! first alone. In full random order what they fetched is gone before it is needed, in
//! most cases; within regions of 2 MiB it still is in a second-level cache.
//!
//! Made after each experiment, in fresh memory of at most the same size. Each chain is walked
//! for a part of its first lap, so that no cache holds what is asked for, unless something
//! fetched it. What a large cache would keep of it for a second lap does not show here.

use latency_core::buffer::Buffer;
use latency_core::chain::Order;
use latency_core::stats;
use latency_core::units::Bytes;

use super::clock::Timer;
use super::ground::{Condition, Ground};
use super::placement::{self, Placement};
use super::session::Session;
use super::stopwatch::{Chase, Stopwatch};
use super::subject::Subject;
use crate::error::{Failure, PlacementError};
use crate::options::Pages;
use crate::result::{chain, Audit, Outcome, Point, Walk};
use crate::warning::Warning;

/// Ratios whose interval is further from one are said.
const TOLERANCE: f64 = 0.02;
/// Rounds, each of which writes and walks all four chains: the range of six medians holds the true one in 96.9 of 100 runs.
const ROUNDS: usize = 6;
/// A walk is cut here, where an emulator makes hops slow.
const MOST_NS: f64 = 2e7;
/// Memory of this size is written in a fiftieth of a second, and its page tables are in no first-level cache.
const LARGEST: Bytes = Bytes(256 << 20);
/// Prefetched lines survive in a second-level cache that long.
const REGION: Bytes = Bytes(2 << 20);
/// The strides of the nodes.
const DENSE: u64 = 64;
const SPARSE: u64 = 256;
/// Where pairs of lines are fetched, a cache has the other one for half of its size of all hops: for one in sixteen
/// in a working set of so many caches.
const CACHES: u64 = 8;
/// Fewer regions are no walk between them.
const FEWEST_REGIONS: u64 = 8;

/// Walks the four chains as the largest of the `measured` was, in no more memory, and warns if a ratio is not one and
/// that matters to one of them; `None` where there is too little memory to tell.
///
/// # Errors
///
/// [`Failure::Interrupted`], and those of a walk.
pub fn prefetch<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    measured: &[Outcome<'_>],
) -> Result<Option<Audit>, Failure<'a>> {
    let mapped =
        |outcome: &Outcome<'_>| outcome.result.as_ref().map_or(Bytes(0), |result| result.placed.mapped);
    let Some(largest) = measured.iter().max_by_key(|outcome| mapped(outcome)) else { return Ok(None) };
    let like = &largest.point;
    // A program that was given room for a working set is not to take more, nor the last of what there is.
    let quarter = session.machine.free_memory(like.target).0 / 4;
    let most = LARGEST.min(mapped(largest)).0.min(quarter);
    // A power of two is written fastest.
    let span = Bytes(most.checked_ilog2().map_or(0, |log| 1 << log));
    if span < REGION.times(FEWEST_REGIONS) {
        return Ok(None);
    }
    session.progress.say(format_args!("auditing prefetchers"));
    // A pool that was large enough for the experiment need not be for this.
    let pages = match like.pages {
        Pages::Huge2m | Pages::Huge1g => Pages::Auto,
        pages => pages,
    };
    let placed = Placement::new(session.machine, like.target, span, pages);
    placement::pin(like.cpu)?;
    let mut placed = match placed {
        Err(Failure::Placement(_)) => return Ok(None),
        placed => placed?,
    };
    let point = |order, stride| Point {
        order,
        stride: Bytes(stride),
        size: span,
        pages,
        walk: Walk::Chain,
        kernel: &latency_core::kernel::POINTER,
        ..*like
    };
    let watch = Stopwatch::new(*timer, None);
    let mut ratios = [[f64::NAN; ROUNDS]; 2];
    for round in 0..ROUNDS {
        for (ratios, order) in ratios.iter_mut().zip([Order::Random, Order::Local(REGION)]) {
            // Whatever drifts meets both of a pair first in turn.
            let strides = if round % 2 == 0 { [DENSE, SPARSE] } else { [SPARSE, DENSE] };
            let mut latencies = [f64::NAN; 2];
            for (latency, stride) in latencies.iter_mut().zip(strides) {
                *latency = visit(&watch, &mut placed, &point(order, stride))?;
            }
            let [first, second] = latencies;
            if let Some(ratio) = ratios.get_mut(round) {
                *ratio = if round % 2 == 0 { first / second } else { second / first };
            }
        }
    }
    session.progress.clear();
    let [random, local] = ratios.map(|mut ratios| stats::summarise(&mut ratios));
    let (Some(random), Some(local)) = (random, local) else { return Ok(None) };
    let audit = Audit { span, random, local };
    let found = |ratio: &stats::Summary| {
        let off =
            |interval: stats::Interval| interval.low > 1.0 + TOLERANCE || interval.high < 1.0 - TOLERANCE;
        ratio.interval.is_some_and(off).then_some(ratio.median)
    };
    let kept = session.machine.last_level_cache().times(CACHES);
    let helped = |outcome: &Outcome<'_>| outcome.point.stride.0 < SPARSE && outcome.point.size < kept;
    if let Some(ratio) = found(&random) {
        session.warnings.push(Warning::PrefetchAudit { ratio });
    } else if let Some(ratio) = found(&local).filter(|_| measured.iter().any(helped)) {
        session.warnings.push(Warning::NeighboursFetched { ratio });
    }
    Ok(Some(audit))
}

/// Writes one of the chains and walks as many nodes as a region has, once untimed: nanoseconds per hop.
///
/// A region that is half done is half fetched: only whole ones compare. The first fills the TLBs as well; no cache
/// holds lines of a chain just written.
fn visit(watch: &Stopwatch, placed: &mut Placement, point: &Point) -> Result<f64, Failure<'static>> {
    let chain = chain::chain(point)?;
    let (lines, _) = placed.split();
    let buffer =
        Buffer::build(lines, &chain, point.kernel.encoding).map_err(|_| PlacementError::NothingToMeasure)?;
    let subject = Subject { buffer: &buffer, kernel: point.kernel, side: None };
    let mut chase = Chase::new(watch, subject, Condition::Written, chain.start(0, 1));
    let nodes = REGION.0 / point.stride.0;
    chase.walk(nodes, chase.now_ns() + MOST_NS)?;
    let (hops, spent_ns) = chase.walk(nodes, chase.now_ns() + MOST_NS)?;
    Ok(spent_ns / hops as f64)
}
