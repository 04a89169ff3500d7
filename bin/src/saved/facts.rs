//! The facts of a document from which the cause of a difference is read.

use latency_core::cpulist::CpuSet;
use latency_core::json::{Event, Str};
use latency_core::math::ToReal;

use super::tree::JsonValue;
use crate::analysis::cause::{CACHES, Fact, SavedFacts};

/// Reads the members of an object that may be facts: only numbers and flags are.
pub(super) fn facts(facts: &mut SavedFacts, name: &str, object: JsonValue<'_>) {
    for (key, member) in object.members() {
        match member.event() {
            Event::Number(number) => facts.set(name, &key, number),
            // A property that applies halves its fact.
            Event::Bool(flag) => facts.set(name, &key, if flag { 0.5 } else { 1.0 }),
            _ => {}
        }
    }
}

/// Reads the next cache of a curve.
pub(super) fn level(found: &mut SavedFacts, level: JsonValue<'_>) {
    let next = CACHES.iter().find(|(_, fact)| found.get(*fact).is_none());
    facts(found, next.map_or("", |(name, _)| name), level);
}

/// Counts the CPUs of a node.
pub(super) fn cpus(facts: &mut SavedFacts, list: Str<'_>) {
    let set = list.unescaped().and_then(|list| CpuSet::parse_kernel(list.as_bytes()).ok());
    if let Some(set) = set.filter(|set| !set.is_empty()) {
        facts.count(Fact::Nodes, 1.0);
        facts.count(Fact::Cpus, set.len().real());
    }
}
