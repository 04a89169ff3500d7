//! Results in columns: those with our header, and sizes and nanoseconds from any other tool.

use latency_core::stats::Interval;

use super::conditions::escaped;
use super::fields::{fields, is_missing, separator, sized, timed};
use super::headings::{self, Headings};
use super::numerals::{number, Numerals};
use super::point::{quiet, UNDISTURBED};
use super::rows::{bytes, line_of, relative, whole, Draft, Problem};
use super::{foreign, unit};
use crate::result::row::{Row, A, FIELDS, WORDS};

/// The most columns that are looked at.
const MAX_COLUMNS: usize = 64;

/// Minimum latency of a load in another tool's table: no core waits for less than three of its cycles, and several chains
/// side by side share them.
const FASTEST_NS: f64 = 0.05;

/// The content of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Column {
    From,
    To,
    /// A latency, and nanoseconds in its unit.
    Latency(f64),
    CoreCycles,
    Low,
    High,
    Deviation,
    /// One of the values while neighbours were quiet.
    Undisturbed(usize),
    /// A size, and bytes in its unit, where something says so.
    Size(Option<f64>),
    Stride,
    /// A field that is a word.
    Word(usize),
    Pages,
    Verified,
    Gigahertz,
    Seed,
    Other,
}

/// Our columns with a meaning here, without those of words.
const COLUMNS: [(&str, Column); 17] = [
    ("from", Column::From),
    ("to", Column::To),
    ("ns", Column::Latency(1.0)),
    ("core_cycles", Column::CoreCycles),
    ("ci95_low_ns", Column::Low),
    ("ci95_high_ns", Column::High),
    ("mad_ns", Column::Deviation),
    (UNDISTURBED[0], Column::Undisturbed(0)),
    (UNDISTURBED[1], Column::Undisturbed(1)),
    (UNDISTURBED[2], Column::Undisturbed(2)),
    ("working_set_bytes", Column::Size(Some(1.0))),
    ("footprint_bytes", Column::Size(Some(1.0))),
    ("stride_bytes", Column::Stride),
    ("pages_obtained", Column::Pages),
    ("verified", Column::Verified),
    ("core_ghz", Column::Gigahertz),
    ("seed", Column::Seed),
];

/// Reads a table; sizes without a unit of their own are in `given`, where it is.
pub(super) fn read(text: &[u8], given: Option<f64>, draft: &mut Draft<'_>) -> Result<(), Problem> {
    let text = core::str::from_utf8(text).map_err(|error| {
        Problem::new(line_of(text, error.valid_up_to()), "neither JSON nor text in UTF-8")
    })?;
    if let Some(tool) = foreign::recognise(text) {
        return foreign::read(tool, text, draft);
    }
    let mut table =
        TableLayout { columns: two_columns(), most: None, separator: None, numerals: Numerals::PLAIN, given };
    let (mut begun, mut empty) = (false, 0);
    // The last comment before the first row may be its heading.
    let mut comment = "";
    for (index, line) in lines(text).enumerate() {
        let at = |what| Problem::new(u32::try_from(index + 1).unwrap_or(u32::MAX), what);
        let line = line.trim_ascii();
        if let Some(words) = ["#", "//", "%"].iter().find_map(|mark| line.strip_prefix(*mark)) {
            comment = if begun { comment } else { words };
            continue;
        }
        if line.bytes().all(|byte| b"|+-:= ".contains(&byte)) || line.starts_with("sep=") {
            // Empty, a rule of a table, or what a spreadsheet is told.
            empty = if line.is_empty() { empty + 1 } else { 0 };
            continue;
        }
        if begun && core::mem::take(&mut empty) > 1 {
            // As gnuplot has it.
            return Err(at("a second table behind two empty lines; save each in a file of its own"));
        }
        if !begun {
            table.separator = separator(line);
            table.numerals = Numerals::PLAIN;
        }
        let first = fields(line, table.separator).next().unwrap_or_default();
        let names = !begun
            && !first.bytes().next().is_some_and(|first| first.is_ascii_digit() || b"-+.".contains(&first));
        let is_first = !core::mem::replace(&mut begun, true);
        if names && fields(line, table.separator).any(|name| name == "offered_bytes_per_second") {
            return Err(at("latencies under load, of which the JSON is read"));
        }
        if is_first {
            table.head(line, names, comment).map_err(at)?;
            if table.is_foreign() {
                let all = lines(text).skip(index + usize::from(names));
                table.numerals = Numerals::of(&mut all.flat_map(|line| fields(line, table.separator)));
            }
        }
        if !names {
            table.row(line, draft).map_err(at)?;
        }
    }
    Ok(())
}

/// Returns the lines of a text, which end as those of Unix, Windows or the old Macintosh.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split(if text.contains('\n') { '\n' } else { '\r' })
}

/// The layout of the rows of a table.
struct TableLayout {
    columns: [Column; MAX_COLUMNS],
    /// The fields of a row of another tool, where its heading tells.
    most: Option<usize>,
    separator: Option<u8>,
    numerals: Numerals,
    given: Option<f64>,
}

impl TableLayout {
    /// Understands the first line, which is a heading or else the first row behind a comment.
    fn head(&mut self, line: &str, names: bool, comment: &str) -> Result<(), &'static str> {
        let count = fields(line, self.separator).count();
        if names {
            // Our own names say which columns are which; those of another tool are understood as far as possible.
            match named(line, self.separator) {
                Some(columns) => self.columns = columns,
                None => self.foreign(line, self.separator, count)?,
            }
            return Ok(());
        }
        let marks = separator(comment);
        if count > 1 && fields(comment, marks).count() == count && headings::find(comment, marks).is_ok() {
            return self.foreign(comment, marks, count);
        }
        if count > 2 {
            return Err("more than two columns without a heading");
        }
        self.most = Some(count);
        Ok(())
    }

    fn foreign(&mut self, line: &str, separator: Option<u8>, count: usize) -> Result<(), &'static str> {
        let Headings { size, latency } = headings::find(line, separator)?;
        self.columns = [Column::Other; MAX_COLUMNS];
        for (place, column) in [(size.0, Column::Size(size.1)), (latency.0, Column::Latency(latency.1))] {
            self.columns.iter_mut().skip(place).take(1).for_each(|slot| *slot = column);
        }
        self.most = Some(count);
        Ok(())
    }

    /// Returns whether the table is another tool's.
    const fn is_foreign(&self) -> bool {
        self.most.is_some()
    }

    /// Adds the row of a line.
    fn row(&self, line: &str, draft: &mut Draft<'_>) -> Result<(), &'static str> {
        let TableLayout { columns, separator, numerals, .. } = self;
        if self.most.is_some_and(|most| fields(line, *separator).skip(most).any(|field| !field.is_empty())) {
            return Err("more fields than columns; put quotes around numbers with a comma");
        }
        let mut row = Row::EMPTY;
        let (mut from, mut to, mut low, mut high, mut deviation) = (None, None, None, None, None);
        let mut undisturbed = [None; 3];
        let mut found = 0;
        for (column, field) in columns.iter().zip(fields(line, *separator)) {
            found += 1;
            let value = match *column {
                Column::Latency(_) if self.is_foreign() && is_missing(field) => 0.0,
                _ if field.is_empty() => continue,
                Column::Other => continue,
                Column::Word(index) => {
                    row.set(index, escaped(field));
                    continue;
                }
                Column::Pages => {
                    row.pages = escaped(field);
                    continue;
                }
                Column::Verified => {
                    row.verified = Some(field == "true");
                    continue;
                }
                Column::Size(unit) => {
                    let size = sized(field, *numerals);
                    let (number, own) =
                        size.ok_or_else(|| numerals.doubt(field, "something that is not a size"))?;
                    let unit = own.or(unit).or(self.given);
                    draft.without_unit |= unit.is_none();
                    draft.fractions |= unit.is_none() && (number as u64) as f64 != number;
                    row.sample.size = bytes(unit::bytes(number, unit.unwrap_or(1.0)))?;
                    continue;
                }
                Column::Latency(unit) => {
                    let time = timed(field, unit, *numerals);
                    time.ok_or_else(|| numerals.doubt(field, "something that is not a number"))?
                }
                _ => number(field).ok_or("something that is not a number")?,
            };
            match *column {
                Column::From => from = Some(whole(value)?),
                Column::To => to = Some(whole(value)?),
                Column::Latency(_) => row.sample.nanoseconds = value,
                Column::CoreCycles => row.sample.core_cycles = Some(value).filter(|cycles| *cycles > 0.0),
                Column::Low => low = Some(value),
                Column::High => high = Some(value),
                Column::Deviation => deviation = Some(value),
                Column::Undisturbed(place) => {
                    undisturbed.iter_mut().skip(place).take(1).for_each(|slot| *slot = Some(value));
                }
                Column::Stride => row.sample.stride = bytes(value)?,
                Column::Gigahertz => row.gigahertz = Some(value).filter(|clock| *clock > 0.0),
                Column::Seed => row.seed = Some(value as u64),
                _ => {}
            }
        }
        let wanted = columns.iter().rposition(|column| *column != Column::Other).map_or(0, |last| last + 1);
        if found < wanted {
            return Err("columns are missing");
        }
        if self.is_foreign() && (1e-12..FASTEST_NS).contains(&row.sample.nanoseconds) {
            return Err("a latency below 0.05 ns; name its unit in the heading, such as us");
        }
        // A row of another operation, such as a bandwidth.
        if self.is_foreign() && row.sample.nanoseconds == 0.0 {
            draft.saved.zeros += 1;
            return Ok(());
        }
        row.pair = from.zip(to);
        row.sample.interval = match (low, high) {
            (Some(low), Some(high)) if low <= high => Some(Interval { low, high }),
            (None, None) => None,
            _ => return Err("an interval that is not a pair of numbers"),
        };
        row.undisturbed = quiet(undisturbed);
        row.sample.deviation = relative(deviation, row.sample.nanoseconds);
        draft.push(row)
    }
}

/// Sizes and nanoseconds.
fn two_columns() -> [Column; MAX_COLUMNS] {
    let mut columns = [Column::Other; MAX_COLUMNS];
    columns[0] = Column::Size(None);
    columns[1] = Column::Latency(1.0);
    columns
}

/// Our columns by their names, if a latency is among them and it is a table of ours.
fn named(line: &str, separator: Option<u8>) -> Option<[Column; MAX_COLUMNS]> {
    let mut columns = [Column::Other; MAX_COLUMNS];
    for (column, name) in columns.iter_mut().zip(fields(line, separator)) {
        let word = FIELDS.iter().skip(WORDS).position(|(key, _)| *key == name);
        if let Some(index) = word {
            *column = Column::Word(WORDS + index);
        } else if let Some((_, known)) = COLUMNS.iter().find(|(known, _)| *known == name) {
            *column = *known;
        }
    }
    // Names as short as those of CPUs and their lines may be anything in a table that is not ours.
    let is_ours = |column: &&Column| !matches!(column, Column::Other | Column::Word(A..));
    let known = columns.iter().filter(is_ours).count();
    (columns.contains(&Column::Latency(1.0)) && known > 1).then_some(columns)
}
