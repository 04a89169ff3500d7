//! JSON (RFC 8259) without a heap: a streaming writer and a pull reader.
//!
//! The writer saves results; the reader reads saved results, which may have been edited, truncated
//! or made by another tool. Neither depends on the structure of a result.

mod error;
mod read;
mod string;
mod write;

pub use error::{Error, MAX_DEPTH, NOT_A_RESULT};
pub use read::{Event, Reader};
pub use string::Str;
pub use write::{Layout, Writer};
