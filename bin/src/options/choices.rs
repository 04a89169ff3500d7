//! The values that options accept: enumerations of a few words, and the kinds of values as help and messages name them.
//!
//! Each enumeration lists its words once. The core contains the words that results use too.

use latency_core::traffic::{KINDS, Kind};
use latency_core::{Worded, worded};

/// The length of a help text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Help {
    /// The options that most people need (`-h`).
    Short,
    /// Every option, and with an experiment its default and the reason (`--help`).
    Long,
    /// The options that every experiment has (`help options`).
    Shared,
}

worded! {
    /// The order in which the chain visits its nodes (`--order`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Order {
        /// One random cycle over the whole working set.
        #[default]
        Random = "random",
        /// Random within a base page, page after page. Prefetchers and the TLB reduce its latency.
        PageLocal = "page-local",
        /// Ascending addresses.
        Sequential = "sequential",
        /// Descending addresses.
        Backward = "backward",
        /// Random within windows of pages, each visited several times (`--visits`). The TLB reduces its latency.
        Grouped = "grouped",
    }

    /// The chase loop (`--kernel`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Kernel {
        /// Each node contains the address of the next one: one load per hop, and no other instruction.
        #[default]
        Pointer = "pointer",
        /// Each node contains the index of the next one: a load and its address arithmetic per hop.
        Index = "index",
    }
}

/// Some kinds of traffic (`--traffic`), in the order of their table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds(u16);

impl Kinds {
    /// The set without a kind.
    pub const NONE: Kinds = Kinds(0);

    /// Returns the set with the kind at `place` of [`KINDS`] added.
    pub const fn with(self, place: usize) -> Kinds {
        Kinds(self.0 | 1 << place)
    }

    /// Returns each kind in the set.
    pub fn iter(self) -> impl Iterator<Item = &'static Kind> {
        KINDS.iter().enumerate().filter(move |(place, _)| self.0 >> place & 1 == 1).map(|(_, kind)| kind)
    }
}

/// One rate of traffic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// No traffic.
    Idle,
    /// The bytes per second of all generators together.
    BytesPerSecond(f64),
    /// A fraction of the limit.
    OfLimit(f64),
    /// The maximum that the generators reach.
    Most,
}

/// The value of a saved result that commands judge (`--of`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Of {
    /// The value of the whole run: memory without address translation where both sides have it.
    #[default]
    Typical,
    /// The random load, address translation included.
    Load,
    /// The steady value, on which rounds in separate seconds agree.
    Undisturbed,
}

impl Worded for Of {
    const WORDS: &'static [(&'static str, Self)] =
        &[("typical", Of::Typical), ("load", Of::Load), ("undisturbed", Of::Undisturbed)];

    /// Returns the value with a word. Documents say `undisturbed`, and options also `steady`, which help shows.
    fn from_word(text: &[u8]) -> Option<Of> {
        match text {
            b"steady" => Some(Of::Undisturbed),
            _ => Self::WORDS.iter().find(|(word, _)| word.as_bytes() == text).map(|&(_, of)| of),
        }
    }
}

/// A kind of value.
#[derive(Debug, PartialEq, Eq)]
pub struct ValueKind {
    /// The word after the `=` in help texts, such as `SIZE` in `--size=SIZE`.
    pub name: &'static str,
    /// The text to type, in a form that can follow "use".
    pub expects: &'static str,
}

/// Returns a kind of value.
const fn kind(name: &'static str, expects: &'static str) -> ValueKind {
    ValueKind { name, expects }
}

pub(super) const LIST: ValueKind = kind("LIST", "node ids and ranges of them, such as 0,2-3, or all");
pub(super) const MEMORY: ValueKind =
    kind("LIST|local", "node ids and ranges of them, such as 0,2-3, or all, or local");
pub(super) const CPUS: ValueKind = kind("LIST", "CPU numbers and ranges of them, such as 0,2-3, or all");
pub(super) const TRAFFIC_KINDS: ValueKind = kind(
    "LIST",
    "some of read, 3:1, 2:1, 1:1, nt-write, copy-nt, random, write, copy and read-stream, such as read,2:1",
);
pub(super) const VIEW: ValueKind =
    kind("nodes|mix|scaling|cores|size|caches", "one of nodes, mix, scaling, cores, size and caches");
pub(super) const LOAD_FROM: ValueKind = kind("cpunode|memnode|all", "one of cpunode, memnode and all");
pub(super) const NODE: ValueKind = kind("N", "the id of one node, such as 1");
pub(super) const RATES: ValueKind = kind("LIST|auto", "auto, or rates such as 0,10,50%,max");
pub(super) const PACING: ValueKind = kind("poisson|even", "poisson or even");
pub(super) const THREADS: ValueKind = kind("one|all", "one or all");
pub(super) const PAIRS: ValueKind =
    kind("auto|all|classes|LIST", "auto, all, classes, or pairs of CPUs such as 0:1,4:9");
pub(super) const METHOD: ValueKind =
    kind("cas|read-cas|flag|message", "one of cas, read-cas, flag and message");
pub(super) const CPU: ValueKind =
    kind("N|first", "the number of one CPU, such as 4, or first (cores: a list such as 0,2-3)");
pub(super) const CHAINS: ValueKind =
    kind("LIST", "some of 1,2,3,4,6,8,10,12,14,16,20,24,32,48,64, or ranges of them, such as 1,4-16");
pub(super) const COUNT: ValueKind = kind("N", "a whole number, such as 1000");
pub(super) const SIZE: ValueKind = kind("SIZE", "bytes with K, M, G or T (binary), such as 256M or 1.5G");
pub(super) const UNIT: ValueKind = kind("UNIT", "B, K, M or G (binary)");
pub(super) const BYTES: ValueKind = kind("BYTES", "8, 16, 32 or a multiple of 64 bytes");
pub(super) const PERCENT: ValueKind = kind("PCT", "a percentage, such as 1 or 0.5");
pub(super) const WHOLE_SECONDS: ValueKind = kind("TIME", "whole seconds up to 1000, such as 60 or 1m");
pub(super) const TIME: ValueKind =
    kind("TIME", "seconds, or a number with ms, s, m or h, such as 10, 0.5 or 1m");
pub(super) const UNTIL: ValueKind =
    kind("quiet[=TIME]", "quiet, or quiet=TIME such as quiet=120 or quiet=2m");
pub(super) const BASELINE: ValueKind = kind("FILE", "the path of results saved with --format=jsonl");
pub(super) const EXPECTED: ValueKind =
    kind("N|FILE", "a number of hosts, or the path of a file with one host name a line");
pub(super) const OF: ValueKind = kind("typical|load|steady", "typical, load or steady");
pub(super) const FILE: ValueKind = kind("FILE", "the path of a file, or - for standard output");
pub(super) const LABEL: ValueKind = kind(
    "KEY=VALUE",
    "up to 16 different keys of letters, digits and _-./, such as rack=7 or env:SLURM_JOB_ID",
);
pub(super) const PAGES: ValueKind =
    kind("auto|4k|thp|2m|1g", "auto, 4k (base pages), thp, or a size of huge pages such as 2m or 1g");
pub(super) const ORDER: ValueKind = kind(
    "random|page-local|sequential|backward|grouped",
    "one of random, page-local, sequential, backward and grouped",
);
pub(super) const VISITS: ValueKind = kind("1|2|4", "1, 2 or 4");
pub(super) const KERNEL: ValueKind = kind("pointer|index", "pointer or index");
pub(super) const FORMAT: ValueKind = kind("FORMAT", "one of the formats");
pub(super) const WHEN: ValueKind = kind("auto|always|never", "one of auto, always and never");

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::cores::{Choice as PairChoice, Method};
    use latency_core::traffic::{LoadFrom, Threads, View};
    use latency_core::words::When;
    use std::fmt::Debug;

    fn round_trip<C: Worded + Debug + Default>() {
        for &(word, choice) in C::WORDS {
            assert_eq!(choice.word(), word);
            assert_eq!(C::from_word(word.as_bytes()), Some(choice));
        }
        assert_eq!(C::WORDS[0].1, C::default(), "the default comes first");
        assert_eq!(C::from_word(b"AUTO"), None);
    }

    #[test]
    fn every_word_has_one_value() {
        round_trip::<Order>();
        round_trip::<Kernel>();
        round_trip::<When>();
        round_trip::<Of>();
        assert_eq!(Of::from_word(b"steady"), Some(Of::Undisturbed));
        round_trip::<View>();
        round_trip::<Threads>();
        round_trip::<LoadFrom>();
        round_trip::<Method>();
        round_trip::<PairChoice>();
    }
}
