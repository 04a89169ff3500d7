//! Results in columns: those with our header, and sizes and nanoseconds from any other tool.

use latency_core::stats::Interval;

use super::conditions::escaped;
use super::fields::{fields, number, sized};
use super::point::{quiet, UNDISTURBED};
use super::rows::{bytes, line_of, relative, whole, Draft, Problem};
use super::{foreign, unit};
use crate::result::row::{Row, A, FIELDS, WORDS};

/// The most columns that are looked at.
const MAX_COLUMNS: usize = 64;

/// What a column holds.
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

/// Our columns that mean something here, besides the words.
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
    let text = core::str::from_utf8(text)
        .map_err(|error| Problem::new(line_of(text, error.valid_up_to()), "neither JSON nor text"))?;
    if let Some(tool) = foreign::recognise(text) {
        return foreign::read(tool, text, draft);
    }
    let mut columns = two_columns();
    let mut begun = false;
    for (index, line) in text.lines().enumerate() {
        let at = |what| Problem::new(u32::try_from(index + 1).unwrap_or(u32::MAX), what);
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        // Our own names say which columns are which; those of another tool are understood as far as possible.
        let names = !begun && fields(line).next().and_then(sized).is_none();
        begun = true;
        if names && fields(line).any(|name| name == "offered_bytes_per_second") {
            return Err(at("latencies under load, of which the JSON is read"));
        }
        if names {
            columns = match named(line) {
                Some(columns) => columns,
                None => foreign_names(line).map_err(at)?,
            };
            continue;
        }
        let row = row(line, &columns, given, draft).map_err(at)?;
        draft.push(row).map_err(at)?;
    }
    Ok(())
}

/// Sizes and nanoseconds.
fn two_columns() -> [Column; MAX_COLUMNS] {
    let mut columns = [Column::Other; MAX_COLUMNS];
    columns[0] = Column::Size(None);
    columns[1] = Column::Latency(1.0);
    columns
}

/// Our columns by their names, if a latency is among them and it is a table of ours.
fn named(line: &str) -> Option<[Column; MAX_COLUMNS]> {
    let mut columns = [Column::Other; MAX_COLUMNS];
    for (column, name) in columns.iter_mut().zip(fields(line)) {
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

/// The columns of another tool: the first two, unless their names say that it is others, and in the units of the names.
fn foreign_names(line: &str) -> Result<[Column; MAX_COLUMNS], &'static str> {
    const SIZES: [&str; 8] = ["size", "bytes", "region", "footprint", "buffer", "set", "range", "memory"];
    const TIMES: [&str; 6] = ["ns", "latency", "nanoseconds", "time", "us", "cycles"];
    let is = |field: &str, known: &[&str]| {
        unit::words(field).any(|word| known.iter().any(|known| word.eq_ignore_ascii_case(known)))
    };
    let place = |known: &[&str], other: Option<usize>| {
        fields(line).enumerate().position(|(index, field)| Some(index) != other && is(field, known))
    };
    let time = place(&TIMES, None).filter(|_| place(&SIZES, None) != place(&TIMES, None)).unwrap_or(1);
    let size = place(&SIZES, Some(time)).unwrap_or(usize::from(time == 0));
    let latency = fields(line).nth(time).unwrap_or_default();
    let per_time = match () {
        () if is(latency, &["ns", "nanoseconds"]) => 1.0,
        () if is(latency, &["us", "microseconds"]) => 1000.0,
        () if is(latency, &["cycles", "clocks", "clk", "ticks"]) => {
            return Err("a latency in cycles; give it in nanoseconds");
        }
        () => 1.0,
    };
    let mut columns = [Column::Other; MAX_COLUMNS];
    if let Some(column) = columns.get_mut(time) {
        *column = Column::Latency(per_time);
    }
    if let Some(column) = columns.get_mut(size) {
        *column = Column::Size(fields(line).nth(size).and_then(unit::of_heading));
    }
    Ok(columns)
}

fn row(
    line: &str,
    columns: &[Column; MAX_COLUMNS],
    given: Option<f64>,
    draft: &mut Draft<'_>,
) -> Result<Row, &'static str> {
    let mut row = Row::EMPTY;
    let (mut from, mut to, mut low, mut high, mut deviation) = (None, None, None, None, None);
    let mut undisturbed = [None; 3];
    let mut found = 0;
    for (column, field) in columns.iter().zip(fields(line)) {
        found += 1;
        let value = match *column {
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
                let (number, own) = sized(field).ok_or("something that is not a size")?;
                let unit = own.or(unit).or(given);
                draft.without_unit |= unit.is_none();
                draft.fractions |= unit.is_none() && (number as u64) as f64 != number;
                row.sample.size = bytes(unit::bytes(number, unit.unwrap_or(1.0)))?;
                continue;
            }
            _ => number(field).ok_or("something that is not a number")?,
        };
        match *column {
            Column::From => from = Some(whole(value)?),
            Column::To => to = Some(whole(value)?),
            Column::Latency(unit) => row.sample.nanoseconds = value * unit,
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
    row.pair = from.zip(to);
    row.sample.interval = match (low, high) {
        (Some(low), Some(high)) if low <= high => Some(Interval { low, high }),
        (None, None) => None,
        _ => return Err("an interval that is not a pair of numbers"),
    };
    row.undisturbed = quiet(undisturbed);
    row.sample.deviation = relative(deviation, row.sample.nanoseconds);
    Ok(row)
}
