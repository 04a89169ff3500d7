//! The memory that traffic walks over, divided into parts for several walks.
//!
//! This file uses places and counts, but neither time nor threads.
//!
//! # Safety
//!
//! A [`Field`] has the exclusive borrow of its memory, and makes no reference to it during the
//! lifetime of its parts. During this time, only the assembly routines access the memory, at
//! addresses that [`Part::touch`] keeps within the part. The words that they load and store have no
//! meaning, and every value is a valid [`Line`]. So several threads may walk at the same time, even
//! over one part.

use super::{AHEAD, Access, BLOCK, KINDS, Kind, PERMUTED_LINES};
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

// SAFETY: a field only gives out addresses and reads nothing; the top of this file states why parts may be used at the
// same time.
unsafe impl Sync for Field<'_> {}

/// A part of a field: the memory and the position of one walk, and its counters.
///
/// Every kind of traffic uses all lines of a part: copies go from the first half to the second.
#[derive(Debug)]
pub struct Part<'m> {
    first: NonNull<Line>,
    lines: usize,
    /// The index of the next line, among the lines that the kind walks over.
    at: usize,
    kind: &'static Kind,
    /// The number of lines touched since the last change of the kind.
    steps: u64,
    /// The number of lines since the last line to which an update stored.
    phase: u64,
    /// The state of all other routines, which is never reset, so that each store writes a new number.
    number: u64,
    /// The upper bits of the state for permuted reads, which give each part a different order within its blocks.
    order: u64,
    memory: PhantomData<&'m mut [Line]>,
}

/// The place at which a walk over a part stopped, and at which another walk can continue.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    kind: &'static Kind,
    /// The number of lines of the part.
    lines: usize,
    /// The index of the next line, among the lines that the kind walks over.
    at: usize,
}

impl Place {
    /// The first line of any part.
    pub const FIRST: Place = Place { kind: &KINDS[0], lines: 0, at: 0 };
}

// SAFETY: a part consists of numbers and of an address in memory that is borrowed during the part's lifetime.
unsafe impl Send for Part<'_> {}

impl<'m> Field<'m> {
    /// Returns a field of `lines`, which traffic overwrites.
    pub const fn new(lines: &'m mut [Line]) -> Self {
        let count = lines.len();
        // A slice has an address even if it is empty.
        let first = NonNull::from_mut(lines).cast();
        Field { first, lines: count, memory: PhantomData }
    }

    /// Returns the number of lines.
    pub const fn lines(&self) -> usize {
        self.lines
    }

    /// Returns part `number` of `parts` disjoint parts of equal size, which is a multiple of [`BLOCK`] lines.
    ///
    /// Lines that do not fill a block in each part are left unused at the end. Returns `None` if
    /// `number` is not below `parts`, or if there is less than one block for each part.
    pub fn part(&self, number: usize, parts: usize) -> Option<Part<'m>> {
        self.sized(number, self.lines.checked_div(parts)?)
    }

    /// Returns part `number` of as many disjoint parts as there are, of at most `lines` lines each, rounded down to whole
    /// blocks of [`BLOCK`] lines. Returns `None` if the part does not lie within the field, or if it is less than a block.
    pub fn sized(&self, number: usize, lines: usize) -> Option<Part<'m>> {
        let lines = lines / BLOCK * BLOCK;
        if lines == 0 || number >= self.lines / lines {
            return None;
        }
        // SAFETY: at least `number` + 1 parts of this size lie within the field's lines.
        let first = unsafe { self.first.add(number * lines) };
        Some(Part {
            first,
            lines,
            at: 0,
            kind: &KINDS[0],
            steps: 0,
            phase: 0,
            // A different start number for each part, so that random reads of different parts choose different lines.
            number: number as u64,
            // The lower bits count the place in the part.
            order: (number as u64) << 40,
            memory: PhantomData,
        })
    }
}

impl Part<'_> {
    /// Returns the part with another start number, so that its walk stores other numbers and chooses other random
    /// lines.
    #[must_use]
    pub const fn numbered(self, number: u64) -> Self {
        Part { number, ..self }
    }

    /// Returns the part at the place where another walk stopped, since caches may hold the lines before this place.
    ///
    /// A part of another size continues near this place, as after a change of the kind.
    #[must_use]
    pub fn resumed(self, place: Place) -> Self {
        let Place { kind, lines, at } = place;
        let mut part = Part { kind, at, ..self };
        if lines != part.lines {
            part.at = part.fresh(kind);
        }
        part
    }

    /// Returns the place at which the walk stopped.
    pub const fn place(&self) -> Place {
        Place { kind: self.kind, lines: self.lines, at: self.at }
    }

    /// Returns the number of lines; every kind uses all of them.
    pub const fn lines(&self) -> usize {
        self.lines
    }

    /// Touches `lines` lines, starting where the last call stopped; the part's first line follows its last line.
    ///
    /// Returns the number of lines touched since the last change of the kind, from which
    /// [`Kind::reads`] and [`Kind::writes`] compute the lines read and written. A new kind starts
    /// at a block that the last kind has not just touched.
    pub fn touch(&mut self, kind: &'static Kind, lines: usize) -> u64 {
        if !core::ptr::eq(self.kind, kind) {
            self.change(kind);
        }
        let length = self.length(kind);
        let mut left = lines;
        while left > 0 {
            // Permuted blocks are as large as possible: full blocks, then smaller ones for the remaining lines.
            let at = self.at;
            let (from, end) = match kind.access {
                Access::Permuted => block(at, length),
                Access::Random | Access::Whole => (0, length),
                _ => (at, length),
            };
            let field = end - from;
            // The lines that are prefetched near the end of a block are in the next block, if the next block has the
            // same size.
            let last = end.saturating_sub(AHEAD);
            let (stop, to) = match kind.access {
                Access::Permuted if at < last => (last, from),
                Access::Permuted if end + field <= length => (end, end),
                Access::Permuted => (end, from),
                _ => (end, from + length),
            };
            let run = match kind.access {
                Access::Random | Access::Whole => left,
                _ => left.min(stop - at),
            };
            let state = match kind.access {
                Access::Counted => self.phase,
                Access::Permuted => self.order | at as u64,
                Access::Whole => at as u64,
                _ => self.number,
            };
            let [from, to] = [from, to].map(|line| self.first.as_ptr().wrapping_add(line));
            // SAFETY: the `run` lines from `at` lie within the part; its lines can be read and written, and there is
            // no Rust reference to them. Copies go to the other half. Random reads choose among all lines of the
            // part, for any `at`, and whole reads go around in it from `at`, with vectors that `Kind::whole` was told of. Permuted reads choose among the lines of a block of the part, which has a power of
            // two of lines; the lines that they prefetch need not exist. Updates have their own state, which is zero
            // at a change of the kind.
            let state = unsafe { (kind.routine)(from.cast(), run, to.cast(), state, field) };
            match kind.access {
                Access::Counted => self.phase = state,
                Access::Permuted => {}
                Access::Whole => self.at = state as usize,
                _ => self.number = state,
            }
            if !matches!(kind.access, Access::Random | Access::Whole) {
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

    /// Returns the number of lines that a kind walks over.
    const fn length(&self, kind: &Kind) -> usize {
        match kind.access {
            Access::Halves => self.lines / 2,
            _ => self.lines,
        }
    }

    /// Returns the place at which another kind or size starts: the block after the lines that were touched last, or
    /// the same place in a part with a single block.
    const fn fresh(&self, kind: &Kind) -> usize {
        let length = self.length(kind);
        if length > PERMUTED_LINES {
            self.at.next_multiple_of(PERMUTED_LINES) % length / PERMUTED_LINES * PERMUTED_LINES
        } else {
            self.at % length
        }
    }

    fn change(&mut self, kind: &'static Kind) {
        (self.at, self.steps, self.phase) = (self.fresh(kind), 0, 0);
        self.kind = kind;
    }
}

/// Returns the block of permuted lines that contains the place `at` in a part of `lines` lines, as its first line and
/// the line after its last.
///
/// For the remaining lines that do not fill a block of [`PERMUTED_LINES`], the size is halved until a block fits.
/// With the smallest size, every line is in some block.
const fn block(at: usize, lines: usize) -> (usize, usize) {
    let mut first = at / PERMUTED_LINES * PERMUTED_LINES;
    loop {
        let size = match lines.saturating_sub(first).checked_ilog2() {
            Some(bits) if bits < PERMUTED_LINES.ilog2() => 1 << bits,
            Some(_) => PERMUTED_LINES,
            None => 1,
        };
        if at < first + size {
            return (first, first + size);
        }
        first += size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::portable;
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    /// The content of an untouched line, which no walk writes.
    const UNTOUCHED: Line = Line([u64::MAX / 3; 8]);

    /// Returns the lines of memory that are changed by walks over part `number` of `parts`.
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
    fn a_part_that_does_not_exist_is_not_returned() {
        let mut memory = vec![UNTOUCHED; 2 * BLOCK];
        let field = Field::new(&mut memory);
        assert!(field.part(2, 2).is_none() && field.part(0, 3).is_none() && field.part(0, 0).is_none());
        assert_eq!(field.part(1, 2).map(|part| part.lines()), Some(BLOCK));
        assert!(Field::new(&mut []).part(0, 1).is_none());
    }

    #[test]
    fn a_walk_starts_over_after_the_last_line() {
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
            // Touches the lines in one call, and line by line.
            let walk = kind(name);
            assert_eq!(changed(3 * BLOCK, 1, 3, &[(walk, touched)]), expected, "{name}");
            assert_eq!(changed(3 * BLOCK, 1, 3, &vec![(walk, 1); touched]), expected, "{name}");
        }
        let thirds: Vec<usize> = all.iter().copied().filter(|line| line % 3 == 2).collect();
        assert_eq!(changed(3 * BLOCK, 1, 3, &[(kind("3:1"), 100), (kind("3:1"), 1000)]), thirds);
    }

    /// Returns the lines of a part that permuted reads load, starting at the place `at`.
    fn permuted(lines: usize, at: usize, count: usize) -> Vec<usize> {
        let mut at = at;
        let mut read = || {
            let (first, end) = block(at, lines);
            let (line, next) = portable::stream_permuted(end - first, at as u64);
            assert_eq!(next, at as u64 + 1);
            at = if at + 1 == lines { 0 } else { at + 1 };
            first + line
        };
        (0..count).map(|_| read()).collect()
    }

    #[test]
    fn a_permuted_pass_reads_each_line_once_block_after_block() {
        const MOST: usize = PERMUTED_LINES;
        for lines in [1, 2, 12, 24, 1000, MOST - 1, MOST, MOST + 1, 2 * MOST + 12, 3 * MOST + 4095] {
            for at in [0, lines / 2, lines - 1] {
                let mut read = permuted(lines, at, lines);
                read.sort_unstable();
                assert!(read.iter().copied().eq(0..lines), "{lines} from {at}");
            }
            for (number, chunk) in permuted(lines, 0, lines / MOST * MOST).chunks(MOST).enumerate() {
                assert!(chunk.iter().all(|line| line / MOST == number), "{lines} {number}");
            }
        }
    }

    /// Checks the order of permuted reads: equal steps between successive lines would be a stride, and repeated low
    /// bits would be a fixed order of lines within pages.
    #[test]
    fn permuted_reads_have_no_stride_and_no_period() {
        let read = permuted(PERMUTED_LINES, 0, PERMUTED_LINES);
        for distance in 1..=4 {
            let mut steps = vec![0; PERMUTED_LINES];
            read.iter()
                .zip(&read[distance..])
                .for_each(|(one, other)| steps[(other.wrapping_sub(*one)) % PERMUTED_LINES] += 1);
            let most = steps.iter().max().copied().unwrap_or(0);
            assert!(most < PERMUTED_LINES / 200, "{distance} apart: one step {most} times");
        }
        for period in (1..=4096).filter(|period| period % 64 == 0 || *period < 64) {
            let same = read.iter().zip(&read[period..]).filter(|(one, other)| **one % 64 == **other % 64);
            let (same, of) = (same.count(), PERMUTED_LINES - period);
            assert!(same < of / 8, "{period}: {same} of {of}");
        }
        // The other line of an adjacent pair, which a prefetcher may fetch, is not among the next lines.
        let mut places = vec![0_usize; PERMUTED_LINES];
        read.iter().enumerate().for_each(|(place, line)| places[*line] = place);
        assert!(places.chunks(2).all(|pair| pair[0].abs_diff(pair[1]) > 16));
    }

    /// Makes two walks of 1000 lines, the second from the end of the first, and returns the lines that each changed.
    fn resumed(lines: usize, kinds: [&'static Kind; 2]) -> [Vec<usize>; 2] {
        let mut place = Place::FIRST;
        kinds.map(|kind| {
            let mut memory = vec![UNTOUCHED; lines];
            let field = Field::new(&mut memory);
            let mut part = field.part(0, 1).expect("a part").resumed(place);
            assert_eq!(part.touch(kind, 1000), 1000);
            place = part.place();
            (0..lines).filter(|&line| memory[line] != UNTOUCHED).collect()
        })
    }

    #[test]
    fn a_walk_continues_where_the_last_one_stopped() {
        for (lines, kinds) in [
            (4 * BLOCK * 100, ["write", "write"]),
            (12 * PERMUTED_LINES, ["write", "nt-write"]),
            (12 * PERMUTED_LINES, ["1:1", "copy"]),
            (12 * PERMUTED_LINES, ["copy", "2:1"]),
        ] {
            let [first, second] = resumed(lines, kinds.map(kind));
            assert!(!first.is_empty() && !second.is_empty(), "{kinds:?}");
            assert!(second.iter().all(|line| !first.contains(line)), "{lines} {kinds:?}");
        }
        // Reads change no line, so the test compares their places.
        let mut memory = vec![UNTOUCHED; 12 * PERMUTED_LINES];
        let field = Field::new(&mut memory);
        let permuted = kind("read").permuted();
        let mut part = field.part(0, 1).expect("a part");
        part.touch(permuted, 1000);
        let place = part.place();
        let at = |part: Part<'_>, kind, lines| {
            let mut part = part.resumed(place);
            part.touch(kind, lines);
            part.at
        };
        assert_eq!(at(field.part(0, 1).expect("a part"), permuted, 1), 1001);
        assert_eq!(at(field.part(0, 1).expect("a part"), kind("read"), 1), PERMUTED_LINES + 1);
        assert_eq!(at(field.part(1, 4).expect("a part"), permuted, 1), PERMUTED_LINES + 1);
        assert_eq!(at(field.part(0, 1).expect("a part"), kind("random"), 5), PERMUTED_LINES);
    }

    #[test]
    fn every_store_changes_its_words_after_a_lap_or_a_change() {
        let mut memory = vec![Line([0; 8]); BLOCK];
        for name in ["write", "nt-write", "copy", "copy-nt", "1:1"] {
            let field = Field::new(&mut memory);
            let mut part = field.part(0, 1).expect("a part");
            let mut laps = Vec::new();
            for other in ["read", "random", "3:1", "read"] {
                part.touch(kind(name), BLOCK);
                // SAFETY: this is the field's last line, and no walk is in progress.
                laps.push(unsafe { field.first.add(BLOCK - 1).read_volatile() });
                part.touch(kind(other), 2);
            }
            laps.windows(2).for_each(|laps| assert_ne!(laps[0], laps[1], "{name}"));
        }
    }

    proptest! {
        #[test]
        fn the_counter_gives_the_lines_touched_since_a_change(walks in prop::collection::vec((0..KINDS.len(), 0usize..500), 0..20)) {
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
