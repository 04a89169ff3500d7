//! Tables of latencies between CPUs, from other tools: a triangle or a square, in CSV or between white space.
//!
//! # References
//!
//! N. Viennot, core-to-core-latency `src/bench.rs`: half of the round trip of CPUs `row` and `column`. `--csv` has no
//! names of CPUs; the text has them, a title before each of several tables, and the error behind each latency.
//! E. Rigtorp, c2clat `c2clat.cpp`: a square, with the CPUs in its first row and column, and zeros for a CPU itself.

use super::numerals::Numerals;
use super::rows::{Draft, Problem, each_line, lines};
use crate::options::tokens::escaped;
use crate::record::columns::{INITIATOR_CPU, METHOD, OP, TARGET_CPU};
use crate::record::row::{ONE_WAY, Row};
use latency_core::text::Text;

/// Returns the separator of a line of CSV.
fn separator(line: &str) -> Option<char> {
    // Spreadsheets of countries with decimal commas write semicolons.
    [';', ','].into_iter().find(|mark| line.contains(*mark))
}

/// Returns the fields of a line: those of CSV may be empty.
fn fields(line: &str) -> impl Iterator<Item = &str> + Clone {
    let separator = separator(line);
    let is_csv = separator.is_some();
    let is_mark = move |mark: char| separator.map_or(mark.is_ascii_whitespace(), |own| mark == own);
    let parts = line.trim_ascii().split(is_mark).map(|field| field.trim_ascii().trim_matches('"'));
    parts.filter(move |field| is_csv || !field.is_empty())
}

/// Returns the number of a CPU.
fn cpu(field: &str) -> Option<u32> {
    field.parse().ok()
}

/// Returns a number, without its error.
fn number(field: &str) -> Option<f64> {
    Numerals::WITH_COMMA.number(field.split('\u{b1}').next()?.trim_ascii())
}

/// Returns a latency; `None` for a field without one, such as the one of a CPU with itself.
fn latency(field: &str) -> Option<f64> {
    number(field).filter(|latency| *latency > 0.0)
}

/// The CPUs of the columns of a table.
#[derive(Clone, Copy)]
struct CpuColumns<'t> {
    /// The line that names them; without one, their places are their names.
    heading: Option<&'t str>,
    /// The number of rows before.
    rows: u32,
}

impl<'t> CpuColumns<'t> {
    /// Returns the columns that a line names: at least two CPUs in their order, alone or behind one other field.
    fn of(line: &'t str) -> Option<CpuColumns<'t>> {
        let words = fields(line).take_while(|field| cpu(field).is_none()).count();
        let cpus = || fields(line).skip(words).filter(|field| !field.is_empty()).map(cpu);
        let rises = cpus().zip(cpus().skip(1)).all(|(one, next)| one < next);
        let is_heading = words <= 1 && cpus().count() > 1 && cpus().all(|cpu| cpu.is_some()) && rises;
        is_heading.then_some(CpuColumns { heading: Some(line), rows: 0 })
    }

    /// Returns the CPU of a column.
    fn cpu(self, column: usize) -> Option<u32> {
        match self.heading {
            Some(heading) => fields(heading).filter_map(cpu).nth(column),
            None => u32::try_from(column).ok(),
        }
    }

    /// Returns the CPU of a row and its other fields, if the line is a row: no CPU has a latency with itself, and none is
    /// outside of the columns.
    fn row(self, line: &'t str) -> Option<(u32, impl Iterator<Item = &'t str> + Clone)> {
        let named = usize::from(self.heading.is_some());
        let own = if named == 1 { cpu(fields(line).next()?)? } else { self.rows };
        let cells = fields(line).skip(named);
        let fits = cells.clone().enumerate().all(|(column, field)| {
            let other = self.cpu(column);
            field.is_empty() || other.is_some() && (latency(field).is_none() || other != Some(own))
        });
        let is_known =
            self.heading.is_none_or(|heading| fields(heading).any(|field| cpu(field) == Some(own)));
        (fits && is_known).then_some((own, cells))
    }
}

/// Returns whether a text has a table with names of CPUs: a heading, and rows of its first two CPUs.
fn is_named(text: &str) -> bool {
    let lines = || lines(text).filter(|line| !line.trim_ascii().is_empty());
    lines().zip(lines().skip(1).zip(lines().skip(2))).any(|(heading, (first, second))| {
        CpuColumns::of(heading).is_some_and(|columns| {
            let own = |line| columns.row(line).map(|(own, _)| own);
            own(first).is_some() && [own(first), own(second)] == [columns.cpu(0), columns.cpu(1)]
        })
    })
}

/// Returns whether a text has tables of CPUs. Without names, each line is a row, as many as there are columns.
pub(super) fn are_in(text: &str) -> bool {
    let lines = || lines(text).filter(|line| !line.trim_ascii().is_empty());
    let count = lines().count();
    let is_row = |(index, line): (usize, &str)| {
        let columns = CpuColumns { heading: None, rows: index as u32 };
        let Some((_, cells)) = columns.row(line).filter(|_| separator(line).is_some()) else { return false };
        let is_number =
            |field: &str| number(field).is_some() || !field.bytes().any(|byte| byte.is_ascii_digit());
        let has_latency = index == 0 || cells.clone().any(|field| latency(field).is_some());
        (count..=count + 1).contains(&cells.clone().count()) && cells.clone().all(is_number) && has_latency
    };
    is_named(text) || count > 1 && lines().enumerate().all(is_row)
}

/// Reads every table of CPUs. Lines that do not belong to one are skipped.
pub(super) fn read(text: &str, draft: &mut Draft) -> Result<(), Problem> {
    draft.saved.experiment = Text::from_bytes(b"cores");
    let mut columns = (!is_named(text)).then_some(CpuColumns { heading: None, rows: 0 });
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
        let Some((of, (own, cells))) = columns.and_then(|of| Some((of, of.row(line)?))) else {
            columns = CpuColumns::of(line).or(columns);
            return Ok(());
        };
        columns = Some(CpuColumns { rows: of.rows + 1, ..of });
        for (column, field) in cells.enumerate() {
            let Some(other) = of.cpu(column).filter(|other| *other != own) else { continue };
            let Some(nanoseconds) = latency(field) else {
                // A triangle has no latencies behind its own CPU; nan and inf are none either.
                if number(field).is_some() || matches!(field.as_bytes(), [.., b'n' | b'N' | b'f' | b'F']) {
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
