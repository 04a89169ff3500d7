//! Single hops, written down: percentiles, histogram, and what stands beside them.

mod bars;
mod csv;
mod json;
mod text;

pub use csv::csv;
pub use json::json;
pub use text::text;

use core::fmt::{self, Write};

use super::Report;
use crate::report::svg;
use crate::result::distribution::Distribution;
use crate::result::Outcome;

/// Draws the histogram of the first point that has one.
///
/// # Errors
///
/// Those of `out`.
pub fn svg(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    let first = points(report).find_map(|(outcome, found)| Some((outcome, found?)));
    first.map_or(Ok(()), |(outcome, found)| {
        bars::chart(&outcome.point, found, |chart| svg::write_chart(out, chart))
    })
}

/// The points, each with its single hops.
fn points<'r, 'a>(
    report: &Report<'r, 'a>,
) -> impl Iterator<Item = (&'r Outcome<'a>, Option<&'r Distribution>)> {
    let distributions = report.distributions;
    report.outcomes.iter().enumerate().map(move |(index, outcome)| {
        let known =
            distributions.get(index).filter(|found| outcome.result.is_ok() && found.windows.total() > 0);
        (outcome, known)
    })
}
