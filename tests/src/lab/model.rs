//! A machine with known latencies, read from a line of words.
//!
//! The grammar is in the documentation of [`super`]. This module depends neither on the emulator nor on the executable
//! under test.

#[cfg(test)]
mod tests;
mod words;

use super::plugin::CYCLE;
use crate::vm::Architecture;

/// Ticks of a load between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// The node of the CPU.
    pub from: u32,
    /// The node of the memory.
    pub to: u32,
    /// The ticks.
    pub ticks: u64,
}

/// The experiment to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// Every pair of nodes.
    Matrix,
    /// Single hops.
    Distribution,
    /// Latency against working set.
    Curve,
    /// Random, sequential and backward order.
    Order,
    /// Kinds of pages side by side.
    Pages,
    /// The life of lines in a shared cache.
    Residency,
}

/// Pages that the executable requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// 4 KiB.
    Small,
    /// 2 MiB if the kernel will.
    Transparent,
    /// 2 MiB, from the reserved pool.
    Large,
}

impl Pages {
    /// Returns the word for them in models and in options.
    pub const fn word(self) -> &'static str {
        match self {
            Pages::Small => "4k",
            Pages::Transparent => "thp",
            Pages::Large => "2m",
        }
    }
}

/// A cache of each CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Bytes.
    pub size: u64,
    /// The associativity.
    pub ways: u64,
    /// Ticks of a hit.
    pub ticks: u64,
    /// True if victims are random instead of least recently used.
    pub random: bool,
}

/// A fully associative translation buffer of each CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tlb {
    /// Translations that fit.
    pub entries: u64,
    /// Extra ticks of a miss.
    pub ticks: u64,
    /// The only pages that it holds; all, if absent.
    pub only: Option<Pages>,
}

/// A random change of all latencies from load to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noise {
    /// Maximum deviation in either direction.
    pub percent: u64,
    /// Number of loads between two draws.
    pub every: u64,
}

/// The last level of each node, common to its CPUs; it also serves its lines to other nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastLevel {
    /// The cache.
    pub level: Level,
    /// Ticks of a load that another node's cache serves.
    pub other: u64,
}

/// A slow change of all latencies, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drift {
    /// Amplitude.
    pub percent: u64,
    /// Period of its sine.
    pub period: u64,
}

/// Periodic intervals in which all latencies are longer, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// From the beginning of one to the beginning of the next.
    pub every: u64,
    /// Duration.
    pub length: u64,
    /// Increase of the latency.
    pub percent: u64,
}

/// A disturbance, or a slower load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Loads between two of them.
    pub every: u64,
    /// Its length.
    pub ticks: u64,
}

/// The clock that a guest has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// The time-stamp counter.
    #[default]
    Counter,
    /// The kernel's clock: the processor has no counter.
    Kernel,
    /// Nothing: the kernel's clock moves with its timer interrupt.
    None,
}

/// A machine, and the options with which the executable under test measures it.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Instruction set.
    pub architecture: Architecture,
    /// Experiment to run.
    pub experiment: Experiment,
    /// Nodes with CPUs and memory.
    pub nodes: u32,
    /// CPUs of each of them.
    pub cpus: u32,
    /// Nodes with memory and without CPUs, numbered after those with CPUs.
    pub memory_only: u32,
    /// Bytes of memory of each node.
    pub memory: u64,
    /// The latencies, one for each pair, ordered by initiator and then by target.
    pub latencies: Vec<Latency>,
    /// The caches of each CPU, the nearest first.
    pub levels: Vec<Level>,
    /// The last-level cache, behind the caches of CPUs; one for each node.
    pub last_level: Option<LastLevel>,
    /// Extra ticks of the first load by a line's own node after another node has read it; 0 disables this.
    pub directory_bit: u64,
    /// A cache in front of all memory, unknown to the guest.
    pub hidden: Option<Level>,
    /// True if the processor reports the emulator's own last level of 16 MiB.
    pub reports_last_level: bool,
    /// The translation buffers, the nearest first.
    pub tlb: Vec<Tlb>,
    /// Node of the page tables; without, a page walk loads nothing.
    pub tables: Option<u32>,
    /// True if the TLB treats all pages as 4 KiB ones.
    pub small_host_pages: bool,
    /// A cache that all CPUs have in common, for tests of [`super::load`].
    pub shared: Option<Level>,
    /// Lines that another program uses in each level common to several CPUs in 2^20 ticks; 0 disables it.
    pub neighbour: u64,
    /// True to prefetch the other line of the same 128 bytes at each miss.
    pub adjacent: bool,
    /// Lines that a prefetcher runs ahead of a walk in order; 0 disables it.
    pub prefetch: u64,
    /// Noise on all latencies.
    pub noise: Option<Noise>,
    /// Drift of all latencies.
    pub drift: Option<Drift>,
    /// Bursts of all latencies.
    pub burst: Option<Burst>,
    /// Periodic disturbance.
    pub pause: Option<Pause>,
    /// Loads that are slower by `ticks`; `distribution` has to find them.
    pub tails: Vec<Pause>,
    /// Memory that serves one line at a time, in the form of the plugin's arguments.
    pub servers: Vec<String>,
    /// Maximum number of outstanding lines of a CPU's generators, if given.
    pub outstanding: Option<u64>,
    /// Costs of transfers between CPUs: the plugin's arguments `cluster=`, `cost=` and `slowline=`.
    pub coherence: Vec<String>,
    /// Available clock.
    pub clock: Clock,
    /// Ticks of a core cycle.
    pub cycle: u64,
    /// Bytes of the working set, if given.
    pub size: Option<u64>,
    /// True if the executable chooses the working set.
    pub default_size: bool,
    /// Hops in each trial, if given.
    pub iters: Option<u64>,
    /// Number of trials, if given.
    pub trials: Option<u64>,
    /// Pages to request, if given.
    pub pages: Option<Pages>,
    /// Bytes of each node reserved as pages of 2 MiB, if given.
    pub pool: Option<u64>,
    /// Other options of the executable, by name and value.
    pub options: Vec<(String, String)>,
    /// Tolerance of a latency, as a fraction, if given.
    pub tolerance: Option<f64>,
}

impl Model {
    /// Returns the number of nodes with memory.
    pub fn targets(&self) -> u32 {
        self.nodes + self.memory_only
    }

    /// Returns the reason why there is no machine like this with its instruction set, if there is none.
    pub fn absent(&self) -> Option<&'static str> {
        if self.architecture == Architecture::X86_64 {
            None
        } else if self.clock != Clock::Counter {
            Some("every processor has the counter")
        } else if self.experiment == Experiment::Distribution {
            Some("single loads need a counter with steps of at most 15 ns, and the emulator's has 16")
        } else if self.reports_last_level {
            Some("the processor's caches are not shown to programs")
        } else {
            None
        }
    }

    /// Returns true if one working set is measured, which determines every pair's truth.
    pub fn has_one_size(&self) -> bool {
        matches!(self.experiment, Experiment::Matrix | Experiment::Distribution)
    }

    /// Returns the bytes of the one working set.
    pub fn one_size(&self) -> u64 {
        self.size.unwrap_or(8 << 20)
    }

    /// Returns the hops in each trial over the one working set.
    pub fn hops(&self) -> u64 {
        self.iters.unwrap_or(103)
    }

    /// Returns the number of trials over the one working set.
    pub fn repetitions(&self) -> u64 {
        self.trials.unwrap_or(150)
    }

    /// Returns the bytes of each node reserved as pages of 2 MiB.
    pub fn reserved(&self) -> u64 {
        let needed = if self.pages == Some(Pages::Large) { self.one_size() } else { 0 };
        self.pool.unwrap_or(needed)
    }

    /// Returns true if latencies change during the measurement, or if a hidden cache may hold the working
    /// set. A value then has to be the truth, or the report has to doubt it.
    pub fn is_treacherous(&self) -> bool {
        self.drift.is_some() || self.burst.is_some() || self.hidden.is_some()
    }

    /// Returns the level that holds the one working set of every target.
    pub fn holding_level(&self) -> Option<&Level> {
        self.levels.iter().find(|level| level.size >= self.one_size() * u64::from(self.targets()))
    }

    /// Returns the ticks of a load in the steady state.
    pub fn truth(&self, latency: &Latency) -> u64 {
        self.holding_level().map_or(latency.ticks, |level| level.ticks)
    }

    /// Returns the ticks of a load of the first CPU from its nearest memory.
    pub fn memory_ticks(&self) -> u64 {
        self.latencies.first().map_or(0, |latency| latency.ticks)
    }

    /// Returns the mean ticks of a load of a long walk in ascending or descending order.
    ///
    /// In each page of 64 lines a prefetcher needs two to find the direction; it has brought the others to
    /// the nearest level. Without a level it has no place to store them.
    pub fn ordered_ticks(&self) -> f64 {
        let memory = self.memory_ticks() as f64;
        match self.levels.first() {
            Some(level) if self.prefetch > 0 => (2.0 * memory + 62.0 * level.ticks as f64) / 64.0,
            _ => memory,
        }
    }

    /// Returns the ticks of every load of a long run with tails, ascending.
    pub fn sorted_loads(&self, latency: &Latency) -> Vec<u64> {
        const LOADS: u64 = 1 << 20;
        let load = |number: u64| {
            let slow = self.tails.iter().filter(|tail| number.is_multiple_of(tail.every));
            self.truth(latency) + slow.map(|tail| tail.ticks).sum::<u64>()
        };
        let mut loads: Vec<u64> = (1..=LOADS).map(load).collect();
        loads.sort_unstable();
        loads
    }
}

impl Default for Model {
    fn default() -> Self {
        Model {
            architecture: Architecture::default(),
            experiment: Experiment::Matrix,
            nodes: 1,
            cpus: 1,
            memory_only: 0,
            memory: 256 << 20,
            latencies: Vec::new(),
            levels: Vec::new(),
            last_level: None,
            directory_bit: 0,
            hidden: None,
            reports_last_level: false,
            tlb: Vec::new(),
            tables: None,
            small_host_pages: false,
            shared: None,
            neighbour: 0,
            adjacent: false,
            prefetch: 0,
            noise: None,
            drift: None,
            burst: None,
            pause: None,
            tails: Vec::new(),
            servers: Vec::new(),
            outstanding: None,
            coherence: Vec::new(),
            clock: Clock::Counter,
            cycle: CYCLE,
            size: None,
            default_size: false,
            iters: None,
            trials: None,
            pages: None,
            pool: None,
            options: Vec::new(),
            tolerance: None,
        }
    }
}
