//! Leaves out points for whose intervals there is no time, so that all others have one.
//!
//! The duration of visits is known after the first round, and not before. Sizes are left out where visits are long and the
//! grid is dense, so that the range of sizes stays.

use core::ops::DerefMut;

use latency_core::chain::Order;
use latency_core::{Bytes, ToReal};

use crate::schedule::visit::State;
use crate::schedule::{Schedule, ScheduledPoint};
use crate::seam::Place;

/// The property of points that are left out together: size and stride, and whether the order is a local one.
type Kind = (Bytes, Bytes, bool);

impl<A: DerefMut<Target: Place>> Schedule<A> {
    /// Leaves out as many points as necessary for the others to have the minimum rounds in time.
    pub(super) fn thin(&mut self) {
        let is_rewritten = self.budget.long_visit_ns.is_finite();
        while is_rewritten && self.place.now_ns() + self.lacking_ns(None) > self.budget.intervals_by_ns {
            let Some(least) = self.least_needed() else { return };
            for entry in self.entries.iter_mut().filter(|entry| kind(entry) == least) {
                entry.state = State { done: true, ..State::default() };
            }
        }
    }

    /// Returns the nanoseconds of the rounds that all points or those of one kind lack for an interval.
    fn lacking_ns(&self, only: Option<Kind>) -> f64 {
        let open = self.entries.iter().filter(|entry| !entry.state.done);
        let open = open.filter(|entry| only.is_none_or(|only| kind(entry) == only));
        open.map(|ScheduledPoint { state, .. }| {
            visit_ns(state) * self.budget.fewest.saturating_sub(state.rounds).real()
        })
        .sum()
    }

    /// Returns the kind of points that has the most time for its distance between the next smaller and the next larger
    /// size. The smallest and the largest size stay, but for local orders.
    fn least_needed(&self) -> Option<Kind> {
        /// The distance of sizes that double, which counts for local orders.
        const DOUBLED: f64 = 3.0;
        let kept = || self.entries.iter().filter(|entry| !entry.state.done || entry.state.rounds > 0);
        let distance = |(size, _, is_local): Kind| {
            let sizes = || kept().map(|entry| entry.point.size);
            let below = sizes().filter(|other| *other < size).max();
            let above = sizes().filter(|other| *other > size).min();
            let between = below.zip(above).map(|(below, above)| above.0.real() / below.0.real() - 1.0);
            between.or(is_local.then_some(DOUBLED))
        };
        let mut most = (0.0, None);
        for kind in kept().map(kind) {
            let gain = distance(kind).map_or(0.0, |distance| self.lacking_ns(Some(kind)) / distance);
            if gain > most.0 {
                most = (gain, Some(kind));
            }
        }
        most.1
    }
}

/// Returns the kind by which a point is left out.
fn kind(entry: &ScheduledPoint) -> Kind {
    let point = &entry.point;
    (point.size, point.stride, matches!(point.order, Order::Local(_)))
}

/// Returns the nanoseconds of a further visit, with the time in which its chain is written; 0 before the first visit.
fn visit_ns(state: &State) -> f64 {
    /// Duration of a later visit, as a share of the first one, which includes the warm-up.
    const LATER: f64 = 0.5;
    match state.rounds {
        0 => 0.0,
        1 => LATER * state.first_ns,
        made => (state.spent_ns - state.first_ns) / (made - 1).real(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{Budget, FEWEST_ROUNDS, PLACES};
    use crate::progress::Progress;
    use crate::schedule::tests::point;
    use crate::tests::simulated::place::{Fake, Hop};
    use latency_core::words::When;
    use std::boxed::Box;
    use std::vec::Vec;

    /// Runs working sets from 1 to 512 MiB, those from 32 MiB on in memory of this latency, with intervals by this
    /// time, and returns their sizes in MiB with their rounds, and the duration.
    fn run(hop_ns: f64, intervals_by_ns: f64) -> (Vec<(u64, usize)>, f64) {
        let budget = Budget { intervals_by_ns, ..Budget::DEFAULT.rewritten(PLACES).within(2e9, 10) };
        let latency = |hop: Hop| if hop.nodes * 64 < 32 << 20 { 10.0 } else { hop_ns };
        let points = (0..10).map(|doublings| point(Bytes(1 << (20 + doublings))));
        let mut fake = Fake::new(&budget, latency);
        fake.byte_ns = 0.3;
        let mut schedule = Schedule::new(Box::new(fake), budget, &point(Bytes::MIB), points).unwrap();
        schedule.run(&mut Progress::new(When::Never)).unwrap();
        let entries = schedule.entries.iter();
        let rounds = entries.map(|entry| (entry.point.size.0 >> 20, entry.state.rounds)).collect();
        (rounds, schedule.place.now_ns)
    }

    #[test]
    fn every_point_that_stays_has_an_interval_in_time() {
        for (hop_ns, by_ns, left_out) in
            [(100.0, 6e9, 0..=0), (100.0, 3.5e9, 1..=3), (200.0, 3.5e9, 1..=4), (400.0, 3.5e9, 2..=6)]
        {
            let (rounds, lasted_ns) = run(hop_ns, by_ns);
            let without = rounds.iter().filter(|(_, rounds)| *rounds == 0).count();
            assert!(left_out.contains(&without), "{hop_ns} {by_ns}: {rounds:?} in {lasted_ns}");
            assert!(rounds.iter().all(|(_, made)| *made == 0 || *made >= FEWEST_ROUNDS), "{rounds:?}");
            // The ends of the range stay, whatever they last.
            assert!(rounds[0].1 > 0 && rounds[9].1 > 0, "{rounds:?}");
            assert!(lasted_ns < 1.1 * by_ns, "{hop_ns} {by_ns}: {rounds:?} in {lasted_ns}");
        }
    }

    #[test]
    fn a_run_alone_keeps_all_points() {
        let (rounds, _) = run(400.0, f64::INFINITY);
        assert!(rounds.iter().all(|(_, made)| *made > 0), "{rounds:?}");
    }
}
