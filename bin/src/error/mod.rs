//! Every reason to end the program early, with its exit code and its message.
//!
//! Failures are plain data that borrow the user's arguments. A message states the request, the finding and the remedy;
//! the caller writes the label before it. Nothing here depends on the way in which a failure occurs.
//!
//! Functions that can fail return a failure. It occurs rarely, so it has only two machine words; the data of its
//! message are stored elsewhere, for the rest of the process.

mod outcome;
mod placement;
mod saved;
mod unanswered;

#[cfg(test)]
mod tests;

use core::fmt;

use latency_core::units::Bytes;

use crate::options::UsageError;
use crate::sys::errno::Errno;
use crate::sys::table::Table;

pub use outcome::{MissingHosts, NoVerdict, Outliers, OutputError, Regression, TimingError};
pub use placement::{LONGEST_STEP_NS, PlacementError};
pub use saved::{Problem, SavedError};
pub use unanswered::{Differences, PageKinds, Typed, Unanswered};

/// A reason to end with another exit code than 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Failure<'a> {
    /// The arguments are invalid: exit 1.
    Usage(&'a UsageError<'a>),
    /// A saved result cannot be used: exit 1.
    Saved(&'a SavedError<'a>),
    /// The requested CPU, node, memory policy or pages were not obtained, or not verified: exit 2.
    Placement(&'a PlacementError<'a>),
    /// No clock, or an unreliable result: exit 3.
    Timing(&'a TimingError),
    /// The result could not be written: exit 4.
    Output(&'a OutputError<'a>),
    /// `compare`: the second result is slower: exit 5.
    Slower(&'a Regression),
    /// `fleet`: hosts are slower than others: exit 5.
    SlowHosts(&'a Outliers),
    /// `compare`, `fleet`: the results allow no verdict: exit 6.
    NoVerdict(&'a NoVerdict),
    /// A signal ended the run before there was a result: exit 130.
    Interrupted,
    /// A signal ended the run, and the result of the finished points was written: exit 130.
    Partial,
    /// A signal ended the program while the output was blocked: exit 130.
    GivenUp,
}

impl Failure<'_> {
    /// Returns the word before the message: a slower result is an outcome, not an error.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self {
            Failure::Slower(_) => "regression",
            Failure::SlowHosts(_) => "slow hosts",
            Failure::NoVerdict(_) => "no verdict",
            _ => "error",
        }
    }

    /// Returns the exit code of the process.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) | Failure::Saved(_) => 1,
            Failure::Placement(_) => 2,
            Failure::Timing(_) => 3,
            Failure::Output(_) => 4,
            Failure::Slower(_) | Failure::SlowHosts(_) => 5,
            Failure::NoVerdict(_) => 6,
            Failure::Interrupted | Failure::Partial | Failure::GivenUp => 130,
        }
    }
}

impl fmt::Display for Failure<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(error) => error.fmt(out),
            Failure::Saved(error) => error.fmt(out),
            Failure::Placement(error) => error.fmt(out),
            Failure::Timing(error) => error.fmt(out),
            Failure::Output(error) => error.fmt(out),
            Failure::Slower(slower) => slower.fmt(out),
            Failure::SlowHosts(slow) => slow.fmt(out),
            Failure::NoVerdict(why) => why.fmt(out),
            Failure::Interrupted => write!(out, "interrupted before the first result"),
            Failure::Partial => {
                write!(out, "interrupted; printed the finished points, and marked the result as partial")
            }
            Failure::GivenUp => {
                write!(out, "interrupted; no program read the output, which is incomplete; use --output=FILE")
            }
        }
    }
}

impl Failure<'_> {
    /// Returns the failure of a size, a stride and an order for which there is no chain.
    #[must_use]
    pub fn no_such_chain(size: Bytes, stride: Bytes) -> Failure<'static> {
        UsageError::NoSuchChain { size, stride }.into()
    }

    /// The failure of a run without a point that can be measured.
    pub const NOTHING_TO_MEASURE: Failure<'static> = Failure::Placement(&PlacementError::NothingToMeasure);

    /// The failure of a pointer chase that did not end at the expected node, or could not start.
    pub const HOPS_NOT_PROVEN: Failure<'static> = Failure::Timing(&TimingError::HopsNotProven);

    /// The failure if memory is too short to store another failure.
    const NO_MEMORY: Failure<'static> =
        Failure::Placement(&PlacementError::CallFailed { call: "mmap", errno: Errno::ENOMEM, node: None });
}

/// Stores `error` for the rest of the process; `None` if there is no memory for it.
fn kept<'a, T: Copy>(error: T) -> Option<&'a T> {
    Table::filled(1, error).ok().and_then(|table| table.leak().first())
}

macro_rules! failures {
    ($($variant:ident $error:ty;)*) => {
        $(impl<'a> From<$error> for Failure<'a> {
            #[cold]
            fn from(error: $error) -> Self {
                kept(error).map_or(Failure::NO_MEMORY, Failure::$variant)
            }
        })*
    };
}
failures! {
    Usage UsageError<'a>;
    Saved SavedError<'a>;
    Placement PlacementError<'a>;
    Timing TimingError;
    Output OutputError<'a>;
    Slower Regression;
    NoVerdict NoVerdict;
    SlowHosts Outliers;
}

/// Converts the error of mapping the program's own tables.
impl From<Errno> for Failure<'_> {
    fn from(errno: Errno) -> Self {
        PlacementError::CallFailed { call: "mmap", errno, node: None }.into()
    }
}
