//! The words of other instruction sets, for results that tests describe as a build for one of them does.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use latency_core::arch::{Words, aarch64_words, x86_64_words};
use latency_sys::time::thread_clock;

/// The words of an instruction set with coarse counters.
pub const AARCH64: Words = aarch64_words::WORDS;
/// The words of an instruction set without coarse counters.
pub const X86_64: Words = x86_64_words::WORDS;

/// The threads that use other words than those of this build: the clock of each, by which the kernel numbers them, and
/// in the lowest bit whether the words are [`AARCH64`]. Zero is free. There is no standard library here that knows
/// threads.
static SPEAKERS: [AtomicU64; 256] = [const { AtomicU64::new(0) }; 256];

fn slot(is_wanted: impl Fn(u64) -> bool) -> Option<&'static AtomicU64> {
    SPEAKERS.iter().find(|slot| is_wanted(slot.load(Relaxed)))
}

fn own_slot() -> Option<&'static AtomicU64> {
    let own = u64::from(thread_clock());
    slot(|value| value >> 1 == own)
}

/// Returns the words that a test uses on this thread, if it does.
pub fn spoken() -> Option<Words> {
    let slot = own_slot()?;
    Some(if slot.load(Relaxed) & 1 == 1 { AARCH64 } else { X86_64 })
}

/// The end of the use of other words.
pub struct Until(&'static AtomicU64, u64);

impl Drop for Until {
    fn drop(&mut self) {
        self.0.store(self.1, Relaxed);
    }
}

/// Uses these words for results on this thread, until the returned value is dropped.
///
/// # Panics
///
/// If more threads than there are places use other words at a time.
pub fn speak(words: Words) -> Until {
    let is_aarch64 = u64::from(words.counter_name == AARCH64.counter_name);
    let spoken = u64::from(thread_clock()) << 1 | is_aarch64;
    if let Some(slot) = own_slot() {
        return Until(slot, slot.swap(spoken, Relaxed));
    }
    loop {
        let slot = slot(|value| value == 0).expect("fewer threads");
        if slot.compare_exchange(0, spoken, Relaxed, Relaxed).is_ok() {
            return Until(slot, 0);
        }
    }
}
