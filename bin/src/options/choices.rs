//! The options with a value that is one of a few words.
//!
//! Each enumeration lists its words once. The core contains the words that results use too.

use latency_core::traffic::{KINDS, Kind};
use latency_core::worded;
use latency_core::words::Worded;

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
    #[must_use]
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
