//! Lines that threads on several CPUs use in turn: helpers of the first thread, what they share, and walks over it.

pub mod driver;
mod laps;
pub mod mailbox;
mod rally;
mod record;

pub use record::Record;
