//! Which of many hosts are slower than others like them? Nothing is measured.

mod findings;
mod names;
mod programs;
mod runs;
#[cfg(test)]
pub mod tests;
mod view;

use super::command::{Command, Write};
use crate::error::{Failure, Outliers, SavedError};
use crate::options::{Descriptor, FlagId, FlagSet, Operands, Options, MAX_OPERANDS};
use runs::{Refused, Runs, Values};
use view::View;

/// The command that looks for slow hosts.
pub const FLEET: Command = Command {
    descriptor: Descriptor {
        name: "fleet",
        summary: "which of many hosts are slower than others like them?",
        details: "Each FILE holds results saved with --format=jsonl or json, one after the other, of many hosts; - is \
                  standard input. Hosts of one CPU model with as many NUMA nodes are compared, point by point: one is \
                  slower if its whole 95 % interval lies beyond the median of all by more than four robust standard \
                  deviations and by more than --threshold. Of several runs of a host the median counts. At least 5 \
                  hosts of a kind are needed, or --baseline with results that are as they should be. Unreliable \
                  results are listed and not judged without --force. Lines that are no result are named and skipped; \
                  --strict makes them an error. The exit status is 5 if a host is slower.",
        flags: FlagSet::of(&[FlagId::Threshold, FlagId::Baseline, FlagId::Force, FlagId::Strict]),
        picture: false,
        attributes: false,
        operands: Operands { names: "FILE...", least: 1, most: MAX_OPERANDS, sides: false },
    },
    columns: &programs::COLUMNS,
    run,
};

/// How much slower hosts may be where nobody says: memory modules of one kind differ by some percent.
const THRESHOLD: f64 = 0.1;

fn run<'a>(options: &'a Options<'a>, write: Write<'_>) -> Result<Option<Failure<'a>>, Failure<'a>> {
    let threshold = if options.given.contains(FlagId::Threshold) { options.threshold } else { THRESHOLD };
    let mut runs = Runs::new(options.force)?;
    let mut baseline = match options.baseline {
        Some(path) => {
            let mut values = Values::new()?;
            runs.read(path, &mut values)?;
            Some(values)
        }
        None => None,
    };
    let of_baseline = core::mem::take(&mut runs.documents);
    let mut values = Values::new()?;
    for path in options.operands() {
        runs.read(path, &mut values)?;
    }
    if let (0, Some(Refused { path, problem })) = (runs.documents, runs.refused().first().copied()) {
        let error = SavedError::Malformed { path, line: problem.line, what: problem.what };
        return Err(error.into());
    }
    runs.settle();
    values.settle();
    baseline.iter_mut().for_each(Values::settle);
    let found = findings::find(&runs, &values, baseline.as_ref(), threshold)?;
    let view = View { options, runs: &runs, found: &found, threshold, of_baseline };
    write(&mut |document| view.present(document));
    Ok(match runs.refused().first() {
        Some(&Refused { path, problem }) if options.strict => {
            let others = runs.refused_count - 1;
            Some(SavedError::Skipped { path, line: problem.line, what: problem.what, others }.into())
        }
        _ if found.slow > 0 => Some(Outliers { hosts: found.slow, of: found.judged, threshold }.into()),
        _ => None,
    })
}
