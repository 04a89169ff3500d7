//! One visit to one point: a warm-up and a round of trials, and the decision whether it was the last visit.
//!
//! The caller chooses the point, the time and the memory.

use crate::budget::Budget;
use crate::error::Attempt;
use crate::result::{Round, Undisturbed};
use crate::schedule::grouped::hops_of_batch;
use crate::schedule::summariser::{MOST_BATCHES, Summariser};
use crate::schedule::undisturbed::{is_slower, undisturbed};
use crate::schedule::walks::hops_per_batch;
use crate::schedule::warm_up::Warmth;
use crate::seam::Walkable;
use latency_core::{ToReal, math};

/// Minimum share of the spread time that rounds must fill: the last pause is shorter than the others.
const SPREAD: f64 = 0.9;

/// The state of one point between visits.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    /// The warm-up of the point, with its findings.
    pub warmth: Warmth,
    /// Hops in each trial.
    pub hops: u64,
    /// Rounds made.
    pub rounds: usize,
    /// Trials made.
    pub trials: u64,
    /// Nanoseconds that the point has used.
    pub spent_ns: f64,
    /// Nanoseconds of the first visit, with the time in which its chain was written.
    pub first_ns: f64,
    /// Nanoseconds of the shortest visit.
    pub visit_ns: f64,
    /// True once no further visit is needed.
    pub done: bool,
}

/// The parameters of a visit.
#[derive(Clone, Copy, Debug)]
pub struct VisitRules<'b> {
    /// The budget.
    pub budget: &'b Budget,
    /// The points that share the time over which rounds are spread.
    pub points: usize,
}

impl VisitRules<'_> {
    /// Returns the number of rounds before a point's confidence interval is evaluated.
    pub fn enough(&self, state: &State) -> usize {
        if state.visit_ns > self.budget.long_visit_ns { self.budget.fewest } else { self.budget.rounds }
    }

    /// Warms up a chain and makes a round over it, which is added to `kept`.
    ///
    /// # Errors
    ///
    /// The errors of [`Walkable::walk`]. The measurements of an interrupted visit are lost.
    pub fn visit(
        &self,
        chain: &mut dyn Walkable,
        summariser: &mut Summariser,
        state: &mut State,
        kept: &mut [Round],
    ) -> Attempt {
        let budget = self.budget;
        let begun_ns = chain.now_ns();
        let until_ns = (begun_ns + budget.left_ns(state.spent_ns)).min(budget.until_ns);
        let untimed = state.warmth.warm_up(chain, summariser, budget, until_ns)?;
        let enough = self.enough(state);
        if state.rounds == 0 {
            let hops = hops_per_batch(chain.batch_ns(), state.warmth.first.estimate_ns);
            let share = budget.hops.div_ceil((enough * MOST_BATCHES) as u64);
            state.hops = budget.iters.unwrap_or_else(|| hops_of_batch(chain, hops.max(share)));
        }
        let (count, limit_ns) = self.batches(state, enough);
        let mut round = summariser.round(chain, (untimed, state.hops), count, limit_ns, until_ns)?;
        round.cold_ns = state.warmth.cold_ns();
        if let Some(slot) = kept.get_mut(state.rounds) {
            *slot = round;
            state.rounds += 1;
        }
        state.trials += u64::from(round.batches);
        state.warmth.note(round.nanoseconds);
        chain.beside(&round)?;
        let visit_ns = chain.now_ns() - begun_ns;
        state.spent_ns += visit_ns;
        // A disturbed visit does not reduce the number of rounds.
        state.visit_ns = if state.rounds <= 2 { visit_ns } else { visit_ns.min(state.visit_ns) };
        let made = kept.get(..state.rounds).unwrap_or_default();
        let late = budget.left_ns(state.spent_ns) <= 0.0 || chain.now_ns() >= budget.until_ns;
        state.done = late
            || state.rounds >= kept.len()
            || match budget.trials {
                Some(trials) => state.trials >= u64::from(trials),
                None => {
                    // With long trials, each is longer than a whole round usually is.
                    let enough = if count > 1 { self.enough(state) } else { budget.fewest };
                    let lasted_ns = made.first().map_or(0.0, |first| chain.now_ns() - first.begun_ns);
                    state.rounds >= enough
                        && lasted_ns >= SPREAD * budget.spread_ns
                        && match budget.until_quiet {
                            true => {
                                matches!(undisturbed(made, budget.looked_ns), Some(Undisturbed::Seen { .. }))
                            }
                            false => summariser.summarise(made).is_some_and(|series| {
                                let found_ns = series.nanoseconds.median;
                                series.is_precise(budget.precision) && !is_slower(found_ns, budget.looked_ns)
                            }),
                        }
                }
            };
        Ok(())
    }

    /// Returns the maximum number of batches of the next round, and the nanoseconds that they may have together.
    fn batches(&self, state: &State, rounds: usize) -> (u32, f64) {
        let budget = self.budget;
        let trial_ns = (state.hops.real() * state.warmth.first.estimate_ns).max(1.0);
        let limit_ns = budget.point_ns / rounds.real();
        let count = match budget.trials {
            Some(trials) => {
                let trials = u64::from(trials);
                let rounds = trials.min(budget.rounds as u64).max(1);
                trials / rounds + u64::from((state.rounds as u64) < trials % rounds)
            }
            None if budget.hops > 0 && budget.iters.is_none() => {
                budget.hops.div_ceil(rounds as u64).div_ceil(state.hops.max(1))
            }
            None => {
                let round_ns = budget.walk_ns / (rounds * self.points.max(1)).real();
                let round_ns = round_ns.max(budget.batches * trial_ns).min(limit_ns);
                let count = math::whole(round_ns / trial_ns);
                if budget.twice {
                    // A round has a fixed length in time, whatever its latency: with a fixed number of hops, slow
                    // seconds would have fewer rounds.
                    return ((2 * count).clamp(1, MOST_BATCHES as u64) as u32, round_ns);
                }
                count
            }
        };
        let cap_ns = if budget.left_ns(0.0).is_finite() { 2.0 * limit_ns } else { f64::INFINITY };
        (count.clamp(1, MOST_BATCHES as u64) as u32, cap_ns)
    }
}
