//! The plan for people who want to know before they wait (`--dry-run`).

use core::fmt::{self, Write};

use latency_core::decimal::{Decimal, Trimmed};
use latency_core::units::Bytes;

use super::text::OrderName;
use crate::options::{Choice, Options};
use crate::result::Point;

/// Mapping, clearing and writing memory takes about so long for each byte, by the slower of the machines measured.
const NANOSECONDS_PER_BYTE: f64 = 0.3;
/// What a hop takes, until it is known.
const GUESSED_HOP_NS: f64 = 100.0;
/// The hops of a warm-up, at the most.
const LONGEST_LAP: u64 = 1 << 22;
/// Points that share a buffer have their chains written anew for each round, of which there are at least so many.
const REWRITES: f64 = 7.0;

/// Writes every point, the memory that they need together, and how long it will take.
///
/// # Errors
///
/// Those of `out`.
pub fn text(out: &mut dyn Write, options: &Options<'_>, points: &[Point]) -> fmt::Result {
    let (mut bytes, mut prepare_ns) = (Bytes(0), 0.0);
    for (index, point) in points.iter().enumerate() {
        let Point { initiator, cpu, target, size, stride, pages, kernel, order, .. } = point;
        writeln!(
            out,
            "Node {initiator} (CPU {cpu}) -> Node {target}: {size} in {} nodes {stride} apart, {} order, {} kernel, pages {}",
            size.0 / stride.0.max(1),
            OrderName(*order),
            kernel.name,
            pages.word()
        )?;
        // Points of one target and one kind of pages share a buffer: the largest counts.
        let shares = |other: &&Point| other.target == *target && other.pages == *pages;
        let known =
            points.get(..index).unwrap_or_default().iter().filter(shares).map(|other| other.size).max();
        bytes.0 += size.0.saturating_sub(known.map_or(0, |known| known.0));
        let warm_up = (size.0 / stride.0.max(1)).min(LONGEST_LAP) as f64 * GUESSED_HOP_NS;
        let writes = if points.len() > 1 { REWRITES } else { 1.0 };
        prepare_ns += warm_up + writes * size.0 as f64 * NANOSECONDS_PER_BYTE;
    }
    let trial_ns = options.iters.map_or(100_000.0, |iters| iters.get() as f64 * GUESSED_HOP_NS);
    let trials = options.trials.map_or(15.0, |trials| f64::from(trials.get()));
    let shortest_ns = prepare_ns + points.len() as f64 * trials * trial_ns;
    let usual = (bytes.0 as f64 * NANOSECONDS_PER_BYTE + shortest_ns.max(1e9)) / 1e9;
    let limit = points.len() as f64 * options.time_limit.0 as f64 / 1e12;
    writeln!(
        out,
        "{} points, {bytes} of memory, about {usual:.0} s; at most {:.0} s more where the precision of {} % is not reached",
        points.len(),
        Decimal(limit.max(0.0)),
        Trimmed(options.precision * 100.0)
    , usual = Decimal(usual))
}
