//! What counters saw, in every format: hardware's where it was wanted, the kernel's in JSON always.

use core::fmt::{self, Write};

use latency_core::decimal::Decimal;

use super::json::value::{optional, Json, DECIMALS};
use super::Report;
use crate::options::Choice;
use crate::result::counters::{Counters, Software, NAMES};
use crate::result::words::OrderName;
use crate::result::Series;

/// The names of the events for people, by [`NAMES`].
const WORDS: [&str; NAMES.len()] = [
    "core cycles",
    "instructions",
    "L1D misses",
    "last-level misses",
    "data-TLB misses",
    "cycles of page walks",
];

/// A line for every point that was counted.
///
/// # Errors
///
/// Those of `out`.
pub fn text(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    for outcome in report.outcomes {
        let Ok(measured) = &outcome.result else { continue };
        let Some(counters) = &measured.series.counters else { continue };
        let point = &outcome.point;
        write!(out, "Counters:   {} -> {}, {}", point.initiator, point.target, point.size)?;
        // Points of one size differ in these.
        let pages = measured.placed.pages.word();
        write!(out, ", {} order, {} kernel, pages {pages}", OrderName(point.order), point.kernel.name)?;
        write!(out, "{}", point.walk)?;
        out.write_str(": per hop")?;
        let mut separator = " ";
        for (count, word) in counters.per_hop.iter().zip(WORDS) {
            if let Some(count) = count {
                write!(out, "{separator}{:.2} {word}", Decimal(*count))?;
                separator = ", ";
            }
        }
        if counters.per_hop.iter().all(Option::is_none) {
            out.write_str(" nothing: other users of the counters left them too little time")?;
        }
        remarks(out, &measured.series, counters)?;
    }
    Ok(())
}

fn remarks(out: &mut dyn Write, series: &Series, counters: &Counters) -> fmt::Result {
    if let Some(ratio) = series.core_cycles_ratio() {
        write!(out, "; core cycles by dependent additions: ratio {:.3}", Decimal(ratio))?;
    }
    if counters.running < 1.0 {
        let percent = counters.running * 100.0;
        write!(out, "; counted {:.0} % of the time and scaled up", Decimal(percent))?;
    }
    out.write_char('\n')
}

/// The names of the columns, with a comma before each.
///
/// # Errors
///
/// Those of `out`.
pub fn csv_names(out: &mut dyn Write) -> fmt::Result {
    NAMES.iter().try_for_each(|name| write!(out, ",counted_{name}"))
}

/// The columns of a point, with a comma before each.
///
/// # Errors
///
/// Those of `out`.
pub fn csv(out: &mut dyn Write, series: Option<&Series>) -> fmt::Result {
    let counters = series.and_then(|series| series.counters);
    (0..NAMES.len()).try_for_each(|event| {
        out.write_char(',')?;
        match counters.and_then(|counters| counters.per_hop.get(event).copied().flatten()) {
            Some(count) if count.is_finite() => write!(out, "{:.3}", Decimal(count)),
            _ => Ok(()),
        }
    })
}

/// The members `software` and, where anything was counted, `counters`.
///
/// # Errors
///
/// Those of the writer.
pub(super) fn json(json: &mut Json<'_>, series: &Series) -> fmt::Result {
    let Software { switches, migrations, faults } = series.software;
    json.key("software")?.begin_object()?;
    for (name, count) in [
        ("voluntary_switches", switches.0),
        ("involuntary_switches", switches.1),
        ("migrations", migrations),
        ("minor_faults", faults.0),
        ("major_faults", faults.1),
    ] {
        json.key(name)?.u64(count)?;
    }
    json.end_object()?;
    let Some(counters) = &series.counters else { return Ok(()) };
    json.key("counters")?.begin_object()?;
    for (name, count) in NAMES.into_iter().zip(counters.per_hop) {
        json.key(name)?;
        optional(json, count, DECIMALS)?;
    }
    json.key("running")?;
    optional(json, Some(counters.running), DECIMALS)?;
    json.key("core_cycles_ratio")?;
    optional(json, series.core_cycles_ratio(), DECIMALS)?;
    json.end_object()
}
