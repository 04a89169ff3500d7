//! Everything as one JSON object. Its schema is in `tests/schema`.

mod header;
mod model;
mod point;
pub mod value;

use core::fmt::{self, Write};

use latency_core::json::{Layout, Writer};

pub(super) use header::header;

use self::value::{optional, Json, DECIMALS};
use super::curve::view::View;
use super::Report;

/// Writes the matrix.
///
/// # Errors
///
/// Those of `out`.
pub fn matrix(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    let mut json = Writer::new(out, Layout::Lines);
    json.begin_object()?;
    json.key("node_pairs")?.begin_array()?;
    for outcome in report.outcomes {
        point::object(&mut json, report.clock, outcome)?;
    }
    json.end_array()?;
    let hops = report.outcomes.iter().filter_map(|outcome| Some(outcome.result.as_ref().ok()?.hops)).max();
    json.key("iters")?.u64(hops.or(report.options.iters.map(u64::from)).unwrap_or(0))?;
    json.key("seed")?.u64(report.options.seed)?;
    json.key("freq_ghz")?;
    optional(&mut json, report.clock.counter().map(|counter| counter.frequency.gigahertz()), 6)?;
    header(&mut json, report)?;
    json.end_object()?;
    json.finish()?.write_char('\n')
}

/// Writes a document of points: what every one has and what `each` has to say of it by its index, then what
/// `rest` says of them all.
///
/// # Errors
///
/// Those of `out`.
pub(super) fn points(
    out: &mut dyn Write,
    report: &Report<'_, '_>,
    each: &dyn Fn(&mut Json<'_>, usize) -> fmt::Result,
    rest: &dyn Fn(&mut Json<'_>) -> fmt::Result,
) -> fmt::Result {
    let mut json = Writer::new(out, Layout::Lines);
    json.begin_object()?;
    json.key("points")?.begin_array()?;
    for (index, outcome) in report.outcomes.iter().enumerate() {
        json.begin_object()?;
        point::members(&mut json, report.clock, outcome)?;
        each(&mut json, index)?;
        json.end_object()?;
    }
    json.end_array()?;
    rest(&mut json)?;
    json.key("seed")?.u64(report.options.seed)?;
    json.key("freq_ghz")?;
    optional(&mut json, report.clock.counter().map(|counter| counter.frequency.gigahertz()), 6)?;
    header(&mut json, report)?;
    json.end_object()?;
    json.finish()?.write_char('\n')
}

/// Writes what is known of the system, and no points.
///
/// # Errors
///
/// Those of `out`.
pub fn system(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    let mut json = Writer::new(out, Layout::Lines);
    json.begin_object()?;
    header(&mut json, report)?;
    json.end_object()?;
    json.finish()?.write_char('\n')
}

/// Writes the curve: its points, the models, and the edge of the first level.
///
/// # Errors
///
/// Those of `out`.
pub fn curve(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    let analysis = super::curve::analyse(report);
    points(out, report, &|_, _| Ok(()), &|json| {
        json.key("model")?;
        model::object(json, &analysis)?;
        json.key("l1_edge")?;
        model::edge(json, &analysis)
    })
}

/// Writes what a fit made of a saved curve.
///
/// # Errors
///
/// Those of `out`.
pub fn fit(out: &mut dyn Write, view: &View<'_>) -> fmt::Result {
    let mut json = Writer::new(out, Layout::Lines);
    json.begin_object()?;
    json.key("points")?.begin_array()?;
    for sample in view.samples {
        json.begin_object()?;
        json.key("working_set_bytes")?.u64(sample.size.0)?;
        json.key("stride_bytes")?.u64(sample.stride.0)?;
        json.key("ns")?.decimal(sample.nanoseconds, DECIMALS)?;
        json.key("core_cycles")?;
        optional(&mut json, sample.core_cycles, DECIMALS)?;
        json.end_object()?;
    }
    json.end_array()?;
    json.key("model")?;
    model::object(&mut json, view.analysis)?;
    header::tool(&mut json, "fit")?;
    json.key("source")?.string(view.subtitle)?;
    json.end_object()?;
    json.finish()?.write_char('\n')
}
