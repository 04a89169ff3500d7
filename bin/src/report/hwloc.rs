//! A shell script that adds measured values to an hwloc topology, as memory attributes.
//!
//! The XML of hwloc identifies objects by numbers that only hwloc knows, so the script asks hwloc for them. The script
//! contains only numbers and the words of this file, so no text of a host or a file can become a command.

use alloc::vec::Vec;

use latency_core::math;
use latency_core::units::NodeId;

use super::document::Attribute;
use super::format::{Format, Purpose};
use super::shown::ShownPart;
use super::weights;

/// A script of `hwloc-annotate`.
pub const HWLOC: Format = Format {
    name: "hwloc",
    extension: "sh",
    purpose: Purpose::Attributes,
    write: |out, _, shown| {
        out.write_str(BEGIN)?;
        let mut found = false;
        // The nodes whose memory was read, in the order of the result, and the largest bandwidth of each.
        let mut largest: Vec<(NodeId, f64)> = Vec::new();
        for entry in shown.entries() {
            let ShownPart::Attribute(attribute, (initiator, target), value) = entry else { continue };
            let (name, value) = match attribute {
                Attribute::ReadLatency => ("ReadLatency", *value),
                Attribute::ReadBandwidth => ("ReadBandwidth", value / f64::from(1 << 20)),
                Attribute::WriteBandwidth => ("WriteBandwidth", value / f64::from(1 << 20)),
            };
            if !(0.0..=f64::MAX).contains(&value) {
                continue;
            }
            found = true;
            writeln!(out, "attribute {name} {target} {initiator} {}", math::whole(value + 0.5))?;
            // Weights for interleaving follow from the bandwidth of reads.
            if *attribute == Attribute::ReadBandwidth {
                match largest.iter_mut().find(|(node, _)| node == target) {
                    Some((_, rate)) => *rate = value.max(*rate),
                    None => largest.push((*target, value)),
                }
            }
        }
        let rates: Vec<f64> = largest.iter().map(|(_, rate)| *rate).collect();
        if let [_, _, ..] = rates[..] {
            let scale = weights::scale(&rates);
            for (node, rate) in largest {
                let weight = weights::weight(&rates, rate, scale);
                writeln!(out, "# suggested weight for interleaving: node {node}: {weight}")?;
            }
        }
        out.write_str(if found { END } else { NOTHING })
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
