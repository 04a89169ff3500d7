//! A run: places the memory of points, visits them, and makes outcomes of the rounds.

use latency_core::buffer::Stores;
use latency_core::chain::Chain;
use latency_core::{NodeId, Pages, ToReal};

use crate::budget::{Budget, Memory};
use crate::checks::translation_probe;
use crate::error::{Attempt, MeasureError};
use crate::finish;
use crate::machine::Machine;
use crate::memory::RealSchedule;
use crate::memory::chains::{self, Alongside, ChainPlace, Chains};
use crate::memory::second::{self, Second};
use crate::pieces::{self, Piece, Pieces};
use crate::placement::{self, Missing, Sites, chain_of};
use crate::prefetch_audit::UnderWay;
use crate::result::{Exclusion, Outcome, Point, point};
use crate::seam::Place;
use crate::session::{Findings, Session};
use latency_sys::{Table, time};

/// A function that makes a run's visits: the schedule alone, or with more before and after it.
pub type Visits<'v> = dyn FnMut(&mut Session<'_>, &mut RealSchedule<'_>) -> Attempt + 'v;

/// Visits the points of a schedule until each is precise or out of time.
///
/// # Errors
///
/// The errors of [`Schedule::run`](crate::schedule::Schedule::run).
pub fn all_rounds(session: &mut Session<'_>, schedule: &mut RealSchedule<'_>) -> Attempt {
    schedule.run(session.progress)
}

/// Measures the chains of `points` with the plain schedule.
///
/// # Errors
///
/// The errors of [`measure_with`].
pub fn measure(session: &mut Session<'_>, points: &[Point], budget: &Budget) -> Attempt<Findings> {
    measure_with(session, points, budget, &mut Alongside::default(), &mut all_rounds)
}

/// Measures the chains of `points`; `visits` arranges the visits. Outcomes are in the order of the points; points that
/// were added to the schedule follow.
///
/// Targets and kinds of pages share one schedule, so that drift affects all alike. If memory does not suffice for all
/// of them at a time, they are measured one after another.
///
/// # Errors
///
/// [`MeasureError`], except for memory that may be missing. An interrupt ends the visits, and the outcomes so far are kept.
pub fn measure_with(
    session: &mut Session<'_>,
    points: &[Point],
    budget: &Budget,
    alongside: &mut Alongside<'_>,
    visits: &mut Visits<'_>,
) -> Attempt<Findings> {
    let mut run = Run::of(points, budget, alongside.missing)?;
    let key = parting(session.machine, points, budget);
    for first in firsts(points, key) {
        let part = run.part(session, &|point| key(point) == key(first), budget, alongside, visits);
        if run.is_ended_by(part)? {
            break;
        }
    }
    session.progress.clear();
    Ok(run.findings)
}

/// Measures `points` in a place that has the memory of all of them.
///
/// # Errors
///
/// The errors of [`measure_with`].
pub fn measure_in(
    session: &mut Session<'_>,
    points: &[Point],
    budget: &Budget,
    place: &mut dyn Place,
    visits: &mut Visits<'_>,
) -> Attempt<Findings> {
    let mut run = Run::of(points, budget, None)?;
    let chosen = run.choose(&|_| true, None)?;
    let visited = run.visit(session, place, &chosen, budget, None, visits);
    run.is_ended_by(visited)?;
    session.progress.clear();
    Ok(run.findings)
}

/// The property that the points of a part have in common; the memory of a part is placed at a time.
type PartKey = fn(&Point) -> Option<(NodeId, Option<Pages>)>;

/// Returns the division of the points into as few parts as fit in memory: all of them, the points of one target, or the
/// points of one target in one kind of pages.
fn parting(machine: &Machine, points: &[Point], budget: &Budget) -> PartKey {
    let fits = |key: &PartKey| {
        firsts(points, *key).all(|first| {
            let mut part = points.iter().copied().filter(|point| key(point) == key(first));
            pieces::fits(machine, &mut part, budget)
        })
    };
    let keys: [PartKey; 2] = [|_| None, |point| Some((point.target, None))];
    keys.into_iter().find(fits).unwrap_or(|point| Some((point.target, Some(point.pages))))
}

/// Returns the first point of each part.
fn firsts(points: &[Point], key: PartKey) -> impl Iterator<Item = &Point> {
    let is_first = move |(index, first): &(usize, &Point)| {
        !points.iter().take(*index).any(|earlier| key(earlier) == key(first))
    };
    points.iter().enumerate().filter(is_first).map(|(_, first)| first)
}

/// A run in progress.
struct Run<'r> {
    points: &'r [Point],
    /// The memory other than that of chains that could not be placed.
    beside: Option<&'r Missing>,
    /// The findings so far, with an outcome of each point.
    findings: Findings,
}

/// The points of a part that have memory, and their indices among all.
struct Chosen {
    points: Table<Point>,
    indices: Table<usize>,
}

impl<'r> Run<'r> {
    /// Returns a run without a measured point.
    fn of(points: &'r [Point], budget: &Budget, beside: Option<&'r Missing>) -> Attempt<Run<'r>> {
        if points.is_empty() {
            return Err(MeasureError::NOTHING_TO_MEASURE);
        }
        let mut findings = Findings::new(points.len() + budget.more)?;
        let unmeasured = |point: &Point| Outcome { point: *point, result: Err(Exclusion::Interrupted) };
        findings.outcomes.refill(points.iter().map(unmeasured));
        Ok(Run { points, beside, findings })
    }

    /// Returns whether an interrupt ends the run, and records that.
    fn is_ended_by(&mut self, result: Attempt) -> Attempt<bool> {
        self.findings.interrupted |= matches!(result, Err(MeasureError::Interrupted));
        match result {
            Err(error) if !self.findings.interrupted => Err(error),
            _ => Ok(self.findings.interrupted),
        }
    }

    /// Chooses the points of a part that have memory, and records why others have none.
    fn choose(&mut self, is_mine: &dyn Fn(&Point) -> bool, missing: Option<&Missing>) -> Attempt<Chosen> {
        let most = self.points.len();
        let mut chosen = Chosen { points: Table::new(most)?, indices: Table::new(most)? };
        for (index, (outcome, point)) in self.findings.outcomes.iter_mut().zip(self.points).enumerate() {
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
        session: &mut Session<'_>,
        place: &mut dyn Place,
        chosen: &Chosen,
        budget: &Budget,
        twice: Option<usize>,
        visits: &mut Visits<'_>,
    ) -> Attempt {
        let Some(like) = chosen.points.first() else { return Ok(()) };
        let mut schedule = RealSchedule::new(place, *budget, like, chosen.points.iter().copied())?;
        if let Some(index) = twice {
            schedule.measure_twice(index);
        }
        let visited = visits(session, &mut schedule);
        if !matches!(visited, Err(MeasureError::Interrupted)) {
            visited?;
        }
        let Findings { outcomes, repeat, .. } = &mut self.findings;
        *repeat = repeat.or(second::in_turn(&mut schedule, session.warnings));
        let mut planned = chosen.indices.iter();
        finish::outcomes(session, &mut schedule, |outcome| {
            match planned.next().and_then(|index| outcomes.get_mut(*index)) {
                Some(slot) => *slot = outcome,
                None => _ = outcomes.push(outcome),
            }
        })?;
        visited
    }

    /// Measures the points that `is_mine` chooses; their chains are in memory together.
    fn part(
        &mut self,
        session: &mut Session<'_>,
        is_mine: &dyn Fn(&Point) -> bool,
        budget: &Budget,
        alongside: &mut Alongside<'_>,
        visits: &mut Visits<'_>,
    ) -> Attempt {
        let begun_ns = time::now_ns();
        let mut pieces = Pieces::place(session, self.points, is_mine, chain_of, budget)?;
        let chosen = self.choose(is_mine, Some(&pieces.missing))?;
        let Some(&like) = chosen.points.first() else { return Ok(()) };
        let (chains, placed) = (pieces.chains(budget)?, pieces.placed().count());
        let mut sites = open(session, &mut pieces, &chains, budget.memory)?;
        // Other memory for one of the points takes as long as the memory of each did.
        let now_ns = time::now_ns();
        let has_time = budget.has_time_to_place(now_ns, (now_ns - begun_ns) / placed.real());
        let mut second = match budget.twice && self.findings.repeat.is_none() && has_time {
            true => Second::place(session.machine, &chosen.points, session.noted.spare.take())?,
            false => None,
        };
        let mut audit =
            match (budget.twice && self.findings.audit.is_none(), sites.list.iter().flatten().next()) {
                (true, Some(site)) => {
                    UnderWay::new(session.machine, session.timer, &like, site.witness.mapped)
                }
                _ => None,
            };
        let (machine, watch) = (session.machine, session.stopwatch(budget.counters));
        // Otherwise the audit has its memory beside the memory of the points.
        let early = audit.as_mut().filter(|_| !budget.is_among_others());
        let mut step = early.map(|audit| move || audit.step(machine).map(drop));
        let between = step.as_mut().map(|step| step as &mut dyn FnMut() -> Attempt);
        let mut budget = *budget;
        let steady = chosen.indices.iter().filter(|index| **index < budget.steady).count();
        if steady < chosen.points.len() {
            budget.steady = steady;
        }
        let twice = second.as_ref().map(|second| second.index);
        let second = match &mut second {
            Some(second) => second.open(budget.memory)?.map(|site| (chosen.points.len(), site)),
            None => None,
        };
        budget.more += usize::from(twice.is_some());
        let (ahead, sites) = (budget.ahead, &mut sites);
        let planned = &chosen.indices;
        let mut place = ChainPlace { sites, planned, watch, alongside, last: None, second, ahead, between };
        budget.begin_visits(time::now_ns());
        self.visit(session, &mut place, &chosen, &budget, twice, visits)?;
        drop(place);
        let Findings { outcomes, audit: begun, .. } = &mut self.findings;
        *begun = begun.take().or(audit);
        // The memory was queried again, and its chains are no longer needed.
        if budget.translation {
            for Piece { region, like, placement } in pieces.placed() {
                let as_small = translation_probe::ask(session, like, placement)?;
                let is_there = |point: &Point| {
                    let [own, _] = chain_of(point);
                    own.is_some_and(|own| region.is_one_with(&own, budget.memory))
                };
                translation_probe::record(outcomes, as_small, &is_there);
            }
        }
        Ok(())
    }
}

/// Opens the memory of chains, with a chain in each piece where chains stay.
///
/// The chain is written with the kind of stores that a trial shows to be faster; the stamps of the clock time the trial.
fn open<'p>(
    session: &mut Session<'_>,
    pieces: &'p mut Pieces,
    chains: &'p Table<Option<Chain>>,
    memory: Memory,
) -> Attempt<Sites<Chains<'p>>> {
    let stamp = session.timer.counter().map(|counter| counter.stamp);
    let mut chains = chains.iter();
    pieces.open(&mut |like, lines| {
        session.progress.say(format_args!("writing the chain on node {}", like.target));
        if let Memory::Rewritten { places } = memory {
            return Ok(Chains::Rewritten(lines, places));
        }
        let Some(Some(chain)) = chains.next() else {
            point::chain(like)?;
            return Err(MeasureError::NOTHING_TO_MEASURE);
        };
        // The CPU that walks the chain writes it, so that lines that stay in a cache are in that CPU's cache.
        placement::pin(like.cpu)?;
        // Ordinary stores leave lines in a cache that is larger than reported, and the first pass would be faster than
        // memory. So the kind of stores is only a choice where a search found no large cache.
        let seen = stamp.filter(|_| session.machine.is_clear(like.size));
        let stores = Stores::choose(lines, seen, session.machine.largest_cache());
        let buffer = chains::write(lines, chain, like.kernel.encoding, stores)?;
        Ok(Chains::kept(buffer, like.initiator)?)
    })
}
