//! How many fillers the processor reaches over, by bisection between two points of the plan.
//!
//! Two loads that miss overlap as long as both are in the window at a time.

use latency_core::kernel::lanes::{Filler, Gap};
use latency_core::stats;

use super::{group, Course, Lanes, MOST_ROUNDS};
use crate::engine::session::Session;
use crate::engine::visit::State;
use crate::error::Failure;
use crate::result::{Extra, Point, Reach, Round, Walk};

/// A hop of two lanes that overlap takes one latency, one of two that do not takes two, and fillers take up to
/// a third of one besides. Up to the first of these times loads overlap, and from the second on they do not:
/// between them lies the uncertainty, since where the window fills up differs from load to load.
const BOUNDS: (f64, f64) = (1.45, 1.8);
/// Probes of each number of fillers.
const PROBES: usize = 5;
/// The search ends at this distance.
const FINEST: usize = 4;

impl Lanes<'_, '_> {
    /// Looks for the reach over every kind of filler that the plan has points of.
    pub(super) fn reaches(
        &mut self,
        session: &mut Session<'_, '_>,
        courses: &mut [Course],
        rounds: &[Round],
        extra: &mut Extra,
    ) -> Result<(), Failure<'static>> {
        for (filler, reach) in Filler::ALL.into_iter().zip(&mut extra.reach) {
            let first = self.search(session, courses, rounds, filler, BOUNDS.0)?;
            let last = self.search(session, courses, rounds, filler, BOUNDS.1)?;
            *reach = first.zip(last).map(|(first, last)| Reach { alone: last.alone, ..first });
        }
        Ok(())
    }

    /// Between which numbers of fillers a hop begins to take so many times as long as without.
    fn search(
        &mut self,
        session: &mut Session<'_, '_>,
        courses: &mut [Course],
        rounds: &[Round],
        filler: Filler,
        times: f64,
    ) -> Result<Option<Reach>, Failure<'static>> {
        let points = self.points;
        let apart = points.iter().enumerate().filter_map(|(index, point)| match point.walk {
            Walk::Apart(gap) if gap.filler() == filler => Some((index, gap.fillers())),
            _ => None,
        });
        let median = |index: usize| {
            let made = courses.get(index).map_or(0, |course| course.state.rounds);
            let mut values = [f64::NAN; MOST_ROUNDS];
            let kept = rounds.get(index * MOST_ROUNDS..).unwrap_or_default();
            for (value, round) in values.iter_mut().zip(kept.iter().take(made)) {
                *value = round.nanoseconds;
            }
            values.get_mut(..made).and_then(stats::median).unwrap_or(f64::NAN)
        };
        let mut near = None::<(usize, f64)>;
        let mut found = None::<Reach>;
        let mut index = None;
        for (place, fillers) in apart {
            index = Some(place);
            let time = median(place);
            let (_, bound) = *near.get_or_insert((0, times * time));
            let overlaps = found.map_or(0, |reach| reach.overlaps);
            let alone = (time > bound).then_some(fillers);
            let overlaps = if alone.is_some() { overlaps } else { fillers };
            found = Some(Reach { filler, overlaps, alone });
            if alone.is_some() {
                break;
            }
        }
        let (Some(mut found), Some(index), Some((_, bound))) = (found, index, near) else { return Ok(None) };
        while let Some(alone) = found.alone.filter(|alone| alone - found.overlaps > FINEST) {
            let middle = found.overlaps.midpoint(alone);
            session.progress.say(format_args!("looking for the reach over {middle} {}", filler.name()));
            match self.probe(session, courses, index, filler, middle)? {
                time if time > bound => found.alone = Some(middle),
                _ => found.overlaps = middle,
            }
        }
        Ok(Some(found))
    }

    /// The median time of a hop of two lanes with so many fillers between them.
    fn probe(
        &mut self,
        session: &Session<'_, '_>,
        courses: &mut [Course],
        index: usize,
        filler: Filler,
        fillers: usize,
    ) -> Result<f64, Failure<'static>> {
        let (Some(point), Some(course), Some(gap)) =
            (self.points.get(index), courses.get_mut(index), Gap::new(filler, fillers))
        else {
            return Ok(f64::NAN);
        };
        let point = Point { walk: Walk::Apart(gap), ..*point };
        debug_assert!(group(&point).1 == Gap::LANES);
        let mut kept = [Round::default(); PROBES];
        let mut probed = Course { state: State { done: false, ..State::default() }, ..*course };
        self.visit(session, &point, &mut probed, &mut [], true)?;
        let mut times = [f64::NAN; PROBES];
        for time in &mut times {
            probed.state.rounds = 0;
            self.visit(session, &point, &mut probed, &mut kept, false)?;
            *time = kept.first().map_or(f64::NAN, |round| round.nanoseconds);
        }
        course.positions = probed.positions;
        Ok(stats::median(&mut times).unwrap_or(f64::NAN))
    }
}
