//! CSV: one header, one row a record, plain numbers under the names of the JSON keys.
//!
//! The columns are declared by the experiment; a record that lacks one leaves it empty.

use core::fmt::{self, Write};

use latency_core::text::Text;

use super::document::{Document, Field, Part, Value};
use super::figures::Precise;
use super::format::{Format, Purpose};

/// Comma-separated values, as RFC 4180 has them, with plain line feeds.
pub const CSV: Format = Format {
    name: "csv",
    extension: "csv",
    purpose: Purpose::Document,
    write: |out, style, describe| {
        let mut rows = Rows {
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

/// More columns than any experiment declares: `distribution` with counters has 60.
pub const MOST_COLUMNS: usize = 64;

/// What stands in one column of a row: a number or word, and of intervals the other end.
#[derive(Clone, Copy)]
struct Cell {
    low: Text<128>,
    high: Text<24>,
}

impl Cell {
    const EMPTY: Cell = Cell { low: Text::EMPTY, high: Text::EMPTY };
}

struct Rows<'o> {
    out: &'o mut dyn Write,
    columns: [&'static [&'static Field]; 3],
    cells: [Cell; MOST_COLUMNS],
    depth: usize,
    /// The depth of the list of records, while it is open.
    records: Option<usize>,
    /// The list whose values are being written, which share a cell.
    list: Option<&'static Field>,
    failed: fmt::Result,
}

/// Whether a field holds intervals, which take two columns: by the name of all of them.
fn is_interval(field: &Field) -> bool {
    interval_end(field.column()).is_some()
}

/// What columns of intervals have in their names.
const INTERVAL: &[u8] = b"ci95";

/// Where that ends in a name. By bytes: the library's search in strings is larger than this file.
fn interval_end(name: &str) -> Option<usize> {
    let found = name.as_bytes().windows(INTERVAL.len()).position(|part| part == INTERVAL);
    found.map(|start| start + INTERVAL.len())
}

/// `ci95_ns` is written as `ci95_low_ns` and `ci95_high_ns`.
fn interval_names(out: &mut dyn Write, key: &str) -> fmt::Result {
    let end = interval_end(key).and_then(|end| key.split_at_checked(end));
    let (name, unit) = end.unwrap_or((key, ""));
    write!(out, "{name}_low{unit},{name}_high{unit}")
}

impl Rows<'_> {
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

    /// Whether the innermost part is a record, as opposed to a part of one.
    fn in_record(&self) -> bool {
        self.records.is_some_and(|depth| self.depth > depth)
    }
}

/// What would end a cell early is put into quotes.
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

/// A cell's text; what does not fit is left out, which no number, word or name of ours is.
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

impl Document for Rows<'_> {
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
                    // What does not fit is left out.
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
