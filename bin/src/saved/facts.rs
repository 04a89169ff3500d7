//! The facts of a document from which the cause of a difference is read.

use latency_core::cpulist::CpuSet;
use latency_core::json::{Event, Reader, Str};
use latency_core::math::ToReal;

use super::rows::Draft;
use super::values::{Fault, rest};
use crate::analysis::cause::{CACHES, Fact, SavedFacts};

/// Reads a member that may be a fact: only numbers and flags are.
pub(super) fn fact(
    reader: &mut Reader<'_>,
    draft: &mut Draft<'_>,
    object: &str,
    key: &str,
) -> Result<(), Fault> {
    if draft.of_hosts {
        return Ok(reader.skip_value()?);
    }
    let value = match reader.clone().next_event()? {
        Event::Number(number) => number,
        // A property that applies halves its fact.
        Event::Bool(true) => 0.5,
        Event::Bool(false) => 1.0,
        _ => f64::NAN,
    };
    if value.is_finite() {
        draft.saved.facts.set(object, key, value);
    }
    Ok(reader.skip_value()?)
}

/// Reads the next cache of a curve, after the start of its object.
pub(super) fn level(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let next = CACHES.iter().find(|(_, fact)| draft.saved.facts.get(*fact).is_none());
    let name = next.map_or("", |(name, _)| name);
    rest(reader, &mut |reader, key| fact(reader, draft, name, key))
}

/// Counts the CPUs of a node.
pub(super) fn cpus(facts: &mut SavedFacts, list: Str<'_>) {
    let set = list.unescaped().and_then(|list| CpuSet::parse_kernel(list.as_bytes()).ok());
    if let Some(set) = set.filter(|set| !set.is_empty()) {
        facts.count(Fact::Nodes, 1.0);
        facts.count(Fact::Cpus, set.len().real());
    }
}
