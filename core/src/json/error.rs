//! The reason why a document was rejected, and the offset of the defect.

use core::fmt;

/// Maximum depth of nested objects and arrays, for reading and for writing.
///
/// The kinds of the open containers are stored as the bits of one word.
pub const MAX_DEPTH: usize = 64;

/// A defect of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// The offset of the byte at which reading stopped.
    pub offset: usize,
    /// The kind of defect.
    pub reason: Reason,
}

/// The kinds of defects of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The document ends too early.
    Truncated,
    /// Something follows the document.
    Trailing,
    /// A byte that the grammar does not allow here; the text describes the expected one.
    Expected(&'static str),
    /// A number with a leading zero, a bare point or no digits.
    Number,
    /// A number that is not finite in double precision.
    NumberRange,
    /// A backslash before a character that it cannot escape, or half of a surrogate pair.
    Escape,
    /// A control character that is not escaped.
    Control,
    /// Bytes that are not UTF-8.
    Encoding,
    /// More than [`MAX_DEPTH`] nested containers.
    Depth,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "byte {}: {}", self.offset, self.reason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => out.write_str("the document ends too early"),
            Self::Trailing => out.write_str("something follows the document"),
            Self::Expected(what) => write!(out, "expected {what}"),
            Self::Number => out.write_str("malformed number"),
            Self::NumberRange => out.write_str("number out of range"),
            Self::Escape => out.write_str("invalid escape in a string"),
            Self::Control => out.write_str("control character in a string"),
            Self::Encoding => out.write_str("invalid UTF-8 in a string"),
            Self::Depth => write!(out, "nested deeper than {} levels", MAX_DEPTH),
        }
    }
}
