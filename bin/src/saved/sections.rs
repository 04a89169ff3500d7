//! The experiments of a saved report: each is a document of its own within that of the whole.

use latency_core::json::Reader;

use super::rows::{Problem, line_of};
use super::values::{Fault, each_object, members, rest};

/// The name of a report, in place of an experiment's.
const REPORT: &str = "report";

/// Returns whether a document of this experiment has others within.
#[must_use]
pub fn are_in(experiment: &str) -> bool {
    experiment == REPORT
}

/// Gives `take` the document of every experiment of a report, which was read before and is well-formed.
///
/// # Errors
///
/// The errors of `take`, with the line in the whole.
pub fn each(text: &[u8], take: &mut dyn FnMut(&[u8]) -> Result<(), Problem>) -> Result<(), Problem> {
    let mut taken = Ok(());
    let mut within = |start, end| {
        if let (Ok(()), Some(section)) = (taken, text.get(start..end)) {
            taken = take(section)
                .map_err(|problem| Problem { line: problem.line + line_of(text, start) - 1, ..problem });
        }
    };
    // What ends too early was refused.
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
