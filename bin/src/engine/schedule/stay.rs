//! A stay at one point for some seconds, so that the user can observe the machine meanwhile.

use core::ops::DerefMut;
use latency_core::math::ToReal;

use crate::engine::schedule::summariser::MOST_BATCHES;
use crate::engine::schedule::walks::hops_per_batch;
use crate::engine::schedule::{Schedule, ScheduledPoint};
use crate::engine::seam::Place;
use crate::error::Attempt;
use crate::result::{Point, Round};

const SECOND_NS: f64 = 1e9;

impl<A: DerefMut<Target: Place>> Schedule<A> {
    /// Stays at a point for some seconds. Each second is a round, which is passed to `tell`; earlier rounds of the
    /// point are dropped.
    ///
    /// # Errors
    ///
    /// The errors of [`VisitRules::visit`](crate::engine::schedule::visit::VisitRules::visit), including an interrupt.
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

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::engine::progress::Progress;
    use crate::engine::schedule::tests::points;
    use crate::plan::Budget;
    use crate::tests::simulated::place::{Fake, Hop};
    use latency_core::words::When;

    /// Simulates two points in memory of 100 ns. The stay at the second point begins after a second, when hops become
    /// twice as long.
    fn held(seconds: usize, interrupt_ns: f64) -> (Vec<f64>, usize, bool) {
        let latency = |now_ns: f64| if now_ns < 2e9 { 100.0 } else { 200.0 };
        let mut fake = Fake::new(&Budget::DEFAULT, |hop: Hop| latency(hop.now_ns));
        fake.interrupt_ns = interrupt_ns;
        let like = points(1).next().unwrap();
        let mut schedule =
            Schedule::new(std::boxed::Box::new(fake), Budget::DEFAULT, &like, points(2)).unwrap();
        schedule.reach(&mut Progress::new(When::Never), 3).unwrap();
        assert_eq!(schedule.rounds(1).len(), 3);
        let begun_ns = 2e9;
        schedule.place.now_ns = begun_ns;
        let mut told = Vec::new();
        let ended = schedule.stay(1, seconds, &mut |point, round| {
            assert_eq!(point.size, points(2).nth(1).unwrap().size);
            told.push(round.nanoseconds);
        });
        let spent_s = (schedule.place.now_ns - begun_ns) / 1e9;
        assert!((spent_s - told.len() as f64).abs() < 0.6, "{spent_s}");
        assert_eq!(schedule.rounds(0).len(), 3);
        (told, schedule.rounds(1).len(), ended.is_err())
    }

    #[test]
    fn each_second_is_a_round_and_earlier_rounds_are_dropped() {
        let (told, rounds, interrupted) = held(5, f64::INFINITY);
        assert_eq!((told.as_slice(), rounds, interrupted), ([200.0; 5].as_slice(), 5, false));
    }

    #[test]
    fn an_interrupt_keeps_whole_seconds() {
        let (told, rounds, interrupted) = held(5, 5.5e9);
        assert!(interrupted && told.len() == rounds && (2..=3).contains(&rounds), "{rounds}");
    }
}
