//! The hops that a program timed, by pair of nodes and by source of the line.

use std::fmt;

use crate::model::{Outcome, Source};

/// Windows that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Run of the program, counted from 1; 0 if the beginning of a run is not known.
    pub run: u32,
    /// Index in [`Memory::pairs`](crate::memory::Memory::pairs) of the CPU's node and the line's.
    pub pair: Option<usize>,
    /// Number of hops of a window.
    pub hops: u64,
}

/// Hops of some windows, by source of the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Hops served by memory.
    pub memory: u64,
    /// Hops among these that were slower because another node had read the line last.
    pub paid: u64,
    /// Hops served by a cache of the CPU, of its node, or of all nodes.
    pub own: u64,
    /// Hops served by a cache of another node.
    pub other: u64,
    /// Modelled ticks of all hops, with interruptions.
    pub asked: u64,
}

impl Served {
    /// Adds a hop.
    pub fn hop(&mut self, outcome: &Outcome) {
        match outcome.source {
            Source::Level(_) => self.own += 1,
            Source::Other => self.other += 1,
            Source::Memory(_) | Source::Unclaimed => self.memory += 1,
        }
        self.paid += u64::from(outcome.paid);
        self.asked = self.asked.saturating_add(outcome.ticks).saturating_add(outcome.pause);
    }

    /// Adds other hops.
    pub fn add(&mut self, more: &Served) {
        self.memory += more.memory;
        self.paid += more.paid;
        self.own += more.own;
        self.other += more.other;
        self.asked = self.asked.saturating_add(more.asked);
    }

    /// Returns the number of hops.
    #[must_use]
    pub const fn hops(&self) -> u64 {
        self.memory + self.own + self.other
    }
}

impl fmt::Display for Served {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Served { memory, paid, own, other, asked } = self;
        write!(out, "memory {memory}; paid {paid}; own caches {own}; other caches {other}; asked {asked}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hops_are_counted_by_source() {
        let outcome = |source, paid| Outcome {
            ticks: 10,
            tail: 0,
            translation: 0,
            misses: 0,
            pause: 2,
            source,
            pair: Some(1),
            paid,
            prefetched: 0,
        };
        let mut served = Served::default();
        for (source, paid) in [
            (Source::Memory(1), false),
            (Source::Memory(1), true),
            (Source::Level(3), false),
            (Source::Other, false),
        ] {
            served.hop(&outcome(source, paid));
        }
        let mut all = served;
        all.add(&served);
        assert_eq!(all.hops(), 8);
        assert_eq!(all.to_string(), "memory 4; paid 2; own caches 2; other caches 2; asked 96");
    }
}
