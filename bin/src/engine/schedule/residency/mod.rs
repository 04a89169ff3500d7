//! The share of a working set that a shared cache still holds after a wait.
//!
//! Many lanes load the set, which fills the cache as fast as the core can. After a wait, single random loads of some of
//! its lines are timed: those that take less than halfway between a hit and a load from memory were still there. The
//! lines that are loaded are those at the start of a lane, which the private caches have lost to the rest of the set.
//! Without a wait, a second look at lines of another lane shows what the loads of the first one have thrown out.

mod visit;

use latency_core::math::ToReal;
use latency_core::rng::Pcg32;
use latency_core::sort::sort_by;
use latency_core::stats::{Estimate, Interval, mean_of_series};
use latency_core::units::Bytes;

use crate::engine::progress::Progress;
use crate::engine::schedule::residency::visit::{LookFound, ResidencyVisit, VisitTerms};
use crate::engine::schedule::{Schedule, position_of};
use crate::engine::seam::Place;
use crate::error::Attempt;
use crate::result::residency::{Residence, SecondLook};
use crate::sys::Table;

/// Maximum rounds of a wait, and minimum rounds if time is short.
const ROUNDS: (usize, usize) = (15, 7);
/// Nanoseconds of the shortest wait, beside none, and of the longest.
const WAITS_NS: (f64, f64) = (125e3, 1.024e9);
/// Share of lines below which nothing is left, so that longer waits are left out.
const NOTHING: f64 = 0.03;
/// Rounds after which a wait may be left out.
const DECIDED: usize = 3;
/// Number of waits that are added for each set where its share falls to half, and the share of the time before them.
const ADDED: usize = 2;
const BEFORE_ADDED: f64 = 0.75;
/// Maximum time of a load that was in the cache, as a share of that from memory.
const HIT: f64 = 0.8;
/// Maximum number of waits of all sets.
pub const MOST: usize = 128;

/// The limits of the measurement.
#[derive(Clone, Copy, Debug)]
pub struct ResidencyLimits {
    /// The size of the private caches.
    pub near: Bytes,
    /// Nanoseconds for all visits.
    pub spent_ns: f64,
    /// The number of rounds that the user requested.
    pub rounds: Option<u32>,
}

/// The looks at the lines of one set after one wait.
#[derive(Clone, Copy, Default)]
struct LookShares {
    shares: [f64; ROUNDS.0],
    /// The sum of the times since the lines were loaded.
    after_ns: f64,
    made: usize,
}

/// A wait of one set, and its visits.
#[derive(Clone, Copy, Default)]
struct WaitTimes {
    index: usize,
    wait_ns: f64,
    looks: LookShares,
    again: LookShares,
    interrupts: u64,
    switched: usize,
}

impl LookShares {
    /// Adds a look; returns false without one, and without room.
    fn add(&mut self, look: Option<LookFound>) -> bool {
        let look = look.filter(|look| look.share.is_finite());
        let (Some(look), Some(share)) = (look, self.shares.get_mut(self.made)) else { return false };
        *share = look.share;
        self.after_ns += look.after_ns;
        self.made += 1;
        true
    }

    fn share(&self) -> f64 {
        self.shares.iter().sum::<f64>() / self.made.real()
    }

    fn result(&self) -> SecondLook {
        let within =
            |interval: Interval| Interval { low: interval.low.max(0.0), high: interval.high.min(1.0) };
        let interval = mean_of_series(self.shares.get(..self.made).unwrap_or_default()).map(within);
        let share = Estimate { value: self.share(), interval };
        SecondLook { after_ns: self.after_ns / self.made.real(), share }
    }
}

impl WaitTimes {
    fn new(index: usize, wait_ns: f64) -> WaitTimes {
        WaitTimes { index, wait_ns, ..WaitTimes::default() }
    }

    fn result(&self, size: Bytes) -> Residence {
        let SecondLook { after_ns, share } = self.looks.result();
        let visits = self.looks.made;
        Residence {
            size,
            wait_ns: self.wait_ns,
            after_ns,
            share,
            again: self.again.result(),
            visits,
            interrupts: self.interrupts,
            switched: self.switched.real() / visits.real(),
        }
    }
}

/// Measures the shares of all sets of the schedule. The list is in the order of sets and waits; it is empty if no load
/// is faster than one from memory.
///
/// # Errors
///
/// The errors of a walk, including an interrupt.
pub fn search(
    progress: &mut Progress,
    schedule: &mut Schedule<&mut dyn Place>,
    limits: ResidencyLimits,
    found: &mut Table<Residence>,
) -> Attempt {
    let sets = schedule.len();
    let begun_ns = schedule.place.now_ns();
    let until_ns = begun_ns + BEFORE_ADDED * limits.spent_ns;
    let mut search = ResidencySearch { schedule, limits, hit_ticks: u32::MAX, until_ns, visits: 0 };
    progress.say(format_args!("filling the shared cache"));
    // Without a hit, the threshold is unknown.
    for _ in 0..DECIDED {
        for index in 0..sets {
            let visit = search.visit(index, 0.0)?;
            let is_hit = |ticks: &u32| f64::from(*ticks) < HIT * f64::from(visit.memory_ticks);
            search.hit_ticks = search.hit_ticks.min(visit.hit_ticks.filter(is_hit).unwrap_or(u32::MAX));
        }
    }
    if search.hit_ticks == u32::MAX {
        return Ok(());
    }
    let mut entries = Table::new(MOST)?;
    // All waits of all sets together last twice as long as the longest ones.
    let longest_ns = BEFORE_ADDED * limits.spent_ns / (2 * ROUNDS.1 * sets.max(1)).real();
    for index in 0..sets {
        let mut wait_ns = WAITS_NS.0;
        let _ = entries.push(WaitTimes::new(index, 0.0));
        while wait_ns <= WAITS_NS.1.min(longest_ns) {
            let _ = entries.push(WaitTimes::new(index, wait_ns));
            wait_ns *= 2.0;
        }
    }
    progress.say(format_args!("waiting for lines to leave the shared cache"));
    let rounds = search.rounds(&mut entries, 0);
    search.until_ns = begun_ns + limits.spent_ns;
    // What was measured before an interrupt is kept.
    let ended = rounds.and_then(|()| search.refine(&mut entries, sets));
    sort_by(&mut entries, |one, other| {
        one.index.cmp(&other.index).then(one.wait_ns.total_cmp(&other.wait_ns))
    });
    for entry in entries.iter().filter(|entry| entry.looks.made > 0) {
        if let Some(point) = search.schedule.point(entry.index) {
            let _ = found.push(entry.result(point.size));
        }
    }
    progress.clear();
    ended
}

/// A search in progress.
struct ResidencySearch<'s, 'p> {
    schedule: &'s mut Schedule<&'p mut dyn Place>,
    limits: ResidencyLimits,
    /// The ticks of a load that is surely in the cache.
    hit_ticks: u32,
    until_ns: f64,
    /// The number of visits so far, by which positions are chosen.
    visits: usize,
}

impl ResidencySearch<'_, '_> {
    /// Adds waits where the share of a set falls to half.
    fn refine(&mut self, entries: &mut Table<WaitTimes>, sets: usize) -> Attempt {
        for _ in 0..ADDED {
            if self.schedule.place.now_ns() > self.until_ns {
                break;
            }
            let first = entries.len();
            for index in 0..sets {
                let mine =
                    || entries.iter().filter(|entry| entry.index == index && entry.looks.made >= ROUNDS.1);
                let shortest = mine().find(|entry| entry.wait_ns == 0.0);
                let half = shortest.map_or(f64::NAN, |entry| entry.looks.share() / 2.0);
                let above = mine().filter(|entry| entry.looks.share() > half).map(|entry| entry.wait_ns);
                let below = mine().filter(|entry| entry.looks.share() <= half).map(|entry| entry.wait_ns);
                let (low, high) = (above.fold(f64::NAN, f64::max), below.fold(f64::NAN, f64::min));
                if low < high {
                    let _ = entries.push(WaitTimes::new(index, (low + high) / 2.0));
                }
            }
            self.rounds(entries, first)?;
        }
        Ok(())
    }

    /// Visits the entries from `first` on in shuffled rounds; long waits after which nothing is left are left out.
    fn rounds(&mut self, entries: &mut [WaitTimes], first: usize) -> Attempt {
        let mut rng = Pcg32::new(first as u64, 0x7265_7369);
        let most = self.limits.rounds.map_or(ROUNDS.0, |rounds| ROUNDS.0.min(rounds as usize));
        for round in 0..most {
            if round >= ROUNDS.1 && self.schedule.place.now_ns() > self.until_ns {
                break;
            }
            rng.shuffle(entries.get_mut(first..).unwrap_or_default());
            for place in first..entries.len() {
                let Some(&entry) = entries.get(place) else { continue };
                let is_gone = entries.iter().any(|other| {
                    other.index == entry.index
                        && other.wait_ns < entry.wait_ns
                        && other.looks.made >= DECIDED
                        && other.looks.share() < NOTHING
                });
                if is_gone {
                    continue;
                }
                let visit = self.visit(entry.index, entry.wait_ns)?;
                let Some(entry) = entries.get_mut(place) else { continue };
                if entry.looks.add(visit.look) {
                    entry.again.add(visit.again);
                    entry.interrupts += visit.interrupts;
                    entry.switched += usize::from(visit.switched);
                }
            }
        }
        Ok(())
    }

    /// Fills the cache with a set, waits, and times single loads of some of its lines.
    fn visit(&mut self, index: usize, wait_ns: f64) -> Attempt<ResidencyVisit> {
        let mut visit = ResidencyVisit::default();
        let Some(point) = self.schedule.point(index) else { return Ok(visit) };
        let near = self.limits.near;
        let terms = VisitTerms { near, line: point.line.bytes(), wait_ns, hit_ticks: self.hit_ticks };
        let position = position_of(index, self.visits);
        self.visits += 1;
        self.schedule
            .place
            .with_chain(index, &point, position, &mut |chain| visit::make(chain, &terms, &mut visit))?;
        Ok(visit)
    }
}

#[cfg(test)]
mod tests;
