//! JSON (RFC 8259) without a heap: a streaming writer and a pull reader.
//!
//! The writer saves results; the reader reads saved results, which may have been edited, truncated
//! or made by another tool. Neither depends on the structure of a result.

mod read;
mod write;

pub use read::{Error, Event, MAX_DEPTH, NOT_A_RESULT, Reader, Str};
pub use write::{Layout, Writer};
