//! Results in JSON: the points, and what says where they come from and under which conditions.

use latency_core::json::{Event, Reader, Reason, Str};

use super::host::instant;
use super::origin;
use super::point::{describe, point};
use super::rows::{bytes, line_of, whole, Draft, Problem, Tool};
use super::shape;
use super::values::{each_object, optional, text, Fault};
use crate::analysis::claims::{Claim, Source};
use crate::result::row::{Row, A, B, FIELDS, LINES};

/// The arrays that hold points. In a matrix both do, and then the same.
const ARRAYS: [&str; 3] = ["node_pairs", "points", "bandwidths"];

/// Reads a document.
pub(super) fn read(text: &[u8], draft: &mut Draft<'_>) -> Result<(), Problem> {
    shape::check(text)?;
    // Thousands of results are read for few of their members.
    let mut reader = if draft.of_hosts { Reader::hasty(text) } else { Reader::new(text) };
    let read = if text.trim_ascii_start().first() == Some(&b'[') { list } else { document };
    read(&mut reader, draft).map_err(|fault| match fault {
        Fault::Document(error) => Problem::new(line_of(text, error.offset), defect(error.reason)),
        Fault::Meaning(what) => Problem::new(line_of(text, reader.offset()), what),
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

fn document(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    reader.begin_object()?;
    // What holds the points of this document.
    let mut held = None;
    // Conditions and caches do not matter where hosts are compared.
    let all = !draft.of_hosts;
    while let Event::Key(key) = reader.next_event()? {
        let array = ARRAYS.iter().position(|name| key == *name);
        if array.is_some() && (held.is_none() || held == array) {
            held = array;
            reader.begin_array()?;
            each_object(reader, |reader| each_point(reader, draft))?;
        } else if let Some(element) = other_element(draft, key) {
            reader.begin_array()?;
            each_object(reader, |reader| element(reader, draft))?;
        } else if key == "host" {
            origin::host(reader, draft)?;
        } else if key == "experiment" {
            draft.saved.experiment = text(reader.string()?);
        } else if key == "system" {
            system(reader, draft)?;
        } else if all && key == "command" {
            command(reader, draft)?;
        } else if key == "partial" {
            draft.saved.conditions.partial = reader.next_event()? == Event::Bool(true);
        } else if key == "started" {
            draft.saved.origin.started = instant(text::<32>(reader.string()?).as_str()).unwrap_or(0);
        } else if key == "duration_s" {
            draft.saved.origin.seconds = optional(reader)?.unwrap_or(0.0);
        } else if key == "trust" {
            origin::trust(reader, draft)?;
        } else if key == "health" {
            origin::health(reader, draft)?;
        } else if key == "conditions" {
            origin::other_work(reader, draft)?;
        } else if all && (key == "tool" || key == "clock") {
            words(reader, draft)?;
        } else {
            reader.skip_value()?;
        }
    }
    draft.has_no_contradiction()?;
    draft.judge();
    end(reader)
}

/// The reader of an element of an array that is not needed from every result.
type Element = fn(&mut Reader<'_>, &mut Draft<'_>) -> Result<(), Fault>;

fn other_element(draft: &Draft<'_>, key: Str<'_>) -> Option<Element> {
    let elements: [(&str, bool, Element); 6] = [
        ("curves", true, origin::curve),
        ("warnings", true, origin::warning),
        ("classes", draft.in_brief, origin::class),
        ("idle_latencies", draft.of_hosts, each_point),
        // Pairs are compared one by one; medians over a class would add nothing.
        ("pairs", !draft.in_brief, each_point),
        ("states", !draft.in_brief, state),
    ];
    let (.., element) = elements.iter().find(|(name, wanted, _)| *wanted && key == *name)?;
    Some(*element)
}

/// Reads a point, whose object was begun.
fn each_point(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let row = point(reader, &|_| None)?;
    Ok(draft.push(row)?)
}

/// Reads the time of lines in a known state, whose object was begun: the first CPU accesses what the second has.
fn state(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let renamed = |key: Str<'_>| match () {
        () if key == "cpu" => Some(A),
        () if key == "owner" => Some(B),
        () => None,
    };
    let mut row = point(reader, &renamed)?;
    // As many as the cache has room for, which is told.
    row.set(LINES, Default::default());
    Ok(draft.push(row)?)
}

/// After the end of the document there may be nothing.
fn end(reader: &mut Reader<'_>) -> Result<(), Fault> {
    match reader.next_event()? {
        Event::End => Ok(()),
        _ => Err(Fault::Meaning("something follows the document")),
    }
}

/// The list that cpu-benchmarks saves: bytes, nanoseconds, and a name for each way to walk.
fn list(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    draft.saved.tool = Some(Tool::CpuBenchmarks);
    reader.begin_array()?;
    each_object(reader, |reader| {
        let mut row = Row::EMPTY;
        while let Event::Key(key) = reader.next_event()? {
            if key == "size" {
                row.sample.size = bytes(reader.number()?)?;
            } else if key == "latency" {
                row.sample.nanoseconds = reader.number()?;
            } else if let Some(field) = FIELDS.iter().position(|(known, _)| {
                (*known == "kernel" && key == "name") || (*known == "lanes" && key == "batch")
            }) {
                describe(reader, &mut row, field)?;
            } else {
                reader.skip_value()?;
            }
        }
        Ok(draft.push(row)?)
    })?;
    end(reader)
}

/// The arguments of the run.
fn command(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    reader.begin_array()?;
    let mut program = true;
    loop {
        match reader.next_event()? {
            Event::String(_) if core::mem::take(&mut program) => {}
            Event::String(argument) => draft.saved.conditions.argument(text::<96>(argument).as_str()),
            Event::EndArray => return Ok(()),
            _ => return Err(Fault::Meaning("a command that is not a list of words")),
        }
    }
}

/// The conditions and caches of the machine, as the document reports them.
fn system(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    reader.begin_object()?;
    while let Event::Key(key) = reader.next_event()? {
        if key == "caches" && !draft.of_hosts {
            reader.begin_array()?;
            each_object(reader, |reader| cache(reader, draft))?;
        } else if key == "nodes" {
            reader.begin_array()?;
            origin::nodes(reader, draft)?;
        } else if key == "cpu" || key == "machine" {
            words(reader, draft)?;
        } else {
            condition(reader, draft, key)?;
        }
    }
    Ok(())
}

/// The conditions in an object.
fn words(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let before = reader.clone();
    if reader.next_event()? != Event::BeginObject {
        *reader = before;
        return Ok(reader.skip_value()?);
    }
    while let Event::Key(key) = reader.next_event()? {
        condition(reader, draft, key)?;
    }
    Ok(())
}

/// The value of a key, which may be a condition.
fn condition<'a>(reader: &mut Reader<'a>, draft: &mut Draft<'_>, key: Str<'a>) -> Result<(), Fault> {
    // A value that is not a text has no words; a nested one is skipped.
    let before = reader.clone();
    match reader.next_event()? {
        Event::String(value) => {
            let (key, value) = (text::<32>(key), text::<96>(value));
            draft.saved.conditions.set(key.as_str(), value.as_str());
        }
        Event::BeginObject | Event::BeginArray => {
            *reader = before;
            reader.skip_value()?;
        }
        _ => {}
    }
    Ok(())
}

fn cache(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
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
        draft.saved.claims.add(Claim { level, size, ways, source: Source::File });
    }
    Ok(())
}
