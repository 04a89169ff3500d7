//! Pauses between the rounds of few points, which would otherwise end before anything drifts.

use core::ops::DerefMut;

use latency_core::{ToReal, stats};

use crate::budget::{MOST_ROUNDS, WAKE_NS};
use crate::error::Attempt;
use crate::schedule::undisturbed::is_slower;
use crate::schedule::visit::State;
use crate::schedule::{Schedule, ScheduledPoint};
use crate::seam::Place;

impl<A: DerefMut<Target: Place>> Schedule<A> {
    /// Lets the CPU idle until the next round is due, if any point still needs one.
    ///
    /// Rounds are due at equal intervals, so that the first rounds fill the time over which they are spread. Each is up
    /// to a fifth of an interval early or late; otherwise a neighbour with this period would be met always or never.
    /// Once rounds differ there is no pause: further rounds are more informative, and no quiet second is missed. The
    /// pause counts as time of the points, in equal parts.
    pub(super) fn pause(&mut self, wants: &dyn Fn(&State, f64) -> bool) -> Attempt {
        /// Range of the random shift of a round, as a share of the interval.
        const JITTER: f64 = 0.4;
        let now_ns = self.place.now_ns();
        let lasted_ns = now_ns - self.last_ns;
        self.last_ns = now_ns;
        // The first round includes the warm-up, so the duration of a round is known after the second.
        if self.round <= 1 {
            self.first_ns = if self.round == 0 { now_ns } else { self.first_ns };
            return Ok(());
        }
        let share = self.share();
        // Once rounds have differed, the agreement of later rounds only describes one moment.
        self.differ |= self.differs(0);
        let differ = self.differ;
        let beside = self.beside();
        let open = |(index, entry): &(usize, &mut ScheduledPoint)| {
            !entry.state.done && wants(&entry.state, share) && !beside.contains(index)
        };
        let budget = self.budget;
        let (mut count, mut left_ns) = (0, f64::INFINITY);
        for (_, entry) in self.entries.iter_mut().enumerate().filter(open) {
            count += 1;
            left_ns = left_ns.min(budget.left_ns(entry.state.spent_ns));
        }
        let rounds = budget.trials.map_or(budget.rounds, |trials| budget.rounds.min(trials as usize));
        let distance_ns = (budget.spread_ns - lasted_ns) / rounds.saturating_sub(1).max(1).real();
        let shift = (f64::from(self.rng.next_u32()) / f64::from(u32::MAX) - 0.5) * JITTER;
        let due_ns = match differ {
            // With differing rounds, a requested number of trials is made without pauses; otherwise rounds fill the
            // time of the point.
            true if budget.trials.is_some() => now_ns,
            true => now_ns + budget.point_ns / self.room.real() - lasted_ns,
            false => self.first_ns + distance_ns * (self.round.real() + shift),
        };
        let until_ns = due_ns.min(now_ns + left_ns * count as f64);
        if count == 0 || until_ns - now_ns <= WAKE_NS {
            return Ok(());
        }
        self.place.pause(until_ns.min(budget.until_ns))?;
        let paused_ns = self.place.now_ns() - now_ns;
        self.last_ns += paused_ns;
        for (_, entry) in self.entries.iter_mut().enumerate().filter(open) {
            entry.state.spent_ns += paused_ns / f64::from(count);
        }
        Ok(())
    }

    /// Returns true if the rounds of a point scatter more than those of a quiet machine.
    fn differs(&self, index: usize) -> bool {
        /// Minimum rounds for a verdict.
        const FEWEST: usize = 5;
        /// Maximum distance between the tenth percentile and the second largest of a quiet machine's rounds, as a
        /// fraction.
        const ALIKE: f64 = 0.05;
        let mut room = [0.0; MOST_ROUNDS];
        let values = stats::gather(&mut room, self.rounds(index).iter().map(|round| round.nanoseconds));
        let count = values.len();
        values.sort_unstable_by(f64::total_cmp);
        let at = |part: usize| values.get((count - 1) * part / 10).copied().unwrap_or(f64::NAN);
        let second = values.iter().rev().nth(1).copied().unwrap_or(f64::NAN);
        count >= FEWEST && (second > at(1) * (1.0 + ALIKE) || is_slower(at(5), self.budget.looked_ns))
    }
}
