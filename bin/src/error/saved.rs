//! A saved result that cannot be used.

use core::fmt;

use crate::options::tokens::Escaped;
use crate::sys::errno::Errno;

/// A file that `fit` or `compare` cannot use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are named for what they hold; what they mean is the message
pub enum SavedError<'a> {
    /// A saved result that cannot be read.
    Unreadable { path: &'a [u8], errno: Errno },
    /// A saved result that cannot be understood.
    Malformed { path: &'a [u8], line: u32, what: &'static str },
    /// Two saved results that have nothing in common.
    NotComparable { what: &'static str },
}

impl fmt::Display for SavedError<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            SavedError::Unreadable { path, errno } => {
                write!(out, "cannot read '{}': {errno}; name the file of a saved result", Escaped(path))
            }
            SavedError::Malformed { path, line, what } => {
                write!(out, "'{}', line {line}: {what}; use a result saved with ", Escaped(path))?;
                out.write_str("--json or --csv")
            }
            SavedError::NotComparable { what } => {
                write!(out, "the two results cannot be compared: {what}; use two of one experiment")
            }
        }
    }
}
