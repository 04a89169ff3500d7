//! The machine that the guest is to see: from the addresses of a load to the
//! ticks that it takes.
//!
//! Each virtual CPU has its own TLB, prefetcher and caches; levels marked shared,
//! which are the outermost, are common to all. A load that misses fills every
//! level that it passed; nothing is taken out of an inner level when an outer one
//! gives a line up. The model is a pure function of the loads it was shown: no
//! clock, no QEMU.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cache::{Cache, Generator, Replacement};
use crate::memory::{Memory, Pair};
use crate::prefetch::Prefetcher;
use crate::tlb::{PageRule, Tlb, TlbLevel};

/// Base-2 logarithm of the bytes of a line.
const LINE_SHIFT: u32 = 6;

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
    /// One for all CPUs instead of one each.
    pub shared: bool,
}

/// Something that happens at every n-th load of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Periodic {
    /// The n.
    pub every: u64,
    /// Ticks that are added.
    pub ticks: u64,
}

/// A drift: a factor on all that a load takes, which holds for some loads and is then drawn anew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// The factor is uniform from one less so much to one more, as a share.
    pub share: f64,
    /// Loads of a CPU for which it holds.
    pub every: u64,
}

impl Noise {
    /// The ticks of a load of `ticks` under the factor that `draw` stands for, of 2^64.
    #[must_use]
    pub fn applied(self, ticks: u64, draw: u64) -> u64 {
        // 2^63 is the middle of what is drawn.
        let deviation = draw as f64 / (1_u64 << 63) as f64 - 1.0;
        (ticks as f64 * (1.0 + self.share * deviation)).round() as u64
    }
}

/// Everything but main memory that makes up a machine.
#[derive(Clone, Debug, Default)]
pub struct Description {
    /// Caches from the nearest; shared ones last.
    pub levels: Vec<Level>,
    /// TLB levels from the nearest.
    pub tlb: Vec<TlbLevel>,
    /// How the page of an access is found.
    pub page: PageRule,
    /// Lines that the sequential prefetcher runs ahead; 0 is none.
    pub prefetch: u64,
    /// The drift of all latencies, if there is one.
    pub noise: Option<Noise>,
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
    shared: Mutex<Vec<Cache>>,
}

impl Machine {
    /// A machine whose CPU `i` is on node `nodes[i]`, with all caches empty.
    /// Levels after the first shared one are shared too.
    #[must_use]
    pub fn new(description: Description, memory: Memory, nodes: &[u32]) -> Self {
        let shared_from =
            description.levels.iter().position(|level| level.shared).unwrap_or(description.levels.len());
        let caches = |range: &[Level], salt: u64| -> Vec<Cache> {
            let cache = |level: &Level| {
                Cache::new(level.sets, level.ways, level.replacement, description.seed.wrapping_add(salt))
            };
            range.iter().map(cache).collect()
        };
        let (private, shared) = description.levels.split_at(shared_from);
        let core = |(salt, &node): (u64, &u32)| {
            Mutex::new(Core {
                node,
                levels: caches(private, salt + 1),
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
        let shared = Mutex::new(caches(shared, 0));
        Self { description, memory, cores, shared }
    }

    /// One load by CPU `cpu`. `None` if there is no such CPU.
    pub fn load(&self, cpu: usize, virtual_address: u64, physical_address: u64) -> Option<Outcome> {
        let mut guard = locked(self.cores.get(cpu)?);
        let core = &mut *guard;
        let line = physical_address >> LINE_SHIFT;
        let (translation, misses) = core.tlb.access(virtual_address, physical_address);
        let hit = self.fill(&mut core.levels, line);
        if let Some(ahead) = core.prefetcher.access(line) {
            for line in ahead {
                self.fill(&mut core.levels, line);
            }
        }

        let counts = &mut core.counts;
        counts.loads += 1;
        let found = hit.and_then(|level| Some((level, self.description.levels.get(level)?)));
        let (source, ticks, counter) = match (found, self.memory.pair(core.node, physical_address)) {
            (Some((level, found)), _) => (Source::Level(level), found.ticks, counts.hits.get_mut(level)),
            (None, Some(pair)) => {
                let ticks = self.memory.pairs().get(pair).map_or(0, |pair| pair.ticks);
                (Source::Memory(pair), ticks, counts.pairs.get_mut(pair))
            }
            (None, None) => (Source::Unclaimed, 0, Some(&mut counts.unclaimed)),
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
        let steady = self.description.noise.map_or(steady, |noise| noise.applied(steady, core.draw));
        let ticks = steady.saturating_add(tail);
        counts.ticks = counts.ticks.saturating_add(ticks).saturating_add(pause);
        Some(Outcome { ticks, tail, misses, pause, source })
    }

    /// Uses `line` in all levels from the nearest to the one that has it, which is
    /// returned; each level before that has it from now on.
    fn fill(&self, private: &mut [Cache], line: u64) -> Option<usize> {
        if let Some(hit) = private.iter_mut().position(|cache| cache.access(line)) {
            return Some(hit);
        }
        let hit = locked(&self.shared).iter_mut().position(|cache| cache.access(line))?;
        Some(private.len() + hit)
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

#[cfg(test)]
mod tests;
