//! The commands that work on saved results, and the report, which also runs several experiments. A new command needs a
//! file here and a line in the catalogue.

pub mod compare;
pub mod expect;
pub mod fit;
pub mod fleet;
pub mod reference;
pub mod report;
pub mod show;

#[cfg(test)]
pub use fleet::tests as fleet_tests;

use core::fmt::{self, Display};

use latency_core::text::joined;

use crate::describe::CommandRun;
use crate::describe::output::Columns;
use crate::error::Failure;
use crate::options::{Descriptor, Options};
use crate::report::shown::Shown;

/// A function that presents the findings of a command.
type PresentFindings<'p> = &'p mut dyn FnMut(&mut Shown);
/// A function that writes findings in the requested formats.
pub type Write<'w> = &'w mut dyn FnMut(PresentFindings<'_>);

/// A command.
pub struct Command {
    /// The description of its part of the command line.
    pub descriptor: Descriptor,
    /// The columns of its rows in tabular formats.
    pub columns: Columns,
    /// Reads the files that the operands name, and writes the result.
    ///
    /// A failure within `Ok` concerns the result, which is written nevertheless.
    pub run: for<'a> fn(&'a Options<'a>, Write<'_>) -> Result<Option<Failure<'a>>, Failure<'a>>,
}

impl Command {
    /// Reads the files that the operands name, and writes the result behind the description of the run, which `ran`
    /// returns.
    ///
    /// # Errors
    ///
    /// A failure without a result. A failure within `Ok` concerns the result.
    pub fn perform<'a>(
        &self,
        options: &'a Options<'a>,
        ran: &dyn Fn() -> CommandRun<'a>,
        write: &mut dyn FnMut(&Shown),
    ) -> Result<Option<Failure<'a>>, Failure<'a>> {
        (self.run)(options, &mut |present| {
            let mut shown = Shown::new();
            ran().present(&mut shown);
            present(&mut shown);
            write(&shown);
        })
    }
}

/// Shows up to `most` of `count` items, separated by commas, and the number of further items.
fn listed<D: Display, I: Iterator<Item = D> + Clone>(
    most: usize,
    count: usize,
    things: I,
) -> impl Display + use<D, I> {
    fmt::from_fn(move |out| {
        joined("", ", ", things.clone().take(most)).fmt(out)?;
        match count.saturating_sub(most) {
            0 => Ok(()),
            more => write!(out, " and {more} more"),
        }
    })
}
