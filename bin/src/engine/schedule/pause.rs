//! Pauses between the rounds of few points, which would otherwise be over before anything drifts.

use super::{Course, Schedule};
use crate::engine::ground::Arena;
use crate::engine::visit::State;
use crate::error::Failure;
use crate::plan::budget::WAKE_NS;

impl<A: Arena> Schedule<A> {
    /// Lets the CPU idle until the next round is due, if any point still wants one.
    ///
    /// Rounds are due at even distances, so that the first ones fill the time to spread them over; each is up to a
    /// fifth of a distance early or late, or else a neighbour that comes and goes at such a distance would be met
    /// always or never. The pause is time that the points have taken, all alike.
    pub(super) fn pause(&mut self, wants: &dyn Fn(&State, f64) -> bool) -> Result<(), Failure<'static>> {
        /// Of a distance.
        const JITTER: f64 = 0.4;
        let now_ns = self.arena.now_ns();
        let lasted_ns = now_ns - self.last_ns;
        self.last_ns = now_ns;
        // The first round has warmed up: how long one takes is known after the second.
        if self.round <= 1 {
            self.second_ns = now_ns;
            return Ok(());
        }
        let share = self.share();
        let open = |course: &&mut Course| !course.state.done && wants(&course.state, share);
        let budget = self.budget;
        let mut courses = self.courses.iter_mut().take(self.count).filter(open);
        let (mut count, mut left_ns) = (0, f64::INFINITY);
        courses.by_ref().for_each(|course| {
            count += 1;
            left_ns = left_ns.min(budget.left_ns(course.state.spent_ns));
        });
        let rounds = budget.trials.map_or(budget.rounds, |trials| budget.rounds.min(trials as usize));
        let distance_ns = (budget.spread_ns - lasted_ns) / rounds.saturating_sub(2).max(1) as f64;
        let shift = (f64::from(self.rng.next_u32()) / f64::from(u32::MAX) - 0.5) * JITTER;
        let due_ns = self.second_ns + distance_ns * ((self.round - 1) as f64 + shift);
        let until_ns = due_ns.min(now_ns + left_ns * count as f64);
        if count == 0 || until_ns - now_ns <= WAKE_NS {
            return Ok(());
        }
        self.arena.pause(until_ns)?;
        let paused_ns = self.arena.now_ns() - now_ns;
        self.last_ns += paused_ns;
        for course in self.courses.iter_mut().take(self.count).filter(open) {
            course.state.spent_ns += paused_ns / f64::from(count);
        }
        Ok(())
    }
}
