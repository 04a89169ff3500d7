//! A curve for people: the points, the picture, and the levels that it shows.

pub mod levels;
pub mod picture;

use core::fmt::{self, Write};

use latency_core::text::Text;

use super::figures::Figure;
use super::plot;
use super::terminal::Terminal;
use crate::analysis::curve::Analysis;
use crate::analysis::samples::Sample;

/// What the formats of a curve show, measured here or read from a file.
#[derive(Clone, Copy, Debug)]
pub struct View<'v> {
    /// What is above the picture.
    pub title: &'v str,
    /// The conditions.
    pub subtitle: &'v str,
    /// The points that were fitted, by ascending size.
    pub samples: &'v [Sample],
    /// What was concluded of them.
    pub analysis: &'v Analysis,
    /// Accesses per second in place of latencies.
    pub reciprocal: bool,
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

    /// Writes the levels, what the system says otherwise, and the models.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn conclusions(&self, out: &mut dyn Write) -> fmt::Result {
        levels::lines(out, self.analysis)?;
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
