//! Rows of every document: those of a run begin with their origin, and those of saved results are their cells.

use super::Report;
use super::time::utc;
use crate::analysis::traffic::bandwidth;
pub use crate::record::columns::*;
use crate::record::row::Row;
use crate::saved::Saved;
use latency_engine::result::LoadParts;
use latency_report::{Field, Part, Shown};

/// Describes the values that tell a saved point of an experiment apart from others.
pub fn saved(document: &mut Shown, experiment: &str, row: &Row) {
    if !row.tells(EXPERIMENT) && !experiment.is_empty() {
        document.put(&EXPERIMENT, experiment);
    }
    for column in POINTS.iter().filter(|column| !row.plain(**column).is_empty()) {
        if let Some(cell) = row.cell(*column) {
            document.value(column, cell.clone());
        }
    }
}

/// Describes the start of a saved run; null if the result does not state it.
pub fn start_of(document: &mut Shown, field: &'static Field, of: &Saved) {
    match of.origin.started {
        0 => document.put(field, None::<bool>),
        started => document.show(field, &utc(started)),
    }
}

/// Describes memory and translation, the parts of a random load; null if they were not told apart.
pub fn parts(document: &mut Shown, parts: Option<LoadParts>, is_memory: bool) {
    let without_translation = parts.map(|parts| parts.without_translation);
    document.put(&MEMORY_NS, without_translation.filter(|_| is_memory));
    document.put(&WITHOUT_TRANSLATION, without_translation);
    document.put(&TRANSLATION, parts.map(|parts| parts.translation));
}

/// Describes the points of a saved result as rows, with all cells of the file in the order of the columns. A row without
/// its origin has that of the result.
pub fn saved_rows<'r>(document: &mut Shown, of: &Saved, rows: impl IntoIterator<Item = &'r Row>) {
    for row in rows {
        document.part(Part::Item, |document| {
            for column in Column::all() {
                match row.cell(column) {
                    Some(cell) => document.value(&FIELDS[column.place()], cell.clone()),
                    None => derived(document, of, row, column),
                }
            }
        });
    }
}

/// Describes a value that the file has outside of its rows, or that follows from others.
fn derived(document: &mut Shown, of: &Saved, row: &Row, column: Column) {
    match column {
        HOST => document.put(&HOST, of.named_host().unwrap_or_default()),
        STARTED => start_of(document, &STARTED, of),
        EXPERIMENT if !of.experiment.is_empty() => document.put(&EXPERIMENT, of.experiment.as_str()),
        BYTES => {
            if let Some(kind) = row.traffic() {
                document.put(&BYTES, bandwidth(kind, row.time()));
            }
        }
        // The idle latency of a curve under load.
        OFFERED if row.tells(LOAD) && row.traffic().is_none() => document.put(&OFFERED, 0.0),
        NOT_MEASURED => document.put(&NOT_MEASURED, ""),
        _ => {}
    }
}

/// The origin of rows: the run.
#[derive(Clone, Copy)]
pub struct RowOrigin<'r> {
    /// The name of the host; empty if it is unknown.
    pub host: &'r str,
    /// The start of the run, in seconds since 1970, UTC.
    pub started: u64,
    /// The experiment.
    pub experiment: &'r str,
}

impl<'r> RowOrigin<'r> {
    /// Returns the origin of the rows of a report.
    pub fn of(report: &Report<'r>) -> RowOrigin<'r> {
        RowOrigin {
            host: report.machine.host.identity.name.as_str(),
            started: report.started,
            experiment: report.options.experiment.descriptor.name,
        }
    }

    /// Writes a row, which begins with its origin.
    pub fn row(self, document: &mut Shown, members: &mut dyn FnMut(&mut Shown)) {
        document.part(Part::Item, |document| {
            document.put(&HOST, self.host);
            document.show(&STARTED, &utc(self.started));
            document.put(&EXPERIMENT, self.experiment);
            document.put(&TOOL_VERSION, env!("CARGO_PKG_VERSION"));
            members(document);
        });
    }
}
