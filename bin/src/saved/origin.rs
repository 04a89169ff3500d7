//! The host of a saved result: its names and labels, its nodes, and the trust that the result states.

use core::fmt::Write;

use latency_core::json::Str;
use latency_core::{CpuSet, Text, ToReal};

use super::conditions::escaped;
use super::host::{SEPARATOR, Trust};
use super::rows::Saved;
use crate::analysis::cause::Fact;
use crate::record::members;
use latency_report::tree::JsonValue;

/// Reads the members that identify the host.
pub(super) fn host(host: JsonValue<'_>, saved: &mut Saved) {
    let text = |key| host.at(key).text();
    let origin = &mut saved.origin;
    let (name, boot) = (text(members::HOST_NAME.key), text(members::BOOT_ID.key));
    origin.name = Text::from_bytes(if name.is_empty() { boot.as_bytes() } else { name.as_bytes() });
    origin.cpu = Text::from_bytes(text(members::CPU_MODEL.key).as_bytes());
    origin.boot = Text::from_bytes(boot.as_bytes());
    saved.conditions.set(members::HOST.key, &name);
    for (key, label) in host.at(members::LABELS.key).members() {
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
    let said = document.at(members::TRUST.key);
    level(said.at(members::TRUST_LEVEL.key), trust);
    for reason in said.at(members::REASONS.key).items() {
        trust.add(&reason.text(), None);
    }
    trust.omitted = said.at(members::OMITTED.key).number().is_some_and(|count| count > 0.0);
    for warning in document.at(members::WARNINGS.key).objects() {
        // A note is not a reason for distrust.
        let severity = warning.at(members::SEVERITY.key).string();
        if let Some(severity) = severity.filter(|severity| *severity != "note") {
            trust.add(&warning.at(members::CODE.key).text(), Some(severity == "poor"));
        }
    }
    let repeat = document.at(members::HEALTH.key).at(members::REPEAT.key);
    trust.repeat = repeat.at(members::REPEAT_RATIO.key).number();
    let conditions = document.at(members::CONDITIONS.key);
    for object in core::iter::once(conditions).chain(conditions.at(members::CPUS.key).objects()) {
        let share = object.at(members::OTHER_PROCESSES.key).number();
        trust.other_work = share.map(|share| trust.other_work.unwrap_or(0.0).max(share)).or(trust.other_work);
    }
}

/// Reads the nodes of the host.
pub(super) fn nodes(nodes: JsonValue<'_>, saved: &mut Saved) {
    let Saved { origin, facts, .. } = saved;
    for node in nodes.objects() {
        origin.nodes += 1;
        if let Some(cache) = node.member(members::SIDE_CACHE.key) {
            origin.side_cache = Some(origin.side_cache == Some(true) || !cache.is_null());
        }
        let list = node.at(members::NODE_CPUS.key).string().and_then(Str::unescaped);
        let cpus = list.and_then(|list| CpuSet::parse_kernel(list.as_bytes()).ok());
        if let Some(cpus) = cpus.filter(|cpus| !cpus.is_empty()) {
            facts.count(Fact::Nodes, 1.0);
            facts.count(Fact::Cpus, cpus.len().real());
        }
    }
}
