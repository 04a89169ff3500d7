//! The shape of a document: its schema, the program that wrote it, and the experiments of a saved report, each a
//! document within the document of the report.

use alloc::string::String;

use latency_core::json::Event;

use crate::error::Problem;
use crate::record::members::{self, SECTIONS_OF, TOOL, TOOL_NAME, VERSION};
use latency_report::escape::escaped;
use latency_report::tree::JsonValue;

/// Version of the schema of written documents, and the only version that can be read.
pub const SCHEMA: u32 = 2;

/// The defect of a result of schema 1, which has other names.
pub const OF_SCHEMA_1: &str =
    "schema 1 has other names and is no longer read; measure again with this version";

/// The name of the program in its documents.
pub const NAME: &str = "latency-bench";

/// Refuses another schema than [`SCHEMA`], or one that is not a number, and a document of another program.
pub fn check(document: JsonValue<'_>) {
    let tool = document.at(TOOL.key);
    if let Some(name) = tool.member(TOOL_NAME.key).filter(|name| name.string().is_none_or(|own| own != NAME))
    {
        name.refuse("not a document of latency-bench");
    }
    let Some(schema) = document.member(members::SCHEMA.key) else { return };
    match schema.event() {
        Event::Number(number) if number > f64::from(SCHEMA) => {
            let version = tool.at(VERSION.key).string().map_or(String::new(), |own| escaped(own.chars()));
            let remedy = if version.is_empty() { "" } else { "; use latency-bench " };
            let end = if version.is_empty() { "" } else { " or later" };
            let what = format!("schema is newer than this version reads{remedy}{version:.24}{end}");
            schema.refuse_as(|| Problem::new(1, what.leak()));
        }
        Event::Number(number) if number < f64::from(SCHEMA) => schema.refuse(OF_SCHEMA_1),
        Event::Number(_) => {}
        _ => schema.refuse("schema is not a number"),
    }
}

/// The word for a report, where other documents have the name of an experiment.
pub const REPORT: &str = "report";

/// The word for saved points.
pub const SHOW: &str = "show";

/// Returns whether a document with this name of an experiment contains other documents.
pub fn has_sections(experiment: &str) -> bool {
    experiment == REPORT
}

/// Returns the document of every experiment of a report.
pub fn sections_of(report: JsonValue<'_>) -> impl Iterator<Item = JsonValue<'_>> {
    report.at(SECTIONS_OF.key).objects()
}
