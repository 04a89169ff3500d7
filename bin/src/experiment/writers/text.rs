//! The matrix for people: one line a pair, then what a reader needs to believe it.

use core::fmt::{self, Write};

use latency_core::decimal::Decimal;
use latency_core::units::NodeId;

use super::facts::{conditions, ending, pair};
use super::{pairs, Report};
use crate::report::figures::Figure;
use crate::result::{Measurement, Outcome, Point};

/// Writes the whole report.
///
/// # Errors
///
/// Those of `out`.
pub fn matrix(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    for outcome in report.outcomes {
        pair(out, report.clock, outcome)?;
    }
    if report.partial {
        writeln!(out, "partial: interrupted before all pairs were measured to the end")?;
    }
    if report.options.heatmap {
        out.write_char('\n')?;
        pairs::terminal(out, report)?;
    }
    if report.options.quiet {
        return Ok(());
    }
    details(out, report)?;
    ratios(out, report.outcomes)?;
    conditions(out, report)?;
    ending(out, report)
}

fn details(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    if !report.outcomes.iter().any(|outcome| outcome.result.is_ok()) {
        return Ok(());
    }
    writeln!(
        out,
        "\n{:<12} {:>11} {:>18} {:>9} {:>9} {:>8} {:>9}",
        "pair", "core cycles", "95 % interval, ns", "min ns", "MAD ns", "trials", "disturbed"
    )?;
    for outcome in report.outcomes {
        let Ok(Measurement { series, .. }) = &outcome.result else { continue };
        let Point { initiator, target, .. } = outcome.point;
        let label = format_args!("{initiator} -> {target}").to_text();
        write!(out, "{label:<12} ")?;
        match &series.core_cycles {
            Some(cycles) => write!(out, "{:>11} ", Figure(cycles.median))?,
            None => write!(out, "{:>11} ", "-")?,
        }
        match series.nanoseconds.interval {
            Some(interval) => {
                let range =
                    format_args!("{:.2} .. {:.2}", Decimal(interval.low), Decimal(interval.high)).to_text();
                write!(out, "{range:>18} ")?;
            }
            None => write!(out, "{:>18} ", "too few rounds")?,
        }
        writeln!(
            out,
            "{:>9.2} {:>9.2} {:>8} {:>9}",
            Decimal(series.minimum_ns),
            Decimal(series.nanoseconds.mad),
            series.batches,
            series.disturbed
        )?;
    }
    Ok(())
}

/// A short text, so that it can be padded.
trait ToText {
    fn to_text(&self) -> latency_core::text::Text<48>;
}

impl ToText for fmt::Arguments<'_> {
    fn to_text(&self) -> latency_core::text::Text<48> {
        let mut text = latency_core::text::Text::EMPTY;
        // What does not fit is left out; columns are wide enough for every number that is one.
        let _ = write!(text, "{self}");
        text
    }
}

/// How much farther remote memory is, and how far the pairs lie apart.
fn ratios(out: &mut dyn Write, outcomes: &[Outcome<'_>]) -> fmt::Result {
    let measured = || {
        outcomes.iter().filter_map(|outcome| {
            let latency = outcome.result.as_ref().ok()?.series.nanoseconds.median;
            Some((outcome.point.initiator, outcome.point.target, latency))
        })
    };
    let mean = |local: bool| {
        let (sum, count) = measured()
            .filter(|(from, to, _)| (from == to) == local)
            .fold((0.0, 0u32), |(sum, count), (_, _, latency)| (sum + latency, count + 1));
        (count > 0).then(|| sum / f64::from(count))
    };
    if let (Some(local), Some(remote)) = (mean(true), mean(false)) {
        writeln!(
            out,
            "\nRemote/local: {:.2} (mean of remote pairs {} ns, of local pairs {} ns)",
            Decimal(remote / local),
            Figure(remote),
            Figure(local)
        )?;
    }
    let by_latency = |a: &(NodeId, NodeId, f64), b: &(NodeId, NodeId, f64)| a.2.total_cmp(&b.2);
    if let (Some(nearest), Some(farthest)) = (measured().min_by(by_latency), measured().max_by(by_latency)) {
        if (nearest.0, nearest.1) != (farthest.0, farthest.1) {
            writeln!(
                out,
                "Spread: {} ns ({} -> {}) to {} ns ({} -> {}), {:.2} times",
                Figure(nearest.2),
                nearest.0,
                nearest.1,
                Figure(farthest.2),
                farthest.0,
                farthest.1,
                Decimal(farthest.2 / nearest.2)
            )?;
        }
    }
    Ok(())
}
