//! Everything that asks the kernel, one concern a file.
//!
//! The rest of the program meets the machine through these types alone: no type
//! of rustix or linux-raw-sys leaves this directory. Nothing here decides what to
//! measure, and nothing here prints what was measured.

pub mod arguments;
pub mod cpu;
pub mod errno;
pub mod file;
pub mod init;
pub mod mailbox;
pub mod map;
pub mod numa;
pub mod out;
mod output_file;
pub mod path;
pub mod perf;
pub mod raw;
pub mod signal;
pub mod system;
pub mod table;
pub mod terminal;
pub mod thread;
pub mod time;
