//! Conclusions from the latencies of all pairs of nodes.

use core::iter::successors;

use latency_core::stats::{Estimate, Interval};
use latency_core::topology::Topology;
use latency_core::units::NodeId;

use crate::result::Outcome;

/// The kind of distance between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A node and its own memory.
    Local,
    /// Nodes of one package: sub-NUMA clusters, NPS2 and NPS4.
    SamePackage,
    /// Nodes of two packages, or of packages that the system does not name.
    OtherPackage,
    /// A node without CPUs, such as CXL memory.
    MemoryOnly,
}

impl Class {
    /// Every class but the local one; the classes that count as remote come first.
    pub const FAR: [Class; 3] = [Class::OtherPackage, Class::SamePackage, Class::MemoryOnly];

    /// Returns the class of two nodes.
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

    /// Returns the name for machine-readable output.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Local => "local",
            Class::SamePackage => "same package",
            Class::OtherPackage => "other package",
            Class::MemoryOnly => "memory only",
        }
    }

    /// Returns the beginning of a sentence about the latency at this distance: subject and verb.
    pub const fn words(self) -> [&'static str; 2] {
        match self {
            Class::Local => ["Local latency", " is"],
            Class::SamePackage => ["Latency to other nodes of the package", " is"],
            Class::OtherPackage => ["Remote latency", " is"],
            Class::MemoryOnly => ["CPU-less nodes (CXL, HBM)", ": latency"],
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
    /// The kind of distance between the nodes.
    pub class: Class,
    /// The distance in the firmware's table (SLIT), which may group pairs and is never a latency; `None` if the table
    /// lacks it.
    pub distance: Option<u8>,
    /// The latency in nanoseconds.
    pub ns: f64,
    /// Its interval, if it has one.
    pub interval: Option<Interval>,
}

impl Pair {
    /// Returns the latency with its interval.
    pub const fn estimate(&self) -> Estimate {
        Estimate { value: self.ns, interval: self.interval }
    }
}

/// The sum of latencies, and of the ends of their intervals.
#[derive(Clone, Copy, Default)]
struct Sum {
    count: u32,
    value: f64,
    /// The ends; NaN if a latency has no interval.
    low: f64,
    high: f64,
}

impl Sum {
    fn add(&mut self, Estimate { value, interval }: Estimate) {
        let unknown = Interval { low: f64::NAN, high: f64::NAN };
        let Interval { low, high } = interval.unwrap_or(unknown);
        (self.count, self.value) = (self.count + 1, self.value + value);
        (self.low, self.high) = (self.low + low, self.high + high);
    }

    /// Returns the mean. All pairs may be off to the same side, so its interval is as wide as theirs.
    fn mean(&self) -> Option<Estimate> {
        let count = f64::from(self.count);
        let interval = Interval { low: self.low / count, high: self.high / count };
        let interval = Some(interval).filter(|interval| interval.high.is_finite());
        (self.count > 0).then(|| Estimate { value: self.value / count, interval })
    }
}

/// The pairs of one class at one distance in the firmware's table, and their latencies in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistanceGroup {
    /// The class of the pairs.
    pub class: Class,
    /// The distance in the firmware's table, if it has one.
    pub distance: Option<u8>,
    /// True if pairs of the same class have another distance.
    pub divided: bool,
    /// The number of pairs.
    pub pairs: u32,
    /// The mean latency.
    pub mean: f64,
    /// The interval of the mean, if each pair has one.
    pub interval: Option<Interval>,
    /// The smallest latency.
    pub least: f64,
    /// The largest latency.
    pub most: f64,
}

impl DistanceGroup {
    /// Returns the group of the pairs at this distance, from all pairs of its class.
    fn of(class: Class, distance: Option<u8>, of_class: impl Iterator<Item = Pair>) -> DistanceGroup {
        let (mut divided, mut sum, mut least, mut most) = (false, Sum::default(), f64::INFINITY, 0.0_f64);
        for pair in of_class {
            if pair.distance == distance {
                sum.add(pair.estimate());
                (least, most) = (least.min(pair.ns), most.max(pair.ns));
            } else {
                divided = true;
            }
        }
        let Estimate { value: mean, interval } =
            sum.mean().unwrap_or(Estimate { value: f64::NAN, interval: None });
        DistanceGroup { class, distance, divided, pairs: sum.count, mean, interval, least, most }
    }

    /// Returns the mean latency with its interval.
    pub const fn estimate(&self) -> Estimate {
        Estimate { value: self.mean, interval: self.interval }
    }

    /// Returns whether the pairs differ by more than two medians that are each certain to 1 %.
    pub fn differs(&self) -> bool {
        self.most > self.least * 1.02
    }
}

/// The conclusions from a matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MatrixConclusion {
    /// The mean latency of nodes to their own memory.
    pub local_ns: Option<f64>,
    /// The mean latency of each class of [`Class::FAR`].
    pub far_ns: [Option<f64>; Class::FAR.len()],
    /// The mean latencies of local memory and of each class of [`Class::FAR`], with their intervals.
    means: [Option<Estimate>; 1 + Class::FAR.len()],
    /// The pair with the smallest latency.
    pub fastest: Option<Pair>,
    /// The pair with the largest latency; `None` if there is only one pair.
    pub slowest: Option<Pair>,
}

impl MatrixConclusion {
    /// Returns the classes that were measured, with their mean latencies; the first one counts as remote.
    pub fn far(&self) -> impl Iterator<Item = (Class, f64)> {
        Class::FAR.into_iter().zip(self.far_ns).filter_map(|(class, ns)| Some((class, ns?)))
    }

    /// Returns the mean latency of nodes to remote memory: memory in other packages, if there is any.
    pub fn remote_ns(&self) -> Option<f64> {
        self.far().next().map(|(_, ns)| ns)
    }

    /// Returns [`MatrixConclusion::local_ns`] with its interval.
    pub fn local(&self) -> Option<Estimate> {
        let [local, ..] = self.means;
        local
    }

    /// Returns [`MatrixConclusion::remote_ns`] with its interval.
    pub fn remote(&self) -> Option<Estimate> {
        let [_, far @ ..] = self.means;
        far.into_iter().flatten().next()
    }

    /// Returns the latency of remote memory over that of local memory.
    pub fn remote_over_local(&self) -> Option<f64> {
        Some(self.remote_ns()? / self.local_ns?)
    }
}

/// Returns true if memory and translation were told apart for every measured pair: then memory alone is compared, since
/// page tables may lie on another node than the memory.
pub fn is_of_memory(outcomes: &[Outcome<'_>]) -> bool {
    let mut measured = outcomes.iter().filter_map(|outcome| outcome.result.as_ref().ok()).peekable();
    measured.peek().is_some() && measured.all(|measured| measured.series.parts().is_some())
}

/// Returns the latency of a pair: of memory alone if it [is told apart](is_of_memory) for all pairs, else of a random load.
pub fn latency(outcome: &Outcome<'_>, of_memory: bool) -> Option<Estimate> {
    let series = &outcome.result.as_ref().ok()?.series;
    match of_memory {
        true => series.parts().map(|parts| parts.without_translation),
        false => Some(series.nanoseconds.into()),
    }
}

/// Returns the measured pairs, with the latency by which they are compared.
pub fn pairs<'o>(
    outcomes: &'o [Outcome<'_>],
    topology: &'o Topology,
) -> impl Iterator<Item = Pair> + Clone + 'o {
    pairs_by(outcomes, topology, is_of_memory(outcomes))
}

/// Returns the measured pairs by memory alone, or by random loads.
pub fn pairs_by<'o>(
    outcomes: &'o [Outcome<'_>],
    topology: &'o Topology,
    of_memory: bool,
) -> impl Iterator<Item = Pair> + Clone + 'o {
    outcomes.iter().filter_map(move |outcome| {
        let (from, to) = (outcome.point.initiator, outcome.point.target);
        let (class, distance) = (Class::of(topology, from, to), topology.distance(from, to));
        let Estimate { value: ns, interval } = latency(outcome, of_memory)?;
        Some(Pair { from, to, class, distance, ns, interval })
    })
}

/// Draws the conclusions from all pairs.
#[must_use]
pub fn conclude(pairs: &mut dyn Iterator<Item = Pair>) -> MatrixConclusion {
    let mut found = MatrixConclusion::default();
    let (mut sums, mut all) = ([Sum::default(); 1 + Class::FAR.len()], 0_u32);
    for pair in pairs {
        let class = Class::FAR.iter().position(|class| *class == pair.class);
        if let Some(sum) = sums.get_mut(class.map_or(0, |index| index + 1)) {
            sum.add(pair.estimate());
        }
        if found.fastest.is_none_or(|fastest| pair.ns < fastest.ns) {
            found.fastest = Some(pair);
        }
        if found.slowest.is_none_or(|slowest| pair.ns >= slowest.ns) {
            found.slowest = Some(pair);
        }
        all += 1;
    }
    let means = sums.map(|sum| sum.mean());
    let [local, far @ ..] = means.map(|mean| mean.map(|mean| mean.value));
    let slowest = found.slowest.filter(|_| all > 1);
    MatrixConclusion { local_ns: local, far_ns: far, means, slowest, ..found }
}

/// Returns the pairs grouped by class and distance in the firmware's table: local pairs first, then each class of
/// [`Class::FAR`], nearest first.
pub fn groups(pairs: impl Iterator<Item = Pair> + Clone) -> impl Iterator<Item = DistanceGroup> {
    [Class::Local].into_iter().chain(Class::FAR).flat_map(move |class| {
        let pairs = pairs.clone().filter(move |pair| pair.class == class);
        let distances = pairs.clone().map(|pair| pair.distance);
        let next = move |last: Option<Option<u8>>| {
            distances.clone().filter(|distance| last.is_none_or(|last| *distance > last)).min()
        };
        successors(next(None), move |last| next(Some(*last)))
            .map(move |distance| DistanceGroup::of(class, distance, pairs.clone()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Class::{Local, MemoryOnly, OtherPackage, SamePackage};
    use std::vec::Vec;

    /// Draws the conclusions from a slice of pairs.
    fn concluded(pairs: &[Pair]) -> MatrixConclusion {
        conclude(&mut pairs.iter().copied())
    }

    const fn pair(from: u32, to: u32, class: Class, ns: f64) -> Pair {
        Pair { from: NodeId(from), to: NodeId(to), class, distance: None, ns, interval: None }
    }

    /// Returns class, distance, number, smallest and largest latency of each group, and whether other groups have its
    /// class.
    fn grouped(pairs: &[Pair]) -> Vec<(Class, Option<u8>, u32, f64, f64, bool)> {
        let far = groups(pairs.iter().copied()).filter(|group| group.class != Local);
        far.map(|DistanceGroup { class, distance, divided, pairs, mean, least, most, .. }| {
            assert!(least <= mean && mean <= most);
            (class, distance, pairs, least, most, divided)
        })
        .collect()
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
        let found = concluded(&pairs);
        assert_eq!((found.local_ns, found.remote_ns()), (Some(105.0), Some(280.0)));
        assert_eq!((found.fastest, found.slowest), (Some(pairs[0]), Some(pairs[4])));
        let of = |from| {
            let of_node = pairs.into_iter().filter(|pair| pair.from == NodeId(from));
            conclude(&mut { of_node }).remote_over_local()
        };
        assert_eq!(of(0), Some(1.8));
        assert_eq!(of(1), Some(3.0));
    }

    #[test]
    fn the_mean_of_pairs_that_differ_has_its_range() {
        for (second, differs) in [(183.0, false), (185.0, true)] {
            let pairs = [pair(0, 1, OtherPackage, 180.0), pair(1, 0, OtherPackage, second)];
            groups(pairs.into_iter()).for_each(|group| assert_eq!(group.differs(), differs, "{group:?}"));
        }
    }

    #[test]
    fn the_interval_of_a_mean_is_the_mean_of_the_ends() {
        let within = |low, high| Some(Interval { low, high });
        let mut pairs = [pair(0, 0, Local, 100.0), pair(1, 1, Local, 120.0), pair(0, 1, OtherPackage, 200.0)];
        (pairs[0].interval, pairs[1].interval) = (within(90.0, 110.0), within(100.0, 170.0));
        let found = concluded(&pairs);
        assert_eq!(found.local(), Some(Estimate { value: 110.0, interval: within(95.0, 140.0) }));
        assert_eq!(found.remote(), Some(Estimate { value: 200.0, interval: None }));
        let local = groups(pairs.into_iter()).next().unwrap();
        assert_eq!(Some(local.estimate()), found.local());
    }

    #[test]
    fn neighbours_in_the_package_do_not_make_remote_memory_look_near() {
        let pairs = [
            pair(0, 0, Local, 100.0),
            pair(0, 1, SamePackage, 115.0),
            pair(0, 2, OtherPackage, 200.0),
            pair(0, 3, MemoryOnly, 250.0),
        ];
        let found = concluded(&pairs);
        assert_eq!(found.remote_over_local(), Some(2.0));
        assert!(found.far().eq([(OtherPackage, 200.0), (SamePackage, 115.0), (MemoryOnly, 250.0)]));
        let one_package = concluded(&pairs[..2]);
        assert_eq!(one_package.remote_over_local(), Some(1.15));
    }

    #[test]
    fn tables_with_one_distance_or_none_do_not_divide_classes() {
        for distance in [None, Some(20)] {
            let far = |from, to, class, ns| Pair { distance, ..pair(from, to, class, ns) };
            let pairs = [
                Pair { distance: distance.map(|_| 10), ..pair(0, 0, Local, 100.0) },
                far(0, 1, OtherPackage, 150.0),
                far(0, 2, OtherPackage, 210.0),
                far(0, 3, MemoryOnly, 250.0),
            ];
            let expected = [
                (OtherPackage, distance, 2, 150.0, 210.0, false),
                (MemoryOnly, distance, 1, 250.0, 250.0, false),
            ];
            assert_eq!(grouped(&pairs), expected);
        }
        // Pairs without a distance form a group, before the pairs that have one.
        let half =
            [Pair { distance: Some(21), ..pair(0, 1, OtherPackage, 150.0) }, pair(1, 0, OtherPackage, 160.0)];
        let distances: Vec<_> = grouped(&half).into_iter().map(|group| (group.1, group.5)).collect();
        assert_eq!(distances, [(None, true), (Some(21), true)]);
    }

    #[test]
    fn one_pair_is_compared_with_nothing() {
        let found = concluded(&[pair(0, 0, Local, 100.0)]);
        assert_eq!((found.remote_over_local(), found.slowest), (None, None));
        assert_eq!(concluded(&[]), MatrixConclusion::default());
    }
}
