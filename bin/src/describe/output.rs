//! Turns a description into text in the requested format.

use core::fmt::{self, Write};

use super::columns;
use crate::options::Options;
use crate::report::document::{Describe, Field, Level, Style};
use crate::report::format::Format;
use crate::report::terminal::Terminal;

/// Columns of tabular formats, group by group.
pub type Columns = [&'static [Field]; 2];

/// The columns of all experiments.
pub const COLUMNS: Columns = [columns::COLUMNS, &[]];

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
