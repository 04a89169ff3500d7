//! Counts of the model.

/// The counts of one CPU or of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Loads.
    pub loads: u64,
    /// Loads that hit each cache level.
    pub hits: Vec<u64>,
    /// Loads served by another node's levels.
    pub other: u64,
    /// Loads from memory for each of [`Memory::pairs`](crate::memory::Memory::pairs).
    pub pairs: Vec<u64>,
    /// Loads among these that were slower because another node had read the line last.
    pub paid: Vec<u64>,
    /// Loads of page walks that hit each cache level.
    pub walk_hits: Vec<u64>,
    /// Loads of page walks served by another node's levels.
    pub walk_other: u64,
    /// Loads of page walks from memory for each of [`Memory::pairs`](crate::memory::Memory::pairs).
    pub walk_pairs: Vec<u64>,
    /// Loads from addresses that no node claims.
    pub unclaimed: u64,
    /// Misses of each TLB level.
    pub tlb_misses: Vec<u64>,
    /// Loads found to be on a 2 MiB page.
    pub large: u64,
    /// Loads slowed down as a tail.
    pub tails: u64,
    /// Interruptions.
    pub pauses: u64,
    /// Modelled ticks, interruptions included.
    pub ticks: u64,
}

impl Counts {
    pub(super) fn add(&mut self, other: &Counts) {
        let sum = |into: &mut Vec<u64>, from: &[u64]| {
            into.resize(into.len().max(from.len()), 0);
            into.iter_mut().zip(from).for_each(|(into, from)| *into += from);
        };
        self.loads += other.loads;
        sum(&mut self.hits, &other.hits);
        self.other += other.other;
        sum(&mut self.pairs, &other.pairs);
        sum(&mut self.paid, &other.paid);
        sum(&mut self.walk_hits, &other.walk_hits);
        self.walk_other += other.walk_other;
        sum(&mut self.walk_pairs, &other.walk_pairs);
        self.unclaimed += other.unclaimed;
        sum(&mut self.tlb_misses, &other.tlb_misses);
        self.large += other.large;
        self.tails += other.tails;
        self.pauses += other.pauses;
        self.ticks = self.ticks.saturating_add(other.ticks);
    }
}
