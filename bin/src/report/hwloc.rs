//! A shell script that adds measured values to an hwloc topology, as memory attributes.
//!
//! The XML of hwloc identifies objects by numbers that only hwloc knows, so the script asks hwloc for them. The script
//! contains only numbers and the words of this file, so no text of a host or a file can become a command.

use core::fmt::{self, Write};

use latency_core::math;
use latency_core::topology::MAX_NODES;
use latency_core::units::NodeId;

use super::document::{Attribute, Document};
use super::format::{Format, Purpose};
use super::weights;

/// A script of `hwloc-annotate`.
pub const HWLOC: Format = Format {
    name: "hwloc",
    extension: "sh",
    purpose: Purpose::Attributes,
    write: |out, _, describe| {
        let mut script = Script {
            out,
            found: false,
            nodes: [NodeId(0); MAX_NODES],
            largest: [0.0; MAX_NODES],
            count: 0,
            failed: Ok(()),
        };
        script.keep(format_args!("{BEGIN}"));
        describe(&mut script);
        script.weights();
        script.keep(format_args!("{}", if script.found { END } else { NOTHING }));
        script.failed
    },
};

const BEGIN: &str = "\
#!/bin/sh
# Gives hwloc what latency-bench measured: sh THIS OUTPUT.xml [INPUT.xml]
# Without INPUT.xml the topology is that of this machine. Latencies in ns, bandwidths in MiB/s.
set -eu
output=$1
if [ $# -gt 1 ]; then cp \"$2\" \"$output\"; else lstopo --of xml -f \"$output\"; fi
attribute() { # NAME TARGET INITIATOR VALUE: nodes as the kernel numbers them
    target=$(hwloc-calc -i \"$output\" --pi --lo -I numanode \"numanode:$2\")
    initiator=$(hwloc-calc -i \"$output\" --pi \"numanode:$3\")
    hwloc-annotate \"$output\" \"$output\" -- \"numanode:$target\" -- memattr \"$1\" \"$initiator\" \"$4\"
}
";

const END: &str = "lstopo -i \"$output\" --memattrs\n";

/// The end of the script if the result has neither latencies nor bandwidths of nodes.
const NOTHING: &str = "echo 'this result has no memory attributes' >&2\nexit 1\n";

/// The script and the bandwidths of the nodes so far.
struct Script<'o> {
    out: &'o mut dyn Write,
    found: bool,
    /// The nodes whose memory was read, and the largest bandwidth of each.
    nodes: [NodeId; MAX_NODES],
    largest: [f64; MAX_NODES],
    count: usize,
    failed: fmt::Result,
}

impl Script<'_> {
    fn keep(&mut self, line: fmt::Arguments<'_>) {
        if self.failed.is_ok() {
            self.failed = self.out.write_fmt(line);
        }
    }

    /// Writes weights in the ratio of the largest bandwidths, if there are several nodes.
    fn weights(&mut self) {
        let (nodes, largest) = (self.nodes, self.largest);
        let Some(largest @ [_, _, ..]) = largest.get(..self.count) else { return };
        let scale = weights::scale(largest);
        for (node, rate) in nodes.iter().zip(largest) {
            let weight = weights::weight(largest, *rate, scale);
            self.keep(format_args!("# suggested weight for interleaving: node {node}: {weight}\n"));
        }
    }
}

impl Document for Script<'_> {
    fn wants_samples(&self) -> bool {
        true
    }

    fn attribute(&mut self, attribute: Attribute, initiator: NodeId, target: NodeId, value: f64) {
        let (name, value) = match attribute {
            Attribute::ReadLatency => ("ReadLatency", value),
            Attribute::ReadBandwidth => ("ReadBandwidth", value / f64::from(1 << 20)),
            Attribute::WriteBandwidth => ("WriteBandwidth", value / f64::from(1 << 20)),
        };
        if !(0.0..=f64::MAX).contains(&value) {
            return;
        }
        self.found = true;
        self.keep(format_args!("attribute {name} {target} {initiator} {}\n", math::whole(value + 0.5)));
        // Weights for interleaving follow from the bandwidth of reads.
        if attribute != Attribute::ReadBandwidth {
            return;
        }
        let known = self.nodes.iter().take(self.count).position(|node| *node == target);
        let place = known.unwrap_or(self.count);
        if let (Some(node), Some(rate)) = (self.nodes.get_mut(place), self.largest.get_mut(place)) {
            (*node, *rate) = (target, value.max(*rate));
            self.count = self.count.max(place + 1);
        }
    }
}
