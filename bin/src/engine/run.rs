//! A run: places the memory of points, visits them, and makes outcomes of the rounds.

use latency_core::buffer::Stores;
use latency_core::chain::Chain;
use latency_core::math::ToReal;

use crate::engine::checks::translation_probe;
use crate::engine::finish;
use crate::engine::memory::RealSchedule;
use crate::engine::memory::chains::{Alongside, ChainPlace, Chains};
use crate::engine::memory::new_chain;
use crate::engine::memory::second;
use crate::engine::memory::second::Second;
use crate::engine::pieces;
use crate::engine::pieces::{Piece, Pieces};
use crate::engine::placement;
use crate::engine::placement::needs::{Missing, chain_of};
use crate::engine::placement::sites::Sites;
use crate::engine::prefetch_audit::UnderWay;
use crate::engine::seam::Place;
use crate::engine::session::{Findings, Session};
use crate::engine::stopwatch::Stopwatch;
use crate::engine::stopwatch::clock::Timer;
use crate::error::Failure;
use crate::machine::Machine;
use crate::plan::budget::{Budget, Memory};
use crate::result::{Exclusion, Extra, Outcome, Point, Repeat, chain};
use crate::sys::table::{List, Table};
use crate::sys::time;

/// A function that makes a run's visits: the schedule alone, or with more before and after it.
pub type Visits<'v, 'a> =
    dyn FnMut(&mut Session<'a, '_>, &mut RealSchedule<'_>) -> Result<(), Failure<'static>> + 'v;

/// Visits the points of a schedule until each is precise or out of time.
///
/// # Errors
///
/// The errors of [`Schedule::run`](crate::engine::schedule::Schedule::run).
pub fn all_rounds(
    session: &mut Session<'_, '_>,
    schedule: &mut RealSchedule<'_>,
) -> Result<(), Failure<'static>> {
    schedule.run(session.progress)
}

/// Measures the chains of `points` with the plain schedule.
///
/// # Errors
///
/// The errors of [`measure_with`].
pub fn measure<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    budget: &Budget,
) -> Result<Findings<'a>, Failure<'a>> {
    measure_with(session, timer, points, budget, &mut Alongside::default(), &mut all_rounds)
}

/// Measures the chains of `points`; `visits` arranges the visits. Outcomes are in the order of the points; points that
/// were added to the schedule follow.
///
/// Targets and kinds of pages share one schedule, so that drift affects all alike. If memory does not suffice for all
/// of them at a time, they are measured one after another.
///
/// # Errors
///
/// [`Failure`], except for memory that may be missing. An interrupt ends the visits, and the outcomes so far are kept.
pub fn measure_with<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    budget: &Budget,
    alongside: &mut Alongside<'_, 'a>,
    visits: &mut Visits<'_, 'a>,
) -> Result<Findings<'a>, Failure<'a>> {
    let mut run = Run::of(points, budget, alongside.missing)?;
    let parting = Parting::of(session.machine, points, budget);
    for first in parting.firsts(points) {
        let part = run.part(session, timer, &|point| parting.joins(first, point), budget, alongside, visits);
        if !run.goes_on(part)? {
            break;
        }
    }
    run.findings(session)
}

/// Measures `points` in a place that has the memory of all of them.
///
/// # Errors
///
/// The errors of [`measure_with`].
pub fn measure_in<'a>(
    session: &mut Session<'a, '_>,
    points: &[Point],
    budget: &Budget,
    place: &mut dyn Place,
    visits: &mut Visits<'_, 'a>,
) -> Result<Findings<'a>, Failure<'a>> {
    let mut run = Run::of(points, budget, None)?;
    let chosen = run.choose(&|_| true, None)?;
    let visited = run.visit(session, place, &chosen, budget, None, visits);
    run.goes_on(visited)?;
    run.findings(session)
}

/// The grouping of points by the memory that is placed at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parting {
    /// All of them.
    Together,
    /// The points of one target.
    ByTarget,
    /// The points of one target in one kind of pages.
    ByTargetAndPages,
}

impl Parting {
    /// Divides the points into as few parts as fit in memory.
    fn of(machine: &Machine, points: &[Point], budget: &Budget) -> Parting {
        let fits = |parting: &Parting| {
            parting.firsts(points).all(|first| {
                let part = points.iter().copied().filter(|point| parting.joins(first, point));
                pieces::fits(machine, part, budget)
            })
        };
        [Parting::Together, Parting::ByTarget].into_iter().find(fits).unwrap_or(Parting::ByTargetAndPages)
    }

    /// Returns the first point of each part.
    fn firsts(self, points: &[Point]) -> impl Iterator<Item = &Point> {
        let is_first = move |(index, first): &(usize, &Point)| {
            !points.iter().take(*index).any(|earlier| self.joins(earlier, first))
        };
        points.iter().enumerate().filter(is_first).map(|(_, first)| first)
    }

    fn joins(self, one: &Point, other: &Point) -> bool {
        match self {
            Parting::Together => true,
            Parting::ByTarget => one.target == other.target,
            Parting::ByTargetAndPages => (one.target, one.pages) == (other.target, other.pages),
        }
    }
}

/// A run in progress.
struct Run<'r, 'a> {
    points: &'r [Point],
    /// The memory other than that of chains that could not be placed.
    beside: Option<&'r Missing<'a>>,
    /// The outcomes of the points, and of points that were added.
    outcomes: Table<Outcome<'a>>,
    count: usize,
    /// The comparison of the point that was measured twice in turn.
    repeat: Option<Repeat>,
    /// The audit that was made between rounds.
    audit: Option<UnderWay>,
    interrupted: bool,
}

/// The points of a part that have memory, and their indices among all.
struct Chosen {
    points: List<Point>,
    indices: List<usize>,
}

impl<'r, 'a> Run<'r, 'a> {
    /// Returns a run without outcomes.
    fn of(
        points: &'r [Point],
        budget: &Budget,
        beside: Option<&'r Missing<'a>>,
    ) -> Result<Run<'r, 'a>, Failure<'a>> {
        let Some(&first) = points.first() else { return Err(Failure::NOTHING_TO_MEASURE) };
        let unmeasured = Outcome { point: first, result: Err(Exclusion::Interrupted) };
        let mut outcomes = Table::filled(points.len() + budget.more, unmeasured)?;
        for (outcome, point) in outcomes.iter_mut().zip(points) {
            outcome.point = *point;
        }
        Ok(Run {
            points,
            beside,
            outcomes,
            count: points.len(),
            repeat: None,
            audit: None,
            interrupted: false,
        })
    }

    /// Records an interrupt; returns false if it ends the run.
    fn goes_on(&mut self, result: Result<(), Failure<'a>>) -> Result<bool, Failure<'a>> {
        self.interrupted |= matches!(result, Err(Failure::Interrupted));
        match result {
            Err(error) if !self.interrupted => Err(error),
            _ => Ok(!self.interrupted),
        }
    }

    /// Ends the run and returns its findings.
    fn findings(self, session: &mut Session<'a, '_>) -> Result<Findings<'a>, Failure<'a>> {
        let Run { outcomes, count, repeat, audit, interrupted, .. } = self;
        session.progress.clear();
        let outcomes = Table::of(outcomes.get(..count).unwrap_or_default())?;
        Ok(Findings {
            outcomes,
            distributions: Table::empty()?,
            spans: Table::empty()?,
            residency: Table::empty()?,
            extra: Extra::default(),
            repeat,
            audit,
            interrupted,
        })
    }

    /// Chooses the points of a part that have memory, and records why others have none.
    fn choose(
        &mut self,
        is_mine: &dyn Fn(&Point) -> bool,
        missing: Option<&Missing<'a>>,
    ) -> Result<Chosen, Failure<'a>> {
        let most = self.points.len();
        let mut chosen = Chosen { points: List::new(most)?, indices: List::new(most)? };
        for (index, (outcome, point)) in self.outcomes.iter_mut().zip(self.points).enumerate() {
            let mut searched = [missing, self.beside].into_iter().flatten();
            if let Some(error) = searched.find_map(|missing| missing.of(point)) {
                outcome.result = Err(Exclusion::Placement(error));
            } else if is_mine(point) {
                chosen.points.push(*point);
                chosen.indices.push(index);
            }
        }
        Ok(chosen)
    }

    /// Visits the chosen points in `place`, and collects their outcomes.
    fn visit(
        &mut self,
        session: &mut Session<'a, '_>,
        place: &mut dyn Place,
        chosen: &Chosen,
        budget: &Budget,
        twice: Option<usize>,
        visits: &mut Visits<'_, 'a>,
    ) -> Result<(), Failure<'a>> {
        let Some(like) = chosen.points.first() else { return Ok(()) };
        let mut schedule = RealSchedule::new(place, *budget, like, chosen.points.iter().copied())?;
        if let Some(index) = twice {
            schedule.measure_twice(index);
        }
        let visited = visits(session, &mut schedule);
        if !matches!(visited, Err(Failure::Interrupted)) {
            visited?;
        }
        self.repeat = self.repeat.or(second::in_turn(&mut schedule, session.warnings));
        let mut planned = chosen.indices.iter().copied();
        finish::outcomes(session, &mut schedule, |outcome| {
            let index = planned.next().unwrap_or_else(|| {
                self.count += 1;
                self.count - 1
            });
            if let Some(slot) = self.outcomes.get_mut(index) {
                *slot = outcome;
            }
        })?;
        visited
    }

    /// Measures the points that `is_mine` chooses; their chains are in memory together.
    fn part(
        &mut self,
        session: &mut Session<'a, '_>,
        timer: &Timer,
        is_mine: &dyn Fn(&Point) -> bool,
        budget: &Budget,
        alongside: &mut Alongside<'_, 'a>,
        visits: &mut Visits<'_, 'a>,
    ) -> Result<(), Failure<'a>> {
        let begun_ns = time::now_ns();
        let mut pieces = Pieces::place(session, self.points, is_mine, chain_of, budget)?;
        let chosen = self.choose(is_mine, Some(&pieces.missing))?;
        let Some(&like) = chosen.points.first() else { return Ok(()) };
        let chains = pieces.chains(budget)?;
        let mut sites = open(session, timer, &mut pieces, &chains, budget.memory)?;
        // Other memory for one of the points takes as long as the memory of each did.
        let now_ns = time::now_ns();
        let has_time = budget.has_time_to_place(now_ns, (now_ns - begun_ns) / chosen.points.len().real());
        let mut second = match budget.twice && self.repeat.is_none() && has_time {
            true => Second::place(session.machine, &chosen.points, session.noted.spare.take())?,
            false => None,
        };
        let mut watch = Stopwatch::new(*timer, pieces::meter(session, budget.counters));
        watch.times = session.noted.times;
        let mut audit = match (budget.twice && self.audit.is_none(), sites.first()) {
            (true, Some(site)) => UnderWay::new(session.machine, timer, &like, site.witness.mapped),
            _ => None,
        };
        let mut place = ChainPlace::new(&mut sites, watch, alongside, budget.ahead);
        let machine = session.machine;
        let mut step = audit.as_mut().map(|audit| move || audit.step(machine).map(drop));
        place.between = step.as_mut().map(|step| step as &mut dyn FnMut() -> Result<(), Failure<'static>>);
        let mut budget = *budget;
        let mut twice = None;
        if let Some(second) = &mut second {
            twice = Some(second.index);
            budget.more += 1;
            if let Some(point) = chosen.points.get(second.index) {
                place.second = second.open(point, budget.memory)?.map(|site| (chosen.points.len(), site));
            }
        }
        budget.begin_visits(time::now_ns());
        self.visit(session, &mut place, &chosen, &budget, twice, visits)?;
        drop(place);
        if self.audit.is_none() {
            self.audit = audit;
        }
        // The memory was queried again, and its chains are no longer needed.
        if budget.translation {
            for Piece { region, like, placement } in pieces.had() {
                let as_small = translation_probe::ask(session, timer, like, placement)?;
                let is_there = |point: &Point| {
                    let [own, _] = chain_of(point);
                    own.is_some_and(|own| region.is_one_with(&own, budget.memory))
                };
                translation_probe::record(&mut self.outcomes, as_small, &is_there);
            }
        }
        Ok(())
    }
}

/// Opens the memory of chains, with a chain in each piece where chains stay.
///
/// The chain is written with the kind of stores that a trial shows to be faster; the timer's stamps time the trial.
fn open<'p>(
    session: &mut Session<'_, '_>,
    timer: &Timer,
    pieces: &'p mut Pieces<'_>,
    chains: &'p Table<Option<Chain>>,
    memory: Memory,
) -> Result<Sites<Chains<'p>>, Failure<'static>> {
    let stamp = timer.counter().map(|counter| counter.stamp);
    let mut chains = chains.iter();
    pieces.open(&mut |like, lines| {
        session.progress.say(format_args!("writing the chain on node {}", like.target));
        if let Memory::Rewritten { places } = memory {
            return Ok(Chains::Rewritten(lines, places));
        }
        let Some(Some(chain)) = chains.next() else {
            chain::chain(like)?;
            return Err(Failure::NOTHING_TO_MEASURE);
        };
        // The CPU that walks the chain writes it, so that lines that stay in a cache are in that CPU's cache.
        placement::pin(like.cpu)?;
        // Ordinary stores leave lines in a cache that is larger than reported, and the first pass would be faster than
        // memory. So the kind of stores is only a choice where a search found no large cache.
        let seen = stamp.filter(|_| session.machine.is_clear(like.size));
        let stores = Stores::choose(lines, seen, session.machine.largest_cache());
        let buffer = new_chain::write(lines, chain, like.kernel.encoding, stores)?;
        Ok(Chains::kept(buffer, like.initiator)?)
    })
}
