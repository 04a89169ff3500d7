//! What the latencies of all pairs of nodes say together.

use latency_core::topology::Topology;
use latency_core::units::NodeId;

use crate::result::Outcome;

/// The distance of a pair of nodes, in kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A node and its own memory.
    Local,
    /// Nodes of one package: sub-NUMA clusters, NPS2 and NPS4.
    SamePackage,
    /// Nodes of two packages, or of packages that nobody names.
    OtherPackage,
    /// A node without CPUs, such as CXL memory.
    MemoryOnly,
}

impl Class {
    /// Every class but the local one, those that are called remote first.
    pub const FAR: [Class; 3] = [Class::OtherPackage, Class::SamePackage, Class::MemoryOnly];

    /// Returns the class of two nodes.
    #[must_use]
    pub fn of(topology: &Topology, from: NodeId, to: NodeId) -> Class {
        if from == to {
            Class::Local
        } else if topology.node(to).is_some_and(|node| node.cpus.is_empty()) {
            Class::MemoryOnly
        } else if topology.same_package(from, to) {
            Class::SamePackage
        } else {
            Class::OtherPackage
        }
    }

    /// Returns the words for memory at that distance.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Class::Local => "Local memory",
            Class::SamePackage => "Memory of another node in the same package",
            Class::OtherPackage => "Remote memory",
            Class::MemoryOnly => "Memory of a node without CPUs",
        }
    }
}

/// One measured pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The node whose CPU did the loads.
    pub from: NodeId,
    /// The node whose memory was walked.
    pub to: NodeId,
    /// Their distance.
    pub class: Class,
    /// The latency in nanoseconds.
    pub ns: f64,
}

/// What a matrix says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conclusion {
    /// The mean latency of nodes to their own memory.
    pub local_ns: Option<f64>,
    /// The mean latencies at each distance of [`Class::FAR`].
    pub far_ns: [Option<f64>; Class::FAR.len()],
    /// The pair with the smallest latency.
    pub fastest: Option<Pair>,
    /// The pair with the largest latency; `None` where there is one pair only.
    pub slowest: Option<Pair>,
}

impl Conclusion {
    /// The distances that were measured, with their mean latencies; the first one is what remote means here.
    pub fn far(&self) -> impl Iterator<Item = (Class, f64)> {
        Class::FAR.into_iter().zip(self.far_ns).filter_map(|(class, ns)| Some((class, ns?)))
    }

    /// The mean latency of nodes to remote memory: in other packages, where there are any.
    #[must_use]
    pub fn remote_ns(&self) -> Option<f64> {
        self.far().next().map(|(_, ns)| ns)
    }

    /// How many times as long remote memory takes.
    #[must_use]
    pub fn remote_over_local(&self) -> Option<f64> {
        Some(self.remote_ns()? / self.local_ns?)
    }
}

/// The measured pairs.
pub fn pairs<'o>(
    outcomes: &'o [Outcome<'_>],
    topology: &'o Topology,
) -> impl Iterator<Item = Pair> + Clone + 'o {
    outcomes.iter().filter_map(|outcome| {
        let (from, to) = (outcome.point.initiator, outcome.point.target);
        Some(Pair { from, to, class: Class::of(topology, from, to), ns: outcome.nanoseconds()? })
    })
}

/// Returns what the pairs say together.
#[must_use]
pub fn conclude(pairs: impl Iterator<Item = Pair> + Clone) -> Conclusion {
    let mean = |class: Class| mean(pairs.clone().filter(|pair| pair.class == class));
    let by_latency = |a: &Pair, b: &Pair| a.ns.total_cmp(&b.ns);
    let fastest = pairs.clone().min_by(by_latency);
    let slowest = pairs.clone().max_by(by_latency);
    Conclusion {
        local_ns: mean(Class::Local),
        far_ns: Class::FAR.map(mean),
        fastest,
        slowest: slowest.filter(|_| pairs.clone().nth(1).is_some()),
    }
}

/// Returns how many times as long a node's remote memory takes as its own, on average.
#[must_use]
pub fn remote_over_local_of(pairs: impl Iterator<Item = Pair> + Clone, from: NodeId) -> Option<f64> {
    conclude(pairs.filter(|pair| pair.from == from)).remote_over_local()
}

fn mean(pairs: impl Iterator<Item = Pair>) -> Option<f64> {
    let (sum, count) = pairs.fold((0.0, 0_u32), |(sum, count), pair| (sum + pair.ns, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Class::{Local, MemoryOnly, OtherPackage, SamePackage};

    const fn pair(from: u32, to: u32, class: Class, ns: f64) -> Pair {
        Pair { from: NodeId(from), to: NodeId(to), class, ns }
    }

    #[test]
    fn remote_is_compared_with_local_by_means_and_by_node() {
        let pairs = [
            pair(0, 0, Local, 100.0),
            pair(0, 1, OtherPackage, 180.0),
            pair(1, 0, OtherPackage, 220.0),
            pair(1, 1, Local, 110.0),
            pair(1, 2, OtherPackage, 440.0),
        ];
        let found = conclude(pairs.into_iter());
        assert_eq!((found.local_ns, found.remote_ns()), (Some(105.0), Some(280.0)));
        assert_eq!((found.fastest, found.slowest), (Some(pairs[0]), Some(pairs[4])));
        assert_eq!(remote_over_local_of(pairs.into_iter(), NodeId(0)), Some(1.8));
        assert_eq!(remote_over_local_of(pairs.into_iter(), NodeId(1)), Some(3.0));
    }

    #[test]
    fn neighbours_in_the_package_do_not_make_remote_memory_look_near() {
        let pairs = [
            pair(0, 0, Local, 100.0),
            pair(0, 1, SamePackage, 115.0),
            pair(0, 2, OtherPackage, 200.0),
            pair(0, 3, MemoryOnly, 250.0),
        ];
        let found = conclude(pairs.into_iter());
        assert_eq!(found.remote_over_local(), Some(2.0));
        assert!(found.far().eq([(OtherPackage, 200.0), (SamePackage, 115.0), (MemoryOnly, 250.0)]));
        let one_package = conclude(pairs[..2].iter().copied());
        assert_eq!(one_package.remote_over_local(), Some(1.15));
    }

    #[test]
    fn one_pair_is_compared_with_nothing() {
        let found = conclude([pair(0, 0, Local, 100.0)].into_iter());
        assert_eq!((found.remote_over_local(), found.slowest), (None, None));
        assert_eq!(conclude([].into_iter()), Conclusion::default());
    }
}
