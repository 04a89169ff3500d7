//! The reason why a document was rejected, and the offset of the defect.

use core::fmt;

use crate::messages;

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

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "byte {}: {}", self.offset, self.reason)
    }
}

messages! {
    /// The kinds of defects of a document.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Reason {
        /// The document ends too early.
        Truncated => "the document ends too early";
        /// Something follows the document.
        Trailing => "something follows the document";
        /// A byte that the grammar does not allow here; the text describes the expected one.
        Expected(what: &'static str) => "expected {what}";
        /// A number with a leading zero, a bare point or no digits.
        Number => "malformed number";
        /// A number that is not finite in double precision.
        NumberRange => "number out of range";
        /// A backslash before a character that it cannot escape, or half of a surrogate pair.
        Escape => "invalid escape in a string";
        /// A control character that is not escaped.
        Control => "control character in a string";
        /// Bytes that are not UTF-8.
        Encoding => "invalid UTF-8 in a string";
        /// More than [`MAX_DEPTH`] nested containers.
        Depth => "nested deeper than {MAX_DEPTH} levels";
    }
}
