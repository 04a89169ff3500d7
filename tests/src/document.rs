//! Reads the tool's results: members of a JSON document, lines of text.
//!
//! It uses only the documented structure of a result.

use crate::program::workspace;
use serde_json::{Value, json};

/// Stored documents of experiments on one machine, or on several.
const PARTS: [&str; 8] = [
    "matrix",
    "curve-one-size",
    "pages-few-sizes",
    "residency-kept",
    "bandwidth-in-cache",
    "parallel-few",
    "distribution",
    "cores-list",
];

/// Returns a report with a section for each of some experiments, as stored by `make golden`.
///
/// # Panics
///
/// If a file cannot be read.
pub fn stored_report() -> Value {
    let section = |name: &str| -> Value {
        let path = workspace().join("tests/golden").join(name).with_extension("json");
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let sections: Vec<Value> = PARTS.into_iter().map(section).collect();
    let of_first = |key: &str| sections[0][key].clone();
    json!({
        "schema": of_first("schema"), "experiment": "report", "started": of_first("started"), "partial": false,
        "host": of_first("host"), "not_measured": [], "sections": sections,
    })
}

/// Returns a member of a JSON value by its path, such as `/node_pairs/0/ns`.
///
/// # Panics
///
/// If it is missing, with the whole value.
pub fn at<'a>(document: &'a Value, path: &str) -> &'a Value {
    document.pointer(path).unwrap_or_else(|| panic!("no {path} in\n{document:#}"))
}

/// Returns a member that is a whole number.
///
/// # Panics
///
/// If it is missing, with the whole value.
pub fn number(document: &Value, path: &str) -> u64 {
    at(document, path).as_u64().unwrap_or_else(|| panic!("{path} is not a whole number in\n{document:#}"))
}

/// Returns a member that is a number.
///
/// # Panics
///
/// If it is missing, with the whole value.
pub fn decimal(document: &Value, path: &str) -> f64 {
    at(document, path).as_f64().unwrap_or_else(|| panic!("{path} is not a number in\n{document:#}"))
}

/// Returns a member that is a text.
///
/// # Panics
///
/// If it is missing, with the whole value.
pub fn text<'a>(document: &'a Value, path: &str) -> &'a str {
    at(document, path).as_str().unwrap_or_else(|| panic!("{path} is not a text in\n{document:#}"))
}

/// Returns a member that is an array.
///
/// # Panics
///
/// If it is missing, with the whole value.
pub fn array<'a>(document: &'a Value, path: &str) -> &'a [Value] {
    at(document, path).as_array().unwrap_or_else(|| panic!("{path} is not an array in\n{document:#}"))
}

/// Returns the pairs of a matrix, in the order of the document.
pub fn pairs(document: &Value) -> Vec<(u64, u64)> {
    array(document, "/node_pairs").iter().map(|pair| (number(pair, "/from"), number(pair, "/to"))).collect()
}

/// Returns the points of a document: its rows but for percentiles, each with the evidence for it as further members.
pub fn points(document: &Value) -> Vec<Value> {
    let mut rows = array(document, "/rows").to_vec();
    for evidence in document["points"].as_array().into_iter().flatten() {
        let row = rows[number(evidence, "/row") as usize].as_object_mut().expect("a row is an object");
        row.extend(evidence.as_object().expect("evidence is an object").clone());
    }
    rows.retain(|row| row.get("percentile").is_none_or(Value::is_null));
    rows
}

/// Returns a point of a document.
pub fn point(document: &Value, index: usize) -> Value {
    points(document).swap_remove(index)
}

/// Returns the codes of a document's warnings.
pub fn warnings(document: &Value) -> Vec<&str> {
    array(document, "/warnings").iter().map(|warning| text(warning, "/code")).collect()
}

/// Returns true if `line` describes one pair: `Node 0 -> Node 1: 395 cycles (132 ns)`.
pub fn is_pair_line(line: &str, from: u64, to: u64) -> bool {
    let is_number = |text: &str| {
        let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        plain && text.parse::<f64>().is_ok_and(|value| value > 0.0)
    };
    line.strip_prefix(&format!("Node {from} -> Node {to}: "))
        .and_then(|rest| rest.strip_suffix(" ns)"))
        .and_then(|rest| rest.split_once(" cycles ("))
        .is_some_and(|(cycles, ns)| is_number(cycles) && is_number(ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_pair_line_is_recognised() {
        assert!(is_pair_line("Node 0 -> Node 1: 395 cycles (132 ns)", 0, 1));
        assert!(is_pair_line("Node 2 -> Node 0: 4.01 cycles (1.08 ns)", 2, 0));
        for line in [
            "Node 0 -> Node 1: 395 cycles (132 ns) ",
            "Node 1 -> Node 0: 395 cycles (132 ns)",
            "Node 0 -> Node 1: ? cycles (132 ns)",
            "Node 0 -> Node 1: 395 cycles (inf ns)",
            "Node 0 -> Node 1: 0 cycles (0 ns)",
        ] {
            assert!(!is_pair_line(line, 0, 1), "{line}");
        }
    }
}
