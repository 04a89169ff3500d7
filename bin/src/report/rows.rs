//! CSV: one header, and one row per record, with plain numbers under the names of the JSON keys.
//!
//! All experiments have the same columns, so that files can be joined end to end; a record that lacks one leaves it
//! empty.

use core::fmt::{self, Write};

use latency_core::text::Text;

use super::document::{Document, ENDS, Field, Part, Value};
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
            in_rows: false,
            failed: Ok(()),
        };
        rows.failed = rows.header();
        describe(&mut rows);
        rows.failed
    },
};

/// The maximum number of columns; the ends of an interval are not counted.
pub const MOST_COLUMNS: usize = 104;

/// The content of a row in one column: a number or word, and both ends of its interval.
#[derive(Clone, Copy)]
struct Cell {
    value: Text<256>,
    ends: [Text<24>; 2],
}

impl Cell {
    const EMPTY: Cell = Cell { value: Text::EMPTY, ends: [Text::EMPTY; 2] };
}

struct RowWriter<'o> {
    out: &'o mut dyn Write,
    columns: [&'static [Field]; 2],
    cells: [Cell; MOST_COLUMNS],
    depth: usize,
    /// True between the beginning and the end of the list of records.
    in_rows: bool,
    failed: fmt::Result,
}

/// The depth of the parts of a record.
const IN_RECORD: usize = 2;

impl RowWriter<'_> {
    fn columns(&self) -> impl Iterator<Item = Field> + use<> {
        self.columns.into_iter().flatten().copied()
    }

    fn header(&mut self) -> fmt::Result {
        let mut before = "";
        for field in self.columns() {
            write!(self.out, "{before}{}", field.key)?;
            if field.has_interval {
                ENDS.iter().try_for_each(|end| write!(self.out, ",{}{end}", field.key))?;
            }
            before = ",";
        }
        self.out.write_char('\n')
    }

    fn row(&mut self) -> fmt::Result {
        let mut before = "";
        for (field, cell) in self.columns().zip(&self.cells) {
            self.out.write_str(before)?;
            quoted(self.out, cell.value.as_str())?;
            if field.has_interval {
                cell.ends.iter().try_for_each(|end| write!(self.out, ",{end}"))?;
            }
            before = ",";
        }
        self.out.write_char('\n')
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
        Value::None | Value::Estimate(_) => Ok(()),
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
    fn value(&mut self, field: Field, value: Value<'_>) {
        if !self.in_rows {
            return;
        }
        let place = self.columns().position(|column| column.key == field.key);
        if let Some(cell) = place.and_then(|place| self.cells.get_mut(place)) {
            let [value, low, high] = value.parts();
            *cell = Cell { value: text(value), ends: [text(low), text(high)] };
        }
    }

    fn begin(&mut self, part: Part) {
        self.depth += 1;
        self.in_rows |= self.depth == 1 && matches!(part, Part::Records(_));
    }

    fn end(&mut self) {
        if self.in_rows && self.depth == IN_RECORD {
            if self.failed.is_ok() {
                self.failed = self.row();
            }
            self.cells = [Cell::EMPTY; MOST_COLUMNS];
        }
        self.depth = self.depth.saturating_sub(1);
        self.in_rows &= self.depth > 0;
    }
}
