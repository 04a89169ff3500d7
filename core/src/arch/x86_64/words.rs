//! The words of results for x86-64.

use crate::arch::{Cycles, Signature, Words};

/// The words of results.
///
/// IMUL has 3 cycles, and 4 on old AMD cores (Agner Fog, Instruction tables).
pub const WORDS: Words = Words {
    counter_name: "TSC",
    counter_in_full: "time-stamp counter",
    counter_source: "tsc",
    counter_declared_by: "CPUID",
    kernel_clock_source: "tsc",
    claims_name: "CPUID",
    signature: Signature::Family,
    cycles_are: Cycles::Counter,
    multiply_ratio: "3 or 4",
    l1_hit_cycles: "4 or 5",
    fence_does_not_wait: [
        "LFENCE is not dispatch-serializing",
        " (CPUID says it is)",
        "update the kernel, which sets MSR C001_1029[1] at boot",
    ],
    interrupt_mark: true,
    end_stamp: None,
};
