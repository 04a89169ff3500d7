//! One point measured twice (A/A): again after all others, in new memory.
//!
//! Rounds of one series share their pages and their moment, so they agree with each other by construction. The repeat
//! shows the variation between two measurements, and between two runs. The points of a matrix are measured twice in
//! turn where memory suffices: see [`second`](crate::memory::second).

use latency_core::Summary;

use crate::budget::{Budget, Memory, Optional};
use crate::error::Attempt;
use crate::machine::{Machine, Platform};
use crate::memory::second::{CLOSE, kind_of};
use crate::result::{Outcome, Repeat};
use crate::session::Session;
use crate::warning::{SeenCause, Warning};
use crate::{finish, run};
use latency_sys::time;

/// Maximum nanoseconds of the second measurement, without placing its memory.
const LONGEST_NS: f64 = 2e9;

/// Measures one of the `measured` points again, and warns if the results differ. Returns `None` if no point is
/// comparable or the time of the run is over, and under an emulator, because emulated time is not the machine's.
///
/// # Errors
///
/// [`MeasureError::Interrupted`](crate::error::MeasureError::Interrupted), and the errors of a walk.
pub fn again(session: &mut Session<'_>, measured: &[Outcome], budget: &Budget) -> Attempt<Option<Repeat>> {
    let machine = session.machine;
    if machine.processor.platform == Platform::Emulated || time::now_ns() >= budget.until_ns {
        return Ok(None);
    }
    let Some((outcome, first)) = chosen(machine, measured) else { return Ok(None) };
    let mut budget = *budget;
    budget.memory = match budget.memory {
        Memory::Kept | Memory::Shared => Memory::Kept,
        Memory::Rewritten { .. } => Memory::Rewritten { places: 1 },
    };
    (budget.spread_ns, budget.share_ns) = (0.0, LONGEST_NS);
    budget.point_ns = budget.point_ns.min(LONGEST_NS);
    // If the user asked for a million trials, only the first measurement has that many.
    budget.bounded = true;
    (budget.more, budget.twice) = (0, false);
    (budget.counters, budget.translation) = (false, false);
    budget.optional = Optional::Everything;
    let findings = run::measure(session, &[outcome.point], &budget)?;
    let second = findings.outcomes.iter().find_map(summary);
    let Some(second) = second.filter(|_| !findings.interrupted) else { return Ok(None) };
    let fresh = findings.outcomes.iter().find_map(|outcome| outcome.result.as_ref().ok());
    session
        .warnings
        .extend(apart(&first, &second).map(|ratio| Warning::RepeatRatio { ratio, cause: SeenCause::Unseen }));
    let size = outcome.point.size;
    let served = fresh.filter(|fresh| fresh.warm_up.passes > 0).map(|fresh| finish::served(fresh).is_some());
    Ok(Some(Repeat { size, first: first.median, second: second.median, served }))
}

/// Returns the first point whose result does not depend on page placement: one in memory, or else one well within the
/// nearest cache.
fn chosen<'o>(machine: &Machine, measured: &'o [Outcome]) -> Option<(&'o Outcome, Summary)> {
    let of_size = |kind: usize| {
        let mut candidates = measured.iter().filter(|outcome| kind_of(machine, &outcome.point) == Some(kind));
        candidates
            .find_map(|outcome| Some((outcome, summary(outcome).filter(|first| first.interval.is_some())?)))
    };
    of_size(0).or_else(|| of_size(1))
}

fn summary(outcome: &Outcome) -> Option<Summary> {
    Some(outcome.result.as_ref().ok()?.series.nanoseconds)
}

/// Returns the ratio of two results if neither chance nor the accepted tolerance explains it.
fn apart(first: &Summary, second: &Summary) -> Option<f64> {
    let ratio = second.median / first.median;
    let (one, other) = (first.interval?, second.interval?);
    let overlap = one.low <= other.high && other.low <= one.high;
    ((ratio - 1.0).abs() > CLOSE && !overlap).then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::Interval;

    fn around(median: f64, half: f64) -> Summary {
        let interval = Some(Interval { low: median - half, high: median + half });
        Summary {
            count: 15,
            median,
            minimum: median - half,
            maximum: median + half,
            mad: half / 2.0,
            interval,
        }
    }

    #[test]
    fn differences_within_intervals_are_not_reported() {
        let first = around(100.0, 1.0);
        assert_eq!(apart(&first, &around(102.9, 1.0)), None);
        assert_eq!(apart(&first, &around(108.0, 8.0)), None);
        assert_eq!(apart(&first, &Summary { interval: None, ..around(150.0, 1.0) }), None);
        assert_eq!(apart(&first, &around(104.0, 1.0)), Some(1.04));
        assert_eq!(apart(&first, &around(80.0, 1.0)), Some(0.8));
    }
}
