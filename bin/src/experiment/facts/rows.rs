//! Every measured point as a row, for readers who want to know how sure its number is.

use core::fmt::{self, Write};

use latency_core::decimal::Decimal;

use super::Report;
use crate::report::document::{Document, Level, Table};
use crate::report::figures::Digits;
use crate::result::Outcome;

/// Writes the name of a point, which is given with its index.
pub type Name<'n> = &'n dyn Fn(&mut dyn Write, usize, &Outcome<'_>) -> fmt::Result;

/// Describes every measured point under its name; `what` is the heading of the names.
pub fn table(document: &mut dyn Document, report: &Report<'_, '_>, what: &str, name: Name<'_>) {
    const HEADINGS: [&str; 6] = ["", "ns", "95 % within run", "fastest", "core cycles", "interrupted"];
    let measured = || report.outcomes.iter().enumerate().filter(|(_, outcome)| outcome.result.is_ok());
    document.table(&Table {
        caption: "",
        level: Level::Verbose,
        words: 1,
        columns: HEADINGS.len(),
        rows: measured().count(),
        heading: &|out, column| match column {
            0 => out.write_str(what),
            _ => out.write_str(HEADINGS.get(column).copied().unwrap_or_default()),
        },
        cell: &|out, row, column| {
            let Some((index, outcome)) = measured().nth(row) else { return Ok(()) };
            let Ok(measured) = &outcome.result else { return Ok(()) };
            let series = &measured.series;
            match (column, series.nanoseconds.interval) {
                (0, _) => name(out, index, outcome),
                (1, _) => write!(out, "{}", Digits(series.nanoseconds.median)),
                (2, Some(interval)) => write!(out, "{} to {}", Digits(interval.low), Digits(interval.high)),
                (2, None) => out.write_str("too few rounds"),
                (3, _) => write!(out, "{}", Digits(series.minimum_ns)),
                (4, _) => {
                    write!(out, "{}", Digits(series.core_cycles.map_or(f64::NAN, |cycles| cycles.median)))
                }
                _ => write!(
                    out,
                    "{} of {} ({:.1} %)",
                    series.disturbed,
                    series.batches,
                    Decimal(series.disturbed_share() * 100.0)
                ),
            }
        },
    });
}
