//! The words of results that depend on the instruction set.
//!
//! A build has those of its own instruction set. A test may describe a result as a build for another one does.

use core::ops::RangeInclusive;

use latency_core::arch::{self, Cycles};

/// The words of one instruction set; the documentation of each is that of the item of [`arch`] that has its name.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Words {
    pub counter_name: &'static str,
    pub counter_in_full: &'static str,
    pub counter_source: &'static str,
    pub counter_declared_by: &'static str,
    pub kernel_clock_source: &'static str,
    pub claims_name: &'static str,
    pub cycles_are: Cycles,
    pub multiply_ratio: &'static str,
    pub l1_hit_cycles: &'static str,
    pub fence_does_not_wait: [&'static str; 2],
    /// True if warnings about the counter have the codes of the first instruction set that had them.
    pub has_first_codes: bool,
    /// The instructions of the closing reading; `None` for those that the processor has.
    pub end_stamp: Option<&'static str>,
}

/// The words of the instruction set that the program is built for.
pub const OF_THIS_BUILD: Words = Words {
    counter_name: arch::COUNTER_NAME,
    counter_in_full: arch::COUNTER_IN_FULL,
    counter_source: arch::COUNTER_SOURCE,
    counter_declared_by: arch::COUNTER_DECLARED_BY,
    kernel_clock_source: arch::KERNEL_CLOCK_SOURCE,
    claims_name: arch::CLAIMS_NAME,
    cycles_are: arch::CYCLES_ARE,
    multiply_ratio: text(&const { range(&arch::MULTIPLY_RATIO) }),
    l1_hit_cycles: text(&const { range(&arch::L1_HIT_CYCLES) }),
    fence_does_not_wait: arch::FENCE_DOES_NOT_WAIT,
    has_first_codes: matches!(arch::COUNTER_SOURCE.as_bytes(), b"tsc"),
    end_stamp: None,
};

/// Returns a range of digits in words: `3 or 4`, `2 to 5`.
const fn range(range: &RangeInclusive<u32>) -> [u8; 6] {
    let (low, high) = (*range.start(), *range.end());
    assert!(low < high && high < 10, "two digits");
    let [first, second] = if high == low + 1 { *b"or" } else { *b"to" };
    [b'0' + low as u8, b' ', first, second, b' ', b'0' + high as u8]
}

const fn text(letters: &'static [u8]) -> &'static str {
    match core::str::from_utf8(letters) {
        Ok(text) => text,
        Err(_) => panic!("letters"),
    }
}

/// Returns the words of results.
#[cfg(not(test))]
#[inline(always)] // the compiler knows each word
#[must_use]
pub const fn words() -> Words {
    OF_THIS_BUILD
}

#[cfg(test)]
pub use in_tests::{AARCH64, speak, words};

#[cfg(test)]
mod in_tests {
    use std::cell::Cell;
    use std::thread_local;

    use super::{Cycles, OF_THIS_BUILD, Words};

    /// The words of an instruction set with coarse counters.
    pub const AARCH64: Words = Words {
        counter_name: "system counter",
        counter_in_full: "system counter",
        counter_source: "cntvct",
        counter_declared_by: "CNTFRQ_EL0",
        kernel_clock_source: "arch_sys_counter",
        claims_name: "the processor's registers",
        cycles_are: Cycles::Core,
        multiply_ratio: "2 to 5",
        l1_hit_cycles: "3 to 5",
        fence_does_not_wait: [
            "barriers do not hold back the system counter",
            "compare with batches: run `latency-bench matrix`",
        ],
        has_first_codes: false,
        end_stamp: Some("dsb nshld; isb; mrs cntvct_el0; isb"),
    };

    thread_local! {
        static WORDS: Cell<Words> = const { Cell::new(OF_THIS_BUILD) };
    }

    /// Returns the words of results on this thread.
    #[must_use]
    pub fn words() -> Words {
        WORDS.get()
    }

    /// The end of the use of other words.
    #[must_use]
    pub struct Until(Words);

    impl Drop for Until {
        fn drop(&mut self) {
            WORDS.set(self.0);
        }
    }

    /// Uses these words for results on this thread, until the returned value is dropped.
    pub fn speak(words: Words) -> Until {
        Until(WORDS.replace(words))
    }
}
