//! Latency under load: a chain with concurrent traffic of other cores, from idle to the limit of the memory.

mod levels;
mod view;

use alloc::vec::Vec;

use latency_core::{Estimate, Picoseconds, math};

use super::{Experiment, bandwidth};
use crate::analysis::load::{Curve, LoadLevel, MOST_LEVELS, not_delivered};
use crate::analysis::loaded::{Loading, delivered, loadings};
use crate::analysis::traffic::limit;
use crate::describe::time::utc;
use crate::options::{Descriptor, FlagId, FlagSet, Options};
use crate::plan::{budget, loaded};
use latency_engine::budget::{Budget, FEWEST_ROUNDS};
use latency_engine::error::{Attempt, TimingError};
use latency_engine::memory::RealSchedule;
use latency_engine::progress::LiveLines;
use latency_engine::result::{Outcome, Point, Traffic, Walk};
use latency_engine::session::{Findings, Session};
use latency_engine::warning::{SeenCause, Warning, Warnings};
use latency_report::Digits;
use latency_report::chart::vector;

/// Latency against bandwidth.
pub const LOADED: Experiment = Experiment {
    descriptor: Descriptor {
        name: "loaded",
        summary: "loaded latency: latency against memory bandwidth",
        details: "One core walks a chain while the others generate traffic at rates from idle to the maximum. Then the bandwidths at which latency is \
                  1.25x and 2x idle, and whether memory is saturated.\n\
                  Gaps between lines are random (Poisson arrivals), as with independent programs; --pacing=even \
                  underestimates the queueing.",
        flags: FlagSet::PLACEMENT
            .union(FlagSet::WORKING_SET)
            .union(FlagSet::LOAD)
            .union(FlagSet::WINDOWS)
            .with(FlagId::WarmupIters),
        picture: true,
        attributes: true,
        ..Descriptor::OF_VALUES
    },
    plan: loaded::points,
    budget: |options, machine, points| {
        let more = loaded::curves(points) * loaded::most_added(options);
        budget::of_loaded(options, machine, points, more)
    },
    measure,
    conclude: |session, findings| {
        check(session.warnings, &findings.outcomes);
        None
    },
    present: view::present,
};

/// Number of rounds that measure the limit; rates are shares of it.
const LIMIT_ROUNDS: usize = 3;

fn measure(
    options: &Options,
    session: &mut Session<'_>,
    points: &[Point],
    budget: &Budget,
) -> Attempt<Findings> {
    if session.timer.counter().is_none() {
        return Err(TimingError::NeedsCounter { what: "paced generators", instead: "bandwidth" }.into());
    }
    bandwidth::measure(options, session, points, budget, &mut |session, schedule| {
        visits(options, session, schedule)
    })
}

/// Warns about rates that were not delivered, slow idle memory, and contradictions between bandwidth and latency.
pub fn check(warnings: &mut Warnings, outcomes: &[Outcome]) {
    loadings(outcomes).iter().for_each(|loading| check_one(warnings, loading));
}

fn check_one(warnings: &mut Warnings, loading: &Loading<'_>) {
    /// Largest number of lines in flight of any kind of core, including prefetches.
    const MOST_LINES: f64 = 128.0;
    let levels: Vec<LoadLevel> = vector(loading.steps.iter().map(|step| step.level));
    // If the limit was not measured, it is at least the delivered bandwidth.
    let limit = levels.iter().map(|level| level.delivered.value).fold(0.0, f64::max);
    let most = loading.steps.iter().filter_map(|step| loading.in_flight(step)).fold(0.0, f64::max);
    if let Some((level, _)) = not_delivered(&levels, limit) {
        let (offered, delivered) = (level.offered.unwrap_or(0.0), level.delivered.value);
        warnings.push(Warning::RateNotDelivered { offered, delivered, cause: SeenCause::Unseen });
    }
    if let (Some((_, fastest)), Some(idle)) = (loading.slow_idle(), levels.first()) {
        let picoseconds = |level: &LoadLevel| Picoseconds(math::whole(level.latency.value * 1e3));
        let (idle, loaded, rate) = (picoseconds(idle), picoseconds(&fastest), fastest.delivered.value);
        warnings.push(Warning::IdleMemorySlower { node: loading.point.target, idle, loaded, rate });
    }
    if most > MOST_LINES {
        warnings.push(Warning::LittleImplausible { lines: most });
    }
}

/// Measures the limits, then rates up to them, then more rates near the one where latency has doubled.
fn visits(options: &Options, session: &mut Session<'_>, schedule: &mut RealSchedule<'_>) -> Attempt {
    schedule.reach(session.progress, LIMIT_ROUNDS)?;
    for index in 0..schedule.count() {
        if let Some((point, limit)) = limit_at(schedule, index) {
            loaded::levels(options, limit, &mut |rate| add(schedule, &point, rate));
        }
    }
    if schedule.budget.held > 0 {
        return hold(options.quiet, session, schedule);
    }
    if !options.rates.is_empty() {
        return schedule.run(session.progress);
    }
    schedule.reach(session.progress, LIMIT_ROUNDS)?;
    for index in 0..schedule.count() {
        if let Some((point, _)) = limit_at(schedule, index) {
            closer(schedule, &point);
        }
    }
    schedule.run(session.progress)
}

/// Holds the load of the schedule for the time given in its budget.
///
/// # Errors
///
/// Returns the errors of [`RealSchedule::stay`].
fn hold(is_quiet: bool, session: &mut Session<'_>, schedule: &mut RealSchedule<'_>) -> Attempt {
    // Idle memory is measured as precisely as for a curve.
    schedule.reach(session.progress, FEWEST_ROUNDS)?;
    let mut points = (0..schedule.count()).filter_map(|index| schedule.point(index));
    let Some(index) = loaded::held(&mut points) else { return Ok(()) };
    session.progress.clear();
    let mut lines = LiveLines::new(!is_quiet);
    // Most machines do not report the clock of the uncore.
    let tells = schedule.rounds(index).iter().any(|round| round.uncore_gigahertz.is_finite());
    lines.add(&|out, _| {
        out.write_str("time                      GB/s  ns per load  core GHz")?;
        out.write_str(if tells { "  uncore GHz" } else { "" })
    });
    schedule.stay(index, schedule.budget.held, &mut |point, round| {
        let Some(traffic) = point.walk.traffic() else { return };
        // Bytes per nanosecond, which equal GB/s.
        let rate = round.delivered * traffic.kind.bytes_per_line();
        lines.add(&|out, now| {
            write!(out, "{}  {:>8}", utc(now), Digits(rate))?;
            write!(out, "{:>13.1}", round.nanoseconds)?;
            let clocks = [(10, round.core_gigahertz), (12, round.uncore_gigahertz)];
            clocks.into_iter().take(1 + usize::from(tells)).try_for_each(|(width, clock)| {
                match clock.is_finite() {
                    true => write!(out, "{clock:>width$.2}"),
                    false => write!(out, "{:>width$}", "-"),
                }
            })
        });
    })
}

/// Returns the point of a curve that ran without pacing, and its bandwidth, which is the limit; `None` for an index that
/// is not the first of its curve.
fn limit_at(schedule: &mut RealSchedule<'_>, index: usize) -> Option<(Point, f64)> {
    let first = schedule.point(index)?;
    let own = unpaced(&first)?;
    let (mut places, mut rates) = ([0; loaded::COUNTS], [(0, Estimate::from(0.0)); loaded::COUNTS]);
    let mut count = 0;
    for other in 0..schedule.count() {
        let Some(point) = schedule.point(other) else { continue };
        let same = (point.initiator, point.target) == (first.initiator, first.target);
        let Some(traffic) = unpaced(&point).filter(|traffic| same && is_alike(traffic, own)) else {
            continue;
        };
        if other < index {
            return None;
        }
        let rate = schedule.series(other).and_then(|(_, series)| delivered(traffic, &series));
        if let (Some(rate), Some(place), Some(slot)) = (rate, places.get_mut(count), rates.get_mut(count)) {
            (*place, *slot) = (other, (traffic.generators, rate));
            count += 1;
        }
    }
    let best = limit(rates.get(..count)?)?;
    Some((schedule.point(*places.get(best)?)?, rates.get(best)?.1.value))
}

fn unpaced(point: &Point) -> Option<&Traffic> {
    match &point.walk {
        Walk::Loaded(traffic) if traffic.rate.is_none() => Some(traffic),
        _ => None,
    }
}

/// Adds levels near the rate at which latency is twice the lowest; `like` is the point of the curve without pacing.
fn closer(schedule: &mut RealSchedule<'_>, like: &Point) {
    /// Multiple of the lowest latency near which levels are added.
    const RATIO: f64 = 2.0;
    let Some(traffic) = unpaced(like) else { return };
    let (mut levels, mut count) = ([LoadLevel::NONE; MOST_LEVELS], 0);
    for index in 0..schedule.count() {
        let Some((entry, series)) = schedule.series(index) else { continue };
        let point = entry.point;
        if (point.initiator, point.target) != (like.initiator, like.target) {
            continue;
        }
        let latency = Estimate::from(series.nanoseconds);
        let level = match point.walk {
            Walk::Chain => LoadLevel { latency, ..LoadLevel::NONE },
            Walk::Loaded(own) if is_alike(&own, traffic) && own.generators == traffic.generators => {
                let Some(delivered) = delivered(&own, &series) else { continue };
                LoadLevel { offered: own.rate, delivered, latency }
            }
            _ => continue,
        };
        if let Some(slot) = levels.get_mut(count) {
            *slot = level;
            count += 1;
        }
    }
    let beside = levels.get(..count).and_then(Curve::of).and_then(|curve| curve.beside(RATIO));
    for rate in beside.into_iter().flatten().take(loaded::CLOSER) {
        add(schedule, like, rate);
    }
}

/// Adds a level with a rate of traffic; `like` is the point of the curve without pacing.
fn add(schedule: &mut RealSchedule<'_>, like: &Point, rate: f64) {
    if let Some(traffic) = unpaced(like) {
        schedule.add(Point { walk: Walk::Loaded(Traffic { rate: Some(rate), ..*traffic }), ..*like });
    }
}

/// Returns whether two loads belong to the same curve.
fn is_alike(one: &Traffic, other: &Traffic) -> bool {
    (one.node, one.kind.name) == (other.node, other.kind.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::tests::{machine, options, planned};
    use crate::plan::duration;
    use std::vec::Vec;

    #[test]
    fn levels_are_shares_of_the_limit() {
        let levels = |line: &str| {
            let mut rates = Vec::new();
            loaded::levels(&options(line), 100.0, &mut |rate| rates.push(rate));
            rates
        };
        let usual = levels("loaded");
        assert_eq!((usual.len(), usual[0], usual[7]), (8, 5.0, 95.0));
        assert_eq!(levels("loaded --levels=6").len(), 4);
        assert_eq!(levels("loaded --rates=0,3,50%,max"), [50.0]);
        assert_eq!(loaded::most_added(&options("loaded")), 10);
        assert_eq!(loaded::most_added(&options("loaded --rates=0,3")), 0);
    }

    #[test]
    fn curves_without_time_in_the_budget_are_reported() {
        let four = machine("four-nodes", None);
        let curves = |line: &str| {
            let (points, budget, codes) = planned(&four, line).unwrap();
            let takes = duration::estimate(&four, &points, &budget);
            assert!(takes.1 < 60e9, "{line}: {takes}");
            (loaded::curves(&points), codes.contains(&"over-budget"))
        };
        assert_eq!(curves("loaded"), (8, false));
        assert_eq!(curves("loaded --budget=15"), (2, true));
        assert_eq!(curves("loaded --budget=7"), (1, true));
        // At least one curve is measured, or the run is refused.
        assert!(planned(&four, "loaded --budget=0.1").unwrap_err().contains("use --budget="));
        assert_eq!(curves("loaded --budget=5 --rates=5"), (8, false));
    }

    #[test]
    fn hold_keeps_one_load_of_one_pair_for_the_requested_time() {
        let four = machine("four-nodes", None);
        for (line, place) in [
            ("loaded --rates=5 --hold=20", 1),
            ("loaded --rates=max --hold=20 --cpunode=1", 1),
            ("loaded --rates=50% --hold=20 --traffic=2:1 --memnode=3", 1),
        ] {
            let (points, budget, _) = planned(&four, line).unwrap();
            assert_eq!(loaded::curves(&points), 1, "{line}");
            assert!(points.iter().all(|point| point.target == points[0].target), "{line}");
            assert!(matches!(points[0].walk, Walk::Chain) && budget.held == 20, "{line}");
            assert_eq!(loaded::held(&mut points.iter().copied()), Some(place), "{line}");
            assert!(duration::estimate(&four, &points, &budget).0 > 20e9, "{line}");
            // A share of the limit is added once the limit is known, and is then the load that is held.
            let traffic = points[1].walk.traffic().unwrap();
            let added = Point { walk: Walk::Loaded(Traffic { rate: Some(1e9), ..*traffic }), ..points[1] };
            let with = points.iter().copied().chain([added]);
            assert_eq!(loaded::held(&mut with.into_iter()), Some(points.len()), "{line}");
        }
        assert!(planned(&four, "loaded --rates=5 --hold=20 --memnode=0,1").is_err());
    }
}
