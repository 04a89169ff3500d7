//! A shell script that adds measured values to an hwloc topology, as memory attributes, and weights for interleaving
//! pages over nodes: small whole numbers in the ratio of bandwidths.
//!
//! The XML of hwloc identifies objects by numbers that only hwloc knows, so the script asks hwloc for them. The script
//! contains only numbers and the words of this file, so no text of a host or a file can become a command.

use alloc::vec::Vec;

use latency_core::{NodeId, math};

use super::document::Attribute;
use super::format::{Format, Purpose};
use super::shown::ShownPart;

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
            let scale = scale(&rates);
            for (node, rate) in largest {
                let weight = weight(&rates, rate, scale);
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

/// Maximum weight: larger weights improve the ratio no further, and leave a node without pages for longer.
const LARGEST: u32 = 16;
/// Maximum relative error of a ratio of weights against the ratio of the bandwidths.
const TOLERANCE: f64 = 0.05;

/// Returns the largest weight of a set: the smallest weights whose ratios are within 5 % of those of the rates, or the
/// nearest weights if there are none.
fn scale(rates: &[f64]) -> u32 {
    let error = |scale: &u32| error(rates, *scale);
    let nearest = || (1..=LARGEST).min_by(|one, other| error(one).total_cmp(&error(other)));
    (1..=LARGEST).find(|scale| error(scale) < TOLERANCE).or_else(nearest).unwrap_or(1)
}

/// Returns the weight of one of the rates, if `scale` is the largest weight.
fn weight(rates: &[f64], rate: f64, scale: u32) -> u32 {
    let share = rate / rates.iter().copied().fold(0.0, f64::max) * f64::from(scale);
    ((share + 0.5) as u32).max(1)
}

/// Returns the largest relative error of the ratios of weights against those of the rates.
fn error(rates: &[f64], scale: u32) -> f64 {
    let exact = |rate: f64| f64::from(weight(rates, rate, scale)) / rate;
    let (least, most) = rates.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), &rate| {
        (least.min(exact(rate)), most.max(exact(rate)))
    });
    most / least - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn of(rates: &[f64]) -> Vec<u32> {
        let scale = scale(rates);
        rates.iter().map(|rate| weight(rates, *rate, scale)).collect()
    }

    #[test]
    fn weights_are_the_smallest_that_are_near() {
        assert_eq!(of(&[100e9, 101e9]), [1, 1]);
        assert_eq!(of(&[120e9, 40e9]), [3, 1]);
        assert_eq!(of(&[113e9, 75e9]), [3, 2]);
        assert_eq!(of(&[300e9, 28e9]), [11, 1]);
        assert_eq!(of(&[100e9]), [1]);
        assert!(of(&[]).is_empty());
    }

    #[test]
    fn extreme_ratios_have_the_nearest_weights_up_to_16() {
        assert_eq!(of(&[1000e9, 1e9]), [16, 1]);
    }

    proptest::proptest! {
        #[test]
        fn weights_are_between_1_and_16_and_as_good_as_can_be(
            rates in proptest::collection::vec(1e9_f64..1e12, 1..8)
        ) {
            let found = of(&rates);
            proptest::prop_assert!(found.iter().all(|weight| (1..=LARGEST).contains(weight)), "{found:?}");
            let least = (1..=LARGEST).map(|scale| error(&rates, scale)).fold(f64::INFINITY, f64::min);
            let own = error(&rates, scale(&rates));
            proptest::prop_assert!(own < TOLERANCE || own <= least, "{own} {least}");
        }
    }
}
