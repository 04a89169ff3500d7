//! The machine that the guest is to see: from the addresses of a load to the
//! ticks that it takes.
//!
//! Each virtual CPU has its own TLB, prefetcher and caches; behind those lie levels
//! of a node, common to its CPUs, and behind them levels that all share. A load that
//! misses fills every level that it passed; nothing is taken out of an inner level
//! when an outer one gives a line up. A line that another node's levels have may be
//! served by them, and memory may remember which node read a line last. The model is a pure function of the loads it
//! was shown and of their times: no clock, no QEMU.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cache::{Cache, Generator, Replacement};
use crate::drift::{Burst, Drift, Noise};
use crate::memory::{Memory, Pair};
use crate::neighbour::Common;
use crate::page::PageRule;
use crate::prefetch::Prefetcher;
use crate::readers::Readers;
use crate::tlb::{Tlb, TlbLevel};
pub use counts::Counts;
use levels::{Brought, Found};
pub use places::Touched;

#[cfg(test)]
mod bursts;
mod counts;
mod levels;
mod places;
#[cfg(test)]
mod tests;

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
    /// Ticks that a load by a line's own node takes longer once after another node has read it from memory; 0 is memory
    /// that does not remember.
    pub directory_bit: u64,
    /// TLB levels from the nearest.
    pub tlb: Vec<TlbLevel>,
    /// How the page of an access is found.
    pub page: PageRule,
    /// Lines that the sequential prefetcher runs ahead; 0 is none.
    pub prefetch: u64,
    /// Prefetching of the other line of its 128 bytes at each miss.
    pub adjacent: bool,
    /// Lines that a neighbour uses in each level common to several CPUs in 2^20 ticks; 0 is none.
    pub neighbour: u64,
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
    /// The place in [`Memory::pairs`] of its nodes, wherever the line was; `None` if no node claims the address.
    pub pair: Option<usize>,
    /// True if it took longer since another node had read the line last.
    pub paid: bool,
    /// Lines that prefetchers bring from memory because of it, between the same nodes.
    pub prefetched: u64,
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
    nodes: Vec<Mutex<Common>>,
    shared: Mutex<Common>,
    readers: Readers,
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
                    paid: vec![0; memory.pairs().len()],
                    ..Counts::default()
                },
            })
        };
        let cores = (0..).zip(nodes).map(core).collect();
        let common = |scope, salt| Mutex::new(Common::new(caches(scope, salt), description.neighbour));
        let per_node = (1..).zip(&places).map(|(salt, _)| common(Scope::Node, salt)).collect();
        let shared = common(Scope::All, 0);
        let readers = Readers::new(description.directory_bit);
        Self { description, memory, cores, nodes: per_node, shared, readers }
    }

    /// One load by CPU `cpu` at a reading of the time-stamp counter. `None` if there is no such CPU.
    pub fn load(&self, cpu: usize, virtual_address: u64, physical_address: u64, now: u64) -> Option<Outcome> {
        let mut guard = locked(self.cores.get(cpu)?);
        let core = &mut *guard;
        let line = physical_address >> LINE_SHIFT;
        let (translation, misses) = core.tlb.access(virtual_address, physical_address);
        let pair = self.memory.pair(core.node, physical_address);
        let Brought { found, prefetched } = self.demand(core, line, pair, now);

        let counts = &mut core.counts;
        counts.loads += 1;
        let mut paid = false;
        let ticks_of = |level: usize| self.description.levels.get(level).map_or(0, |level| level.ticks);
        let (source, ticks, counter) = match found {
            Some(Found::Level(level)) => (Source::Level(level), ticks_of(level), counts.hits.get_mut(level)),
            Some(Found::Other(ticks)) => (Source::Other, ticks, Some(&mut counts.other)),
            None => match pair {
                Some(pair) => {
                    let more = self.read(pair, line);
                    paid = more > 0;
                    if let Some(count) = counts.paid.get_mut(pair) {
                        *count += u64::from(paid);
                    }
                    let ticks = self.memory.pairs().get(pair).map_or(0, |pair| pair.ticks);
                    (Source::Memory(pair), ticks.saturating_add(more), counts.pairs.get_mut(pair))
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
        Some(Outcome { ticks, tail, misses, pause, source, pair, paid, prefetched })
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

/// How many of `periodic` fall on the load with this number, and their ticks.
fn due(periodic: &[Periodic], load: u64) -> (u64, u64) {
    let due = periodic.iter().filter(|periodic| load.checked_rem(periodic.every) == Some(0));
    due.fold((0, 0), |(count, ticks), periodic| (count + 1, ticks.saturating_add(periodic.ticks)))
}

/// The lock, also after a panic elsewhere: the counts stay readable.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
