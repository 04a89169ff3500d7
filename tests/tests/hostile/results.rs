//! Access to the parts of a result, for every experiment.

use latency_tests::document::{array, warnings};
use serde_json::Value;

/// Returns the results in a document: the sections of a report, or the document itself.
pub fn parts(document: &Value) -> Vec<&Value> {
    match document.get("sections").and_then(Value::as_array) {
        Some(sections) => sections.iter().collect(),
        None => vec![document],
    }
}

/// Returns true if each part has a measured value and these warnings.
pub fn is_measured_with(document: &Value, codes: &[&str]) -> bool {
    let parts = parts(document);
    let measured = |part: &&Value| {
        let said = codes.iter().all(|code| warnings(part).contains(code));
        // Experiments that run side by side here may leave each level of a loaded latency no CPU time.
        let is_starved = |row: &Value| row["not_measured"] == "the load had no CPU time";
        said && array(part, "/rows").iter().any(|row| row["ns"].is_number() || is_starved(row))
    };
    !parts.is_empty() && parts.iter().all(measured)
}

/// Returns all members of this name, at any depth.
pub fn named<'d>(document: &'d Value, name: &str) -> Vec<&'d Value> {
    match document {
        Value::Object(members) => {
            let own = members.get(name).filter(|value| !value.is_null());
            own.into_iter().chain(members.values().flat_map(|value| named(value, name))).collect()
        }
        Value::Array(items) => items.iter().flat_map(|value| named(value, name)).collect(),
        _ => Vec::new(),
    }
}

/// Returns true if there is a placement, and each placement of a document is proven.
pub fn is_proven(document: &Value) -> bool {
    let verified = named(document, "verified");
    let shown = |placement: &&Value| placement.pointer("/after/source").is_none_or(|source| source != "none");
    // On a busy host, other programs may starve every level of a loaded latency.
    let is_starved = |reason: &&Value| reason.as_str().is_some_and(|reason| !reason.is_empty());
    (!verified.is_empty() || named(document, "not_measured").iter().any(is_starved))
        && verified.iter().all(|verified| **verified == true)
        && named(document, "placement").iter().all(shown)
}

/// Returns a document without the members that differ from run to run.
pub fn lasting(document: &Value, passing: &[&str]) -> Value {
    match document {
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| !passing.contains(&name.as_str()));
            Value::Object(kept.map(|(name, value)| (name.clone(), lasting(value, passing))).collect())
        }
        Value::Array(items) => items.iter().map(|value| lasting(value, passing)).collect(),
        other => other.clone(),
    }
}
