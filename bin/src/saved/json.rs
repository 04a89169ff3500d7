//! Results in JSON: the points, and the host and the conditions of the run.

use latency_core::json::{Event, NOT_A_RESULT};
use latency_core::math;
use latency_core::text::Text;

use super::alike;
use super::conditions::EMULATED;
use super::devices;
use super::facts;
use super::host::instant;
use super::origin;
use super::point::{is_compared, is_level, point, read as read_cell};
use super::rows::{Draft, Problem, Tool, whole};
use super::sections;
use super::shape;
use super::tlb;
use super::tree::{JsonValue, shown};
use crate::analysis::claims::{Claim, Source};
use crate::record::columns::{CHAINS, KERNEL, NS, WORKING_SET};
use crate::record::row::{Row, bytes};

/// The word for saved points, where other documents have the name of an experiment.
const SHOW: &str = "show";

/// Reads a document: that of a run, that of an experiment of a report, or a list of cpu-benchmarks.
pub(super) fn read(document: JsonValue<'_>, draft: &mut Draft<'_>) -> Result<(), Problem> {
    match document.event() {
        Event::BeginObject => {}
        Event::BeginArray if !draft.of_hosts => return list(document, draft),
        _ => return Err(document.problem(NOT_A_RESULT)),
    }
    shape::check(document)?;
    circumstances(document, draft)?;
    // Conditions and caches do not matter if hosts are compared.
    if !draft.of_hosts {
        causes(document, draft)?;
    }
    let is_report = sections::are_in(draft.saved.experiment.as_str());
    // A report has the rows of its parts, but that of saved results, whose points name their experiments, has none.
    let is_collection = is_report && !draft.of_hosts && document.member("sections").is_none();
    if is_collection {
        draft.is_collection = true;
        draft.saved.experiment = Text::EMPTY;
    }
    if is_collection || !draft.skips_rows() {
        each_point(document.at("rows"), draft)?;
    }
    document.at("curves").objects()?.try_for_each(|curve| origin::curve(curve, draft))?;
    if draft.in_brief {
        document.at("classes").objects()?.try_for_each(|class| origin::class(class, draft))?;
    }
    draft.size_limits();
    draft.has_no_contradiction().map_err(|what| document.at("rows").problem(what))?;
    draft.judge();
    Ok(())
}

/// Reads the name of the experiment, the host, the trust in the result, and its conditions.
fn circumstances(document: JsonValue<'_>, draft: &mut Draft<'_>) -> Result<(), Problem> {
    let saved = &mut draft.saved;
    let experiment = document.at("experiment").text()?;
    draft.is_collection |= experiment == SHOW && !draft.of_hosts;
    // The name of a collection is that of the command that made it.
    if !draft.is_collection {
        saved.experiment = experiment;
    }
    origin::host(document.at("host"), saved)?;
    origin::trust(document, &mut saved.origin.trust)?;
    let system = document.at("system");
    origin::nodes(system.at("nodes"), saved)?;
    saved.conditions.set("dimms", &devices::population(system.at("dimms"))?);
    let errors = devices::errors(document.at("conditions").at("hardware_errors").at("memory_devices"))?;
    saved.conditions.set("memory_errors", errors);
    // Only strings are conditions.
    let [cpu, machine] = ["cpu", "machine"].map(|name| system.at(name));
    for object in [system, cpu, machine, document.at("tool"), document.at("clock")] {
        for (key, member) in object.members() {
            if let Some(value) = member.string() {
                let value = shown::<96>(value);
                // Without a hypervisor, its name is empty.
                let is_none = key == "hypervisor" && value.is_empty();
                saved.conditions.set(&key, if is_none { "none" } else { value.as_str() });
            }
        }
    }
    // The machine has a vendor as well.
    if let Some(vendor) = cpu.at("vendor").string() {
        saved.conditions.set("cpu_vendor", shown::<96>(vendor).as_str());
    }
    if document.at("trust").at("emulated").event() == Event::Bool(true) {
        saved.conditions.set("platform", EMULATED);
    }
    let keys = ["family", "model", "stepping", "core_type", "model_masked"];
    for (part, key) in saved.origin.identity.iter_mut().zip(keys) {
        *part = match cpu.member(key).map(JsonValue::event) {
            Some(Event::Number(number)) => math::whole(number).saturating_add(1),
            Some(Event::String(word)) => alike::core_type(shown::<32>(word).as_str()),
            Some(Event::Bool(flag)) => alike::yes(flag),
            Some(Event::Null) if key == "core_type" => alike::core_type(""),
            _ => 0,
        };
    }
    for cache in system.at("caches").objects()? {
        let problem = |what| cache.problem(what);
        let level = cache.at("level").number()?.map_or(Ok(0), whole).map_err(problem)?;
        let size = cache.at("bytes").number()?.map(bytes).transpose().map_err(problem)?;
        let holds_data = cache.at("type").string().is_none_or(|kind| kind != "Instruction");
        if let (Some(size), true) = (size, holds_data) {
            saved.claims.add(Claim { level, size, source: Source::File });
        }
    }
    saved.conditions.partial = document.at("partial").event() == Event::Bool(true);
    saved.origin.started = instant(document.at("started").text::<32>()?.as_str()).unwrap_or(0);
    saved.origin.seconds = document.at("duration_s").number()?.unwrap_or(0.0);
    saved.origin.schema = math::whole(document.at("schema").number()?.unwrap_or(0.0));
    Ok(())
}

/// Reads the options of the run, and the facts from which the cause of a difference is read.
fn causes(document: JsonValue<'_>, draft: &mut Draft<'_>) -> Result<(), Problem> {
    let saved = &mut draft.saved;
    for argument in document.at("command").items().skip(1) {
        let argument =
            argument.string().ok_or_else(|| argument.problem("command is not a list of strings"))?;
        saved.conditions.argument(shown::<96>(argument).as_str());
    }
    let model = document.at("model");
    saved.tlb[0].levels = [tlb::level(model.at("tlb"))?, tlb::level(model.at("l2_tlb"))?];
    for (slot, kind) in saved.tlb.iter_mut().zip(document.at("translation").objects()?) {
        *slot = tlb::kind(kind)?;
    }
    for level in model.at("levels").objects()? {
        facts::level(&mut saved.facts, level);
    }
    facts::facts(&mut saved.facts, "memory", model.at("memory"));
    for name in ["model", "summary", "health"] {
        facts::facts(&mut saved.facts, name, document.at(name));
    }
    Ok(())
}

fn each_point(points: JsonValue<'_>, draft: &mut Draft<'_>) -> Result<(), Problem> {
    for object in points.objects()? {
        let row = point(object)?;
        if !is_compared(&row, draft.is_collection) {
            continue;
        }
        let row = match is_level(&row) && !draft.is_collection {
            true => origin::idle(row, draft.in_brief),
            false => row,
        };
        draft.push(row).map_err(|what| object.problem(what))?;
    }
    Ok(())
}

/// Reads the list that cpu-benchmarks saves: bytes, nanoseconds, and a name for each kind of walk.
fn list(list: JsonValue<'_>, draft: &mut Draft<'_>) -> Result<(), Problem> {
    draft.saved.tool = Some(Tool::CpuBenchmarks);
    for object in list.objects()? {
        let mut row = Row::EMPTY;
        let cells = [("size", WORKING_SET), ("latency", NS), ("name", KERNEL), ("batch", CHAINS)];
        for (name, column) in cells {
            if let Some(member) = object.member(name) {
                read_cell(&mut row, column, 0, member)?;
            }
        }
        draft.push(row).map_err(|what| object.problem(what))?;
    }
    Ok(())
}
