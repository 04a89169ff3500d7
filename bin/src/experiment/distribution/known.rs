//! The points whose loads were timed one by one, and their names.

use core::fmt::Display;

use crate::experiment::facts::method::optional;
use crate::experiment::facts::Report;
use crate::result::distribution::Distribution;
use crate::result::Outcome;

/// The point of this index and its single loads, if it has any.
pub fn at<'r, 'a>(report: &Report<'r, 'a>, index: usize) -> Option<(&'r Outcome<'a>, &'r Distribution)> {
    let outcome = report.outcomes.get(index).filter(|outcome| outcome.result.is_ok())?;
    let found = report.distributions.get(index).filter(|found| found.windows.total() > 0)?;
    Some((outcome, found))
}

/// The points that have single loads.
pub fn known<'r, 'a>(
    report: &Report<'r, 'a>,
) -> impl Iterator<Item = (&'r Outcome<'a>, &'r Distribution)> + Clone {
    let report = *report;
    (0..report.outcomes.len()).filter_map(move |index| at(&report, index))
}

/// The pair before a sentence, where there are several.
pub fn whose(report: &Report<'_, '_>, outcome: &Outcome<'_>) -> impl Display {
    let (from, to) = (outcome.point.initiator, outcome.point.target);
    let several = (report.outcomes.len() > 1).then_some(());
    optional(several, move |(), out| write!(out, "{from} -> {to}: "))
}
