//! Lines that threads on several CPUs use in turn: the partners of the first thread, and walks over the lines.

pub mod owned_lines;
pub mod partner;
pub mod ping_pong;
pub mod record;
