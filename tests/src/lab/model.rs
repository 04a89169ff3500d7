//! A machine with known latencies, read from a line of words.
//!
//! The grammar is in the documentation of [`super`]. It knows neither the emulator
//! nor the executable under test.

#[cfg(test)]
mod tests;
mod words;

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

/// What is run.
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
}

/// Pages that the executable is to ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// 4 KiB.
    Small,
    /// 2 MiB if the kernel will.
    Transparent,
    /// 2 MiB of those set aside.
    Large,
}

impl Pages {
    /// The word for them, here and there.
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
    /// Whether victims are random, instead of those used longest ago.
    pub random: bool,
}

/// A fully associative translation buffer of each CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tlb {
    /// Translations that fit.
    pub entries: u64,
    /// Ticks that a miss adds.
    pub ticks: u64,
}

/// A change of all latencies from load to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noise {
    /// The most that it adds or takes.
    pub percent: u64,
    /// Loads for which it stays.
    pub every: u64,
}

/// The last level of each node, common to its CPUs, whose lines other nodes are served as well.
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
    /// The most that it adds or takes.
    pub percent: u64,
    /// A period of its sine.
    pub period: u64,
}

/// Times in which all latencies are longer, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// From the beginning of one to that of the next.
    pub every: u64,
    /// What one lasts.
    pub length: u64,
    /// What is added.
    pub percent: u64,
}

/// A disturbance, or a slower load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Loads from one to the next.
    pub every: u64,
    /// Its length.
    pub ticks: u64,
}

/// What a guest can time with.
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

/// A machine, and how the executable under test is to measure it.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// What is run.
    pub experiment: Experiment,
    /// Nodes with CPUs and memory.
    pub nodes: u32,
    /// CPUs of each of them.
    pub cpus: u32,
    /// Nodes with memory alone, behind those.
    pub memory_only: u32,
    /// Bytes of memory of each node.
    pub memory: u64,
    /// One for each pair, by initiator and then by target.
    pub latencies: Vec<Latency>,
    /// The nearest first.
    pub levels: Vec<Level>,
    /// Behind those, one for each node.
    pub last_level: Option<LastLevel>,
    /// Ticks that a load by a line's own node takes longer once after another node has read it; 0 is memory that does
    /// not remember.
    pub directory_bit: u64,
    /// In front of all memory, and nobody tells the guest.
    pub hidden: Option<Level>,
    /// Whether the processor claims the emulator's own last level of 16 MiB.
    pub reports_last_level: bool,
    /// The nearest first.
    pub tlb: Vec<Tlb>,
    /// Common to all CPUs, for tests of [`super::load`].
    pub shared: Option<Level>,
    /// Lines that a program elsewhere uses in each level common to several CPUs in 2^20 ticks; 0 is none.
    pub neighbour: u64,
    /// Prefetching of the other line of its 128 bytes at each miss.
    pub adjacent: bool,
    /// Lines that a prefetcher runs ahead of a walk in order; 0 is none.
    pub prefetch: u64,
    /// The noise, if there is one.
    pub noise: Option<Noise>,
    /// The drift, if there is one.
    pub drift: Option<Drift>,
    /// The bursts, if there are some.
    pub burst: Option<Burst>,
    /// If there is one.
    pub pause: Option<Pause>,
    /// Loads that are slower by so many ticks: what `distribution` has to find.
    pub tails: Vec<Pause>,
    /// Memory that serves one line at a time, as the plugin's arguments have it.
    pub servers: Vec<String>,
    /// Lines that the generators of a CPU may have on their way, if that was said.
    pub outstanding: Option<u64>,
    /// What handing a line from CPU to CPU costs: the plugin's arguments `cluster=`, `cost=` and `slowline=`.
    pub coherence: Vec<String>,
    /// What can be timed with.
    pub clock: Clock,
    /// Bytes of the working set, if they were given.
    pub size: Option<u64>,
    /// Whether the executable chooses the working set.
    pub default_size: bool,
    /// Hops in each trial, if they were given.
    pub iters: Option<u64>,
    /// Trials, if they were given.
    pub trials: Option<u64>,
    /// Pages that are asked for, if they were given.
    pub pages: Option<Pages>,
    /// Bytes of each node set aside as pages of 2 MiB, if they were given.
    pub pool: Option<u64>,
    /// Other options of the executable, by name and value.
    pub options: Vec<(String, String)>,
    /// How far a latency may be from the truth, as a fraction, if it was said.
    pub tolerance: Option<f64>,
}

impl Model {
    /// Nodes with memory.
    pub fn targets(&self) -> u32 {
        self.nodes + self.memory_only
    }

    /// Whether one working set is measured, from which every CPU's truth follows.
    pub fn has_one_size(&self) -> bool {
        matches!(self.experiment, Experiment::Matrix | Experiment::Distribution)
    }

    /// Bytes of the one working set.
    pub fn one_size(&self) -> u64 {
        self.size.unwrap_or(8 << 20)
    }

    /// Hops in each trial over the one working set.
    pub fn hops(&self) -> u64 {
        self.iters.unwrap_or(103)
    }

    /// Trials over the one working set.
    pub fn repetitions(&self) -> u64 {
        self.trials.unwrap_or(150)
    }

    /// Bytes of each node set aside as pages of 2 MiB.
    pub fn reserved(&self) -> u64 {
        let needed = if self.pages == Some(Pages::Large) { self.one_size() } else { 0 };
        self.pool.unwrap_or(needed)
    }

    /// Whether latencies change while they are measured, or a cache that nobody tells of may hold the working set: a
    /// value is the truth then, or it is said that it may not be.
    pub fn is_treacherous(&self) -> bool {
        self.drift.is_some() || self.burst.is_some() || self.hidden.is_some()
    }

    /// The level that holds the one working set of every target.
    pub fn holding_level(&self) -> Option<&Level> {
        self.levels.iter().find(|level| level.size >= self.one_size() * u64::from(self.targets()))
    }

    /// The ticks of a load of the steady state.
    pub fn truth(&self, latency: &Latency) -> u64 {
        self.holding_level().map_or(latency.ticks, |level| level.ticks)
    }

    /// The ticks of a load of the first CPU from the memory next to it.
    pub fn memory_ticks(&self) -> u64 {
        self.latencies.first().map_or(0, |latency| latency.ticks)
    }

    /// The mean ticks of a load of a long walk in ascending or descending order.
    ///
    /// In each page of 64 lines a prefetcher needs two to find the direction; the others it has brought to the
    /// nearest level. Without a level it has nowhere to bring them.
    pub fn ordered_ticks(&self) -> f64 {
        let memory = self.memory_ticks() as f64;
        match self.levels.first() {
            Some(level) if self.prefetch > 0 => (2.0 * memory + 62.0 * level.ticks as f64) / 64.0,
            _ => memory,
        }
    }

    /// The ticks of every load of a long run with tails, ascending.
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
