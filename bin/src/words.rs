//! The words of results that depend on the instruction set.
//!
//! A build has those of its own instruction set. A test may describe a result as a build for another one does.

/// Returns the words of results.
#[cfg(not(test))]
pub const fn words() -> latency_core::arch::Words {
    latency_core::arch::WORDS
}

#[cfg(test)]
pub use in_tests::{AARCH64, X86_64, speak, words};

#[cfg(test)]
mod in_tests {
    use std::cell::Cell;
    use std::thread_local;

    use latency_core::arch::{WORDS, Words, aarch64_words, x86_64_words};

    /// The words of an instruction set with coarse counters.
    pub const AARCH64: Words = aarch64_words::WORDS;
    /// The words of an instruction set without coarse counters.
    pub const X86_64: Words = x86_64_words::WORDS;

    thread_local! {
        static SPOKEN: Cell<Words> = const { Cell::new(WORDS) };
    }

    /// Returns the words of results on this thread.
    pub fn words() -> Words {
        SPOKEN.get()
    }

    /// The end of the use of other words.
    pub struct Until(Words);

    impl Drop for Until {
        fn drop(&mut self) {
            SPOKEN.set(self.0);
        }
    }

    /// Uses these words for results on this thread, until the returned value is dropped.
    pub fn speak(words: Words) -> Until {
        Until(SPOKEN.replace(words))
    }
}
