//! The nine ways side by side: one table, a row for each, two columns for each working set.

use core::fmt::{self, Write};

use latency_core::decimal::Decimal;
use latency_core::kernel::variants::VARIANTS;
use latency_core::text::Text;

use super::{csv as columns, facts, json as documents, Report};
use crate::options::Choice;
use crate::report::figures::Figure;
use crate::result::Outcome;

/// The width of a column.
const WIDTH: usize = 16;

/// The points of one variant, by size.
fn rows<'r, 'a>(report: &Report<'r, 'a>) -> impl Iterator<Item = (&'static str, &'r [Outcome<'a>])> {
    let sizes = (report.outcomes.len() / VARIANTS.len()).max(1);
    VARIANTS.iter().map(|variant| variant.name).zip(report.outcomes.chunks(sizes))
}

/// Writes the table for people.
///
/// # Errors
///
/// Those of `out`.
pub fn text(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    write!(out, "{:<18}{:>6}", "ns (core cycles)", "pages")?;
    let (_, first) = rows(report).next().unwrap_or(("", &[]));
    for outcome in first {
        let mut size = Text::<WIDTH>::EMPTY;
        // Every size is shorter than a column.
        let _ = write!(size, "{}", outcome.point.size);
        write!(out, "{size:>WIDTH$}")?;
    }
    out.write_char('\n')?;
    for (name, row) in rows(report) {
        let obtained = row.iter().find_map(|outcome| Some(outcome.result.as_ref().ok()?.placed.pages));
        let pages = obtained.or(row.first().map(|outcome| outcome.point.pages)).unwrap_or_default();
        write!(out, "{name:<18}{:>6}", pages.word())?;
        for outcome in row {
            let mut cell = Text::<WIDTH>::EMPTY;
            // Every figure of this tool is shorter than a column.
            let _ = figures(&mut cell, outcome);
            write!(out, "{cell:>WIDTH$}")?;
        }
        out.write_char('\n')?;
    }
    for (name, row) in rows(report) {
        if let Some(Err(exclusion)) = row.first().map(|outcome| &outcome.result) {
            writeln!(out, "{name} not measured: {exclusion}")?;
        }
    }
    if report.partial {
        writeln!(out, "partial: interrupted before all points were measured to the end")?;
    }
    if report.options.quiet {
        return Ok(());
    }
    writeln!(out, "\nColumns are working sets: within L1, within L2, within L3 and in memory.")?;
    for variant in &VARIANTS {
        writeln!(out, "{:<18}{}", variant.name, variant.summary)?;
    }
    writeln!(
        out,
        "\nChain:      random order, seed {}; latency per dependent load, page walks included",
        report.options.seed
    )?;
    facts::memory(out, report)?;
    facts::ending(out, report)
}

fn figures(out: &mut dyn Write, outcome: &Outcome<'_>) -> fmt::Result {
    let Ok(measured) = &outcome.result else { return out.write_str("-") };
    write!(out, "{}", Figure(measured.series.nanoseconds.median))?;
    match measured.series.core_cycles.map(|cycles| cycles.median) {
        Some(cycles) if cycles < 100.0 => write!(out, " ({:.2})", Decimal(cycles)),
        Some(cycles) => write!(out, " ({})", Figure(cycles)),
        None => Ok(()),
    }
}

/// Writes the document.
///
/// # Errors
///
/// Those of `out`.
pub fn json(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    let sizes = (report.outcomes.len() / VARIANTS.len()).max(1);
    documents::points(
        out,
        report,
        &|json, index| {
            let name = VARIANTS.get(index / sizes).map_or("", |variant| variant.name);
            json.key("variant")?.string(name)
        },
        &|_| Ok(()),
    )
}

/// Writes a row for each point, with the name of its variant first.
///
/// # Errors
///
/// Those of `out`.
pub fn csv(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    let sizes = (report.outcomes.len() / VARIANTS.len()).max(1);
    columns::table(out, report, "variant,", &|out, index, _| {
        write!(out, "{},", VARIANTS.get(index / sizes).map_or("", |variant| variant.name))
    })
}
