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
use latency_report::document::fields;

fields! {
    LIKELY "likely_cause" "Likely cause of the difference; null if the results do not have the signature of exactly one cause.";
    NAME "name" "`node-count`, `core-clock`, `memory`, `small-pages`, `translation`, `nested-pages`, `remote`, `channel`, `prefetchers`, `tail` or `sibling`.";
    TEXT "text" "Cause, evidence and a check, in words.";
}

/// Returns the rows of files; the first `ours` are of the first side.
pub fn rows(all: &[Saved], ours: usize) -> Files<'static> {
    Files { rows: all.iter().map(|saved| saved.rows).collect(), ours }
}

/// The conditions that forbid a verdict and permit a cause: another number of nodes is a cause itself, and of an
/// unreliable result only the reliable parts are used.
const PERMITTED: [&str; 2] = [TABLE[PLACE_OF_NODES].key.0, TRUST];
/// The platform on which others use the same memory.
const VIRTUAL: &str = "virtual machine";

/// Returns the likely cause of the difference between two sides: the first `ours` results and the others.
pub fn of(
    all: &[Saved],
    ours: usize,
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
    let sides: [&[Saved]; 2] = all.split_at(ours).into();
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
        runs: ours.min(all.len() - ours),
        is_shared: all.iter().any(is_shared),
        sides: facts,
    })
}

/// Returns the likely cause of the difference between the first `ours` results and the others.
pub fn between(all: &[Saved], ours: usize) -> Option<LikelyCause> {
    let first = all.first()?;
    let comparison = Comparison::new(&rows(all, ours), 0.0);
    if comparison.pairs().is_empty() || all.iter().any(|saved| saved.experiment != first.experiment) {
        return None;
    }
    let differs = view::differing(all, ours, &comparison);
    of(all, ours, first.experiment.as_str(), &comparison, &differs)
}

/// States the likely cause.
pub fn answer(document: &mut Shown, cause: Option<&LikelyCause>) {
    if let Some(cause) = cause {
        document.finding(format_args!("{cause}."));
    }
}

/// Describes the likely cause for programs.
pub fn programs(document: &mut Shown, cause: Option<&LikelyCause>) {
    document.object(&LIKELY, cause, |document, cause| {
        of_programs(document, cause);
    });
}

/// Describes the members of a likely cause for programs.
pub fn of_programs(document: &mut Shown, cause: &LikelyCause) {
    document.put(&NAME, cause.name());
    document.show(&TEXT, cause);
}
