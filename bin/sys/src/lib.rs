//! All calls to the kernel, one concern a file.
//!
//! The rest of the program uses the machine through these types only: no type of rustix or linux-raw-sys leaves this
//! package. No code here decides what to measure, and none prints results. There is no heap here but the one that
//! [`heap`] is.

#![no_std]

#[cfg(test)]
extern crate std;

#[macro_use]
mod arch;
pub mod arguments;
pub mod auxv;
pub mod cpu;
pub mod errno;
pub mod file;
pub mod heap;
pub mod init;
pub mod mailbox;
pub mod map;
pub mod numa;
pub mod out;
mod output_file;
pub mod path;
pub mod perf;
pub mod probe;
pub mod raw;
mod shared;
pub mod signal;
pub mod table;
pub mod terminal;
pub mod thread;
pub mod time;
pub mod zero_pages;

pub use errno::Errno;
pub use file::SystemFiles;
pub use table::Table;
