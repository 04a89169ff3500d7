//! The likely cause of the difference, for people and programs.

use latency_core::Text;

use super::view::{self, Differs, TRUST};
use crate::analysis::cause::{CauseEvidence, LikelyCause, SavedFacts, find, of_matrix};
use crate::analysis::comparison::{Comparison, Files};
use crate::record::members::CPU_BRAND;
use crate::saved::Saved;
use crate::saved::alike::{PLACE_OF_NODES, TABLE};
use crate::saved::conditions::{EMULATED, PLATFORM};
use latency_report::Shown;
use latency_report::chart::vector;
use latency_report::document::{fields, members};

fields! {
    LIKELY "likely_cause" "Likely cause of the difference; null if the results do not have the signature of exactly one cause.";
}

/// Returns the rows of the files of two sides.
pub fn rows([first, second]: [&[Saved]; 2]) -> Files<'static> {
    Files { rows: vector(first.iter().chain(second).map(|saved| saved.rows)), ours: first.len() }
}

/// The conditions that forbid a verdict and permit a cause: another number of nodes is a cause itself, and of an
/// unreliable result only the reliable parts are used.
const PERMITTED: [&str; 2] = [TABLE[PLACE_OF_NODES].key.0, TRUST];
/// The platform on which others use the same memory.
const VIRTUAL: &str = "virtual machine";

/// Returns the likely cause of the difference between two sides.
pub fn of(
    sides: [&[Saved]; 2],
    experiment: &str,
    comparison: &Comparison<'_>,
    differs: &[Differs],
) -> Option<LikelyCause> {
    // Another processor explains every difference.
    let forbids = |differs: &Differs| {
        differs.what == CPU_BRAND.key || differs.blocks && !PERMITTED.contains(&differs.what)
    };
    if differs.iter().any(forbids) {
        return None;
    }
    let facts = sides.map(|side| SavedFacts::of_runs(&mut side.iter().map(|saved| &saved.facts)));
    let is_poor = facts.iter().any(|facts| facts.poor_matrix);
    let matrix = |local| of_matrix(comparison.pairs(), experiment, local).filter(|_| !is_poor);
    let is_shared = |saved: &Saved| match saved.conditions.texts.get(PLATFORM).map(Text::as_str) {
        Some(VIRTUAL) => true,
        // An emulated machine has no neighbours in its memory.
        Some(EMULATED) => false,
        _ => saved.facts.disturbed,
    };
    find(&CauseEvidence {
        matrix: [true, false].map(matrix),
        runs: sides[0].len().min(sides[1].len()),
        is_shared: sides.into_iter().flatten().any(is_shared),
        sides: facts,
    })
}

/// Returns the likely cause of the difference between two sides of any results.
pub fn between(sides: [&[Saved]; 2]) -> Option<LikelyCause> {
    let first = sides[0].first()?;
    let comparison = Comparison::new(&rows(sides), 0.0);
    let differs_from_first = |saved: &Saved| saved.experiment != first.experiment;
    if comparison.pairs().is_empty() || sides.into_iter().flatten().any(differs_from_first) {
        return None;
    }
    let differs = view::differing(sides, &comparison);
    of(sides, first.experiment.as_str(), &comparison, &differs)
}

/// States the likely cause.
pub fn answer(document: &mut Shown, cause: Option<&LikelyCause>) {
    if let Some(cause) = cause {
        document.finding(format_args!("{cause}."));
    }
}

/// Describes the likely cause for programs.
pub fn programs(document: &mut Shown, cause: Option<&LikelyCause>) {
    document.object(&LIKELY, cause, of_programs);
}

/// Describes the members of a likely cause for programs.
pub fn of_programs(document: &mut Shown, cause: &LikelyCause) {
    members! { document;
        "name": cause.name() => "`node-count`, `core-clock`, `memory`, `small-pages`, `translation`, `nested-pages`, `remote`, `channel`, `prefetchers`, `tail` or `sibling`.";
        "text" shown: *cause => "Cause, evidence and a check, in words.";
    }
}
