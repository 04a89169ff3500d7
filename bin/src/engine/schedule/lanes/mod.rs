//! Measures points of several lanes, each in a working set of its own size, in rounds over all of them.
//!
//! Points of one size and number of lanes go on where the last of them stopped.
//! Before one of another number is timed, it leaves a trail of its own that
//! fills the caches: what the others left there would be met as a hit.

mod reach;

use core::cell::Cell;

use latency_core::buffer::{Buffer, Stores};
use latency_core::kernel::lanes::MOST_LANES;
use latency_core::units::Bytes;

use crate::engine::arena;
use crate::engine::clock::Timer;
use crate::engine::finish::{self, DISTURBED_SHARE};
use crate::engine::placement::{self, Placement, Witness};
use crate::engine::session::{Findings, Session};
use crate::engine::stopwatch::{start, Stopwatch, FILLING_LAPS};
use crate::engine::subject::{SideBySide, Subject};
use crate::engine::visit::{Pace, State};
use crate::error::{Failure, PlacementError};
use crate::plan::duration::{Rounds, FEWEST_ROUNDS, ROUNDS};
use crate::result::{chain, Exclusion, Extra, Outcome, Point, Round};
use crate::sys::table::Table;
use crate::sys::time;
use crate::warning::Warning;

/// The working sets of different size, at the most: two or three caches and memory.
const REGIONS: usize = 4;
/// Rounds of a point that does not become precise.
const MOST_ROUNDS: usize = 2 * ROUNDS;
/// After this time, points are left with the rounds that they have if those are [`FEWEST_ROUNDS`], unless a time limit
/// is given. Where the last-level cache is large, trails take most of it.
const RUN_NS: f64 = 12e9;
/// A trail is no longer than this: 25 MiB of single dependent loads.
const LONGEST_TRAIL_NS: f64 = 40e6;

/// What tells how long it will take.
pub const PACE: Rounds =
    Rounds { most: MOST_ROUNDS, run_ns: RUN_NS, trail_ns: LONGEST_TRAIL_NS, laps: FILLING_LAPS };

/// One working set in memory.
struct Region<'p> {
    size: Bytes,
    buffer: Buffer<'p>,
    witness: Witness,
}

/// What a point has so far.
#[derive(Clone, Copy)]
struct Course {
    state: State,
    positions: [u64; MOST_LANES],
}

/// Measures all points of one pair of nodes.
///
/// # Errors
///
/// [`Failure`] before anything was measured. An interrupt later on ends the rounds, and what there is is kept.
pub fn run<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
) -> Result<Findings<'a>, Failure<'a>> {
    let Some(first) = points.first() else { return Err(PlacementError::NothingToMeasure.into()) };
    let mut chains = Table::filled(REGIONS, chain::chain(first)?)?;
    let mut placements = [const { None::<Placement> }; REGIONS];
    let mut free = placements.iter_mut().zip(chains.iter_mut());
    for (index, point) in points.iter().enumerate() {
        let earlier = points.get(..index).unwrap_or_default();
        if earlier.iter().any(|other| other.size == point.size) {
            continue;
        }
        let Some((placement, chain)) = free.next() else { break };
        *chain = chain::chain(point)?;
        *placement = Some(arena::place(session, point.target, point.size, point.pages)?);
    }
    let mut regions = [const { None::<Region<'_>> }; REGIONS];
    for ((region, placement), chain) in regions.iter_mut().zip(&mut placements).zip(chains.iter()) {
        let Some(placement) = placement else { break };
        let (lines, witness) = placement.split();
        let stores = Stores::choose(
            lines,
            timer.counter().map(|counter| counter.stamp),
            session.machine.last_level_cache(),
        );
        let buffer = Buffer::build_with(lines, chain, first.kernel.encoding, stores)
            .map_err(|_| PlacementError::NothingToMeasure)?;
        *region = Some(Region { size: chain.layout().size(), buffer, witness });
    }
    let trail = session.machine.last_level_cache().0 / first.stride.0.max(1) * 3 / 2;
    let watch = Stopwatch::new(timer, arena::meter(session))?;
    Lanes { watch, points, regions: &regions, trail, last: None }.run(session)
}

/// Points under way.
struct Lanes<'t, 'p> {
    watch: Stopwatch<'t>,
    points: &'p [Point],
    regions: &'p [Option<Region<'p>>],
    /// Loads that fill every cache.
    trail: u64,
    /// Size and lanes of the point that was walked last.
    last: Option<(Bytes, usize)>,
}

const fn group(point: &Point) -> (Bytes, usize) {
    (point.size, point.walk.lanes())
}

impl Lanes<'_, '_> {
    fn region(&self, size: Bytes) -> Result<&Region<'_>, PlacementError<'static>> {
        let mut regions = self.regions.iter().flatten();
        regions.find(|region| region.size == size).ok_or(PlacementError::NothingToMeasure)
    }

    fn run<'a>(mut self, session: &mut Session<'a, '_>) -> Result<Findings<'a>, Failure<'a>> {
        let points = self.points;
        let Some(&first) = points.first() else { return Err(PlacementError::NothingToMeasure.into()) };
        placement::pin(first.cpu)?;
        let new = Course { state: State::default(), positions: [0; MOST_LANES] };
        let mut courses = Table::filled(points.len(), new)?;
        let mut rounds = Table::filled(points.len() * MOST_ROUNDS, Round::default())?;
        for (course, point) in courses.iter_mut().zip(points) {
            course.positions = start(self.region(point.size)?.buffer.chain(), point.walk.lanes());
        }
        let mut extra = Extra::default();
        let visited = self.rounds(session, &mut courses, &mut rounds);
        let visited = visited.and_then(|()| self.reaches(session, &mut courses, &rounds, &mut extra));
        session.progress.clear();
        let interrupted = match visited {
            Ok(()) => false,
            Err(Failure::Interrupted) => true,
            Err(error) => return Err(error),
        };
        let mut outcomes =
            Table::filled(points.len(), Outcome { point: first, result: Err(Exclusion::Interrupted) })?;
        let (mut imprecise, mut disturbed) = (0, 0);
        // All points of a working set lie in the same memory, which takes long to look at.
        let mut placed = [Err(Exclusion::Interrupted); REGIONS];
        for (placed, region) in placed.iter_mut().zip(self.regions.iter().flatten()) {
            *placed = finish::look_again(session, &region.witness);
        }
        for (((outcome, point), course), rounds) in
            outcomes.iter_mut().zip(points).zip(courses.iter()).zip(rounds.chunks(MOST_ROUNDS))
        {
            outcome.point = *point;
            let rounds = rounds.get(..course.state.rounds).unwrap_or_default();
            outcome.result = Err(Exclusion::Interrupted);
            let mut found = self.regions.iter().flatten().zip(placed);
            if let Some((region, placed)) = found.find(|(region, _)| region.size == point.size) {
                outcome.result = placed.and_then(|placed| {
                    let chain = region.buffer.chain();
                    finish::measurement(session, &mut self.watch, placed, chain, &course.state, rounds)
                });
            }
            if let Ok(measured) = &mut outcome.result {
                measured.series = measured.series.shared_by(point.walk.lanes() as f64);
            }
            if let Ok(measured) = &outcome.result {
                imprecise += u32::from(!measured.precise);
                disturbed += u32::from(measured.series.disturbed_share() >= DISTURBED_SHARE);
            }
        }
        let of = points.len() as u32;
        if imprecise > 0 && session.options.trials.is_none() {
            let wanted = session.options.precision;
            session.warnings.push(Warning::PointsNotPrecise { points: imprecise, of, wanted });
        }
        if disturbed > 0 {
            let share = DISTURBED_SHARE;
            session.warnings.push(Warning::PointsDisturbed { points: disturbed, of, share });
        }
        Ok(Findings { outcomes, distributions: Table::empty()?, extra, interrupted })
    }

    /// Goes round the points until all are done.
    fn rounds(
        &mut self,
        session: &mut Session<'_, '_>,
        courses: &mut [Course],
        rounds: &mut [Round],
    ) -> Result<(), Failure<'static>> {
        let points = self.points;
        let begun_ns = time::monotonic_raw_ns();
        let most_ns = session.options.run_limit_ns(RUN_NS);
        for step in 0..=MOST_ROUNDS {
            let late = time::monotonic_raw_ns().saturating_sub(begun_ns) as f64 > most_ns;
            session
                .progress
                .say(format_args!("round {step} of {ROUNDS} to {MOST_ROUNDS}, {} points", points.len()));
            let mut open = false;
            for (index, point) in points.iter().enumerate() {
                let Some(course) = courses.get_mut(index).filter(|course| !course.state.done) else {
                    continue;
                };
                if late && course.state.rounds >= FEWEST_ROUNDS && session.options.trials.is_none() {
                    course.state.done = true;
                    continue;
                }
                let kept = rounds.get_mut(index * MOST_ROUNDS..(index + 1) * MOST_ROUNDS);
                self.visit(session, point, course, kept.unwrap_or_default(), step == 0)?;
                open |= !course.state.done;
                let positions = course.positions;
                for (course, _) in
                    courses.iter_mut().zip(points).filter(|(_, other)| group(other) == group(point))
                {
                    course.positions = positions;
                }
            }
            if !open {
                break;
            }
        }
        Ok(())
    }

    /// Brings a point into its steady state, and makes a round, or its warm-up.
    fn visit(
        &mut self,
        session: &Session<'_, '_>,
        point: &Point,
        course: &mut Course,
        kept: &mut [Round],
        first: bool,
    ) -> Result<(), Failure<'static>> {
        let regions = self.regions;
        let region = regions.iter().flatten().find(|region| region.size == point.size);
        let region = region.ok_or(PlacementError::NothingToMeasure)?;
        let side = SideBySide { walk: point.walk, positions: Cell::new(course.positions) };
        let subject = Subject { buffer: &region.buffer, kernel: point.kernel, side: Some(&side) };
        let trail = self.trail / point.walk.lanes() as u64 + 1;
        let state = &mut course.state;
        if self.last.replace(group(point)) != Some(group(point)) {
            if region.buffer.chain().nodes() < self.trail {
                self.watch.fill(&region.buffer, f64::INFINITY)?;
            } else {
                self.watch.walk_for(&subject, &mut state.node, trail, LONGEST_TRAIL_NS)?;
            }
        }
        let visited = if first {
            let hops = session.options.warmup_iters.unwrap_or(trail / 64 + 1);
            state.begin(session.options, &mut self.watch, &subject, Some(hops))
        } else {
            let limit_ns = session.options.point_limit_ns();
            let pace = Pace { rounds: ROUNDS, round_ns: 0.0, limit_ns };
            state.advance(session.options, &mut self.watch, &subject, kept, &pace)
        };
        course.positions = side.positions.get();
        visited
    }
}
