//! Every measured point as a row, for readers who want to know how sure its number is.

use core::fmt::{self, Write};

use latency_core::decimal::Decimal;

use super::{undisturbed, Report};
use crate::report::document::{Document, Level, Table};
use crate::report::figures::Digits;
use crate::result::Outcome;

/// Writes the name of a point, which is given with its index.
pub type Name<'n> = &'n dyn Fn(&mut dyn Write, usize, &Outcome<'_>) -> fmt::Result;

/// Describes every measured point under its name; `what` is the heading of the names.
pub fn table(document: &mut dyn Document, report: &Report<'_, '_>, what: &str, name: Name<'_>) {
    const HEADINGS: [&str; 7] =
        ["", "ns", "95 % within run", "undisturbed", "fastest", "core cycles", "interrupted"];
    /// The column of values without neighbours, which stands where some were looked for.
    const UNDISTURBED: usize = 3;
    let measured = || report.outcomes.iter().enumerate().filter(|(_, outcome)| outcome.result.is_ok());
    let looked = measured()
        .any(|(_, outcome)| outcome.result.as_ref().is_ok_and(|found| found.series.undisturbed.is_some()));
    let place = |column| if looked || column < UNDISTURBED { column } else { column + 1 };
    document.table(&Table {
        caption: "",
        level: Level::Verbose,
        words: 1,
        columns: HEADINGS.len() - usize::from(!looked),
        rows: measured().count(),
        heading: &|out, column| match column {
            0 => out.write_str(what),
            _ => out.write_str(HEADINGS.get(place(column)).copied().unwrap_or_default()),
        },
        cell: &|out, row, column| {
            let Some((index, outcome)) = measured().nth(row) else { return Ok(()) };
            let Ok(measured) = &outcome.result else { return Ok(()) };
            let series = &measured.series;
            match (place(column), series.nanoseconds.interval) {
                (0, _) => name(out, index, outcome),
                (1, _) => write!(out, "{}", Digits(series.nanoseconds.median)),
                (2, Some(interval)) => write!(out, "{} to {}", Digits(interval.low), Digits(interval.high)),
                (2, None) => out.write_str("too few rounds"),
                (UNDISTURBED, _) => undisturbed::cell(out, series),
                (4, _) => write!(out, "{}", Digits(series.minimum_ns)),
                (5, _) => {
                    write!(out, "{}", Digits(series.core_cycles.map_or(f64::NAN, |cycles| cycles.median)))
                }
                _ => write!(out, "{:.1} %", Decimal(series.disturbed_share() * 100.0)),
            }
        },
    });
}
