//! Output of other tools: their tables, between other lines.
//!
//! # References
//!
//! lmbench 3 `src/lat_mem_rd.c`: a line `"stride=64`, then `%.5f %.3f` of MB and ns for each size.
//! Chips and Cheese, Microbenchmarks, `MemoryLatency.c`: `Region,Latency (ns)`, then KB and ns.
//! tinymembench `main.c`: `block size : single random read / dual random read`, then bytes and ns.
//! R. Groot Koerkamp, cpu-benchmarks `src/util.rs`: `n = …B, duration = …, /it: …ns cycles/it: …`, or JSON.
//! Intel Memory Latency Checker 3.11: `idle latencies (in ns)`, then `Numa node 0 1`, then `0 84.1 139.6`; 3.5 and earlier:
//! `Memory node`, then `Socket 0 1`.
use latency_core::text::Text;

use super::fields::{fields, separator, sized, timed};
use super::numerals::{Numerals, number};
use super::pairs;
use super::rows::{Draft, Problem, Tool, each_line};
use super::unit;
use crate::record::columns::{INITIATOR_NODE, NS, ORDER, PAGES_ASKED, STRIDE, TARGET_NODE, WORKING_SET};
use crate::record::row::Row;

/// A text by which the output of each tool is recognised.
const MARKS: [(&[u8], Tool); 6] = [
    (b"\"stride=", Tool::LatMemRd),
    (b"Region,Latency (ns)", Tool::MemoryLatency),
    (b"block size : single random read", Tool::Tinymembench),
    (b"ns cycles/it:", Tool::CpuBenchmarks),
    (b"Memory Latency Checker", Tool::Mlc),
    (b"Measuring idle latencies", Tool::Mlc),
];

/// Latency in tinymembench's tables that is the noise of zero, in nanoseconds.
const FIRST_LEVEL_NS: f64 = 0.15;

/// Recognises the tool that printed a text.
pub fn recognise(text: &str) -> Option<Tool> {
    let known = MARKS.iter().find(|(mark, _)| place(text, mark).is_some()).map(|(_, tool)| *tool);
    known.or_else(|| pairs::are_in(text).then_some(Tool::CoreToCore))
}

/// Returns the index at which a part begins. It compares bytes: the library's search in strings is larger than this
/// file.
fn place(text: &str, part: &[u8]) -> Option<usize> {
    text.as_bytes().windows(part.len()).position(|window| window == part)
}

/// Returns the first field behind a part: a number, possibly with its unit.
fn field_after<'l>(line: &'l str, part: &[u8]) -> Option<&'l str> {
    let rest = line.get(place(line, part)? + part.len()..)?;
    fields(rest.split(',').next()?, None).next()
}

/// Reads the table that a tool printed; lines that do not belong to it are skipped.
pub fn read(tool: Tool, text: &str, draft: &mut Draft) -> Result<(), Problem> {
    draft.saved.tool = Some(tool);
    match tool {
        Tool::Mlc => return nodes(text, draft),
        Tool::CoreToCore => return pairs::read(text, draft),
        _ => {}
    }
    let mut like = Row::EMPTY;
    let mut begun = false;
    each_line(text, &mut |_, line| {
        if tool == Tool::LatMemRd && line.ends_with(" load latency") {
            let order = if line.starts_with("Random") { "random" } else { "sequential" };
            like.put(ORDER, order);
        }
        if MARKS.iter().any(|(mark, known)| *known == tool && place(line, mark).is_some()) {
            begun = true;
            head(tool, line, &mut like)?;
        }
        let Some((size, nanoseconds)) = (if begun { point(tool, line) } else { None }) else { return Ok(()) };
        let mut row = like.clone();
        row.read_number(WORKING_SET, 0, size)?;
        row.read_number(NS, 0, nanoseconds)?;
        // The first-level cache, whose own latency is left out of the table.
        if tool == Tool::Tinymembench && nanoseconds < FIRST_LEVEL_NS {
            draft.saved.zeros += 1;
            return Ok(());
        }
        draft.push(row)
    })
}

/// Reads the heading of a table, which applies to all of its rows.
fn head(tool: Tool, line: &str, like: &mut Row) -> Result<(), &'static str> {
    match tool {
        Tool::LatMemRd => {
            let stride = field_after(line, b"stride=").and_then(number).unwrap_or(f64::NAN);
            like.read_number(STRIDE, 0, stride)?;
        }
        Tool::Tinymembench => {
            let kinds = [(&b"[MADV_NOHUGEPAGE]"[..], "4k"), (b"[MADV_HUGEPAGE]", "thp")];
            match kinds.into_iter().find(|(mark, _)| place(line, mark).is_some()) {
                Some((_, pages)) => like.put(PAGES_ASKED, pages),
                None => like.remove(PAGES_ASKED),
            }
        }
        _ => {}
    }
    Ok(())
}

/// Returns the bytes and nanoseconds of a line, if it is a row.
fn point(tool: Tool, line: &str) -> Option<(f64, f64)> {
    let two = || {
        let mut fields = fields(line, separator(line));
        let found = (number(fields.next()?)?, number(fields.next()?)?);
        fields.next().is_none().then_some(found)
    };
    match tool {
        Tool::LatMemRd => two().map(|(size, ns)| (unit::bytes(size, 1_048_576.0), ns)),
        Tool::MemoryLatency => two().map(|(size, ns)| (unit::bytes(size, 1024.0), ns)),
        Tool::Tinymembench => {
            let (size, times) = line.split_once(':')?;
            let nanoseconds = times.split_ascii_whitespace().next()?;
            Some((number(size.trim_ascii())?, number(nanoseconds)?))
        }
        Tool::CpuBenchmarks => {
            let (size, unit) = sized(field_after(line, b"n =")?, Numerals::PLAIN)?;
            let nanoseconds = timed(field_after(line, b"/it:")?, 1.0, Numerals::PLAIN)?;
            Some((unit::bytes(size, unit.unwrap_or(1.0)), nanoseconds))
        }
        Tool::Mlc | Tool::CoreToCore => None,
    }
}

/// Reads the idle latencies that Intel MLC printed: its matrix of nodes, and the one value of `--idle_latency`. Lines may be
/// quoted as in a message, and blank lines may stand between them. Bandwidths and latencies under load are left out.
fn nodes(text: &str, draft: &mut Draft) -> Result<(), Problem> {
    draft.saved.experiment = Text::from_bytes(b"matrix");
    let (mut targets, mut is_matrix) = ("", false);
    each_line(text, &mut |_, line| {
        let line = line.trim_start_matches(['>', '|', ' ', '\t']);
        if line.is_empty() {
            return Ok(());
        }
        let mut values = fields(line, None);
        // Version 3.5 and earlier name sockets, and core clocks.
        let names = ["Numa node", "Memory node", "Socket"].iter().find_map(|begin| line.strip_prefix(begin));
        if let Some(nanoseconds) = field_after(line, b"clocks (").and_then(number) {
            draft.push(Row::timed(nanoseconds))?;
        } else if line.starts_with("Measuring") || line.starts_with("Inject") {
            is_matrix = place(line, b"idle latencies").is_some();
        } else if let Some(names) = names {
            targets = names;
        } else if let Some(initiator) = values.next().and_then(number).filter(|_| is_matrix) {
            let mut any = false;
            for (target, nanoseconds) in fields(targets, None).filter_map(number).zip(values) {
                any = true;
                // A target without a value was not measured.
                let Some(nanoseconds) = number(nanoseconds) else { continue };
                let mut row = Row::timed(nanoseconds);
                row.read_number(INITIATOR_NODE, 0, initiator)?;
                row.read_number(TARGET_NODE, 0, target)?;
                draft.push(row)?;
            }
            if !any {
                return Err("a row of latencies without names of nodes above");
            }
        } else {
            is_matrix = false;
            let is_value = |line: &str| fields(line, None).last().and_then(number).is_some();
            draft.saved.left_out +=
                usize::from(is_value(line.split_once(':').map_or(line, |(_, value)| value)));
        }
        Ok(())
    })?;
    match draft.rows.is_empty() {
        true => Err(Problem::new(1, "output of Intel MLC without the idle latency matrix")),
        false => Ok(()),
    }
}
