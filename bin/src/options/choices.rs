//! The options whose value is one of a few words.
//!
//! Each enumeration lists its words once; parser, messages and results use them.

use latency_core::cores::{Choice as PairChoice, Method};
use latency_core::traffic::pace::Pacing;
use latency_core::traffic::{Kind, KINDS};
use latency_core::units::PageSize;

/// A value that is one of a few words.
pub trait Choice: Copy + PartialEq + 'static {
    /// Every word with its value.
    const WORDS: &'static [(&'static str, Self)];

    /// Returns the value of the word `text`.
    #[must_use]
    fn from_word(text: &[u8]) -> Option<Self> {
        Self::WORDS.iter().find(|(word, _)| word.as_bytes() == text).map(|&(_, choice)| choice)
    }

    /// Returns the word for this value, as in options and results.
    #[must_use]
    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, choice)| *choice == self).map_or("", |&(word, _)| word)
    }
}

/// The length of a help text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Help {
    /// The options that most people need (`-h`).
    Short,
    /// Every option, and with an experiment its default and the reason (`--help`).
    Long,
}

/// The pages asked for (`--pages`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pages {
    /// The largest that works: 2 MiB, else transparent huge, else 4 KiB.
    #[default]
    Auto,
    /// 4 KiB base pages, with transparent huge pages refused.
    Small4k,
    /// Base pages that the kernel is asked to merge into 2 MiB ones.
    Thp,
    /// 2 MiB pages out of the kernel's pool.
    Huge2m,
    /// 1 GiB pages out of the kernel's pool.
    Huge1g,
}

impl Pages {
    /// Returns the unit in which the kernel maps them; base pages for what may or may not become huge.
    #[must_use]
    pub const fn page_size(self) -> PageSize {
        match self {
            Pages::Auto | Pages::Small4k | Pages::Thp => PageSize::Small,
            Pages::Huge2m => PageSize::Huge2M,
            Pages::Huge1g => PageSize::Huge1G,
        }
    }
}

impl Choice for Pages {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("auto", Pages::Auto),
        ("4k", Pages::Small4k),
        ("thp", Pages::Thp),
        ("2m", Pages::Huge2m),
        ("1g", Pages::Huge1g),
    ];
}

/// The order in which the chain visits its nodes (`--order`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// One random cycle over the whole working set.
    #[default]
    Random,
    /// Random within a 4 KiB page, page after page: prefetchers and TLB help.
    PageLocal,
    /// Ascending addresses.
    Sequential,
    /// Descending addresses.
    Backward,
}

impl Choice for Order {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("random", Order::Random),
        ("page-local", Order::PageLocal),
        ("sequential", Order::Sequential),
        ("backward", Order::Backward),
    ];
}

/// The chase loop (`--kernel`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kernel {
    /// Each node holds the address of the next: one load a hop, nothing else.
    #[default]
    Pointer,
    /// Each node holds the index of the next: a load and its address arithmetic.
    Index,
}

impl Choice for Kernel {
    const WORDS: &'static [(&'static str, Self)] = &[("pointer", Kernel::Pointer), ("index", Kernel::Index)];
}

/// Some kinds of traffic (`--traffic`), in the order of their table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds(u16);

impl Kinds {
    /// None of them.
    pub const NONE: Kinds = Kinds(0);

    /// Returns the same with the kind at a place of [`KINDS`].
    #[must_use]
    pub const fn with(self, place: usize) -> Kinds {
        Kinds(self.0 | 1 << place)
    }

    /// Returns each of them.
    pub fn iter(self) -> impl Iterator<Item = &'static Kind> {
        KINDS.iter().enumerate().filter(move |(place, _)| self.0 >> place & 1 == 1).map(|(_, kind)| kind)
    }
}

/// What bandwidth is shown of (`--view`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// Every node's CPUs against every node's memory.
    #[default]
    Nodes,
    /// Every kind of traffic, on one core and on all of a node.
    Mix,
    /// One, two, four and more cores of a node.
    Scaling,
    /// Each core by itself.
    Cores,
}

impl Choice for View {
    const WORDS: &'static [(&'static str, Self)] =
        &[("nodes", View::Nodes), ("mix", View::Mix), ("scaling", View::Scaling), ("cores", View::Cores)];
}

/// The hardware threads that generators run on (`--load-threads`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// One of each core.
    #[default]
    One,
    /// All of each core.
    All,
}

impl Choice for Threads {
    const WORDS: &'static [(&'static str, Self)] = &[("one", Threads::One), ("all", Threads::All)];
}

/// The nodes whose CPUs generate traffic (`--load-from`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadFrom {
    /// That of the chase.
    #[default]
    Initiator,
    /// That of the memory.
    Target,
    /// All of them.
    All,
}

impl Choice for LoadFrom {
    const WORDS: &'static [(&'static str, Self)] =
        &[("cpunode", LoadFrom::Initiator), ("memnode", LoadFrom::Target), ("all", LoadFrom::All)];
}

impl Choice for Pacing {
    const WORDS: &'static [(&'static str, Self)] = &[("poisson", Pacing::Poisson), ("even", Pacing::Even)];
}

/// One rate of traffic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// None at all.
    Idle,
    /// So many bytes per second of all generators together.
    BytesPerSecond(f64),
    /// A share of the limit.
    OfLimit(f64),
    /// As much as they can.
    Most,
}

/// Rates of traffic that were asked for (`--rates`): bytes, shares of the limit or words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    rates: [Rate; Rates::MOST],
    count: usize,
}

impl Rates {
    /// The most rates of one curve.
    pub const MOST: usize = 32;
    /// None of them.
    pub const NONE: Rates = Rates { rates: [Rate::Idle; Rates::MOST], count: 0 };

    /// Adds a rate; false where there is no room for it.
    pub fn push(&mut self, rate: Rate) -> bool {
        let Some(slot) = self.rates.get_mut(self.count) else { return false };
        *slot = rate;
        self.count += 1;
        true
    }

    /// Returns them.
    #[must_use]
    pub fn as_slice(&self) -> &[Rate] {
        self.rates.get(..self.count).unwrap_or_default()
    }
}

impl Choice for Method {
    const WORDS: &'static [(&'static str, Self)] = &[
        (Method::Cas.name(), Method::Cas),
        (Method::ReadCas.name(), Method::ReadCas),
        (Method::Flag.name(), Method::Flag),
        (Method::Message.name(), Method::Message),
    ];
}

impl Choice for PairChoice {
    const WORDS: &'static [(&'static str, Self)] =
        &[("auto", PairChoice::Auto), ("all", PairChoice::All), ("classes", PairChoice::Classes)];
}

/// The value of a saved result that is judged (`--of`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Of {
    /// That of the whole run.
    #[default]
    Typical,
    /// That of the rounds in which neighbours were quiet.
    Undisturbed,
}

impl Choice for Of {
    const WORDS: &'static [(&'static str, Self)] =
        &[("typical", Of::Typical), ("undisturbed", Of::Undisturbed)];
}

/// The condition on which something is shown (`--progress`, `--color`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// Only on a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Choice for When {
    const WORDS: &'static [(&'static str, Self)] =
        &[("auto", When::Auto), ("always", When::Always), ("never", When::Never)];
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    fn round_trip<C: Choice + Debug + Default>() {
        for &(word, choice) in C::WORDS {
            assert_eq!(choice.word(), word);
            assert_eq!(C::from_word(word.as_bytes()), Some(choice));
        }
        assert_eq!(C::WORDS[0].1, C::default(), "the default comes first");
        assert_eq!(C::from_word(b"AUTO"), None);
    }

    #[test]
    fn every_word_has_one_value() {
        round_trip::<Pages>();
        round_trip::<Order>();
        round_trip::<Kernel>();
        round_trip::<When>();
        round_trip::<Of>();
        round_trip::<View>();
        round_trip::<Threads>();
        round_trip::<LoadFrom>();
        round_trip::<Method>();
        round_trip::<PairChoice>();
    }
}
