//! A run: places the memory of points, has them visited, and makes outcomes of what was found.

use core::array;

use super::arena::{self, Pieces};
use super::clock::Timer;
use super::finish;
use super::memory::{serves, Beside, Memory, Site};
use super::prefetch_audit::UnderWay;
use super::schedule::Schedule;
use super::second::{self, Second};
use super::session::{Findings, Session};
use super::stopwatch::Stopwatch;
use super::translation_probe;
use crate::error::{Failure, PlacementError};
use crate::machine::Machine;
use crate::plan::budget::Budget;
use crate::result::{Exclusion, Extra, Outcome, Point, Repeat};
use crate::sys::table::Table;

/// What arranges the visits of a run: the schedule alone, or more before and after it.
pub type Visits<'v, 'a> =
    dyn FnMut(&mut Session<'a, '_>, &mut Schedule<Memory<'_, '_>>) -> Result<(), Failure<'static>> + 'v;

/// Measures `points` as the schedule has them, and nothing besides.
///
/// # Errors
///
/// As [`measure_with`].
pub fn measure<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    budget: &Budget,
) -> Result<Findings<'a>, Failure<'a>> {
    measure_with(session, timer, points, budget, &mut Beside::default(), &mut |session, schedule| {
        schedule.run(session.progress)
    })
}

/// Measures `points`, whose visits `visits` arranges. Outcomes are in the order of the points; points that were added
/// to the schedule follow.
///
/// Targets and kinds of pages share one schedule, so that what drifts meets all alike. Where memory does not suffice for
/// all of them at a time, they come one after another.
///
/// # Errors
///
/// [`Failure`], but for memory that may be left out. An interrupt ends the
/// visits, and what there is is kept.
pub fn measure_with<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    budget: &Budget,
    beside: &mut Beside<'_>,
    visits: &mut Visits<'_, 'a>,
) -> Result<Findings<'a>, Failure<'a>> {
    let Some(&first) = points.first() else { return Err(PlacementError::NothingToMeasure.into()) };
    let unmeasured = Outcome { point: first, result: Err(Exclusion::Interrupted) };
    let mut outcomes = Table::filled(points.len() + budget.more, unmeasured)?;
    for (outcome, point) in outcomes.iter_mut().zip(points) {
        outcome.point = *point;
    }
    let parting = Parting::of(session.machine, points, budget);
    let mut run = Run { points, outcomes: &mut outcomes, count: points.len(), repeat: None, audit: None };
    let mut interrupted = false;
    for (index, first) in points.iter().enumerate() {
        if points.iter().take(index).any(|earlier| parting.joins(earlier, first)) {
            continue;
        }
        match run.part(session, timer, &|point| parting.joins(first, point), budget, beside, visits) {
            Ok(()) => {}
            Err(Failure::Interrupted) => interrupted = true,
            Err(error) => return Err(error),
        }
        if interrupted {
            break;
        }
    }
    let (count, repeat, audit) = (run.count, run.repeat, run.audit);
    session.progress.clear();
    let found = outcomes.get(..count).unwrap_or_default();
    let mut outcomes = Table::filled(count, unmeasured)?;
    outcomes.copy_from_slice(found);
    let (distributions, analysis) = (Table::empty()?, Table::empty()?);
    Ok(Findings { outcomes, distributions, analysis, extra: Extra::default(), repeat, audit, interrupted })
}

/// Which points are in memory at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parting {
    /// All of them.
    Together,
    /// Those of one target.
    ByTarget,
    /// Those of one target in one kind of pages.
    ByTargetAndPages,
}

impl Parting {
    /// As few parts as memory allows.
    fn of(machine: &Machine, points: &[Point], budget: &Budget) -> Parting {
        let fits = |parting: Parting, first: Point| {
            let part = points.iter().copied().filter(move |point| parting.joins(&first, point));
            arena::fits(machine, part, budget)
        };
        let first_of_target = |(index, first): &(usize, &Point)| {
            !points.iter().take(*index).any(|earlier| earlier.target == first.target)
        };
        let mut firsts = points.iter().enumerate().filter(first_of_target).map(|(_, first)| *first);
        match points.first() {
            Some(&first) if !fits(Parting::Together, first) => {
                match firsts.all(|first| fits(Parting::ByTarget, first)) {
                    true => Parting::ByTarget,
                    false => Parting::ByTargetAndPages,
                }
            }
            _ => Parting::Together,
        }
    }

    fn joins(self, one: &Point, other: &Point) -> bool {
        match self {
            Parting::Together => true,
            Parting::ByTarget => one.target == other.target,
            Parting::ByTargetAndPages => (one.target, one.pages) == (other.target, other.pages),
        }
    }
}

/// The outcomes of a run under way.
struct Run<'r, 'a> {
    points: &'r [Point],
    /// The outcomes of these, and of what was added.
    outcomes: &'r mut [Outcome<'a>],
    count: usize,
    /// The point that was measured twice in turn.
    repeat: Option<Repeat>,
    /// The audit that was made between rounds.
    audit: Option<UnderWay>,
}

impl<'a> Run<'_, 'a> {
    /// Measures the points that `is_mine` chooses.
    #[inline(never)] // offsets into a small frame are short
    fn part(
        &mut self,
        session: &mut Session<'a, '_>,
        timer: &Timer,
        is_mine: &dyn Fn(&Point) -> bool,
        budget: &Budget,
        beside: &mut Beside<'_>,
        visits: &mut Visits<'_, 'a>,
    ) -> Result<(), Failure<'a>> {
        let points = self.points;
        let mine = points.iter().copied().filter(|point| is_mine(point));
        let mut pieces = Pieces::place(session, mine, budget)?;
        let mut placed = Table::filled(points.len(), false)?;
        for ((placed, outcome), point) in placed.iter_mut().zip(self.outcomes.iter_mut()).zip(points) {
            match pieces.missing(point) {
                Some(error) => outcome.result = Err(Exclusion::Placement(error)),
                None => *placed = is_mine(point),
            }
        }
        let Some(&first) = points.first() else { return Ok(()) };
        let mut there = Table::filled(placed.iter().filter(|placed| **placed).count(), first)?;
        let chosen = points.iter().zip(placed.iter()).filter(|(_, placed)| **placed);
        there.iter_mut().zip(chosen).for_each(|(slot, (point, _))| *slot = *point);
        let Some(&like) = there.first() else { return Ok(()) };
        let mut second = match budget.twice && self.repeat.is_none() {
            true => Second::place(session.machine, &there, session.noted.spare.take())?,
            false => None,
        };
        let mut sites = array::from_fn(|_| None::<Site<'_>>);
        let stamp = timer.counter().map(|counter| counter.stamp);
        pieces.open(session, stamp, &mut sites)?;
        let watch =
            Stopwatch::new(*timer, arena::meter(session, budget.counters)).counting(session.noted.times);
        let mut audit = match (budget.twice && self.audit.is_none(), sites.iter().flatten().next()) {
            (true, Some(site)) => UnderWay::new(session.machine, timer, &like, site.witness().mapped),
            _ => None,
        };
        let mut memory = Memory::new(&mut sites, watch, beside)
            .with_ahead(budget.ahead)
            .with_audit(audit.as_mut(), session.machine);
        let mut budget = *budget;
        let mut measured_twice = None;
        if let Some(second) = &mut second {
            let index = second.index;
            if let Some(point) = there.get(index) {
                memory = memory.with_second(there.len(), second.open(point, budget.memory)?);
                measured_twice = Some(index);
                budget.more += 1;
            }
        }
        let mut schedule = Schedule::new(memory, budget, &like, there.iter().copied())?;
        if let Some(index) = measured_twice {
            schedule.measure_twice(index);
        }
        let visited = visits(session, &mut schedule);
        let interrupted = matches!(visited, Err(Failure::Interrupted));
        if !interrupted {
            visited?;
        }
        self.repeat = self.repeat.or(second::in_turn(&mut schedule, session.warnings));
        let mut planned = placed.iter().enumerate().filter(|(_, placed)| **placed).map(|(index, _)| index);
        finish::outcomes(session, &mut schedule, |outcome| {
            let index = planned.next().unwrap_or_else(|| {
                self.count += 1;
                self.count - 1
            });
            if let Some(slot) = self.outcomes.get_mut(index) {
                *slot = outcome;
            }
        })?;
        drop(schedule);
        if interrupted {
            return Err(Failure::Interrupted);
        }
        self.audit = self.audit.take().or(audit);
        // Where the memory is was looked at again, and its chains are not walked any more.
        if budget.translation {
            for (key, like, placement) in pieces.had() {
                let as_small = translation_probe::ask(session, timer, &like, placement)?;
                let outcomes = self.outcomes.iter_mut().filter(|outcome| serves(&key, &outcome.point));
                for measured in outcomes.filter_map(|outcome| outcome.result.as_mut().ok()) {
                    measured.placed.as_small = as_small;
                }
            }
        }
        Ok(())
    }
}
