//! Operations on the bitmap words of sets, shared by sets of every size.

use core::fmt;

/// The members of a set in rising order.
#[derive(Clone, Debug)]
pub struct Ids<'a> {
    words: core::slice::Iter<'a, u64>,
    current: u64,
    base: u32,
}

impl Iterator for Ids<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        while self.current == 0 {
            self.current = *self.words.next()?;
            self.base += 64;
        }
        let bit = self.current.trailing_zeros();
        self.current &= self.current - 1;
        Some(self.base + bit)
    }
}

/// The reason why a list could not be read, with the wrong part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListError<'a> {
    /// There is no text at all.
    Empty,
    /// An item is empty: nothing before, between or after commas.
    EmptyItem {
        /// The whole list, since there is no piece to show.
        list: &'a [u8],
    },
    /// An item is neither a number nor a range of two numbers.
    NotANumber {
        /// The text between two commas.
        piece: &'a [u8],
    },
    /// A range whose end lies before its start.
    Backwards {
        /// The text between two commas.
        piece: &'a [u8],
    },
    /// A number that an earlier item has named.
    Repeated {
        /// The text between two commas.
        piece: &'a [u8],
        /// The repeated number.
        id: u32,
    },
    /// A number that is too large for any Linux kernel of this architecture.
    TooLarge {
        /// The text between two commas.
        piece: &'a [u8],
        /// The largest number that is possible.
        largest: u32,
    },
}

/// Formats typed text in ASCII, cut to a length that is useful in a message.
fn shown(text: &[u8]) -> impl fmt::Display + '_ {
    const LONGEST: usize = 100;
    let cut = if text.len() > LONGEST { "..." } else { "" };
    let text = text.get(..LONGEST).unwrap_or(text);
    fmt::from_fn(move |out| write!(out, "{}{cut}", text.escape_ascii()))
}

impl fmt::Display for ListError<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Empty => out.write_str("the list is empty"),
            Self::EmptyItem { list } => write!(out, "empty item in '{}'", shown(list)),
            Self::NotANumber { piece } => {
                write!(out, "'{}' is neither a number nor a range such as 2-3", shown(piece))
            }
            Self::Backwards { piece } => write!(out, "the range '{}' runs backwards", shown(piece)),
            Self::Repeated { piece, id } => {
                write!(out, "'{}' names {id} a second time", shown(piece))
            }
            Self::TooLarge { piece, largest } => {
                write!(out, "'{}' is too large (at most {largest})", shown(piece))
            }
        }
    }
}

/// The rule for a list that names a number twice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeats {
    Allowed,
    Refused,
}

/// Returns the word of `id` in a bitmap, and its bit there.
pub(super) const fn split(id: u32) -> (usize, u64) {
    (id as usize / 64, 1 << (id % 64))
}

/// Adds `id`. Returns false if it was a member already, or is beyond the words.
pub(super) fn insert(words: &mut [u64], id: u32) -> bool {
    let (word, bit) = split(id);
    let Some(word) = words.get_mut(word) else { return false };
    let added = *word & bit == 0;
    *word |= bit;
    added
}

/// Returns the number of members.
pub(super) fn count(words: &[u64]) -> usize {
    words.iter().map(|word| word.count_ones() as usize).sum()
}

/// Returns the members in rising order.
pub(super) fn iter(words: &[u64]) -> Ids<'_> {
    let mut words = words.iter();
    Ids { current: words.next().copied().unwrap_or(0), words, base: 0 }
}

/// Adds the members of a list that is not empty.
pub(super) fn parse<'a>(words: &mut [u64], list: &'a [u8], repeats: Repeats) -> Result<(), ListError<'a>> {
    let capacity = (words.len() * 64) as u32;
    for piece in list.split(|byte| *byte == b',') {
        if piece.is_empty() {
            return Err(ListError::EmptyItem { list });
        }
        let mut ends = piece.splitn(2, |byte| *byte == b'-');
        let first = parse_id(piece, ends.next().unwrap_or_default(), capacity)?;
        let last = match ends.next() {
            Some(end) => parse_id(piece, end, capacity)?,
            None => first,
        };
        if last < first {
            return Err(ListError::Backwards { piece });
        }
        for id in first..=last {
            if !insert(words, id) && repeats == Repeats::Refused {
                return Err(ListError::Repeated { piece, id });
            }
        }
    }
    Ok(())
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

/// Writes the kernel's notation, `0,2-3`; writes nothing for the empty set.
pub(super) fn write(words: &[u64], out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut ids = iter(words);
    let mut separator = "";
    let mut next = ids.next();
    while let Some(first) = next {
        let mut last = first;
        next = ids.next();
        while let Some(following) = next.filter(|&following| following == last + 1) {
            last = following;
            next = ids.next();
        }
        write!(out, "{separator}{first}")?;
        if last > first {
            write!(out, "-{last}")?;
        }
        separator = ",";
    }
    Ok(())
}
