//! The words of results that depend on the instruction set.
//!
//! A build has those of its own instruction set. A test may describe a result as a build for another one does.

use latency_core::arch::{WORDS, Words};

#[cfg(any(test, feature = "tests"))]
use crate::tests::words::spoken;

/// Returns the words of results.
pub fn words() -> Words {
    spoken().unwrap_or(WORDS)
}

#[cfg(not(any(test, feature = "tests")))]
const fn spoken() -> Option<Words> {
    None
}
