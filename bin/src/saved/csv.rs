//! Results in columns: tables with the header of this program, and sizes with nanoseconds from any other tool.
//!
//! The heading of a column decides its meaning. A column is a latency only if its heading names a time.

use alloc::vec::Vec;

use latency_core::math;

use super::fields::{
    self, Numerals, fields, is_missing, is_one_of, separator, sized, timed, unit_in_heading, unit_of_size,
    unit_of_time, words_of_heading,
};
use super::point::{check_word, finish, is_compared};
use super::results::are_of_one_run;
use super::rows::{Draft, LOADED, Problem, each_line, lines};
use super::shape::OF_SCHEMA_1;
use super::{foreign, summaries};
use crate::record::columns::{CLASS, Column, ColumnKind, EXPERIMENT, HOST, NS, TOOL_VERSION, WORKING_SET};
use crate::record::members;
use crate::record::row::Row;
use latency_report::escape::escaped;
use latency_report::tree::line_of;

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
            () if names => find_columns(line, self.separator)?,
            () if count > 1
                && fields(comment, marks).count() == count
                && let Ok(found) = find_columns(comment, marks) =>
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
            let is_own = |column: Column| {
                !column.words().is_empty() && (column < CLASS || name.as_bytes().contains(&b'_'))
            };
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
                    row.read_number(WORKING_SET, 0, fields::in_bytes(number, unit.unwrap_or(1.0)))?;
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

/// The content of a column of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
enum TableColumn {
    /// The value (0) of a column of this program, or an end of its interval (1, 2).
    Own(Column, usize),
    /// A latency, and the number of nanoseconds in its unit.
    Latency(f64),
    /// A size, and the number of bytes in its unit, if the unit is known.
    Size(Option<f64>),
    /// Something that is not read.
    Other,
}

/// Words in headings of sizes.
const SIZES: &str = "size bytes region footprint buffer set range memory memsize wss";
/// Words that, in a heading, mean the size of a part of a working set.
const PARTS: &str = "pointer line page stride chunk object";
/// Words in headings of latencies.
const LATENCIES: &str = "latency latencies lat";
/// Words in headings of times, which may be latencies or the duration of a whole run.
const TIMES: &str = "time delay access duration";
/// Words in headings of columns with any content.
const ANYTHING: &str = "x y value avg average mean median min minimum result random load";
/// Words of clock cycles and ticks, which are not times.
const CLOCKS: &str = "cycles cycle clocks clk ticks tsc";
/// Words of units of size that are not bytes.
const BITS: &str = "bit bits kbit mbit";
/// Words of counted objects of unknown size.
const COUNTED: &str = "elements elems entries lines pages nodes items words";
/// Words of rates, counts and spreads. A column with one of them is not a latency, whatever else its heading contains.
const OTHERS: &str = "bandwidth throughput rate ops flops accesses count iterations hits misses ratio percent speedup \
                      stddev mhz ghz";

/// Returns whether one of the words of a heading is among the known ones.
fn has_word(heading: &str, known: &str) -> bool {
    words_of_heading(heading).any(|word| is_one_of(word, known))
}

/// Returns whether a heading says that its column is a rate, a count or a spread.
fn is_other(heading: &str) -> bool {
    let is_rate = |(before, word): (&str, &str)| {
        let ends = word.get(word.len().saturating_sub(3)..).unwrap_or_default();
        let per = before.eq_ignore_ascii_case("per") || unit_of_size(before).is_some();
        ends.eq_ignore_ascii_case("bps") || per && unit_of_time(word).is_some()
    };
    let of_a_second = |word| heading.as_bytes().contains(&b'/') && unit_of_time(word) == Some(1e9);
    heading.contains(['%', '='])
        || has_word(heading, OTHERS)
        || words_of_heading(heading).last().is_some_and(of_a_second)
        || core::iter::once("").chain(words_of_heading(heading)).zip(words_of_heading(heading)).any(is_rate)
}

/// Returns nanoseconds in the unit that a heading names.
fn time_in_heading(heading: &str) -> Option<f64> {
    words_of_heading(heading).find_map(unit_of_time)
}

/// Returns whether a heading has a unit in brackets. The caller asks only if the unit was not understood.
fn is_bracketed(heading: &str) -> bool {
    heading.contains(['(', '['])
}

/// Finds the column of sizes and the column of latencies. Returns their indices and units.
///
/// # Errors
///
/// An error if no column is a latency or a size, or if a unit is unknown.
fn find_columns(line: &str, separator: Option<u8>) -> Result<[(usize, TableColumn); 2], &'static str> {
    let place = |is: &dyn Fn(&str) -> bool| fields(line, separator).position(is);
    let is_time = |heading: &str| time_in_heading(heading).is_some() && !is_other(heading);
    let is_latency =
        |heading: &str| (has_word(heading, TIMES) || has_word(heading, LATENCIES)) && !is_other(heading);
    let is_clock = |heading: &str| has_word(heading, CLOCKS);
    // The table may have the duration of the whole run in another column than the latency.
    let says_so = |heading: &str| has_word(heading, LATENCIES) && is_latency(heading);
    let time = place(&|heading| is_time(heading) && says_so(heading))
        .or_else(|| place(&|heading| is_time(heading) && time_in_heading(heading) == Some(1.0)))
        .or_else(|| place(&|heading| says_so(heading) && !is_clock(heading)))
        .or_else(|| place(&is_time))
        .or_else(|| place(&|heading| is_latency(heading) && !is_clock(heading)));
    let is_size = |heading: &str| {
        (unit_in_heading(heading).is_some()
            || [SIZES, BITS, COUNTED].iter().any(|known| has_word(heading, known)))
            && !has_word(heading, PARTS)
    };
    let size = fields(line, separator)
        .enumerate()
        .position(|(index, heading)| Some(index) != time && is_size(heading) && !is_other(heading));
    let (time, size) = match (time, size) {
        (Some(time), Some(size)) => (time, size),
        (Some(time), None) => (time, usize::from(time == 0)),
        (None, Some(size)) => (usize::from(size == 0), size),
        (None, None) => (1, 0),
    };
    let heading = |index: usize| fields(line, separator).nth(index).unwrap_or_default();
    let (latency, sizes) = (heading(time), heading(size));
    let per_time = match time_in_heading(latency) {
        _ if is_other(latency) => {
            return Err("no latency column: the headings name other quantities");
        }
        Some(per_time) => per_time,
        None if is_clock(latency) => return Err("latency in cycles; convert it to nanoseconds"),
        None if is_bracketed(latency) && (has_word(latency, LATENCIES) || has_word(latency, TIMES)) => {
            return Err("latency unit is none of ps, ns, us, ms, s");
        }
        None if [LATENCIES, TIMES, ANYTHING].iter().any(|known| has_word(latency, known)) => 1.0,
        None => return Err("no latency column; name one, e.g. ns"),
    };
    let unit = match unit_in_heading(sizes) {
        _ if is_other(sizes) => return Err("no size column: the headings name other quantities"),
        Some(unit) if !has_word(sizes, BITS) => Some(unit),
        _ if has_word(sizes, BITS) || has_word(sizes, COUNTED) || is_bracketed(sizes) => {
            return Err("sizes are not in bytes");
        }
        _ if has_word(sizes, SIZES) || has_word(sizes, ANYTHING) => None,
        _ => return Err("no size column; name one, e.g. bytes"),
    };
    Ok([(size, TableColumn::Size(unit)), (time, TableColumn::Latency(per_time))])
}
