//! CSV: one header, and one row per record, with plain numbers under the names of the JSON keys.
//!
//! The columns are declared by the experiment; a record that lacks one leaves it empty.

use core::fmt::{self, Write};

use latency_core::text::Text;

use super::document::{Document, Field, Part, Value};
use super::figures::Precise;
use super::format::{Format, Purpose};

/// Comma-separated values (RFC 4180), but with plain line feeds.
pub const CSV: Format = Format {
    name: "csv",
    extension: "csv",
    purpose: Purpose::Document,
    write: |out, style, describe| {
        let mut rows = RowWriter {
            out,
            columns: style.columns,
            cells: [Cell::EMPTY; MOST_COLUMNS],
            depth: 0,
            records: None,
            list: None,
            failed: Ok(()),
        };
        rows.failed = rows.header();
        describe(&mut rows);
        rows.failed
    },
};

/// The maximum number of columns. The experiment with most columns, `distribution` with counters, has 60.
pub const MOST_COLUMNS: usize = 64;

/// The content of a row in one column: a number or word, or both ends of an interval.
#[derive(Clone, Copy)]
struct Cell {
    low: Text<128>,
    high: Text<24>,
}

impl Cell {
    const EMPTY: Cell = Cell { low: Text::EMPTY, high: Text::EMPTY };
}

struct RowWriter<'o> {
    out: &'o mut dyn Write,
    columns: [&'static [&'static Field]; 3],
    cells: [Cell; MOST_COLUMNS],
    depth: usize,
    /// The depth of the list of records, while it is open.
    records: Option<usize>,
    /// The list that is being written; all of its values share a cell.
    list: Option<&'static Field>,
    failed: fmt::Result,
}

/// Returns whether a field holds intervals, which need two columns. Their names have a common part.
fn is_interval(field: &Field) -> bool {
    interval_end(field.column()).is_some()
}

/// The part that all names of intervals contain.
const INTERVAL: &[u8] = b"ci95";

/// Returns the end of this part in a name. It compares bytes, because the search of the library in strings would need
/// more code than this file.
fn interval_end(name: &str) -> Option<usize> {
    let found = name.as_bytes().windows(INTERVAL.len()).position(|part| part == INTERVAL);
    found.map(|start| start + INTERVAL.len())
}

/// Writes the two names of an interval: `ci95_low_ns` and `ci95_high_ns` for `ci95_ns`.
fn interval_names(out: &mut dyn Write, key: &str) -> fmt::Result {
    let end = interval_end(key).and_then(|end| key.split_at_checked(end));
    let (name, unit) = end.unwrap_or((key, ""));
    write!(out, "{name}_low{unit},{name}_high{unit}")
}

impl RowWriter<'_> {
    fn columns(&self) -> impl Iterator<Item = &'static Field> + use<> {
        self.columns.into_iter().flatten().copied()
    }

    fn header(&mut self) -> fmt::Result {
        for (index, field) in self.columns().enumerate() {
            if index > 0 {
                self.out.write_char(',')?;
            }
            if is_interval(field) {
                interval_names(self.out, field.column())?;
            } else {
                self.out.write_str(field.column())?;
            }
        }
        self.out.write_char('\n')
    }

    fn row(&mut self) -> fmt::Result {
        for (index, (field, cell)) in self.columns().zip(&self.cells).enumerate() {
            if index > 0 {
                self.out.write_char(',')?;
            }
            quoted(self.out, cell.low.as_str())?;
            if is_interval(field) {
                write!(self.out, ",{}", cell.high)?;
            }
        }
        self.out.write_char('\n')
    }

    /// Returns whether the innermost part is a record, and not a part of one.
    fn in_record(&self) -> bool {
        self.records.is_some_and(|depth| self.depth > depth)
    }
}

/// Writes a cell, in quotes if it contains a character that would end it early.
fn quoted(out: &mut dyn Write, cell: &str) -> fmt::Result {
    if !cell.contains(['"', ',', '\n', '\r']) {
        return out.write_str(cell);
    }
    out.write_char('"')?;
    for part in cell.split_inclusive('"') {
        out.write_str(part)?;
        if part.ends_with('"') {
            out.write_char('"')?;
        }
    }
    out.write_char('"')
}

/// Returns the text of a cell. Text that does not fit is left out; all of the program's own numbers, words and names
/// fit.
fn text<const N: usize>(value: Value<'_>) -> Text<N> {
    let mut text = Text::EMPTY;
    let _ = match value {
        Value::None | Value::Interval(_) => Ok(()),
        Value::Flag(flag) => write!(text, "{flag}"),
        Value::Count(count) => write!(text, "{count}"),
        Value::Real(number) if number.is_finite() => write!(text, "{}", Precise(number)),
        Value::Real(_) => Ok(()),
        Value::Word(word) => text.write_str(word),
        Value::Raw(bytes) => {
            text = Text::from_bytes(bytes);
            Ok(())
        }
        Value::Shown(shown) => write!(text, "{shown}"),
    };
    text
}

impl Document for RowWriter<'_> {
    fn value(&mut self, field: &'static Field, value: Value<'_>) {
        if !self.in_record() {
            return;
        }
        let place = self.columns().position(|column| column.is(field));
        let Some(cell) = place.and_then(|place| self.cells.get_mut(place)) else { return };
        *cell = match value {
            Value::Interval(interval) => {
                Cell { low: text(Value::Real(interval.low)), high: text(Value::Real(interval.high)) }
            }
            value => {
                let mut low = text(value);
                if self.list.is_some_and(|list| list.is(field)) && !cell.low.as_str().is_empty() {
                    let mut several = cell.low;
                    // Text that does not fit is left out.
                    let _ = write!(several, " {low}");
                    low = several;
                }
                Cell { low, ..Cell::EMPTY }
            }
        };
    }

    fn begin(&mut self, part: Part) {
        self.depth += 1;
        self.list = match part {
            Part::List(field) => Some(field),
            _ => None,
        };
        if matches!(part, Part::Records(_)) && self.records.is_none() {
            self.records = Some(self.depth);
        }
    }

    fn end(&mut self) {
        self.list = None;
        match self.records {
            Some(depth) if depth == self.depth => self.records = None,
            Some(depth) if depth + 1 == self.depth => {
                if self.failed.is_ok() {
                    self.failed = self.row();
                }
                self.cells = [Cell::EMPTY; MOST_COLUMNS];
            }
            _ => {}
        }
        self.depth = self.depth.saturating_sub(1);
    }
}
