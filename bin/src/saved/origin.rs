//! The host of a saved result, and parts of results that are not points: classes of pairs of CPUs, and the ends of
//! curves under load.

use core::fmt::Write;

use latency_core::json::{Event, Reader};
use latency_core::stats::{Estimate, Interval};
use latency_core::text::Text;
use latency_core::traffic::Kind;
use latency_core::units::Bytes;

use super::conditions::escaped;
use super::devices;
use super::facts::{self, fact};
use super::fields::word;
use super::host::SEPARATOR;
use super::point::PointDraft;
use super::rows::{Draft, Saved, whole};
use super::values::{Fault, each_object, members, optional, rest, text};
use crate::analysis::traffic::bandwidth;
use crate::result::row::{
    CLASS, EXPERIMENT, FIELDS, GENERATORS, HOME, LOAD, MEDIAN, MOST, OP, PATTERN, Row, TRAFFIC, Word,
};
use crate::result::sample::Sample;

/// Reads the members that identify the host.
pub(super) fn host(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let mut boot = Text::<96>::EMPTY;
    let origin = &mut draft.saved.origin;
    members(reader, &mut |reader, key| {
        match key {
            "name" => {
                origin.name = text(reader.string()?);
                draft.saved.conditions.set("host", origin.name.as_str());
            }
            "boot_id" => boot = text(reader.string()?),
            "cpu_model" => origin.cpu = text(reader.string()?),
            "labels" => members(reader, &mut |reader, key| {
                let Event::String(value) = reader.clone().next_event()? else {
                    return Ok(reader.skip_value()?);
                };
                let (key, value) = (escaped::<40>(key.as_bytes()), text::<96>(value));
                let label = Text::<160>::of(format_args!("{SEPARATOR}label {key}={value}"));
                // It is appended completely or not at all.
                let _ = origin.labels.write_str(label.as_str());
                Ok(reader.skip_value()?)
            })?,
            _ => reader.skip_value()?,
        }
        Ok(())
    })?;
    if origin.name.is_empty() {
        origin.name = boot;
    }
    origin.boot = Text::from_bytes(boot.as_str().as_bytes());
    Ok(())
}

/// Reads the trust that the document states.
pub(super) fn trust(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let trust = &mut draft.saved.origin.trust;
    members(reader, &mut |reader, key| {
        match key {
            "level" => {
                let level = reader.string()?;
                let known = ["poor", "fair", "good"].into_iter().find(|known| level == *known);
                trust.said = known.ok_or(Fault::Meaning("trust level is none of good, fair, poor"))?;
            }
            "reasons" => {
                reader.begin_array()?;
                while let Event::String(reason) = reader.next_event()? {
                    trust.add(text::<32>(reason).as_str(), None);
                }
            }
            "omitted" => trust.omitted = optional(reader)?.is_some_and(|count| count > 0.0),
            _ => reader.skip_value()?,
        }
        Ok(())
    })
}

/// Reads the severity of a warning, after the start of its object.
pub(super) fn warning(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let (mut code, mut poor, mut is_note) = (Text::<32>::EMPTY, None, false);
    rest(reader, &mut |reader, key| {
        match key {
            "code" => code = text(reader.string()?),
            "severity" => {
                let severity = reader.string()?;
                poor = Some(severity == "poor");
                is_note = severity == "note";
            }
            _ => reader.skip_value()?,
        }
        Ok(())
    })?;
    // A note is not a reason for distrust.
    if poor.is_some() && !is_note {
        draft.saved.origin.trust.add(code.as_str(), poor);
    }
    Ok(())
}

/// Reads the errors of memory, and the share of other work, of the run and of each of its CPUs.
pub(super) fn conditions(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    members(reader, &mut |reader, key| match key {
        "hardware_errors" => devices::errors(reader, draft),
        "cpus" => each_object(reader, |reader| rest(reader, &mut |reader, key| share(reader, draft, key))),
        _ => share(reader, draft, key),
    })
}

/// Reads a member that may be a share of other work, and keeps the largest.
fn share(reader: &mut Reader<'_>, draft: &mut Draft<'_>, key: &str) -> Result<(), Fault> {
    if key != "other_processes_share" {
        return Ok(reader.skip_value()?);
    }
    let most = &mut draft.saved.origin.trust.other_work;
    *most = optional(reader)?.map(|share| most.unwrap_or(0.0).max(share)).or(*most);
    Ok(())
}

/// Reads the result of the repeated measurement of a point.
pub(super) fn health(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    members(reader, &mut |reader, key| match key {
        "repeat" => members(reader, &mut |reader, key| {
            match key {
                "ratio" => draft.saved.origin.trust.repeat = optional(reader)?,
                _ => reader.skip_value()?,
            }
            Ok(())
        }),
        _ => fact(reader, draft, "health", key),
    })
}

/// Counts a node, after the start of its object.
pub(super) fn node(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let Saved { origin, facts, .. } = &mut draft.saved;
    origin.nodes += 1;
    rest(reader, &mut |reader, key| {
        let value = reader.clone().next_event()?;
        match (key, value) {
            ("memory_side_cache", value) => {
                origin.side_cache = Some(origin.side_cache == Some(true) || value != Event::Null);
            }
            ("cpus", Event::String(cpus)) if !draft.of_hosts => facts::cpus(facts, cpus),
            _ => {}
        }
        Ok(reader.skip_value()?)
    })
}

/// Reads a class of pairs of CPUs, after the start of its object.
pub(super) fn class(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let mut row = Row::EMPTY;
    row.set(OP, word(format_args!("{MEDIAN}")));
    let mut ends = (None, None);
    rest(reader, &mut |reader, key| {
        match key {
            "class" => row.set(CLASS, text(reader.string()?)),
            "ns" => row.sample.nanoseconds = optional(reader)?.unwrap_or(f64::NAN),
            "ns_low" => ends.0 = optional(reader)?,
            "ns_high" => ends.1 = optional(reader)?,
            _ => reader.skip_value()?,
        }
        Ok(())
    })?;
    row.sample.interval = between(ends)?;
    Ok(draft.push(row)?)
}

/// Reads the limit of the traffic of a curve under load, after the start of its object. The rates below it are shares of
/// it, and so they differ in every run.
pub(super) fn curve(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let mut limit = Row::EMPTY;
    // The number of generators that reached the limit is an outcome, so it does not identify a point.
    let brief = draft.in_brief;
    let (mut from, mut to, mut load) = (None, None, None);
    let mut rate = Estimate { value: f64::NAN, interval: None };
    let mut ends = (None, None);
    rest(reader, &mut |reader, key| {
        match key {
            "initiator_node" => from = Some(whole(reader.number()?)?),
            "target_node" => to = Some(whole(reader.number()?)?),
            "load_node" if !brief => load = Some(whole(reader.number()?)?),
            "traffic" => limit.set(TRAFFIC, text(reader.string()?)),
            "pattern" => limit.set(PATTERN, text(reader.string()?)),
            "peak_bandwidth" => members(reader, &mut |reader, key| {
                match key {
                    "bytes_per_second" => rate.value = optional(reader)?.unwrap_or(f64::NAN),
                    "bytes_per_second_low" => ends.0 = optional(reader)?,
                    "bytes_per_second_high" => ends.1 = optional(reader)?,
                    "cores" if brief => {
                        limit.set(GENERATORS, word(format_args!("{}", whole(reader.number()?)?)));
                    }
                    _ => reader.skip_value()?,
                }
                Ok(())
            })?,
            _ => reader.skip_value()?,
        }
        Ok(())
    })?;
    limit.pair = from.zip(to);
    rate.interval = between(ends)?;
    Ok(draft.push(self::limit(limit, load, rate, brief))?)
}

/// Returns the limit of the traffic that a row names, to the memory of the node `load`; without a latency if the rate is
/// unknown. Only the rate if `brief` is true.
fn limit(mut limit: Row, load: Option<u32>, rate: Estimate, brief: bool) -> Row {
    if !brief {
        limit.set(LOAD, word(format_args!("{MOST}")));
    }
    if let Some(node) = load.filter(|node| limit.pair.is_none_or(|(_, to)| *node != to)) {
        limit.set(HOME, word(format_args!("{node}")));
    }
    // Bandwidths are stored as the time for each line.
    let Estimate { value, interval } = match limit.traffic().filter(|_| rate.value.is_finite()) {
        Some(kind) => bandwidth(kind, rate),
        None => Estimate { value: f64::NAN, interval: None },
    };
    limit.sample.nanoseconds = value;
    limit.sample.interval = interval.filter(|ends| ends.low > 0.0 && ends.high.is_finite());
    limit
}

/// Adds what is compared of a row of a table of loads: the idle latency, or the rate of traffic without a pace. Levels
/// between them are shares of that rate, and so they differ in every run.
pub(super) fn of_table(point: &mut PointDraft, draft: &mut Draft<'_>) -> Result<(), &'static str> {
    let brief = draft.in_brief;
    point.finish()?;
    let PointDraft { row, offered, rates: [rate, low, high], load_node, .. } = point;
    match (*offered, *rate) {
        (Some(0.0), _) => draft.push(idle(*row, row.traffic(), brief)),
        (None, Some(value)) => {
            let rate = Estimate { value, interval: between((*low, *high))? };
            let is_kept = |field: usize| {
                matches!(field, EXPERIMENT | TRAFFIC | PATTERN) || brief && field == GENERATORS
            };
            (0..FIELDS.len()).filter(|field| !is_kept(*field)).for_each(|field| row.set(field, Word::EMPTY));
            let size = if brief { Bytes(0) } else { row.sample.size };
            row.sample = Sample { size, ..Sample::EMPTY };
            draft.push_limit(limit(*row, load_node.filter(|_| !brief), rate, brief))
        }
        _ => Ok(()),
    }
}

/// Returns the idle latency before traffic of a kind: only its latency if `brief` is true, else its conditions too.
pub(super) fn idle(found: Row, kind: Option<&Kind>, brief: bool) -> Row {
    let Sample { nanoseconds, interval, .. } = found.sample;
    if brief {
        let sample = Sample { nanoseconds, interval, ..Sample::EMPTY };
        return Row { sample, pair: found.pair, ..Row::EMPTY };
    }
    // The idle latency is not a value of traffic, whatever traffic comes after it.
    let mut idle = Row { words: Row::EMPTY.words, ..found };
    if let Some(kind) = kind {
        idle.set(LOAD, word(format_args!("idle, before {}", kind.name)));
    }
    idle
}

/// Returns the interval between two ends; `None` without them.
fn between(ends: (Option<f64>, Option<f64>)) -> Result<Option<Interval>, &'static str> {
    match ends {
        (None, None) => Ok(None),
        (Some(low), Some(high)) if low <= high => Ok(Some(Interval { low, high })),
        _ => Err("an interval that is not a pair of numbers"),
    }
}
