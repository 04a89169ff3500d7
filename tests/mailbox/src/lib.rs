//! The mailbox of `bin`, compiled from its own source with the atomics and cells of loom.
//!
//! loom executes a test once for every order of accesses and every value that a load may read under Rust's memory model,
//! which aarch64 implements. It reports an access to a cell that is not ordered after the one before it, a wait that
//! nobody ends, and a failed assertion.

mod shared;

#[path = "../../../bin/src/sys/mailbox.rs"]
pub mod mailbox;
