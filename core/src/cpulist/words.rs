//! Operations on the bitmap words of sets of any size.

use core::fmt;

use crate::messages;

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

/// Returns the members in rising order.
pub(super) fn iter(words: &[u64]) -> Ids<'_> {
    Ids { words: words.iter(), current: 0, end: 0 }
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
