//! What firmware and kernel claim of each node's memory, for programs and for people; where there is one, beside what
//! was measured.

use core::fmt::{self, Write};

use latency_core::topology::{Attributes, Node};
use latency_core::units::Picoseconds;

use crate::machine::Machine;
use crate::report::document::{fields, headings, Document, Level, Part, Table, Value};
use crate::report::figures::Digits;

fields! {
    FIRMWARE "firmware" "What the firmware claims of its memory (HMAT, CDAT); null where it claims nothing.";
    READ_NS "read_ns" "The latency of a read.";
    WRITE_NS "write_ns" "The latency of a write.";
    READ_RATE "read_bytes_per_second" "The bandwidth of reads.";
    WRITE_RATE "write_bytes_per_second" "The bandwidth of writes.";
    INITIATORS "initiators" "The nodes from which this holds: those nearest to the memory.";
    SIDE_CACHE "memory_side_cache" "The cache in front of its memory; null where there is none.";
    SIDE_BYTES "bytes" "Its size.";
    SIDE_LINE "line_bytes" "The size of its lines; 0 where that is not known.";
    TIER "tier" "The kernel's tier of its memory, lower numbers are faster; null where nodes have none.";
    WEIGHT "weight" "Its weight for weighted interleaving; null where the kernel has none.";
}

/// Describes what is claimed of a node, for programs.
pub fn members(document: &mut dyn Document, attributes: &Attributes) {
    match attributes.claim() {
        None => document.value(&FIRMWARE, Value::None),
        Some(claim) => document.part(Part::Object(&FIRMWARE), |document| {
            for (field, figure) in [
                (&READ_NS, nanoseconds(claim.read)),
                (&WRITE_NS, nanoseconds(claim.write)),
                (&READ_RATE, claim.read_bandwidth),
                (&WRITE_RATE, claim.write_bandwidth),
            ] {
                document.put(field, known(figure));
            }
            document.part(Part::List(&INITIATORS), |document| {
                for node in claim.initiators.iter() {
                    document.put(&INITIATORS, node);
                }
            });
        }),
    }
    match attributes.side_cache {
        None => document.value(&SIDE_CACHE, Value::None),
        Some(cache) => document.part(Part::Object(&SIDE_CACHE), |document| {
            document.put(&SIDE_BYTES, cache.size);
            document.put(&SIDE_LINE, cache.line);
        }),
    }
    document.put(&TIER, attributes.tier);
    document.put(&WEIGHT, attributes.weight);
}

/// A figure, unless the firmware has none.
fn known(figure: u64) -> Option<u64> {
    Some(figure).filter(|figure| *figure > 0)
}

const fn nanoseconds(latency: Picoseconds) -> u64 {
    latency.0 / 1000
}

/// Shows what is claimed, one row a node; `measured` gives the latency that was, in nanoseconds.
pub fn table(document: &mut dyn Document, machine: &Machine, measured: &dyn Fn(&Node) -> Option<f64>) {
    const HEADINGS: [&str; 8] = [
        "memory of",
        "from nodes",
        "ns (read, write)",
        "GB/s (read, write)",
        "side cache",
        "tier",
        "weight",
        "measured ns",
    ];
    let nodes = || machine.topology.nodes().iter();
    // A tier or a weight alone says nothing that is not the same of every node.
    let claimed = |node: &&Node| node.attributes.claim().is_some() || node.attributes.side_cache.is_some();
    if !nodes().any(|node| claimed(&node)) {
        return;
    }
    let any = nodes().any(|node| measured(node).is_some());
    document.table(&Table {
        caption: "Claimed by firmware and kernel:",
        level: Level::Normal,
        words: 2,
        columns: HEADINGS.len() - usize::from(!any),
        rows: nodes().count(),
        heading: &headings(&HEADINGS),
        cell: &|out, row, column| {
            let Some(node) = machine.topology.nodes().get(row) else { return Ok(()) };
            let of = &node.attributes;
            let claim = of.claim();
            match column {
                0 => write!(out, "node {}", node.id),
                1 => shown(out, claim, |claim, out| write!(out, "{}", claim.initiators)),
                2 => both(out, claim.map(|claim| [claim.read, claim.write].map(nanoseconds)), &|ns, out| {
                    write!(out, "{ns}")
                }),
                3 => both(
                    out,
                    claim.map(|claim| [claim.read_bandwidth, claim.write_bandwidth]),
                    &|rate, out| write!(out, "{}", Digits(rate as f64 / 1e9)),
                ),
                4 => shown(out, of.side_cache, |cache, out| write!(out, "{}", cache.size)),
                5 => shown(out, of.tier, |tier, out| write!(out, "{tier}")),
                6 => shown(out, of.weight, |weight, out| write!(out, "{weight}")),
                _ => shown(out, measured(node), |ns, out| write!(out, "{}", Digits(ns))),
            }
        },
    });
}

/// Writes what is known, or a dash.
fn shown<T>(
    out: &mut dyn Write,
    value: Option<T>,
    write: impl FnOnce(T, &mut dyn Write) -> fmt::Result,
) -> fmt::Result {
    match value {
        Some(value) => write(value, out),
        None => out.write_str("-"),
    }
}

/// Writes a figure of reads and one of writes.
fn both(
    out: &mut dyn Write,
    figures: Option<[u64; 2]>,
    write: &dyn Fn(u64, &mut dyn Write) -> fmt::Result,
) -> fmt::Result {
    match figures {
        Some([reads, writes]) if reads | writes > 0 => {
            shown(out, known(reads), write)?;
            out.write_str(", ")?;
            shown(out, known(writes), write)
        }
        _ => out.write_str("-"),
    }
}
