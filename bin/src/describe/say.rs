//! Sentences whose text is packed.

use core::fmt;

use latency_core::packed::Packed;

use crate::options::message::{self, Insert};
use crate::report::document::{Document, Role};

/// Writes a sentence: its role, its text, and the names of the inserts, each with its value if this is not the variable
/// of this name.
macro_rules! say {
    ($document:expr, $role:expr, $text:literal; $($name:ident $(= $value:expr)?),+ $(,)?) => {
        $crate::describe::say::with_values(
            $document,
            $role,
            latency_core::packed!($text, $($name),+),
            &[$($crate::options::message::insert!($name $($value)?)),+],
        )
    };
}
pub(crate) use say;

/// Writes a packed sentence with the values of its inserts; see `say!`.
pub fn with_values(document: &mut dyn Document, role: Role<'_>, words: Packed, inserts: &[Insert<'_>]) {
    document.sentence(role, format_args!("{}", fmt::from_fn(|out| message::write(out, words, inserts))));
}
