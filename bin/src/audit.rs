//! The prefetch audit: does something fetch lines before a random chase asks for them?
//!
//! The same span of memory is walked with a node in every line and with one in
//! every fourth, which lies in a line drawn at random: prefetchers of neighbouring
//! lines can help the first alone. In full random order what they fetched is gone
//! before it is needed, in most cases; within regions of 2 MiB it still is in a cache.

use latency_core::chain::Order;
use latency_core::units::Bytes;

use crate::error::Failure;
use crate::experiment::Session;
use crate::options::Pages;
use crate::plan;
use crate::result::{Audit, Point};
use crate::rotation::{Limits, Rotation};
use crate::timer::Timer;
use crate::warning::Warning;

/// Ratios further from one are said.
const TOLERANCE: f64 = 0.02;
/// The audit takes about so long.
const RUN_NS: f64 = 3e9;
/// The span is so many times the last-level cache: its sparse nodes are in a quarter of the lines, and eight times
/// the cache's lines leave fewer than one hop in a thousand to it.
const CACHES: u64 = 32;
/// Writing more would take longer than the audit.
const LARGEST: Bytes = Bytes(1 << 30);
/// With sparse nodes in fewer lines than this many caches, hits in that cache differ, and not prefetchers.
const FEWEST_CACHES: u64 = 3;
/// Prefetched lines survive in a second-level cache that long.
const REGION: Bytes = Bytes(2 << 20);

/// Walks the four chains near `like`, and warns if a ratio is not one; `None` where the memory cannot be had.
///
/// # Errors
///
/// [`Failure::Interrupted`], and those of a walk.
pub fn prefetch<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    like: &Point,
) -> Result<Option<Audit>, Failure<'a>> {
    let cache = session.machine.last_level_cache();
    let quarter = Bytes(session.machine.free_memory(like.target).0 / 4 / REGION.0 * REGION.0);
    let wanted = cache.times(CACHES).min(LARGEST).max(like.size.min(LARGEST));
    let span = if quarter.0 == 0 { wanted } else { wanted.min(quarter) };
    let span = Bytes(span.0 / REGION.0 * REGION.0);
    if span < REGION.times(2) {
        return Ok(None);
    }
    let pages = if like.pages == Pages::Huge1g { Pages::Auto } else { like.pages };
    let point = |order, stride| Point { order, stride: Bytes(stride), size: span, pages, ..*like };
    let points = [
        point(Order::Random, 64),
        point(Order::Random, 256),
        point(Order::Local(REGION), 64),
        point(Order::Local(REGION), 256),
    ];
    let limits = Limits { point_ns: RUN_NS, run_ns: RUN_NS };
    let mut rotation = match Rotation::new(session, timer, &point(Order::Random, 64), span, 4, limits) {
        Err(Failure::Placement(_)) => return Ok(None),
        rotation => rotation?,
    };
    for point in points {
        plan::chain(&point)?;
        rotation.add(point);
    }
    let interrupted = rotation.measure(session)?;
    if interrupted {
        return Err(Failure::Interrupted);
    }
    let mut latencies = rotation.so_far().map(|(_, latency)| latency);
    let mut ratio = || Some(latencies.next()? / latencies.next()?).filter(|ratio| ratio.is_finite());
    let held = span.0 / 4 < cache.times(FEWEST_CACHES).0;
    let (random, local) = (ratio().filter(|_| !held), ratio().filter(|_| !held));
    let audit = Audit { span, random, local };
    let farthest = [random, local].into_iter().flatten().max_by(|a, b| off(*a).total_cmp(&off(*b)));
    if let Some(ratio) = farthest.filter(|ratio| off(*ratio) > TOLERANCE) {
        session.warnings.push(Warning::PrefetchAudit { ratio });
    }
    Ok(Some(audit))
}

fn off(ratio: f64) -> f64 {
    (ratio - 1.0).abs()
}
