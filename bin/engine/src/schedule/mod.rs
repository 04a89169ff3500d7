//! The schedule of all experiments: rounds that visit every point which still needs it, or a stay at one point, so that
//! the user can observe the machine meanwhile.
//!
//! The order is shuffled for each round, so that no point always has the same predecessor. Rounds of one point are thus
//! spread over the whole run, so an interval over rounds includes drift and neighbours. An interval over contiguous
//! batches would cover the truth in 5 to 54 of 100 runs instead of 95. A run of few points would be over within a
//! moment: it pauses between rounds.

use core::ops::{DerefMut, Range};

use latency_core::{Bytes, Pcg32, Summary, ToReal, math, plural, sort_by_key, stats};

use crate::budget::{Budget, MOST_ROUNDS, Memory, OVERTIME, PLACES};
use crate::error::Attempt;
use crate::progress::Progress;
use crate::result::{Point, Round, RoundSeries, Walk};
use crate::schedule::summariser::Summariser;
use crate::schedule::visit::{State, VisitRules};
use crate::seam::Place;
use latency_sys::{Errno, Table};
use summariser::MOST_BATCHES;
use walks::hops_per_batch;

pub mod grouped;
mod pause;
pub mod residency;
pub mod summariser;
mod thin;
pub mod undisturbed;
pub mod visit;
pub mod walks;
pub mod warm_up;
pub mod window_search;

/// One point and its progress.
#[derive(Clone, Copy, Debug)]
pub struct ScheduledPoint {
    /// The point.
    pub point: Point,
    /// Its progress.
    pub state: State,
}

/// One visit of a round; the points of a group follow each other.
#[derive(Clone, Copy, Debug)]
struct Turn {
    group: u32,
    own: u32,
    index: usize,
}

/// The points in progress in a place; `A` is the place or a pointer to it.
#[derive(Debug)]
pub struct Schedule<A> {
    /// The place of their chains.
    pub place: A,
    /// The summariser of their rounds.
    pub summariser: Summariser,
    /// Their budget.
    pub budget: Budget,
    /// The maximum number of points.
    pub capacity: usize,
    entries: Table<ScheduledPoint>,
    /// The index of a point that is measured twice in turn, and the index of its second measurement, behind all other
    /// points.
    twice: Option<[usize; 2]>,
    rounds: Table<Round>,
    room: usize,
    turns: Table<Turn>,
    rng: Pcg32,
    run_ns: f64,
    begun_ns: f64,
    /// Rounds made by [`Schedule::run`].
    round: usize,
    /// True if rounds differ by more than the rounds of a quiet machine do.
    differ: bool,
    /// The times at which the first of the rounds began, and the last.
    first_ns: f64,
    last_ns: f64,
}

impl<A: DerefMut<Target: Place>> Schedule<A> {
    /// Creates a schedule of `points`, with room for as many more as the budget allows.
    ///
    /// # Errors
    ///
    /// The error of mapping its tables.
    pub fn new(
        place: A,
        budget: Budget,
        like: &Point,
        points: impl Iterator<Item = Point> + Clone,
    ) -> Result<Self, Errno> {
        let count = points.clone().count();
        let capacity = count + budget.more;
        let room = budget.room(capacity);
        let begun_ns = place.now_ns();
        let mut schedule = Schedule {
            place,
            summariser: Summariser::new()?,
            budget,
            capacity,
            entries: Table::new(capacity)?,
            twice: None,
            rounds: Table::filled(capacity * room, Round::default())?,
            room,
            turns: Table::new(capacity)?,
            rng: Pcg32::new(like.seed, 0x726f_7461),
            run_ns: budget.share_ns * count.min(budget.steady).real(),
            begun_ns,
            round: 0,
            differ: false,
            first_ns: begun_ns,
            last_ns: begun_ns,
        };
        points.for_each(|point| _ = schedule.add(point));
        Ok(schedule)
    }

    /// Adds a point; returns false if there is no room for it.
    pub fn add(&mut self, point: Point) -> bool {
        self.entries.push(ScheduledPoint { point, state: State::default() }).is_some()
    }

    /// Measures point number `index` twice in each round from now on; no point can be added afterwards.
    pub fn measure_twice(&mut self, index: usize) {
        let second = self.entries.len();
        if let Some(point) = self.point(index).filter(|_| self.twice.is_none()) {
            self.twice = self.add(point).then_some([index, second]);
        }
    }

    /// Returns the indices of both measurements of the point that was measured twice in each round, and the ratio of the
    /// second to the first, round by round.
    pub fn both(&mut self) -> Option<([usize; 2], Summary)> {
        let [first, second] = self.twice?;
        let rounds = |index| rounds_of(&self.entries, &self.rounds, self.room, index).iter();
        let ratios =
            rounds(second).zip(rounds(first)).map(|(one, other)| one.nanoseconds / other.nanoseconds);
        Some(([first, second], self.summariser.summarise_values(ratios)?))
    }

    /// Returns the number of points added, without the second measurement of one.
    pub fn count(&self) -> usize {
        self.entries.len() - self.twice.is_some() as usize
    }

    /// Returns the `index`-th of the added points.
    pub fn point(&self, index: usize) -> Option<Point> {
        self.entries.get(index).map(|entry| entry.point)
    }

    /// Returns the points and the median of their rounds so far, in nanoseconds; NaN before the first round.
    pub fn so_far(&mut self) -> impl Iterator<Item = (&Point, f64)> + use<'_, A> {
        let Self { entries, rounds, summariser, room, .. } = self;
        entries.iter().enumerate().map(|(index, entry)| {
            let series = summariser.summarise(rounds_of(entries, rounds, *room, index));
            (&entry.point, series.map_or(f64::NAN, |series| series.nanoseconds.median))
        })
    }

    /// Returns the rounds of a point so far.
    pub fn rounds(&self, index: usize) -> &[Round] {
        rounds_of(&self.entries, &self.rounds, self.room, index)
    }

    /// Returns the summary of the rounds of a point; `None` before the first.
    pub fn series(&mut self, index: usize) -> Option<(ScheduledPoint, RoundSeries)> {
        if index < self.count() { self.of(index) } else { None }
    }

    /// Returns the summary of the rounds of a point, or of a second measurement.
    pub fn of(&mut self, index: usize) -> Option<(ScheduledPoint, RoundSeries)> {
        let entry = *self.entries.get(index)?;
        let rounds = rounds_of(&self.entries, &self.rounds, self.room, index);
        Some((entry, self.summariser.summarise(rounds)?))
    }

    /// Returns the number of positions that the rounds of a point used, and the spread between them: from the tenth to
    /// the ninetieth percentile of the medians of positions, relative to the middle one.
    ///
    /// The physical pages are a hidden variable of every working set of about the size of a cache.
    pub fn placements(&self, index: usize) -> (usize, Option<f64>) {
        /// Minimum positions for a spread.
        const FEWEST_PLACES: usize = 4;
        /// Reciprocal of the share of positions that is ignored at either end.
        const ORDINARY: usize = 10;
        let Memory::Rewritten { places } = self.budget.memory else { return (1, None) };
        let median_at = |place| {
            let rounds = self.rounds(index).iter().enumerate();
            let here = rounds.filter(|(visit, _)| position_of(index, *visit) % places == place);
            let values = here.map(|(_, round)| round.nanoseconds);
            stats::median(stats::gather(&mut [f64::NAN; MOST_ROUNDS], values))
        };
        let mut room = [f64::NAN; PLACES as usize];
        let medians = stats::gather(&mut room, (0..places.min(PLACES)).filter_map(median_at));
        let count = medians.len();
        let Some(middle) = stats::median(medians).filter(|_| count >= FEWEST_PLACES) else {
            return (count, None);
        };
        let end = count / ORDINARY;
        let spread =
            medians.get(count - 1 - end).zip(medians.get(end)).map(|(high, low)| (high - low) / middle);
        (count, spread)
    }

    /// Makes rounds, without a pause, until each point has `rounds` rounds (2 if visits are long, 1 if time is up).
    ///
    /// # Errors
    ///
    /// The errors of [`VisitRules::visit`], including an interrupt.
    pub fn reach(&mut self, progress: &mut Progress, rounds: usize) -> Attempt {
        let long_visit_ns = self.budget.long_visit_ns;
        while self.go_round(progress, &|state, share| {
            let rounds = if state.visit_ns > long_visit_ns { rounds.min(2) } else { rounds };
            state.rounds < if share < 1.0 { rounds } else { 1 }
        })? {}
        Ok(())
    }

    /// Makes rounds until every point is precise or out of time.
    ///
    /// # Errors
    ///
    /// The errors of [`VisitRules::visit`], including an interrupt. The rounds so far are kept.
    pub fn run(&mut self, progress: &mut Progress) -> Attempt {
        let Budget { fewest, long_visit_ns, .. } = self.budget;
        let is_among_others = self.budget.is_among_others();
        let wanted = |state: &State, share: f64| {
            let least = match share {
                ..1.0 => usize::MAX,
                ..OVERTIME => fewest,
                // Slow points must not starve quick ones of the rounds that an interval needs, unless those that have no
                // time for them are left out.
                _ if state.visit_ns <= long_visit_ns || is_among_others => fewest,
                _ => 1,
            };
            state.rounds < least
        };
        loop {
            if is_among_others {
                self.thin();
            }
            self.pause(&wanted)?;
            if !self.go_round(progress, &wanted)? {
                return Ok(());
            }
            self.round += 1;
            if self.place.now_ns() < self.budget.until_ns {
                self.place.between_rounds()?;
            }
        }
    }

    /// Visits a point that is not on the schedule. Returns the medians of `visits` visits: nanoseconds, and core
    /// cycles, which are NaN without a counter.
    ///
    /// # Errors
    ///
    /// The errors of [`VisitRules::visit`], including an interrupt.
    pub fn probe(&mut self, point: &Point, visits: usize) -> Attempt<(f64, f64)> {
        const MOST: usize = 16;
        let mut kept = [Round::default(); MOST];
        let mut state = State::default();
        let Self { place, summariser, budget, entries, capacity, .. } = self;
        let rules = VisitRules { budget, points: *capacity };
        for position in 0..visits.min(MOST) as u64 {
            place.with_chain(entries.len(), point, position, &mut |chain| {
                rules.visit(chain, summariser, &mut state, &mut kept)
            })?;
        }
        let made = kept.get(..state.rounds).unwrap_or_default();
        let median = |select: fn(&Round) -> f64| {
            let values = made.iter().map(select);
            stats::median(stats::gather(&mut [f64::NAN; MOST], values)).unwrap_or(f64::NAN)
        };
        Ok((median(|round| round.nanoseconds), median(|round| round.core_cycles)))
    }

    /// Visits every point that is not done and for which `wants` is true; `wants` gets the elapsed share of the time
    /// for all points. Returns false if there was no point to visit.
    fn go_round(&mut self, progress: &mut Progress, wants: &dyn Fn(&State, f64) -> bool) -> Attempt<bool> {
        let share = self.share();
        let salt = self.rng.next_u64();
        self.turns.truncate(0);
        for index in 0..self.entries.len() {
            let (Some(point), Some(state)) = (self.point(index), self.leading(index)) else { break };
            if state.done
                || !wants(&state, share)
                || self.beside().contains(&index) && (self.round + index).is_multiple_of(2)
            {
                continue;
            }
            // The group has another random rank in each round.
            let group = Pcg32::new(salt, self.group(&point).unwrap_or(index) as u64).next_u32();
            self.turns.push(Turn { group, own: self.rng.next_u32(), index });
        }
        // They have no rounds of their own.
        if self.turns.iter().all(|turn| self.beside().contains(&turn.index)) {
            self.turns.truncate(0);
        }
        sort_by_key(&mut self.turns, |turn| (turn.group, turn.own, turn.index));
        for turn in 0..self.turns.len() {
            let Some(&Turn { index, .. }) = self.turns.get(turn) else { break };
            // In large memory a round lasts seconds, so the share is computed for each visit.
            let share = self.share();
            if self.leading(index).is_some_and(|state| wants(&state, share)) {
                self.visit(index)?;
                self.tell(progress);
            }
        }
        Ok(!self.turns.is_empty())
    }

    /// Returns the indices of the points that are visited in every second round.
    fn beside(&self) -> Range<usize> {
        self.budget.steady..self.count()
    }

    /// Returns the state that decides about further visits to a point; a second measurement follows the first.
    fn leading(&self, index: usize) -> Option<State> {
        let index = self.twice.filter(|[_, second]| *second == index).map_or(index, |[first, _]| first);
        self.entries.get(index).map(|entry| entry.state)
    }

    /// Returns the index of the first point in the group of `point`; `None` if it has no group. The points of a group
    /// follow each other in a round: points with the same number of lanes in one chain, or points of one initiator
    /// where nodes share chains. The former continue where the previous one stopped; a visit with another number of
    /// lanes needs a trail, which lasts longer than a round. The latter write each shared chain once a round.
    fn group(&self, point: &Point) -> Option<usize> {
        let group = |point: &Point| match (self.budget.memory, point.walk) {
            (Memory::Kept, Walk::Lanes(_) | Walk::Apart(_)) => Some((point.size, point.walk.lanes())),
            (Memory::Shared, _) => Some((Bytes(0), point.initiator.0 as usize)),
            _ => None,
        };
        let mine = group(point)?;
        self.entries.iter().position(|entry| group(&entry.point) == Some(mine))
    }

    fn visit(&mut self, index: usize) -> Attempt {
        /// The length of their rounds, as a divisor of the others' length.
        const SHORT: usize = 3;
        let beside = self.beside();
        let points = (self.entries.len() - beside.len()) * if beside.contains(&index) { SHORT } else { 1 };
        let Self { place, summariser, budget, entries, rounds, room, .. } = self;
        let (Some(entry), Some(kept)) =
            (entries.get_mut(index), rounds.get_mut(index * *room..(index + 1) * *room))
        else {
            return Ok(());
        };
        let rules = VisitRules { budget, points };
        let position = position_of(index, entry.state.rounds);
        let ScheduledPoint { point, state } = entry;
        let (begun_ns, spent_ns) = (place.now_ns(), state.spent_ns);
        place.with_chain(index, point, position, &mut |chain| rules.visit(chain, summariser, state, kept))?;
        // Rewriting the chain counts as time of the point; for a large chain of small elements, it is most of that
        // time.
        state.spent_ns = spent_ns + (place.now_ns() - begun_ns);
        state.first_ns = if state.rounds == 1 { state.spent_ns } else { state.first_ns };
        state.done |= budget.left_ns(state.spent_ns) <= 0.0;
        Ok(())
    }

    /// Returns the elapsed share of the time for all points.
    fn share(&self) -> f64 {
        (self.place.now_ns() - self.begun_ns) / self.run_ns
    }

    /// Shows the progress of the run, and the time left until each point has the minimum number of rounds.
    fn tell(&self, progress: &mut Progress) {
        let rules = VisitRules { budget: &self.budget, points: self.entries.len() };
        let count = self.count().min(self.budget.steady);
        let entries = || self.entries.iter().take(count);
        let done = entries().filter(|entry| entry.state.done).count();
        let left = entries().filter(|entry| !entry.state.done).map(|entry| {
            let state = &entry.state;
            state.visit_ns * rules.enough(state).saturating_sub(state.rounds).max(1).real()
        });
        let left = left.sum::<f64>().min((self.begun_ns + self.run_ns - self.place.now_ns()).max(0.0));
        let rounds = entries().map(|entry| entry.state.rounds).max().unwrap_or(0);
        progress.say(format_args!(
            "round {rounds}: {done} of {count} point{} done, about {} s left",
            plural(count),
            math::whole(left / 1e9) + 1
        ));
    }
}

/// Returns the rounds of a point so far; each point has room for `room` in the table.
fn rounds_of<'r>(entries: &[ScheduledPoint], rounds: &'r [Round], room: usize, index: usize) -> &'r [Round] {
    let made = entries.get(index).map_or(0, |entry| entry.state.rounds);
    rounds.get(index * room..).and_then(|rounds| rounds.get(..made)).unwrap_or_default()
}

/// Returns the position that a point uses on a given visit.
///
/// The step of five and the number of positions are coprime, so a point uses all positions.
fn position_of(index: usize, visit: usize) -> u64 {
    visit as u64 * 5 + index as u64
}

#[cfg(test)]
mod coverage_tests;
#[cfg(test)]
mod stay_tests;
#[cfg(test)]
mod tests;

const SECOND_NS: f64 = 1e9;

impl<A: DerefMut<Target: Place>> Schedule<A> {
    /// Stays at a point for some seconds. Each second is a round, which is passed to `tell`; earlier rounds of the
    /// point are dropped.
    ///
    /// # Errors
    ///
    /// The errors of [`VisitRules::visit`](crate::schedule::visit::VisitRules::visit), including an interrupt.
    /// Complete seconds are kept.
    pub fn stay(&mut self, index: usize, seconds: usize, tell: &mut dyn FnMut(&Point, &Round)) -> Attempt {
        let Self { place, summariser, budget, entries, rounds, room, .. } = self;
        let (Some(entry), Some(kept)) =
            (entries.get_mut(index), rounds.get_mut(index * *room..(index + 1) * *room))
        else {
            return Ok(());
        };
        let ScheduledPoint { point, state } = entry;
        (state.rounds, state.trials) = (0, 0);
        place.with_chain(index, point, 0, &mut |chain| {
            state.warmth.warm_up(chain, summariser, budget, f64::INFINITY)?;
            let begun_ns = chain.now_ns();
            for (second, slot) in kept.iter_mut().take(seconds).enumerate() {
                // The latency of a hop may change under the load.
                let batch_ns = chain.batch_ns().max(SECOND_NS / (MOST_BATCHES / 2).real());
                let hops = hops_per_batch(batch_ns, state.warmth.first.estimate_ns);
                let until_ns = begun_ns + (second + 1).real() * SECOND_NS;
                *slot = summariser.round(chain, (0, hops), MOST_BATCHES as u32, f64::INFINITY, until_ns)?;
                state.rounds += 1;
                state.trials += u64::from(slot.batches);
                tell(point, slot);
            }
            state.done = true;
            Ok(())
        })
    }
}
