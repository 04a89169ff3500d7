//! Results in JSON: the points, and the host and the conditions of the run.

use latency_core::json::{Event, Reader, Reason};
use latency_core::math;
use latency_core::text::Text;

use super::alike;
use super::devices;
use super::facts::{self, fact};
use super::host::instant;
use super::origin;
use super::point::{describe, is_level, point};
use super::rows::{Draft, Problem, Tool, bytes, whole};
use super::sections;
use super::shape;
use super::tlb::{self, SavedTlb};
use super::values::{Fault, each_object, line_of, members, optional, rest, text};
use crate::analysis::claims::{Claim, Source};
use crate::result::row::{KERNEL, LANES, Row};

/// The word for saved points, where other documents have the name of an experiment.
const SHOW: &str = "show";

/// Reads a document.
pub(super) fn read(text: &[u8], draft: &mut Draft<'_>) -> Result<(), Problem> {
    shape::check(text)?;
    // Only few members of thousands of results are read, so the reader skips the rest quickly.
    let mut reader = if draft.of_hosts { Reader::hasty(text) } else { Reader::new(text) };
    let read = if text.trim_ascii_start().first() == Some(&b'[') { list } else { document };
    read(&mut reader, draft).map_err(|fault| match fault {
        Fault::Document(error) => Problem::new(line_of(text, error.offset), defect(error.reason)),
        Fault::Meaning(what) => Problem::new(line_of(text, reader.offset()), what),
    })
}

const fn defect(reason: Reason) -> &'static str {
    match reason {
        Reason::Truncated => "the document is cut off",
        Reason::Trailing => "text after the end of the document",
        Reason::Expected(_) => "not JSON, or not a result",
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
    // Conditions and caches do not matter if hosts are compared.
    let all = !draft.of_hosts;
    // The skipped points of a report, and whether it has parts with these points.
    let (mut skipped, mut has_parts) = (None, false);
    rest(reader, &mut |reader, key| {
        let element: Element = match key {
            // A report has the rows of its parts, and pairs of CPUs are many.
            "rows" if draft.skips_rows() => {
                skipped = Some(reader.clone());
                return Ok(reader.skip_value()?);
            }
            "rows" => each_point,
            "curves" => origin::curve,
            "warnings" => origin::warning,
            "classes" if draft.in_brief => origin::class,
            _ => {
                has_parts |= key == "sections";
                return member(reader, draft, key, all);
            }
        };
        array_of(reader, draft, element)
    })?;
    if let Some(mut reader) = skipped
        && all
        && !has_parts
        && sections::are_in(draft.saved.experiment.as_str())
    {
        // Points of saved results name their experiments.
        draft.is_collection = true;
        draft.saved.experiment = Text::EMPTY;
        array_of(&mut reader, draft, each_point)?;
    }
    draft.size_limits();
    draft.has_no_contradiction()?;
    draft.judge();
    end(reader)
}

/// Reads a member that is not a list of points. `all` is false if conditions do not matter.
fn member(reader: &mut Reader<'_>, draft: &mut Draft<'_>, key: &str, all: bool) -> Result<(), Fault> {
    let saved = &mut draft.saved;
    match key {
        "host" => origin::host(reader, draft)?,
        "experiment" => {
            let name = reader.string()?;
            draft.is_collection |= name == SHOW && !draft.of_hosts;
            // The name of a collection is that of the command that made it.
            if !draft.is_collection {
                saved.experiment = text(name);
            }
        }
        "system" => members(reader, &mut |reader, key| match key {
            "caches" => array_of(reader, draft, cache),
            "nodes" => array_of(reader, draft, origin::node),
            "dimms" => devices::population(reader, draft),
            "cpu" => members(reader, &mut |reader, key| processor(reader, draft, key)),
            "machine" => members(reader, &mut |reader, key| condition(reader, draft, key)),
            _ => condition(reader, draft, key),
        })?,
        "command" if all => command(reader, draft)?,
        "partial" => saved.conditions.partial = reader.next_event()? == Event::Bool(true),
        "started" => {
            saved.origin.started = instant(text::<32>(reader.string()?).as_str()).unwrap_or(0);
        }
        "duration_s" => saved.origin.seconds = optional(reader)?.unwrap_or(0.0),
        "model" if all => members(reader, &mut |reader, key| {
            let [SavedTlb { levels: [first, second], .. }, ..] = &mut draft.saved.tlb;
            match key {
                "tlb" => tlb::level(reader, false, first),
                "l2_tlb" => tlb::level(reader, false, second),
                "levels" => array_of(reader, draft, facts::level),
                "memory" => members(reader, &mut |reader, key| fact(reader, draft, "memory", key)),
                _ => fact(reader, draft, "model", key),
            }
        })?,
        "translation" if all => {
            let mut kinds = saved.tlb.iter_mut();
            each_object(reader, |reader| tlb::kind(reader, kinds.next()))?;
        }
        "summary" if all => {
            members(reader, &mut |reader, key| fact(reader, draft, "summary", key))?;
        }
        "trust" => origin::trust(reader, draft)?,
        "health" => origin::health(reader, draft)?,
        "conditions" => origin::conditions(reader, draft)?,
        "schema" => saved.origin.schema = math::whole(optional(reader)?.unwrap_or(0.0)),
        "tool" | "clock" => members(reader, &mut |reader, key| condition(reader, draft, key))?,
        _ => reader.skip_value()?,
    }
    Ok(())
}

/// A function that reads an element of an array. The reader is just behind the start of the element's object.
type Element = fn(&mut Reader<'_>, &mut Draft<'_>) -> Result<(), Fault>;

fn array_of(reader: &mut Reader<'_>, draft: &mut Draft<'_>, element: Element) -> Result<(), Fault> {
    each_object(reader, |reader| element(reader, draft))
}

/// Reads a point, after the start of its object.
fn each_point(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let row = point(reader)?;
    let row = if is_level(&row) { origin::idle(row, row.traffic(), draft.in_brief) } else { row };
    Ok(draft.push(row)?)
}

/// Checks that nothing follows the document.
fn end(reader: &mut Reader<'_>) -> Result<(), Fault> {
    match reader.next_event()? {
        Event::End => Ok(()),
        _ => Err(Fault::Meaning("text after the end of the document")),
    }
}

/// Reads the list that cpu-benchmarks saves: bytes, nanoseconds, and a name for each kind of walk.
fn list(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    draft.saved.tool = Some(Tool::CpuBenchmarks);
    array_of(reader, draft, |reader, draft| {
        let mut row = Row::EMPTY;
        rest(reader, &mut |reader, key| {
            match key {
                "size" => row.sample.size = bytes(reader.number()?)?,
                "latency" => row.sample.nanoseconds = reader.number()?,
                "name" => describe(reader, &mut row, KERNEL)?,
                "batch" => describe(reader, &mut row, LANES)?,
                _ => reader.skip_value()?,
            }
            Ok(())
        })?;
        Ok(draft.push(row)?)
    })?;
    end(reader)
}

/// Reads the arguments of the run.
fn command(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    reader.begin_array()?;
    let mut program = true;
    loop {
        match reader.next_event()? {
            Event::String(_) if core::mem::take(&mut program) => {}
            Event::String(argument) => draft.saved.conditions.argument(text::<96>(argument).as_str()),
            Event::EndArray => return Ok(()),
            _ => return Err(Fault::Meaning("command is not a list of strings")),
        }
    }
}

/// Reads the value of a key that may be a condition.
fn condition(reader: &mut Reader<'_>, draft: &mut Draft<'_>, key: &str) -> Result<(), Fault> {
    // Only strings are conditions; other values, also nested ones, are skipped.
    let before = reader.clone();
    match reader.next_event()? {
        Event::String(value) => draft.saved.conditions.set(key, text::<96>(value).as_str()),
        _ => {
            *reader = before;
            reader.skip_value()?;
        }
    }
    Ok(())
}

/// Reads a member of the processor, which may identify it.
fn processor(reader: &mut Reader<'_>, draft: &mut Draft<'_>, key: &str) -> Result<(), Fault> {
    let place = ["family", "model", "stepping", "core_type"].iter().position(|known| *known == key);
    let Some(part) = place.and_then(|place| draft.saved.origin.identity.get_mut(place)) else {
        return condition(reader, draft, key);
    };
    *part = match reader.clone().next_event()? {
        Event::Number(number) => math::whole(number).saturating_add(1),
        Event::String(word) => alike::core_type(text::<32>(word).as_str()),
        Event::Null if key == "core_type" => alike::core_type(""),
        _ => 0,
    };
    Ok(reader.skip_value()?)
}

fn cache(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let (mut level, mut size, mut holds_data) = (0, None, true);
    rest(reader, &mut |reader, key| {
        match key {
            "level" => level = whole(reader.number()?)?,
            "bytes" => size = Some(bytes(reader.number()?)?),
            "type" => holds_data = reader.string()? != "Instruction",
            _ => reader.skip_value()?,
        }
        Ok(())
    })?;
    if let (Some(size), true) = (size, holds_data) {
        draft.saved.claims.add(Claim { level, size, source: Source::File });
    }
    Ok(())
}
