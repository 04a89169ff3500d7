//! The tool's own health: whether it measures what is known as what it is, and what may help a chase along.

use core::fmt::{self, Write};

use latency_core::decimal::Decimal;
use latency_core::stats::Summary;

use super::json::value::{interval, optional, Json, DECIMALS};
use super::Report;

/// Whether the tool measures what is known as what it is.
///
/// # Errors
///
/// Those of `out`.
pub fn text(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    let medians = report.outcomes.iter().filter_map(|outcome| outcome.result.as_ref().ok());
    let clocks = medians.filter_map(|measured| measured.series.core_gigahertz.map(|clock| clock.median));
    let (low, high) =
        clocks.fold((f64::INFINITY, 0.0f64), |(low, high), clock| (low.min(clock), high.max(clock)));
    write!(out, "Health:     ")?;
    if high > 0.0 {
        write!(out, "core clock {low:.2}", low = Decimal(low))?;
        if high - low >= 0.005 {
            write!(out, " to {high:.2}", high = Decimal(high))?;
        }
        out.write_str(" GHz; ")?;
    }
    if let Some(cycles) = report.health.l1_cycles {
        write!(out, "L1 hit {cycles:.2} core cycles; ", cycles = Decimal(cycles))?;
    }
    if let Some(ratio) = report.health.multiply_ratio {
        write!(out, "multiply/add {ratio:.2}; ", ratio = Decimal(ratio))?;
    }
    let measured = || report.outcomes.iter().filter_map(|outcome| outcome.result.as_ref().ok());
    // What is not precise differs for reasons that its interval tells.
    let any = measured().any(|measured| measured.precise);
    let repeats = measured().filter(|measured| measured.precise || !any);
    match repeats
        .filter_map(|measured| measured.series.repeat_ratio)
        .max_by(|a, b| (a - 1.0).abs().total_cmp(&(b - 1.0).abs()))
    {
        Some(ratio) => writeln!(out, "same chain twice {ratio:.3}", ratio = Decimal(ratio))?,
        None => writeln!(out, "same chain twice: too few rounds")?,
    }
    audit(out, report)
}

/// What was found of prefetchers.
fn audit(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    let Some(audit) = report.health.audit else {
        return writeln!(
            out,
            "Prefetch:   not audited: that takes 16 MiB of measured and 64 MiB of free memory"
        );
    };
    write!(out, "Prefetch:   nodes 64 B apart take ")?;
    ratio(out, &audit.random)?;
    write!(out, " in random order and ")?;
    ratio(out, &audit.local)?;
    write!(out, " within 2 MiB of those 256 B apart ({}; 1 without prefetching)", audit.span)?;
    out.write_char('\n')
}

fn ratio(out: &mut dyn Write, ratio: &Summary) -> fmt::Result {
    write!(out, "{:.3}", Decimal(ratio.median))?;
    match ratio.interval {
        Some(interval) => write!(out, " [{:.3} .. {:.3}]", Decimal(interval.low), Decimal(interval.high)),
        None => Ok(()),
    }
}

/// Writes the members of the document.
pub(super) fn json(json: &mut Json<'_>, report: &Report<'_, '_>) -> fmt::Result {
    json.key("health")?.begin_object()?;
    json.key("l1_core_cycles")?;
    optional(json, report.health.l1_cycles, DECIMALS)?;
    json.key("multiply_add_ratio")?;
    optional(json, report.health.multiply_ratio, DECIMALS)?;
    json.key("prefetch_audit")?;
    match report.health.audit {
        Some(audit) => {
            json.begin_object()?;
            json.key("working_set_bytes")?.u64(audit.span.0)?;
            json.key("random_ratio")?.decimal(audit.random.median, DECIMALS)?;
            json.key("random_ratio_interval")?;
            interval(json, audit.random.interval)?;
            json.key("local_2m_ratio")?.decimal(audit.local.median, DECIMALS)?;
            json.key("local_2m_ratio_interval")?;
            interval(json, audit.local.interval)?;
            json.end_object()?;
        }
        None => json.null()?,
    }
    json.end_object()
}
