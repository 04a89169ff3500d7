//! One point of a document. Its members have the names of the columns of a table.

use latency_core::Pages;
use latency_core::json::Event;

use super::alike::ORDERS;
use super::rows::LOADED;
use crate::record::columns::{
    Column, ColumnKind, EXPERIMENT, FOOTPRINT, HOST, LOAD, OFFERED, ORDER, PAGES_ASKED, PAGES_OBTAINED,
    PERCENTILE, WORKING_SET,
};
use crate::record::row::{Row, UNKNOWN_WORD};
use latency_report::escape::escaped;
use latency_report::tree::JsonValue;

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
pub(super) fn point(object: JsonValue<'_>) -> Row {
    let (mut row, mut near) = (Row::EMPTY, HOST);
    for (key, member) in object.members() {
        if let Some((column, part)) = Column::named(&key, near) {
            read(&mut row, column, part, member);
            near = column;
        }
    }
    object.check(finish(&mut row));
    row
}

/// Reads the value of a column, or an end of its interval.
pub(super) fn read(row: &mut Row, column: Column, part: usize, member: JsonValue<'_>) {
    member.check(match (member.event(), column.kind()) {
        (Event::Null, ColumnKind::Bytes) => Err("not a number"),
        (Event::Null, _) => {
            if row.cell(column).is_none() {
                row.put(column, None::<bool>);
            }
            Ok(())
        }
        (Event::String(word), ColumnKind::Word) => {
            let word = escaped(word.chars());
            // An empty word is like a missing member.
            match word.as_str() {
                "" => Ok(()),
                known => check_word(column, known).map(|()| row.put(column, word)),
            }
        }
        (Event::Bool(flag), ColumnKind::Flag) => {
            row.put(column, flag);
            Ok(())
        }
        (_, ColumnKind::Word | ColumnKind::Flag) => Err(UNKNOWN_WORD),
        (Event::Number(number), _) => row.read_number(column, part, number),
        (_, ColumnKind::Count) => Err("not a whole number"),
        _ => Err("not a number"),
    });
}

/// Checks a word.
///
/// # Errors
///
/// A word that is none of the few words of its column.
pub(super) fn check_word(column: Column, word: &str) -> Result<(), &'static str> {
    let pages = || Pages::from_word(word.as_bytes());
    let is_known = match column {
        ORDER => ORDERS.contains(&word),
        PAGES_ASKED => pages().is_some(),
        PAGES_OBTAINED => pages().is_some_and(|pages| pages != Pages::AUTO),
        _ => true,
    };
    if is_known { Ok(()) } else { Err(UNKNOWN_WORD) }
}

#[cfg(test)]
mod tests {
    use super::super::Saved;
    use super::*;
    use crate::error::Problem;
    use std::format;

    #[test]
    fn a_value_that_a_field_cannot_have_is_refused_by_its_line() {
        for (member, value, what) in [
            ("walk_order", "\"sorted\"", UNKNOWN_WORD),
            ("walk_order", "12", UNKNOWN_WORD),
            ("pages_asked", "\"4096\"", UNKNOWN_WORD),
            ("pages_obtained", "\"auto\"", UNKNOWN_WORD),
            ("prefetch", "\"yes\"", UNKNOWN_WORD),
            ("verified", "\"yes\"", UNKNOWN_WORD),
            ("chains", "\"many\"", "not a whole number"),
            ("cores", "1.5", "not a whole number"),
            ("lines", "-1", "not a whole number"),
            ("initiator_cpu", "4294967296", "not a whole number"),
            ("kernel", "12", UNKNOWN_WORD),
            ("class", "true", UNKNOWN_WORD),
            ("op", "[]", UNKNOWN_WORD),
        ] {
            let document =
                format!("{{\"experiment\":\"parallel\",\n\"rows\":[{{\"ns\":10,\n\"{member}\":{value}}}]}}");
            let found = Saved::parse(document.as_bytes(), None).err();
            assert_eq!(found, Some(Problem::new(3, what)), "{document}");
            // Names and methods may be numbers in a table.
            if matches!(member, "kernel" | "class" | "op") {
                continue;
            }
            let value = value.trim_matches('"');
            let table = format!("experiment,working_set_bytes,ns,{member}\nparallel,65536,10,{value}\n");
            let found = Saved::parse(table.as_bytes(), None).err();
            assert_eq!(found, Some(Problem::new(2, what)), "{table}");
        }
    }
}
