//! Single hops for people.

use core::fmt::{self, Display, Write};
use latency_core::decimal::{Decimal, Trimmed};
use latency_core::hops::Quantile;

use super::{bars, points};
use crate::experiment::writers::facts::{conditions, ending, pair};
use crate::experiment::writers::Report;
use crate::report::figures::Figure;
use crate::report::plot;
use crate::result::distribution::{Distribution, PERCENTAGES};
use crate::result::Timer;

/// Single hops and batches agree if they differ by no more.
const AGREEMENT: f64 = 0.03;

/// Writes the whole report.
///
/// # Errors
///
/// Those of `out`.
pub fn text(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    for (outcome, found) in points(report) {
        pair(out, report.clock, outcome)?;
        let Some(found) = found else { continue };
        table(out, report.clock, found)?;
        if report.options.quiet {
            continue;
        }
        out.write_char('\n')?;
        bars::chart(&outcome.point, found, |chart| plot::write(out, chart, report.terminal))?;
        out.write_char('\n')?;
        mean(out, found)?;
        timer(out, found)?;
        interruptions(out, found)?;
        refresh(out, found)?;
    }
    if report.partial {
        writeln!(out, "partial: interrupted before all pairs were measured to the end")?;
    }
    if report.options.quiet {
        return Ok(());
    }
    conditions(out, report)?;
    ending(out, report)
}

/// Percentiles with their intervals, maximum and mean, in nanoseconds and in ticks.
fn table(out: &mut dyn Write, clock: &Timer, found: &Distribution) -> fmt::Result {
    const WIDTH: usize = 8;
    write!(out, "\n{:<10}", if found.each == 1 { "one hop" } else { "mean of" })?;
    for percent in PERCENTAGES {
        let mut label = latency_core::text::Text::<WIDTH>::EMPTY;
        // All labels are shorter than the column.
        let _ = write!(label, "p{}", Trimmed(percent));
        write!(out, "{label:>WIDTH$}")?;
    }
    writeln!(out, "{:>WIDTH$}{:>WIDTH$}", "max", "mean")?;
    let quantiles = PERCENTAGES.map(|percent| found.quantile_ns(percent));
    let tail = [found.maximum_ns().unwrap_or(f64::NAN), found.mean_ns()];
    let row = |out: &mut dyn Write, label: &str, of: &dyn Fn(f64) -> f64, mark: bool| {
        write!(out, "{label:<10}")?;
        for quantile in &quantiles {
            let (value, on_step) = quantile.map_or((f64::NAN, false), |it| (it.value, it.on_step));
            let star = if mark && on_step { "*" } else { "" };
            write!(out, "{:>width$}{star}", Figure(of(value)), width = WIDTH - star.len())?;
        }
        tail.iter().try_for_each(|value| write!(out, "{:>WIDTH$}", Figure(of(*value))))?;
        out.write_char('\n')
    };
    let (label, cycles) = if found.each == 1 { ("ns", "cycles") } else { ("hops: ns", "cycles") };
    row(out, label, &|value| value, true)?;
    row(out, cycles, &|value| clock.ticks(value).unwrap_or(f64::NAN), false)?;
    if quantiles.iter().flatten().any(|quantile| is_wide(found, quantile)) {
        for (label, end) in
            [("95 % from", (|it| it.low) as fn(&Quantile) -> f64), ("       to", |it: &Quantile| it.high)]
        {
            // Padding is cut off behind the last one.
            let mut blanks = 0;
            write!(out, "{label:<10}")?;
            for quantile in &quantiles {
                match quantile.filter(|quantile| is_wide(found, quantile)) {
                    Some(quantile) => {
                        write!(out, "{:>width$}", Figure(end(&quantile)), width = WIDTH * (blanks + 1))?;
                        blanks = 0;
                    }
                    None => blanks += 1,
                }
            }
            out.write_char('\n')?;
        }
    }
    for (percent, quantile) in PERCENTAGES.iter().zip(&quantiles) {
        let Some(quantile) = quantile.filter(|quantile| quantile.on_step) else { continue };
        writeln!(
            out,
            "* p{} stands on a step between {} and {}: it is given as the slower side, which the slowest {} % take",
            Trimmed(*percent),
            Span(quantile.low),
            Span(quantile.high),
            Trimmed(100.0 - percent)
        )?;
    }
    Ok(())
}

/// Whether the hops were too few to tell a percentile as exactly as the counter and the histogram could.
fn is_wide(found: &Distribution, quantile: &Quantile) -> bool {
    const LEAST: f64 = 0.02;
    quantile.high - quantile.low > found.time(found.step as f64).max(LEAST * quantile.value)
}

/// Whether single hops and batches tell the same, and why mean and median do not.
fn mean(out: &mut dyn Write, found: &Distribution) -> fmt::Result {
    write!(out, "Mean:       as `matrix` has it: {} ns of single hops, ", Figure(found.round_ns))?;
    write!(out, "{} ns of batches in turn with them", Figure(found.batch_ns))?;
    match &found.ratio {
        Some(ratio) => {
            let agree = (ratio.median - 1.0).abs() <= AGREEMENT;
            write!(out, "; ratio {:.3}", Decimal(ratio.median))?;
            if let Some(interval) = ratio.interval {
                write!(out, " ({:.3} .. {:.3})", Decimal(interval.low), Decimal(interval.high))?;
            }
            out.write_str(if agree { ": they agree within 3 %" } else { ": they do not agree within 3 %" })?;
        }
        None => out.write_str("; too few rounds to compare")?,
    }
    out.write_str(
        "\n            (means of stretches as long as a batch, the most frequent in a round, median over rounds)\n",
    )?;
    let all = found.mean_ns();
    let line = |out: &mut dyn Write, name: &str, value: f64, reason: &str| {
        let difference = (value / all - 1.0) * 100.0;
        let (size, side) = (difference.abs(), if difference < 0.0 { "below" } else { "above" });
        write!(out, "            {name} is {} % {side} the mean of all hops", Figure(size))?;
        writeln!(out, "{}", if difference < -1.0 { reason } else { "" })
    };
    line(out, "that", found.round_ns, ": stretches that others disturbed weigh in the latter alone")?;
    let median = found.percentile_ns(50.0).unwrap_or(f64::NAN);
    line(out, "the median", median, ": slow hops weigh in a mean, and in batches, which are means of hops")
}

/// What a pair of stamps costs by itself.
fn timer(out: &mut dyn Write, found: &Distribution) -> fmt::Result {
    let empty = |percent| found.empty_ticks(percent).unwrap_or(0);
    writeln!(
        out,
        "Timer:      stamps around nothing, after every hop: p1 {}, p50 {}, p99 {} ticks; their mean of {:.1} ticks \
         ({} ns) is subtracted",
        empty(1.0),
        empty(50.0),
        empty(99.0),
        Decimal(found.overhead),
        Figure(found.time(found.overhead))
    )?;
    if found.each > 1 {
        writeln!(out, "            {} hops between two stamps: fewer would drown in them", found.each)?;
    }
    writeln!(
        out,
        "            step {} ticks ({} ns), within which percentiles are interpolated; histogram to 0.4 %",
        found.step,
        Figure(found.time(found.step as f64))
    )
}

/// What was not memory.
fn interruptions(out: &mut dyn Write, found: &Distribution) -> fmt::Result {
    let seen = &found.interruptions;
    let total = found.total();
    write!(out, "Interrupts: left out above are, of {total} windows, ")?;
    if seen.watched_interrupts + seen.marked > 0 {
        write!(out, "{} in which the kernel was entered", seen.marked)?;
        if seen.marked > 0 {
            let (mean, longest) = (found.time(seen.marked_mean), found.time(seen.marked_longest as f64));
            write!(out, " ({} on average, {} at most)", Span(mean), Span(longest))?;
        }
        out.write_str(",\n            and ")?;
    }
    match found.interrupted_from {
        Some(from) => {
            let (from, to) = (found.nanoseconds(from as f64), found.longest_ns().unwrap_or(0.0));
            write!(out, "{} that took {} to {}", found.interrupted(), Span(from), Span(to))?;
            writeln!(out, ", where {} were to be expected:", Figure(seen.expected))?;
        }
        None => out.write_str("none that took longer than memory does:\n")?,
    }
    writeln!(
        out,
        "            a loop without memory had {} more gaps, of {} to {}, in {}; {} context switches in all",
        seen.gaps,
        Span(found.time(seen.least_gap as f64)),
        Span(found.time(seen.longest_gap.max(seen.least_gap) as f64)),
        Span(found.time(seen.watched as f64)),
        seen.switches
    )
}

/// Whether the slow hops have a rhythm.
fn refresh(out: &mut dyn Write, found: &Distribution) -> fmt::Result {
    let slow = Figure(found.nanoseconds(found.slow_from as f64));
    write!(out, "Refresh:    ")?;
    match (found.refresh(), found.period) {
        (Some((microseconds, name)), Some(period)) => {
            write!(
                out,
                "hops from {slow} ns on recur every {microseconds:.3} us: ",
                microseconds = Decimal(microseconds)
            )?;
            out.write_str(name.unwrap_or("no interval that DRAM is known for"))?;
            writeln!(out, " ({} standard deviations)", Figure(period.significance))
        }
        (None, Some(period)) => writeln!(
            out,
            "none seen: hops from {slow} ns on have no period of 1.5 to 20 us (best: {} standard deviations)",
            Figure(period.significance)
        ),
        _ => writeln!(out, "not sought: too few slow hops"),
    }
}

/// A time in the unit that suits it.
struct Span(f64);

impl Display for Span {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            small if small < 1e3 => write!(out, "{} ns", Figure(small)),
            middle if middle < 1e6 => write!(out, "{} us", Figure(middle / 1e3)),
            large if large < 1e9 => write!(out, "{} ms", Figure(large / 1e6)),
            long => write!(out, "{} s", Figure(long / 1e9)),
        }
    }
}
