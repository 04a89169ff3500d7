//! A validator for the part of JSON Schema that the tool's own schema uses.
//!
//! An unknown keyword is an error of the schema, so that no part of it is silently ignored.
//!
//! # References
//!
//! JSON Schema, draft 2020-12: "Core" section 10 (applicators), "Validation" section 6.

use crate::program::workspace;
use serde_json::{Map, Value};
use std::sync::OnceLock;

/// Keywords without an effect on validity.
const ANNOTATIONS: [&str; 6] = ["$schema", "$id", "$defs", "title", "description", "$comment"];

/// Returns the schema of the tool's documents, read once.
///
/// # Panics
///
/// If it cannot be read.
pub fn of_results() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let path = workspace().join("tests/schema/latency-bench.schema.json");
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    })
}

/// Asserts that the schema of the tool's documents allows this one.
///
/// # Panics
///
/// If it does not, with all violations.
pub fn assert_valid(document: &Value) {
    let found = violations(of_results(), document);
    assert!(found.is_empty(), "{}\n{document:#}", found.join("\n"));
}

/// Returns all violations of `schema` in `document`, each with its place in the document.
pub fn violations(schema: &Value, document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    Validator { root: schema }.check(schema, document, "", &mut found);
    found
}

struct Validator<'s> {
    root: &'s Value,
}

impl Validator<'_> {
    fn check(&self, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
        match schema {
            Value::Bool(true) => {}
            Value::Object(keywords) => {
                for keyword in keywords {
                    self.keyword(keywords, keyword, value, path, found);
                }
            }
            other => found.push(format!("{path}: the schema {other} allows nothing")),
        }
    }

    /// Checks `value` against one keyword of a schema and its rule.
    fn keyword(
        &self,
        keywords: &Map<String, Value>,
        (keyword, rule): (&String, &Value),
        value: &Value,
        path: &str,
        found: &mut Vec<String>,
    ) {
        let mut broken = |is_broken: bool, what: &str| {
            if is_broken {
                found.push(format!("{path}: {value} {what} {rule}"));
            }
        };
        let above = |holds: fn(f64, f64) -> bool| {
            value.as_f64().zip(rule.as_f64()).is_none_or(|(value, bound)| holds(value, bound))
        };
        let length = value.as_array().map(|items| items.len() as u64).zip(rule.as_u64());
        match (keyword.as_str(), rule) {
            ("type", Value::String(_) | Value::Array(_)) => {
                broken(!is_of_type(value, rule), "is not of type")
            }
            ("enum", Value::Array(allowed)) => broken(!allowed.contains(value), "is none of"),
            ("const", rule) => broken(value != rule, "is not"),
            ("minimum", Value::Number(_)) => broken(!above(|value, bound| value >= bound), "is below"),
            ("exclusiveMinimum", Value::Number(_)) => {
                broken(!above(|value, bound| value > bound), "is not above");
            }
            ("minItems", Value::Number(_)) => {
                broken(length.is_some_and(|(length, least)| length < least), "has fewer items than");
            }
            ("maxItems", Value::Number(_)) => {
                broken(length.is_some_and(|(length, most)| length > most), "has more items than");
            }
            ("items", rule) => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    self.check(rule, item, &format!("{path}/{index}"), found);
                }
            }
            ("required", Value::Array(names)) => {
                let missing =
                    |name: &&str| value.as_object().is_some_and(|object| !object.contains_key(*name));
                let names = names.iter().filter_map(Value::as_str).filter(missing);
                found.extend(names.map(|name| format!("{path}: {name} is missing")));
            }
            ("properties", Value::Object(rules)) => {
                for (name, rule) in rules {
                    if let Some(member) = value.get(name) {
                        self.check(rule, member, &format!("{path}/{name}"), found);
                    }
                }
            }
            ("additionalProperties", Value::Bool(false)) => {
                let known = keywords.get("properties").and_then(Value::as_object);
                let names = value.as_object().into_iter().flat_map(Map::keys);
                let strange = names.filter(|name| !known.is_some_and(|known| known.contains_key(*name)));
                found.extend(strange.map(|name| format!("{path}: {name} is not in the schema")));
            }
            ("additionalProperties", rule @ Value::Object(_)) => {
                let known = keywords.get("properties").and_then(Value::as_object);
                for (name, member) in value.as_object().into_iter().flatten() {
                    if !known.is_some_and(|known| known.contains_key(name)) {
                        self.check(rule, member, &format!("{path}/{name}"), found);
                    }
                }
            }
            ("anyOf", Value::Array(rules)) => {
                let reasons = rules.iter().map(|rule| {
                    let mut reasons = Vec::new();
                    self.check(rule, value, path, &mut reasons);
                    reasons
                });
                // Choose the alternative for the same experiment, otherwise the closest one.
                let other = format!("{path}/experiment:");
                let is_other = |reasons: &[String]| reasons.iter().any(|reason| reason.starts_with(&other));
                let nearest = reasons.min_by_key(|reasons| (is_other(reasons), reasons.len()));
                let nearest = nearest.unwrap_or_default();
                if !nearest.is_empty() || rules.is_empty() {
                    found.push(format!("{path}: none of {} alternatives holds: {nearest:#?}", rules.len()));
                }
            }
            ("$ref", Value::String(reference)) => {
                match reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)) {
                    Some(schema) => self.check(schema, value, path, found),
                    None => found.push(format!("{path}: the schema has no {reference}")),
                }
            }
            (keyword, _) if ANNOTATIONS.contains(&keyword) => {}
            (keyword, rule) => found.push(format!("{path}: this validator has no {keyword}: {rule}")),
        }
    }
}

/// Returns true if the value is of one of the types that `rule` names.
fn is_of_type(value: &Value, rule: &Value) -> bool {
    match rule {
        Value::Array(types) => types.iter().any(|rule| is_of_type(value, rule)),
        Value::String(name) => match name.as_str() {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "number" => value.is_number(),
            "integer" => value.is_u64() || value.is_i64(),
            _ => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(schema: Value, document: Value) -> Vec<String> {
        violations(&schema, &document)
    }

    #[test]
    fn each_keyword_accepts_and_refuses() {
        for (schema, good, bad) in [
            (json!({"type": "integer"}), json!(3), json!(3.5)),
            (json!({"type": ["number", "null"]}), json!(null), json!("3")),
            (json!({"enum": ["a", 1]}), json!("a"), json!("b")),
            (json!({"const": 1}), json!(1), json!(2)),
            (json!({"minimum": 0}), json!(0), json!(-1)),
            (json!({"exclusiveMinimum": 0}), json!(0.1), json!(0)),
            (json!({"minItems": 2, "maxItems": 2}), json!([1, 2]), json!([1])),
            (json!({"maxItems": 1}), json!([1]), json!([1, 2])),
            (json!({"items": {"type": "string"}}), json!(["a"]), json!(["a", 1])),
            (json!({"required": ["a"]}), json!({"a": 1}), json!({"b": 1})),
            (json!({"properties": {"a": {"type": "null"}}}), json!({"b": 1}), json!({"a": 1})),
            (
                json!({"properties": {"a": true}, "additionalProperties": false}),
                json!({"a": 1}),
                json!({"a": 1, "b": 2}),
            ),
            (json!({"additionalProperties": {"type": "string"}}), json!({"a": "1"}), json!({"a": 1})),
            (json!({"anyOf": [{"const": 1}, {"const": 2}]}), json!(2), json!(3)),
            (json!({"$ref": "#/$defs/size", "$defs": {"size": {"type": "integer"}}}), json!(1), json!("1")),
        ] {
            assert_eq!(found(schema.clone(), good.clone()), [""; 0], "{schema} {good}");
            assert_eq!(found(schema.clone(), bad.clone()).len(), 1, "{schema} {bad}");
        }
    }

    #[test]
    fn violations_are_reported_with_their_place() {
        let schema = json!({"properties": {"a": {"items": {"type": "string"}}}});
        assert_eq!(found(schema, json!({"a": ["x", 1]})), ["/a/1: 1 is not of type \"string\""]);
    }

    #[test]
    fn an_unknown_keyword_is_an_error() {
        for schema in [
            json!({"pattern": "^a"}),
            json!({"type": "float"}),
            json!({"$ref": "#/$defs/missing"}),
            json!({"additionalProperties": 1}),
        ] {
            assert_eq!(found(schema.clone(), json!({})).len(), 1, "{schema}");
        }
    }
}
