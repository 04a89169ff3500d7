//! One row a point. What is of single hops says so in its name; `ns` is of batches, as everywhere.

use core::fmt::{self, Write};

use latency_core::decimal::Trimmed;

use super::points;
use crate::experiment::writers::csv::number;
use crate::experiment::writers::{counters, Report};
use crate::options::Choice;
use crate::result::distribution::{Distribution, PERCENTAGES};
use crate::result::words::OrderName;

/// Writes the points; the histograms are in the JSON.
///
/// # Errors
///
/// Those of `out`.
pub fn csv(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    write!(
        out,
        "from,to,cycles,ns,hop_mean_ns,hop_p50_ns,hop_p90_ns,hop_p95_ns,hop_p99_ns,hop_p99_9_ns,hop_p99_99_ns,\
         hop_max_ns,hop_batch_ratio,timer_mean_ns,timer_step_ns,interrupted_from_ns,refresh_period_us,\
         hops_per_window,windows,interrupted_windows,context_switches,hop_p50_low_ns,hop_p50_high_ns,hop_p90_low_ns,\
         hop_p90_high_ns,hop_p95_low_ns,hop_p95_high_ns,hop_p99_low_ns,hop_p99_high_ns,hop_p99_9_low_ns,\
         hop_p99_9_high_ns,hop_p99_99_low_ns,hop_p99_99_high_ns,hop_percentiles_on_step,working_set_bytes,stride_bytes,\
         order,kernel,pages_asked,pages_obtained,verified,seed"
    )?;
    if report.options.counters {
        counters::csv_names(out)?;
    }
    out.write_char('\n')?;
    for (outcome, distribution) in points(report) {
        let point = &outcome.point;
        write!(out, "{},{},", point.initiator, point.target)?;
        let measured = outcome.result.as_ref().ok();
        let nanoseconds = measured.map(|measured| measured.series.nanoseconds.median);
        number(out, nanoseconds.and_then(|nanoseconds| report.clock.ticks(nanoseconds)))?;
        number(out, nanoseconds)?;
        hops(out, distribution)?;
        write!(out, "{},{},{},", point.size.0, point.stride.0, OrderName(point.order))?;
        write!(out, "{},{},", point.kernel.name, point.pages.word())?;
        match measured {
            Some(measured) => {
                write!(
                    out,
                    "{},{},",
                    measured.placed.pages.word(),
                    measured.placed.is_verified(point.target)
                )?;
            }
            None => out.write_str(",,")?,
        }
        write!(out, "{}", point.seed)?;
        if report.options.counters {
            counters::csv(out, measured.map(|measured| &measured.series))?;
        }
        out.write_char('\n')?;
    }
    Ok(())
}

fn hops(out: &mut dyn Write, distribution: Option<&Distribution>) -> fmt::Result {
    let Some(found) = distribution else { return out.write_str(",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,") };
    number(out, Some(found.mean_ns()))?;
    for percent in PERCENTAGES {
        number(out, found.percentile_ns(percent))?;
    }
    number(out, found.maximum_ns())?;
    number(out, found.ratio.map(|ratio| ratio.median))?;
    number(out, Some(found.time(found.overhead)))?;
    number(out, Some(found.time(found.step as f64)))?;
    number(out, found.interrupted_from.map(|ticks| found.nanoseconds(ticks as f64)))?;
    number(out, found.refresh().map(|(microseconds, _)| microseconds))?;
    write!(out, "{},{},", found.each, found.total())?;
    let interrupted = found.interruptions.marked + found.interrupted();
    write!(out, "{interrupted},{},", found.interruptions.switches)?;
    let quantiles = PERCENTAGES.map(|percent| found.quantile_ns(percent));
    for quantile in &quantiles {
        number(out, quantile.map(|quantile| quantile.low))?;
        number(out, quantile.map(|quantile| quantile.high))?;
    }
    let mut separator = "";
    for (percent, quantile) in PERCENTAGES.into_iter().zip(quantiles) {
        if quantile.is_some_and(|quantile| quantile.on_step) {
            write!(out, "{separator}p{}", Trimmed(percent))?;
            separator = " ";
        }
    }
    out.write_char(',')
}
