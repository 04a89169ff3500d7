//! Turns a description into text in the requested format.

use core::fmt::{self, Write};

use super::point;
use crate::options::Options;
use crate::report::document::{Describe, Field, Level, Style};
use crate::report::format::Format;
use crate::report::terminal::Terminal;

/// Columns of tabular formats, group by group.
pub type Columns = [&'static [&'static Field]; 3];

/// Returns the columns of an experiment, and those of counters if they were requested.
#[must_use]
pub fn columns(options: &Options<'_>, [common, own]: [&'static [&'static Field]; 2]) -> Columns {
    let counted: &[_] = if options.counters { &point::COUNTED_COLUMNS } else { &[] };
    [common, own, counted]
}

/// Writes a description in a format.
///
/// # Errors
///
/// An error of `out`.
pub fn write(
    out: &mut dyn Write,
    format: &Format,
    options: &Options<'_>,
    terminal: Terminal,
    columns: Columns,
    describe: Describe<'_>,
) -> fmt::Result {
    let level = match (options.quiet, options.verbose) {
        (true, _) => Level::Quiet,
        (false, true) => Level::Verbose,
        (false, false) => Level::Normal,
    };
    (format.write)(out, &Style { terminal, level, columns }, describe)
}
