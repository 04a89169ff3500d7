//! The large working sets of a curve once more, with grouped chains beside the random ones: their latency without address
//! translation, so that levels of caches and levels of TLBs are told apart.

use latency_core::math::ToReal;
use latency_core::units::Bytes;

use crate::describe::rates::is_wide;
use crate::engine::run;
use crate::engine::session::{Findings, Session};
use crate::error::Failure;
use crate::plan::budget::Budget;
use crate::plan::curve::is_dense;
use crate::result::split::Split;
use crate::result::{Counter, Outcome, Point};
use crate::sys::table::Table;

/// Nanoseconds of the visits to one working set.
const POINT_NS: f64 = 0.4e9;
/// Minimum nanoseconds of one working set, for rounds enough for an interval.
const LEAST_NS: f64 = 0.1e9;
/// Smallest working set with grouped chains; smaller ones are in the caches of the core, and few of their loads miss a TLB.
const SMALLEST: Bytes = Bytes(2 << 20);

/// Returns the points that are measured again, the largest first and one for each octave, of points by ascending size.
pub fn chosen<'p>(
    points: impl DoubleEndedIterator<Item = &'p Point> + Clone,
) -> impl Iterator<Item = Point> + Clone {
    let mut last = Bytes(u64::MAX);
    points.rev().copied().filter(move |point| {
        let is_wanted = is_dense(point) && point.size >= SMALLEST && point.size <= Bytes(last.0 / 2);
        if is_wanted {
            last = point.size;
        }
        is_wanted
    })
}

/// Returns the nanoseconds of telling memory and translation apart in a curve of these points.
pub fn time_ns(points: &[Point]) -> f64 {
    POINT_NS * chosen(points.iter()).count().real()
}

/// Measures large working sets again, in memory that stays, within `limit_ns`, and adds the parts of their latency to
/// `findings`.
pub fn tell_apart<'a>(
    session: &mut Session<'a, '_>,
    findings: &mut Findings<'a>,
    budget: &Budget,
    limit_ns: f64,
) -> Result<(), Failure<'a>> {
    let measured = findings.outcomes.iter().filter(|outcome| outcome.result.is_ok());
    let points = Table::of(chosen(measured.map(|outcome| &outcome.point)))?;
    let each_ns = (limit_ns / points.len().real()).min(POINT_NS);
    if points.is_empty() || each_ns < LEAST_NS || session.timer.counter().is_none_or(Counter::is_coarse) {
        return Ok(());
    }
    // One after the other, so that all of them together need no more memory than the largest.
    for &point in &*points {
        let budget = budget.telling_apart(session.machine, &[point], each_ns);
        let found = run::measure(session, &[point], &budget)?;
        findings.interrupted |= found.interrupted;
        let split = found.outcomes.first().and_then(|apart| apart.result.as_ref().ok()?.series.split);
        // A neighbour that takes lines of a cache from time to time leaves nothing to read.
        let is_known = |split: &Split| match split.parts {
            Some(parts) => !is_wide(parts.without_translation.interval),
            None => Budget::may_tell_apart(session.machine, &point),
        };
        let same = findings.outcomes.iter_mut().find(|outcome| outcome.point.size == point.size);
        if let Some(Outcome { result: Ok(measured), .. }) = same {
            measured.series.split = split.filter(is_known);
        }
        if found.interrupted {
            break;
        }
    }
    Ok(())
}
