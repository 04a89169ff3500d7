//! Coherence: the holders and the state of each line, and the cost of its transfer to another CPU.
//!
//! A directory of the lines that the kernels between cores have touched. Any other line comes from memory. Costs are by
//! the class of the pair of CPUs, the operation and the state in which the line was found. The directory uses neither
//! clocks nor caches: a line stays in its place until another CPU takes it.

use std::collections::HashMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Base-2 logarithm of the bytes of a line, and of a page.
const LINE_SHIFT: u32 = 6;
const PAGE_SHIFT: u32 = 12;
/// Maximum number of CPUs: sharers are bits of a word.
const MOST_CPUS: usize = 64;

/// The effect of an instruction on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Loads from it.
    Load,
    /// Stores to it.
    Store,
    /// Both at once, atomically.
    Exchange,
}

impl Operation {
    /// All operations.
    pub const ALL: [Operation; 3] = [Operation::Load, Operation::Store, Operation::Exchange];

    /// Returns the word for it in arguments and in the report.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Operation::Load => "load",
            Operation::Store => "store",
            Operation::Exchange => "rmw",
        }
    }
}

/// The state in which a line was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// One CPU has it and has changed it.
    Modified,
    /// One CPU has it.
    Exclusive,
    /// Several CPUs have it.
    Shared,
    /// No CPU has it.
    Invalid,
}

impl State {
    /// All states.
    pub const ALL: [State; 4] = [State::Modified, State::Exclusive, State::Shared, State::Invalid];

    /// Returns the letter for it in arguments and in the report.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            State::Modified => "m",
            State::Exclusive => "e",
            State::Shared => "s",
            State::Invalid => "i",
        }
    }
}

/// A group of CPUs that are near each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The class of its pairs; several clusters may have the same.
    pub class: String,
    /// Its CPUs.
    pub cpus: RangeInclusive<usize>,
}

/// The cost of an operation; `None` matches every class, operation or state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Class of the pair: the class of a cluster, or [`OWN`], [`FAR`] or [`MEMORY`].
    pub class: Option<String>,
    /// The operation.
    pub operation: Option<Operation>,
    /// The state in which the line is found.
    pub state: Option<State>,
    /// The ticks.
    pub ticks: u64,
}

/// A page in every `every` pages whose lines take longer to come from another CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowLine {
    /// Number of pages in a period.
    pub every: u64,
    /// Remainder of the page number by virtual address, modulo `every`.
    pub index: u64,
    /// Ticks that are added.
    pub ticks: u64,
}

/// The class of a CPU and its own lines.
pub const OWN: &str = "own";
/// The class of two CPUs without a common cluster.
pub const FAR: &str = "far";
/// The class of lines that no CPU has.
pub const MEMORY: &str = "memory";

/// All parameters of a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Groups of CPUs; the first one that contains both CPUs of a pair counts.
    pub clusters: Vec<Cluster>,
    /// Costs; the most specific one counts, and among equals the last.
    pub costs: Vec<Cost>,
    /// The slow line, if there is one.
    pub slow: Option<SlowLine>,
}

/// The result of an access, with its cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Index of the class in the directory's classes.
    class: usize,
    operation: Operation,
    state: State,
    /// Ticks, including those of a slow line.
    pub ticks: u64,
}

/// Count and duration of one kind of access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of accesses.
    pub count: u64,
    /// Modelled ticks.
    pub asked: u64,
    /// Ticks that really passed.
    pub imposed: u64,
}

/// A value for each class, operation and state.
type Table<T> = Vec<[[T; State::ALL.len()]; Operation::ALL.len()]>;

/// The holders of a line.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The common state, if several CPUs have it; [`State::Invalid`] is never kept.
    state: State,
    /// One bit for each CPU.
    holders: u64,
}

#[derive(Debug, Default)]
struct Lines {
    entries: HashMap<u64, Entry>,
    tallies: Table<Tally>,
}

/// The directory of all lines; it may be used from any thread.
#[derive(Debug)]
pub struct Directory {
    classes: Vec<String>,
    /// The class of each pair of CPUs.
    pairs: Vec<Vec<usize>>,
    costs: Table<u64>,
    slow: Option<SlowLine>,
    lines: Mutex<Lines>,
}

impl Directory {
    /// Makes an empty directory for `cpus` virtual CPUs.
    ///
    /// # Errors
    ///
    /// Too many CPUs, a cost of an unknown class, or the first missing cost.
    pub fn new(rules: &Rules, cpus: usize) -> Result<Self, String> {
        if cpus > MOST_CPUS {
            return Err(format!("{cpus} CPUs: the directory has room for {MOST_CPUS}"));
        }
        let mut classes = vec![OWN.to_owned()];
        for class in rules.clusters.iter().map(|cluster| cluster.class.as_str()).chain([FAR, MEMORY]) {
            if !classes.iter().any(|known| known == class) {
                classes.push(class.to_owned());
            }
        }
        let place = |class: &str| classes.iter().position(|known| known == class).unwrap_or(0);
        if let Some(class) =
            rules.costs.iter().filter_map(|cost| cost.class.as_ref()).find(|class| !classes.contains(class))
        {
            return Err(format!("a cost of class '{class}', which no cluster has"));
        }
        let pair = |one: usize, other: usize| {
            let both = |cluster: &&Cluster| cluster.cpus.contains(&one) && cluster.cpus.contains(&other);
            let near = rules.clusters.iter().find(both).map_or(FAR, |cluster| &cluster.class);
            place(if one == other { OWN } else { near })
        };
        let pairs: Vec<Vec<usize>> =
            (0..cpus).map(|one| (0..cpus).map(|other| pair(one, other)).collect()).collect();
        let mut costs: Table<u64> = vec![Default::default(); classes.len()];
        for (number, (class, of_class)) in classes.iter().zip(&mut costs).enumerate() {
            // Impossible combinations need no cost.
            let is_memory = class == MEMORY;
            if !is_memory && !pairs.iter().flatten().any(|&pair| pair == number) {
                continue;
            }
            for (operation, of_operation) in Operation::ALL.into_iter().zip(of_class) {
                for (state, ticks) in State::ALL.into_iter().zip(of_operation) {
                    if is_memory == (state == State::Invalid) {
                        *ticks = rules.cost(class, operation, state)?;
                    }
                }
            }
        }
        let tallies = vec![Default::default(); classes.len()];
        let lines = Mutex::new(Lines { entries: HashMap::new(), tallies });
        Ok(Self { classes, pairs, costs, slow: rules.slow, lines })
    }

    /// Notes an access by CPU `cpu` and moves the line. Returns `None` if there is no CPU of this number.
    pub fn access(
        &self,
        cpu: usize,
        virtual_address: u64,
        physical_address: u64,
        operation: Operation,
    ) -> Option<Access> {
        let distances = self.pairs.get(cpu)?;
        let own = 1_u64 << cpu;
        let mut lines = self.locked();
        let found = lines.entries.get(&(physical_address >> LINE_SHIFT)).copied();
        // The nearest or the farthest of these CPUs, in the order of clusters.
        let of = |holders: u64, farthest: bool| {
            let held = distances.iter().enumerate().filter(|(other, _)| holders >> other & 1 == 1);
            let classes = held.map(|(_, &class)| class);
            if farthest { classes.max() } else { classes.min() }.unwrap_or(0)
        };
        let (class, state, entry) = match (found, operation) {
            (None, Operation::Load) => {
                (self.classes.len() - 1, State::Invalid, Entry { state: State::Exclusive, holders: own })
            }
            (None, _) => {
                (self.classes.len() - 1, State::Invalid, Entry { state: State::Modified, holders: own })
            }
            (Some(entry), Operation::Load) if entry.holders & own != 0 => (0, entry.state, entry),
            (Some(Entry { state, holders }), Operation::Load) => {
                (of(holders, false), state, Entry { state: State::Shared, holders: holders | own })
            }
            // All other holders have to give up the line. The slowest of them determines the cost.
            (Some(Entry { state, holders }), _) => {
                (of(holders & !own, true), state, Entry { state: State::Modified, holders: own })
            }
        };
        lines.entries.insert(physical_address >> LINE_SHIFT, entry);
        drop(lines);
        let costs = self.costs.get(class)?.get(operation as usize)?;
        let slow = self.slow.filter(|slow| {
            class != 0 && (virtual_address >> PAGE_SHIFT).checked_rem(slow.every) == Some(slow.index)
        });
        let ticks = costs.get(state as usize)?.saturating_add(slow.map_or(0, |slow| slow.ticks));
        Some(Access { class, operation, state, ticks })
    }

    /// Forgets the holders of the line with this address.
    pub fn forget(&self, physical_address: u64) {
        self.locked().entries.remove(&(physical_address >> LINE_SHIFT));
    }

    /// Notes that an access took `imposed` ticks.
    pub fn note(&self, access: &Access, imposed: u64) {
        let mut lines = self.locked();
        let of_class = lines.tallies.get_mut(access.class);
        let of_operation = of_class.and_then(|tallies| tallies.get_mut(access.operation as usize));
        if let Some(tally) = of_operation.and_then(|tallies| tallies.get_mut(access.state as usize)) {
            tally.count += 1;
            tally.asked = tally.asked.saturating_add(access.ticks);
            tally.imposed = tally.imposed.saturating_add(imposed);
        }
    }

    /// Returns the tallies of each class, operation and state that occurred.
    #[must_use]
    pub fn tallies(&self) -> Vec<(String, Tally)> {
        let lines = self.locked();
        let mut all = Vec::new();
        for (class, tallies) in self.classes.iter().zip(&lines.tallies) {
            for (operation, tallies) in Operation::ALL.iter().zip(tallies) {
                for (state, tally) in State::ALL.iter().zip(tallies).filter(|(_, tally)| tally.count > 0) {
                    all.push((format!("{class} {} {}", operation.word(), state.word()), *tally));
                }
            }
        }
        all
    }

    fn locked(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rules {
    fn cost(&self, class: &str, operation: Operation, state: State) -> Result<u64, String> {
        let fits = |cost: &&Cost| {
            cost.class.as_ref().is_none_or(|named| named == class)
                && cost.operation.is_none_or(|named| named == operation)
                && cost.state.is_none_or(|named| named == state)
        };
        let narrow = |cost: &&Cost| {
            u8::from(cost.class.is_some())
                + u8::from(cost.operation.is_some())
                + u8::from(cost.state.is_some())
        };
        let cost = self.costs.iter().filter(fits).max_by_key(narrow);
        let (operation, state) = (operation.word(), state.word());
        let missing = || format!("no cost of it: add cost={class}:{operation}:{state}:TICKS");
        cost.map(|cost| cost.ticks).ok_or_else(missing)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "count {}; asked {}; imposed {}", self.count, self.asked, self.imposed)
    }
}

#[cfg(test)]
mod tests;
