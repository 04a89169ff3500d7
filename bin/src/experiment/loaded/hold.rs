//! A load that is held: a line for each second while it lasts, so that somebody sees beside it what counters say.

use core::fmt::Write;

use latency_core::decimal::Decimal;

use super::words::GIGA;
use crate::analysis::traffic::bytes_per_line;
use crate::engine::memory::Memory;
use crate::engine::schedule::Schedule;
use crate::engine::session::Session;
use crate::error::Failure;
use crate::experiment::facts::Utc;
use crate::plan::budget::FEWEST_ROUNDS;
use crate::plan::loaded;
use crate::report::figures::Digits;
use crate::sys::out::Messages;
use crate::sys::time;

/// Holds the load of the schedule for as long as its budget has it.
///
/// # Errors
///
/// As [`Schedule::stay`].
pub fn hold(
    session: &mut Session<'_, '_>,
    schedule: &mut Schedule<Memory<'_, '_>>,
) -> Result<(), Failure<'static>> {
    // Idle memory is measured as well as on a curve.
    schedule.reach(session.progress, FEWEST_ROUNDS)?;
    let mut points = (0..schedule.len()).filter_map(|index| schedule.point(index));
    let Some(index) = loaded::held(&mut points) else { return Ok(()) };
    session.progress.clear();
    let mut messages = (!session.options.quiet).then(Messages::new);
    if let Some(messages) = &mut messages {
        // Messages drop their errors: there is nobody left to tell.
        let _ = writeln!(messages, "time                      GB/s    ns per load  core GHz");
    }
    schedule.stay(index, schedule.budget.held, &mut |point, round| {
        let (Some(messages), Some(traffic)) = (&mut messages, point.walk.traffic()) else { return };
        let rate = round.delivered * bytes_per_line(traffic.kind) * 1e9 / GIGA;
        let _ = write!(messages, "{:<22}", Utc(time::seconds_since_1970()));
        let _ = write!(messages, "{:>8}  {:>11.1}", Digits(rate), Decimal(round.nanoseconds));
        let _ = if round.core_gigahertz.is_finite() {
            writeln!(messages, "  {:>8.2}", Decimal(round.core_gigahertz))
        } else {
            writeln!(messages, "  {:>8}", "-")
        };
    })
}
