//! Results in columns: tables with the header of this program, and sizes with nanoseconds from any other tool.

use alloc::vec::Vec;

use super::fields::{fields, is_missing, separator, sized, timed};
use super::headings::{self, TableColumn};
use super::numerals::Numerals;
use super::point::{check_word, finish, is_compared};
use super::results::are_of_one_run;
use super::rows::{Draft, LOADED, Problem, each_line, lines};
use super::shape::OF_SCHEMA_1;
use super::tree::line_of;
use super::{foreign, summaries, unit};
use crate::options::tokens::escaped;
use crate::record::columns::{CLASS, Column, ColumnKind, EXPERIMENT, HOST, NS, TOOL_VERSION, WORKING_SET};
use crate::record::members;
use crate::record::row::Row;
use latency_core::math;

/// Maximum number of columns that are read.
const MAX_COLUMNS: usize = 128;

/// Minimum latency of a load in another tool's table, in nanoseconds. A load cannot complete in less than three core
/// cycles, and several chains side by side divide this time.
const FASTEST_NS: f64 = 0.05;

/// Reads a table. `given` is the unit of sizes that have none of their own, if the user gave one.
pub(super) fn read(text: &[u8], given: Option<f64>, draft: &mut Draft) -> Result<(), Problem> {
    let text = core::str::from_utf8(text)
        .map_err(|error| Problem::new(line_of(text, error.valid_up_to()), "neither JSON nor UTF-8 text"))?;
    if let Some(tool) = foreign::recognise(text) {
        return foreign::read(tool, text, draft);
    }
    let mut table =
        TableLayout { columns: Vec::new(), most: None, separator: None, numerals: Numerals::PLAIN, given };
    let (mut begun, mut empty, mut heading) = (false, 0, "");
    // The last comment before the first row may be its heading.
    let mut comment = "";
    each_line(text, &mut |index, line| {
        if let Some(words) = ["#", "//", "%"].iter().find_map(|mark| line.strip_prefix(*mark)) {
            comment = if begun { comment } else { words };
            return Ok(());
        }
        let marks: &[u8] = if begun { b"|+-:= ,;\t" } else { b"|+-:= " };
        if line.bytes().all(|byte| marks.contains(&byte)) || line.starts_with("sep=") {
            // An empty line or row, a rule between rows, or an instruction to a spreadsheet.
            empty = if line.is_empty() { empty + 1 } else { 0 };
            return Ok(());
        }
        if core::mem::take(&mut empty) > 1 && begun {
            // gnuplot separates tables in this way.
            return Err("a second table begins; save each table in its own file");
        }
        if core::mem::replace(&mut begun, true) {
            // Tables that are joined end to end have the heading of each.
            return if line == heading { Ok(()) } else { table.row(line, draft) };
        }
        table.separator = separator(line);
        let first = fields(line, table.separator).next().unwrap_or_default();
        let begins_a_number = |first: u8| first.is_ascii_digit() || b"-+.".contains(&first);
        let names = !first.bytes().next().is_some_and(begins_a_number);
        table.head(line, names, comment)?;
        if table.is_foreign() {
            let all = lines(text).skip(index + usize::from(names));
            table.numerals = Numerals::of(&mut all.flat_map(|line| fields(line, table.separator)));
        } else if table.separator == Some(b';') {
            // A spreadsheet of a country with decimal commas wrote the table of this program again.
            table.numerals = Numerals::WITH_COMMA;
        }
        if names {
            heading = line;
            return Ok(());
        }
        table.row(line, draft)
    })?;
    summaries::limits(draft).map_err(|what| Problem::new(1, what))
}

/// The layout of the rows of a table.
struct TableLayout {
    columns: Vec<TableColumn>,
    /// The number of fields in a row of another tool's table; `None` for a table of this program.
    most: Option<usize>,
    separator: Option<u8>,
    numerals: Numerals,
    given: Option<f64>,
}

impl TableLayout {
    /// Reads the first line, which is either a heading or the first row after a comment.
    fn head(&mut self, line: &str, names: bool, comment: &str) -> Result<(), &'static str> {
        // The headings of this program name every column; those of another tool are understood as far as possible.
        if names && fields(line, self.separator).any(|name| name.starts_with("ci95_low_")) {
            return Err(OF_SCHEMA_1);
        }
        if names && self.name(line) {
            return Ok(());
        }
        let count = fields(line, self.separator).count();
        let marks = separator(comment);
        let two_columns = match () {
            () if names => headings::find(line, self.separator)?,
            () if count > 1
                && fields(comment, marks).count() == count
                && let Ok(found) = headings::find(comment, marks) =>
            {
                found
            }
            () if count > 2 => return Err("more than two columns and no headings"),
            () => [(0, TableColumn::Size(None)), (1, TableColumn::Latency(1.0))],
        };
        let column = |place| {
            two_columns.iter().find(|(of, _)| *of == place).map_or(TableColumn::Other, |found| found.1)
        };
        self.columns = (0..count.clamp(2, MAX_COLUMNS)).map(column).collect();
        self.most = Some(count);
        Ok(())
    }

    /// Stores the columns of a heading by their names. Returns whether the table is from this program: one column is a
    /// latency.
    fn name(&mut self, line: &str) -> bool {
        let (mut known, mut near) = (0, HOST);
        for name in fields(line, self.separator).take(MAX_COLUMNS) {
            let found = Column::named(name, near);
            near = found.map_or(near, |(column, _)| column);
            self.columns.push(match found {
                None => TableColumn::Other,
                Some((NS, 0)) => TableColumn::Latency(1.0),
                Some((WORKING_SET, _)) => TableColumn::Size(Some(1.0)),
                Some((column, part)) => TableColumn::Own(column, part),
            });
            // Short names such as those of lines may mean anything in a table of another tool.
            let is_own =
                |column: Column| !column.words().is_empty() && (column < CLASS || name.contains('_'));
            known += usize::from(found.is_some_and(|(column, _)| is_own(column)));
        }
        known > 0 && self.columns.contains(&TableColumn::Latency(1.0))
    }

    /// Returns whether the table is from another tool.
    const fn is_foreign(&self) -> bool {
        self.most.is_some()
    }

    /// Adds the row of a line.
    fn row(&self, line: &str, draft: &mut Draft) -> Result<(), &'static str> {
        let TableLayout { columns, separator, numerals, .. } = self;
        if self.most.is_some_and(|most| fields(line, *separator).skip(most).any(|field| !field.is_empty())) {
            return Err("more fields than columns; quote numbers that contain a comma");
        }
        let mut row = Row::EMPTY;
        let mut found = 0;
        for (column, field) in columns.iter().zip(fields(line, *separator)) {
            found += 1;
            match *column {
                TableColumn::Latency(_) if self.is_foreign() && is_missing(field) => {
                    row.read_number(NS, 0, 0.0)?
                }
                TableColumn::Other => {}
                _ if field.is_empty() => {}
                TableColumn::Own(column, part) => {
                    // A quote within quotes is written twice.
                    let mut is_first = false;
                    let text = escaped(field.chars().filter(|character| {
                        is_first = *character == '"' && !is_first;
                        is_first || *character != '"'
                    }));
                    // Spreadsheets write TRUE and FALSE.
                    let text = match column.kind() {
                        ColumnKind::Flag => text.to_ascii_lowercase(),
                        _ => text,
                    };
                    if text.is_empty() {
                        continue;
                    }
                    check_word(column, &text)?;
                    row.read(column, part, &text, numerals.number(field))?;
                }
                TableColumn::Size(unit) => {
                    let size = sized(field, *numerals);
                    let (number, own) = size.ok_or_else(|| numerals.doubt(field, "not a size"))?;
                    let unit = own.or(unit).or(self.given);
                    draft.without_unit |= unit.is_none();
                    draft.fractions |= unit.is_none() && math::whole(number) as f64 != number;
                    row.read_number(WORKING_SET, 0, unit::bytes(number, unit.unwrap_or(1.0)))?;
                }
                TableColumn::Latency(unit) => {
                    let time = timed(field, unit, *numerals);
                    row.read_number(NS, 0, time.ok_or_else(|| numerals.doubt(field, "not a number"))?)?;
                }
            }
        }
        let wanted =
            columns.iter().rposition(|column| *column != TableColumn::Other).map_or(0, |last| last + 1);
        if found < wanted {
            return Err("too few columns");
        }
        for (column, condition) in [(HOST, &members::HOST), (TOOL_VERSION, &members::VERSION)] {
            if row.tells(column) {
                draft.saved.conditions.set(condition.key, row.word(column));
            }
        }
        let nanoseconds = row.nanoseconds();
        if self.is_foreign() && (1e-12..FASTEST_NS).contains(&nanoseconds) {
            return Err("latency below 0.05 ns; give its unit in the heading, e.g. us");
        }
        // The row of another operation, such as a bandwidth.
        if self.is_foreign() && nanoseconds == 0.0 {
            draft.saved.zeros += 1;
            return Ok(());
        }
        finish(&mut row)?;
        // The limits of a run stand behind its own rows.
        if draft.levels.last().is_some_and(|level| !are_of_one_run(&level.of, &row)) {
            summaries::limits(draft)?;
        }
        match row.is_word(EXPERIMENT, LOADED) {
            true => summaries::of_table(row, draft),
            false if is_compared(&row, false) => draft.push(row),
            false => Ok(()),
        }
    }
}
