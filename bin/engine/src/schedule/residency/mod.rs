//! The share of a working set that a shared cache still holds after a wait.
//!
//! Many lanes load the set, which fills the cache as fast as the core can. After a wait, single random loads of some of
//! its lines are timed: those that take less than halfway between a hit and a load from memory were still there. The
//! lines that are loaded are those at the start of a lane, which the private caches have lost to the rest of the set.
//! Without a wait, a second look at lines of another lane shows what the loads of the first one have thrown out.

use latency_core::buffer::TimedHops;
use latency_core::stats::{gather, mean_of_series};
use latency_core::{Bytes, Estimate, Interval, Pcg32, ToReal, sort_by, sort_by_key};

use crate::budget::{FILLING_LAPS, LONGEST_FILL_NS};
use crate::error::Attempt;
use crate::progress::Progress;
use crate::result::{Residence, SecondLook};
use crate::schedule::{Schedule, position_of};
use crate::seam::{Place, RUSHING_LANES, Walkable};
use latency_sys::Table;

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
    let sets = schedule.count();
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
            .with_chain(index, &point, position, &mut |chain| make_visit(chain, &terms, &mut visit))?;
        Ok(visit)
    }
}

#[cfg(test)]
mod tests;

/// Number of lanes that fill the cache.
const LANES: u64 = RUSHING_LANES as u64;
/// Maximum single loads at a look, and maximum loads before them that bring in page tables.
const SAMPLES: usize = 1024;
const WARM_UP: u64 = 512;
/// Fraction of the samples right after the fill that are surely hits, if there are any; and of those before the fill
/// that are loads from memory alone. The others may wait for page tables, too: where the host of a guest has small
/// pages, half of the loads of a large set took twice as long as memory does.
const SURE: usize = 10;
/// The lanes whose first lines are loaded before the fill, after the wait, and for a second look.
const BEFORE: u64 = 0;
const AFTER: u64 = LANES / 2;
const AGAIN: u64 = LANES * 3 / 4;

/// The share of lines that a look found in the cache, and the mean nanoseconds since they were loaded.
#[derive(Clone, Copy, Debug)]
struct LookFound {
    share: f64,
    after_ns: f64,
}

/// The conditions of a visit.
#[derive(Clone, Copy, Debug)]
struct VisitTerms {
    /// The size of the private caches.
    near: Bytes,
    /// The size of a line.
    line: Bytes,
    /// Nanoseconds between the fill and the look.
    wait_ns: f64,
    /// The ticks of a load that is surely in the cache.
    hit_ticks: u32,
}

/// A visit: the ticks of a load in the cache and in the memory, and the shares of lines found in the cache.
#[derive(Clone, Copy, Debug, Default)]
struct ResidencyVisit {
    hit_ticks: Option<u32>,
    memory_ticks: u32,
    look: Option<LookFound>,
    /// The look at other lines right after it, at visits without a wait.
    again: Option<LookFound>,
    /// Interrupts that were seen during the wait.
    interrupts: u64,
    /// True if the kernel gave the CPU to another task during the wait.
    switched: bool,
}

/// Room for the samples of a look.
struct LookRoom {
    warm_up: u64,
    count: usize,
    samples: [TimedHops; SAMPLES],
    ticks: [u32; SAMPLES],
}

impl LookRoom {
    /// Loads the first lines of a lane, and times as many of them as there is room for. Returns the time in the middle,
    /// and the ticks of the loads that nothing interrupted, in ascending order; `None` without a counter.
    fn look(&mut self, chain: &mut dyn Walkable, lane: u64) -> Attempt<Option<(f64, &[u32])>> {
        let samples = self.samples.get_mut(..self.count).unwrap_or_default();
        chain.rewind(lane);
        chain.walk(self.warm_up, f64::INFINITY)?;
        let first_ns = chain.now_ns();
        if !chain.each(samples)? {
            return Ok(None);
        }
        let middle_ns = first_ns.midpoint(chain.now_ns());
        let counted = samples.iter().filter(|sample| !sample.interrupted);
        let ticks = gather(&mut self.ticks, counted.map(|sample| sample.window));
        sort_by_key(ticks, |ticks| *ticks);
        Ok(Some((middle_ns, ticks)))
    }
}

/// Makes a visit to a chain that was just written past the caches.
///
/// # Errors
///
/// The errors of a walk, including an interrupt.
fn make_visit(chain: &mut dyn Walkable, terms: &VisitTerms, visit: &mut ResidencyVisit) -> Attempt {
    // A third of the lines of a lane that no private cache holds is enough for each part.
    let lane = chain.nodes() / LANES;
    let part = lane.saturating_sub(terms.near.0 / terms.line.0.max(1) / LANES) / 3;
    let (warm_up, count) = (part.min(WARM_UP), part.min(SAMPLES as u64) as usize);
    if count < SURE {
        return Ok(());
    }
    let mut room = LookRoom { warm_up, count, samples: [TimedHops::default(); SAMPLES], ticks: [0; SAMPLES] };
    // The part that is loaded from memory is not that which is loaded after the wait.
    let Some((_, memory)) = room.look(chain, BEFORE)? else { return Ok(()) };
    visit.memory_ticks = sure(memory).unwrap_or_default();
    let threshold = terms.hit_ticks.midpoint(visit.memory_ticks);
    let by_chance = share(memory, threshold);
    let begun_ns = chain.now_ns();
    let mut lap = (begun_ns, begun_ns);
    for _ in 0..FILLING_LAPS {
        let lap_ns = chain.now_ns();
        if lap_ns - begun_ns > LONGEST_FILL_NS {
            break;
        }
        if chain.rush(chain.nodes(), f64::INFINITY)?.is_none() {
            return Ok(());
        }
        lap = (lap_ns, chain.now_ns());
    }
    let before = chain.software().switches;
    visit.interrupts = chain.idle(lap.1 + terms.wait_ns)?;
    visit.switched = chain.software().switches != before;
    let place = (warm_up.real() + count.real() / 2.0) / lane.max(1).real();
    let loaded_ns = lap.0 + (lap.1 - lap.0) * place;
    for lane in [AFTER, AGAIN] {
        let Some((middle_ns, ticks)) = room.look(chain, lane)? else { break };
        // Some loads from memory are as fast as hits.
        let share = ((share(ticks, threshold) - by_chance) / (1.0 - by_chance)).max(0.0);
        let look = Some(LookFound { share, after_ns: middle_ns - loaded_ns });
        if lane == AGAIN {
            visit.again = look;
        } else {
            visit.look = look;
            visit.hit_ticks = sure(ticks);
        }
        if terms.wait_ns > 0.0 {
            break;
        }
    }
    Ok(())
}

/// Returns the tick that a tenth of ascending ticks are below.
fn sure(ticks: &[u32]) -> Option<u32> {
    ticks.get(ticks.len() / SURE).copied()
}

/// Returns the share of ascending ticks below a threshold.
fn share(ticks: &[u32], threshold: u32) -> f64 {
    ticks.partition_point(|ticks| *ticks < threshold).real() / ticks.len().real()
}
