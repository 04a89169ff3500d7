//! Output of other tools: their tables, between other lines; and tables of latencies between CPUs: a triangle or a
//! square, in CSV or between white space.
//!
//! # References
//!
//! lmbench 3 `src/lat_mem_rd.c`: a line `"stride=64`, then `%.5f %.3f` of MB and ns for each size. Chips and Cheese,
//! Microbenchmarks, `MemoryLatency.c`: `Region,Latency (ns)`, then KB and ns. tinymembench `main.c`: `block size :
//! single random read / dual random read`, then bytes and ns. R. Groot Koerkamp, cpu-benchmarks `src/util.rs`: `n = …B,
//! duration = …, /it: …ns cycles/it: …`, or JSON. Intel Memory Latency Checker 3.11: `idle latencies (in ns)`, then
//! `Numa node 0 1`, then `0 84.1 139.6`; 3.5 and earlier: `Memory node`, then `Socket 0 1`. N. Viennot,
//! core-to-core-latency `src/bench.rs`: half of the round trip of CPUs `row` and `column`. `--csv` has no names of
//! CPUs; the text has them, a title before each of several tables, and the error behind each latency. E. Rigtorp,
//! c2clat `c2clat.cpp`: a square, with the CPUs in its first row and column, and zeros for a CPU itself.

use alloc::vec::Vec;

use latency_core::Text;

use super::fields::{self, Numerals, fields, number, separator, sized, timed};
use super::rows::{Draft, Problem, Tool, each_line, lines};
use crate::record::columns::{
    INITIATOR_CPU, INITIATOR_NODE, METHOD, NS, OP, ORDER, PAGES_ASKED, STRIDE, TARGET_CPU, TARGET_NODE,
    WORKING_SET,
};
use crate::record::row::{ONE_WAY, Row};
use latency_report::chart::vector;
use latency_report::escape::escaped;

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
    known.or_else(|| has_pairs(text).then_some(Tool::CoreToCore))
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
        Tool::CoreToCore => return read_pairs(text, draft),
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
        Tool::LatMemRd => two().map(|(size, ns)| (fields::in_bytes(size, 1_048_576.0), ns)),
        Tool::MemoryLatency => two().map(|(size, ns)| (fields::in_bytes(size, 1024.0), ns)),
        Tool::Tinymembench => {
            let (size, times) = line.split_once(':')?;
            let nanoseconds = times.split_ascii_whitespace().next()?;
            Some((number(size.trim_ascii())?, number(nanoseconds)?))
        }
        Tool::CpuBenchmarks => {
            let (size, unit) = sized(field_after(line, b"n =")?, Numerals::PLAIN)?;
            let nanoseconds = timed(field_after(line, b"/it:")?, 1.0, Numerals::PLAIN)?;
            Some((fields::in_bytes(size, unit.unwrap_or(1.0)), nanoseconds))
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

/// Returns the separator of a line of CSV.
fn separator_of_pairs(line: &str) -> Option<u8> {
    // Spreadsheets of countries with decimal commas write semicolons.
    [b';', b','].into_iter().find(|mark| line.as_bytes().contains(mark))
}

/// Returns the fields of a line: those of CSV may be empty.
fn fields_of_pairs(line: &str) -> Vec<&str> {
    let separator = separator_of_pairs(line);
    let is_mark = |mark: char| separator.map_or(mark.is_ascii_whitespace(), |own| mark == own.into());
    let fields = line.trim_ascii().split(is_mark).map(|field| field.trim_ascii().trim_matches('"'));
    vector(fields.filter(|field| separator.is_some() || !field.is_empty()))
}

/// Returns the number of a CPU.
fn cpu(field: &str) -> Option<u32> {
    field.parse().ok()
}

/// Returns a number, without its error.
fn number_of_pairs(field: &str) -> Option<f64> {
    Numerals::WITH_COMMA.number(field.split('\u{b1}').next()?.trim_ascii())
}

/// Returns a latency; `None` for a field without one, such as the one of a CPU with itself.
fn latency(field: &str) -> Option<f64> {
    number_of_pairs(field).filter(|latency| *latency > 0.0)
}

/// Returns the CPUs of columns that a line names: at least two in their order, alone or behind one other field.
fn columns_of(line: &str) -> Option<Vec<u32>> {
    let fields = fields_of_pairs(line);
    let words = fields.iter().take_while(|field| cpu(field).is_none()).count();
    let mut columns = Vec::new();
    for field in fields.iter().skip(words).filter(|field| !field.is_empty()) {
        columns.push(cpu(field)?);
    }
    (words <= 1 && columns.len() > 1 && columns.is_sorted_by(|one, next| one < next)).then_some(columns)
}

/// Returns the CPU of a column. Without names, places are numbers of CPUs.
fn cpu_of(columns: Option<&[u32]>, column: usize) -> Option<u32> {
    columns.map_or(Some(column as u32), |columns| columns.get(column).copied())
}

/// Returns the CPU of a row and its other fields, if the line is a row: no CPU has a latency with itself, and none is
/// outside of the columns. Without names, the row at a place is that of the CPU with this number.
fn row_of<'t>(columns: Option<&[u32]>, place: usize, line: &'t str) -> Option<(u32, Vec<&'t str>)> {
    let mut cells = fields_of_pairs(line);
    let own = match columns {
        Some(columns) => cpu(cells.first()?).filter(|own| columns.contains(own))?,
        None => place as u32,
    };
    cells.drain(..usize::from(columns.is_some()));
    let fits = cells.iter().enumerate().all(|(column, field)| {
        let other = cpu_of(columns, column);
        field.is_empty() || other.is_some() && (latency(field).is_none() || other != Some(own))
    });
    fits.then_some((own, cells))
}

/// Returns the lines of a text that are not empty. A file may have millions.
fn filled_lines(text: &str) -> impl Iterator<Item = &str> + Clone {
    lines(text).filter(|line| !line.trim_ascii().is_empty())
}

/// Returns whether a text has a table with names of CPUs: a heading, and rows of its first two CPUs.
fn is_named(text: &str) -> bool {
    let lines = filled_lines(text);
    let rows = lines.clone().skip(1).zip(lines.clone().skip(2));
    lines.zip(rows).any(|(heading, (first, second))| {
        columns_of(heading).is_some_and(|columns| {
            let is_of = |row, cpu: &u32| row_of(Some(&columns), 0, row).is_some_and(|(own, _)| own == *cpu);
            [first, second].into_iter().zip(&columns).all(|(row, cpu)| is_of(row, cpu))
        })
    })
}

/// Returns whether a text has tables of CPUs. Without names, each line is a row, as many as there are columns.
fn has_pairs(text: &str) -> bool {
    let count = filled_lines(text).count();
    let is_number =
        |field: &&str| number_of_pairs(field).is_some() || !field.bytes().any(|byte| byte.is_ascii_digit());
    let is_row = |(index, line): (usize, &str)| {
        let row = row_of(None, index, line).filter(|_| separator_of_pairs(line).is_some());
        row.is_some_and(|(_, cells)| {
            let has_latency = index == 0 || cells.iter().any(|field| latency(field).is_some());
            (count..=count + 1).contains(&cells.len()) && cells.iter().all(is_number) && has_latency
        })
    };
    is_named(text) || count > 1 && filled_lines(text).enumerate().all(is_row)
}

/// Reads every table of CPUs. Lines that do not belong to one are skipped.
fn read_pairs(text: &str, draft: &mut Draft) -> Result<(), Problem> {
    draft.saved.experiment = Text::from_bytes(b"cores");
    let is_named = is_named(text);
    let (mut columns, mut rows) = (None::<Vec<u32>>, 0);
    let mut method = "";
    each_line(text, &mut |_, line| {
        if line.is_empty() {
            return Ok(());
        }
        if let Some((_, title)) = line.split_once(')').filter(|(order, _)| cpu(order).is_some())
            && let Some(title) = title.strip_prefix(' ')
        {
            method = title;
        }
        let row = row_of(columns.as_deref(), rows, line).filter(|_| columns.is_some() || !is_named);
        let Some((own, cells)) = row else {
            columns = columns_of(line).or(columns.take());
            return Ok(());
        };
        rows += 1;
        for (column, field) in cells.into_iter().enumerate() {
            let Some(other) = cpu_of(columns.as_deref(), column).filter(|other| *other != own) else {
                continue;
            };
            let Some(nanoseconds) = latency(field) else {
                // A triangle has no latencies behind its own CPU; nan and inf are none either.
                if number_of_pairs(field).is_some()
                    || matches!(field.as_bytes(), [.., b'n' | b'N' | b'f' | b'F'])
                {
                    return Err("latency is not a positive number of nanoseconds");
                }
                continue;
            };
            let row = Row::timed(nanoseconds).with(INITIATOR_CPU, other).with(TARGET_CPU, own);
            draft.push(row.with(METHOD, escaped(method.chars())).with(OP, ONE_WAY))?;
        }
        Ok(())
    })
}
