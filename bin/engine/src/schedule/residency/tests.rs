//! Sets in a simulated cache, in simulated time.

use std::vec;
use std::vec::Vec;

use latency_core::buffer::TimedHops;
use latency_core::words::When;

use super::*;
use crate::budget::Budget;
use crate::result::{Point, Software};
use crate::schedule::tests::points;
use crate::seam::{Batch, Walkable, Walked, Walker};

/// Nanoseconds of a load from the cache and from memory, and of a load by many lanes.
const TIMES_NS: [f64; 3] = [20.0, 100.0, 8.0];
/// Size of a set.
const SIZE: Bytes = Bytes(256 << 10);

/// A cache, and a chain in address order, which is written again for each visit.
struct SimulatedCache {
    /// Bytes of the largest set that the cache holds.
    capacity: Bytes,
    /// Nanoseconds after which a line leaves.
    keeps_ns: f64,
    /// Single loads throw out each line whose number is a multiple of this; 0 for none.
    thrown: usize,
    now_ns: f64,
    /// The time at which each line was loaded.
    loaded_ns: Vec<f64>,
    node: usize,
    /// True if the page tables are in a cache.
    translated: bool,
}

impl SimulatedCache {
    fn new(capacity: Bytes, keeps_ns: f64) -> SimulatedCache {
        let now_ns = 0.0;
        SimulatedCache {
            capacity,
            keeps_ns,
            thrown: 0,
            now_ns,
            loaded_ns: vec![],
            node: 0,
            translated: false,
        }
    }

    /// Loads a line, and returns true if the cache had it.
    fn load(&mut self) -> bool {
        let count = self.loaded_ns.len();
        let fits = count as u64 * 64 <= self.capacity.0;
        let line = &mut self.loaded_ns[self.node];
        let is_hit = fits && self.now_ns - *line < self.keeps_ns;
        self.now_ns += TIMES_NS[usize::from(!is_hit)];
        *line = self.now_ns;
        self.node = (self.node + 1) % count;
        is_hit
    }
}

impl Walkable for SimulatedCache {
    fn nodes(&self) -> u64 {
        self.loaded_ns.len() as u64
    }

    fn lanes(&self) -> Option<usize> {
        None
    }

    fn walk(&mut self, hops: u64, _: f64) -> Attempt<Walked> {
        let begun_ns = self.now_ns;
        (0..hops).for_each(|_| _ = self.load());
        Ok((hops, self.now_ns - begun_ns))
    }

    fn batch(&mut self, hops: u64, until_ns: f64) -> Attempt<Batch> {
        let (hops, spent_ns) = self.walk(hops, until_ns)?;
        Ok(Batch { nanoseconds: spent_ns / hops as f64, hops, ..Batch::NONE })
    }

    fn rush(&mut self, hops: u64, _: f64) -> Attempt<Option<Walked>> {
        let lane = self.loaded_ns.len() / 16;
        let (begun_ns, spent_ns) = (self.now_ns, hops as f64 * TIMES_NS[2]);
        for (node, line) in self.loaded_ns.iter_mut().enumerate() {
            *line = begun_ns + spent_ns * (node % lane) as f64 / lane as f64;
        }
        self.now_ns += spent_ns;
        self.translated = true;
        Ok(Some((hops, spent_ns)))
    }

    fn each(&mut self, samples: &mut [TimedHops]) -> Attempt<bool> {
        for (number, sample) in samples.iter_mut().enumerate() {
            let is_hit = self.load();
            // Page tables are in the cache of the core only after the fill.
            let slower = 1 + u32::from(!self.translated && number % 8 > 1);
            *sample = TimedHops { window: (if is_hit { 60 } else { 200 }) * slower, ..TimedHops::default() };
        }
        if self.thrown > 0 {
            self.loaded_ns.iter_mut().step_by(self.thrown).for_each(|line| *line = f64::NEG_INFINITY);
        }
        Ok(true)
    }

    fn rewind(&mut self, part: u64) {
        self.node = self.loaded_ns.len() / 16 * part as usize;
    }

    fn now_ns(&self) -> f64 {
        self.now_ns
    }

    /// An interrupt comes in each millisecond.
    fn idle(&mut self, until_ns: f64) -> Attempt<u64> {
        let waited_ns = until_ns - self.now_ns;
        self.now_ns = until_ns;
        Ok((waited_ns / 1e6) as u64)
    }

    fn batch_ns(&self) -> f64 {
        1e5
    }

    fn software(&mut self) -> Software {
        Software::default()
    }
}

impl Place for SimulatedCache {
    fn with_chain(&mut self, _: usize, point: &Point, _: u64, walker: &mut Walker<'_>) -> Attempt {
        self.loaded_ns = vec![f64::NEG_INFINITY; (point.size.0 / 64) as usize];
        self.translated = false;
        walker(self)
    }

    fn now_ns(&self) -> f64 {
        self.now_ns
    }

    fn pause(&mut self, until_ns: f64) -> Attempt {
        self.now_ns = until_ns;
        Ok(())
    }
}

/// Returns the shares of sets in a cache.
fn shares(cache: &mut SimulatedCache, sizes: &[Bytes]) -> Vec<Residence> {
    let points = points(1).cycle().zip(sizes).map(|(point, &size)| Point { size, ..point });
    let place: &mut dyn Place = cache;
    let like = points.clone().next().unwrap();
    let mut schedule = Schedule::new(place, Budget::DEFAULT, &like, points).unwrap();
    let limits = ResidencyLimits { near: Bytes(0), spent_ns: 20e9, rounds: None };
    let mut found = Table::new(MOST).unwrap();
    search(&mut Progress::new(When::Never), &mut schedule, limits, &mut found).unwrap();
    found.to_vec()
}

#[test]
fn a_cache_that_keeps_everything_loses_no_line_in_any_wait() {
    let found = shares(&mut SimulatedCache::new(SIZE, f64::INFINITY), &[SIZE]);
    assert!(found.iter().all(|point| point.share.value == 1.0), "{found:?}");
    assert!(found.last().is_some_and(|point| point.after_ns > 0.5e9), "{found:?}");
}

#[test]
fn waits_narrow_the_age_at_which_all_lines_leave() {
    let found = shares(&mut SimulatedCache::new(SIZE, 5e6), &[SIZE]);
    let gone = found.iter().position(|point| point.share.value <= 0.5).expect("lines that left");
    let [held, gone] = [gone - 1, gone].map(|index| found[index]);
    assert!(held.after_ns > 3.9e6 && gone.after_ns < 5.1e6, "{held:?} {gone:?}");
    assert!(found.iter().all(|point| [0.0, 1.0].contains(&point.share.value)), "{found:?}");
}

#[test]
fn loads_that_wait_for_page_tables_do_not_make_others_look_like_hits() {
    // Before the fill, three of four loads wait for page tables, too; after it, loads from memory take half of that.
    let both = [SIZE, SIZE.times(4)];
    let found = shares(&mut SimulatedCache::new(SIZE, f64::INFINITY), &both);
    let of = |size: Bytes| found.iter().filter(move |point| point.size == size);
    assert!(of(both[0]).count() > 9 && of(both[0]).all(|point| point.share.value == 1.0), "{found:?}");
    assert!(of(both[1]).count() > 0 && of(both[1]).all(|point| point.share.value == 0.0), "{found:?}");
    // Without any hit there is no result.
    assert!(shares(&mut SimulatedCache::new(Bytes(0), 0.0), &both).is_empty());
}

#[test]
fn a_second_look_finds_what_the_first_one_left() {
    let mut cache = SimulatedCache::new(SIZE, f64::INFINITY);
    let quiet = shares(&mut cache, &[SIZE]);
    assert_eq!(quiet[0].again.share.value, 1.0);
    assert!(quiet.iter().skip(1).all(|point| point.again.share.value.is_nan()));
    cache.thrown = 4;
    let found = shares(&mut cache, &[SIZE]);
    let again = found[0].again;
    assert!((again.share.value - 0.75).abs() < 0.01 && again.after_ns > found[0].after_ns, "{again:?}");
    let later = found.iter().find(|point| point.after_ns >= again.after_ns).expect("a later point");
    assert!(later.share.is_beyond(again.share), "{later:?} {again:?}");
}

#[test]
fn interrupts_during_all_waits_are_counted() {
    let found = shares(&mut SimulatedCache::new(SIZE, f64::INFINITY), &[SIZE]);
    for point in found {
        assert_eq!(point.interrupts, point.visits as u64 * (point.wait_ns / 1e6) as u64, "{point:?}");
    }
}
