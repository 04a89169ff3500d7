//! The effect of a warning on trust.

/// The effect of a warning on trust, mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A fact that casts no doubt.
    Note,
    /// The result is right as far as its interval says, but less certain, clean or complete than was asked for.
    Fair,
    /// There is evidence that the value is wrong or unproven.
    Poor,
}

impl Severity {
    /// Returns the word for it, as documents have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Fair => "fair",
            Severity::Poor => "poor",
        }
    }
}
