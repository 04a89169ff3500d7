//! The plan for people who want to know before they wait (`--dry-run`).

use core::fmt::{self, Write};

use latency_core::decimal::{Decimal, Trimmed};
use latency_core::units::Bytes;

use super::text::OrderName;
use crate::options::{Choice, Options};
use crate::result::{Point, Walk};

/// Mapping, clearing and writing memory takes about so long for each byte, by the slower of the machines measured.
const NANOSECONDS_PER_BYTE: f64 = 0.3;
/// What a hop takes, until it is known.
const GUESSED_HOP_NS: f64 = 100.0;
/// The rounds of points that share memory, at the least.
const REWRITES: f64 = 7.0;

/// Writes every point, the memory that they need together, and how long it will take.
///
/// # Errors
///
/// Those of `out`.
pub fn text(out: &mut dyn Write, options: &Options<'_>, points: &[Point]) -> fmt::Result {
    let mut bytes = Bytes(0);
    for (index, point) in points.iter().enumerate() {
        let Point { initiator, cpu, target, size, stride, pages, kernel, walk, order, .. } = point;
        write!(
            out,
            "Node {initiator} (CPU {cpu}) -> Node {target}: {size} in {} nodes {stride} apart, {} order, {} kernel, pages {}",
            size.0 / stride.0.max(1),
            OrderName(*order),
            kernel.name,
            pages.word()
        )?;
        lanes_of(out, walk)?;
        out.write_char('\n')?;
        let earlier = points.get(..index).unwrap_or_default();
        // Lanes have memory for every working set; other points on one node in one kind of pages share the largest.
        let alike = |other: &Point| {
            other.target == *target
                && other.pages == *pages
                && (other.size == *size || matches!(walk, Walk::Chain))
        };
        if !earlier.iter().any(alike) {
            let sizes = points.iter().filter(|other| alike(other)).map(|other| other.size);
            bytes.0 += sizes.max().map_or(0, |largest| largest.0);
        }
    }
    if points.iter().any(|point| point.walk.lanes() > 1) {
        return lanes(out, points, bytes);
    }
    let trial_ns = options.iters.map_or(100_000.0, |iters| iters.get() as f64 * GUESSED_HOP_NS);
    let trials = options.trials.map_or(15.0, |trials| f64::from(trials.get()));
    let warm_up_ns = 0.2e9;
    // Points that share memory have their chains written anew for each round.
    let rewrites = if points.len() > 1 { REWRITES } else { 0.0 };
    let written: f64 = points.iter().map(|point| point.size.0 as f64).sum();
    let shortest_ns =
        points.len() as f64 * (warm_up_ns + trials * trial_ns) + rewrites * written * NANOSECONDS_PER_BYTE;
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

/// What is walked beside one another, if there is more than one chain.
pub(super) fn lanes_of(out: &mut dyn Write, walk: &Walk) -> fmt::Result {
    match walk {
        Walk::Chain => {}
        Walk::Lanes(kernel) if kernel.work() == 0 => write!(out, ", {} lanes", kernel.lanes())?,
        Walk::Lanes(kernel) => write!(out, ", {} lanes, work {}", kernel.lanes(), kernel.work())?,
        Walk::Apart(gap) => write!(out, ", 2 lanes, {} {}", gap.fillers(), gap.filler().name())?,
    }
    if matches!(walk, Walk::Lanes(kernel) if kernel.prefetch()) {
        out.write_str(", prefetch")?;
    }
    Ok(())
}

/// The last line for points of several lanes: rounds over all of them, each after a trail that fills the caches.
fn lanes(out: &mut dyn Write, points: &[Point], bytes: Bytes) -> fmt::Result {
    /// Fewest and most rounds.
    const ROUNDS: (f64, f64) = (15.0, 30.0);
    /// A round of a point: twenty trials.
    const ROUND_NS: f64 = 2.5e6;
    /// What comes before it where the number of lanes, or the working set, is another than that of the point before.
    const TRAIL_NS: f64 = 15e6;
    let changes = points.windows(2).filter(|pair| match pair {
        [one, other] => (one.size, one.walk.lanes()) != (other.size, other.walk.lanes()),
        _ => false,
    });
    let round_ns = points.len() as f64 * ROUND_NS + (changes.count() + 1) as f64 * TRAIL_NS;
    let seconds = |rounds: f64| Decimal((bytes.0 as f64 * NANOSECONDS_PER_BYTE + rounds * round_ns) / 1e9);
    writeln!(
        out,
        "{} points, {bytes} of memory, {:.0} to {:.0} s, as soon as all are precise",
        points.len(),
        seconds(ROUNDS.0),
        seconds(ROUNDS.1)
    )
}
