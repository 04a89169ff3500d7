//! Lines that threads on several CPUs use in turn: the partners of the first thread, and walks over the lines.

pub mod driver;
mod owned_lines;
pub mod partner;
mod ping_pong;
mod record;
