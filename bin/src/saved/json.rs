//! Results in JSON: the points, and what says where they come from.

use core::fmt::Write;

use latency_core::json::{Error, Event, Reader, Reason, Str};
use latency_core::stats::Interval;
use latency_core::text::Text;

use super::rows::{bytes, line_of, whole, Problem, Saved};
use crate::analysis::claims::{Claim, Source};
use crate::options::tokens::Escaped;
use crate::result::row::Row;

/// The arrays that hold points, by experiment.
const ARRAYS: [&str; 2] = ["node_pairs", "points"];
/// Members with text or a number that tell points of one size apart.
const NAMES: [&str; 10] = [
    "order",
    "kernel",
    "pages_asked",
    "variant",
    "pattern",
    "lanes",
    "work",
    "prefetch",
    "filler",
    "fillers",
];

/// What went wrong: the document, or what it says.
enum Fault {
    Document(Error),
    Meaning(&'static str),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::Document(error)
    }
}

impl From<&'static str> for Fault {
    fn from(what: &'static str) -> Self {
        Fault::Meaning(what)
    }
}

/// Reads a document.
pub(super) fn read(text: &[u8], saved: &mut Saved) -> Result<(), Problem> {
    let mut reader = Reader::new(text);
    document(&mut reader, saved).map_err(|fault| match fault {
        Fault::Document(error) => Problem { line: line_of(text, error.offset), what: defect(error.reason) },
        Fault::Meaning(what) => Problem { line: line_of(text, reader.offset()), what },
    })
}

const fn defect(reason: Reason) -> &'static str {
    match reason {
        Reason::Truncated => "the document ends too early",
        Reason::Trailing => "something follows the document",
        Reason::Expected(_) => "this is not JSON, or not a result",
        Reason::Number => "malformed number",
        Reason::NumberRange => "number out of range",
        Reason::Escape => "invalid escape in a string",
        Reason::Control => "control character in a string",
        Reason::Encoding => "invalid UTF-8 in a string",
        Reason::Depth => "nested too deep",
    }
}

fn document(reader: &mut Reader<'_>, saved: &mut Saved) -> Result<(), Fault> {
    reader.begin_object()?;
    while let Event::Key(key) = reader.next_event()? {
        if ARRAYS.iter().any(|name| key == **name) {
            reader.begin_array()?;
            each_object(reader, |reader| {
                let row = point(reader)?;
                Ok(saved.push(row)?)
            })?;
        } else if key == "experiment" {
            saved.experiment = text(reader.string()?);
        } else if key == "system" {
            system(reader, saved)?;
        } else {
            reader.skip_value()?;
        }
    }
    // After the end of the object there may be nothing.
    match reader.next_event()? {
        Event::End => Ok(()),
        _ => Err(Fault::Meaning("something follows the document")),
    }
}

/// Calls `each` inside of every object of an array that was begun.
fn each_object<'a>(
    reader: &mut Reader<'a>,
    mut each: impl FnMut(&mut Reader<'a>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    loop {
        match reader.next_event()? {
            Event::BeginObject => each(reader)?,
            Event::EndArray => return Ok(()),
            _ => return Err(Fault::Meaning("a point that is not an object")),
        }
    }
}

/// The point whose object was begun, to its end.
fn point(reader: &mut Reader<'_>) -> Result<Row, Fault> {
    let mut row = Row::EMPTY;
    let (mut from, mut to) = (None, None);
    let mut deviation = None;
    while let Event::Key(key) = reader.next_event()? {
        if key == "from" {
            from = Some(whole(reader.number()?)?);
        } else if key == "to" {
            to = Some(whole(reader.number()?)?);
        } else if key == "working_set_bytes" {
            row.sample.size = bytes(reader.number()?)?;
        } else if key == "stride_bytes" {
            row.sample.stride = bytes(reader.number()?)?;
        } else if key == "ns" {
            row.sample.nanoseconds = optional(reader)?.unwrap_or(f64::NAN);
        } else if key == "core_cycles" {
            row.sample.core_cycles = optional(reader)?.filter(|cycles| *cycles > 0.0);
        } else if key == "mad_ns" {
            deviation = optional(reader)?;
        } else if key == "ci95_ns" {
            row.sample.interval = interval(reader)?;
        } else if let Some(name) = NAMES.into_iter().find(|name| key == **name) {
            describe(reader, &mut row, name)?;
        } else {
            reader.skip_value()?;
        }
    }
    row.pair = from.zip(to);
    let relative = deviation.map(|deviation| deviation / row.sample.nanoseconds);
    row.sample.deviation = relative.filter(|deviation| (0.0..10.0).contains(deviation));
    Ok(row)
}

fn describe(reader: &mut Reader<'_>, row: &mut Row, name: &str) -> Result<(), Fault> {
    match reader.next_event()? {
        Event::String(value) => {
            let mut word = Text::<48>::EMPTY;
            // A longer one is none of ours, and left out.
            let _ = write!(word, "{value}");
            row.describe(format_args!("{}", Escaped(word.as_str().as_bytes())));
        }
        Event::Number(value) => row.describe(format_args!("{name} {}", value as u64)),
        Event::Bool(true) => row.describe(format_args!("{name}")),
        Event::Bool(false) | Event::Null => {}
        _ => return Err(Fault::Meaning("a list where a word is expected")),
    }
    Ok(())
}

/// A number, or null for one that is not known.
fn optional(reader: &mut Reader<'_>) -> Result<Option<f64>, Fault> {
    match reader.next_event()? {
        Event::Number(number) => Ok(Some(number)),
        Event::Null => Ok(None),
        _ => Err(Fault::Meaning("something that is not a number")),
    }
}

/// Two numbers, or null.
fn interval(reader: &mut Reader<'_>) -> Result<Option<Interval>, Fault> {
    match reader.next_event()? {
        Event::Null => return Ok(None),
        Event::BeginArray => {}
        _ => return Err(Fault::Meaning("an interval that is not a pair of numbers")),
    }
    let interval = Interval { low: reader.number()?, high: reader.number()? };
    match reader.next_event()? {
        Event::EndArray if interval.low <= interval.high => Ok(Some(interval)),
        _ => Err(Fault::Meaning("an interval that is not a pair of numbers")),
    }
}

/// The caches of the machine, as the document reports them.
fn system(reader: &mut Reader<'_>, saved: &mut Saved) -> Result<(), Fault> {
    reader.begin_object()?;
    while let Event::Key(key) = reader.next_event()? {
        if key == "caches" {
            reader.begin_array()?;
            each_object(reader, |reader| cache(reader, saved))?;
        } else {
            reader.skip_value()?;
        }
    }
    Ok(())
}

fn cache(reader: &mut Reader<'_>, saved: &mut Saved) -> Result<(), Fault> {
    let (mut level, mut size, mut ways, mut holds_data) = (0, None, 0, true);
    while let Event::Key(key) = reader.next_event()? {
        if key == "level" {
            level = whole(reader.number()?)?;
        } else if key == "bytes" {
            size = Some(bytes(reader.number()?)?);
        } else if key == "ways" {
            ways = whole(reader.number()?)?;
        } else if key == "type" {
            holds_data = reader.string()? != "Instruction";
        } else {
            reader.skip_value()?;
        }
    }
    if let (Some(size), true) = (size, holds_data) {
        saved.claims.add(Claim { level, size, ways, source: Source::File });
    }
    Ok(())
}

fn text<const N: usize>(string: Str<'_>) -> Text<N> {
    Text::from_bytes(string.raw().as_bytes())
}
