//! The simulated machine: computes the ticks of a load from its addresses.
//!
//! Each virtual CPU has its own TLB, prefetcher and caches. Behind those are the levels of a node, common to its CPUs,
//! and behind them the levels that all CPUs share. A load that misses fills every level that it passed; an inner level
//! keeps a line that an outer one evicts. Another node's levels may serve a line that they have, and memory may
//! remember which node read a line last. A page walk loads a line of the page table through the same caches, but
//! prefetchers do not follow it. The model is a pure function of the loads that it was given and of their
//! times: no clock, no QEMU.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cache::{Cache, Generator, Replacement};
use crate::drift::{Burst, Drift, Noise};
use crate::memory::{Memory, Pair};
use crate::neighbour::Common;
use crate::page::PageRule;
use crate::prefetch::Prefetcher;
use crate::readers::Readers;
use crate::tables;
use crate::tlb::{Tlb, TlbLevel, Translation};
pub use counts::Counts;
use levels::Brought;
pub use places::Touched;
use served::Served;

#[cfg(test)]
mod bursts;
mod counts;
mod levels;
mod places;
mod served;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod walks;

/// Base-2 logarithm of the bytes of a line.
const LINE_SHIFT: u32 = 6;

/// The CPUs that a cache level serves.
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

/// One cache level, as the arguments describe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Sets; size = sets × ways × 64 bytes.
    pub sets: u64,
    /// Ways of each set.
    pub ways: usize,
    /// Total ticks of a load that hits here.
    pub ticks: u64,
    /// The rule that chooses a victim.
    pub replacement: Replacement,
    /// The CPUs that each of its caches serves.
    pub scope: Scope,
}

/// An event at every n-th load of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Periodic {
    /// Loads of a CPU between two of them.
    pub every: u64,
    /// Ticks that are added.
    pub ticks: u64,
}

/// All parameters of a machine but main memory.
#[derive(Clone, Debug, Default)]
pub struct Description {
    /// Caches from the nearest; the scope never gets narrower.
    pub levels: Vec<Level>,
    /// Ticks of a load that another node's levels serve; without, they serve only their own node.
    pub other: Option<u64>,
    /// Extra ticks of the first load by a line's own node after another node has read the line from memory; 0
    /// disables this.
    pub directory_bit: u64,
    /// TLB levels from the nearest.
    pub tlb: Vec<TlbLevel>,
    /// The rule that finds the page of an access.
    pub page: PageRule,
    /// Node of the page tables; without, page walks load nothing.
    pub tables: Option<u32>,
    /// Lines that the sequential prefetcher runs ahead; 0 disables it.
    pub prefetch: u64,
    /// True to prefetch the other line of the same 128 bytes at each miss.
    pub adjacent: bool,
    /// Lines that a neighbour uses in 2^20 ticks in each level common to several CPUs; 0 disables it.
    pub neighbour: u64,
    /// Noise on all latencies.
    pub noise: Option<Noise>,
    /// Drift of all latencies.
    pub drift: Option<Drift>,
    /// Bursts of all latencies.
    pub burst: Option<Burst>,
    /// Slower loads, which are part of the distribution.
    pub tails: Vec<Periodic>,
    /// Interruptions, which are not part of the distribution and are counted separately.
    pub pauses: Vec<Periodic>,
    /// Seed of random replacement and of noise.
    pub seed: u64,
}

/// The source of a loaded line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// A cache level; the nearest is 0.
    Level(usize),
    /// A level of another node.
    Other,
    /// Memory: the index in [`Memory::pairs`].
    Memory(usize),
    /// An address that no node claims. It adds no latency, so that a wrong description becomes visible.
    Unclaimed,
}

/// The result of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Ticks of the load, with translation and tail.
    pub ticks: u64,
    /// Ticks of the tail among these.
    pub tail: u64,
    /// Ticks of translation among these: the costs of TLB misses, and the load of a page walk.
    pub translation: u64,
    /// Levels of the TLB that were missed.
    pub misses: usize,
    /// Ticks of an interruption at this load.
    pub pause: u64,
    /// Source of the line.
    pub source: Source,
    /// Index in [`Memory::pairs`] of the load's nodes, whatever the source; `None` if no node claims the
    /// address.
    pub pair: Option<usize>,
    /// True if the load was slower because another node had read the line last.
    pub paid: bool,
    /// Lines that prefetchers bring from memory because of this load, between the same nodes.
    pub prefetched: u64,
}

/// The state of one virtual CPU.
struct Core {
    node: u32,
    /// Index of its node's levels.
    place: usize,
    levels: Vec<Cache>,
    tlb: Tlb,
    prefetcher: Prefetcher,
    generator: Generator,
    /// The last draw of the noise.
    draw: u64,
    counts: Counts,
}

/// A machine; it accepts loads from any thread.
pub struct Machine {
    description: Description,
    memory: Memory,
    cores: Vec<Mutex<Core>>,
    /// Levels of each node with CPUs.
    nodes: Vec<Mutex<Common>>,
    shared: Mutex<Common>,
    readers: Readers,
}

impl Machine {
    /// Makes a machine whose CPU `i` is on node `nodes[i]`, with all caches empty.
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
                // The seed must differ from those of the caches.
                generator: Generator(!description.seed.wrapping_add(salt)),
                draw: 1 << 63,
                counts: Counts {
                    hits: vec![0; description.levels.len()],
                    pairs: vec![0; memory.pairs().len()],
                    paid: vec![0; memory.pairs().len()],
                    walk_hits: vec![0; description.levels.len()],
                    walk_pairs: vec![0; memory.pairs().len()],
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

    /// Models a load by CPU `cpu` at a reading of the time-stamp counter. Returns `None` if there is no CPU
    /// of this number.
    pub fn load(&self, cpu: usize, virtual_address: u64, physical_address: u64, now: u64) -> Option<Outcome> {
        let mut guard = locked(self.cores.get(cpu)?);
        let core = &mut *guard;
        let line = physical_address >> LINE_SHIFT;
        let Translation { ticks: missed, misses, walk } = core.tlb.access(virtual_address, physical_address);
        let walked = walk.map_or(0, |page| self.walk(core, tables::line(page, virtual_address), now));
        let pair = self.memory.pair(core.node, physical_address);
        let Brought { found, prefetched } = self.demand(core, line, pair, now);

        let counts = &mut core.counts;
        counts.loads += 1;
        let Served { source, ticks, paid } = self.serve(found, pair, line);
        let counter = match source {
            Source::Level(level) => counts.hits.get_mut(level),
            Source::Other => Some(&mut counts.other),
            Source::Memory(pair) => counts.pairs.get_mut(pair),
            Source::Unclaimed => Some(&mut counts.unclaimed),
        };
        if let Some(counter) = counter {
            *counter += 1;
        }
        if let Some(count) = pair.filter(|_| paid).and_then(|pair| counts.paid.get_mut(pair)) {
            *count += 1;
        }
        if self.description.noise.is_some_and(|noise| (counts.loads - 1).checked_rem(noise.every) == Some(0))
        {
            core.draw = core.generator.draw();
        }
        let (tails, tail) = due(&self.description.tails, counts.loads);
        let (pauses, pause) = due(&self.description.pauses, counts.loads);
        counts.tails += tails;
        counts.pauses += pauses;
        let translation = missed.saturating_add(walked);
        let Description { noise, drift, burst, .. } = &self.description;
        let factors = [
            noise.map(|noise| noise.factor(core.draw)),
            drift.map(|drift| drift.factor(now)),
            burst.map(|burst| burst.factor(now)),
        ];
        let factor: f64 = factors.into_iter().flatten().product();
        let scaled = |ticks: u64| (ticks as f64 * factor).round() as u64;
        let steady = scaled(ticks.saturating_add(translation));
        let translation = scaled(translation).min(steady);
        let ticks = steady.saturating_add(tail);
        counts.ticks = counts.ticks.saturating_add(ticks).saturating_add(pause);
        Some(Outcome { ticks, tail, translation, misses, pause, source, pair, paid, prefetched })
    }

    /// Returns the pairs of nodes, in the order of [`Counts::pairs`].
    #[must_use]
    pub fn pairs(&self) -> &[Pair] {
        self.memory.pairs()
    }

    /// Returns the sum of all CPUs' counts so far.
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

/// Returns the number of `periodic` that fall on the load with this number, and their ticks.
fn due(periodic: &[Periodic], load: u64) -> (u64, u64) {
    let due = periodic.iter().filter(|periodic| load.checked_rem(periodic.every) == Some(0));
    due.fold((0, 0), |(count, ticks), periodic| (count + 1, ticks.saturating_add(periodic.ticks)))
}

/// Takes the lock, also after a panic elsewhere: the counts stay readable.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
