//! A place with one real chain in front of a simulated cache, for tests of what turns of several chains leave in caches.
//!
//! While `place` is given the latency of each hop, here the lines of the chain decide: a line in the cache is fast.

use alloc::vec;
use alloc::vec::Vec;

use latency_core::Pcg32;
use latency_core::chain::Chain;

use crate::error::Attempt;
use crate::result::{Point, Software};
use crate::seam::{Batch, Condition, Place, Walkable, Walked, Walker};

/// Nanoseconds of a hop from the cache and from memory.
const HIT_NS: f64 = 10.0;
const MISS_NS: f64 = 110.0;

/// The rule by which a full cache chooses its victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// The least recently used line.
    Oldest,
    /// Any line.
    Any,
}

/// A fully associative cache of lines.
struct LineCache {
    victim: Victim,
    /// The lines in the cache; with [`Victim::Oldest`], each place has the places of the next older and newer one.
    lines: Vec<usize>,
    links: Vec<[usize; 2]>,
    /// The place of each line of memory.
    places: Vec<Option<usize>>,
    newest: usize,
    oldest: usize,
    used: usize,
    rng: Pcg32,
}

/// No place.
const NONE: usize = usize::MAX;

impl LineCache {
    fn new(victim: Victim, capacity: usize, lines: usize) -> Self {
        LineCache {
            victim,
            lines: vec![NONE; capacity],
            links: vec![[NONE; 2]; capacity],
            places: vec![None; lines],
            newest: NONE,
            oldest: NONE,
            used: 0,
            rng: Pcg32::new(5, 5),
        }
    }

    /// Takes a place out of the order of use.
    fn unlink(&mut self, place: usize) {
        let [older, newer] = self.links[place];
        match newer {
            NONE => self.newest = older,
            newer => self.links[newer][0] = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.links[older][1] = newer,
        }
    }

    /// Makes a place the newest.
    fn link(&mut self, place: usize) {
        self.links[place] = [self.newest, NONE];
        match self.newest {
            NONE => self.oldest = place,
            newest => self.links[newest][1] = place,
        }
        self.newest = place;
    }

    /// Loads a line; returns true if the cache has it.
    fn load(&mut self, line: usize) -> bool {
        if let Some(place) = self.places[line] {
            self.unlink(place);
            self.link(place);
            return true;
        }
        let place = match self.used == self.lines.len() {
            false => {
                self.used += 1;
                self.used - 1
            }
            true => {
                let place = match self.victim {
                    Victim::Oldest => self.oldest,
                    Victim::Any => self.rng.below(self.lines.len() as u32) as usize,
                };
                self.unlink(place);
                self.places[self.lines[place]] = None;
                place
            }
        };
        (self.lines[place], self.places[line]) = (line, Some(place));
        self.link(place);
        false
    }
}

/// A chain, the cache, and simulated time.
pub struct CachedChain {
    chain: Chain,
    cache: LineCache,
    nodes: [u64; 5],
    number: usize,
    now_ns: f64,
    again: bool,
    /// Hops in timed batches and hits among them, of the random chain and of grouped chains.
    pub timed: [(u64, u64); 2],
}

impl CachedChain {
    /// Returns a chain of `lines` lines in front of an empty cache with room for a part of them.
    pub fn new(chain: Chain, lines: usize, cached: usize, victim: Victim) -> Self {
        let first = |number: usize| chain.cycle(number).map_or(0, |(first, _)| first);
        CachedChain {
            chain,
            cache: LineCache::new(victim, cached, lines),
            nodes: core::array::from_fn(first),
            number: 0,
            now_ns: 0.0,
            again: false,
            timed: [(0, 0); 2],
        }
    }

    fn hops(&mut self, hops: u64) -> u64 {
        let mut node = self.nodes[self.number];
        let mut hits = 0;
        for _ in 0..hops {
            node = self.chain.next(node);
            hits += u64::from(self.cache.load((self.chain.offset(node) / 64) as usize));
        }
        self.nodes[self.number] = node;
        hits
    }
}

impl Walkable for CachedChain {
    fn nodes(&self) -> u64 {
        self.chain.nodes()
    }

    fn lanes(&self) -> Option<usize> {
        None
    }

    fn condition(&self) -> Condition {
        if self.again && !self.is_split() { Condition::Undisturbed } else { Condition::Disturbed }
    }

    fn is_split(&self) -> bool {
        self.chain.is_split()
    }

    fn turn_to(&mut self, chain: usize) {
        self.number = chain;
    }

    fn walk(&mut self, hops: u64, _: f64) -> Attempt<Walked> {
        let hits = self.hops(hops);
        let spent_ns = hits as f64 * HIT_NS + (hops - hits) as f64 * MISS_NS;
        self.now_ns += spent_ns;
        Ok((hops, spent_ns))
    }

    fn batch(&mut self, hops: u64, until_ns: f64) -> Attempt<Batch> {
        let (_, spent_ns) = self.walk(hops, until_ns)?;
        let hits = (hops as f64 * MISS_NS - spent_ns) / (MISS_NS - HIT_NS);
        let (all, hit) = &mut self.timed[usize::from(self.number > 0)];
        (*all, *hit) = (*all + hops, *hit + hits.round() as u64);
        Ok(Batch { nanoseconds: spent_ns / hops as f64, hops, ..Batch::NONE })
    }

    fn now_ns(&self) -> f64 {
        self.now_ns
    }

    fn interrupted(&self) -> bool {
        false
    }

    fn batch_ns(&self) -> f64 {
        1e5
    }

    fn software(&mut self) -> Software {
        Software::default()
    }
}

impl Place for CachedChain {
    fn with_chain(&mut self, _: usize, _: &Point, _: u64, walker: &mut Walker<'_>) -> Attempt {
        let walked = walker(self);
        self.again = true;
        walked
    }

    fn now_ns(&self) -> f64 {
        self.now_ns
    }

    fn pause(&mut self, until_ns: f64) -> Attempt {
        self.now_ns = self.now_ns.max(until_ns);
        Ok(())
    }
}
