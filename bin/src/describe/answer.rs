//! The words for an answer that is not proven.

use super::report::Report;
use super::trust;
use crate::report::document::Role;
use crate::report::shown::{Shown, ShownPart};

/// Writes the answer. The first conclusion of an unreliable result begins with "Inconclusive".
pub fn sentences(document: &mut Shown, report: &Report<'_, '_>, answer: Shown) {
    let mut unproven = trust::is_poor(report.warnings);
    for entry in answer.into_entries() {
        document.push(match entry {
            ShownPart::Sentence(role @ (Role::Answer | Role::Finding), words)
                if core::mem::take(&mut unproven) =>
            {
                ShownPart::Sentence(role, format!("Inconclusive: {words}"))
            }
            entry => entry,
        });
    }
}
