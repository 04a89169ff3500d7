//! A curve for people: the points, the picture, and the levels that it shows.

pub mod levels;
pub mod picture;
pub mod view;

use core::fmt::{self, Write};

use latency_core::model::MAX_POINTS;
use latency_core::text::Text;

use self::view::View;
use super::{facts, Report};
use crate::analysis::claims::Claims;
use crate::analysis::curve::Analysis;
use crate::report::figures::Figure;
use crate::report::terminal::Terminal;
use crate::report::{plot, svg};
use crate::result::sample::Sample;

/// Writes the measured curve for people.
///
/// # Errors
///
/// Those of `out`.
pub fn report(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    show(report, |view| {
        view.table(out)?;
        out.write_char('\n')?;
        if !report.options.quiet {
            view.plot(out, report.terminal)?;
            out.write_char('\n')?;
        }
        if report.partial {
            writeln!(out, "partial: interrupted before all points were measured to the end")?;
        }
        view.conclusions(out, report.options.quiet)?;
        if report.options.quiet {
            return Ok(());
        }
        facts::conditions(out, report)?;
        facts::ending(out, report)
    })
}

/// Writes the measured curve as a picture.
///
/// # Errors
///
/// Those of `out`.
pub fn picture(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    show(report, |view| view.svg(out))
}

/// What is concluded from the points of a report.
#[must_use]
pub fn analyse(report: &Report<'_, '_>) -> Analysis {
    let samples = report.outcomes.iter().filter_map(Sample::of);
    Analysis::new(samples, Claims::of(report.machine), report.extra.edge)
}

fn show(report: &Report<'_, '_>, write: impl FnOnce(&View<'_>) -> fmt::Result) -> fmt::Result {
    let analysis = analyse(report);
    let mut samples = [Sample::EMPTY; MAX_POINTS];
    let mut count = 0;
    let fitted = report.outcomes.iter().filter_map(Sample::of).filter(|sample| analysis.is_fitted(sample));
    for (slot, sample) in samples.iter_mut().zip(fitted) {
        *slot = sample;
        count += 1;
    }
    let subtitle = facts::subtitle(report.outcomes.first());
    write(&View {
        title: "Latency against working set",
        subtitle: subtitle.as_str(),
        samples: samples.get(..count).unwrap_or_default(),
        analysis: &analysis,
        reciprocal: report.options.reciprocal,
    })
}

impl View<'_> {
    /// Draws the picture in a terminal.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn plot(&self, out: &mut dyn Write, terminal: Terminal) -> fmt::Result {
        let mut drawn = Ok(());
        picture::show(self, |chart| drawn = plot::write(out, chart, terminal));
        drawn
    }

    /// Writes the picture as SVG.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn svg(&self, out: &mut dyn Write) -> fmt::Result {
        let mut drawn = Ok(());
        picture::show(self, |chart| drawn = svg::write_chart(out, chart));
        drawn
    }

    /// Writes a line for each point.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn table(&self, out: &mut dyn Write) -> fmt::Result {
        writeln!(out, "{:>11} {:>9} {:>12} {:>20}", "working set", "ns", "core cycles", "95 % interval, ns")?;
        for sample in self.samples {
            write!(out, "{:>11} {:>9}", padded(format_args!("{}", sample.size)), Figure(sample.nanoseconds))?;
            match sample.core_cycles {
                Some(cycles) => write!(out, " {:>12}", Figure(cycles))?,
                None => write!(out, " {:>12}", "-")?,
            }
            match sample.interval {
                Some(interval) => {
                    let range = padded(format_args!("{} .. {}", Figure(interval.low), Figure(interval.high)));
                    writeln!(out, " {range:>20}")?;
                }
                None => writeln!(out, " {:>20}", "-")?,
            }
        }
        Ok(())
    }

    /// Writes the levels; unless they are all that is wanted, what the system says otherwise, and the models.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn conclusions(&self, out: &mut dyn Write, quiet: bool) -> fmt::Result {
        levels::lines(out, self.analysis)?;
        if quiet {
            return Ok(());
        }
        levels::remarks(out, self.analysis)?;
        out.write_char('\n')?;
        levels::models(out, self.analysis)
    }
}

fn padded(what: fmt::Arguments<'_>) -> Text<48> {
    let mut text = Text::EMPTY;
    // What does not fit is left out; columns are wide enough for every number that is one.
    let _ = text.write_fmt(what);
    text
}
