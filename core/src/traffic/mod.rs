//! Traffic: walks over memory that keep it busy, and the times of their accesses.
//!
//! This file contains the table of the kinds of traffic, the choices for a measurement of bandwidth, and the counting
//! of lines: a line that is loaded is read once, and a line that is stored to is written once. The walks over memory
//! are in [`field`], and the times in [`pace`]. Nothing here uses threads or durations.

pub mod field;
pub mod pace;

use self::Access::{Counted, Halves, Next, Permuted, Random, Whole};
use self::Store::{Loaded, Past, Plain};
use crate::arch::{
    STREAM_EXACT, StreamRoutine, WHOLE_READS, lb_stream_copy, lb_stream_copynt, lb_stream_ntwrite,
    lb_stream_permuted, lb_stream_random, lb_stream_read, lb_stream_update1, lb_stream_update2,
    lb_stream_update3, lb_stream_write,
};
use crate::units::{LINE, LineSize};
use crate::{ToReal, worded};

pub use field::{Field, Part, Place};

/// Unit of the size of a part, in lines: the number of lines in one iteration of the routines' largest loop.
pub const BLOCK: usize = 12;

/// Maximum number of lines of a block within which reads are permuted: 2 MiB, a huge page. Larger blocks would need
/// more TLB entries, and in smaller blocks each page would be read again while a prefetcher still tracks it.
pub const PERMUTED_LINES: usize = 1 << 15;

/// Distance between the loads of permuted reads and their prefetches, in lines.
const AHEAD: usize = 192;
/// Number of steps after which every kind of traffic has moved a whole number of lines.
pub const WHOLE_STEPS: u64 = 6;

/// One kind of traffic.
///
/// Each step of its walk touches one line; the numbers of lines loaded and stored to are computed
/// from the number of steps. The only values are those in [`KINDS`], and they cannot be copied.
#[derive(Debug)]
pub struct Kind {
    /// The name by which the user chooses the kind.
    pub name: &'static str,
    /// A short description for the help text.
    pub summary: &'static str,
    /// True if every step loads a line.
    loads: bool,
    /// The number of steps per stored line: each step that is a multiple of this number stores to its line; zero for
    /// no stores.
    every: u64,
    store: Store,
    access: Access,
    routine: StreamRoutine,
}

/// The line that a routine accesses at each step, and the meaning of its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// The next line; the state is any number.
    Next,
    /// The next line; the state is the number of steps since the last store.
    Counted,
    /// The next line of one half, and the corresponding line of the other half.
    Halves,
    /// A random line.
    Random,
    /// The next line in the permuted order of a block; the state is the place in this order.
    Permuted,
    /// The next line, as often around as the call lasts; the state is the place of the line.
    Whole,
}

worded! {
    /// The order in which lines are touched.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Pattern {
        /// In order of ascending addresses: prefetchers run ahead of the loads.
        Stream = "stream",
        /// Each line once, in an order that prefetchers do not follow, block after block.
        Permuted = "permuted",
        /// Lines drawn at random.
        Random = "random",
    }
}

impl Pattern {
    /// Returns the words for printed text.
    pub const fn words(self) -> &'static str {
        match self {
            Pattern::Stream => "in address order",
            Pattern::Permuted => "in a permuted order within blocks of 2 MiB",
            Pattern::Random => "at random",
        }
    }
}

/// The stores of a kind, and whether a store may first have to read its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Store {
    /// None, or only to lines that were loaded.
    Loaded,
    /// Plain stores: a processor may read the line, unless it detects in time that the whole line will be written.
    Plain,
    /// Stores past the caches, with a fence at the end of each call, which takes some 100 ns.
    Past,
}

/// Returns a kind whose steps load a line each if `loads`; every step whose number is a multiple of `every` stores to one.
const fn kind(
    name: &'static str,
    summary: &'static str,
    (loads, every): (bool, u64),
    store: Store,
    access: Access,
    routine: StreamRoutine,
) -> Kind {
    Kind { name, summary, loads, every, store, access, routine }
}

/// All kinds of traffic. Kinds whose traffic at the memory is known exactly come first, if stores past the caches are
/// exact.
///
/// The last kind has the same name as the first: see [`Kind::permuted`].
pub static KINDS: [Kind; 11] = [
    kind("read", "every line is read", (true, 0), Loaded, Next, lb_stream_read),
    kind("3:1", "every line is read, every third is written", (true, 3), Loaded, Counted, lb_stream_update3),
    kind("2:1", "every line is read, every second is written", (true, 2), Loaded, Counted, lb_stream_update2),
    kind("1:1", "every line is read and written", (true, 1), Loaded, Counted, lb_stream_update1),
    kind("nt-write", "every line is written past the caches", (false, 1), Past, Next, lb_stream_ntwrite),
    kind("copy-nt", "every line is copied, past the caches", (true, 1), Past, Halves, lb_stream_copynt),
    kind("random", "lines are read", (true, 0), Loaded, Random, lb_stream_random),
    kind("write", "every line is written by plain stores", (false, 1), Plain, Next, lb_stream_write),
    kind("copy", "every line is copied by plain stores", (true, 1), Plain, Halves, lb_stream_copy),
    kind("read-stream", "every line is read", (true, 0), Loaded, Next, lb_stream_read),
    kind("read", "every line is read", (true, 0), Loaded, Permuted, lb_stream_permuted),
];

/// Reads of whole lines by vectors of 16, 32 and 64 bytes, under the name of the first kind: see [`Kind::whole`].
static WHOLE: [Kind; 3] = [whole(WHOLE_READS[0]), whole(WHOLE_READS[1]), whole(WHOLE_READS[2])];

const fn whole(routine: StreamRoutine) -> Kind {
    kind("read", "every byte is read", (true, 0), Loaded, Whole, routine)
}

impl Kind {
    /// Returns the kinds that a user can choose, with each name once.
    pub fn named() -> impl Iterator<Item = &'static Kind> {
        KINDS.iter().filter(|kind| kind.access != Permuted)
    }

    /// Returns the kind of the same name with permuted lines, or this kind if there is none.
    ///
    /// Traffic during a chase uses these kinds: prefetchers would turn paced reads of a stream into bursts.
    pub fn permuted(&'static self) -> &'static Kind {
        let other = |kind: &&Kind| kind.access == Permuted && kind.name == self.name;
        KINDS.iter().find(other).unwrap_or(self)
    }

    /// Returns the kind of the same name that loads every byte of each line, by vectors of at most `vector_bytes`, or this
    /// kind if there is none.
    ///
    /// Caches are measured with these kinds: they deliver what is loaded, and memory delivers whole lines.
    pub fn whole(&'static self, vector_bytes: u32) -> &'static Kind {
        let executable = vector_bytes.min(crate::arch::vector_bytes());
        WHOLE
            .get((executable / 16).max(1).ilog2() as usize)
            .filter(|whole| whole.name == self.name)
            .unwrap_or(self)
    }

    /// Returns whether the kind loads every byte of each line.
    pub fn is_whole(&self) -> bool {
        self.access == Whole
    }

    /// Returns the order in which lines are touched.
    pub const fn pattern(&self) -> Pattern {
        match self.access {
            Next | Counted | Halves | Whole => Pattern::Stream,
            Random => Pattern::Random,
            Permuted => Pattern::Permuted,
        }
    }

    /// Returns the kind with this name.
    pub fn parse(name: &str) -> Option<&'static Kind> {
        KINDS.iter().find(|kind| kind.name == name)
    }

    /// Returns the number of lines that the first `lines` steps read.
    pub const fn reads(&self, lines: u64) -> u64 {
        self.loads as u64 * lines
    }

    /// Returns the number of lines that the first `lines` steps write, rounded down to whole lines.
    pub const fn writes(&self, lines: u64) -> u64 {
        match self.every {
            0 => 0,
            every => lines / every,
        }
    }

    /// Returns the number of bytes that the first `lines` steps read and write.
    ///
    /// For each kind, [`WHOLE_STEPS`] steps read and write whole lines.
    pub const fn bytes(&self, lines: u64) -> u64 {
        LINE.0 * (self.reads(lines) + self.writes(lines))
    }

    /// Returns the bytes moved per line of 64 bytes: the line is read, written, or both.
    pub fn bytes_per_line(&self) -> f64 {
        self.bytes(WHOLE_STEPS).real() / WHOLE_STEPS.real()
    }

    /// Returns the number of [`LINE`]s that one step moves on a machine with cache lines of `line` bytes: a random line
    /// is moved as a whole, and every other walk touches all parts of a line.
    pub const fn lines_per_step(&self, line: LineSize) -> u64 {
        match self.access {
            Random => line.bytes().0 / LINE.0,
            _ => 1,
        }
    }

    /// Returns true if the counts are exact on a machine with cache lines of `line` bytes: if longer lines are stored to
    /// in part, all of them are written, and not every second or third.
    pub const fn is_exact_with(&self, line: LineSize) -> bool {
        self.every <= 1 || line.bytes().0 <= LINE.0
    }

    /// Returns the number of lines that may be read from memory in addition to the counted lines, because of stores.
    ///
    /// A plain store first reads its line (a read for ownership), unless the processor detects in
    /// time that the whole line will be written.
    pub const fn owned(&self, lines: u64) -> u64 {
        let owns = match self.store {
            Loaded => false,
            Plain => true,
            Past => !STREAM_EXACT,
        };
        owns as u64 * self.writes(lines)
    }

    /// Returns true if each call ends with a fence that waits for its stores, which takes some 100 ns.
    pub fn is_fenced(&self) -> bool {
        self.store == Past
    }
}

worded! {
    /// The comparison for which bandwidth is measured.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum View {
        /// The CPUs of every node with the memory of every node.
        #[default]
        Nodes = "nodes",
        /// Every kind of traffic, on one core and on all cores of a node.
        Mix = "mix",
        /// One, two, four and more cores of a node.
        Scaling = "scaling",
        /// Each core alone.
        Cores = "cores",
        /// One core and all cores of a node, by working set, through every level of the caches.
        Size = "size",
        /// The cores of each last-level cache.
        Caches = "caches",
    }

    /// The hardware threads on which generators run.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Threads {
        /// One thread of each core.
        #[default]
        One = "one",
        /// All threads of each core.
        All = "all",
    }

    /// The nodes whose CPUs generate traffic.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum LoadFrom {
        /// The node of the CPU that runs the chase.
        #[default]
        Initiator = "cpunode",
        /// The node of the memory that the chase reads.
        Target = "memnode",
        /// All nodes.
        All = "all",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;
    use crate::words::Worded;
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
            assert_eq!((kind.pattern().word(), other.pattern().word()), expected, "{}", kind.name);
        }
    }

    #[test]
    fn only_reads_have_a_whole_kind_and_it_counts_the_same_bytes() {
        for kind in Kind::named() {
            for whole in [0, 16, 32, 64, 4096].map(|vector_bytes| kind.whole(vector_bytes)) {
                assert_eq!(whole.is_whole(), kind.name == "read", "{}", kind.name);
                assert_eq!((whole.name, whole.bytes(6)), (kind.name, kind.bytes(6)));
                assert_eq!(whole.pattern(), kind.pattern(), "{}", kind.name);
            }
        }
    }

    #[test]
    fn long_lines_are_moved_as_a_whole() {
        for kind in &KINDS {
            let parts = if kind.name == "random" { [1, 2, 4] } else { [1; 3] };
            let lines = [64, 128, 256].map(|line| LineSize::of(Bytes(line)).unwrap());
            assert_eq!(lines.map(|line| kind.lines_per_step(line)), parts, "{}", kind.name);
            assert!(kind.is_exact_with(lines[0]));
            assert_eq!(kind.is_exact_with(lines[1]), !matches!(kind.name, "2:1" | "3:1"), "{}", kind.name);
        }
    }

    #[test]
    fn six_steps_are_whole_lines_of_every_kind() {
        // A line that is written past the caches by a mere hint may be read first.
        let hinted = if STREAM_EXACT { 0 } else { 6 };
        let counts: Vec<_> =
            KINDS.iter().map(|kind| (kind.reads(6), kind.writes(6), kind.owned(6), kind.bytes(6))).collect();
        let expected = [
            (6, 0, 0, 384),
            (6, 2, 0, 512),
            (6, 3, 0, 576),
            (6, 6, 0, 768),
            (0, 6, hinted, 384),
            (6, 6, hinted, 768),
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
