//! One point of a document.

use latency_core::json::{Event, Reader, Str};
use latency_core::stats::Interval;

use super::fields::word;
use super::rows::{bytes, relative, whole};
use super::values::{interval, optional, text, Fault};
use crate::result::row::{Row, FIELDS, WORDS};

/// Reads the point whose object was begun, to its end; `renamed` says which members are fields by another name.
pub(super) fn point(
    reader: &mut Reader<'_>,
    renamed: &dyn Fn(Str<'_>) -> Option<usize>,
) -> Result<Row, Fault> {
    let mut row = Row::EMPTY;
    let (mut from, mut to) = (None, None);
    let mut deviation = None;
    let mut undisturbed = [None; 3];
    while let Event::Key(key) = reader.next_event()? {
        if key == "from" {
            from = Some(whole(reader.number()?)?);
        } else if key == "to" {
            to = Some(whole(reader.number()?)?);
        } else if key == "working_set_bytes" || key == "footprint_bytes" {
            row.sample.size = bytes(reader.number()?)?;
        } else if key == "stride_bytes" {
            row.sample.stride = bytes(reader.number()?)?;
        } else if key == "ns" {
            row.sample.nanoseconds = optional(reader)?.unwrap_or(f64::NAN);
        } else if key == "core_cycles" {
            row.sample.core_cycles = optional(reader)?.filter(|cycles| *cycles > 0.0);
        } else if key == "core_ghz" {
            row.gigahertz = optional(reader)?.filter(|clock| *clock > 0.0);
        } else if key == "seed" {
            row.seed = optional(reader)?.map(|seed| seed as u64);
        } else if key == "mad_ns" {
            deviation = optional(reader)?;
        } else if key == "ci95_ns" {
            row.sample.interval = interval(reader)?;
        } else if let Some(place) = UNDISTURBED.iter().position(|name| key == *name) {
            let value = optional(reader)?;
            undisturbed.iter_mut().skip(place).take(1).for_each(|slot| *slot = value);
        } else if key == "pages_obtained" {
            if let Event::String(pages) = reader.next_event()? {
                row.pages = text(pages);
            }
        } else if key == "placement" {
            row.verified = placement(reader)?;
        } else if key == "verified" {
            row.verified = proven(reader)?;
        } else if let Some(field) = renamed(key) {
            describe(reader, &mut row, field)?;
        } else if let Some(field) = FIELDS.iter().skip(WORDS).position(|(name, _)| key == *name) {
            describe(reader, &mut row, WORDS + field)?;
        } else {
            reader.skip_value()?;
        }
    }
    row.pair = from.zip(to);
    row.undisturbed = quiet(undisturbed);
    row.sample.deviation = relative(deviation, row.sample.nanoseconds);
    Ok(row)
}

/// The latency while neighbours were quiet and the ends of its interval, in documents and as columns.
pub(super) const UNDISTURBED: [&str; 3] = ["undisturbed_ns", "undisturbed_ns_low", "undisturbed_ns_high"];

/// Returns the three of these, where they are a latency within its interval.
pub(super) fn quiet(values: [Option<f64>; 3]) -> Option<(f64, Interval)> {
    let [Some(value), Some(low), Some(high)] = values else { return None };
    (low > 0.0 && low <= value && value <= high && high < 1e12).then_some((value, Interval { low, high }))
}

/// Reads a field that is a word, a number, or told to be neither.
pub(super) fn describe(reader: &mut Reader<'_>, row: &mut Row, field: usize) -> Result<(), Fault> {
    match reader.next_event()? {
        Event::String(value) => row.set(field, text(value)),
        Event::Number(value) => row.set(field, word(format_args!("{}", value as u64))),
        Event::Bool(value) => row.set(field, word(format_args!("{value}"))),
        Event::Null => {}
        _ => return Err(Fault::Meaning("a list where a word is expected")),
    }
    Ok(())
}

/// Reads whether a placement was proven.
fn placement(reader: &mut Reader<'_>) -> Result<Option<bool>, Fault> {
    let mut verified = None;
    reader.begin_object()?;
    while let Event::Key(key) = reader.next_event()? {
        if key == "verified" {
            verified = proven(reader)?;
        } else {
            reader.skip_value()?;
        }
    }
    Ok(verified)
}

fn proven(reader: &mut Reader<'_>) -> Result<Option<bool>, Fault> {
    Ok(match reader.next_event()? {
        Event::Bool(proven) => Some(proven),
        _ => None,
    })
}
