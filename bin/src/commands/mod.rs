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

use crate::describe::CommandRun;
use crate::describe::output::Columns;
use crate::error::Failure;
use crate::options::{Descriptor, Options};
use latency_report::Shown;

/// The result of a command.
pub struct CommandResult {
    /// The findings.
    pub shown: Shown,
    /// True if the findings are a whole document, with the description of its own run.
    pub is_whole: bool,
    /// The failure that the findings mean; they are written nevertheless.
    pub failure: Option<Failure>,
}

impl From<Shown> for CommandResult {
    /// Returns findings that mean no failure.
    fn from(shown: Shown) -> Self {
        CommandResult { shown, is_whole: false, failure: None }
    }
}

/// A command.
pub struct Command {
    /// The description of its part of the command line.
    pub descriptor: Descriptor,
    /// The columns of its rows in tabular formats.
    pub columns: Columns,
    /// Reads the files that the operands name, and returns the findings.
    pub run: fn(&Options) -> Result<CommandResult, Failure>,
}

impl Command {
    /// Reads the files that the operands name. Returns the description of the run, which `ran` returns, with the findings
    /// behind it, and the failure that these mean.
    ///
    /// # Errors
    ///
    /// A failure without findings.
    pub fn perform<'a>(
        &self,
        options: &'a Options,
        ran: &dyn Fn() -> CommandRun<'a>,
    ) -> Result<(Shown, Option<Failure>), Failure> {
        let CommandResult { shown, is_whole, failure } = (self.run)(options)?;
        if is_whole {
            return Ok((shown, failure));
        }
        let mut whole = Shown::of(|document| ran().present(document));
        whole.append(shown);
        Ok((whole, failure))
    }
}
