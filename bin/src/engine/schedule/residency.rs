//! The share of a working set that a shared cache still holds after a wait.
//!
//! Many lanes load the set, which fills the cache as fast as the core can. After a wait, single random loads of some of
//! its lines are timed: those that take less than halfway between a hit and a load from memory were still there. The
//! lines that are loaded are those at the start of each lane, which the private caches have lost to the rest of the set.

use latency_core::buffer::TimedHops;
use latency_core::rng::Pcg32;
use latency_core::sort;
use latency_core::stats::{Estimate, Interval, mean_of_series};
use latency_core::units::Bytes;

use crate::engine::progress::Progress;
use crate::engine::schedule::{Schedule, position_of};
use crate::engine::seam::{Place, RUSHING_LANES, Walkable};
use crate::error::Failure;
use crate::plan::budget::{FILLING_LAPS, LONGEST_FILL_NS};
use crate::result::residency::Residence;
use crate::sys::table::List;

/// Number of lanes that fill the cache.
const LANES: u64 = RUSHING_LANES as u64;
/// Maximum rounds of a wait, and minimum rounds if time is short.
const ROUNDS: (usize, usize) = (15, 7);
/// Nanoseconds of the shortest wait, beside none, and of the longest.
const WAITS_NS: (f64, f64) = (125e3, 1.024e9);
/// Maximum single loads at a visit, and maximum loads before them that bring in page tables.
const SAMPLES: usize = 1024;
const WARM_UP: u64 = 512;
/// Share of lines below which nothing is left, so that longer waits are left out.
const NOTHING: f64 = 0.03;
/// Rounds after which a wait may be left out.
const DECIDED: usize = 3;
/// Number of waits that are added for each set where its share falls to half, and the share of the time before them.
const ADDED: usize = 2;
const BEFORE_ADDED: f64 = 0.75;
/// Maximum time of a load that was in the cache, as a share of that from memory.
const HIT: f64 = 0.8;
/// Fraction of the samples right after the fill that are surely hits, if there are any.
const SURE: usize = 10;
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

/// A wait of one set, and its visits.
#[derive(Clone, Copy)]
struct WaitTimes {
    index: usize,
    wait_ns: f64,
    shares: [f64; ROUNDS.0],
    after: [f64; ROUNDS.0],
    made: usize,
    switched: usize,
}

/// One visit: ticks of a load in the memory and in the cache, the share of lines found there, and the time since they
/// were loaded.
struct ResidencyVisit {
    hit_ticks: u32,
    memory_ticks: u32,
    share: f64,
    after_ns: f64,
    switched: bool,
}

impl WaitTimes {
    const fn new(index: usize, wait_ns: f64) -> WaitTimes {
        let none = [f64::NAN; ROUNDS.0];
        WaitTimes { index, wait_ns, shares: none, after: none, made: 0, switched: 0 }
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    fn share(&self) -> f64 {
        WaitTimes::mean(self.shares.get(..self.made).unwrap_or_default())
    }

    fn result(&self, size: Bytes) -> Option<Residence> {
        let shares = self.shares.get(..self.made).filter(|shares| !shares.is_empty())?;
        let after_ns = WaitTimes::mean(self.after.get(..self.made)?);
        let within =
            |interval: Interval| Interval { low: interval.low.max(0.0), high: interval.high.min(1.0) };
        let share = Estimate { value: self.share(), interval: mean_of_series(shares).map(within) };
        let switched = self.switched as f64 / self.made as f64;
        Some(Residence { size, wait_ns: self.wait_ns, after_ns, share, visits: self.made, switched })
    }
}

/// Measures the shares of all sets of the schedule. The list is in the order of sets and waits; it is empty if no load
/// is faster than one from memory.
///
/// # Errors
///
/// The errors of a walk, including [`Failure::Interrupted`].
pub fn search(
    progress: &mut Progress,
    schedule: &mut Schedule<&mut dyn Place>,
    limits: ResidencyLimits,
    found: &mut List<Residence>,
) -> Result<(), Failure<'static>> {
    let sets = schedule.len();
    let begun_ns = schedule.place.now_ns();
    let until_ns = begun_ns + BEFORE_ADDED * limits.spent_ns;
    let mut search = ResidencySearch { schedule, limits, hit_ticks: u32::MAX, until_ns, visits: 0 };
    progress.say(format_args!("filling the shared cache"));
    // Without a hit, the threshold is unknown.
    for _ in 0..DECIDED {
        for index in 0..sets {
            let visit = search.visit(index, 0.0)?;
            if f64::from(visit.hit_ticks) < HIT * f64::from(visit.memory_ticks) {
                search.hit_ticks = search.hit_ticks.min(visit.hit_ticks);
            }
        }
    }
    if search.hit_ticks == u32::MAX {
        return Ok(());
    }
    let mut entries = List::new(MOST)?;
    // All waits of all sets together last twice as long as the longest ones.
    let longest_ns = BEFORE_ADDED * limits.spent_ns / (2 * ROUNDS.1 * sets.max(1)) as f64;
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
    sort::sort_by(&mut entries, |one, other| {
        one.index.cmp(&other.index).then(one.wait_ns.total_cmp(&other.wait_ns))
    });
    for entry in entries.iter() {
        let size = search.schedule.point(entry.index).map(|point| point.size);
        if let Some(result) = size.and_then(|size| entry.result(size)) {
            let _ = found.push(result);
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
    fn refine(&mut self, entries: &mut List<WaitTimes>, sets: usize) -> Result<(), Failure<'static>> {
        for _ in 0..ADDED {
            if self.schedule.place.now_ns() > self.until_ns {
                break;
            }
            let first = entries.len();
            for index in 0..sets {
                let mine = || entries.iter().filter(|entry| entry.index == index && entry.made >= ROUNDS.1);
                let shortest = mine().find(|entry| entry.wait_ns == 0.0);
                let half = shortest.map_or(f64::NAN, |entry| entry.share() / 2.0);
                let above = mine().filter(|entry| entry.share() > half).map(|entry| entry.wait_ns);
                let below = mine().filter(|entry| entry.share() <= half).map(|entry| entry.wait_ns);
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
    fn rounds(&mut self, entries: &mut [WaitTimes], first: usize) -> Result<(), Failure<'static>> {
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
                        && other.made >= DECIDED
                        && other.share() < NOTHING
                });
                if is_gone {
                    continue;
                }
                let visit = self.visit(entry.index, entry.wait_ns)?;
                let Some(entry) = entries.get_mut(place).filter(|_| visit.share.is_finite()) else {
                    continue;
                };
                let slots = entry.shares.get_mut(entry.made).zip(entry.after.get_mut(entry.made));
                if let Some((share, after)) = slots {
                    (*share, *after) = (visit.share, visit.after_ns);
                    entry.made += 1;
                    entry.switched += usize::from(visit.switched);
                }
            }
        }
        Ok(())
    }

    /// Fills the cache with a set, waits, and times single loads of some of its lines.
    fn visit(&mut self, index: usize, wait_ns: f64) -> Result<ResidencyVisit, Failure<'static>> {
        let mut visit = ResidencyVisit {
            hit_ticks: u32::MAX,
            memory_ticks: 0,
            share: f64::NAN,
            after_ns: 0.0,
            switched: false,
        };
        let Some(point) = self.schedule.point(index) else { return Ok(visit) };
        let (near, hit_ticks) = (self.limits.near, self.hit_ticks);
        let position = position_of(index, self.visits);
        self.visits += 1;
        self.schedule.place.with_chain(index, &point, position, &mut |chain| {
            one_visit(chain, near.0 / point.line.bytes().0.max(1), wait_ns, hit_ticks, &mut visit)
        })?;
        Ok(visit)
    }
}

/// Makes a visit to a chain that was just written past the caches.
fn one_visit(
    chain: &mut dyn Walkable,
    near: u64,
    wait_ns: f64,
    hit_ticks: u32,
    visit: &mut ResidencyVisit,
) -> Result<(), Failure<'static>> {
    // A third of the lines of a lane that no private cache holds is enough for each part.
    let lane = chain.nodes() / LANES;
    let part = lane.saturating_sub(near / LANES) / 3;
    let (warm_up, count) = (part.min(WARM_UP), part.min(SAMPLES as u64) as usize);
    let mut samples = [TimedHops::default(); SAMPLES];
    let Some(samples) = samples.get_mut(..count).filter(|samples| samples.len() >= SURE) else {
        return Ok(());
    };
    let mut ticks = [0; SAMPLES];
    // The part that is loaded from memory is not that which is loaded after the wait.
    chain.rewind(0);
    chain.walk(warm_up, f64::INFINITY)?;
    if !chain.each(samples)? {
        return Ok(());
    }
    let sorted = ascending(samples, &mut ticks);
    visit.memory_ticks = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
    let threshold = hit_ticks.midpoint(visit.memory_ticks);
    let by_chance = share(sorted, threshold);
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
    while chain.now_ns() < lap.1 + wait_ns {
        if chain.interrupted() {
            return Err(Failure::Interrupted);
        }
        core::hint::spin_loop();
    }
    visit.switched = chain.software().switches != before;
    chain.rewind(LANES / 2);
    chain.walk(warm_up, f64::INFINITY)?;
    let first_ns = chain.now_ns();
    if !chain.each(samples)? {
        return Ok(());
    }
    let middle_ns = first_ns.midpoint(chain.now_ns());
    let place = (warm_up as f64 + count as f64 / 2.0) / lane.max(1) as f64;
    visit.after_ns = middle_ns - (lap.0 + (lap.1 - lap.0) * place);
    let sorted = ascending(samples, &mut ticks);
    visit.hit_ticks = sorted.get(sorted.len() / SURE).copied().unwrap_or(u32::MAX);
    // Some loads from memory are as fast as hits.
    visit.share = ((share(sorted, threshold) - by_chance) / (1.0 - by_chance)).max(0.0);
    Ok(())
}

/// Returns the ticks of the samples that nothing interrupted, in ascending order.
fn ascending<'t>(samples: &[TimedHops], ticks: &'t mut [u32; SAMPLES]) -> &'t [u32] {
    let mut count = 0;
    let counted = samples.iter().filter(|sample| !sample.interrupted);
    for (slot, sample) in ticks.iter_mut().zip(counted) {
        *slot = sample.window;
        count += 1;
    }
    let ticks = ticks.get_mut(..count).unwrap_or_default();
    sort::sort_by(ticks, |one, other| one.cmp(other));
    ticks
}

/// Returns the share of ascending ticks below a threshold.
fn share(ticks: &[u32], threshold: u32) -> f64 {
    ticks.partition_point(|ticks| *ticks < threshold) as f64 / ticks.len() as f64
}
