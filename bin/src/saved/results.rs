//! The results within a table or a document of several: what `show` and `report` write of saved files, and tables that
//! were joined end to end.
//!
//! The document lists its files with the number of points of each. In a table, and in a document without these
//! numbers, the rows of one result have one host and one start.

use alloc::vec::Vec;
use latency_report::chart::vector;

use latency_core::Text;

use super::host::{Trust, instant};
use super::rows::{Draft, Problem, Saved, whole};
use super::{origin, shape};
use crate::record::columns::{ColumnSet, EXPERIMENT, HOST, STARTED};
use crate::record::members::{
    CPU_BRAND, FILE_CPU, FILE_EXPERIMENT, FILE_KERNEL, FILE_POINTS, FILE_TRUST, FILES, KERNEL_RELEASE,
};
use crate::record::row::Row;
use latency_report::tree::JsonValue;

/// Returns the number of rows of each result, in their order.
pub fn lengths(rows: &[Row], document: Option<JsonValue<'_>>) -> Vec<usize> {
    let points =
        |file: JsonValue<'_>| file.at(FILE_POINTS.key).number().and_then(|points| whole(points).ok());
    let files = document.into_iter().flat_map(|document| document.at(FILES.key).items());
    // No file of a document is without a point.
    let listed: Vec<usize> =
        vector(files.map_while(points).map(|points| points as usize).take_while(|points| *points > 0));
    if listed.iter().sum::<usize>() == rows.len() {
        return listed;
    }
    vector(rows.chunk_by(are_of_one_run).map(<[Row]>::len))
}

/// Returns whether two rows of a table are of one run.
pub fn are_of_one_run(one: &Row, other: &Row) -> bool {
    [HOST, STARTED].into_iter().all(|column| one.word(column) == other.word(column))
}

/// Adds each result of a document or a table to `all`, with its own rows and its own origin.
///
/// # Errors
///
/// Two values for one point of a result.
pub fn each(draft: Draft, document: Option<JsonValue<'_>>, all: &mut Vec<Saved>) -> Result<(), Problem> {
    let lengths = lengths(&draft.rows, document);
    let files = || document.into_iter().flat_map(|document| document.at(FILES.key).items());
    let is_listed = files().count() == lengths.len();
    if lengths.len() == 1 && !is_listed {
        all.push(draft.finish());
        return Ok(());
    }
    let (mut rest, mut files) = (&draft.rows[..], files().filter(|_| is_listed));
    for length in lengths {
        let (own, behind) = rest.split_at_checked(length).unwrap_or_default();
        rest = behind;
        let mut result = Draft { in_brief: draft.in_brief, saved: draft.saved, ..Draft::default() };
        read(&mut result, own, files.next())?;
        all.push(result.finish());
    }
    document.map_or(Ok(()), JsonValue::accepted)
}

/// Reads one result of several: its rows, and the file that a document lists for them.
fn read(result: &mut Draft, rows: &[Row], file: Option<JsonValue<'_>>) -> Result<(), Problem> {
    let Some(first) = rows.first() else { return Ok(()) };
    let saved = &mut result.saved;
    let is_of_several = shape::has_sections(saved.experiment.as_str());
    saved.experiment = if is_of_several { Text::EMPTY } else { saved.experiment };
    saved.origin.started = instant(first.word(STARTED)).unwrap_or(0);
    saved.conditions.set(HOST.key, first.word(HOST));
    let mut hidden = ColumnSet::EMPTY;
    if let Some(file) = file {
        saved.experiment = Text::from_bytes(file.at(FILE_EXPERIMENT.key).text().as_bytes());
        for (field, condition) in [(&FILE_CPU, &CPU_BRAND), (&FILE_KERNEL, &KERNEL_RELEASE)] {
            saved.conditions.set(condition.key, &file.at(field.key).text());
        }
        // Reasons for the trust in all results are not those of this one.
        if let Some(level) = file.member(FILE_TRUST.key) {
            saved.origin.trust = Trust::default();
            origin::level(level, &mut saved.origin.trust);
        }
        if !shape::has_sections(saved.experiment.as_str()) {
            hidden = EXPERIMENT.into();
        }
    }
    for row in rows {
        let mut row = row.clone();
        row.hide(hidden);
        result.push(row).map_err(|what| Problem::new(1, what))?;
    }
    result.has_rows()?;
    result.has_no_contradiction().map_err(|what| Problem::new(1, what))?;
    result.judge();
    Ok(())
}
