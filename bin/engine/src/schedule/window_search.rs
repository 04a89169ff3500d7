//! The number of fillers that the processor's window spans, by bisection between two points of the plan.
//!
//! Two loads that miss overlap if both are in the window (the reorder buffer) at the same time.

use latency_core::Worded;
use latency_core::kernel::lanes::{Filler, Gap};

use crate::error::Attempt;
use crate::progress::Progress;
use crate::result::{Point, Reach, Walk};
use crate::schedule::Schedule;
use crate::seam::Place;

/// Time of a hop relative to a hop without fillers: up to the first bound loads overlap, from the second on they do
/// not. A hop of two lanes that overlap lasts one latency, a hop of two that do not lasts two, and fillers add up to a
/// third of one. The range between the bounds is uncertain: the window fills up at a different instruction from load to
/// load.
const BOUNDS: (f64, f64) = (1.45, 1.8);
/// Number of visits to each number of fillers.
const PROBES: usize = 5;
/// Maximum distance of two numbers of fillers at which the search ends.
const FINEST: usize = 4;

/// Searches for the reach of the window over every kind of filler on the schedule.
///
/// # Errors
///
/// The errors of [`Schedule::probe`], including an interrupt.
pub fn search(
    progress: &mut Progress,
    schedule: &mut Schedule<&mut dyn Place>,
    found: &mut [Option<Reach>; Filler::ALL.len()],
) -> Attempt {
    for (filler, reach) in Filler::ALL.into_iter().zip(found) {
        let first = over(progress, schedule, filler, BOUNDS.0)?;
        let last = over(progress, schedule, filler, BOUNDS.1)?;
        *reach = first.zip(last).map(|(first, last)| Reach { alone: last.alone, ..first });
    }
    Ok(())
}

/// Returns the numbers of fillers between which the time of a hop crosses `times` the time without fillers.
fn over(
    progress: &mut Progress,
    schedule: &mut Schedule<&mut dyn Place>,
    filler: Filler,
    times: f64,
) -> Attempt<Option<Reach>> {
    let mut bound = None;
    let mut found = None::<(Reach, Point)>;
    for (point, time) in schedule.so_far() {
        let fillers = match point.walk {
            Walk::Apart(gap) if gap.filler() == filler => gap.fillers(),
            _ => continue,
        };
        let bound = *bound.get_or_insert(times * time);
        let alone = (time > bound).then_some(fillers);
        let overlaps = if alone.is_some() { found.map_or(0, |(reach, _)| reach.overlaps) } else { fillers };
        found = Some((Reach { filler, overlaps, alone }, *point));
        if alone.is_some() {
            break;
        }
    }
    let (Some((mut found, like)), Some(bound)) = (found, bound) else { return Ok(None) };
    while let Some(alone) = found.alone.filter(|alone| alone - found.overlaps > FINEST) {
        let middle = found.overlaps.midpoint(alone);
        progress.say(format_args!("searching the window edge near {middle} {}", filler.word()));
        let Some(gap) = Gap::new(filler, middle) else { break };
        match schedule.probe(&Point { walk: Walk::Apart(gap), ..like }, PROBES)? {
            (time, _) if time > bound => found.alone = Some(middle),
            _ => found.overlaps = middle,
        }
    }
    Ok(Some(found))
}

#[cfg(test)]
#[path = "window_search_tests.rs"]
mod tests;
