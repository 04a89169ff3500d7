//! The memory that traffic walks over, shared out to those who walk.
//!
//! Knows places and counts, and nothing of time or threads.
//!
//! # Safety
//!
//! A [`Field`] has the exclusive borrow of its memory and makes no reference to
//! it, as long as any of its parts lives. Until then the routines alone access
//! it, from assembly, at addresses that [`Part::touch`] keeps within the part. What they
//! find and leave there has no meaning, and every value is a valid [`Line`]. So
//! it does no harm that several threads walk at once, even over one part.

use super::{Access, Kind, BLOCK, KINDS};
use crate::arch::Line;
use core::marker::PhantomData;
use core::ptr::NonNull;

/// Memory for traffic, which may be shared by threads.
#[derive(Debug)]
pub struct Field<'m> {
    first: NonNull<Line>,
    lines: usize,
    memory: PhantomData<&'m mut [Line]>,
}

// SAFETY: it hands out addresses and reads nothing; the top of this file says why parts do no harm to each other.
unsafe impl Sync for Field<'_> {}

/// A share of a field: the place of one walk over it, and its counters.
///
/// All its lines are in use, whatever the kind: copies go from its first half to the second.
#[derive(Debug)]
pub struct Part<'m> {
    first: NonNull<Line>,
    lines: usize,
    /// The next line, of those that the kind walks over.
    at: usize,
    kind: &'static Kind,
    /// Lines of this kind so far.
    steps: u64,
    /// Lines since the last one that an update stored to.
    phase: u64,
    /// The state of all other routines: never set back, so that no store repeats the one before it.
    number: u64,
    memory: PhantomData<&'m mut [Line]>,
}

// SAFETY: a part is an address in memory that is borrowed for as long as the part lives, and numbers of its own.
unsafe impl Send for Part<'_> {}

impl<'m> Field<'m> {
    /// Takes memory; what it holds will be lost.
    #[must_use]
    pub const fn new(lines: &'m mut [Line]) -> Self {
        let count = lines.len();
        // A slice has an address even if it is empty.
        let first = NonNull::from_mut(lines).cast();
        Field { first, lines: count, memory: PhantomData }
    }

    /// Returns part `number` of `parts` of one size, which share no line: a multiple of [`BLOCK`] lines each.
    ///
    /// What does not fill a block in each is left over at the end. None if
    /// there is no such part, or less than one block for each.
    #[must_use]
    pub fn part(&self, number: usize, parts: usize) -> Option<Part<'m>> {
        let lines = self.lines.checked_div(parts)? / BLOCK * BLOCK;
        if number >= parts || lines == 0 {
            return None;
        }
        // SAFETY: `number` is below `parts`, so that this part begins and ends within the field's lines.
        let first = unsafe { self.first.add(number * lines) };
        Some(Part {
            first,
            lines,
            at: 0,
            kind: &KINDS[0],
            steps: 0,
            phase: 0,
            // Parts of one field choose lines of their own where they choose at random.
            number: number as u64,
            memory: PhantomData,
        })
    }
}

impl Part<'_> {
    /// Returns the same with another number to begin with, so that a walk stores and chooses what no other did.
    #[must_use]
    pub const fn numbered(self, number: u64) -> Self {
        Part { number, ..self }
    }

    /// Returns the number of lines, all of which are in use.
    #[must_use]
    pub const fn lines(&self) -> usize {
        self.lines
    }

    /// Touches `lines` lines, going on where the call before stopped; after the part's last line comes its first.
    ///
    /// Returns the lines touched so far since the last change of the kind, from
    /// which [`Kind::reads`] and [`Kind::writes`] tell what was read and written. A
    /// change of the kind starts at the first line.
    pub fn touch(&mut self, kind: &'static Kind, lines: usize) -> u64 {
        if !core::ptr::eq(self.kind, kind) {
            self.change(kind);
        }
        let length = match kind.access {
            Access::Halves => self.lines / 2,
            _ => self.lines,
        };
        let mut left = lines;
        while left > 0 {
            let run = match kind.access {
                Access::Random => left,
                _ => left.min(length - self.at),
            };
            let state = match kind.access {
                Access::Counted => &mut self.phase,
                _ => &mut self.number,
            };
            let from = self.first.as_ptr().wrapping_add(self.at);
            let to = from.wrapping_add(length);
            // SAFETY: `at` and `run` end within the part, whose lines can be read and written, and no Rust reference
            // to them exists. Copies go to the other half. Reads at random choose of all lines from the first, where
            // `at` stays. Updates have a state of their own, zero at a change of the kind.
            *state = unsafe { (kind.routine)(from.cast(), run, to.cast(), *state, length) };
            if kind.access != Access::Random {
                self.at += run;
                if self.at == length {
                    self.at = 0;
                }
            }
            left -= run;
        }
        self.steps += lines as u64;
        self.steps
    }

    fn change(&mut self, kind: &'static Kind) {
        (self.at, self.steps, self.phase) = (0, 0, 0);
        self.kind = kind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    /// A line as the tests make it: no walk leaves such words.
    const UNTOUCHED: Line = Line([u64::MAX / 3; 8]);

    /// The lines of `memory` that walks over part `number` of `parts` have changed.
    fn changed(lines: usize, number: usize, parts: usize, walks: &[(&'static Kind, usize)]) -> Vec<usize> {
        let mut memory = vec![UNTOUCHED; lines];
        let field = Field::new(&mut memory);
        let mut part = field.part(number, parts).expect("a part");
        for &(kind, count) in walks {
            part.touch(kind, count);
        }
        (0..lines).filter(|&line| memory[line] != UNTOUCHED).collect()
    }

    fn kind(name: &str) -> &'static Kind {
        Kind::parse(name).expect("a kind")
    }

    #[test]
    fn parts_share_no_line_and_lie_within_the_field() {
        for (lines, parts) in [(12, 1), (23, 1), (24, 2), (1000, 3), (1000, 5), (5000, 7)] {
            let mut owners = vec![0; lines];
            for number in 0..parts {
                let found = changed(lines, number, parts, &[(kind("write"), lines)]);
                assert_eq!(found.len(), lines / parts / BLOCK * BLOCK, "{lines} {parts}");
                found.into_iter().for_each(|line| owners[line] += 1);
            }
            assert!(owners.iter().all(|&owners| owners <= 1), "{lines} {parts}");
        }
    }

    #[test]
    fn what_is_no_part_is_none() {
        let mut memory = vec![UNTOUCHED; 2 * BLOCK];
        let field = Field::new(&mut memory);
        assert!(field.part(2, 2).is_none() && field.part(0, 3).is_none() && field.part(0, 0).is_none());
        assert_eq!(field.part(1, 2).map(|part| part.lines()), Some(BLOCK));
        assert!(Field::new(&mut []).part(0, 1).is_none());
    }

    #[test]
    fn a_walk_begins_again_after_the_last_line() {
        let all: Vec<usize> = (BLOCK..2 * BLOCK).collect();
        let half = &all[BLOCK / 2..];
        for (name, touched, expected) in [
            ("write", 5, &all[..5]),
            ("nt-write", 3 * BLOCK + 7, &all[..]),
            ("copy", 5, &half[..5]),
            ("copy-nt", BLOCK, half),
            ("1:1", BLOCK - 1, &all[..BLOCK - 1]),
            ("read", BLOCK, &[]),
            ("random", 3 * BLOCK, &[]),
        ] {
            // In one call, and line by line.
            let walk = kind(name);
            assert_eq!(changed(3 * BLOCK, 1, 3, &[(walk, touched)]), expected, "{name}");
            assert_eq!(changed(3 * BLOCK, 1, 3, &vec![(walk, 1); touched]), expected, "{name}");
        }
        let thirds: Vec<usize> = all.iter().copied().filter(|line| line % 3 == 2).collect();
        assert_eq!(changed(3 * BLOCK, 1, 3, &[(kind("3:1"), 100), (kind("3:1"), 1000)]), thirds);
    }

    #[test]
    fn no_store_is_silent_after_a_lap_or_a_change() {
        let mut memory = vec![Line([0; 8]); BLOCK];
        for name in ["write", "nt-write", "copy", "copy-nt", "1:1"] {
            let field = Field::new(&mut memory);
            let mut part = field.part(0, 1).expect("a part");
            let mut laps = Vec::new();
            for other in ["read", "random", "3:1", "read"] {
                part.touch(kind(name), BLOCK);
                // SAFETY: it is the field's last line, and nobody walks over it meanwhile.
                laps.push(unsafe { field.first.add(BLOCK - 1).read_volatile() });
                part.touch(kind(other), 2);
            }
            laps.windows(2).for_each(|laps| assert_ne!(laps[0], laps[1], "{name}"));
        }
    }

    proptest! {
        #[test]
        fn the_counter_tells_what_was_touched_since_a_change(walks in prop::collection::vec((0..KINDS.len(), 0usize..500), 0..20)) {
            let mut memory = vec![UNTOUCHED; 2 * BLOCK];
            let field = Field::new(&mut memory);
            let mut part = field.part(1, 2).expect("a part");
            let (mut steps, mut last) = (0, 0);
            for (place, lines) in walks {
                if place != last {
                    (last, steps) = (place, 0);
                }
                steps += lines as u64;
                prop_assert_eq!(part.touch(&KINDS[place], lines), steps);
            }
        }
    }
}
