//! The reason why a document was rejected, and the offset of the defect.

/// Maximum depth of nested objects and arrays, for reading and for writing.
///
/// The kinds of the open containers are stored as the bits of one word.
pub const MAX_DEPTH: usize = 64;

/// A defect of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// The offset of the byte at which reading stopped.
    pub offset: usize,
    /// The defect, in words for people.
    pub what: &'static str,
}

/// The document ends too early.
pub(super) const TRUNCATED: &str = "the document is cut off";
/// Something follows the document.
pub(super) const TRAILING: &str = "text after the end of the document";
/// A byte that the grammar does not allow here, or a value of another kind than in a result.
pub const NOT_A_RESULT: &str = "not JSON, or not a result";
/// A number with a leading zero, a bare point or no digits.
pub(super) const NUMBER: &str = "malformed number";
/// A number that is not finite in double precision.
pub(super) const NUMBER_RANGE: &str = "number out of range";
/// A backslash before a character that it cannot escape, or half of a surrogate pair.
pub(super) const ESCAPE: &str = "invalid escape in a string";
/// A control character that is not escaped.
pub(super) const CONTROL: &str = "control character in a string";
/// Bytes that are not UTF-8.
pub(super) const ENCODING: &str = "invalid UTF-8 in a string";
/// More than [`MAX_DEPTH`] nested containers.
pub(super) const DEPTH: &str = "nested too deep";
