//! Everything that ends the program early, with its exit code and its message.
//!
//! Failures are plain data that borrow what the user typed. A message says what
//! was asked, what was found and what to do; the caller puts the label before
//! it. Nothing here knows how a failure comes about.

mod outcome;
mod placement;
mod saved;

#[cfg(test)]
mod tests;

use core::fmt;
use latency_core::decimal::{Decimal, Trimmed};

use crate::options::UsageError;
use crate::sys::errno::Errno;

pub use outcome::{OutputError, TimingError};
pub use placement::PlacementError;
pub use saved::SavedError;

/// A reason to end with a status other than success.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Failure<'a> {
    /// The arguments are invalid: exit 1.
    Usage(UsageError<'a>),
    /// A saved result cannot be used: exit 1.
    Saved(SavedError<'a>),
    /// CPU, node, policy or pages were not obtained, or not proven: exit 2.
    Placement(PlacementError<'a>),
    /// No clock, or an unreliable result: exit 3.
    Timing(TimingError),
    /// The result could not be written: exit 4.
    Output(OutputError<'a>),
    /// `compare`: the second result is slower: exit 5.
    Slower {
        /// The excess, as a fraction of the first.
        by: f64,
        /// The excess that is allowed, as a fraction of the first.
        threshold: f64,
    },
    /// A signal asked for the end: exit 130.
    Interrupted,
}

impl Failure<'_> {
    /// Returns the word that the message begins with: a slower result is an outcome, not an error.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self {
            Failure::Slower { .. } => "REGRESSION",
            _ => "ERROR",
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
            Failure::Slower { .. } => 5,
            Failure::Interrupted => 130,
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
            Failure::Slower { by, threshold } => {
                let digits = if *by < 1.0 { 1 } else { 0 };
                write!(out, "B is {:.digits$} % slower than A ", Decimal(by * 100.0))?;
                write!(out, "(allowed: {} %, --threshold)", Trimmed(threshold * 100.0))
            }
            Failure::Interrupted => out
                .write_str("interrupted; finished points were printed, and the result is marked as partial"),
        }
    }
}

impl<'a> From<UsageError<'a>> for Failure<'a> {
    fn from(error: UsageError<'a>) -> Self {
        Failure::Usage(error)
    }
}

impl<'a> From<PlacementError<'a>> for Failure<'a> {
    fn from(error: PlacementError<'a>) -> Self {
        Failure::Placement(error)
    }
}

/// The program's own tables could not be mapped.
impl From<Errno> for Failure<'_> {
    fn from(errno: Errno) -> Self {
        Failure::Placement(PlacementError::CallFailed { call: "mmap", errno, node: None })
    }
}

impl<'a> From<SavedError<'a>> for Failure<'a> {
    fn from(error: SavedError<'a>) -> Self {
        Failure::Saved(error)
    }
}

impl From<TimingError> for Failure<'_> {
    fn from(error: TimingError) -> Self {
        Failure::Timing(error)
    }
}

impl<'a> From<OutputError<'a>> for Failure<'a> {
    fn from(error: OutputError<'a>) -> Self {
        Failure::Output(error)
    }
}
