//! The matrix for people: one line a pair, then what a reader needs to believe it.

use core::fmt::{self, Display, Write};

use latency_core::chain::Order;
use latency_core::decimal::Decimal;
use latency_core::text::Text;
use latency_core::units::NodeId;

use super::figures::Figure;
use super::{counters, health, pairs, Report};
use crate::options::{Choice, Pages};
use crate::result::{Counter, KernelClock, Measurement, Outcome, Point, Timer, WarmUp};

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

/// From where to where, in which order and in which pages: the subtitle of pictures.
#[must_use]
pub fn subtitle(outcome: Option<&Outcome<'_>>) -> Text<160> {
    let mut text = Text::EMPTY;
    if let Some(Outcome { point, result }) = outcome {
        let pages = result.as_ref().map_or(point.pages, |measured| measured.placed.pages);
        // What does not fit is left out.
        let _ = write!(
            text,
            "node {} (CPU {}) -> node {}, {} order, {} apart, pages {}, seed {}",
            point.initiator,
            point.cpu,
            point.target,
            OrderName(point.order),
            point.stride,
            pages.word(),
            point.seed
        );
    }
    text
}

/// What every report ends with: the clock, the tool's own health, and counters.
///
/// # Errors
///
/// Those of `out`.
pub fn ending(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    clock_line(out, report)?;
    health::text(out, report)?;
    counters::text(out, report)
}

/// The line that scripts look for.
pub(super) fn pair(out: &mut dyn Write, clock: &Timer, outcome: &Outcome<'_>) -> fmt::Result {
    let Point { initiator, target, .. } = outcome.point;
    write!(out, "Node {initiator} -> Node {target}: ")?;
    match &outcome.result {
        Ok(measured) => {
            let nanoseconds = measured.series.nanoseconds.median;
            match clock.ticks(nanoseconds) {
                Some(ticks) => write!(out, "{} cycles", Figure(ticks))?,
                None => out.write_str("? cycles")?,
            }
            writeln!(out, " ({} ns)", Figure(nanoseconds))
        }
        Err(exclusion) => writeln!(out, "not measured: {exclusion}"),
    }
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

/// What was walked, in which pages, and how it is known where they were.
///
/// # Errors
///
/// Those of `out`.
pub fn conditions(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    let Some(first) = report.outcomes.first() else { return Ok(()) };
    let Point { stride, seed, kernel, .. } = first.point;
    write!(out, "\nChain:      ")?;
    writeln!(
        out,
        "{} order, {} apart, {} kernel, seed {seed}; latency per dependent load, page walks included",
        OrderName(first.point.order),
        stride,
        kernel.name
    )?;
    memory(out, report)
}

/// The pages of every buffer, and how it is known where they were.
///
/// # Errors
///
/// Those of `out`.
pub(super) fn memory(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    for (index, outcome) in report.outcomes.iter().enumerate() {
        let (point, Ok(measured)) = (&outcome.point, &outcome.result) else { continue };
        let mut earlier = report.outcomes.iter().take(index).filter(|other| other.result.is_ok());
        if earlier.any(|other| other.point.target == point.target && other.point.pages == point.pages) {
            continue;
        }
        if report.options.verbose {
            let WarmUp { hops, cold_ns, .. } = measured.warm_up;
            write!(
                out,
                "            chain {:016x}; {} hops a trial, {} rounds; warm-up {hops} hops",
                measured.fingerprint, measured.hops, measured.rounds
            )?;
            match cold_ns {
                Some(cold_ns) => writeln!(out, ", first pass {} ns", Figure(cold_ns))?,
                None => writeln!(out)?,
            }
        }
        let placed = &measured.placed;
        // One working set, or a region that many share.
        let alone = report.outcomes.iter().all(|other| other.point.size == point.size);
        let size = if alone { point.size } else { placed.mapped };
        write!(out, "Node {:<7}{size} in {}", point.target, page_words(placed.pages))?;
        match placed.huge_share() {
            Some(share) => write!(out, " ({:.0} %)", Decimal(share * 100.0))?,
            None if !placed.pages_are_verified() => out.write_str(" (unverified)")?,
            None => {}
        }
        write!(out, ", asked {}; {}; ", point.pages.word(), placed.means.name())?;
        match (placed.is_verified(point.target), placed.after.counts()) {
            (true, Some(counts)) => writeln!(
                out,
                "{} pages verified before and after by {}",
                counts.total(),
                placed.after.source()
            )?,
            _ => writeln!(out, "placement unverified")?,
        }
    }
    Ok(())
}

/// The name of an order, as in the option.
pub struct OrderName(pub Order);

impl Display for OrderName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Order::Random => out.write_str("random"),
            Order::Local(region) if region.0 == 4096 => out.write_str("page-local"),
            Order::Local(region) if region.0 == 2 << 20 => out.write_str("2m-local"),
            Order::Local(region) => write!(out, "{region}-local"),
            Order::Sequential => out.write_str("sequential"),
            Order::Backward => out.write_str("backward"),
        }
    }
}

const fn page_words(pages: Pages) -> &'static str {
    match pages {
        Pages::Auto | Pages::Small4k => "4 KiB pages",
        Pages::Thp => "transparent 2 MiB pages",
        Pages::Huge2m => "2 MiB pages",
        Pages::Huge1g => "1 GiB pages",
    }
}

/// The clock that everything was timed with.
///
/// # Errors
///
/// Those of `out`.
pub fn clock_line(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    write!(out, "Clock:      ")?;
    match *report.clock {
        Timer::Counter(Counter { frequency, spread_ppm, invariant, step, overhead, .. }) => {
            write!(
                out,
                "TSC {:.3} MHz (calibrations within {spread_ppm:.2} ppm",
                Decimal(frequency.megahertz()),
                spread_ppm = Decimal(spread_ppm)
            )?;
            let source = report.machine.host.clock_source.as_str();
            if source == "tsc" {
                out.write_str("; clock source tsc, so not independent")?;
            } else if !source.is_empty() {
                write!(out, "; clock source {source}")?;
            }
            if !invariant {
                out.write_str("; not invariant")?;
            }
            writeln!(out, "), step {} ticks, pair of stamps {} ticks (subtracted)", step.0, overhead.0)?;
        }
        Timer::Kernel(KernelClock { step_ns, overhead_ns }) => {
            writeln!(out, "clock_gettime, step {step_ns} ns, pair of reads {overhead_ns} ns; no cycles")?;
        }
    }
    Ok(())
}
