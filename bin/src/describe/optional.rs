//! Optional values in the middle of a sentence.

use core::fmt::{self, Display};

/// Shows a value if there is one, and nothing otherwise.
pub fn optional<T: Copy>(
    value: Option<T>,
    show: impl Fn(T, &mut fmt::Formatter<'_>) -> fmt::Result,
) -> impl Display {
    fmt::from_fn(move |out| value.map_or(Ok(()), |value| show(value, out)))
}
