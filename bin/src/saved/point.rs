//! One point of a document or of a table. The members of a document have the names of the columns of a table.

use latency_core::json::Event;
use latency_core::math;
use latency_core::stats::{Estimate, Interval};
use latency_core::units::Pages;

use super::alike::ORDERS;
use super::fields::word;
use super::rows::{LOADED, Problem, ROUNDING, bytes, relative, whole};
use super::tree::{JsonValue, shown};
use crate::result::row::{EXPERIMENT, FIELDS, LOAD, NUMBERS, ORDER, PAGES_ASKED, PREFETCH, Row, WORDS, Word};
use crate::result::split::LoadParts;

/// The content of a member or a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Column {
    From,
    To,
    /// A latency, and the number of nanoseconds in its unit.
    Latency(f64),
    CoreCycles,
    Low,
    High,
    Deviation,
    /// The latency while neighbours were quiet (0), or an end of its interval (1, 2).
    Undisturbed(usize),
    /// The latency without address translation (0), or an end of its interval (1, 2).
    WithoutTranslation(usize),
    /// The translation (0), or an end of its interval (1, 2).
    Translation(usize),
    /// The latency of memory, which is the latency without address translation.
    Memory,
    /// The lower end of its interval.
    MemoryLow,
    /// The memory of all generators, which is the size of a point without a working set.
    Footprint,
    /// The rate of traffic that was offered.
    Offered,
    /// The rate of traffic (0), or an end of its interval (1, 2).
    Rate(usize),
    /// The node of the memory of traffic.
    LoadNode,
    /// The percentile of single loads.
    Percentile,
    /// A size, and the number of bytes in its unit, if the unit is known.
    Size(Option<f64>),
    Stride,
    /// A field with a word as its value.
    Word(usize),
    Pages,
    /// The name of the host.
    Host,
    /// The version of the tool.
    Tool,
    Verified,
    Gigahertz,
    Seed,
    Other,
}

/// The names of the columns that are not words.
const COLUMNS: [(&str, Column); 33] = [
    ("initiator_node", Column::From),
    ("target_node", Column::To),
    ("ns", Column::Latency(1.0)),
    ("core_cycles", Column::CoreCycles),
    ("ns_low", Column::Low),
    ("ns_high", Column::High),
    ("mad_ns", Column::Deviation),
    ("undisturbed_ns", Column::Undisturbed(0)),
    ("undisturbed_ns_low", Column::Undisturbed(1)),
    ("undisturbed_ns_high", Column::Undisturbed(2)),
    ("without_translation_ns", Column::WithoutTranslation(0)),
    ("without_translation_ns_low", Column::WithoutTranslation(1)),
    ("without_translation_ns_high", Column::WithoutTranslation(2)),
    ("translation_ns", Column::Translation(0)),
    ("translation_ns_low", Column::Translation(1)),
    ("translation_ns_high", Column::Translation(2)),
    ("memory_ns", Column::Memory),
    ("memory_ns_low", Column::MemoryLow),
    ("working_set_bytes", Column::Size(Some(1.0))),
    ("footprint_bytes", Column::Footprint),
    ("offered_bytes_per_second", Column::Offered),
    ("bytes_per_second", Column::Rate(0)),
    ("bytes_per_second_low", Column::Rate(1)),
    ("bytes_per_second_high", Column::Rate(2)),
    ("load_node", Column::LoadNode),
    ("percentile", Column::Percentile),
    ("stride_bytes", Column::Stride),
    ("pages_obtained", Column::Pages),
    ("verified", Column::Verified),
    ("core_ghz", Column::Gigahertz),
    ("seed", Column::Seed),
    ("host", Column::Host),
    ("tool_version", Column::Tool),
];

impl Column {
    /// Returns the content of a member or a column by its name.
    pub fn of(name: &str) -> Column {
        if let Some(field) = FIELDS.iter().skip(WORDS).position(|(key, _)| *key == name) {
            return Column::Word(WORDS + field);
        }
        COLUMNS.iter().find(|(known, _)| *known == name).map_or(Column::Other, |(_, column)| *column)
    }
}

/// A point while its members are read.
pub(super) struct PointDraft {
    /// The row so far.
    pub row: Row,
    nodes: [Option<u32>; 2],
    ends: [Option<f64>; 2],
    deviation: Option<f64>,
    undisturbed: [Option<f64>; 3],
    without_translation: [Option<f64>; 3],
    translation: [Option<f64>; 3],
    /// The rate of traffic that was offered; `None` without a pace.
    pub offered: Option<f64>,
    /// The rate of traffic, and the ends of its interval.
    pub rates: [Option<f64>; 3],
    /// The node of the memory of traffic.
    pub load_node: Option<u32>,
    memory_low: f64,
    percentile: Option<f64>,
}

impl PointDraft {
    /// Returns a point before its first member.
    pub fn new() -> PointDraft {
        PointDraft {
            row: Row::EMPTY,
            nodes: [None; 2],
            ends: [None; 2],
            deviation: None,
            undisturbed: [None; 3],
            without_translation: [None; 3],
            translation: [None; 3],
            offered: None,
            rates: [None; 3],
            load_node: None,
            memory_low: 0.0,
            percentile: None,
        }
    }

    /// Stores the number of a column, in bytes or nanoseconds.
    pub fn take(&mut self, column: Column, value: f64) -> Result<(), &'static str> {
        let row = &mut self.row;
        match column {
            Column::From => self.nodes[0] = Some(whole(value)?),
            Column::To => self.nodes[1] = Some(whole(value)?),
            Column::Latency(_) => row.sample.nanoseconds = value,
            Column::CoreCycles => row.sample.core_cycles = Some(value).filter(|cycles| *cycles > 0.0),
            Column::Low => self.ends[0] = Some(value),
            Column::High => self.ends[1] = Some(value),
            Column::Deviation => self.deviation = Some(value),
            Column::Undisturbed(place) => set(&mut self.undisturbed, place, value),
            Column::WithoutTranslation(place) => set(&mut self.without_translation, place, value),
            Column::Translation(place) => set(&mut self.translation, place, value),
            Column::Memory => row.is_memory = value > 0.0,
            Column::MemoryLow => self.memory_low = value,
            Column::Rate(place) => set(&mut self.rates, place, value),
            Column::LoadNode => self.load_node = Some(whole(value)?),
            Column::Footprint if row.sample.size.0 > 0 => {}
            Column::Size(_) | Column::Footprint => row.sample.size = bytes(value)?,
            Column::Offered => self.offered = Some(value),
            Column::Percentile => self.percentile = Some(value),
            Column::Stride => row.sample.stride = bytes(value)?,
            Column::Gigahertz => row.gigahertz = Some(value).filter(|clock| *clock > 0.0),
            Column::Seed => row.seed = Some(math::whole(value)),
            Column::Word(_)
            | Column::Pages
            | Column::Host
            | Column::Tool
            | Column::Verified
            | Column::Other => {}
        }
        Ok(())
    }

    /// Completes the row, after all members were read.
    pub fn finish(&mut self) -> Result<(), &'static str> {
        let PointDraft { row, nodes: [from, to], ends, deviation, offered, percentile, memory_low, .. } =
            self;
        row.pair = from.zip(*to);
        // Percentiles, and levels of load between idle and most, are not compared.
        if percentile.is_some() || is_level(row) && *offered != Some(0.0) {
            row.sample.nanoseconds = f64::NAN;
        }
        row.sample.interval = match *ends {
            [Some(low), Some(high)] if low <= high => Some(Interval { low, high }),
            [None, None] => None,
            _ => return Err("interval is not a pair of numbers"),
        };
        if row.sample.interval.is_some_and(|random| *memory_low > random.high * (1.0 + ROUNDING)) {
            return Err("memory_ns above its random load");
        }
        let positive = |(value, interval): (f64, Interval)| (interval.low > 0.0).then_some((value, interval));
        row.undisturbed = within(self.undisturbed).and_then(positive);
        let estimate = |(value, interval)| Estimate { value, interval: Some(interval) };
        row.parts = within(self.without_translation).and_then(positive).zip(within(self.translation)).map(
            |(load, translation)| LoadParts {
                without_translation: estimate(load),
                translation: estimate(translation),
            },
        );
        row.sample.deviation = relative(*deviation, row.sample.nanoseconds);
        Ok(())
    }
}

/// Returns a value with its interval, only if it lies within it.
fn within(read: [Option<f64>; 3]) -> Option<(f64, Interval)> {
    match read {
        [Some(value), Some(low), Some(high)]
            if low >= 0.0 && low <= value && value <= high && high < 1e12 =>
        {
            Some((value, Interval { low, high }))
        }
        _ => None,
    }
}

fn set(values: &mut [Option<f64>; 3], place: usize, value: f64) {
    values.iter_mut().skip(place).take(1).for_each(|slot| *slot = Some(value));
}

/// Returns whether a row is a level of load as it was measured. Rows of saved points name their load.
pub(super) fn is_level(row: &Row) -> bool {
    row.is_word(EXPERIMENT, LOADED) && !row.tells(LOAD)
}

/// Reads a point. A point of a saved collection is never a level between idle and most load.
pub(super) fn point(object: JsonValue<'_>, is_saved: bool) -> Result<Row, Problem> {
    let mut draft = PointDraft::new();
    if is_saved {
        draft.offered = Some(0.0);
    }
    for (key, member) in object.members() {
        let row = &mut draft.row;
        match Column::of(&key) {
            Column::Verified => {
                row.verified = match member.event() {
                    Event::Bool(verified) => Some(verified),
                    Event::Null => None,
                    _ => return Err(member.problem(UNKNOWN)),
                };
            }
            Column::Pages => row.pages = pages(member.text()?).map_err(|what| member.problem(what))?,
            Column::Word(field) => describe(row, field, member)?,
            Column::Other | Column::Host | Column::Tool => {}
            column => match member.number()? {
                Some(value) => draft.take(column, value).map_err(|what| member.problem(what))?,
                None if matches!(column, Column::Size(_) | Column::Stride) => {
                    return Err(member.problem("not a number"));
                }
                None => {}
            },
        }
    }
    draft.finish().map_err(|what| object.problem(what))?;
    Ok(draft.row)
}

/// Reads a field whose value is a word, a number, or null.
pub(super) fn describe(row: &mut Row, field: usize, member: JsonValue<'_>) -> Result<(), Problem> {
    let is_number = NUMBERS >> field & 1 == 1;
    let described = match member.event() {
        Event::String(value) => set_word(row, field, shown(value)),
        Event::Number(value) if is_number => {
            whole(value).and_then(|value| set_word(row, field, word(format_args!("{value}"))))
        }
        Event::Bool(value) if field == PREFETCH => set_word(row, field, word(format_args!("{value}"))),
        Event::Null => Ok(()),
        _ => Err(UNKNOWN),
    };
    described.map_err(|what| member.problem(what))
}

/// The defect of a field that cannot have its value.
pub(super) const UNKNOWN: &str = "unknown word";

/// Sets a field to a word.
///
/// # Errors
///
/// A word that a field of numbers, a flag, or a field of a few known words cannot have.
pub(super) fn set_word(row: &mut Row, field: usize, word: Word) -> Result<(), &'static str> {
    let text = word.as_str();
    match field {
        _ if NUMBERS >> field & 1 == 1 => _ = text.parse::<u32>().map_err(|_| "not a whole number")?,
        ORDER if !ORDERS.contains(&text) => return Err(UNKNOWN),
        PREFETCH if !matches!(text, "true" | "false") => return Err(UNKNOWN),
        PAGES_ASKED if Pages::from_word(text.as_bytes()).is_none() => return Err(UNKNOWN),
        _ => {}
    }
    row.set(field, word);
    Ok(())
}

/// Returns the word of obtained pages, or of none.
///
/// # Errors
///
/// A word that is of no pages.
pub(super) fn pages(word: Word) -> Result<Word, &'static str> {
    let found = Pages::from_word(word.as_str().as_bytes());
    if word.is_empty() || found.is_some_and(|found| found != Pages::AUTO) { Ok(word) } else { Err(UNKNOWN) }
}

#[cfg(test)]
mod tests {
    use super::super::Saved;
    use super::super::tests::room;
    use super::*;
    use std::format;

    #[test]
    fn a_value_that_a_field_cannot_have_is_refused_by_its_line() {
        for (member, value, what) in [
            ("walk_order", "\"sorted\"", UNKNOWN),
            ("walk_order", "12", UNKNOWN),
            ("pages_asked", "\"4096\"", UNKNOWN),
            ("pages_obtained", "\"auto\"", UNKNOWN),
            ("prefetch", "\"yes\"", UNKNOWN),
            ("verified", "\"yes\"", UNKNOWN),
            ("chains", "\"many\"", "not a whole number"),
            ("cores", "1.5", "not a whole number"),
            ("lines", "-1", "not a whole number"),
            ("initiator_cpu", "4294967296", "not a whole number"),
            ("kernel", "12", UNKNOWN),
            ("class", "true", UNKNOWN),
            ("op", "[]", UNKNOWN),
        ] {
            let document =
                format!("{{\"experiment\":\"parallel\",\n\"rows\":[{{\"ns\":10,\n\"{member}\":{value}}}]}}");
            let mut room = room();
            let found = Saved::parse(document.as_bytes(), None, &mut room).err();
            assert_eq!(found, Some(Problem::new(3, what)), "{document}");
            // Names and methods may be numbers in a table.
            if matches!(member, "kernel" | "class" | "op") {
                continue;
            }
            let value = value.trim_matches('"');
            let table = format!("experiment,working_set_bytes,ns,{member}\nparallel,65536,10,{value}\n");
            let found = Saved::parse(table.as_bytes(), None, &mut room).err();
            assert_eq!(found, Some(Problem::new(2, what)), "{table}");
        }
    }
}
