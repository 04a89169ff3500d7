//! Sets of CPU and node numbers, and Linux's list notation for them.
//!
//! A set is a bitmap of fixed size, laid out as the kernel lays out an affinity
//! mask or a node mask, so that its words can be handed to a system call. The
//! notation (`0,2-3`) is that of `/sys/devices/system/node/online` and of
//! `--cpunode`. Nothing here knows which numbers exist on a machine.

mod words;

use core::fmt;

pub use words::{Ids, ListError};
use words::{Repeats, split};

/// A set of the numbers `0 .. WORDS * 64`: bit `n % 64` of word `n / 64` is number `n`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct IdSet<const WORDS: usize> {
    words: [u64; WORDS],
}

/// Logical CPUs. 8192 is the largest `NR_CPUS` that Linux can be built with.
pub type CpuSet = IdSet<128>;

/// NUMA nodes. 1024 is the largest `MAX_NUMNODES` that Linux can be built with.
pub type NodeSet = IdSet<16>;

impl<const WORDS: usize> IdSet<WORDS> {
    /// The set without members.
    pub const EMPTY: Self = Self { words: [0; WORDS] };
    /// The set of all numbers.
    pub const ALL: Self = Self { words: [u64::MAX; WORDS] };

    /// Largest number that fits in the set, plus one.
    pub const CAPACITY: u32 = (WORDS * 64) as u32;

    /// Adds `id`. Returns false if it was a member already, or is not below [`Self::CAPACITY`].
    pub fn insert(&mut self, id: u32) -> bool {
        words::insert(&mut self.words, id)
    }

    /// Returns whether `id` is a member.
    pub fn contains(&self, id: u32) -> bool {
        let (word, bit) = split(id);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Returns whether every number is a member.
    pub fn is_all(&self) -> bool {
        self.words.iter().all(|word| *word == u64::MAX)
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns whether the set has no member.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Returns the smallest member.
    pub fn first(&self) -> Option<u32> {
        self.iter().next()
    }

    /// Returns the largest member.
    pub fn last(&self) -> Option<u32> {
        let (index, word) = self.words.iter().enumerate().rev().find(|(_, word)| **word != 0)?;
        Some(index as u32 * 64 + word.ilog2())
    }

    /// Returns the members in rising order.
    pub fn iter(&self) -> Ids<'_> {
        words::iter(&self.words)
    }

    /// Returns the members that the sets have in common.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.combine(other, |mine, theirs| mine & theirs)
    }

    /// Returns the members of either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.combine(other, |mine, theirs| mine | theirs)
    }

    /// Returns the members of this set that are not in the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.combine(other, |mine, theirs| mine & !theirs)
    }

    /// Returns the bitmap, in the layout of the kernel's masks on a 64-bit machine.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the bitmap, for a system call to fill.
    #[must_use]
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Parses the content of a kernel file: the list notation, with white space around it; an empty
    /// file gives the empty set, and numbers may repeat.
    ///
    /// # Errors
    /// [`ListError`] if the text is not in the notation that the kernel writes.
    pub fn parse_kernel(text: &[u8]) -> Result<Self, ListError<'_>> {
        match text.trim_ascii() {
            [] => Ok(Self::EMPTY),
            text => Self::parse(text, Repeats::Allowed),
        }
    }

    /// Parses a list that a person typed, strictly: every typing error is reported, because the
    /// wrong list would be measured for minutes.
    ///
    /// # Errors
    /// [`ListError`] with the wrong piece.
    pub fn parse_list(text: &[u8]) -> Result<Self, ListError<'_>> {
        match text {
            [] => Err(ListError::Empty),
            text => Self::parse(text, Repeats::Refused),
        }
    }

    fn parse(list: &[u8], repeats: Repeats) -> Result<Self, ListError<'_>> {
        let mut set = Self::EMPTY;
        words::parse(&mut set.words, list, repeats)?;
        Ok(set)
    }

    fn combine(&self, other: &Self, operation: impl Fn(u64, u64) -> u64) -> Self {
        let mut result = *self;
        for (mine, theirs) in result.words.iter_mut().zip(&other.words) {
            *mine = operation(*mine, *theirs);
        }
        result
    }
}

impl<const WORDS: usize> Default for IdSet<WORDS> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<const WORDS: usize> FromIterator<u32> for IdSet<WORDS> {
    /// Collects numbers; numbers beyond the capacity are left out.
    fn from_iter<I: IntoIterator<Item = u32>>(ids: I) -> Self {
        let mut set = Self::EMPTY;
        for id in ids {
            set.insert(id);
        }
        set
    }
}

impl<'a, const WORDS: usize> IntoIterator for &'a IdSet<WORDS> {
    type Item = u32;
    type IntoIter = Ids<'a>;

    fn into_iter(self) -> Ids<'a> {
        self.iter()
    }
}

/// Writes the kernel's notation, `0,2-3`; writes nothing for the empty set.
impl<const WORDS: usize> fmt::Display for IdSet<WORDS> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        words::write(&self.words, out)
    }
}

impl<const WORDS: usize> fmt::Debug for IdSet<WORDS> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "IdSet({self})")
    }
}
