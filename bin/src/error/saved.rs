//! A saved result that cannot be used.

use core::fmt;

use latency_core::text::Text;
use latency_core::units::Bytes;

use super::Unanswered;
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
        self.what.fmt(out)?;
        match self.version.is_empty() {
            true => Ok(()),
            false => write!(out, "; use latency-bench {version} or later", version = self.version.as_str()),
        }
    }
}

/// A file that `fit` or `compare` cannot use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are named for what they hold; what they mean is the message
pub enum SavedError<'a> {
    /// A saved result that cannot be read.
    Unreadable { path: &'a [u8], errno: Errno },
    /// The file of `fleet --expect` that cannot be read, or that has no names.
    NoNames { path: &'a [u8], errno: Option<Errno> },
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
    /// Results that do not answer a question.
    Unanswered { path: &'a [u8], why: Unanswered },
    /// Results without a picture; `drawn` states which results have one.
    NoPicture { drawn: &'static str },
}

impl fmt::Display for SavedError<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            SavedError::Unreadable { path, ref errno } if path.starts_with(b"--") => {
                write!(out, "cannot read '{path}': {errno}; options go before --", path = Escaped(path))
            }
            SavedError::Unreadable { path, ref errno } => {
                write!(
                    out,
                    "cannot read '{path}': {errno}; expected a result saved with -o FILE.json",
                    path = Escaped(path)
                )
            }
            SavedError::NoNames { path, errno } => {
                write!(out, "--expect: '{path}': ", path = Escaped(path))?;
                match errno {
                    Some(errno) => errno.fmt(out)?,
                    None => out.write_str("no host name")?,
                }
                out.write_str("; give a number of hosts, or a file with one host name a line")
            }
            SavedError::TooLarge { path, limit } => {
                write!(
                    out,
                    "'{path}' is larger than {limit}; expected a result saved with -o FILE.json",
                    path = Escaped(path)
                )
            }
            SavedError::Malformed { path, ref problem } => {
                write!(out, "'{path}', line {line}: {problem}", line = problem.line, path = Escaped(path))?;
                match problem.version.is_empty() {
                    true => write!(
                        out,
                        "; use a result saved with --json or --csv, or a table of sizes and nanoseconds"
                    ),
                    false => Ok(()),
                }
            }
            SavedError::Skipped { path, ref problem, others } => {
                write!(
                    out,
                    "--strict: '{path}', line {line}: {problem}",
                    line = problem.line,
                    path = Escaped(path)
                )?;
                if others > 0 {
                    write!(out, ", and {others} more skipped lines")?;
                }
                write!(out, "; save results with --format=jsonl, or run without --strict")
            }
            SavedError::NoUnit { path } => write!(
                out,
                "'{path}': sizes are too small to be bytes; give their unit, e.g. --unit=K or --unit=M \
                 (binary)",
                path = Escaped(path)
            ),
            SavedError::OtherExperiment { path, ref experiment } => write!(
                out,
                "'{path}' is a result of {experiment}, not a curve; use a result of curve or pages",
                experiment = experiment.as_str(),
                path = Escaped(path)
            ),
            SavedError::NoCurve { path, why } => {
                write!(
                    out,
                    "'{path}' is not a curve: {why}; a curve has the latency at many sizes",
                    path = Escaped(path)
                )
            }
            SavedError::Different { ref first, ref second } => write!(
                out,
                "cannot compare a {first} result with a {second} result; compare results of one experiment",
                first = first.as_str(),
                second = second.as_str()
            ),
            SavedError::NothingCommon { field: "" } => {
                write!(out, "A and B have no point in common; measure both with the same options")
            }
            SavedError::NothingCommon { field } => write!(
                out,
                "A and B have no point in common: {field} differs; measure both with the same options"
            ),
            SavedError::Unanswered { path, ref why } => why.write(out, path),
            SavedError::NoUndisturbed => {
                write!(out, "a result has no steady value; run it with --until=quiet")
            }
            SavedError::NoPicture { drawn } => {
                write!(out, "only {drawn} in a picture; use --format=text or html")
            }
        }
    }
}
