//! What other tools print: their tables, between lines that say something else.
//!
//! # References
//!
//! lmbench 3 `src/lat_mem_rd.c`: a line `"stride=64`, then `%.5f %.3f` of MB and ns for each size.
//! Chips and Cheese, Microbenchmarks, `MemoryLatency.c`: `Region,Latency (ns)`, then KB and ns.
//! tinymembench `main.c`: `block size : single random read / dual random read`, then bytes and ns.
//! R. Groot Koerkamp, cpu-benchmarks `src/util.rs`: `n = …B, duration = …, /it: …ns cycles/it: …`, or JSON.

use super::fields::{fields, separator};
use super::numerals::number;
use super::rows::{bytes, Draft, Problem, Tool};
use super::unit;
use crate::result::row::{Row, Word, FIELDS};

/// The words by which a file gives itself away; the longest of its kind is enough.
const MARKS: [(&[u8], Tool); 4] = [
    (b"\"stride=", Tool::LatMemRd),
    (b"Region,Latency (ns)", Tool::MemoryLatency),
    (b"block size : single random read", Tool::Tinymembench),
    (b"ns cycles/it:", Tool::CpuBenchmarks),
];

/// Recognises the tool that printed a text.
pub fn recognise(text: &str) -> Option<Tool> {
    MARKS.iter().find(|(mark, _)| place(text, mark).is_some()).map(|(_, tool)| *tool)
}

/// Where a part begins. By bytes: the library's search in strings is larger than this file.
fn place(text: &str, part: &[u8]) -> Option<usize> {
    text.as_bytes().windows(part.len()).position(|window| window == part)
}

/// What follows a part, up to the first byte that is no part of a number.
fn number_after(line: &str, part: &[u8]) -> Option<f64> {
    let rest = line.get(place(line, part)? + part.len()..)?.trim_ascii_start();
    let end = rest.bytes().position(|byte| !byte.is_ascii_digit() && byte != b'.').unwrap_or(rest.len());
    number(rest.get(..end)?)
}

/// Reads the table that a tool printed; lines that are none of it are passed over.
pub fn read(tool: Tool, text: &str, draft: &mut Draft<'_>) -> Result<(), Problem> {
    draft.saved.tool = Some(tool);
    let mut like = Row::EMPTY;
    let mut begun = false;
    for (index, line) in text.lines().enumerate() {
        let at = |what| Problem::new(u32::try_from(index + 1).unwrap_or(u32::MAX), what);
        let line = line.trim_ascii();
        if MARKS.iter().any(|(mark, known)| *known == tool && place(line, mark).is_some()) {
            begun = true;
            head(tool, line, &mut like).map_err(at)?;
        }
        let Some((size, nanoseconds)) = (if begun { point(tool, line) } else { None }) else { continue };
        let mut row = like;
        row.sample.size = bytes(size).map_err(at)?;
        row.sample.nanoseconds = nanoseconds;
        if tool == Tool::Tinymembench && nanoseconds == 0.0 {
            draft.saved.zeros += 1;
            continue;
        }
        draft.push(row).map_err(at)?;
    }
    Ok(())
}

/// What the heading of a table says of all of its rows.
fn head(tool: Tool, line: &str, like: &mut Row) -> Result<(), &'static str> {
    match tool {
        Tool::LatMemRd => {
            like.sample.stride = bytes(number_after(line, b"stride=").unwrap_or(f64::NAN))?;
        }
        Tool::Tinymembench => {
            let pages = match () {
                () if place(line, b"[MADV_NOHUGEPAGE]").is_some() => "4k",
                () if place(line, b"[MADV_HUGEPAGE]").is_some() => "thp",
                () => "",
            };
            if let Some(field) = FIELDS.iter().position(|(key, _)| *key == "pages_asked") {
                like.set(field, Word::from_bytes(pages.as_bytes()));
            }
        }
        Tool::MemoryLatency | Tool::CpuBenchmarks => {}
    }
    Ok(())
}

/// Bytes and nanoseconds of a line, if it is a row.
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
        Tool::CpuBenchmarks => Some((number_after(line, b"n =")?, number_after(line, b"/it:")?)),
    }
}
