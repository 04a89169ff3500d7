//! The shape of a document: its schema, and the program that wrote it.

use alloc::format;

use latency_core::json::Event;
use latency_core::text::Text;

use super::tree::JsonValue;
use crate::error::Problem;

/// Version of the schema of written documents, and the only version that can be read.
pub const SCHEMA: u32 = 2;

/// The defect of a result of schema 1, which has other names.
pub const OF_SCHEMA_1: &str =
    "schema 1 has other names and is no longer read; measure again with this version";

/// The name of the program in its documents.
pub const NAME: &str = "latency-bench";

/// Checks the shape of a document.
///
/// # Errors
///
/// Another schema than [`SCHEMA`], or one that is not a number, and a document of another program.
pub fn check(document: JsonValue<'_>) -> Result<(), Problem> {
    let tool = document.at("tool");
    if let Some(name) = tool.member("name").filter(|name| name.string().is_none_or(|own| own != NAME)) {
        return Err(name.problem("not a document of latency-bench"));
    }
    let Some(schema) = document.member("schema") else { return Ok(()) };
    match schema.event() {
        Event::Number(number) if number > f64::from(SCHEMA) => {
            let version: Text<24> = tool.at("version").text().unwrap_or_default();
            let remedy = if version.is_empty() { "" } else { "; use latency-bench " };
            let end = if version.is_empty() { "" } else { " or later" };
            let what = format!("schema is newer than this version reads{remedy}{version}{end}");
            Err(Problem::new(1, what.leak()))
        }
        Event::Number(number) if number < f64::from(SCHEMA) => Err(schema.problem(OF_SCHEMA_1)),
        Event::Number(_) => Ok(()),
        _ => Err(schema.problem("schema is not a number")),
    }
}
