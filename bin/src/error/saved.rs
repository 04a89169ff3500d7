//! A saved result that cannot be used.

use core::fmt;

use latency_core::text::Text;
use latency_core::units::Bytes;

use crate::options::message;
use crate::options::tokens::Escaped;
use crate::sys::errno::Errno;

/// A defect of a file, and its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: u32,
    /// The defect.
    pub what: &'static str,
    /// The version of this program that can read the file, if this version is too old.
    pub version: Text<24>,
}

impl Problem {
    /// Returns a problem in a line.
    #[must_use]
    pub const fn new(line: u32, what: &'static str) -> Problem {
        Problem { line, what, version: Text::EMPTY }
    }
}

/// Writes the defect.
impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.what)?;
        match self.version.is_empty() {
            true => Ok(()),
            false => write!(out, "; use latency-bench {} or later", self.version),
        }
    }
}

/// A file that `fit` or `compare` cannot use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are named for what they hold; what they mean is the message
pub enum SavedError<'a> {
    /// A saved result that cannot be read.
    Unreadable { path: &'a [u8], errno: Errno },
    /// A file that is larger than any saved result.
    TooLarge { path: &'a [u8], limit: Bytes },
    /// A saved result that cannot be understood.
    Malformed { path: &'a [u8], problem: Problem },
    /// Input lines that are not results, with `--strict`: the first, and the number of others.
    Skipped { path: &'a [u8], problem: Problem, others: usize },
    /// Sizes that cannot be bytes, and that have no unit.
    NoUnit { path: &'a [u8] },
    /// A result of an experiment without curves.
    OtherExperiment { path: &'a [u8], experiment: Text<32> },
    /// A file without a curve.
    NoCurve { path: &'a [u8], why: &'static str },
    /// Results of different experiments.
    Different { first: Text<32>, second: Text<32> },
    /// Results without a common point; `field` is the field that differs, if there is one.
    NothingCommon { field: &'static str },
    /// A result without the requested values.
    NoUndisturbed,
    /// Results that are not curves, for which there is no picture.
    NoPicture,
}

impl fmt::Display for SavedError<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            SavedError::Unreadable { path, errno } => {
                let remedy = match path.starts_with(b"--") {
                    true => "options go before --",
                    false => "expected a result saved with -o FILE.json",
                };
                write!(out, "cannot read '{}': {errno}; {remedy}", Escaped(path))
            }
            SavedError::TooLarge { path, limit } => {
                message!(out, "'{}' is larger than {limit}", Escaped(path);
                "expected a result saved with -o FILE.json")
            }
            SavedError::Malformed { path, problem } => {
                write!(out, "'{}', line {}: {problem}", Escaped(path), problem.line)?;
                match problem.version.is_empty() {
                    true => out.write_str(
                        "; use a result saved with --json or --csv, or a table of sizes and nanoseconds",
                    ),
                    false => Ok(()),
                }
            }
            SavedError::Skipped { path, problem, others } => {
                write!(out, "--strict: '{}', line {}: {problem}", Escaped(path), problem.line)?;
                if others > 0 {
                    write!(out, ", and {others} more skipped lines")?;
                }
                out.write_str("; save results with --format=jsonl, or run without --strict")
            }
            SavedError::NoUnit { path } => {
                message!(out, "'{}': sizes are too small to be bytes", Escaped(path);
                "give their unit, e.g. --unit=K or --unit=M (binary)")
            }
            SavedError::OtherExperiment { path, experiment } => message!(
                out, "'{}' is a result of {}, not a curve", Escaped(path), experiment.as_str();
                "use a result of curve or pages"),
            SavedError::NoCurve { path, why } => message!(out, "'{}' is not a curve: {why}", Escaped(path);
                "a curve has the latency at many sizes"),
            SavedError::Different { first, second } => message!(
                out, "cannot compare a {} result with a {} result", first.as_str(), second.as_str();
                "compare results of one experiment"),
            SavedError::NothingCommon { field } => {
                out.write_str("A and B have no point in common")?;
                if !field.is_empty() {
                    write!(out, ": {field} differs")?;
                }
                out.write_str("; measure both with the same options")
            }
            SavedError::NoUndisturbed => message!(out, "a result has no undisturbed value";
                "run it with --until=quiet"),
            SavedError::NoPicture => message!(out, "only curves are compared in a picture";
                "use --format=text or html"),
        }
    }
}
