//! One set-associative level: holds blocks, and tells hits from misses.
//!
//! Used for data (a block is a line) and for translations (a block is a page). It uses neither sizes in bytes, nor
//! times, nor the levels next to it.

/// The rule by which a full set chooses its victim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replacement {
    /// The least recently used block, exactly.
    #[default]
    LeastRecentlyUsed,
    /// Any block, with equal probability, from a seeded generator.
    Random,
}

/// Marks an empty place; a block of this number would lie beyond 64 bits of address.
const EMPTY: u64 = u64::MAX;

/// A set-associative store of block numbers. Block `b` belongs to set
/// `b mod sets`; the number of sets need not be a power of two.
#[derive(Clone, Debug)]
pub struct Cache {
    /// `sets` rows of `ways` blocks. Under LRU each row is in order of use, the latest first, and the empty
    /// places are last.
    blocks: Vec<u64>,
    sets: u64,
    ways: usize,
    replacement: Replacement,
    generator: Generator,
}

impl Cache {
    /// Makes an empty cache of `sets` × `ways` blocks; each of the two is at least 1. `seed` starts the
    /// generator of random replacement.
    #[must_use]
    pub fn new(sets: u64, ways: usize, replacement: Replacement, seed: u64) -> Self {
        let (sets, ways) = (sets.max(1), ways.max(1));
        let capacity = usize::try_from(sets).unwrap_or(usize::MAX).saturating_mul(ways);
        Self { blocks: vec![EMPTY; capacity], sets, ways, replacement, generator: Generator(seed) }
    }

    /// Uses `block`; returns true for a hit. A missing block is stored in place of the victim.
    pub fn access(&mut self, block: u64) -> bool {
        let first = self.first(block);
        let Some(row) = self.blocks.get_mut(first..first + self.ways) else { return false };
        let found = row.iter().position(|&held| held == block);
        match (self.replacement, found) {
            (Replacement::LeastRecentlyUsed, Some(at)) => {
                if let Some(newer) = row.get_mut(..=at) {
                    newer.rotate_right(1);
                }
            }
            (Replacement::LeastRecentlyUsed, None) => {
                row.rotate_right(1);
                if let Some(latest) = row.first_mut() {
                    *latest = block;
                }
            }
            (Replacement::Random, Some(_)) => {}
            (Replacement::Random, None) => {
                let at = row
                    .iter()
                    .position(|&held| held == EMPTY)
                    .unwrap_or_else(|| self.generator.below(self.ways));
                if let Some(victim) = row.get_mut(at) {
                    *victim = block;
                }
            }
        }
        found.is_some()
    }

    /// Returns true if the cache has `block`; nothing changes.
    #[must_use]
    pub fn holds(&self, block: u64) -> bool {
        self.row(block).contains(&block)
    }

    /// Returns the number of blocks that fit.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.blocks.len() as u64
    }

    /// Removes `block`, if the cache has it.
    pub fn evict(&mut self, block: u64) {
        let first = self.first(block);
        let Some(row) = self.blocks.get_mut(first..first + self.ways) else { return };
        if let Some(at) = row.iter().position(|&held| held == block) {
            // Under LRU the empty places are last.
            if let Some(older) = row.get_mut(at..) {
                older.rotate_left(1);
            }
            if let Some(last) = row.last_mut() {
                *last = EMPTY;
            }
        }
    }

    /// Returns the index of the row of `block`. The set number is below `sets`, which fits into `usize`
    /// because the rows are in memory.
    fn first(&self, block: u64) -> usize {
        (block % self.sets) as usize * self.ways
    }

    fn row(&self, block: u64) -> &[u64] {
        let first = self.first(block);
        self.blocks.get(first..first + self.ways).unwrap_or_default()
    }
}

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): one addition and a mix of bits, good enough to choose a
/// victim or a factor, and equal for equal seeds.
#[derive(Clone, Debug)]
pub struct Generator(pub u64);

impl Generator {
    /// Returns the next 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`, by the high half of a widening product.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.draw()) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{HashMap, VecDeque};

    /// A plain implementation of LRU: one queue a set.
    struct Oracle {
        sets: HashMap<u64, VecDeque<u64>>,
        count: u64,
        ways: usize,
    }

    impl Oracle {
        fn access(&mut self, block: u64) -> bool {
            let set = self.sets.entry(block % self.count).or_default();
            let found = set.iter().position(|&held| held == block);
            if let Some(at) = found {
                set.remove(at);
            } else if set.len() == self.ways {
                set.pop_front();
            }
            set.push_back(block);
            found.is_some()
        }
    }

    proptest! {
        #[test]
        fn least_recently_used_agrees_with_the_plain_oracle(
            sets in 1_u64..7,
            ways in 1_usize..9,
            blocks in proptest::collection::vec(0_u64..60, 1..600),
        ) {
            let mut cache = Cache::new(sets, ways, Replacement::LeastRecentlyUsed, 0);
            let mut oracle = Oracle { sets: HashMap::new(), count: sets, ways };
            for block in blocks {
                prop_assert_eq!(cache.access(block), oracle.access(block));
            }
        }

        #[test]
        fn the_last_used_block_hits(
            random in any::<bool>(),
            blocks in proptest::collection::vec(0_u64..1000, 1..300),
        ) {
            let replacement = if random { Replacement::Random } else { Replacement::LeastRecentlyUsed };
            let mut cache = Cache::new(4, 2, replacement, 3);
            for block in blocks {
                cache.access(block);
                prop_assert!(cache.access(block));
            }
        }
    }

    /// Counts the misses of the last of `laps` cyclic walks over `blocks` blocks.
    fn misses_of_a_lap(cache: &mut Cache, blocks: u64, laps: u32) -> u64 {
        let mut misses = 0;
        for _ in 0..laps {
            misses = (0..blocks).filter(|&block| !cache.access(block)).count() as u64;
        }
        misses
    }

    #[test]
    fn a_cyclic_walk_fits_or_misses_under_least_recently_used() {
        // 64 sets × 8 ways: 512 blocks fit; each block beyond them makes its
        // whole set of nine miss.
        let cache = Cache::new(64, 8, Replacement::LeastRecentlyUsed, 0);
        for (blocks, expected) in [(512, 0), (513, 9), (520, 72), (576, 576), (1000, 1000)] {
            assert_eq!(misses_of_a_lap(&mut cache.clone(), blocks, 3), expected, "{blocks} blocks");
        }
    }

    #[test]
    fn an_evicted_block_is_gone_and_its_place_is_reused() {
        for replacement in [Replacement::LeastRecentlyUsed, Replacement::Random] {
            let mut cache = Cache::new(1, 4, replacement, 5);
            (0..4).for_each(|block| assert!(!cache.access(block)));
            cache.evict(1);
            cache.evict(9);
            assert_eq!([0, 1, 2, 3].map(|block| cache.holds(block)), [true, false, true, true]);
            assert!(!cache.access(7) && [0, 2, 3, 7].iter().all(|&block| cache.holds(block)));
        }
    }

    #[test]
    fn random_replacement_fills_empty_places_first() {
        let mut cache = Cache::new(1, 64, Replacement::Random, 9);
        assert_eq!(misses_of_a_lap(&mut cache, 64, 2), 0);
    }

    #[test]
    fn random_replacement_follows_its_law_on_a_cyclic_walk() {
        // The miss share m of a cyclic walk over x times the capacity solves
        // m = 1 - exp(-m x); one set of many ways comes near to the limit.
        let ways = 1024;
        for (percent, expected) in [(110_u64, 0.176), (150, 0.583), (200, 0.797), (300, 0.940)] {
            let blocks = ways * percent / 100;
            let mut cache = Cache::new(1, ways as usize, Replacement::Random, 42);
            misses_of_a_lap(&mut cache, blocks, 60);
            let misses: u64 = (0..40).map(|_| misses_of_a_lap(&mut cache, blocks, 1)).sum();
            let share = misses as f64 / (40 * blocks) as f64;
            assert!((share - expected).abs() < 0.02, "{percent} %: {share}, expected {expected}");
        }
    }

    #[test]
    fn random_victims_are_spread_evenly() {
        let mut generator = Generator(7);
        let mut counts = [0_u32; 8];
        for _ in 0..80_000 {
            counts[generator.below(8)] += 1;
        }
        // Five standard deviations of a binomial around 10 000.
        assert!(counts.iter().all(|&count| count.abs_diff(10_000) < 470), "{counts:?}");
    }

    #[test]
    fn equal_seeds_give_equal_runs() {
        let run = |seed| {
            let mut cache = Cache::new(2, 4, Replacement::Random, seed);
            (0..500_u64).map(|step| cache.access(step * step % 23)).collect::<Vec<_>>()
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }
}
