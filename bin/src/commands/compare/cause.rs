//! The likely cause of the difference, for people and programs.

use super::view::Differs;
use crate::analysis::cause::{CauseEvidence, LikelyCause, SavedFacts, find, of_matrix};
use crate::analysis::comparison::Comparison;
use crate::report::document::{Document, fields};
use crate::saved::Saved;
use crate::saved::conditions::PLATFORM;

fields! {
    LIKELY "likely_cause" "Likely cause of the difference; null if the results do not have the signature of exactly one cause.";
    NAME "name" "`node-count`, `core-clock`, `memory`, `small-pages`, `translation`, `nested-pages`, `remote`, `channel`, `prefetchers`, `tail` or `sibling`.";
    TEXT "text" "Cause, evidence and a check, in words.";
}

/// The conditions that forbid a verdict and permit a cause: another number of nodes is a cause itself, and of an
/// unreliable result only the reliable parts are used.
const PERMITTED: [&str; 2] = ["nodes", "trust"];
/// A condition that explains every difference.
const CPU: &str = "brand";
/// The platform on which others use the same memory.
const VIRTUAL: &str = "virtual machine";
/// The platform without neighbours.
const EMULATED: &str = "emulated";

/// Returns the likely cause of the difference between two sides.
#[inline(never)] // offsets into a small frame are short
pub fn of(
    sides: [&[Saved]; 2],
    experiment: &str,
    comparison: &Comparison,
    differs: &[Differs],
) -> Option<LikelyCause> {
    let forbids =
        |differs: &Differs| differs.what == CPU || differs.blocks && !PERMITTED.contains(&differs.what);
    if differs.iter().any(forbids) {
        return None;
    }
    let facts = sides.map(|side| SavedFacts::of_runs(&mut side.iter().map(|saved| &saved.facts)));
    let is_poor = facts.iter().any(|facts| facts.poor_matrix);
    let matrix = |local| of_matrix(comparison.pairs(), experiment, local).filter(|_| !is_poor);
    // A side has files of one host.
    let first = sides[0].first().and_then(|saved| saved.conditions.texts.get(PLATFORM));
    let is_on = |platform: &str| first.is_some_and(|text| text.as_str() == platform);
    find(&CauseEvidence {
        matrix: [true, false].map(matrix),
        runs: sides[0].len().min(sides[1].len()),
        // An emulated machine has no neighbours in its memory.
        is_shared: is_on(VIRTUAL) || !is_on(EMULATED) && facts.iter().any(|facts| facts.disturbed),
        sides: facts,
    })
}

/// States the likely cause.
pub fn answer(document: &mut dyn Document, cause: Option<&LikelyCause>) {
    if let Some(cause) = cause {
        document.finding(format_args!("{cause}."));
    }
}

/// Describes the likely cause for programs.
pub fn programs(document: &mut dyn Document, cause: Option<&LikelyCause>) {
    document.object(&LIKELY, cause, |document, cause| {
        document.put(&NAME, cause.name);
        document.show(&TEXT, cause);
    });
}
