//! The experiments of a saved report. Each is a document within the document of the report.

use latency_core::text::Text;

use super::tree::JsonValue;
use crate::record::members::SECTIONS_OF;

/// The word for a report, where other documents have the name of an experiment.
const REPORT: &str = "report";

/// The word for saved points.
pub const SHOW: &str = "show";

/// Returns whether a document with this name of an experiment contains other documents.
#[must_use]
pub fn are_in(experiment: &str) -> bool {
    experiment == REPORT
}

/// Returns the word for a report.
pub fn name() -> Text<32> {
    Text::of(format_args!("{REPORT}"))
}

/// Returns the document of every experiment of a report.
pub fn of(report: JsonValue<'_>) -> impl Iterator<Item = JsonValue<'_>> {
    report.at(SECTIONS_OF.key).objects()
}
