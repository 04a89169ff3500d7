//! Turns a result into text in the requested format.

use core::fmt::{self, Write};

use super::{columns, verdicts};
use crate::options::Options;
use latency_report::{Field, Format, Level, Shown, Style, Terminal};

/// Columns of tabular formats, group by group.
pub type Columns = [&'static [Field]; 2];

/// The columns of all experiments.
pub const COLUMNS: Columns = [columns::COLUMNS, &[]];

/// Writes a result in a format.
///
/// # Errors
///
/// An error of `out`.
pub fn write(
    out: &mut dyn Write,
    format: &Format,
    options: &Options,
    terminal: Terminal,
    columns: Columns,
    shown: &Shown,
) -> fmt::Result {
    let level = match (options.quiet, options.verbose) {
        (true, _) => Level::Quiet,
        (false, true) => Level::Verbose,
        (false, false) => Level::Normal,
    };
    (format.write)(out, &Style { terminal, level, columns, tests: verdicts::points }, shown)
}
