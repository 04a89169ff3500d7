//! The host of a saved result, and parts of results that are not points: classes of pairs of CPUs, and the ends of
//! curves under load.

use alloc::format;
use core::fmt::Write;

use latency_core::math;
use latency_core::stats::{Estimate, Interval};
use latency_core::text::Text;
use latency_core::traffic::Kind;
use latency_core::units::Bytes;

use super::conditions::escaped;
use super::facts;
use super::fields::word;
use super::host::SEPARATOR;
use super::level::TableLevel;
use super::numerals::number;
use super::point::PointDraft;
use super::rows::{Draft, Problem, Saved, check, whole};
use super::tree::{JsonValue, shown};
use super::trust::Trust;
use crate::analysis::traffic::{self, bandwidth};
use crate::result::row::{
    CLASS, EXPERIMENT, FIELDS, GENERATORS, HOME, LOAD, MEDIAN, MOST, OP, PATTERN, Row, TRAFFIC, VARIANT, Word,
};
use crate::result::sample::Sample;

/// Reads the members that identify the host.
pub(super) fn host(host: JsonValue<'_>, saved: &mut Saved) -> Result<(), Problem> {
    let origin = &mut saved.origin;
    origin.name = host.at("name").text()?;
    origin.cpu = host.at("cpu_model").text()?;
    origin.boot = host.at("boot_id").text()?;
    saved.conditions.set("host", origin.name.as_str());
    for (key, label) in host.at("labels").members() {
        if let Some(value) = label.string() {
            let (key, value) = (escaped::<40>(key.as_bytes()), shown::<96>(value));
            let label = Text::<160>::of(format_args!("{SEPARATOR}label {key}={value}"));
            // It is appended completely or not at all.
            let _ = origin.labels.write_str(label.as_str());
        }
    }
    if origin.name.is_empty() {
        origin.name = host.at("boot_id").text()?;
    }
    Ok(())
}

/// Reads the trust that the document states, the severities of its warnings, and the values by which it is judged again.
pub(super) fn trust(document: JsonValue<'_>, trust: &mut Trust) -> Result<(), Problem> {
    let said = document.at("trust");
    let level = said.at("level");
    if let Some(word) = level.string() {
        let known = ["poor", "fair", "good"].into_iter().find(|known| word == *known);
        trust.said = known.ok_or_else(|| level.problem("trust level is none of good, fair, poor"))?;
    }
    for reason in said.at("reasons").items() {
        trust.add(reason.text::<32>()?.as_str(), None);
    }
    trust.omitted = said.at("omitted").number()?.is_some_and(|count| count > 0.0);
    for warning in document.at("warnings").objects()? {
        // A note is not a reason for distrust.
        if let Some(severity) = warning.at("severity").string().filter(|severity| *severity != "note") {
            trust.add(warning.at("code").text::<32>()?.as_str(), Some(severity == "poor"));
        }
    }
    trust.repeat = document.at("health").at("repeat").at("ratio").number()?;
    let conditions = document.at("conditions");
    for object in core::iter::once(conditions).chain(conditions.at("cpus").objects()?) {
        let share = object.at("other_processes_share").number()?;
        trust.other_work = share.map(|share| trust.other_work.unwrap_or(0.0).max(share)).or(trust.other_work);
    }
    Ok(())
}

/// Reads the nodes of the host.
pub(super) fn nodes(nodes: JsonValue<'_>, saved: &mut Saved) -> Result<(), Problem> {
    let Saved { origin, facts, .. } = saved;
    for node in nodes.objects()? {
        origin.nodes += 1;
        if let Some(cache) = node.member("memory_side_cache") {
            origin.side_cache = Some(origin.side_cache == Some(true) || !cache.is_null());
        }
        if let Some(cpus) = node.at("cpus").string() {
            facts::cpus(facts, cpus);
        }
    }
    Ok(())
}

/// Reads the value of a name and its interval.
fn estimate(object: JsonValue<'_>, name: &str) -> Result<Estimate, Problem> {
    let part = |end: &str| object.at(&format!("{name}{end}")).number();
    let ends = (part("_low")?, part("_high")?);
    let interval = between(ends).map_err(|what| object.problem(what))?;
    Ok(Estimate { value: part("")?.unwrap_or(f64::NAN), interval })
}

/// Reads a class of pairs of CPUs.
pub(super) fn class(class: JsonValue<'_>, draft: &mut Draft<'_>) -> Result<(), Problem> {
    let mut row = Row::EMPTY;
    row.set(OP, word(format_args!("{MEDIAN}")));
    row.set(CLASS, class.at("class").text()?);
    row.set(VARIANT, class.at("core_types").text()?);
    let Estimate { value, interval } = estimate(class, "ns")?;
    (row.sample.nanoseconds, row.sample.interval) = (value, interval);
    draft.push(row).map_err(|what| class.problem(what))
}

/// Reads the limit of the traffic of a curve under load. The rates below it are shares of it, and so they differ in every
/// run.
pub(super) fn curve(curve: JsonValue<'_>, draft: &mut Draft<'_>) -> Result<(), Problem> {
    let brief = draft.in_brief;
    let node = |name| {
        let member = curve.at(name);
        member.number()?.map(whole).transpose().map_err(|what| member.problem(what))
    };
    let mut row = Row { pair: node("initiator_node")?.zip(node("target_node")?), ..Row::EMPTY };
    row.set(TRAFFIC, curve.at("traffic").text()?);
    row.set(PATTERN, curve.at("pattern").text()?);
    let peak = curve.at("peak_bandwidth");
    // The number of generators that reached the limit is an outcome, so it does not identify a point.
    if let Some(cores) = peak.at("cores").number()?.filter(|_| brief) {
        row.set(GENERATORS, word(format_args!("{}", math::whole(cores))));
    }
    let load = node("load_node")?.filter(|_| !brief);
    let row = limit(row, load, estimate(peak, "bytes_per_second")?, brief);
    draft.push(row).map_err(|what| curve.problem(what))
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

/// Maximum number of levels in a table of loads.
const MOST_LEVELS: usize = 4096;

/// Adds the limits of the curves of a table of loads, as documents have them: none without the rate of all generators,
/// which every level with a pace has.
pub(super) fn limits(draft: &mut Draft<'_>) -> Result<(), &'static str> {
    let levels = core::mem::take(&mut draft.levels);
    let is_first = |(place, level): &(usize, &TableLevel)| {
        level.curve.is_some() && !levels.iter().take(*place).any(|before| before.is_beside(level))
    };
    for (_, level) in levels.iter().enumerate().filter(is_first) {
        let curve = || levels.iter().filter(|other| level.is_beside(other));
        let all = curve().map(|level| level.cores).max();
        let rate = |place| curve().filter_map(|level| Some((level.cores, level.rate?))).nth(place);
        let is_whole = curve().any(|level| level.rate.is_some() && Some(level.cores) == all);
        let Some((cores, found)) = traffic::limit(&rate).filter(|_| is_whole).and_then(rate) else {
            continue;
        };
        let (mut row, brief) = (level.of, draft.in_brief);
        if brief {
            row.set(GENERATORS, word(format_args!("{cores}")));
        }
        draft.push(limit(row, level.load, found, brief))?;
    }
    Ok(())
}

/// Adds what is compared of a row of a table of loads: the idle latency, or the rate of traffic without a pace. Levels
/// between them are shares of that rate, and so they differ in every run.
pub(super) fn of_table(point: &mut PointDraft, draft: &mut Draft<'_>) -> Result<(), &'static str> {
    let brief = draft.in_brief;
    point.finish()?;
    let PointDraft { row, offered, rates: [rate, low, high], load_node, .. } = point;
    if *offered == Some(0.0) {
        return draft.push(idle(*row, row.traffic(), brief));
    }
    let (is_measured, interval) = (rate.is_some(), between((*low, *high))?);
    let rate = rate.filter(|_| offered.is_none()).map(|value| Estimate { value, interval });
    let cores = number(row.plain(GENERATORS).as_str()).unwrap_or(0.0) as u32;
    let is_kept = |field: usize| matches!(field, EXPERIMENT | TRAFFIC | PATTERN);
    (0..FIELDS.len()).filter(|field| !is_kept(*field)).for_each(|field| row.set(field, Word::EMPTY));
    let size = if brief { Bytes(0) } else { row.sample.size };
    row.sample = Sample { size, ..Sample::EMPTY };
    let load = load_node.filter(|_| !brief);
    if let Some(rate) = rate {
        check(&limit(*row, load, rate, brief))?;
    }
    if draft.levels.len() == MOST_LEVELS {
        return Err("more than 4096 levels of load");
    }
    let curve = is_measured.then(|| draft.rows().len());
    draft.levels.push(TableLevel { of: *row, curve, cores, rate, load });
    Ok(())
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
