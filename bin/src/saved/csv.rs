//! Results in columns: those with our header, and two columns of bytes and nanoseconds from any other tool.

use latency_core::double;
use latency_core::stats::Interval;

use super::rows::{bytes, line_of, whole, Problem, Saved};
use crate::result::row::Row;

/// The most columns that are looked at.
const MAX_COLUMNS: usize = 64;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    From,
    To,
    Nanoseconds,
    CoreCycles,
    Low,
    High,
    Deviation,
    Size,
    Stride,
    /// A word that tells points of one size apart, and whether it needs its name beside it.
    Name(&'static str),
    /// A truth that tells points apart by its name, if it is one.
    Flag(&'static str),
    Other,
}

/// The columns that mean something here.
const COLUMNS: [(&str, Column); 19] = [
    ("from", Column::From),
    ("to", Column::To),
    ("ns", Column::Nanoseconds),
    ("core_cycles", Column::CoreCycles),
    ("ci95_low_ns", Column::Low),
    ("ci95_high_ns", Column::High),
    ("mad_ns", Column::Deviation),
    ("working_set_bytes", Column::Size),
    ("stride_bytes", Column::Stride),
    ("order", Column::Name("")),
    ("kernel", Column::Name("")),
    ("pages_asked", Column::Name("")),
    ("variant", Column::Name("")),
    ("pattern", Column::Name("")),
    ("lanes", Column::Name("lanes ")),
    ("work", Column::Name("work ")),
    ("prefetch", Column::Flag("prefetch")),
    ("filler", Column::Name("")),
    ("fillers", Column::Name("fillers ")),
];

/// Reads a table.
pub(super) fn read(text: &[u8], saved: &mut Saved) -> Result<(), Problem> {
    let text = core::str::from_utf8(text).map_err(|error| Problem {
        line: line_of(text, error.valid_up_to()),
        what: "neither JSON nor text",
    })?;
    let mut columns = two_columns();
    let mut begun = false;
    for (index, line) in text.lines().enumerate() {
        let at = |what| Problem { line: u32::try_from(index + 1).unwrap_or(u32::MAX), what };
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        // Our own names say which columns are which; those of another tool are passed over.
        let names = !begun && fields(line).next().and_then(number).is_none();
        begun = true;
        if names {
            columns = named(line).unwrap_or_else(two_columns);
            continue;
        }
        saved.push(row(line, &columns).map_err(at)?).map_err(at)?;
    }
    Ok(())
}

/// Bytes and nanoseconds.
fn two_columns() -> [Column; MAX_COLUMNS] {
    let mut columns = [Column::Other; MAX_COLUMNS];
    columns[0] = Column::Size;
    columns[1] = Column::Nanoseconds;
    columns
}

/// The columns by their names, if a latency is among them.
fn named(line: &str) -> Option<[Column; MAX_COLUMNS]> {
    let mut columns = [Column::Other; MAX_COLUMNS];
    for (column, name) in columns.iter_mut().zip(fields(line)) {
        if let Some((_, known)) = COLUMNS.iter().find(|(known, _)| *known == name) {
            *column = *known;
        }
    }
    columns.contains(&Column::Nanoseconds).then_some(columns)
}

fn row(line: &str, columns: &[Column; MAX_COLUMNS]) -> Result<Row, &'static str> {
    let mut row = Row::EMPTY;
    let (mut from, mut to, mut low, mut high, mut deviation) = (None, None, None, None, None);
    let mut found = 0;
    for (column, field) in columns.iter().zip(fields(line)) {
        found += 1;
        if field.is_empty() || *column == Column::Other {
            continue;
        }
        if let Column::Name(prefix) = column {
            row.describe(format_args!("{prefix}{}", crate::options::tokens::Escaped(field.as_bytes())));
            continue;
        }
        if let Column::Flag(name) = column {
            if field == "true" {
                row.describe(format_args!("{name}"));
            }
            continue;
        }
        let value = number(field).ok_or("something that is not a number")?;
        match column {
            Column::From => from = Some(whole(value)?),
            Column::To => to = Some(whole(value)?),
            Column::Nanoseconds => row.sample.nanoseconds = value,
            Column::CoreCycles => row.sample.core_cycles = Some(value).filter(|cycles| *cycles > 0.0),
            Column::Low => low = Some(value),
            Column::High => high = Some(value),
            Column::Deviation => deviation = Some(value),
            Column::Size => row.sample.size = bytes(value)?,
            Column::Stride => row.sample.stride = bytes(value)?,
            Column::Name(_) | Column::Flag(_) | Column::Other => {}
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
    let relative = deviation.map(|deviation| deviation / row.sample.nanoseconds);
    row.sample.deviation = relative.filter(|deviation| (0.0..10.0).contains(deviation));
    Ok(row)
}

/// The fields of a line: between commas, else semicolons, else white space.
fn fields(line: &str) -> impl Iterator<Item = &str> {
    let separator = [b',', b';'].into_iter().find(|separator| line.as_bytes().contains(separator));
    let by_mark = separator.into_iter().flat_map(move |separator| line.split(char::from(separator)));
    let by_space = separator.is_none().then(|| line.split_ascii_whitespace()).into_iter().flatten();
    by_mark.chain(by_space).map(|field| field.trim_ascii().trim_matches('"'))
}

/// A finite number.
fn number(field: &str) -> Option<f64> {
    // Longer ones are no measurement, and cost time to read.
    let value = double::parse((field.len() <= 40).then_some(field.as_bytes())?)?;
    value.is_finite().then_some(value)
}
