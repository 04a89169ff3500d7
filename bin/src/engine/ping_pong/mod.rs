//! Lines between two CPUs: the partner of the first thread, what they exchange, and the values of each line.

pub mod driver;
mod ground;
pub mod mailbox;
mod record;

pub use record::Record;
