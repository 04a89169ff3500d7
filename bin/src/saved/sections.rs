//! The experiments of a saved report. Each is a document within the document of the report.

use latency_core::json::Reader;
use latency_core::text::Text;

use super::values::{Fault, each_object, line_of, members, rest};
use crate::error::Problem;

/// The word for a report, where other documents have the name of an experiment.
const REPORT: &str = "report";

/// Returns whether a document with this name of an experiment contains other documents.
#[must_use]
pub fn are_in(experiment: &str) -> bool {
    experiment == REPORT
}

/// Returns the word for a report.
pub fn name() -> Text<32> {
    Text::of(format_args!("{REPORT}"))
}

/// Passes the document of every experiment of a report to `take`. The report was read before and is well-formed.
///
/// # Errors
///
/// The errors of `take`, with the line number in the report.
pub fn each(text: &[u8], take: &mut dyn FnMut(&[u8]) -> Result<(), Problem>) -> Result<(), Problem> {
    let mut taken = Ok(());
    let mut within = |start, end| {
        if let (Ok(()), Some(section)) = (taken, text.get(start..end)) {
            taken = take(section)
                .map_err(|problem| Problem { line: problem.line + line_of(text, start) - 1, ..problem });
        }
    };
    // A report that ends too early was refused before.
    let _ = spans(text, &mut within);
    taken
}

/// Calls `found` with the start and the end of every part.
fn spans(text: &[u8], found: &mut dyn FnMut(usize, usize)) -> Result<(), Fault> {
    members(&mut Reader::hasty(text), &mut |reader, key| match key {
        "sections" => each_object(reader, |reader| {
            let start = reader.offset() - 1;
            rest(reader, &mut |reader, _| Ok(reader.skip_value()?))?;
            found(start, reader.offset());
            Ok(())
        }),
        _ => Ok(reader.skip_value()?),
    })
}
