//! The facts that every text tells: what was walked, in which pages, by which clock, and how the tool fared.

use core::fmt::{self, Write};

use latency_core::decimal::Decimal;
use latency_core::text::Text;

use super::{counters, health, Report};
use crate::options::Choice;
use crate::report::figures::Figure;
use crate::result::words::{page_words, OrderName};
use crate::result::{Counter, KernelClock, Outcome, Point, Timer, WarmUp};

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
