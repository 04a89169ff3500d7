//! Every reason to end the program early, with its exit code and its message.
//!
//! Failures are plain data. They refer to the user's arguments, which live as long as the process. A message states the
//! request, the finding and the remedy; the caller writes the label before it, and leaves out advice that the command
//! cannot follow. Nothing here depends on the way in which a failure occurs.
//!
//! Functions that can fail return a failure. It occurs rarely, so it has only two machine words; the data of its
//! message are stored elsewhere, for the rest of the process.

mod outcome;
mod saved;

#[cfg(test)]
mod advice_tests;
#[cfg(test)]
mod tests;

use core::fmt;

use latency_core::messages;
use latency_core::text::split;

use crate::options::{FLAGS, FlagId, FlagSet, UsageError};
use latency_engine::error::{MeasureError, PlacementError, TimingError, keep};
use latency_sys::Errno;

pub use outcome::{MissingHosts, NoVerdict, Outliers, OutputError, Regression, Unreliable};
pub use saved::{Few, Problem, SavedError, Typed, Unanswered};

messages! {
    /// A reason to end with another exit code than 0.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum Failure {
        /// The arguments are invalid: exit 1.
        Usage(error: &'static UsageError) => "{error}";
        /// A saved result cannot be used: exit 1.
        Saved(error: &'static SavedError) => "{error}";
        /// The requested CPU, node, memory policy or pages were not obtained, or not verified: exit 2.
        Placement(error: &'static PlacementError) => "{error}";
        /// There is no usable clock, or a walk was wrong: exit 3.
        Timing(error: &'static TimingError) => "{error}";
        /// An unreliable result with `--strict`: exit 3.
        Unreliable(error: &'static Unreliable) => "{error}";
        /// The result could not be written: exit 4.
        Output(error: &'static OutputError) => "{error}";
        /// `compare`: the second result is slower: exit 5.
        Slower(slower: &'static Regression) => "{slower}";
        /// `fleet`: hosts are slower than others: exit 5.
        SlowHosts(slow: &'static Outliers) => "{slow}";
        /// `compare`, `fleet`: the results allow no verdict: exit 6.
        NoVerdict(why: &'static NoVerdict) => "{why}";
        /// A signal ended the run before there was a result: exit 130.
        Interrupted => "interrupted before the first result";
        /// A signal ended the run, and the result of the finished points was written: exit 130.
        Partial => "interrupted; printed the finished points, and marked the result as partial";
        /// A signal ended the program while the output was blocked: exit 130.
        GivenUp => "interrupted; no program read the output, which is incomplete; use --output=FILE";
    }
}

impl Failure {
    /// The failure of a run without a point that can be measured.
    pub const NOTHING_TO_MEASURE: Failure = Failure::Placement(&PlacementError::NothingToMeasure);

    /// The failure if memory is too short.
    pub const NO_MEMORY: Failure = Failure::Placement(&PlacementError::NO_MEMORY);

    /// Returns the word before the message: a slower result is an outcome, not an error.
    pub const fn label(&self) -> &'static str {
        match self {
            Failure::Slower(_) => "regression",
            Failure::SlowHosts(_) => "slow hosts",
            Failure::NoVerdict(_) => "no verdict",
            _ => "ERROR",
        }
    }

    /// Returns the exit code of the process.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) | Failure::Saved(_) => 1,
            Failure::Placement(_) => 2,
            Failure::Timing(_) | Failure::Unreliable(_) => 3,
            Failure::Output(_) => 4,
            Failure::Slower(_) | Failure::SlowHosts(_) => 5,
            Failure::NoVerdict(_) => 6,
            Failure::Interrupted | Failure::Partial | Failure::GivenUp => 130,
        }
    }
}

macro_rules! failures {
    ($($variant:ident $error:ty;)*) => {
        $(impl From<$error> for Failure {
            #[cold]
            fn from(error: $error) -> Self {
                keep(error).map_or(Failure::NO_MEMORY, Failure::$variant)
            }
        })*
    };
}
failures! {
    Usage UsageError;
    Saved SavedError;
    Placement PlacementError;
    Timing TimingError;
    Unreliable Unreliable;
    Output OutputError;
    Slower Regression;
    NoVerdict NoVerdict;
    SlowHosts Outliers;
}

impl From<MeasureError> for Failure {
    fn from(error: MeasureError) -> Self {
        match error {
            MeasureError::Placement(error) => Failure::Placement(error),
            MeasureError::Timing(error) => Failure::Timing(error),
            MeasureError::NoSuchChain(&(size, stride)) => UsageError::NoSuchChain { size, stride }.into(),
            MeasureError::Interrupted => Failure::Interrupted,
        }
    }
}

/// Converts the error of mapping the program's own tables.
impl From<Errno> for Failure {
    fn from(errno: Errno) -> Self {
        MeasureError::from(errno).into()
    }
}

/// Returns a message without the advice that a command with these options cannot follow. The parts behind semicolons
/// are the advice.
pub fn suited_advice(message: &str, accepted: FlagSet) -> impl fmt::Display {
    fmt::from_fn(move |out| {
        for (part, clause) in split(message, "; ").enumerate() {
            if part == 0 {
                out.write_str(clause)?;
                continue;
            }
            let mut before = "; ";
            for advice in split(clause, ", or ") {
                // Some commands that measure have a largest size in place of a size.
                let size = match accepted.contains(FlagId::Size) || !accepted.contains(FlagId::MaxSize) {
                    true => "--size",
                    false => "--max-size",
                };
                if has_all(advice, size, accepted) {
                    out.write_str(core::mem::replace(&mut before, ", or "))?;
                    for (piece, text) in split(advice, "--size").enumerate() {
                        out.write_str(if piece > 0 { size } else { "" })?;
                        out.write_str(text)?;
                    }
                }
            }
        }
        Ok(())
    })
}

/// Returns whether a command has all options in an advice; those of command lines in backticks are of other commands.
fn has_all(advice: &str, size: &str, accepted: FlagSet) -> bool {
    let own = advice.split('`').step_by(2);
    own.flat_map(|text| split(text, "--").skip(1)).all(|text| {
        let end = text.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(text.len());
        let name = text.get(..end).unwrap_or_default();
        let name = if name == "size" { size.trim_start_matches('-') } else { name };
        FLAGS.iter().find(|flag| flag.name == name).is_none_or(|flag| accepted.contains(flag.id))
    })
}
