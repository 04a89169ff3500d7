//! The host of a saved result: its names and labels, its nodes, and the trust that the result states.

use core::fmt::Write;

use latency_core::cpulist::CpuSet;
use latency_core::json::Str;
use latency_core::math::ToReal;
use latency_core::text::Text;

use super::conditions::escaped;
use super::host::SEPARATOR;
use super::rows::Saved;
use super::tree::JsonValue;
use super::trust::Trust;
use crate::analysis::cause::Fact;

/// Reads the members that identify the host.
pub(super) fn host(host: JsonValue<'_>, saved: &mut Saved) {
    let text = |key| host.at(key).text();
    let origin = &mut saved.origin;
    let (name, boot) = (text("name"), text("boot_id"));
    origin.name = Text::from_bytes(if name.is_empty() { boot.as_bytes() } else { name.as_bytes() });
    origin.cpu = Text::from_bytes(text("cpu_model").as_bytes());
    origin.boot = Text::from_bytes(boot.as_bytes());
    saved.conditions.set("host", &name);
    for (key, label) in host.at("labels").members() {
        if label.string().is_some() {
            let label = format!("{SEPARATOR}label {}={:.96}", escaped::<40>(key.as_bytes()), label.text());
            // It is appended completely or not at all.
            let _ = origin.labels.write_str(&label);
        }
    }
}

/// Reads a level of trust.
pub(super) fn level(level: JsonValue<'_>, trust: &mut Trust) {
    if let Some(word) = level.string() {
        match ["poor", "fair", "good"].into_iter().find(|known| word == *known) {
            Some(known) => trust.said = known,
            None => level.refuse("trust level is none of good, fair, poor"),
        }
    }
}

/// Reads the trust that the document states, the severities of its warnings, and the values by which it is judged again.
pub(super) fn trust(document: JsonValue<'_>, trust: &mut Trust) {
    let said = document.at("trust");
    level(said.at("level"), trust);
    for reason in said.at("reasons").items() {
        trust.add(&reason.text(), None);
    }
    trust.omitted = said.at("omitted").number().is_some_and(|count| count > 0.0);
    for warning in document.at("warnings").objects() {
        // A note is not a reason for distrust.
        if let Some(severity) = warning.at("severity").string().filter(|severity| *severity != "note") {
            trust.add(&warning.at("code").text(), Some(severity == "poor"));
        }
    }
    trust.repeat = document.at("health").at("repeat").at("ratio").number();
    let conditions = document.at("conditions");
    for object in core::iter::once(conditions).chain(conditions.at("cpus").objects()) {
        let share = object.at("other_processes_share").number();
        trust.other_work = share.map(|share| trust.other_work.unwrap_or(0.0).max(share)).or(trust.other_work);
    }
}

/// Reads the nodes of the host.
pub(super) fn nodes(nodes: JsonValue<'_>, saved: &mut Saved) {
    let Saved { origin, facts, .. } = saved;
    for node in nodes.objects() {
        origin.nodes += 1;
        if let Some(cache) = node.member("memory_side_cache") {
            origin.side_cache = Some(origin.side_cache == Some(true) || !cache.is_null());
        }
        let list = node.at("cpus").string().and_then(Str::unescaped);
        let cpus = list.and_then(|list| CpuSet::parse_kernel(list.as_bytes()).ok());
        if let Some(cpus) = cpus.filter(|cpus| !cpus.is_empty()) {
            facts.count(Fact::Nodes, 1.0);
            facts.count(Fact::Cpus, cpus.len().real());
        }
    }
}
