//! Sets of CPU and node numbers.

/// A set of small numbers, one bit each, in the layout that the kernel's masks have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdSet<const WORDS: usize> {
    words: [u64; WORDS],
}

/// CPU numbers below 8192, the most that x86-64 kernels are built for.
pub type CpuSet = IdSet<128>;
/// Node numbers below 1024, the most that kernels are built for.
pub type NodeSet = IdSet<16>;

impl<const WORDS: usize> IdSet<WORDS> {
    /// The set of nothing.
    pub const EMPTY: Self = IdSet { words: [0; WORDS] };

    /// The bits, number 0 in the lowest bit of the first word.
    #[must_use]
    pub fn words(&self) -> &[u64; WORDS] {
        &self.words
    }

    /// The bits, for the kernel to fill in.
    pub fn words_mut(&mut self) -> &mut [u64; WORDS] {
        &mut self.words
    }

    /// Adds `id`; false where it was there already or is too large to be held.
    pub fn insert(&mut self, id: u32) -> bool {
        match self.words.get_mut(id as usize / 64) {
            Some(word) => {
                let bit = 1 << (id % 64);
                let new = *word & bit == 0;
                *word |= bit;
                new
            }
            None => false,
        }
    }

    /// Whether `id` is in the set.
    #[must_use]
    pub fn contains(&self, id: u32) -> bool {
        self.words.get(id as usize / 64).is_some_and(|word| word >> (id % 64) & 1 == 1)
    }

    /// The numbers in the set, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..WORDS as u32 * 64).filter(|&id| self.contains(id))
    }

    /// Whether nothing is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }
}
