//! The time limit of a whole run (`--budget`): as much time for the visits as the work around them leaves. Pure.

use super::budget::Budget;
use super::duration::{self, LOOK, Range};
use super::looked_at;
use crate::error::PlacementError;
use crate::machine::Machine;
use crate::options::Options;
use crate::result::Point;
use latency_core::math;

/// Returns the nanoseconds from the start of the run after which no visit begins: the rest is for the last checks, which
/// runs of windows do not have.
pub fn visits_end_ns(options: &Options<'_>, budget: &Budget) -> f64 {
    const SHARE: f64 = 0.9;
    const CHECKS_NS: f64 = 1e9;
    let whole_ns = options.whole_ns();
    let checks_ns = if budget.batches > 1.0 { CHECKS_NS } else { 0.0 };
    (whole_ns - checks_ns).max(0.5 * whole_ns).min(SHARE * whole_ns)
}

/// Returns the nanoseconds from the start of the run after which it ends with what is measured: an idle machine never
/// needs them.
pub fn end_ns(options: &Options<'_>) -> f64 {
    const SHARE: f64 = 1.2;
    const LATEST_NS: f64 = 2e9;
    let whole_ns = options.whole_ns();
    (SHARE * whole_ns).max(whole_ns + LATEST_NS)
}

/// Returns the time of the search for the working set before a run.
fn look(options: &Options<'_>, machine: &Machine, points: &[Point]) -> Range {
    looked_at(options, machine, points).map_or(Range::ZERO, |_| LOOK)
}

/// Returns the expected duration of the whole run.
pub fn expected(options: &Options<'_>, machine: &Machine, points: &[Point], budget: &Budget) -> Range {
    let takes = duration::estimate(machine, points, budget).or_waits(options.until_ns());
    (takes + look(options, machine, points)).at_most(options.whole_ns())
}

/// Limits the visits, so that the run ends within the time that the user gave it, if any.
///
/// # Errors
///
/// [`PlacementError::BudgetTooShort`] if the time does not suffice for a visit to each point, unless the run has begun.
pub fn fit(
    options: &Options<'_>,
    machine: &Machine,
    points: &[Point],
    budget: &mut Budget,
) -> Result<(), PlacementError<'static>> {
    /// Steps of the search for the time of the visits.
    const STEPS: usize = 12;
    let whole_ns = options.whole_ns();
    let takes_ns = |visits_ns: f64| {
        let mut limited = *budget;
        limited.limit(visits_ns, points.len());
        duration::longest_ns(machine, points, &limited) + look(options, machine, points).1
    };
    if whole_ns.is_infinite() || takes_ns(f64::INFINITY) <= whole_ns {
        return Ok(());
    }
    let least_ns = takes_ns(0.0);
    // A search that found a larger working set belongs to the run.
    if least_ns > whole_ns && machine.sizing.is_none() {
        return Err(PlacementError::BudgetTooShort { seconds: math::whole(least_ns / 1e9) + 1 });
    }
    let (mut fits_ns, mut over_ns) = (0.0, whole_ns);
    for _ in 0..STEPS {
        let middle_ns = (fits_ns + over_ns) / 2.0;
        let end = if takes_ns(middle_ns) <= whole_ns { &mut fits_ns } else { &mut over_ns };
        *end = middle_ns;
    }
    budget.limit(fits_ns, points.len());
    Ok(())
}
