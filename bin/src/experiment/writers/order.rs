//! Orders side by side: a row for each, then the ratios and what they mean.

use core::fmt::{self, Display, Write};

use latency_core::chain::Order;
use latency_core::decimal::Decimal;
use latency_core::text::Text;

use super::json::value::{optional, DECIMALS};
use super::{csv as columns, facts, json as documents, Report};
use crate::report::figures::Figure;
use crate::result::words::OrderName;
use crate::result::Measurement;

/// The hops that times are given for.
const HOPS: f64 = 20e6;

/// The ratios of the orders.
struct Ratios {
    /// Random over sequential.
    sequential: Option<f64>,
    /// Random over backward.
    backward: Option<f64>,
    /// A random dependent load over an independent one.
    throughput: Option<f64>,
}

impl Ratios {
    fn of(report: &Report<'_, '_>) -> Ratios {
        let latency = |order| {
            let outcome = report.outcomes.iter().find(|outcome| outcome.point.order == order)?;
            Some(outcome.result.as_ref().ok()?.series.nanoseconds.median)
        };
        let random = latency(Order::Random);
        let over = |other: Option<f64>| Some(random? / other?).filter(|ratio| ratio.is_finite());
        let strided = report.extra.orders.and_then(|orders| orders.strided);
        Ratios {
            sequential: over(latency(Order::Sequential)),
            backward: over(latency(Order::Backward)),
            throughput: over(strided.map(|strided| strided.nanoseconds)),
        }
    }
}

/// Writes the table and the ratios for people.
///
/// # Errors
///
/// Those of `out`.
pub fn text(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    let first = report.outcomes.first();
    if let Some(point) = first.map(|outcome| outcome.point) {
        writeln!(out, "{} of nodes {} apart, 20 million hops:", point.size, point.stride)?;
    }
    writeln!(
        out,
        "{:<24}{:>9}{:>9}{:>9}{:>13}{:>9}",
        "order", "cold ns", "warm ns", "cycles", "core cycles", "seconds"
    )?;
    for outcome in report.outcomes {
        write!(out, "{:<24}", label(&OrderName(outcome.point.order)))?;
        match &outcome.result {
            Ok(measured) => walk(out, report, measured)?,
            Err(exclusion) => writeln!(out, "not measured: {exclusion}")?,
        }
    }
    let orders = report.extra.orders.unwrap_or_default();
    if let Some(strided) = orders.strided {
        let ns = strided.nanoseconds;
        let cycles = report.clock.ticks(ns).unwrap_or(f64::NAN);
        write!(out, "{:<24}{:>9}{:>9}{:>9}", "independent loads", "", Figure(ns), Figure(cycles))?;
        let core_cycles = strided.core_cycles.unwrap_or(f64::NAN);
        writeln!(out, "{:>13}{:>9.2}", Figure(core_cycles), Decimal(ns * HOPS / 1e9))?;
    }
    if report.partial {
        writeln!(out, "partial: interrupted before all orders were walked to the end")?;
    }
    ratios(out, &Ratios::of(report))?;
    if report.options.quiet {
        return Ok(());
    }
    facts::conditions(out, report)?;
    facts::ending(out, report)
}

fn walk(out: &mut dyn Write, report: &Report<'_, '_>, measured: &Measurement) -> fmt::Result {
    let nanoseconds = measured.series.nanoseconds.median;
    let cold = measured.warm_up.cold_ns.unwrap_or(f64::NAN);
    let cycles = report.clock.ticks(nanoseconds).unwrap_or(f64::NAN);
    let core_cycles = measured.series.core_cycles.map_or(f64::NAN, |cycles| cycles.median);
    write!(
        out,
        "{:>9}{:>9}{:>9}{:>13}",
        Figure(cold),
        Figure(nanoseconds),
        Figure(cycles),
        Figure(core_cycles)
    )?;
    writeln!(out, "{:>9.2}", Decimal(nanoseconds * HOPS / 1e9))
}

fn label(shown: &dyn Display) -> Text<24> {
    let mut label = Text::EMPTY;
    // Every name of an order is shorter.
    let _ = write!(label, "{shown}");
    label
}

fn ratios(out: &mut dyn Write, ratios: &Ratios) -> fmt::Result {
    out.write_char('\n')?;
    if let Some(ratio) = ratios.sequential {
        writeln!(out, "Random/sequential:  {:.1}", Decimal(ratio))?;
    }
    if let Some(ratio) = ratios.backward {
        writeln!(out, "Random/backward:    {:.1}", Decimal(ratio))?;
    }
    if let Some(ratio) = ratios.throughput {
        writeln!(out, "Latency/throughput: {:.1}", Decimal(ratio))?;
    }
    if let (Some(sequential), Some(throughput)) = (ratios.sequential, ratios.throughput) {
        writeln!(
            out,
            "A linked structure whose nodes lie anywhere takes {:.0} times as long to walk as one in address order, \
             and {:.0} times as long as an array of the same nodes, whose loads do not wait for each other.",
            Decimal(sequential),
            Decimal(throughput)
        )?;
    }
    Ok(())
}

/// Writes the document.
///
/// # Errors
///
/// Those of `out`.
pub fn json(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    let orders = report.extra.orders.unwrap_or_default();
    documents::points(
        out,
        report,
        &|json, index| {
            let outcome = report.outcomes.get(index).and_then(|outcome| outcome.result.as_ref().ok());
            json.key("time_s")?;
            optional(json, outcome.map(|measured| measured.series.nanoseconds.median * HOPS / 1e9), 3)
        },
        &|json| {
            json.key("strided_loads")?;
            match orders.strided {
                Some(strided) => {
                    json.begin_object()?;
                    json.key("ns")?.decimal(strided.nanoseconds, DECIMALS)?;
                    json.key("core_cycles")?;
                    optional(json, strided.core_cycles, DECIMALS)?;
                    json.key("rounds")?.u64(strided.rounds as u64)?;
                    json.end_object()?;
                }
                None => json.null()?,
            }
            let ratios = Ratios::of(report);
            json.key("ratios")?.begin_object()?;
            for (key, ratio) in [
                ("random_sequential", ratios.sequential),
                ("random_backward", ratios.backward),
                ("latency_throughput", ratios.throughput),
            ] {
                json.key(key)?;
                optional(json, ratio, DECIMALS)?;
            }
            json.end_object()
        },
    )
}

/// Writes a row for each order, with the time of a hop over a chain just written first.
///
/// # Errors
///
/// Those of `out`.
pub fn csv(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    columns::table(out, report, "cold_ns,", &|out, _, outcome| {
        columns::number(out, outcome.result.as_ref().ok().and_then(|measured| measured.warm_up.cold_ns))
    })
}
