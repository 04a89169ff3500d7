//! Results in JSON: the points, and the host, its memory devices and the conditions of the run.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use latency_report::chart::vector;

use latency_core::json::{Event, NOT_A_RESULT};
use latency_core::{Bytes, Text, math};

use super::conditions::{CPU_VENDOR, EMULATED, MEMORY_ERRORS};
use super::host::instant;
use super::point::{is_compared, is_level, point, read as read_cell};
use super::rows::{Draft, Problem, Saved, Tool, whole};
use super::{alike, origin, shape, summaries, tlb};
use crate::analysis::cause::{CACHES, SavedFacts};
use crate::analysis::claims::{Claim, Source};
use crate::record::columns::{CHAINS, KERNEL, NS, WORKING_SET};
use crate::record::members::{
    self, CORE_TYPE, CORRECTED, DIMM_BYTES, DIMM_DEVICES, DIMM_RATE, DIMM_SLOTS, DIMMS, HYPERVISOR, MEMORY,
    MODEL, UNCORRECTED,
};
use crate::record::row::{Row, bytes};
use latency_report::escape::escaped;
use latency_report::tree::JsonValue;

/// Reads a document: of a run, of one experiment of a report, or a list of cpu-benchmarks.
pub(super) fn read(document: JsonValue<'_>, draft: &mut Draft) -> Result<(), Problem> {
    match document.event() {
        Event::BeginObject => {}
        Event::BeginArray if !draft.of_hosts => {
            list(document, draft);
            return document.accepted();
        }
        _ => return Err(document.problem(NOT_A_RESULT)),
    }
    shape::check(document);
    circumstances(document, draft);
    // Conditions and caches do not matter if hosts are compared.
    if !draft.of_hosts {
        causes(document, &mut draft.saved);
    }
    let is_report = shape::has_sections(draft.saved.experiment.as_str());
    // The report of a run has sections, each with its rows. The report of saved results has none: all of its points are
    // in one list, and name their experiments.
    let is_collection = is_report && !draft.of_hosts && document.member(members::SECTIONS_OF.key).is_none();
    if is_collection {
        draft.is_collection = true;
        draft.saved.experiment = Text::EMPTY;
    }
    if is_collection || !draft.skips_rows() {
        each_point(document.at(members::ROWS.key), draft);
    }
    document.at(members::CURVES.key).objects().for_each(|curve| summaries::curve(curve, draft));
    if draft.in_brief {
        document.at(members::CLASSES.key).objects().for_each(|class| summaries::class(class, draft));
    }
    draft.size_limits();
    // The results of a collection are checked one by one.
    if !draft.is_collection {
        document.at(members::ROWS.key).check(draft.has_no_contradiction());
    }
    draft.judge();
    document.accepted()
}

/// Reads the name of the experiment, the host, the trust in the result, and its conditions.
fn circumstances(document: JsonValue<'_>, draft: &mut Draft) {
    let saved = &mut draft.saved;
    let experiment = document.at(members::EXPERIMENT.key).text();
    draft.is_collection |= experiment == shape::SHOW && !draft.of_hosts;
    // A collection has the name of the command that made it, which is not an experiment.
    if !draft.is_collection {
        saved.experiment = Text::from_bytes(experiment.as_bytes());
    }
    origin::host(document.at(members::HOST.key), saved);
    origin::trust(document, &mut saved.origin.trust);
    let system = document.at(members::SYSTEM.key);
    origin::nodes(system.at(members::NODES.key), saved);
    saved.conditions.set(DIMMS.key, &device_population(system.at(DIMMS.key)));
    let errors = document.at(members::CONDITIONS.key).at(members::ERRORS.key);
    let errors = device_errors(errors.at(members::MEMORY_DEVICES.key));
    saved.conditions.set(MEMORY_ERRORS, errors);
    // Only strings are conditions.
    let [cpu, machine] = [&members::CPU, &members::MACHINE].map(|field| system.at(field.key));
    let [tool, clock] = [&members::TOOL, &members::CLOCK].map(|field| document.at(field.key));
    for object in [system, cpu, machine, tool, clock] {
        for (key, member) in object.members() {
            if let Some(value) = member.string() {
                let value = escaped(value.chars());
                // Without a hypervisor, its name is empty.
                let is_none = key == HYPERVISOR.key && value.is_empty();
                saved.conditions.set(&key, if is_none { "none" } else { &value });
            }
        }
    }
    if let Some(vendor) = cpu.at(members::CPU_VENDOR.key).string() {
        saved.conditions.set(CPU_VENDOR, &escaped(vendor.chars()));
    }
    if document.at(members::TRUST.key).at(members::EMULATED.key).event() == Event::Bool(true) {
        saved.conditions.set(members::PLATFORM.key, EMULATED);
    }
    let identity = [
        &members::CPU_FAMILY,
        &members::CPU_MODEL_NUMBER,
        &members::CPU_STEPPING,
        &CORE_TYPE,
        &members::CPU_MASKED,
    ];
    for (part, field) in saved.origin.identity.iter_mut().zip(identity) {
        *part = match cpu.member(field.key).map(JsonValue::event) {
            Some(Event::Number(number)) => math::whole(number).saturating_add(1),
            Some(Event::String(word)) => alike::core_type(&escaped(word.chars())),
            Some(Event::Bool(flag)) => alike::yes(flag),
            Some(Event::Null) if field.key == CORE_TYPE.key => alike::core_type(""),
            _ => 0,
        };
    }
    for cache in system.at(members::CACHES.key).objects() {
        let level = cache.at(members::CACHE_LEVEL.key).number().map_or(Ok(0), whole);
        let size = cache.at(members::CACHE_BYTES.key).number().map(bytes).transpose();
        let holds_data = cache.at(members::CACHE_TYPE.key).string().is_none_or(|kind| kind != "Instruction");
        match (level, size) {
            (Err(what), _) | (_, Err(what)) => cache.refuse(what),
            (Ok(level), Ok(Some(size))) if holds_data => {
                saved.claims.add(Claim { level, size, source: Source::File });
            }
            _ => {}
        }
    }
    saved.conditions.partial = document.at(members::PARTIAL.key).event() == Event::Bool(true);
    saved.origin.started = instant(&document.at(members::STARTED.key).text()).unwrap_or(0);
    saved.origin.seconds = document.at(members::DURATION.key).number().unwrap_or(0.0);
    saved.origin.schema = math::whole(document.at(members::SCHEMA.key).number().unwrap_or(0.0));
}

/// Reads the options of the run, and the facts from which the cause of a difference is read.
fn causes(document: JsonValue<'_>, saved: &mut Saved) {
    for argument in document.at(members::COMMAND.key).items().skip(1) {
        match argument.string() {
            Some(argument) => saved.conditions.argument(&escaped(argument.chars())),
            None => argument.refuse("command is not a list of strings"),
        }
    }
    let model = document.at(MODEL.key);
    saved.tlb[0].levels = [&members::TLB, &members::L2_TLB].map(|field| tlb::level(model.at(field.key)));
    for (slot, kind) in saved.tlb.iter_mut().zip(document.at(members::TRANSLATION.key).objects()) {
        *slot = tlb::kind(kind);
    }
    for level in model.at(members::LEVELS.key).objects() {
        // The next cache of the curve.
        let next = CACHES.iter().find(|(_, fact)| saved.facts.get(*fact).is_none());
        facts(&mut saved.facts, next.map_or("", |(name, _)| name), level);
    }
    facts(&mut saved.facts, MEMORY.key, model.at(MEMORY.key));
    for field in [&MODEL, &members::SUMMARY, &members::HEALTH] {
        facts(&mut saved.facts, field.key, document.at(field.key));
    }
}

/// Reads the members of an object that may be facts: only numbers and flags are.
fn facts(facts: &mut SavedFacts, name: &str, object: JsonValue<'_>) {
    for (key, member) in object.members() {
        match member.event() {
            Event::Number(number) => facts.set(name, &key, number),
            // A flag is a fact of 1, or of a half if it is true: causes are sought in factors.
            Event::Bool(flag) => facts.set(name, &key, if flag { 0.5 } else { 1.0 }),
            _ => {}
        }
    }
}

fn each_point(points: JsonValue<'_>, draft: &mut Draft) {
    for object in points.objects() {
        let row = point(object);
        if !is_compared(&row, draft.is_collection) {
            continue;
        }
        object.check(match is_level(&row) && !draft.is_collection {
            true => draft.push(summaries::idle(row, draft.in_brief)),
            false => draft.push(row),
        });
    }
}

/// Reads the list that cpu-benchmarks saves: bytes, nanoseconds, and a name for each kind of walk.
fn list(list: JsonValue<'_>, draft: &mut Draft) {
    draft.saved.tool = Some(Tool::CpuBenchmarks);
    for object in list.objects() {
        let mut row = Row::EMPTY;
        let cells = [("size", WORKING_SET), ("latency", NS), ("name", KERNEL), ("batch", CHAINS)];
        for (name, column) in cells {
            if let Some(member) = object.member(name) {
                read_cell(&mut row, column, 0, member);
            }
        }
        object.check(draft.push(row));
    }
}

/// Returns the populated slots: their number, capacity and rates, as far as these are known of every device; empty if no
/// slot is.
fn device_population(dimms: JsonValue<'_>) -> String {
    let devices: Vec<JsonValue<'_>> = vector(dimms.at(DIMM_DEVICES.key).objects());
    let all =
        |key: &str| -> Option<Vec<f64>> { devices.iter().map(|device| device.at(key).number()).collect() };
    if devices.is_empty() {
        return String::new();
    }
    let mut text = devices.len().to_string();
    if let Some(slots) = dimms.at(DIMM_SLOTS.key).number() {
        text += &format!(" of {}", math::whole(slots));
    }
    if let Some(sizes) = all(DIMM_BYTES.key) {
        text += &format!(", {}", Bytes(math::whole(sizes.iter().sum())));
    }
    if let Some(rates) = all(DIMM_RATE.key) {
        let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let most = rates.iter().copied().fold(0.0, f64::max);
        text += &format!(", {}", math::whole(least));
        if least < most {
            text += &format!(" to {}", math::whole(most));
        }
        text += " MT/s";
    }
    text
}

/// Returns the errors of devices since boot: the worst kind, or none; empty without a driver that counts them.
fn device_errors(devices: JsonValue<'_>) -> &'static str {
    if devices.is_null() {
        return "";
    }
    let (mut worst, mut is_known) = ("none", true);
    for device in devices.objects() {
        for kind in [CORRECTED.key, UNCORRECTED.key] {
            let Some(count) = device.member(kind) else { continue };
            match count.number() {
                None => is_known = false,
                Some(count) if count > 0.0 && worst != UNCORRECTED.key => worst = kind,
                Some(_) => {}
            }
        }
    }
    if is_known || worst != "none" { worst } else { "" }
}
