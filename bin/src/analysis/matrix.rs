//! Conclusions from the latencies of all pairs of nodes, and their comparison with the firmware's claims about memory.
//!
//! A claim covers only the nearest nodes, and an idle machine as its maker measured it.

use alloc::vec::Vec;

use latency_core::topology::{Node, Topology};
use latency_core::{CpuId, Estimate, Interval, NodeId, Picoseconds, ToReal, math, sort_by_key};

use super::cores::middle;
use latency_engine::machine::Machine;
use latency_engine::result::{Measurement, Outcome, Point};
use latency_engine::warning::{Warning, Warnings};
use latency_report::chart::vector;

/// The kind of distance between two nodes, in the order of groups: local, then that of [`Class::FAR`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A node and its own memory.
    Local,
    /// Nodes of two packages, or of packages that the system does not name.
    OtherPackage,
    /// Nodes of one package: sub-NUMA clusters, NPS2 and NPS4.
    SamePackage,
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

/// Returns the mean of latencies; `None` without any. All pairs may be off to the same side, so its interval is as wide as
/// theirs.
fn mean<'p>(pairs: impl Iterator<Item = &'p Pair> + Clone) -> Option<Estimate> {
    let count = pairs.clone().count().real();
    let mean = |of: fn(&Pair) -> f64| pairs.clone().map(of).sum::<f64>() / count;
    let low = mean(|pair| pair.interval.map_or(f64::NAN, |interval| interval.low));
    let high = mean(|pair| pair.interval.map_or(f64::NAN, |interval| interval.high));
    let interval = high.is_finite().then_some(Interval { low, high });
    (count > 0.0).then(|| Estimate { value: mean(|pair| pair.ns), interval })
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
    pub pairs: usize,
    /// The mean latency.
    pub mean: Estimate,
    /// The smallest and the largest latency.
    pub range: Interval,
}

impl DistanceGroup {
    /// Returns whether the pairs differ by more than two medians that are each certain to 1 %.
    pub fn differs(&self) -> bool {
        self.range.high > self.range.low * 1.02
    }
}

/// The mean latencies of pairs by class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassMeans {
    /// The mean latency of nodes to their own memory.
    pub local: Option<Estimate>,
    /// The mean latencies of the other classes that were measured; the first one counts as remote.
    pub far: Vec<(Class, Estimate)>,
}

impl ClassMeans {
    /// Returns the means of some pairs.
    pub fn of(pairs: &[Pair]) -> ClassMeans {
        let of = |class| mean(pairs.iter().filter(move |pair| pair.class == class));
        let far = Class::FAR.into_iter().filter_map(|class| Some((class, of(class)?)));
        ClassMeans { local: of(Class::Local), far: vector(far) }
    }

    /// Returns the mean latency of nodes to remote memory: memory in other packages, if there is any.
    pub fn remote(&self) -> Option<Estimate> {
        self.far.first().map(|(_, mean)| *mean)
    }

    /// Returns the latency of remote memory over that of local memory.
    pub fn remote_over_local(&self) -> Option<f64> {
        Some(self.remote()?.value / self.local?.value)
    }
}

/// The conclusions from a matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixConclusion {
    /// The measured pairs, with the latency by which they are compared.
    pub pairs: Vec<Pair>,
    /// True if this is the latency of memory, and not that of a random load.
    pub of_memory: bool,
    /// The means of this latency.
    pub means: ClassMeans,
    /// The means of the latencies of random loads.
    pub loads: ClassMeans,
    /// The pairs grouped by class and distance: local pairs first, then each class of [`Class::FAR`], nearest first.
    pub groups: Vec<DistanceGroup>,
    /// The pair with the smallest latency.
    pub fastest: Option<Pair>,
    /// The pair with the largest latency; `None` if there is only one pair.
    pub slowest: Option<Pair>,
}

/// Returns true if memory and translation were told apart for every measured pair: then memory alone is compared, since
/// page tables may lie on another node than the memory.
fn is_of_memory(outcomes: &[Outcome]) -> bool {
    let mut measured = outcomes.iter().filter_map(|outcome| outcome.result.as_ref().ok()).peekable();
    measured.peek().is_some() && measured.all(|measured| measured.series.parts().is_some())
}

/// Returns the latency of a pair: of memory alone if it [is told apart](is_of_memory) for all pairs, else of a random load.
pub fn latency(outcome: &Outcome, of_memory: bool) -> Option<Estimate> {
    let series = &outcome.result.as_ref().ok()?.series;
    match of_memory {
        true => series.parts().map(|parts| parts.without_translation),
        false => Some(series.nanoseconds.into()),
    }
}

/// Returns the measured pairs by memory alone, or by random loads.
fn pairs(outcomes: &[Outcome], topology: &Topology, of_memory: bool) -> Vec<Pair> {
    let pair = |outcome: &Outcome| {
        let (from, to) = (outcome.point.initiator, outcome.point.target);
        let (class, distance) = (Class::of(topology, from, to), topology.distance(from, to));
        let Estimate { value: ns, interval } = latency(outcome, of_memory)?;
        Some(Pair { from, to, class, distance, ns, interval })
    };
    vector(outcomes.iter().filter_map(pair))
}

/// Returns the measured pairs by the latency that is compared: memory alone if it is told apart for all of them.
pub fn compared(outcomes: &[Outcome], topology: &Topology) -> Vec<Pair> {
    pairs(outcomes, topology, is_of_memory(outcomes))
}

/// Draws the conclusions from the points of all pairs.
pub fn conclude(outcomes: &[Outcome], topology: &Topology) -> MatrixConclusion {
    #[cfg(test)]
    super::drawn_tests::draws("matrix");
    let of_memory = is_of_memory(outcomes);
    let loads = ClassMeans::of(&pairs(outcomes, topology, false));
    concluded(pairs(outcomes, topology, of_memory), of_memory, loads)
}

fn concluded(pairs: Vec<Pair>, of_memory: bool, loads: ClassMeans) -> MatrixConclusion {
    let by_latency = |one: &&Pair, other: &&Pair| one.ns.total_cmp(&other.ns);
    MatrixConclusion {
        of_memory,
        means: ClassMeans::of(&pairs),
        loads,
        groups: groups(&pairs),
        fastest: pairs.iter().min_by(by_latency).copied(),
        slowest: pairs.iter().max_by(by_latency).copied().filter(|_| pairs.len() > 1),
        pairs,
    }
}

/// Returns pairs grouped by class and distance in the firmware's table.
pub fn groups(pairs: &[Pair]) -> Vec<DistanceGroup> {
    let mut sorted = pairs.to_vec();
    sort_by_key(&mut sorted, |pair| (pair.class, pair.distance, pair.from, pair.to));
    let group = |group: &[Pair]| {
        let Pair { class, distance, .. } = *group.first()?;
        let is_other = |pair: &Pair| pair.class == class && pair.distance != distance;
        let ns = || group.iter().map(|pair| pair.ns);
        Some(DistanceGroup {
            class,
            distance,
            divided: pairs.iter().any(is_other),
            pairs: group.len(),
            mean: mean(group.iter())?,
            range: Interval { low: ns().reduce(f64::min)?, high: ns().reduce(f64::max)? },
        })
    };
    let groups = sorted.chunk_by(|one, other| (one.class, one.distance) == (other.class, other.distance));
    vector(groups.filter_map(group))
}

/// Minimum relative difference between two cores that is named: two measurements of one core may differ by as much.
const UNLIKE: f64 = 0.03;
/// Share of interrupted trials from which a core's latency is not compared: other work on it may be the cause.
const INTERRUPTED: f64 = 0.1;

/// A core whose latency to the memory of its own node differs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnlikeCore {
    /// Its CPU.
    pub cpu: CpuId,
    /// Its latency in nanoseconds.
    pub ns: f64,
    /// This latency as a multiple of the one that it is compared with.
    pub ratio: f64,
}

/// Returns the cores that differ beyond both intervals and by a real share: from the CPU that measures for their node; or, of
/// each core of a machine, those that are slower than the median of the others of their kind there.
pub fn unlike(outcomes: &[Outcome], machine: &Machine, each: bool) -> Vec<UnlikeCore> {
    let mut found = Vec::new();
    for Outcome { point: Point { cpu, initiator, target, .. }, result } in outcomes {
        if initiator != target {
            continue;
        }
        let mut others: Vec<Estimate> = Vec::new();
        for Outcome { point, result } in outcomes {
            let is_like = match each {
                true => point.cpu != *cpu && machine.kind_of(point.cpu) == machine.kind_of(*cpu),
                false => Some(point.cpu) == machine.cpu_of(*initiator),
            };
            if let (true, Ok(measured)) =
                (is_like && [point.initiator, point.target] == [*initiator; 2], result)
            {
                others.push(measured.series.nanoseconds.into());
            }
        }
        let (Ok(Measurement { series, .. }), Some(like)) = (result, middle(&others)) else { continue };
        let (ns, ratio) = (series.nanoseconds.median, series.nanoseconds.median / like.value);
        let Some((own, other)) = series.nanoseconds.interval.zip(like.interval) else { continue };
        let is_slower = own.low > other.high && ratio > 1.0 + UNLIKE;
        let is_faster = own.high < other.low && ratio < 1.0 - UNLIKE && !each;
        if (is_slower || is_faster) && series.disturbed_share() < INTERRUPTED {
            found.push(UnlikeCore { cpu: *cpu, ns, ratio });
        }
    }
    found
}

/// Relative error of a claim that is reported: firmware is seldom exact, but software that relies on a claim this far
/// off chooses wrongly.
const DIFFERS: f64 = 0.25;
/// Least ratio of latencies at which two memories are of different tiers; a tier is memory of about one speed.
const OF_ANOTHER_TIER: f64 = 1.5;

/// Returns the lowest measured latency of a node's memory, in nanoseconds: from the nodes that the claim is for, if
/// there is a claim.
pub fn measured_nearest(pairs: &[Pair], node: &Node) -> Option<f64> {
    let holds = |from: NodeId| {
        let claim = node.attributes.claim();
        claim.is_none_or(|claim| claim.initiators.is_empty() || claim.initiators.contains(from.0))
    };
    let its = pairs.iter().filter(|pair| pair.to == node.id && holds(pair.from)).map(|pair| pair.ns);
    Some(its.fold(f64::INFINITY, f64::min)).filter(|ns| ns.is_finite())
}

/// Warns about claims that the measurements contradict.
pub fn check_firmware(nodes: &[Node], pairs: &[Pair], warnings: &mut Warnings) {
    for node in nodes {
        let Some(ns) = measured_nearest(pairs, node) else { continue };
        let found = Picoseconds(math::whole(ns * 1e3));
        if let Some(claimed) = node.attributes.claim().map(|claim| claim.read).filter(|read| read.0 > 0)
            && (found.0.real() / claimed.0.real() - 1.0).abs() > DIFFERS
        {
            warnings.push(Warning::FirmwareLatencyDiffers { node: node.id, claimed, measured: found });
        }
        let Some(tier) = node.attributes.tier else { continue };
        let least = nodes.iter().filter(|other| other.attributes.tier == Some(tier));
        let least = least.filter_map(|other| Some((other.id, measured_nearest(pairs, other)?)));
        if let Some((fast, best)) = least.min_by(|a, b| a.1.total_cmp(&b.1))
            && ns >= best * OF_ANOTHER_TIER
        {
            warnings.push(Warning::TierContradiction { tier, fast, slow: node.id, ratio: ns / best });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Class::{Local, MemoryOnly, OtherPackage, SamePackage};
    use latency_core::NodeSet;
    use latency_core::topology::{Attributes, Claim};
    use std::vec::Vec;

    /// Draws the conclusions from a slice of pairs.
    fn concluded(pairs: &[Pair]) -> MatrixConclusion {
        super::concluded(pairs.into(), false, ClassMeans::default())
    }

    const fn pair(from: u32, to: u32, class: Class, ns: f64) -> Pair {
        Pair { from: NodeId(from), to: NodeId(to), class, distance: None, ns, interval: None }
    }

    /// Returns class, distance, number, smallest and largest latency of each group, and whether other groups have its
    /// class.
    fn grouped(pairs: &[Pair]) -> Vec<(Class, Option<u8>, usize, f64, f64, bool)> {
        let far = groups(pairs).into_iter().filter(|group| group.class != Local);
        far.map(|DistanceGroup { class, distance, divided, pairs, mean, range }| {
            assert!(range.low <= mean.value && mean.value <= range.high);
            (class, distance, pairs, range.low, range.high, divided)
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
        let value = |mean: Option<Estimate>| mean.map(|mean| mean.value);
        let ClassMeans { local, .. } = found.means;
        assert_eq!((value(local), value(found.means.remote())), (Some(105.0), Some(280.0)));
        assert_eq!((found.fastest, found.slowest), (Some(pairs[0]), Some(pairs[4])));
        let of = |from| {
            let of_node: Vec<Pair> = pairs.into_iter().filter(|pair| pair.from == NodeId(from)).collect();
            ClassMeans::of(&of_node).remote_over_local()
        };
        assert_eq!(of(0), Some(1.8));
        assert_eq!(of(1), Some(3.0));
    }

    #[test]
    fn the_mean_of_pairs_that_differ_has_its_range() {
        for (second, differs) in [(183.0, false), (185.0, true)] {
            let pairs = [pair(0, 1, OtherPackage, 180.0), pair(1, 0, OtherPackage, second)];
            groups(&pairs).iter().for_each(|group| assert_eq!(group.differs(), differs, "{group:?}"));
        }
    }

    #[test]
    fn the_interval_of_a_mean_is_the_mean_of_the_ends() {
        let within = |low, high| Some(Interval { low, high });
        let mut pairs = [pair(0, 0, Local, 100.0), pair(1, 1, Local, 120.0), pair(0, 1, OtherPackage, 200.0)];
        (pairs[0].interval, pairs[1].interval) = (within(90.0, 110.0), within(100.0, 170.0));
        let found = concluded(&pairs);
        assert_eq!(found.means.local, Some(Estimate { value: 110.0, interval: within(95.0, 140.0) }));
        assert_eq!(found.means.remote(), Some(Estimate { value: 200.0, interval: None }));
        assert_eq!(Some(found.groups[0].mean), found.means.local);
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
        assert_eq!(found.means.remote_over_local(), Some(2.0));
        let far: Vec<_> = found.means.far.iter().map(|(class, mean)| (*class, mean.value)).collect();
        assert_eq!(far, [(OtherPackage, 200.0), (SamePackage, 115.0), (MemoryOnly, 250.0)]);
        let one_package = concluded(&pairs[..2]);
        assert_eq!(one_package.means.remote_over_local(), Some(1.15));
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
        assert_eq!((found.means.remote_over_local(), found.slowest), (None, None));
        let nothing = concluded(&[]);
        assert_eq!((nothing.means, nothing.fastest), (ClassMeans::default(), None));
        assert!(nothing.groups.is_empty());
    }

    fn claimed_pair(from: u32, to: u32, ns: f64) -> Pair {
        Pair { from: NodeId(from), to: NodeId(to), class: Class::Local, distance: None, ns, interval: None }
    }

    fn claimed(id: u32, ns: u64, tier: u32) -> Node {
        let claim = Claim {
            read: Picoseconds(ns * 1000),
            write: Picoseconds(0),
            read_bandwidth: 0,
            write_bandwidth: 0,
            initiators: NodeSet::from_iter([0]),
        };
        let attributes = Attributes { access: [Some(claim), None], tier: Some(tier), ..Attributes::EMPTY };
        let mut node = Node::EMPTY;
        (node.id, node.attributes) = (NodeId(id), attributes);
        node
    }

    #[test]
    fn a_claim_is_compared_with_the_pair_that_it_covers() {
        let pairs = [claimed_pair(1, 4, 100.0), claimed_pair(0, 4, 210.0), claimed_pair(0, 0, 80.0)];
        assert_eq!(measured_nearest(&pairs, &claimed(4, 200, 4)), Some(210.0));
        assert_eq!(measured_nearest(&pairs, &claimed(5, 200, 4)), None);
    }

    fn codes(nodes: &[Node], pairs: &[Pair]) -> Vec<&'static str> {
        let mut warnings = Warnings::empty();
        check_firmware(nodes, pairs, &mut warnings);
        warnings.iter().map(Warning::code).collect()
    }

    #[test]
    fn contradictions_are_warned_of() {
        let nodes = [claimed(0, 80, 4), claimed(1, 200, 4)];
        assert!(
            codes(&nodes, &[claimed_pair(0, 0, 99.0), claimed_pair(0, 1, 148.0)])
                .contains(&"firmware-latency-differs")
        );
        assert_eq!(
            codes(&nodes, &[claimed_pair(0, 0, 90.0), claimed_pair(0, 1, 190.0)]),
            ["tier-contradiction"]
        );
        let nodes = [claimed(0, 80, 4), claimed(1, 200, 22)];
        assert!(codes(&nodes, &[claimed_pair(0, 0, 90.0), claimed_pair(0, 1, 190.0)]).is_empty());
        assert!(codes(&nodes, &[]).is_empty());
    }
}
