//! The points that have single loads: they were measured, and had at least one window.

use latency_core::compact::Compact;

use crate::describe::Report;
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
    Compact((0..report.outcomes.len()).filter_map(move |index| at(&report, index)))
}
