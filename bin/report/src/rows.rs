//! CSV: one header, and one row per record, with plain numbers under the names of the JSON keys.
//!
//! All experiments have the same columns, so that files can be joined end to end; a record that lacks one leaves it
//! empty.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use super::chart::vector;
use super::document::{ENDS, Field, Part, Value};
use super::escape::quoted;
use super::figures::precise;
use super::format::{Format, Purpose};
use super::shown::{Shown, ShownPart, children};

/// Comma-separated values (RFC 4180), but with plain line feeds.
pub const CSV: Format = Format {
    name: "csv",
    extension: "csv",
    purpose: Purpose::Document,
    write: |out, style, shown| {
        let columns: Vec<Field> = vector(style.columns.into_iter().flatten().copied());
        header(out, &columns)?;
        records(shown).try_for_each(|record| row(out, &columns, record))
    },
};

fn header(out: &mut dyn Write, columns: &[Field]) -> fmt::Result {
    let mut before = "";
    for field in columns {
        write!(out, "{before}{}", field.key)?;
        if field.has_interval {
            ENDS.iter().try_for_each(|end| write!(out, ",{}{end}", field.key))?;
        }
        before = ",";
    }
    out.write_char('\n')
}

/// Returns the parts of each record of the list that is not within another part.
fn records(shown: &Shown) -> impl Iterator<Item = &[ShownPart]> {
    let list = children(shown.entries()).find_map(|list| match list {
        [ShownPart::Begin(Part::Records(_)), records @ .., ShownPart::End] => Some(records),
        _ => None,
    });
    children(list.unwrap_or_default()).filter(|record| matches!(record, [ShownPart::Begin(_), ..]))
}

/// Writes one record.
fn row(out: &mut dyn Write, columns: &[Field], record: &[ShownPart]) -> fmt::Result {
    let mut cells = vec![&Value::None; columns.len()];
    for entry in record {
        if let ShownPart::Value(field, value) = entry
            && let Some(place) = columns.iter().position(|column| column.key == field.key)
            && let Some(cell) = cells.get_mut(place)
        {
            *cell = value;
        }
    }
    let mut before = "";
    for (field, cell) in columns.iter().zip(cells) {
        let [value, low, high] = cell.parts();
        out.write_str(before)?;
        let value = text(&value);
        // These characters would end a cell without quotes early.
        out.write_str(&if value.contains(['"', ',', '\n', '\r']) { quoted(&value) } else { value })?;
        if field.has_interval {
            write!(out, ",{},{}", text(&low), text(&high))?;
        }
        before = ",";
    }
    out.write_char('\n')
}

/// Returns the text of a cell.
fn text(value: &Value) -> String {
    match value {
        Value::None | Value::Estimate(_) => String::new(),
        Value::Flag(flag) => format!("{flag}"),
        Value::Count(count) => format!("{count}"),
        Value::Real(number) if number.is_finite() => precise(*number),
        Value::Real(_) => String::new(),
        Value::Word(word) => word.clone(),
        Value::Raw(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    }
}
