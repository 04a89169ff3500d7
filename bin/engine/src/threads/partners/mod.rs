//! Lines that threads on several CPUs use in turn: the partners of the first thread, and walks over the lines.

mod owned_lines;
mod partner;
mod ping_pong;

pub use owned_lines::OwnedWalk;
pub use partner::{Lines, Others, Partner, PartnerTask, SharedByPartners, dismiss, work};
pub use ping_pong::{MOST_LINES, PingPongWalk, Record};
