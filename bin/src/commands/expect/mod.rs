//! The expected time of a random load of a program, from saved results. Without them the caller measures what is needed.

pub mod needed;
#[cfg(test)]
mod tests;
mod view;

use core::num::NonZeroU32;

use super::report::saved::{File, read};
use super::{Command, CommandResult};
use crate::analysis::expect::{Question, ResultRows, ask};
use crate::describe::output;
use crate::error::{Failure, SavedError};
use crate::options::tokens::Escaped;
use crate::options::{Descriptor, FlagId, FlagSet, Operands, Options};
use crate::record::row::Row;
use crate::report::shown::Shown;
use crate::saved::tlb;

/// The `expect` command.
pub const EXPECT: Command = Command {
    descriptor: Descriptor {
        name: "expect",
        summary: "time of a load of your program's data",
        details: "FILE is a saved curve, a report as JSON, or another tool's table; `-` reads standard input. The latency of \
             a random load over --size bytes is read between the measured sizes around it. Without FILE it measures: a \
             curve to --size, `parallel` for --chains, and `bandwidth --traffic=random` for --cores.\n\
             In a FILE, --chains needs a result of parallel, and --cores one of bandwidth --traffic=random. What was not \
             measured is refused, with the run that would measure it (exit 1).",
        flags: FlagSet::of(&[FlagId::Size, FlagId::Pages, FlagId::Chains, FlagId::Cores]),
        operands: Operands { names: "[FILE]", least: 0, most: 1, sides: false },
        ..Descriptor::OF_VALUES
    },
    columns: output::COLUMNS,
    run,
};

/// Returns the result of a file. Tables have the name of the host among their conditions.
fn result<'f>(File { saved, .. }: &'f File<'_>) -> ResultRows<'f> {
    ResultRows {
        experiment: saved.experiment.as_str(),
        host: saved.named_host().unwrap_or_default(),
        started: saved.origin.started,
        rows: saved.rows,
    }
}

/// Reads the results of a file, and presents the answer.
fn run<'a>(options: &'a Options<'a>) -> Result<CommandResult<'a>, Failure<'a>> {
    Ok(answer(options, &read(options.operands(), false)?)?.into())
}

/// Presents the answer of results, which are of a file, or were measured for it.
///
/// # Errors
///
/// The reason why they do not answer.
pub fn answer<'a>(options: &Options<'a>, files: &[File<'a>]) -> Result<Shown, Failure<'a>> {
    let tlb = |index: usize, like: &Row| {
        files.get(index).map_or([None; 2], |file| tlb::of_row(&file.saved.tlb, like))
    };
    let question = Question {
        size: options.size,
        pages: options.pages,
        chains: options.chains,
        cores: options.cores.map(NonZeroU32::get),
    };
    let path = files.first().map_or(&b""[..], |file| file.path);
    let found = ask(&|index| files.get(index).map(result), &tlb, &question)
        .map_err(|why| SavedError::Unanswered { path: Escaped(path), why })?;
    let from = if options.operands().is_empty() { "Measured by" } else { "File" };
    Ok(Shown::of(|document| {
        if let Some(file) = files.get(found.curve.result) {
            view::present(document, files, (from, file), &found);
        }
    }))
}
