//! Operations that sets of every size share, on the words of their bitmaps.
//!
//! Compiled once, whereas each method of a set is compiled for every size of set.

use core::fmt;

use super::{Ids, ListError};

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

/// Adds `id`. False where it was a member already, or is beyond the words.
#[inline(never)]
pub(super) fn insert(words: &mut [u64], id: u32) -> bool {
    let (word, bit) = split(id);
    let Some(word) = words.get_mut(word) else { return false };
    let added = *word & bit == 0;
    *word |= bit;
    added
}

/// Returns the number of members.
#[inline(never)]
pub(super) fn count(words: &[u64]) -> usize {
    words.iter().map(|word| word.count_ones() as usize).sum()
}

/// Returns the members in rising order.
#[inline(never)]
pub(super) fn iter(words: &[u64]) -> Ids<'_> {
    let mut words = words.iter();
    Ids { current: words.next().copied().unwrap_or(0), words, base: 0 }
}

/// Adds the members of a list, which is not empty.
#[inline(never)]
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

/// Writes the kernel's notation, `0,2-3`; the empty set as nothing.
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
