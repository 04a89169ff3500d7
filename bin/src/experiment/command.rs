//! Commands on saved results, which measure nothing: a new one is a file here and a line in the table.

use core::fmt;

use crate::error::Failure;
use crate::options::{Descriptor, Options};
use crate::report::terminal::Terminal;

/// What a command works with.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// What was asked for.
    pub options: &'a Options<'a>,
    /// What the result is shown on.
    pub terminal: Terminal,
}

/// Reads what its operands name and writes what it makes of it. A failure within `Ok` is one of the result, which
/// is written nevertheless.
pub type Run = for<'a> fn(&mut dyn fmt::Write, &Context<'a>) -> Result<Option<Failure<'a>>, Failure<'a>>;

/// A command.
pub struct Command {
    /// What the command line must know of it.
    pub descriptor: Descriptor,
    /// What it does.
    pub run: Run,
}
