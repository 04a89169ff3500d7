//! Helpers for tests of several packages. Nothing here is part of the executable.
//!
//! - `simulated` replaces memory, chains and counters, so that tests of the engine run in simulated time.
//! - `outcome` has a point, and points with a known time.
//! - `plain` has the phrases that no text for users contains.
//! - `words` has the words of other instruction sets.

pub mod outcome;
pub mod plain;
pub mod simulated;
pub mod words;

/// Returns a copy that is never freed: the program's arguments and its machine live as long as the process.
pub fn leaked<T: Clone>(values: &[T]) -> &'static [T] {
    alloc::boxed::Box::leak(values.into())
}
