//! Coherence: who has a line, in which state, and what it costs another CPU to get it.
//!
//! A directory of the lines that the kernels between cores have touched. A line that is
//! not in it comes from memory. Costs are by the class of the pair of CPUs, the
//! operation and the state in which the line was found. It knows neither clocks nor
//! caches: a line stays where it is until somebody else takes it.

use std::collections::HashMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Base-2 logarithm of the bytes of a line, and of a page.
const LINE_SHIFT: u32 = 6;
const PAGE_SHIFT: u32 = 12;
/// Sharers are bits of a word.
const MOST_CPUS: usize = 64;

/// What an instruction does to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Loads from it.
    Load,
    /// Stores to it.
    Store,
    /// Both at once, so that nobody comes between.
    Exchange,
}

impl Operation {
    /// All of them.
    pub const ALL: [Operation; 3] = [Operation::Load, Operation::Store, Operation::Exchange];

    /// The word for it, in arguments and in the report.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Operation::Load => "load",
            Operation::Store => "store",
            Operation::Exchange => "rmw",
        }
    }
}

/// How a line was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// One CPU has it, and has changed it.
    Modified,
    /// One CPU has it.
    Exclusive,
    /// Several CPUs have it.
    Shared,
    /// Nobody has it.
    Invalid,
}

impl State {
    /// All of them.
    pub const ALL: [State; 4] = [State::Modified, State::Exclusive, State::Shared, State::Invalid];

    /// The letter for it, in arguments and in the report.
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

/// CPUs that are as near to each other as others are not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The class of its pairs; several clusters may have the same.
    pub class: String,
    /// Its CPUs.
    pub cpus: RangeInclusive<usize>,
}

/// What an operation costs; `None` is every class, operation or state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Class of the pair: of a cluster, [`OWN`], [`FAR`] or [`MEMORY`].
    pub class: Option<String>,
    /// The operation.
    pub operation: Option<Operation>,
    /// The state in which the line is found.
    pub state: Option<State>,
    /// The ticks.
    pub ticks: u64,
}

/// One page in so many whose lines take longer to come from elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowLine {
    /// The number of pages.
    pub every: u64,
    /// Which of them, by the remainder of its virtual address.
    pub index: u64,
    /// Ticks that are added.
    pub ticks: u64,
}

/// The class of a CPU and its own lines.
pub const OWN: &str = "own";
/// The class of CPUs that no cluster has in common.
pub const FAR: &str = "far";
/// The class of lines that nobody has.
pub const MEMORY: &str = "memory";

/// Everything that a directory needs to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Groups of CPUs; the first one that has both of a pair counts.
    pub clusters: Vec<Cluster>,
    /// Costs; the one that names more counts, and of equals the last.
    pub costs: Vec<Cost>,
    /// The slow line, if there is one.
    pub slow: Option<SlowLine>,
}

/// What an access found, and what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The place of the class in the directory's classes.
    class: usize,
    operation: Operation,
    state: State,
    /// Ticks, with those of a slow line.
    pub ticks: u64,
}

/// How often something happened, and how long it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Accesses.
    pub count: u64,
    /// Ticks that they were to take.
    pub asked: u64,
    /// Ticks that they took.
    pub imposed: u64,
}

/// By class, operation and state.
type Table<T> = Vec<[[T; State::ALL.len()]; Operation::ALL.len()]>;

/// Who has a line.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// In common, if more than one has it; [`State::Invalid`] is never kept.
    state: State,
    /// One bit for each CPU.
    holders: u64,
}

#[derive(Debug, Default)]
struct Lines {
    entries: HashMap<u64, Entry>,
    tallies: Table<Tally>,
}

/// Who has which line, ready to be shown accesses from any thread.
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
    /// An empty directory for `cpus` virtual CPUs.
    ///
    /// # Errors
    ///
    /// Too many CPUs, a cost of a class that is not there, and the first one that is missing.
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
            // What no CPU can meet needs no cost.
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

    /// An access by CPU `cpu`, after which the line is where the access has left it. `None` if there is no such CPU.
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
        // By the order of clusters, the nearest or the farthest of those CPUs.
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
            // All others have to give it up: the last one to answer counts.
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

    /// The line with this address is nobody's any more.
    pub fn forget(&self, physical_address: u64) {
        self.locked().entries.remove(&(physical_address >> LINE_SHIFT));
    }

    /// An access took so many ticks.
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

    /// What was noted of each class, operation and state, if anything was.
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
