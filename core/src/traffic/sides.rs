//! The CPUs that generate traffic, and the comparisons of bandwidth.

use crate::words::Worded;

/// The comparison for which bandwidth is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// The CPUs of every node with the memory of every node.
    #[default]
    Nodes,
    /// Every kind of traffic, on one core and on all cores of a node.
    Mix,
    /// One, two, four and more cores of a node.
    Scaling,
    /// Each core alone.
    Cores,
}

impl Worded for View {
    const WORDS: &'static [(&'static str, Self)] =
        &[("nodes", View::Nodes), ("mix", View::Mix), ("scaling", View::Scaling), ("cores", View::Cores)];
}

/// The hardware threads on which generators run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// One thread of each core.
    #[default]
    One,
    /// All threads of each core.
    All,
}

impl Worded for Threads {
    const WORDS: &'static [(&'static str, Self)] = &[("one", Threads::One), ("all", Threads::All)];
}

/// The nodes whose CPUs generate traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadFrom {
    /// The node of the CPU that runs the chase.
    #[default]
    Initiator,
    /// The node of the memory that the chase reads.
    Target,
    /// All nodes.
    All,
}

impl Worded for LoadFrom {
    const WORDS: &'static [(&'static str, Self)] =
        &[("cpunode", LoadFrom::Initiator), ("memnode", LoadFrom::Target), ("all", LoadFrom::All)];
}
