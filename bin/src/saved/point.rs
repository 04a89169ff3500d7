//! One point of a document. Its members have the names of the columns of a table.

use latency_core::json::Event;
use latency_core::math;

use super::rows::{LOADED, Problem};
use super::tree::JsonValue;
use crate::options::tokens::escaped;
use crate::record::columns::{
    Column, ColumnKind, EXPERIMENT, FOOTPRINT, HOST, LOAD, OFFERED, PERCENTILE, WORKING_SET,
};
use crate::record::row::Row;

/// Completes a row, after all of its values were read.
///
/// # Errors
///
/// Values that contradict each other.
pub(super) fn finish(row: &mut Row) -> Result<(), &'static str> {
    // The size of a point without a working set is the memory of all generators.
    if let (None, Some(footprint)) =
        (row.cell(WORKING_SET), row.count(FOOTPRINT).filter(|footprint| *footprint > 0))
    {
        row.read_number(WORKING_SET, 0, footprint as f64)?;
    }
    row.check()
}

/// Returns whether a row is compared: percentiles, and levels of load between idle and most, are not.
pub(super) fn is_compared(row: &Row, is_saved: bool) -> bool {
    row.number(PERCENTILE).is_none() && (is_saved || !is_level(row) || row.number(OFFERED) == Some(0.0))
}

/// Returns whether a row is a level of load as it was measured. Rows of saved points name their load.
pub(super) fn is_level(row: &Row) -> bool {
    row.is_word(EXPERIMENT, LOADED) && !row.tells(LOAD)
}

/// Reads a point.
pub(super) fn point(object: JsonValue<'_>) -> Result<Row, Problem> {
    let (mut row, mut near) = (Row::EMPTY, HOST);
    for (key, member) in object.members() {
        if let Some((column, part)) = Column::named(&key, near) {
            read(&mut row, column, part, member)?;
            near = column;
        }
    }
    finish(&mut row).map_err(|what| object.problem(what))?;
    Ok(row)
}

/// Reads the value of a column, or an end of its interval.
pub(super) fn read(row: &mut Row, column: Column, part: usize, member: JsonValue<'_>) -> Result<(), Problem> {
    match (member.event(), column.kind()) {
        (Event::Null, ColumnKind::Bytes) => return Err(member.problem("not a number")),
        (Event::Null, _) if row.cell(column).is_none() => row.put(column, None::<bool>),
        (Event::Null, _) => {}
        (Event::String(word), ColumnKind::Word) => row.put(column, escaped(word.chars())),
        (Event::Bool(flag), ColumnKind::Flag) => row.put(column, flag),
        // Another tool may have numbers where this one has words.
        (Event::Number(number), ColumnKind::Word) => {
            row.put(column, alloc::format!("{}", math::whole(number)));
        }
        (Event::Number(number), _) => {
            row.read_number(column, part, number).map_err(|what| member.problem(what))?;
        }
        (_, ColumnKind::Word) => return Err(member.problem("expected a string, found a list")),
        (_, ColumnKind::Flag) => return Err(member.problem("neither true nor false")),
        _ => return Err(member.problem("not a number")),
    }
    Ok(())
}
