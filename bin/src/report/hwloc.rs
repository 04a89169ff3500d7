//! A shell script that gives measured values to hwloc, as memory attributes of its topology.
//!
//! hwloc's own XML names objects by numbers that only hwloc knows, so that a script asks it for them. Nothing but numbers
//! and the words of this file stands in it: no text of a host or a file can be a command.

use core::fmt::{self, Write};

use super::document::{fields, Document, Field, Format, Part, Value};

fields! {
    pub ATTRIBUTES "memory_attributes" "Values of memory by node, for hwloc.";
    pub TARGET "target" "The node of the memory.";
    pub INITIATOR "initiator" "The node of the CPUs.";
    pub READ_LATENCY "ReadLatency" "In nanoseconds.";
    pub READ_BANDWIDTH "ReadBandwidth" "In bytes a second.";
    pub WRITE_BANDWIDTH "WriteBandwidth" "In bytes a second.";
    pub WEIGHTS "weights" "Weights for interleaving over nodes.";
    pub WEIGHT "weight" "The weight of a node.";
}

/// A script of `hwloc-annotate`.
pub const HWLOC: Format = Format {
    name: "hwloc",
    extension: "sh",
    needs_picture: false,
    needs_attributes: true,
    collected: false,
    draws: false,
    write: |out, _, describe| {
        let mut script =
            Script { out, within: None, depth: 0, found: false, target: 0, initiator: 0, failed: Ok(()) };
        script.keep(format_args!("{BEGIN}"));
        describe(&mut script);
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

/// Of a result without the latency or bandwidth of any node.
const NOTHING: &str = "echo 'this result has no memory attributes' >&2\nexit 1\n";

/// What is written of the list that is being described.
struct Script<'o> {
    out: &'o mut dyn Write,
    within: Option<&'static Field>,
    /// The parts within that list.
    depth: usize,
    found: bool,
    target: u64,
    initiator: u64,
    failed: fmt::Result,
}

impl Script<'_> {
    fn keep(&mut self, line: fmt::Arguments<'_>) {
        if self.failed.is_ok() {
            self.failed = self.out.write_fmt(line);
        }
    }
}

impl Document for Script<'_> {
    fn value(&mut self, field: &'static Field, value: Value<'_>) {
        let Some(within) = self.within else { return };
        match value {
            Value::Count(node) if field.is(&TARGET) => self.target = node,
            Value::Count(node) if field.is(&INITIATOR) => self.initiator = node,
            Value::Count(weight) if within.is(&WEIGHTS) => {
                let target = self.target;
                self.keep(format_args!("# suggested weight for interleaving: node {target}: {weight}\n"));
            }
            Value::Real(number) if number.is_finite() && number >= 0.0 => {
                let unit = if field.is(&READ_LATENCY) { 1.0 } else { f64::from(1 << 20) };
                let (target, initiator, shown) = (self.target, self.initiator, (number / unit + 0.5) as u64);
                self.found = true;
                self.keep(format_args!("attribute {} {target} {initiator} {shown}\n", field.key()));
            }
            _ => {}
        }
    }

    fn begin(&mut self, part: Part) {
        match part {
            Part::List(field) if field.is(&ATTRIBUTES) || field.is(&WEIGHTS) => {
                (self.within, self.depth) = (Some(field), 0);
            }
            _ => self.depth += 1,
        }
    }

    fn end(&mut self) {
        match self.depth.checked_sub(1) {
            Some(depth) => self.depth = depth,
            None => self.within = None,
        }
    }
}
