//! A load that is held, with a line for each second, so that users can compare it with counters of other tools.

use latency_core::decimal::Decimal;

use crate::analysis::traffic::bytes_per_line;
use crate::describe::Utc;
use crate::engine::memory::RealSchedule;
use crate::engine::progress::LiveLines;
use crate::engine::session::Session;
use crate::error::Failure;
use crate::plan::budget::FEWEST_ROUNDS;
use crate::plan::loaded;
use crate::report::figures::Digits;

/// Holds the load of the schedule for as long as its budget has it.
///
/// # Errors
///
/// Returns the errors of [`Schedule::stay`].
pub fn hold(session: &mut Session<'_, '_>, schedule: &mut RealSchedule<'_>) -> Result<(), Failure<'static>> {
    // Idle memory is measured as well as on a curve.
    schedule.reach(session.progress, FEWEST_ROUNDS)?;
    let mut points = (0..schedule.len()).filter_map(|index| schedule.point(index));
    let Some(index) = loaded::held(&mut points) else { return Ok(()) };
    session.progress.clear();
    let mut lines = LiveLines::new(!session.options.quiet);
    // Most machines do not report the clock of the uncore.
    let tells = schedule.rounds(index).iter().any(|round| round.uncore_gigahertz.is_finite());
    lines.add(&|out, _| {
        out.write_str("time                      GB/s  ns per load  core GHz")?;
        out.write_str(if tells { "  uncore GHz" } else { "" })
    });
    schedule.stay(index, schedule.budget.held, &mut |point, round| {
        let Some(traffic) = point.walk.traffic() else { return };
        // Bytes per nanosecond, which equal GB/s.
        let rate = round.delivered * bytes_per_line(traffic.kind);
        lines.add(&|out, now| {
            write!(out, "{:<22}{:>8}", Utc(now), Digits(rate))?;
            write!(out, "{:>13.1}", Decimal(round.nanoseconds))?;
            let clocks = [(10, round.core_gigahertz), (12, round.uncore_gigahertz)];
            clocks.into_iter().take(1 + usize::from(tells)).try_for_each(|(width, clock)| {
                match clock.is_finite() {
                    true => write!(out, "{:>width$.2}", Decimal(clock)),
                    false => write!(out, "{:>width$}", "-"),
                }
            })
        });
    })
}
