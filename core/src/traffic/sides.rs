//! The choices for a measurement of bandwidth: the comparison, and the CPUs that generate traffic.

use crate::worded;

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
