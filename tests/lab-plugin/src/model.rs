//! The machine that the guest is to see: from the addresses of a load to the
//! ticks that it takes.
//!
//! Each virtual CPU has its own TLB, prefetcher and caches; behind those lie levels
//! of a node, common to its CPUs, and behind them levels that all share. A load that
//! misses fills every level that it passed; nothing is taken out of an inner level
//! when an outer one gives a line up. A line that another node's levels have may be
//! served by them. The model is a pure function of the loads it was shown and of their
//! times: no clock, no QEMU.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cache::{Cache, Generator, Replacement};
use crate::drift::{Burst, Drift, Noise};
use crate::memory::{Memory, Pair};
use crate::page::PageRule;
use crate::prefetch::Prefetcher;
use crate::tlb::{Tlb, TlbLevel};

/// Base-2 logarithm of the bytes of a line.
const LINE_SHIFT: u32 = 6;

/// Whom a cache level serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// One CPU.
    #[default]
    Cpu,
    /// All CPUs of a node.
    Node,
    /// All CPUs.
    All,
}

/// One cache level as it is described by the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Sets; size = sets × ways × 64 bytes.
    pub sets: u64,
    /// Ways of each set.
    pub ways: usize,
    /// Ticks of a load that hits here, all told.
    pub ticks: u64,
    /// How a victim is chosen.
    pub replacement: Replacement,
    /// Whom each of its caches serves.
    pub scope: Scope,
}

/// Something that happens at every n-th load of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Periodic {
    /// The n.
    pub every: u64,
    /// Ticks that are added.
    pub ticks: u64,
}

/// Everything but main memory that makes up a machine.
#[derive(Clone, Debug, Default)]
pub struct Description {
    /// Caches from the nearest, the scope never narrower than before.
    pub levels: Vec<Level>,
    /// Ticks of a load that another node's levels serve; without, they serve none.
    pub other: Option<u64>,
    /// TLB levels from the nearest.
    pub tlb: Vec<TlbLevel>,
    /// How the page of an access is found.
    pub page: PageRule,
    /// Lines that the sequential prefetcher runs ahead; 0 is none.
    pub prefetch: u64,
    /// The noise on all latencies, if there is any.
    pub noise: Option<Noise>,
    /// Their drift.
    pub drift: Option<Drift>,
    /// Their bursts.
    pub burst: Option<Burst>,
    /// Loads that take longer: part of the distribution.
    pub tails: Vec<Periodic>,
    /// Interruptions: not part of it, and counted apart.
    pub pauses: Vec<Periodic>,
    /// Seed of random replacement and of noise.
    pub seed: u64,
}

/// Where a load found its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// In this cache level, the nearest being 0.
    Level(usize),
    /// In a level of another node.
    Other,
    /// In memory: the place in [`Memory::pairs`].
    Memory(usize),
    /// At an address that no node claims. It costs nothing, so that a wrong
    /// description shows.
    Unclaimed,
}

/// What a load costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Ticks of the load, with translation and tail.
    pub ticks: u64,
    /// Ticks of the tail among them.
    pub tail: u64,
    /// Levels of the TLB that were missed.
    pub misses: usize,
    /// Ticks of an interruption that comes with it.
    pub pause: u64,
    /// Where the line was.
    pub source: Source,
}

/// What was counted, for one CPU or for all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Loads.
    pub loads: u64,
    /// Loads that hit each cache level.
    pub hits: Vec<u64>,
    /// Loads that another node's levels served.
    pub other: u64,
    /// Loads from memory for each of [`Memory::pairs`].
    pub pairs: Vec<u64>,
    /// Loads from addresses that no node claims.
    pub unclaimed: u64,
    /// Misses of each TLB level.
    pub tlb_misses: Vec<u64>,
    /// Loads taken to be on a 2 MiB page.
    pub large: u64,
    /// Loads made slower as a tail.
    pub tails: u64,
    /// Interruptions.
    pub pauses: u64,
    /// Modelled ticks, interruptions included.
    pub ticks: u64,
}

impl Counts {
    fn add(&mut self, other: &Counts) {
        let sum = |into: &mut Vec<u64>, from: &[u64]| {
            into.resize(into.len().max(from.len()), 0);
            into.iter_mut().zip(from).for_each(|(into, from)| *into += from);
        };
        self.loads += other.loads;
        sum(&mut self.hits, &other.hits);
        self.other += other.other;
        sum(&mut self.pairs, &other.pairs);
        self.unclaimed += other.unclaimed;
        sum(&mut self.tlb_misses, &other.tlb_misses);
        self.large += other.large;
        self.tails += other.tails;
        self.pauses += other.pauses;
        self.ticks = self.ticks.saturating_add(other.ticks);
    }
}

/// What belongs to one virtual CPU.
struct Core {
    node: u32,
    /// The place of its node's levels.
    place: usize,
    levels: Vec<Cache>,
    tlb: Tlb,
    prefetcher: Prefetcher,
    generator: Generator,
    /// What was drawn last for the noise.
    draw: u64,
    counts: Counts,
}

/// A machine, ready to be shown loads from any thread.
pub struct Machine {
    description: Description,
    memory: Memory,
    cores: Vec<Mutex<Core>>,
    /// The levels of each node with CPUs.
    nodes: Vec<Mutex<Vec<Cache>>>,
    shared: Mutex<Vec<Cache>>,
}

impl Machine {
    /// A machine whose CPU `i` is on node `nodes[i]`, with all caches empty.
    #[must_use]
    pub fn new(description: Description, memory: Memory, nodes: &[u32]) -> Self {
        let caches = |scope: Scope, salt: u64| -> Vec<Cache> {
            let cache = |level: &Level| {
                Cache::new(level.sets, level.ways, level.replacement, description.seed.wrapping_add(salt))
            };
            description.levels.iter().filter(|level| level.scope == scope).map(cache).collect()
        };
        let mut places = nodes.to_vec();
        places.sort_unstable();
        places.dedup();
        let core = |(salt, &node): (u64, &u32)| {
            Mutex::new(Core {
                node,
                place: places.iter().position(|&known| known == node).unwrap_or(0),
                levels: caches(Scope::Cpu, salt + 1),
                tlb: Tlb::new(description.page, &description.tlb),
                prefetcher: Prefetcher::new(description.prefetch),
                // Another stream than those of the caches.
                generator: Generator(!description.seed.wrapping_add(salt)),
                draw: 1 << 63,
                counts: Counts {
                    hits: vec![0; description.levels.len()],
                    pairs: vec![0; memory.pairs().len()],
                    ..Counts::default()
                },
            })
        };
        let cores = (0..).zip(nodes).map(core).collect();
        let per_node = (1..).zip(&places).map(|(salt, _)| Mutex::new(caches(Scope::Node, salt))).collect();
        let shared = Mutex::new(caches(Scope::All, 0));
        Self { description, memory, cores, nodes: per_node, shared }
    }

    /// One load by CPU `cpu` at a reading of the time-stamp counter. `None` if there is no such CPU.
    pub fn load(&self, cpu: usize, virtual_address: u64, physical_address: u64, now: u64) -> Option<Outcome> {
        let mut guard = locked(self.cores.get(cpu)?);
        let core = &mut *guard;
        let line = physical_address >> LINE_SHIFT;
        let (translation, misses) = core.tlb.access(virtual_address, physical_address);
        let found = self.fill(core.place, &mut core.levels, line);
        if let Some(ahead) = core.prefetcher.access(line) {
            for line in ahead {
                self.fill(core.place, &mut core.levels, line);
            }
        }

        let counts = &mut core.counts;
        counts.loads += 1;
        let pair = || self.memory.pair(core.node, physical_address);
        let ticks_of = |level: usize| self.description.levels.get(level).map_or(0, |level| level.ticks);
        let (source, ticks, counter) = match found {
            Some(Found::Level(level)) => (Source::Level(level), ticks_of(level), counts.hits.get_mut(level)),
            Some(Found::Other(ticks)) => (Source::Other, ticks, Some(&mut counts.other)),
            None => match pair() {
                Some(pair) => {
                    let ticks = self.memory.pairs().get(pair).map_or(0, |pair| pair.ticks);
                    (Source::Memory(pair), ticks, counts.pairs.get_mut(pair))
                }
                None => (Source::Unclaimed, 0, Some(&mut counts.unclaimed)),
            },
        };
        if let Some(counter) = counter {
            *counter += 1;
        }
        if self.description.noise.is_some_and(|noise| (counts.loads - 1).checked_rem(noise.every) == Some(0))
        {
            core.draw = core.generator.draw();
        }
        let (tails, tail) = due(&self.description.tails, counts.loads);
        let (pauses, pause) = due(&self.description.pauses, counts.loads);
        counts.tails += tails;
        counts.pauses += pauses;
        let steady = ticks.saturating_add(translation);
        let Description { noise, drift, burst, .. } = &self.description;
        let factors = [
            noise.map(|noise| noise.factor(core.draw)),
            drift.map(|drift| drift.factor(now)),
            burst.map(|burst| burst.factor(now)),
        ];
        let factor: f64 = factors.into_iter().flatten().product();
        let steady = (steady as f64 * factor).round() as u64;
        let ticks = steady.saturating_add(tail);
        counts.ticks = counts.ticks.saturating_add(ticks).saturating_add(pause);
        Some(Outcome { ticks, tail, misses, pause, source })
    }

    /// Uses `line` in all levels from the nearest to the one that has it; each level before that has it from now on.
    fn fill(&self, place: usize, private: &mut [Cache], line: u64) -> Option<Found> {
        let mut before = private.len();
        if let Some(hit) = private.iter_mut().position(|cache| cache.access(line)) {
            return Some(Found::Level(hit));
        }
        if let Some(own) = self.nodes.get(place) {
            let mut own = locked(own);
            if let Some(hit) = own.iter_mut().position(|cache| cache.access(line)) {
                return Some(Found::Level(before + hit));
            }
            before += own.len();
        }
        if let Some(ticks) = self.description.other {
            let others = self.nodes.iter().enumerate().filter(|(other, _)| *other != place);
            let mut levels = others.map(|(_, levels)| locked(levels));
            if levels.any(|levels| levels.iter().any(|cache| cache.holds(line))) {
                return Some(Found::Other(ticks));
            }
        }
        let hit = locked(&self.shared).iter_mut().position(|cache| cache.access(line))?;
        Some(Found::Level(before + hit))
    }

    /// Whether a store has an effect: whether any cache is common to several CPUs, and could hold what they wrote.
    #[must_use]
    pub fn has_common_levels(&self) -> bool {
        self.description.levels.iter().any(|level| level.scope != Scope::Cpu)
    }

    /// A store past the caches: none has the line afterwards.
    pub fn stream(&self, physical_address: u64) {
        let line = physical_address >> LINE_SHIFT;
        let forget = |levels: &mut [Cache]| levels.iter_mut().for_each(|cache| cache.evict(line));
        self.cores.iter().for_each(|core| forget(&mut locked(core).levels));
        self.nodes.iter().for_each(|levels| forget(&mut locked(levels)));
        forget(&mut locked(&self.shared));
    }

    /// The pairs of nodes, in the order of [`Counts::pairs`].
    #[must_use]
    pub fn pairs(&self) -> &[Pair] {
        self.memory.pairs()
    }

    /// What all CPUs have counted so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut all = Counts::default();
        for core in &self.cores {
            let core = locked(core);
            let tlb_misses = core.tlb.misses().to_vec();
            all.add(&Counts { tlb_misses, large: core.tlb.large_accesses(), ..core.counts.clone() });
        }
        all
    }
}

/// Where a line was, if not in memory.
enum Found {
    /// In this level.
    Level(usize),
    /// In a level of another node, which serves it in so many ticks.
    Other(u64),
}

/// How many of `periodic` fall on the load with this number, and their ticks.
fn due(periodic: &[Periodic], load: u64) -> (u64, u64) {
    let due = periodic.iter().filter(|periodic| load.checked_rem(periodic.every) == Some(0));
    due.fold((0, 0), |(count, ticks), periodic| (count + 1, ticks.saturating_add(periodic.ticks)))
}

/// The lock, also after a panic elsewhere: the counts stay readable.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

mod places;
#[cfg(test)]
mod tests;
