//! What the experiments with several lanes have in common: points in JSON and CSV, and how they are headed.

use core::fmt::{self, Write};

use latency_core::decimal::Decimal;
use latency_core::text::Text;

use super::json::value::{optional, Json, DECIMALS};
use super::json::{header, pair};
use super::{csv, Report};
use crate::analysis::lanes::Region;
use crate::result::Walk;

/// Writes a point of JSON: what was walked, and what every point has.
pub(super) fn points(json: &mut Json<'_>, report: &Report<'_, '_>) -> fmt::Result {
    json.key("points")?.begin_array()?;
    for outcome in report.outcomes {
        json.begin_object()?;
        json.key("lanes")?.u64(outcome.point.walk.lanes() as u64)?;
        match outcome.point.walk {
            Walk::Chain => {}
            Walk::Lanes(kernel) => {
                json.key("work")?.u64(kernel.work() as u64)?;
                json.key("prefetch")?.bool(kernel.prefetch())?;
                json.key("instructions_per_hop")?.u64(kernel.instructions() as u64)?;
            }
            Walk::Apart(gap) => {
                json.key("filler")?.string(gap.filler().name())?;
                json.key("fillers")?.u64(gap.fillers() as u64)?;
            }
        }
        pair(json, report.clock, outcome)?;
        json.end_object()?;
    }
    json.end_array()
}

/// Writes what every document ends with.
pub(super) fn end(json: &mut Json<'_>, report: &Report<'_, '_>) -> fmt::Result {
    json.key("seed")?.u64(report.options.seed)?;
    json.key("freq_ghz")?;
    optional(json, report.clock.counter().map(|counter| counter.frequency.gigahertz()), 6)?;
    header(json, report)
}

/// Writes a key with a number of three decimals, or null.
pub(super) fn number(json: &mut Json<'_>, key: &str, value: Option<f64>) -> fmt::Result {
    json.key(key)?;
    optional(json, value, DECIMALS)
}

/// Writes the points, a row each: what was walked, then the columns of every point.
///
/// # Errors
///
/// Those of `out`.
pub fn rows(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    csv::table(out, report, "lanes,work,prefetch,filler,fillers,", &|out, _, outcome| {
        write!(out, "{},", outcome.point.walk.lanes())?;
        match outcome.point.walk {
            Walk::Chain => out.write_str(",,,,"),
            Walk::Lanes(kernel) => write!(out, "{},{},,,", kernel.work(), kernel.prefetch()),
            Walk::Apart(gap) => write!(out, ",,{},{},", gap.filler().name(), gap.fillers()),
        }
    })
}

/// The name of a region, padded by whoever writes it.
pub(super) fn region_name(region: &Region<'_, '_>) -> Text<24> {
    let mut text = Text::EMPTY;
    let bytes = region.size.0 as f64;
    // All sizes are shorter than the text.
    let _ = match region.size.0 {
        mebibytes if mebibytes >= 1 << 20 && mebibytes % (1 << 20) != 0 => {
            write!(text, "{:.1} MiB", Decimal(bytes / 1_048_576.0))
        }
        _ => write!(text, "{}", region.size),
    };
    text
}

/// Both ends of an interval, or that there is none.
pub(super) fn between(interval: Option<latency_core::stats::Interval>) -> Text<48> {
    let mut text = Text::EMPTY;
    // All numbers that are some are shorter than the text.
    let _ = match interval {
        Some(interval) => write!(text, "95 %: {:.1} .. {:.1}", Decimal(interval.low), Decimal(interval.high)),
        None => text.write_str("too few rounds for an interval"),
    };
    text
}

/// The report with the points of the last working set alone, which is the one in memory.
pub(super) fn in_memory<'r, 'a>(report: &Report<'r, 'a>) -> Report<'r, 'a> {
    let last = report.outcomes.chunk_by(|one, other| one.point.size == other.point.size).last();
    Report { outcomes: last.unwrap_or_default(), ..*report }
}
