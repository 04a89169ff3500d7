//! One header, one row a point, plain numbers under the names of the JSON keys.

use core::fmt::{self, Write};
use latency_core::decimal::Decimal;

use super::{counters, Report};
use crate::options::Choice;
use crate::result::words::OrderName;
use crate::result::{Measurement, Outcome, Point};

/// The columns of a point.
pub(super) const COLUMNS: &str =
    "from,to,cycles,ns,core_cycles,ci95_low_ns,ci95_high_ns,min_ns,mad_ns,trials,rounds,hops_per_trial,\
     disturbed_trials,core_ghz,working_set_bytes,stride_bytes,order,kernel,pages_asked,pages_obtained,verified,seed";

/// Writes points that differ in nothing but what every point has.
///
/// # Errors
///
/// Those of `out`.
pub fn matrix(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    table(out, report, "", &|_, _, _| Ok(()))
}

/// Writes the points, a row each: `cells` under `names`, then the columns of every point.
pub(super) fn table(
    out: &mut dyn Write,
    report: &Report<'_, '_>,
    names: &str,
    cells: &dyn Fn(&mut dyn Write, usize, &Outcome<'_>) -> fmt::Result,
) -> fmt::Result {
    write!(out, "{names}{COLUMNS}")?;
    if report.options.counters {
        counters::csv_names(out)?;
    }
    out.write_char('\n')?;
    for (index, outcome) in report.outcomes.iter().enumerate() {
        cells(out, index, outcome)?;
        row(out, report, outcome)?;
        if report.options.counters {
            counters::csv(out, outcome.result.as_ref().ok().map(|measured| &measured.series))?;
        }
        out.write_char('\n')?;
    }
    Ok(())
}

/// Writes the row of a point.
pub(super) fn row(out: &mut dyn Write, report: &Report<'_, '_>, outcome: &Outcome<'_>) -> fmt::Result {
    let Point { initiator, target, size, stride, pages, seed, order, kernel, .. } = outcome.point;
    let order = OrderName(order);
    let kernel = kernel.name;
    write!(out, "{initiator},{target},")?;
    match &outcome.result {
        Ok(measured) => {
            let Measurement { series, placed, .. } = measured;
            let nanoseconds = series.nanoseconds.median;
            number(out, report.clock.ticks(nanoseconds))?;
            number(out, Some(nanoseconds))?;
            number(out, series.core_cycles.map(|cycles| cycles.median))?;
            number(out, series.nanoseconds.interval.map(|interval| interval.low))?;
            number(out, series.nanoseconds.interval.map(|interval| interval.high))?;
            number(out, Some(series.minimum_ns))?;
            number(out, Some(series.nanoseconds.mad))?;
            write!(out, "{},{},{},{},", series.batches, measured.rounds, measured.hops, series.disturbed)?;
            number(out, series.core_gigahertz.map(|clock| clock.median))?;
            write!(out, "{},{},{order},{kernel},{},", size.0, stride.0, pages.word())?;
            write!(out, "{},{},{seed}", placed.pages.word(), placed.is_verified(target))
        }
        Err(_) => {
            write!(out, ",,,,,,,,,,,,{},{},{order},{kernel},{},,,{seed}", size.0, stride.0, pages.word())
        }
    }
}

/// A number and the comma after it; nothing but the comma where there is none.
pub(super) fn number(out: &mut dyn Write, value: Option<f64>) -> fmt::Result {
    match value {
        Some(value) if value.is_finite() => write!(out, "{value:.3},", value = Decimal(value)),
        _ => out.write_str(","),
    }
}
