//! Sets of CPU and node numbers, and Linux's list notation for them.
//!
//! A set is a bitmap of fixed size, laid out as the kernel lays out an affinity mask or a node mask, so that its words
//! can be handed to a system call. The notation (`0,2-3`) is that of `/sys/devices/system/node/online` and of
//! `--cpunode`. Nothing here knows which numbers exist on a machine.

use core::fmt;

use crate::messages;

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
        let (word, bit) = split(id);
        let Some(word) = self.words.get_mut(word) else { return false };
        let added = *word & bit == 0;
        *word |= bit;
        added
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
        Ids { words: self.words.iter(), current: 0, end: 0 }
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
            text => Self::parse(text, true),
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
            text => Self::parse(text, false),
        }
    }

    fn parse(list: &[u8], may_repeat: bool) -> Result<Self, ListError<'_>> {
        let mut set = Self::EMPTY;
        for piece in list.split(|byte| *byte == b',') {
            if piece.is_empty() {
                return Err(ListError::EmptyItem { list });
            }
            let mut ends = piece.splitn(2, |byte| *byte == b'-');
            let first = parse_id(piece, ends.next().unwrap_or_default(), Self::CAPACITY)?;
            let last = ends.next().map_or(Ok(first), |end| parse_id(piece, end, Self::CAPACITY))?;
            if last < first {
                return Err(ListError::Backwards { piece });
            }
            for id in first..=last {
                if !set.insert(id) && !may_repeat {
                    return Err(ListError::Repeated { piece, id });
                }
            }
        }
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
        ids.into_iter().for_each(|id| _ = set.insert(id));
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
        let mut separator = "";
        for first in self.iter().filter(|id| *id == 0 || !self.contains(id - 1)) {
            write!(out, "{separator}{first}")?;
            if let Some(last) = (first + 1..).take_while(|id| self.contains(*id)).last() {
                write!(out, "-{last}")?;
            }
            separator = ",";
        }
        Ok(())
    }
}

impl<const WORDS: usize> fmt::Debug for IdSet<WORDS> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "IdSet({self})")
    }
}

/// The members of a set in rising order.
#[derive(Clone, Debug)]
pub struct Ids<'a> {
    words: core::slice::Iter<'a, u64>,
    current: u64,
    /// The smallest number beyond the words that were taken.
    end: u32,
}

impl Iterator for Ids<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        while self.current == 0 {
            self.current = *self.words.next()?;
            self.end += 64;
        }
        let bit = self.current.trailing_zeros();
        self.current &= self.current - 1;
        Some(self.end - 64 + bit)
    }
}

messages! {
    /// The reason why a list could not be read, with the wrong part of the text: the list, or the text between two commas.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ListError<'a> {
        /// There is no text at all.
        Empty => "the list is empty";
        /// An item is empty: nothing before, between or after commas.
        EmptyItem { list: &'a [u8] } => "empty item in '{list}'"; where list = shown(list);
        /// An item is neither a number nor a range of two numbers.
        NotANumber { piece: &'a [u8] } => "'{piece}' is neither a number nor a range such as 2-3";
            where piece = shown(piece);
        /// A range whose end lies before its start.
        Backwards { piece: &'a [u8] } => "the range '{piece}' runs backwards"; where piece = shown(piece);
        /// A number that an earlier item has named.
        Repeated { piece: &'a [u8], id: u32 } => "'{piece}' names {id} a second time"; where piece = shown(piece);
        /// A number that is larger than any that a Linux kernel of this architecture can have.
        TooLarge { piece: &'a [u8], largest: u32 } => "'{piece}' is too large (at most {largest})";
            where piece = shown(piece);
    }
}

/// Formats typed text in ASCII, cut to a length that is useful in a message.
fn shown(text: &[u8]) -> impl fmt::Display + '_ {
    const LONGEST: usize = 100;
    let cut = if text.len() > LONGEST { "..." } else { "" };
    let text = text.get(..LONGEST).unwrap_or(text);
    fmt::from_fn(move |out| write!(out, "{}{cut}", text.escape_ascii()))
}

/// Returns the word of `id` in a bitmap, and its bit there.
const fn split(id: u32) -> (usize, u64) {
    (id as usize / 64, 1 << (id % 64))
}

fn parse_id<'a>(piece: &'a [u8], digits: &'a [u8], capacity: u32) -> Result<u32, ListError<'a>> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(ListError::NotANumber { piece });
    }
    let value = digits.iter().fold(0_u32, |value, digit| {
        value.saturating_mul(10).saturating_add(u32::from(digit.saturating_sub(b'0')))
    });
    if value < capacity {
        Ok(value)
    } else {
        Err(ListError::TooLarge { piece, largest: capacity.saturating_sub(1) })
    }
}
