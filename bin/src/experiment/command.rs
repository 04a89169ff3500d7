//! Commands on saved results, which measure nothing: a new one is a file here and a line in the table.

use crate::error::Failure;
use crate::options::{Descriptor, Options};
use crate::report::document::{Describe, Field};

/// Writes what a description says, in the format that was asked for.
pub type Write<'w> = &'w mut dyn FnMut(Describe<'_>);

/// Reads what its operands name, and writes what it makes of it.
///
/// A failure within `Ok` is one of the result, which is written nevertheless.
pub type Run = for<'a> fn(&'a Options<'a>, Write<'_>) -> Result<Option<Failure<'a>>, Failure<'a>>;

/// A command.
pub struct Command {
    /// What the command line must know of it.
    pub descriptor: Descriptor,
    /// The columns of its rows in tabular formats.
    pub columns: &'static [&'static Field],
    /// What it does.
    pub run: Run,
}
