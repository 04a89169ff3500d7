//! Traffic: walks over memory that keep it busy, and the times at which they touch it.
//!
//! The table of the kinds of traffic, and the counting of their lines: a loaded line
//! is read once, a line that is stored to is written once. The walks over memory
//! are in [`field`], and the times in [`pace`]. Nothing here knows
//! threads or durations.

pub mod field;
pub mod pace;
mod sides;

use crate::arch;
use crate::units::LINE;

pub use field::{Field, Part, Place};
pub use sides::{LoadFrom, Threads, View};

/// Unit of the lines of a part: the lines of the routines' largest loop.
pub const BLOCK: usize = 12;

/// Maximum number of lines of a block within which reads are permuted: 2 MiB, a huge page. Larger blocks would need
/// more entries of a TLB, and in smaller ones each page would be read again before a prefetcher has forgotten it.
pub const PERMUTED_LINES: usize = 1 << 15;

/// Number of places by which the routine of permuted reads prefetches ahead of its loads.
const AHEAD: usize = 192;

/// One kind of traffic.
///
/// Its lines are the steps of its walk; the lines loaded and stored to are counted
/// from them. Only the kinds of [`KINDS`] exist, and no copies.
#[derive(Debug)]
pub struct Kind {
    /// The name by which it is chosen.
    pub name: &'static str,
    /// A few words for help.
    pub summary: &'static str,
    /// Every step loads a line.
    loads: bool,
    /// A store to the line of every step that is a multiple of this; zero for no store.
    every: u64,
    /// A store may have to read the rest of its line first.
    owns: bool,
    /// True where each call ends with a fence that waits for its stores: some 100 ns.
    pub fenced: bool,
    access: Access,
    routine: arch::StreamRoutine,
}

/// The lines that a routine takes at each step, and the meaning of its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// The next line; the state is any number.
    Next,
    /// The next line; the state is the number of steps since the last store.
    Counted,
    /// The next line of one half, and its place in the other half.
    Halves,
    /// Any line.
    Random,
    /// The next line of the order of a block; the state is the place.
    Permuted,
}

/// The order in which lines are touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// By ascending addresses: prefetchers run ahead of the loads.
    Stream,
    /// Each line once, in an order that prefetchers do not follow, block after block.
    Permuted,
    /// Lines drawn at random.
    Random,
}

impl Pattern {
    /// Returns the word for documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Pattern::Stream => "stream",
            Pattern::Permuted => "permuted",
            Pattern::Random => "random",
        }
    }

    /// Returns the words for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Pattern::Stream => "in address order",
            Pattern::Permuted => "in a permuted order within blocks of 2 MiB",
            Pattern::Random => "at random",
        }
    }
}

/// The first kind, from which the others differ.
const READ: Kind = Kind {
    name: "read",
    summary: "every line is read",
    loads: true,
    every: 0,
    owns: false,
    fenced: false,
    access: Access::Next,
    routine: arch::STREAM_READ,
};

/// All kinds of traffic. Kinds whose traffic at the memory is known exactly come first.
///
/// The last has the name of the first: see [`Kind::permuted`].
pub static KINDS: [Kind; 11] = [
    READ,
    Kind {
        name: "3:1",
        summary: "every line is read, every third is written",
        every: 3,
        access: Access::Counted,
        routine: arch::STREAM_UPDATE3,
        ..READ
    },
    Kind {
        name: "2:1",
        summary: "every line is read, every second is written",
        every: 2,
        access: Access::Counted,
        routine: arch::STREAM_UPDATE2,
        ..READ
    },
    Kind {
        name: "1:1",
        summary: "every line is read and written",
        every: 1,
        access: Access::Counted,
        routine: arch::STREAM_UPDATE1,
        ..READ
    },
    Kind {
        name: "nt-write",
        summary: "every line is written past the caches",
        loads: false,
        every: 1,
        owns: !arch::STREAM_EXACT,
        fenced: true,
        routine: arch::STREAM_NT_WRITE,
        ..READ
    },
    Kind {
        name: "copy-nt",
        summary: "every line is copied, past the caches",
        every: 1,
        owns: !arch::STREAM_EXACT,
        fenced: true,
        access: Access::Halves,
        routine: arch::STREAM_COPY_NT,
        ..READ
    },
    Kind {
        name: "random",
        summary: "lines are read",
        access: Access::Random,
        routine: arch::STREAM_RANDOM,
        ..READ
    },
    Kind {
        name: "write",
        summary: "every line is written by plain stores",
        loads: false,
        every: 1,
        owns: true,
        routine: arch::STREAM_WRITE,
        ..READ
    },
    Kind {
        name: "copy",
        summary: "every line is copied by plain stores",
        every: 1,
        owns: true,
        access: Access::Halves,
        routine: arch::STREAM_COPY,
        ..READ
    },
    Kind { name: "read-stream", ..READ },
    Kind { name: "read", access: Access::Permuted, routine: arch::STREAM_PERMUTED, ..READ },
];

impl Kind {
    /// Returns the kinds by which traffic is chosen: each name once.
    pub fn named() -> impl Iterator<Item = &'static Kind> {
        KINDS.iter().filter(|kind| kind.access != Access::Permuted)
    }

    /// Returns the kind of the same name whose lines are permuted, or this one where there is none.
    ///
    /// Traffic beside a chain uses these: prefetchers would turn paced reads of a stream into bursts.
    #[must_use]
    pub fn permuted(&'static self) -> &'static Kind {
        let other = |kind: &&Kind| kind.access == Access::Permuted && kind.name == self.name;
        KINDS.iter().find(other).unwrap_or(self)
    }

    /// Returns the order in which lines are touched.
    #[must_use]
    pub const fn pattern(&self) -> Pattern {
        match self.access {
            Access::Next | Access::Counted | Access::Halves => Pattern::Stream,
            Access::Random => Pattern::Random,
            Access::Permuted => Pattern::Permuted,
        }
    }

    /// Returns the kind of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<&'static Kind> {
        KINDS.iter().find(|kind| kind.name == name)
    }

    /// Returns the lines that are read in the first `lines` steps.
    #[must_use]
    pub const fn reads(&self, lines: u64) -> u64 {
        self.loads as u64 * lines
    }

    /// Returns the lines that are written in the first `lines` steps, rounded down to whole lines.
    #[must_use]
    pub const fn writes(&self, lines: u64) -> u64 {
        match self.every {
            0 => 0,
            every => lines / every,
        }
    }

    /// Returns the bytes read and written in the first `lines` steps.
    ///
    /// Every six steps of any kind are whole lines.
    #[must_use]
    pub const fn bytes(&self, lines: u64) -> u64 {
        LINE.0 * (self.reads(lines) + self.writes(lines))
    }

    /// Returns the lines that memory may have to read beside those that are counted, because they are stored to.
    ///
    /// A plain store reads its line first (a read for ownership), unless the
    /// processor sees in time that all of it will be written.
    #[must_use]
    pub const fn owned(&self, lines: u64) -> u64 {
        self.owns as u64 * self.writes(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn the_table_is_in_the_documented_order() {
        let names: Vec<&str> = Kind::named().map(|kind| kind.name).collect();
        let order =
            ["read", "3:1", "2:1", "1:1", "nt-write", "copy-nt", "random", "write", "copy", "read-stream"];
        assert_eq!(names, order);
        for kind in Kind::named() {
            assert!(Kind::parse(kind.name).is_some_and(|found| core::ptr::eq(found, kind)));
        }
        assert!(Kind::parse("3:2").is_none() && Kind::parse("").is_none());
    }

    #[test]
    fn only_reads_have_a_permuted_kind() {
        for kind in Kind::named() {
            let other = kind.permuted();
            assert_eq!(other.name, kind.name);
            let expected = match kind.name {
                "read" => ("stream", "permuted"),
                "random" => ("random", "random"),
                _ => ("stream", "stream"),
            };
            assert_eq!((kind.pattern().name(), other.pattern().name()), expected, "{}", kind.name);
        }
    }

    #[test]
    fn six_steps_are_whole_lines_of_every_kind() {
        let counts: Vec<_> =
            KINDS.iter().map(|kind| (kind.reads(6), kind.writes(6), kind.owned(6), kind.bytes(6))).collect();
        let expected = [
            (6, 0, 0, 384),
            (6, 2, 0, 512),
            (6, 3, 0, 576),
            (6, 6, 0, 768),
            (0, 6, 0, 384),
            (6, 6, 0, 768),
            (6, 0, 0, 384),
            (0, 6, 6, 384),
            (6, 6, 6, 768),
            (6, 0, 0, 384),
            (6, 0, 0, 384),
        ];
        assert_eq!(counts, expected);
        for kind in &KINDS {
            assert_eq!(kind.bytes(6000), 1000 * kind.bytes(6), "{}", kind.name);
            assert_eq!(kind.bytes(0), 0);
        }
    }
}
