//! Compares the firmware's claims about memory with measurements.
//!
//! A claim covers only the nearest nodes, and an idle machine as its maker measured it.

use latency_core::math::{self, ToReal};
use latency_core::topology::Node;
use latency_core::units::{NodeId, Picoseconds};

use super::matrix::Pair;
use crate::warning::{Warning, Warnings};

/// Relative error of a claim that is reported: firmware is seldom exact, but software that relies on a claim this far
/// off chooses wrongly.
const DIFFERS: f64 = 0.25;
/// Least ratio of latencies at which two memories are of different tiers; a tier is memory of about one speed.
const OF_ANOTHER_TIER: f64 = 1.5;

/// Returns the lowest measured latency of a node's memory, in nanoseconds: from the nodes that the claim is for, if
/// there is a claim.
pub fn measured(pairs: &[Pair], node: &Node) -> Option<f64> {
    let holds = |from: NodeId| {
        let claim = node.attributes.claim();
        claim.is_none_or(|claim| claim.initiators.is_empty() || claim.initiators.contains(from.0))
    };
    let its = pairs.iter().filter(|pair| pair.to == node.id && holds(pair.from)).map(|pair| pair.ns);
    Some(its.fold(f64::INFINITY, f64::min)).filter(|ns| ns.is_finite())
}

/// Warns about claims that the measurements contradict.
pub fn check(nodes: &[Node], pairs: &[Pair], warnings: &mut Warnings) {
    for node in nodes {
        let Some(ns) = measured(pairs, node) else { continue };
        let found = Picoseconds(math::whole(ns * 1e3));
        if let Some(claimed) = node.attributes.claim().map(|claim| claim.read).filter(|read| read.0 > 0)
            && (found.0.real() / claimed.0.real() - 1.0).abs() > DIFFERS
        {
            warnings.push(Warning::FirmwareLatencyDiffers { node: node.id, claimed, measured: found });
        }
        let Some(tier) = node.attributes.tier else { continue };
        let least = nodes.iter().filter(|other| other.attributes.tier == Some(tier));
        let least = least.filter_map(|other| Some((other.id, measured(pairs, other)?)));
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
    use crate::analysis::matrix::Class;
    use latency_core::cpulist::NodeSet;
    use latency_core::topology::{Attributes, Claim};
    use std::vec::Vec;

    fn pair(from: u32, to: u32, ns: f64) -> Pair {
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
        let pairs = [pair(1, 4, 100.0), pair(0, 4, 210.0), pair(0, 0, 80.0)];
        assert_eq!(measured(&pairs, &claimed(4, 200, 4)), Some(210.0));
        assert_eq!(measured(&pairs, &claimed(5, 200, 4)), None);
    }

    fn codes(nodes: &[Node], pairs: &[Pair]) -> Vec<&'static str> {
        let mut warnings = Warnings::new();
        check(nodes, pairs, &mut warnings);
        warnings.iter().map(Warning::code).collect()
    }

    #[test]
    fn contradictions_are_warned_of() {
        let nodes = [claimed(0, 80, 4), claimed(1, 200, 4)];
        assert!(codes(&nodes, &[pair(0, 0, 99.0), pair(0, 1, 148.0)]).contains(&"firmware-latency-differs"));
        assert_eq!(codes(&nodes, &[pair(0, 0, 90.0), pair(0, 1, 190.0)]), ["tier-contradiction"]);
        let nodes = [claimed(0, 80, 4), claimed(1, 200, 22)];
        assert!(codes(&nodes, &[pair(0, 0, 90.0), pair(0, 1, 190.0)]).is_empty());
        assert!(codes(&nodes, &[]).is_empty());
    }
}
