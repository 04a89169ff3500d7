//! Measured values of nodes' memory, for the one format that takes them: a script for hwloc.

use latency_core::topology::MAX_NODES;
use latency_core::units::NodeId;

use super::Report;
use crate::analysis::weights;
use crate::report::document::{Document, Field, Part};
use crate::report::hwloc::{ATTRIBUTES, HWLOC, INITIATOR, TARGET, WEIGHT, WEIGHTS};

/// A value of the memory of one node, from the CPUs of another.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// The node of the CPUs.
    pub from: NodeId,
    /// The node of the memory.
    pub to: NodeId,
    /// The kind of value, one of the format's own.
    pub field: &'static Field,
    /// The value, in nanoseconds or bytes a second.
    pub value: f64,
}

/// Describes values, where they are wanted.
pub fn attributes(
    document: &mut dyn Document,
    report: &Report<'_, '_>,
    values: impl Iterator<Item = Attribute>,
) {
    if report.options.format.name != HWLOC.name {
        return;
    }
    document.part(Part::List(&ATTRIBUTES), |document| {
        for Attribute { from, to, field, value } in values {
            document.part(Part::Item, |document| {
                document.put(&TARGET, to.0);
                document.put(&INITIATOR, from.0);
                document.put(field, value);
            });
        }
    });
}

/// Describes weights in the ratio of the largest bandwidths of each node, where they are wanted and there are several.
pub fn suggested(
    document: &mut dyn Document,
    report: &Report<'_, '_>,
    rates: impl Iterator<Item = Attribute>,
) {
    if report.options.format.name != HWLOC.name {
        return;
    }
    let mut nodes = [NodeId(0); MAX_NODES];
    let mut largest = [0.0; MAX_NODES];
    let mut count = 0;
    for Attribute { to, value, .. } in rates {
        let known = nodes.iter().take(count).position(|node| *node == to);
        let place = known.unwrap_or(count);
        if let (Some(node), Some(rate)) = (nodes.get_mut(place), largest.get_mut(place)) {
            (*node, *rate) = (to, value.max(*rate));
            count = count.max(place + 1);
        }
    }
    let largest = largest.get(..count).unwrap_or_default();
    if count < 2 {
        return;
    }
    let scale = weights::scale(largest);
    document.part(Part::List(&WEIGHTS), |document| {
        for (node, rate) in nodes.iter().zip(largest) {
            document.part(Part::Item, |document| {
                document.put(&TARGET, node.0);
                document.put(&WEIGHT, weights::weight(largest, *rate, scale));
            });
        }
    });
}
