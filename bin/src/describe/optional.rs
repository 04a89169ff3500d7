//! Values in the middle of a sentence that may be missing.

use core::fmt::{self, Display};

/// Shows what is there, and nothing otherwise.
pub fn optional<T: Copy>(
    value: Option<T>,
    show: impl Fn(T, &mut fmt::Formatter<'_>) -> fmt::Result,
) -> impl Display {
    fmt::from_fn(move |out| value.map_or(Ok(()), |value| show(value, out)))
}
