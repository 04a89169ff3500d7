//! Results in JSON: the points, and the host and the conditions of the run.

use latency_core::json::{Event, NOT_A_RESULT};
use latency_core::math;
use latency_core::text::Text;

use super::alike;
use super::conditions::EMULATED;
use super::devices;
use super::host::instant;
use super::origin;
use super::point::{is_compared, is_level, point, read as read_cell};
use super::rows::{Draft, Problem, Saved, Tool, whole};
use super::sections;
use super::shape;
use super::summaries;
use super::tlb;
use super::tree::JsonValue;
use crate::analysis::cause::{CACHES, SavedFacts};
use crate::analysis::claims::{Claim, Source};
use crate::options::tokens::escaped;
use crate::record::columns::{CHAINS, KERNEL, NS, WORKING_SET};
use crate::record::row::{Row, bytes};

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
    let is_report = sections::are_in(draft.saved.experiment.as_str());
    // The report of a run has sections, each with its rows. The report of saved results has none: all of its points are
    // in one list, and name their experiments.
    let is_collection = is_report && !draft.of_hosts && document.member("sections").is_none();
    if is_collection {
        draft.is_collection = true;
        draft.saved.experiment = Text::EMPTY;
    }
    if is_collection || !draft.skips_rows() {
        each_point(document.at("rows"), draft);
    }
    document.at("curves").objects().for_each(|curve| summaries::curve(curve, draft));
    if draft.in_brief {
        document.at("classes").objects().for_each(|class| summaries::class(class, draft));
    }
    draft.size_limits();
    // The results of a collection are checked one by one.
    if !draft.is_collection {
        document.at("rows").check(draft.has_no_contradiction());
    }
    draft.judge();
    document.accepted()
}

/// Reads the name of the experiment, the host, the trust in the result, and its conditions.
fn circumstances(document: JsonValue<'_>, draft: &mut Draft) {
    let saved = &mut draft.saved;
    let experiment = document.at("experiment").text();
    draft.is_collection |= experiment == sections::SHOW && !draft.of_hosts;
    // A collection has the name of the command that made it, which is not an experiment.
    if !draft.is_collection {
        saved.experiment = Text::from_bytes(experiment.as_bytes());
    }
    origin::host(document.at("host"), saved);
    origin::trust(document, &mut saved.origin.trust);
    let system = document.at("system");
    origin::nodes(system.at("nodes"), saved);
    saved.conditions.set("dimms", &devices::population(system.at("dimms")));
    let errors = devices::errors(document.at("conditions").at("hardware_errors").at("memory_devices"));
    saved.conditions.set("memory_errors", errors);
    // Only strings are conditions.
    let [cpu, machine] = ["cpu", "machine"].map(|name| system.at(name));
    for object in [system, cpu, machine, document.at("tool"), document.at("clock")] {
        for (key, member) in object.members() {
            if let Some(value) = member.string() {
                let value = escaped(value.chars());
                // Without a hypervisor, its name is empty.
                let is_none = key == "hypervisor" && value.is_empty();
                saved.conditions.set(&key, if is_none { "none" } else { &value });
            }
        }
    }
    // The machine has a vendor as well.
    if let Some(vendor) = cpu.at("vendor").string() {
        saved.conditions.set("cpu_vendor", &escaped(vendor.chars()));
    }
    if document.at("trust").at("emulated").event() == Event::Bool(true) {
        saved.conditions.set("platform", EMULATED);
    }
    let keys = ["family", "model", "stepping", "core_type", "model_masked"];
    for (part, key) in saved.origin.identity.iter_mut().zip(keys) {
        *part = match cpu.member(key).map(JsonValue::event) {
            Some(Event::Number(number)) => math::whole(number).saturating_add(1),
            Some(Event::String(word)) => alike::core_type(&escaped(word.chars())),
            Some(Event::Bool(flag)) => alike::yes(flag),
            Some(Event::Null) if key == "core_type" => alike::core_type(""),
            _ => 0,
        };
    }
    for cache in system.at("caches").objects() {
        let level = cache.at("level").number().map_or(Ok(0), whole);
        let size = cache.at("bytes").number().map(bytes).transpose();
        let holds_data = cache.at("type").string().is_none_or(|kind| kind != "Instruction");
        match (level, size) {
            (Err(what), _) | (_, Err(what)) => cache.refuse(what),
            (Ok(level), Ok(Some(size))) if holds_data => {
                saved.claims.add(Claim { level, size, source: Source::File });
            }
            _ => {}
        }
    }
    saved.conditions.partial = document.at("partial").event() == Event::Bool(true);
    saved.origin.started = instant(&document.at("started").text()).unwrap_or(0);
    saved.origin.seconds = document.at("duration_s").number().unwrap_or(0.0);
    saved.origin.schema = math::whole(document.at("schema").number().unwrap_or(0.0));
}

/// Reads the options of the run, and the facts from which the cause of a difference is read.
fn causes(document: JsonValue<'_>, saved: &mut Saved) {
    for argument in document.at("command").items().skip(1) {
        match argument.string() {
            Some(argument) => saved.conditions.argument(&escaped(argument.chars())),
            None => argument.refuse("command is not a list of strings"),
        }
    }
    let model = document.at("model");
    saved.tlb[0].levels = ["tlb", "l2_tlb"].map(|name| tlb::level(model.at(name)));
    for (slot, kind) in saved.tlb.iter_mut().zip(document.at("translation").objects()) {
        *slot = tlb::kind(kind);
    }
    for level in model.at("levels").objects() {
        // The next cache of the curve.
        let next = CACHES.iter().find(|(_, fact)| saved.facts.get(*fact).is_none());
        facts(&mut saved.facts, next.map_or("", |(name, _)| name), level);
    }
    facts(&mut saved.facts, "memory", model.at("memory"));
    for name in ["model", "summary", "health"] {
        facts(&mut saved.facts, name, document.at(name));
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
