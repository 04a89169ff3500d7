//! One visit to one point: the warm-up of the first, a round of trials in each later one, and whether that was the last.
//!
//! Shared by everything that goes round its points. Which point is visited when,
//! and in which memory, is the caller's business.

use super::stopwatch::Stopwatch;
use super::subject::Subject;
use crate::error::Failure;
use crate::options::{FlagId, Options};
use crate::plan::duration::FEWEST_ROUNDS;
use crate::result::{Round, WarmUp};

/// The batches of a round, at the least, where their length is chosen here.
pub const BATCHES: f64 = 20.0;

/// How a point is gone about.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Rounds before the confidence interval is looked at.
    pub rounds: usize,
    /// How long a round should take, if that is more than [`BATCHES`] trials.
    pub round_ns: f64,
    /// How long a point may take in all.
    pub limit_ns: f64,
}

/// One point under way.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    /// Where its chase stands.
    pub node: u64,
    /// What its warm-up found.
    pub warm_up: WarmUp,
    /// Hops in each trial.
    pub hops: u64,
    /// Rounds made.
    pub rounds: usize,
    /// Trials made.
    pub trials: u64,
    /// The time that it has taken.
    pub spent_ns: f64,
    /// No further visit is needed.
    pub done: bool,
}

impl State {
    /// A point that was not visited yet.
    pub const NEW: State = State {
        node: 0,
        warm_up: WarmUp { hops: 0, cold_ns: None, estimate_ns: 0.0 },
        hops: 0,
        rounds: 0,
        trials: 0,
        spent_ns: 0.0,
        done: false,
    };

    /// The first visit: warms up by `hops`, or as the stopwatch sees fit, and chooses the length of a trial.
    ///
    /// # Errors
    ///
    /// As [`Stopwatch::warm_up`].
    pub fn begin(
        &mut self,
        options: &Options<'_>,
        watch: &mut Stopwatch<'_>,
        subject: &Subject<'_>,
        hops: Option<u64>,
    ) -> Result<(), Failure<'static>> {
        self.node = subject.buffer.chain().start(0, 1);
        self.warm_up = watch.warm_up(subject, &mut self.node, hops)?;
        self.choose_hops(options, watch);
        Ok(())
    }

    /// Chooses the length of a trial anew, after more warm-up than [`begin`](Self::begin) made.
    ///
    /// # Errors
    ///
    /// As [`Stopwatch::warm_up`].
    pub fn settle(
        &mut self,
        options: &Options<'_>,
        watch: &Stopwatch<'_>,
        subject: &Subject<'_>,
    ) -> Result<(), Failure<'static>> {
        self.warm_up.estimate_ns = watch.estimate(subject, &mut self.node)?;
        self.choose_hops(options, watch);
        Ok(())
    }

    fn choose_hops(&mut self, options: &Options<'_>, watch: &Stopwatch<'_>) {
        self.hops = match options.iters {
            Some(iters) => iters.get(),
            None => watch.hops_per_batch(self.warm_up.estimate_ns),
        };
    }

    /// A later visit, to a chase that is warm: one round, which goes to `kept`.
    ///
    /// # Errors
    ///
    /// As [`Stopwatch::round`].
    pub fn advance(
        &mut self,
        options: &Options<'_>,
        watch: &mut Stopwatch<'_>,
        subject: &Subject<'_>,
        kept: &mut [Round],
        pace: &Pace,
    ) -> Result<(), Failure<'static>> {
        let trial_ns = self.hops as f64 * self.warm_up.estimate_ns;
        let round_limit = pace.limit_ns / pace.rounds as f64;
        let count = match options.trials {
            Some(trials) => {
                let trials = u64::from(trials.get());
                let rounds = trials.min(pace.rounds as u64);
                let index = self.rounds as u64;
                trials / rounds + u64::from(index < trials % rounds)
            }
            None => {
                let share = pace.round_ns.max(BATCHES * trial_ns).min(round_limit);
                (share / trial_ns.max(1.0)) as u64
            }
        };
        let cap = if options.trials.is_some() && !options.given.contains(FlagId::TimeLimit) {
            f64::INFINITY
        } else {
            round_limit * 2.0
        };
        let count = count.clamp(1, u64::from(u32::MAX)) as u32;
        let round = watch.round(subject, &mut self.node, self.hops, count, cap)?;
        let Some(slot) = kept.get_mut(self.rounds) else {
            self.done = true;
            return Ok(());
        };
        *slot = round;
        self.rounds += 1;
        self.trials += u64::from(round.batches);
        self.spent_ns += round.nanoseconds * self.hops as f64 * f64::from(round.batches);
        let made = kept.get(..self.rounds).unwrap_or_default();
        self.done = match options.trials {
            Some(trials) => {
                self.trials >= u64::from(trials.get()) || (cap.is_finite() && self.spent_ns >= pace.limit_ns)
            }
            None => {
                let mut precise =
                    || watch.summarise(made).is_some_and(|series| series.is_precise(options.precision));
                // Each trial by itself is longer than a whole round usually is.
                let enough = if count > 1 { pace.rounds } else { FEWEST_ROUNDS.min(pace.rounds) };
                self.spent_ns >= pace.limit_ns
                    || self.rounds == kept.len()
                    || self.rounds >= enough && precise()
            }
        };
        Ok(())
    }
}
