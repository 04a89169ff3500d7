//! Lines that threads on several CPUs use in turn: helpers of the first thread, what they share, and walks over it.

pub mod driver;
mod owned_lines;
pub mod partner;
mod ping_pong;
mod record;

pub use record::Record;
