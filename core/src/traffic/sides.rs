//! The CPUs that traffic comes from, and the comparison that it is measured for.

use crate::words::Worded;

/// The comparison that bandwidth is measured for.
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

impl Worded for View {
    const WORDS: &'static [(&'static str, Self)] =
        &[("nodes", View::Nodes), ("mix", View::Mix), ("scaling", View::Scaling), ("cores", View::Cores)];
}

/// The hardware threads that generators run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// One of each core.
    #[default]
    One,
    /// All of each core.
    All,
}

impl Worded for Threads {
    const WORDS: &'static [(&'static str, Self)] = &[("one", Threads::One), ("all", Threads::All)];
}

/// The nodes whose CPUs generate traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadFrom {
    /// The node of the chase.
    #[default]
    Initiator,
    /// The node of the memory.
    Target,
    /// All nodes.
    All,
}

impl Worded for LoadFrom {
    const WORDS: &'static [(&'static str, Self)] =
        &[("cpunode", LoadFrom::Initiator), ("memnode", LoadFrom::Target), ("all", LoadFrom::All)];
}
