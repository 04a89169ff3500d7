//! JSON (RFC 8259) without an allocator: a streaming writer and a pull reader.
//!
//! The writer is what results are saved with; the reader is for saved results,
//! which may have been edited, cut short or made by another tool. Neither knows
//! what a result looks like.

mod error;
mod read;
mod string;
mod write;

pub use error::{Error, Reason, MAX_DEPTH};
pub use read::{Event, Reader};
pub use string::{Chars, Str};
pub use write::{Layout, Writer};
