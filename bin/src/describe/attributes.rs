//! The claims of firmware and kernel about each node's memory, for programs and for people, next to a measured value.

use core::fmt::{self, Display};
use latency_core::Picoseconds;
use latency_core::topology::{Attributes, Node};

use crate::record::members::SIDE_CACHE;
use latency_engine::machine::Machine;
use latency_report::document::{fields, members};
use latency_report::{Digits, Level, Shown};

fields! {
    FIRMWARE "firmware" "Memory performance that firmware declares (HMAT, CDAT); null if it declares none.";
    INITIATORS "initiators" "Initiator nodes of the declared values: those nearest to the memory.";
}

/// Describes the claims about a node, for programs.
pub fn members(document: &mut Shown, attributes: &Attributes) {
    document.object(&FIRMWARE, attributes.claim(), |document, claim| {
        members! { document;
            "read_ns": known(nanoseconds(claim.read)) => "Declared read latency, in nanoseconds; null if firmware declares none.";
            "write_ns": known(nanoseconds(claim.write)) => "Declared write latency, in nanoseconds; null if firmware declares none.";
            "read_bytes_per_second": known(claim.read_bandwidth) => "Declared read bandwidth, in bytes per second; null if firmware declares none.";
            "write_bytes_per_second": known(claim.write_bandwidth) => "Declared write bandwidth, in bytes per second; null if firmware declares none.";
        }
        document.values(&INITIATORS, claim.initiators.iter());
    });
    document.object(&SIDE_CACHE, attributes.side_cache, |document, cache| {
        members! { document;
            "bytes": cache.size => "Capacity of the memory-side cache, in bytes.";
            "line_bytes": cache.line => "Line size of the memory-side cache, in bytes; 0 if unknown.";
        }
    });
    members! { document;
        "tier": attributes.tier => "Memory tier by the kernel, lower is faster; null if the kernel has none.";
        "weight": attributes.weight => "Weight for weighted interleaving; null if the kernel has none.";
    }
}

/// Returns a figure; `None` if the firmware does not claim one.
fn known(figure: u64) -> Option<u64> {
    Some(figure).filter(|figure| *figure > 0)
}

const fn nanoseconds(latency: Picoseconds) -> u64 {
    latency.0 / 1000
}

/// Shows the claims, one row for each node; `measured` returns the latency that was measured, in nanoseconds.
pub fn table(document: &mut Shown, machine: &Machine, measured: &dyn Fn(&Node) -> Option<f64>) {
    let nodes = || machine.topology.nodes().iter();
    // A tier or a weight alone does not justify a table: every node has them.
    let claimed = |node: &&Node| node.attributes.claim().is_some() || node.attributes.side_cache.is_some();
    if !nodes().any(|node| claimed(&node)) {
        return;
    }
    let any = nodes().any(|node| measured(node).is_some());
    document.tabulate("Reported by firmware and kernel:", Level::Normal, 2, &|table| {
        table.texts(&[
            "memory of",
            "from nodes",
            "ns (read, write)",
            "GB/s (read, write)",
            "side cache",
            "tier",
            "weight",
        ]);
        if any {
            table.text("measured ns");
        }
        for node in nodes() {
            let of = &node.attributes;
            let claim = of.claim();
            table.row().cell(format_args!("node {}", node.id)).known(claim.map(|claim| claim.initiators));
            table.known(claim.and_then(|claim| both([claim.read, claim.write].map(nanoseconds), |ns| ns)));
            let rates = |rate| Digits(rate as f64 / 1e9);
            table.known(claim.and_then(|claim| both([claim.read_bandwidth, claim.write_bandwidth], rates)));
            table.known(of.side_cache.map(|cache| cache.size)).known(of.tier).known(of.weight);
            if any {
                table.number(measured(node));
            }
        }
    });
}

/// Shows a figure for reads and one for writes.
fn both<T: Display>(figures: [u64; 2], show: impl Fn(u64) -> T) -> Option<impl Display> {
    let each = move |out: &mut fmt::Formatter<'_>, figure| match figure {
        0 => out.write_str("-"),
        figure => write!(out, "{}", show(figure)),
    };
    (figures != [0, 0]).then_some(fmt::from_fn(move |out| {
        each(out, figures[0])?;
        out.write_str(", ")?;
        each(out, figures[1])
    }))
}
