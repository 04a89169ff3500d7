//! The order of the answer and of the lines that scripts search for, and the words for an answer that is not proven.

use core::fmt;

use super::report::{Present, Report};
use super::trust;
use crate::report::document::{Document, Role};

/// The sentences of an answer, on their way to a document.
struct Answer<'d> {
    /// The receiver; `None` to count lines only.
    document: Option<&'d mut dyn Document>,
    /// True for lines only, false for other sentences only, `None` for both.
    of_lines: Option<bool>,
    /// True if the next sentence has to say that the result is not proven.
    unproven: bool,
    /// The number of lines so far.
    lines: u32,
}

impl Document for Answer<'_> {
    fn sentence(&mut self, role: Role, words: fmt::Arguments<'_>) {
        let is_line = role == Role::Line;
        self.lines += u32::from(is_line);
        let Some(document) = &mut self.document else { return };
        if self.of_lines.is_some_and(|wanted| wanted != is_line) {
            return;
        }
        let concludes = matches!(role, Role::Answer | Role::Finding);
        match concludes && core::mem::take(&mut self.unproven) {
            true => document.sentence(role, format_args!("Inconclusive: {words}")),
            false => document.sentence(role, words),
        }
    }
}

/// Returns the number of lines that scripts search for.
pub fn lines(report: &Report<'_, '_>, answer: Present) -> u32 {
    let mut counted = Answer { document: None, of_lines: None, unproven: false, lines: 0 };
    answer(&mut counted, report);
    counted.lines
}

/// Writes the lines, the other sentences, or both. The first conclusion of an unreliable result begins with
/// "Inconclusive".
pub fn sentences(
    document: &mut dyn Document,
    report: &Report<'_, '_>,
    answer: Present,
    of_lines: Option<bool>,
) {
    let unproven = trust::is_poor(report.warnings);
    answer(&mut Answer { document: Some(document), of_lines, unproven, lines: 0 }, report);
}
